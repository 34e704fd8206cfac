"""Make rows of the official LongBench v2 schema, short enough for tests."""

import random

from longbench_v2_facts import COUNTS, QUESTIONS

from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.metrics.letter import CHOICES

ROW = {
    "_id": "0",
    "domain": "Single-Document QA",
    "sub_domain": "Literary",
    "difficulty": "easy",
    "length": "short",
    "question": "Who has the $DOC$?",
    "choice_A": "Emma",
    "choice_B": "艾玛",
    "choice_C": "nobody 🙂",
    "choice_D": "$Q$",
    "answer": "B",
    "context": "A story.\n$Q$ {question} 故事 🙂",
}


def official_rows(context="x"):
    """503 rows with the official counts, domains and all else mixed; their id is their number."""
    rng = random.Random(2)
    columns = {}
    for dimension, values in COUNTS.items():
        column = [value for value, number in values.items() for _ in range(number)]
        rng.shuffle(column)
        columns[dimension] = column
    return [
        {
            **ROW,
            "_id": str(number),
            **{dimension: column[number] for dimension, column in columns.items()},
            "answer": CHOICES[number % 4],
            "context": f"{number} {context}",
        }
        for number in range(QUESTIONS)
    ]


def load(domain=None, data_dir=None):
    """Open all questions, or those of a domain."""
    name = "longbench_v2" if domain is None else f"longbench_v2_{domain}"
    return V2.load(V2.tasks[name], data_dir)
