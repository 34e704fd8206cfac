"""What runs keep of a baseline, as tables in every format."""

import csv
import io
import json

import pytest
from scored_runs import v1_rows, v2_row, write_run

from lm_eval_longbench.api.run import report
from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.reporting.retained import make_retained, numbers_of, retained
from lm_eval_longbench.reporting.scored_run import read_run

QASPER = [((7 * n) % 10) / 10 for n in range(40)]
TREC = [float(n % 4 > 0) for n in range(30)]


def rows(keep):
    """Answers of a run that keeps a share of some scores and all of others."""
    v1 = v1_rows(
        {
            "qasper": [value * (keep if n % 2 else 1.0) for n, value in enumerate(QASPER)],
            "trec": [value * (n >= 10 * (1 - keep)) for n, value in enumerate(TREC)],
        }
    )
    return v1 + [v2_row(f"q{n}", float(n % 3 == 0 and n >= 60 * (1 - keep))) for n in range(60)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    return {keep: write_run(place / f"keep-{keep}", rows(keep)) for keep in (1.0, 0.5, 0.25)}


@pytest.fixture(scope="module")
def runs(folders):
    return [read_run(folder, str(keep)) for keep, folder in folders.items()]


def found_rows(made, table):
    (own,) = (one for one in made.benchmarks if one.columns[0].table.info.name == table)
    return {(row.section, row.name): row for row in own.rows}


def test_shares_are_those_of_the_figures(runs):
    made = make_retained(runs, "1.0")
    assert [column.run.name for column in made.benchmarks[0].columns] == [
        "1.0 (baseline)",
        "0.5",
        "0.25",
    ]
    row = found_rows(made, "longbench_v1")["dataset", "qasper"]
    base, half = (
        sum(value * (keep if n % 2 else 1.0) for n, value in enumerate(QASPER)) for keep in (1, 0.5)
    )
    assert row.figures[0].value == pytest.approx(base / len(QASPER))
    assert row.figures[1].value == pytest.approx(half / len(QASPER))
    assert row.differences[0].value == pytest.approx(half / base)
    columns = [run.tables["longbench_v1"].answers for run in runs]
    figures = [
        {one.place: one.tree for one in own.benchmark.figures(own)}["dataset", "qasper"]
        for own in columns
    ]
    assert row.differences[1] == retained(figures[0], figures[2])
    overall = found_rows(made, "longbench_v2")["official", "overall"]
    kept = overall.differences[0]
    assert kept.value == pytest.approx(0.5)
    assert kept.low < 0.5 < kept.high


def test_a_sweep_stands_in_the_order_of_its_numbers(folders):
    named = [f"{keep}={folder}" for keep, folder in folders.items()]
    text = report(*reversed(named), baseline="1.0", x="ratio", format="csv")
    lines = list(csv.DictReader(io.StringIO(text)))
    overall = [own for own in lines if (own["section"], own["figure"]) == ("official", "overall")]
    assert [own["ratio"] for own in overall] == ["0.25", "0.5"]
    assert [own["retained"] for own in overall] == ["25.00", "50.00"]
    assert [own["baseline"] for own in overall] == ["33.3", "33.3"]
    assert float(overall[0]["low"]) < 25 < float(overall[0]["high"])
    assert float(overall[0]["p"]) < 0.05 and overall[0]["n"] == "60"
    made = json.loads(report(*named, baseline="1.0", x="ratio", format="json"))
    assert made["x"] == {"name": "ratio", "values": {"1.0": 1.0, "0.5": 0.5, "0.25": 0.25}}
    assert made["baseline"] == "1.0"
    shown = report(*named, baseline="1.0", x="ratio")
    assert "1.0 (baseline)" in shown and "ratio=0.25 / baseline" in shown


def test_what_is_wrong_is_said(folders, tmp_path):
    one, two = folders[1.0], folders[0.5]
    with pytest.raises(UnknownNameError, match="run of the baseline"):
        report(one, two, baseline="none")
    with pytest.raises(OptionError, match="give baseline too"):
        report(one, two, x="ratio")
    with pytest.raises(OptionError, match="two reports"):
        report(one, two, baseline="keep-1.0", against="published")
    with pytest.raises(OptionError, match="no number to stand at"):
        report(one, f"0.5={two}", baseline=str(one), x="ratio")
    with pytest.raises(OptionError, match="no number"):
        numbers_of(["nan"], "ratio")
    with pytest.raises(OptionError, match="No run has a table in common"):
        report(one, baseline=str(one))
    with pytest.raises(OptionError, match="Several runs are called A"):
        report(f"A={one}", f"A={two}", baseline="A")
    with pytest.raises(UnknownNameError, match="Did you mean 'csv'"):
        report(one, two, baseline=str(one), format="cvs")
