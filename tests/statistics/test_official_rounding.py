"""Percentages are rounded in the official order of operations, on every path to a figure."""

import random

import numpy as np
import pytest
from figures_of import answers_of
from prediction_rows import v1_row, v2_row, write_lines
from scored_runs import v1_rows
from scored_runs import v2_row as line_of_v2

from lm_eval_longbench.benchmarks.v1 import V1, E
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.statistics.figure import Figure
from lm_eval_longbench.statistics.means import percent_of
from lm_eval_longbench.statistics.tree import Leaf


def official(figure, scores):
    """What a benchmark's figure states of these scores."""
    values = np.array(scores, float)
    tree = Leaf("x", np.arange(len(values)).astype("S8"), np.sort(values), values)
    return Figure("s", "n", tree, figure.unit, figure.rounded).official


def first_figure(benchmark, place, lines):
    figures = benchmark.figures(answers_of(benchmark.name, lines))
    return next(figure for figure in figures if figure.place == place)


V1_FIGURE = first_figure(V1, ("dataset", "qasper"), v1_rows({"qasper": [1.0]}))
E_FIGURE = first_figure(E, ("8k+", "qasper"), v1_rows({"qasper": [(9000, 1.0)]}, "longbench_v1_e"))
V2_FIGURE = first_figure(V2, ("official", "overall"), [line_of_v2("q", 1.0)])


@pytest.mark.slow
def test_every_sum_in_twelfths_and_quarters():
    """All sums that scores of 1/3, 1/4, 1/6 and 1/12 can have, of up to 503 questions."""
    divided_first = 0
    for number in range(1, 504):
        for part, digits in ((12, 2), (4, 1)):
            for count in range(part * number + 1):
                total = count / part
                expected = round(100 * total / number, digits)
                assert percent_of(total, number, digits) == expected
                divided_first += round(100 * (total / number), digits) != expected
    assert divided_first > 300  # the order of operations tells


@pytest.mark.parametrize("seed", range(20))
def test_means_of_scores(seed):
    draw = random.Random(seed)
    for _ in range(200):
        scores = [draw.choice((0.0, 0.25, 1 / 3, 0.5, 2 / 3, 1.0)) for _ in range(200)]
        total = 0.0
        for score in scores:
            total += score
        assert official(V1_FIGURE, scores) == round(100 * total / len(scores), 2)
        assert official(V2_FIGURE, scores) == round(100 * total / len(scores), 1)
    assert official(V1_FIGURE, []) is official(V2_FIGURE, []) is official(E_FIGURE, []) is None


@pytest.mark.slow
def test_random_buckets_of_longbench_e():
    """The official script rounds the np.float64 that numpy's mean returns."""
    draw = np.random.default_rng(7)
    in_decimal = 0
    for _ in range(25_000):
        number = int(draw.integers(1, 301))
        scores = (draw.integers(0, 101, number) / 100).tolist()
        expected = float(round(100 * np.mean(scores), 2))
        assert E_FIGURE.rounded(np.array(scores), number) == expected
        in_decimal += round(100 * float(np.mean(scores)), 2) != expected
    assert in_decimal > 25  # Python's own rounding tells


def shown(folder):
    return render(make_report([read_run(folder)]), "csv")


def test_v1_in_score_and_in_report(tmp_path):
    rows = [v1_row("1" if n < 27 else "2", "1") for n in range(199)]
    rows.append(v1_row("1 2 3 4", "1"))
    write_lines(tmp_path / "pred" / "passage_count.jsonl", *rows)
    report = score_paths(tmp_path / "pred", tmp_path / "out")
    assert report["tables"]["longbench_v1"]["official"] == {"passage_count": 13.62}
    assert ",passage_count,percent,13.62," in shown(tmp_path / "out")


def test_v2_in_score_and_in_report(tmp_path):
    rows = [v2_row(f"q{n}", "B" if n < 23 else "A") for n in range(80)]
    write_lines(tmp_path / "m.jsonl", *rows)
    report = score_paths(tmp_path / "m.jsonl", tmp_path / "out")
    assert report["tables"]["longbench_v2"]["official"]["overall"] == 28.8
    assert "official,overall,percent,28.8," in shown(tmp_path / "out")
