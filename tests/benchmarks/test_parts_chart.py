"""Every chart of a benchmark shows figures that there are, of runs and of published rows."""

import pytest
from longbench_v1_facts import CATEGORIES, DATASETS
from scored_runs import pro_row, v1_rows, v2_row, write_run

from lm_eval_longbench.benchmarks.charts import KINDS, MEAN, TOKENS, relative_section
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.reporting.published import published_rows
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.statistics.effective import FIRST
from lm_eval_longbench.statistics.effective import LENGTHS as STEPS
from lm_eval_longbench.statistics.tree import estimate

LENGTHS = (100, 5000, 9000)


def e_rows(number=30):
    """A run that scores 0.8, 0.6 and 0.3 by length on every task."""
    worth = dict(zip(LENGTHS, (0.8, 0.6, 0.3), strict=True))
    own = [(length, score) for length, score in worth.items() for _ in range(number)]
    names = [name for name, info in DATASETS.items() if info.rows_e]
    return v1_rows(dict.fromkeys(names, own), "longbench_v1_e")


ROWS = {
    "longbench_v1": v1_rows({name: [0.5, 0.7] for name in DATASETS}),
    "longbench_v1_e": e_rows(2),
    "longbench_v2": [v2_row("a", 1.0)],
    "longbench_pro": [pro_row("a", 0.5, repeat=repeat) for repeat in (1, 2, 3)],
}


def places(look):
    own = [point for chart in look.charts for panel in chart.panels for point in panel.points]
    own += [*look.headline, *look.gap, *(look.ladder.points if look.ladder else ())]
    return {point.place for point in own}


def figures_of(folder):
    ((_, table),) = read_run(folder).tables.items()
    benchmark = table.answers.benchmark
    return {figure.place: figure for figure in benchmark.chart_figures(table.answers)}


@pytest.mark.parametrize("name", ROWS)
def test_every_point_is_a_figure(name, tmp_path):
    look = benchmarks()[name].look
    found = figures_of(write_run(tmp_path / "r", ROWS[name]))
    assert places(look) <= set(found)
    assert {chart.kind for chart in look.charts} <= set(KINDS)
    assert len({chart.name for chart in look.charts}) == len(look.charts) > 0
    texts = [text for chart in look.charts for text in chart.title]
    assert all(texts)


@pytest.mark.parametrize("name", ["longbench_v1", "longbench_pro"])
def test_published_rows_have_every_point(name):
    look = benchmarks()[name].look
    for row in published_rows(name):
        if row.caveat:  # of a paper, which has what it has
            assert places(look) & set(row.values)
        else:
            assert places(look) <= set(row.values)
    modes = {mode for mode, _ in look.modes}
    assert {row.mode for row in published_rows(name)} <= modes


def test_the_curve_of_e_and_the_same_relative_to_the_shortest(tmp_path):
    found = figures_of(write_run(tmp_path / "r", e_rows()))
    for name in (MEAN, *CATEGORIES):
        values = [found[bucket, name].tree.value for bucket in ("0-4k", "4-8k", "8k+")]
        assert values == pytest.approx([0.8, 0.6, 0.3])
        assert found["all lengths", name].tree.value == pytest.approx(1.7 / 3)
        relative = [
            found[relative_section(bucket), name].tree.value for bucket in ("0-4k", "4-8k", "8k+")
        ]
        assert relative == pytest.approx([0, -0.25, -0.625])
    assert estimate(found[relative_section("8k+"), "code"].tree).low is not None


def test_measured_lengths_are_those_that_figures_are_sorted_to():
    assert [point.place[1] for point in TOKENS.points] == [
        f"{FIRST * 2**step // 1024}k" for step in range(STEPS)
    ]
    assert TOKENS.shortest * 1024 == FIRST


def test_lengths_that_are_ranges_have_names_only():
    ladders = {name: own.look.ladder for name, own in benchmarks().items() if own.look.ladder}
    assert {name: own.shortest for name, own in ladders.items()} == {
        **dict.fromkeys(("longbench_v1_e", "longbench_v2"), 0),
        "longbench_pro": 8,
    }
