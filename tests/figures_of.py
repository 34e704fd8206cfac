"""Answers and figures of lines of samples.jsonl, for tests."""

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, tables
from lm_eval_longbench.statistics.answers import Columns
from lm_eval_longbench.statistics.figure import computed


def answers_of(table, lines, repeats=None, *, official=True, expected=()):
    """The answers of a table; as many repeats as its lines have, if it is not said."""
    highest = max((line["repeat"] for line in lines), default=0)
    most = highest if repeats is None else repeats
    columns = Columns(benchmark_of_table(table), tables()[table], most, official)
    columns.expected |= set(expected)
    for line in lines:
        columns.add(line)
    return columns.finish()


def official_of(table, lines, repeats=None, **more):
    """What the official result file says of the lines."""
    answers = answers_of(table, lines, repeats, **more)
    benchmark = answers.benchmark
    return benchmark.official(answers, benchmark.figures(answers))


def parts_of(table, lines, repeats=None, **more):
    """The further parts of a table in report.json."""
    answers = answers_of(table, lines, repeats, **more)
    benchmark = answers.benchmark
    return benchmark.parts(answers, benchmark.figures(answers))


def of_question(answers):
    """The figures that the harness has of a question."""
    benchmark = answers.benchmark
    return computed(benchmark.question_rows(answers), answers, benchmark.unit)
