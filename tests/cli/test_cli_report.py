"""The report command, on folders that `score` wrote."""

import csv
import io
import json

import pytest
from scored_runs import v1_rows, v2_row, write_run
from typer.testing import CliRunner

from lm_eval_longbench.cli.main import app
from lm_eval_longbench.errors import LongBenchError, OptionError


@pytest.fixture
def command():
    """Run the command alone; errors of the package are raised as the result's exception."""

    def run(*arguments):
        return CliRunner().invoke(app, ["report", *map(str, arguments)])

    return run


@pytest.fixture
def folders(tmp_path):
    rows = [v2_row(f"q{n}", float(n % 3 == 0)) for n in range(30)]
    rows += v1_rows({"qasper": [0.2, 0.4, 0.9]})
    better = [row | {"score": 1.0, "compensated": 1.0} for row in rows]
    return [write_run(tmp_path / name, own) for name, own in (("one", rows), ("two", better))]


def test_a_table_of_one_run(command, folders):
    result = command(folders[0])
    assert result.exit_code == 0, result.output
    cells = [[cell.strip() for cell in line.split("│")] for line in result.stdout.splitlines()]
    assert ["", "overall", "33.3 [19.2, 51.2] 30/0/0", ""] in cells  # 10 of 30, Wilson
    assert ["", "qasper", "50.00 [n<20] 3/0/0", ""] in cells
    assert "lcc" not in result.stdout  # nor is any other row without a figure
    assert "one: 20 of 21 tasks are not in it, so that these have no value: English, Chinese." in (
        result.stdout.splitlines()
    )
    assert "accelerated bootstrap" in result.stdout
    assert "p is two-sided" not in result.stdout  # there is nothing to compare with


@pytest.mark.parametrize("kind", ["table", "markdown", "csv", "json", "latex"])
def test_every_format_is_written_to_a_file_as_printed(command, folders, tmp_path, kind):
    arguments = (*folders, "--format", kind, "--against", "published")
    printed = command(*arguments)
    assert printed.exit_code == 0, printed.output
    file = tmp_path / "deep" / "report.txt"
    result = command(*arguments, "--output", file)
    assert result.stdout == f"written: {file}\n"
    assert file.read_text(encoding="utf-8") == printed.stdout
    assert [path.name for path in file.parent.iterdir()] == ["report.txt"]


ERRORS = {
    "the same twice": (lambda a: [a, a.parent / "one"], OptionError, "is given twice"),
    "an output that is a folder": (lambda a: [a, "--output", a], LongBenchError, "be written"),
}


@pytest.mark.parametrize(("arguments", "kind", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_errors(command, folders, arguments, kind, message):
    result = command(*arguments(folders[0]))
    assert type(result.exception) is kind
    assert message in str(result.exception)


@pytest.fixture
def raw(tmp_path):
    """A folder of official prediction files."""
    folder = tmp_path / "predictions"
    folder.mkdir()
    lines = [{"pred": pred, "answers": ["Emma"], "all_classes": None} for pred in ("Emma", "Bob")]
    text = "".join(json.dumps(line | {"length": 1}) + "\n" for line in lines)
    for name in ("qasper", "hotpotqa"):
        (folder / f"{name}.jsonl").write_text(text)
    return folder


def test_raw_predictions_are_scored_first(command, folders, raw):
    before = sorted(path.name for path in raw.iterdir())
    arguments = (folders[0], raw, "--benchmark", "v1", "--format", "json", "--against", "published")
    result = command(*arguments)
    assert result.exit_code == 0, result.output
    v1 = json.loads(result.stdout)["benchmarks"][0]
    assert [column["run"] for column in v1["columns"]] == ["one", "predictions"]
    qasper = next(figure for figure in v1["figures"] if figure["name"] == "qasper")
    assert qasper["figures"][1]["value"] == 50.0
    assert qasper["figures"][1]["official"] == 50.0
    assert v1["pairs"][0]["reason"].startswith("they have no question in common; one was scored")
    ranks = {rank["column"]: rank for rank in v1["published"][0]["ranks"]}
    assert ranks["predictions"]["reason"].startswith("it is incomplete")
    assert sorted(path.name for path in raw.iterdir()) == before


def test_a_baseline_and_a_sweep(command, folders):
    named = [f"{number}={folder}" for number, folder in enumerate(folders)]
    result = command(*named, "--baseline", "0", "--x", "ratio", "--format", "csv")
    assert result.exit_code == 0, result.output
    (overall,) = (
        row
        for row in csv.DictReader(io.StringIO(result.stdout))
        if (row["section"], row["figure"]) == ("official", "overall")
    )
    assert (overall["ratio"], overall["retained"], overall["n"]) == ("1", "300.00", "30")
    by_name = command(*folders, "--baseline", folders[0].name)
    assert "┃ one (baseline) " in by_name.stdout and "┃ two / baseline " in by_name.stdout
