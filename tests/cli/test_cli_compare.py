"""`compare` from the command line: the verdict first, figures only where they may be compared."""

import json

import pytest
from real_runs import EXTRACTIVE, Files, write_run
from typer import Typer
from typer.testing import CliRunner

from lm_eval_longbench.cli import compare
from lm_eval_longbench.errors import PredictionError

QASPER, V2 = "longbench_v1_qasper", "longbench_v2"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("run"), EXTRACTIVE, [QASPER, V2])


@pytest.fixture
def files(run, tmp_path):
    return Files.copy(run, tmp_path / "run")


@pytest.fixture
def command():
    """Run the command alone; there is nothing else in its application."""
    app = Typer()
    app.callback()(lambda: None)
    compare.register(app)

    def run(*arguments):
        return CliRunner().invoke(app, ["compare", *map(str, arguments)])

    return run


def cells(result):
    return [line.split() for line in result.stdout.splitlines()]


def test_comparable(command, run):
    result = command(run, run)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[:3] == [f"A: {run}", f"B: {run}", "comparable (2 shared tasks)"]
    assert "ingredient" not in result.stdout
    assert [QASPER, "score", "0.1125", "0.1125", "+0.0000"] in cells(result)


def test_with_care(command, run, files):
    files.edit_run(QASPER, seeds=[1, 2])
    result = command(run, files.folder)
    assert result.exit_code == 0
    assert "comparable with care (2 shared tasks)" in result.stdout
    (line,) = [line for line in result.stdout.splitlines() if "seeds" in line]
    assert "null" in line and "[1, 2]" in line and "same distribution" in line
    assert [V2, "acc_hard", "0.3000", "0.3000", "+0.0000"] in cells(result)


def test_not_comparable(command, run, files):
    files.edit_run(QASPER, template_sha256="0" * 64, failed=1)
    result = command(run, files.folder)
    assert result.exit_code == 1
    text = result.stdout
    assert "not comparable (2 shared tasks)" in text
    # The heaviest first, then what needs care.
    assert text.index("template_sha256") < text.index("failed  ")
    assert "the questions were put in other words" in text
    assert "0" * 12 in text and "0" * 13 not in text
    # The other task may be compared.
    assert text.index("template_sha256") < text.index("figures of comparable tasks:")
    tasks = {line[0] for line in cells(result) if line[1:2] == ["acc"] or line[1:2] == ["score"]}
    assert tasks == {V2}
    assert "the figures of 1 tasks are not comparable and not shown; --anyway shows them" in text


def test_anyway(command, run, files):
    files.edit_run(QASPER, template_sha256="0" * 64)
    result = command(run, files.folder, "--anyway")
    assert result.exit_code == 1
    text = result.stdout
    assert text.index("NOT COMPARABLE, shown because of --anyway:") < text.rindex(QASPER)
    assert [QASPER, "score", "0.1125", "0.1125", "+0.0000"] in cells(result)


def test_tasks_of_one_side(command, run, files):
    def edit(whole):
        for part in ("results", "configs"):
            del whole[part][V2]

    files.edit_results(edit)
    result = command(files.folder, run)
    assert result.exit_code == 0
    assert "comparable with care (1 shared task)" in result.stdout
    assert f"only in B: {V2}" in result.stdout

    def rest(whole):
        whole["configs"][QASPER]["metadata"]["longbench_run"]["task"] = "longbench_v1_trec"

    files.edit_results(rest)
    result = command(files.folder, run)
    assert result.exit_code == 1
    assert "not comparable: the two results have no task in common" in result.stdout


def test_a_file_that_cannot_be_read_has_a_status_of_its_own(command, run, files, tmp_path):
    result = command(run, tmp_path / "nothing")
    assert isinstance(result.exception, PredictionError) and result.exception.status == 2
    assert "does not exist" in str(result.exception)
    files.results.write_text("{", encoding="utf-8")
    result = command(run, files.folder)
    assert (result.exception.status, result.stdout) == (2, "")
    assert f"{files.results} is not JSON" in str(result.exception)


def test_json(command, run, files):
    files.edit_run(QASPER, template_sha256="0" * 64, seeds=[1, 2])
    result = command(run, files.folder, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["a"], found["b"]) == (str(run), str(files.folder))
    assert found["verdict"] == "not comparable"
    one, other = found["tasks"]
    assert (one["task"], one["verdict"]) == (QASPER, "not comparable")
    by_name = {own["ingredient"]: own for own in one["differences"]}
    assert by_name["template_sha256"]["right"] == "0" * 64
    assert by_name["seeds"]["weight"] == "comparable with care"
    assert {"figure": "score", "a": 0.1125, "b": 0.1125} in [
        {**own, "a": round(own["a"], 4), "b": round(own["b"], 4)}
        for own in one["figures"]
        if own["figure"] == "score"
    ]
    assert (other["task"], other["verdict"], other["differences"]) == (V2, "comparable", [])
    assert found["only_a"] == found["only_b"] == []
