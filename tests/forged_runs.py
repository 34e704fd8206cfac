"""Make a run's files agree with each other after an edit, as a careful forger would."""

import hashlib
import json
import math

from lm_eval_longbench.figures.means import AGGREGATIONS
from lm_eval_longbench.logs.formulas import standard_error
from lm_eval_longbench.logs.sample_log import doc_sha256
from lm_eval_longbench.signature.signature import completed, line
from lm_eval_longbench.verify.figures import aggregation_names


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def sign(files, task, **changes):
    """Change ingredients, and make the line anew."""
    run = {**files.run(task), **changes}
    whole = completed({key: run[key] for key in completed({})})
    files.edit_run(task, **changes, signature=line(whole))


def rehash(files, task):
    """Make all hashes of a log anew."""

    def rows_of(rows):
        for row in rows:
            gold = row["doc"].get("answers", row["doc"].get("answer"))
            row["target"] = str(gold if isinstance(gold, list) else [gold])
            row["target_hash"] = sha256(row["target"])
            row["doc_hash"] = doc_sha256(row["doc"])

    files.edit_log(task, rows_of)
    rows = files.rows(task)
    parts = [row["doc_hash"] + row["prompt_hash"] + row["target_hash"] for row in rows]
    files.edit_results(lambda whole: whole["task_hashes"].update({task: sha256("".join(parts))}))


def refigure(files, task):
    """Make the figures of a task anew from what its log states of each question."""
    rows = files.rows(task)

    def edit(whole):
        figures, names = whole["results"][task], aggregation_names(whole["configs"][task])
        for metric in rows[0]["metrics"]:
            values = [row[metric] for row in rows]
            figures[f"{metric},none"] = AGGREGATIONS[names[metric]](values)
            if isinstance(figures[f"{metric}_stderr,none"], float):
                figures[f"{metric}_stderr,none"] = standard_error(values)
        figures["sample_len"] = whole["n-samples"][task]["effective"] = len(rows)

    files.edit_results(edit)


def ask(files, task):
    """Have the signature name the questions that the log has."""
    ids = [str(row["doc"].get("_id", row["doc"].get("id"))) for row in files.rows(task)]
    answers = files.run(task)["repeats"]
    rows = files.rows(task)
    counts = {
        name: round(math.fsum(row[name] for row in rows) * times)
        for name, times in (("failed", answers), ("truncated", 1))
    }
    number = dict.fromkeys(("asked", "kept", "answered"), len(ids))
    sign(files, task, questions_sha256=sha256(json.dumps(ids)), **number, **counts)
