"""Answers the rows of the conformance kit with this package: put your own functions in its place.

python -m lm_eval_longbench.conformance python examples/conformance_program.py
"""

import functools
import json
import sys

from transformers import PreTrainedTokenizerFast

import lm_eval_longbench as lb
from lm_eval_longbench.benchmarks.registry import benchmark_of_table, find_task, tables
from lm_eval_longbench.metrics.letter import extract_choice
from lm_eval_longbench.metrics.reasoning import answer_of
from lm_eval_longbench.statistics.answers import Columns


def prompts(row):
    """The whole prompt."""
    return {"prompt": lb.prompt(row["task"], row["row"])}


@functools.cache
def tokenizer_of(file):
    """A tokenizer of the kit."""
    return PreTrainedTokenizerFast(tokenizer_file=file, clean_up_tokenization_spaces=False)


def cuts(row):
    """The prompt, cut to a limit."""
    own, limit = tokenizer_of(row["tokenizer"]), row["limit"]
    return {"prompt": lb.prompt(row["task"], row["row"], tokenizer=own, truncate_to=limit)}


def answers(row):
    """The letter or the score of an answer."""
    if row["task"] == "longbench_v2":
        return {"letter": extract_choice(answer_of(row["answer"], row["reasoning"]))}
    question = {"_id": "q", "id": "q", "length": 0, "all_classes": row.get("all_classes")}
    question |= {"answers": row["golds"], "answer": row["golds"], "token_length": "8k"}
    question |= {"contextual_requirement": "Full", "difficulty": "Easy", "language": "English"}
    question |= {"secondary_task": row.get("secondary_task")}
    question |= {"primary_task": find_task(row["task"]).category}
    return {"score": lb.score(row["task"], question, row["answer"], reasoning=row["reasoning"])}


def lines(row):
    """Yield the answers of a table as `lb.judge` returns them."""
    table = row["table"]
    for dataset, scores in row.get("scores", {}).items():
        name = f"{table}_{dataset.replace('-', '_')}"
        for number, score in enumerate(scores):
            length, score = score if table == "longbench_v1_e" else (0, score)
            line = {"task": name, "id": str(number), "index": number, "dataset": dataset}
            yield line | {"length": length, "score": score}
    for own in row.get("answers", ()):
        score, unparsed = float(own["letter"] == own["gold"]), own["letter"] is None
        line = {"task": table, "score": score, "compensated": 0.25 if unparsed else score}
        yield own | line | {"choice": own["letter"], "unparsed": unparsed, "dropped": own["failed"]}
    tasks = {task.category: task for task in tables()[table].tasks.values()}
    for own in row.get("rows", ()):
        task = tasks[own["primary_task"]]
        line = {"task": task.name, "secondary_task": task.label, "score": own["metric"]}
        yield own | line | {"repeat": own["bon_idx"]}


def figures(row):
    """The figures of a table of scores."""
    table, benchmark = row["table"], benchmark_of_table(row["table"])
    usual = {"table": table, "repeat": 1, "failed": False, "truncated": None}
    samples = [usual | line for line in lines(row)]
    columns = Columns(benchmark, tables()[table], max(one["repeat"] for one in samples), True)
    for sample in samples:
        columns.add(sample)
    known = columns.finish()
    made = benchmark.figures(known)
    found = benchmark.official(known, made)
    if table == "longbench_v1":
        heads = [one for one in made if one.section == "headline" and one.tree.value is not None]
        found = {"datasets": found, "headline": {h.name: 100 * h.tree.value for h in heads}}
    if table == "longbench_v2":
        names = {own["domain"] for own in samples}
        parts = [one for one in made if one.section == "official" and one.name in names]
        found = found | {"domain": {one.name: one.official for one in parts}}
    return {"figures": found}


def reply(row):
    """The answer to a row."""
    kinds = {"prompts": prompts, "cuts": cuts, "answers": answers, "figures": figures}
    return kinds[row["kind"]](row)


if __name__ == "__main__":
    for received in sys.stdin:
        sys.stdout.write(json.dumps(reply(json.loads(received))) + "\n")
        sys.stdout.flush()
