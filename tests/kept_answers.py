"""What is in a file of answers."""

from lm_eval_longbench.answers.store import reading, rows_of


def read_all(path):
    """All answers, without their text."""
    with reading(path) as connection:
        return list(rows_of(connection, path))
