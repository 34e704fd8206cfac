"""Make rows and files of the official LongBench Pro schema, short enough for tests."""

import itertools
import json

from longbench_pro_facts import COUNTS, DIMENSIONS, SECONDARY_TASKS

from lm_eval_longbench.benchmarks.pro import PRO

ROW = {
    "id": "0",
    "context": "A story.\n{question} 故事 🙂",
    "language": "English",
    "token_length": "8k",
    "primary_task": "T1. Retrieval & Ranking",
    "secondary_task": "T1.1 Global Cohesive Retrieval",
    "contextual_requirement": "Full",
    "question_nonthinking": "Which?",
    "question_thinking": "Think. Which?",
    "answer": ["Emma", "艾玛"],
    "difficulty": "Easy",
}


def _in_turn(dimension):
    """Values of a dimension as often as officially, for 1,500 rows."""
    return [value for value, number in COUNTS[dimension].items() for _ in range(number)]


def official_rows(context="x"):
    """1,500 rows with the official counts, tasks mixed; their id is their number."""
    cells = itertools.product(
        range(5), SECONDARY_TASKS.values(), DIMENSIONS["language"], DIMENSIONS["token_length"]
    )
    needs, difficulties = _in_turn("contextual_requirement"), _in_turn("difficulty")
    return [
        {
            **ROW,
            "id": str(number),
            "context": f"{number} {context}",
            "primary_task": task.primary,
            "secondary_task": task.name,
            "language": language,
            "token_length": length,
            "contextual_requirement": needs[number],
            "difficulty": difficulties[number],
        }
        for number, (_, task, language, length) in enumerate(cells)
    ]


def write_rows(path, rows):
    """Write rows as one JSON array, as the official file is, and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=4), encoding="utf-8")
    return path


def load(code, data_dir=None):
    """Open the questions of a secondary task."""
    return PRO.load(PRO.tasks[f"longbench_pro_{code}"], data_dir)
