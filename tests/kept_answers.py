"""What is in a file of answers."""

from lm_eval_longbench.answers.rows import rows_of
from lm_eval_longbench.answers.store import reading


def read_all(path):
    """All answers of a file."""
    with reading(path) as connection:
        return list(rows_of(connection))
