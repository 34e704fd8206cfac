"""The numbers of the page are those of the reports, and its texts cannot do anything."""

import pytest
from scored_runs import close

from lm_eval_longbench.benchmarks.charts import Look
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.page.build import build_page
from lm_eval_longbench.page.data import page_data
from lm_eval_longbench.reporting.published import published_rows
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run


def values_of(benchmark, entry):
    places = [tuple(place) for place in benchmark["places"]]
    return dict(zip(places, entry["values"], strict=True))


def of(data, name):
    return next(own for own in data["benchmarks"] if own["name"] == name)


@pytest.fixture(scope="module")
def data(runs):
    return page_data(runs, published=True)


def test_figures_and_intervals_are_those_of_the_report(runs, data):
    checked = 0
    for report in make_report(runs).benchmarks:
        benchmark = of(data, report.benchmark)
        own = [entry for entry in benchmark["entries"] if entry["run"]]
        assert len(own) == len(report.columns)
        for number, (entry, column) in enumerate(zip(own, report.columns, strict=True)):
            assert entry["model"] == column.run.name
            found = values_of(benchmark, entry)
            for row in report.rows:
                cell, value = row.figures[number], found.get((row.section, row.name))
                if cell is not None and value is not None:
                    factor = row.unit.shown_factor
                    assert close(value[0], factor * cell.value, 1e-6)
                    for end, stated in zip(value[1:3], (cell.low, cell.high), strict=True):
                        assert close(end, None if stated is None else factor * stated, 1e-6)
                    checked += 1
    assert checked > 100


def test_published_values_are_those_that_were_published(data):
    benchmark = of(data, "longbench_pro")
    rows = published_rows("longbench_pro")
    own = [entry for entry in benchmark["entries"] if not entry["run"]]
    assert len(own) == len(rows) == 80
    for entry, row in zip(own, rows, strict=True):
        found = values_of(benchmark, entry)
        for place, value in row.values.items():
            if place in found:
                assert close(found[place][0], 100 * value, 1e-6)
        low, high = found["effective", ""][1:3]
        assert 0 <= low <= found["effective", ""][0] <= high <= 5
        gap = 100 * (row.values["language", "English"] - row.values["language", "Chinese"])
        assert close(found["gap", ""][0], gap, 1e-6)


def test_gain_is_the_paired_difference_of_a_runs_modes(data):
    benchmark = of(data, "longbench_pro")
    entries = benchmark["entries"]
    one, other = [n for n, e in enumerate(entries) if e["run"] and e["model"] == "alpha"]
    (pair,) = [
        own for own in benchmark["differences"] if {own["first"], own["second"]} == {one, other}
    ]
    gain = values_of(benchmark, entries[other])["gain", ""]
    assert gain[0] == pair["values"][0][0] > 10
    assert gain[1] < gain[0] < gain[2]
    assert pair["shared"] == 240
    published = [e for e in entries if e["model"] == "Claude-4-Sonnet"]
    values = [values_of(benchmark, e) for e in published]
    scores = [own["overall", "overall"][0] for own in values]
    assert close(values[1]["gain", ""][0], scores[1] - scores[0], 1e-6)


def test_no_text_ends_the_script_element(runs):
    data = page_data(runs[:1], about={"alpha": {"link": "javascript:alert(1)</script>"}})
    page = build_page({**data, "remarks": ["</script><script>alert(1)</script>", "{{script}}"]})
    assert page.count("<script") == page.count("</script>") == 2
    assert "alert(1)</script>" not in page
    assert "'unsafe" not in page


def test_a_benchmark_that_states_no_look_has_a_leaderboard(folders, monkeypatch):
    """Of published figures the first ones; else the first figure of its answers."""
    run = read_run(folders[2])
    for name, headline in (("longbench_v2", ["official", "overall"]), ("longbench_v1_e", None)):
        monkeypatch.setattr(benchmarks()[name], "look", Look())
        own = of(page_data([run]), name)
        first = own["places"][own["headline"][0]["at"]]
        assert first == (headline or ["all lengths", "qasper"])
        assert own["entries"][0]["values"][own["headline"][0]["at"]] is not None
        assert [chart["name"] for chart in own["charts"]] == ["shares"]
