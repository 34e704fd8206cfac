"""Write folders as `lm-eval-longbench score` writes them, for tests of the report."""

import json
import math
from statistics import fmean

from figures_of import official_of
from longbench_pro_facts import (
    BY_CODE,
    QUESTIONS_PER_TASK,
    SECONDARY_TASKS,
)
from longbench_v1_facts import BUCKETS, bucket
from v1_tasks import BY_NAME

PRO_VALUES = {
    "token_length": "8k",
    "contextual_requirement": "Full",
    "difficulty": "Easy",
    "primary_task": "T3. Evidence-Grounded QA",
    "language": "English",
}


def _percent(values, digits):
    return round(100 * fmean(values), digits) if values else None


def v1_rows(scores, table="longbench_v1"):
    """Samples of LongBench v1 or E.

    scores: {dataset: [score, ...]}; E: {dataset: [(length, score), ...]}. An id is "q<number>".
    """
    rows = []
    for dataset, values in scores.items():
        for number, value in enumerate(values):
            length, score = value if table.endswith("_e") else (None, value)
            row = {
                "table": table,
                "task": f"{table}_{dataset.replace('-', '_')}",
                "id": f"q{number}",
                "repeat": 1,
                "score": score,
                "failed": False,
                "truncated": False,
                "dataset": dataset,
                "index": number,
            }
            rows.append(row | ({"length": length} if length is not None else {}))
    return rows


def v2_row(name, score, *, table="longbench_v2", repeat=1, **more):
    """One sample of LongBench v2; more: its fields where they are not the usual ones."""
    return {
        "table": table,
        "task": table,
        "id": name,
        "repeat": repeat,
        "score": score,
        "failed": False,
        "truncated": None,
        "domain": "Single-Document QA",
        "sub_domain": None,
        "difficulty": "easy",
        "length": "short",
        "choice": "A",
        "unparsed": False,
        "compensated": score,
        "dropped": False,
    } | more


def pro_row(name, score, *, table="longbench_pro", repeat=1, code=None, **more):
    """One sample of LongBench Pro; the secondary task is the first of its primary task."""
    values = PRO_VALUES | {key: more.pop(key) for key in tuple(more) if key in PRO_VALUES}
    code = code or next(c for c, task in BY_CODE.items() if task.primary == values["primary_task"])
    return {
        "table": table,
        "task": f"{table}_{code}",
        "id": name,
        "repeat": repeat,
        "score": score,
        "failed": False,
        "truncated": None,
        "secondary_task": BY_CODE[code].name,
        **values,
        **more,
    }


def _means(rows):
    """Mean over the repeats of each question; None if one is unscored."""
    by_question = {}
    for row in rows:
        by_question.setdefault((row["task"], row["id"]), []).append(row["score"])
    return [None if None in scores else fmean(scores) for scores in by_question.values()]


def _official(table, rows, repeats):
    if table.startswith("longbench_v1"):
        out = {}
        for task in dict.fromkeys(row["task"] for row in rows):
            own = [row for row in rows if row["task"] == task]
            name = BY_NAME[task].label
            if table == "longbench_v1":
                out[name] = _percent(_means(own), 2)
            else:
                out[name] = {
                    part: _percent(_means([r for r in own if bucket(r["length"]) == part]), 2)
                    for part in BUCKETS
                }
        return out
    if table.startswith("longbench_v2"):
        written = [row for row in rows if not row["dropped"]]

        def parts(field):
            scored = [row | {"score": row[field]} for row in written]
            names = {"overall": scored}
            for dimension, values in (
                ("difficulty", ("easy", "hard")),
                ("length", ("short", "medium", "long")),
            ):
                for value in values:
                    names[value] = [row for row in scored if row[dimension] == value]
            return {name: _percent(_means(own), 1) for name, own in names.items()}

        return parts("score") | {"compensated": parts("compensated"), "n": len(written)}
    return official_of(table, rows, repeats)


def _official_questions(task):
    if task.startswith("longbench_v1"):
        return BY_NAME[task].questions
    return 503 if task.startswith("longbench_v2") else QUESTIONS_PER_TASK


def table_entry(table, rows, *, official_data=False, data=("local-1",), embedding_model=None):
    """What report.json says about a table."""
    rows = [row for row in rows if row["table"] == table]
    repeats = max((row["repeat"] for row in rows), default=1)
    tasks = {}
    for task in dict.fromkeys(row["task"] for row in rows):
        own = [row for row in rows if row["task"] == task]
        tasks[task] = {
            "questions": len({row["id"] for row in own}),
            "samples": len(own),
            "official_questions": _official_questions(task),
        }
    questions = {(row["task"], row["id"]) for row in rows}
    everything = {
        "longbench_v1": 4750,
        "longbench_v1_e": 3668,
        "longbench_pro": QUESTIONS_PER_TASK * len(SECONDARY_TASKS),
    }
    official = everything.get(table.removesuffix("_thinking"), 503)
    scored = sum(row["score"] is not None for row in rows)
    return {
        "benchmark": table,
        "official": _official(table, rows, repeats),
        "repeats": repeats,
        "data": list(data),
        "embedding_model": embedding_model,
        "counts": {
            "questions": len(questions),
            "samples": len(rows),
            "scored": scored,
            "unscored": len(rows) - scored,
            "failed": sum(row["failed"] for row in rows),
            "truncated": 0,
            "inconsistent": sum(
                sum((row["task"], row["id"]) == question for row in rows) < repeats
                for question in questions
            )
            if repeats > 1
            else 0,
            "official_questions": official,
            "missing": official - len(questions) if official_data else None,
        },
        "tasks": tasks,
    }


def write_run(folder, rows, *, problems=None, **more):
    """Write report.json and samples.jsonl and return the folder; more: see `table_entry`."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = dict.fromkeys(row["table"] for row in rows)
    report = {
        "format": 1,
        "package": "lm-eval-longbench test",
        "tables": {table: table_entry(table, rows, **more) for table in tables},
        "inputs": [],
        "problems": problems or {},
    }
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "samples.jsonl").write_text(text, encoding="utf-8")
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")
    return folder


def close(value, expected, tolerance=1e-9):
    """Whether two figures are equal to within 1e-9, or both None."""
    if value is None or expected is None:
        return value is expected
    return math.isclose(value, expected, rel_tol=0, abs_tol=tolerance)
