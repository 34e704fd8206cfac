"""Official summary of LongBench Pro, one figure at a time from the rows."""

from statistics import fmean

DIMENSIONS = ["token_length", "contextual_requirement", "difficulty", "primary_task", "language"]
SUMMARY = "T4. Summarization & Synthesis"


def of_question(rows, question, runs):
    return [row["metric"] for row in rows if row["id"] == question and row["bon_idx"] <= runs]


def figure(rows, runs, combine, keep=lambda row: True):
    """Mean over the questions with a row among the first runs; None if a score is not known."""
    per_question = []
    for question in {row["id"] for row in rows if keep(row)}:
        scores = of_question(rows, question, runs)
        if None in scores:
            return None
        if scores:
            per_question.append(combine(scores))
    return fmean(per_question) if per_question else None


def passed(rows, runs):
    total, good = 0, 0
    for question in {row["id"] for row in rows}:
        scores = of_question(rows, question, runs)
        if None in scores:
            return None
        if scores:
            total += 1
            task = next(row["primary_task"] for row in rows if row["id"] == question)
            good += max(scores) > 0.65 if task == SUMMARY else max(scores) == 1.0
    return good / total if total else None


def iteration(rows, run):
    scores = [row["metric"] for row in rows if row["bon_idx"] == run]
    return None if None in scores or not scores else fmean(scores)


def by_value(rows, runs, combine, dimension, values):
    def has(value):
        return lambda row: row[dimension] == value

    return {value: figure(rows, runs, combine, has(value)) for value in values}


def summary(rows, runs, dimensions):
    """The figures; `dimensions` are the values of each dimension in order."""
    questions = {row["id"] for row in rows}
    out = {
        "total_questions_num": len(questions),
        "inference_iterations": runs,
        "total_samples_num": len(rows),
        "fail_samples_num": len([row for row in rows if row.get("failed")]),
        "inference_inconsistent_samples_num": len(
            [question for question in questions if len(of_question(rows, question, runs)) < runs]
        ),
        "average_overall_metric": figure(rows, runs, fmean),
    }
    for run in range(1, runs + 1):
        out[f"inference_iteration_{run}_overall_metric"] = iteration(rows, run)
    for dimension in DIMENSIONS:
        out[f"average_{dimension}_metric"] = by_value(
            rows, runs, fmean, dimension, dimensions[dimension]
        )
    for run in range(1, runs + 1):
        out[f"BoN-{run}"] = {"overall_metric": figure(rows, run, max)}
        for dimension in DIMENSIONS:
            out[f"BoN-{run}"][dimension] = by_value(
                rows, run, max, dimension, dimensions[dimension]
            )
        out[f"pass@{run}"] = passed(rows, run)
    unscored = len([row for row in rows if row["metric"] is None])
    return {**out, "unscored_samples_num": unscored} if unscored else out
