"""What is in a file of answers."""

from lm_eval_longbench.records.store import reading, rows_of


def read_all(path):
    """All answers of a file."""
    with reading(path) as connection:
        return list(rows_of(connection))
