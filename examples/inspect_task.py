"""LongBench v2 and Pro as tasks of inspect_ai: official prompts and scores, its models and viewer.

    pip install lm-eval-longbench inspect_ai
    inspect eval examples/inspect_task.py@longbench_v2 --model openai/MODEL --batch --limit 20
    inspect view

`-T data_dir=sample` asks the embedded sample; `-T tokenizer=MODEL -T truncate_to=120000` cuts
prompts as officially. The summaries of Pro (T4) are left out: they need an embedding model. A log
holds every prompt whole, and in each score's metadata what `lm_eval_longbench.judge` says, so that
`figures(one.scores["official"].metadata for one in read_eval_log(LOG).samples)` has every figure.
"""

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, grouped, mean, scorer
from inspect_ai.solver import generate

import lm_eval_longbench as lb
from lm_eval_longbench.benchmarks.registry import tables


def by(dimension):
    """Return the mean over each group of questions; the one over all is there already."""
    return grouped(mean(), dimension, all=False)


@scorer(metrics=[mean(), by("difficulty"), by("length")])
def official():
    """Give an answer its official score, from 0 to 1."""

    async def score(state, target):
        given = state.metadata
        judged = lb.judge(
            given["task"], given["question"], state.output.completion, repeat=state.epoch
        )
        return Score(value=judged["score"], answer=judged.get("choice"), metadata=judged)

    return score


def made(table, *, repeats=1, data_dir=None, tokenizer=None, truncate_to=None):
    """Return an inspect task with the questions, prompts and generation of one of our tables."""
    samples, generation = [], {}
    for name, own in tables()[table].tasks.items():
        if own.summary:
            continue
        generation = own.generation
        for doc in lb.load(name, data_dir=data_dir):
            question = {key: value for key, value in doc.items() if key != "context"}
            length = question["token_length" if "token_length" in question else "length"]
            samples.append(
                Sample(
                    id=doc.id,
                    input=str(lb.prompt(name, doc, tokenizer=tokenizer, truncate_to=truncate_to)),
                    target=doc.golds,
                    metadata={
                        "task": name,
                        "question": question,
                        "difficulty": question["difficulty"],
                        "length": length,
                    },
                )
            )
    return Task(
        dataset=MemoryDataset(samples, name=table),
        solver=generate(),
        scorer=official(),
        epochs=Epochs(repeats, "mean"),
        config=GenerateConfig(
            max_tokens=generation["max_gen_toks"], temperature=generation["temperature"]
        ),
    )


@task
def longbench_v2(data_dir=None, tokenizer=None, truncate_to=None):
    """LongBench v2 without chain of thought: accuracy by difficulty and length, and over all."""
    return made("longbench_v2", data_dir=data_dir, tokenizer=tokenizer, truncate_to=truncate_to)


@task
def longbench_pro(repeats=3, data_dir=None, tokenizer=None, truncate_to=None):
    """LongBench Pro with the non-thinking prompt, three answers to each question."""
    return made(
        "longbench_pro",
        repeats=repeats,
        data_dir=data_dir,
        tokenizer=tokenizer,
        truncate_to=truncate_to,
    )
