"""`verify` from the command line: exit status, the table, the lines, and JSON."""

import json

import pytest
from real_runs import EXTRACTIVE, Files, write_run
from typer.testing import CliRunner

from lm_eval_longbench.cli.main import app
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

    def run(*arguments):
        return CliRunner().invoke(app, ["verify", *map(str, arguments)])

    return run


def test_not_checkable_reasons_are_said_once(command, files):
    files.log(QASPER).unlink()
    files.log(V2).unlink()
    result = command(files.folder)
    assert result.exit_code == 3
    first, official, more = result.stdout.splitlines()
    assert first.startswith(
        "not checkable: nothing differs, but the official figures of 2 of 2 tasks could not be "
    )
    assert official.startswith("not checkable: 2 tasks: official figures: ") and "--verbose" in more
    result = command(files.folder, "--verbose")
    assert result.exit_code == 3
    lines = [one for one in result.stdout.splitlines()[1:] if one.startswith("not checkable: ")]
    (missing,) = [line for line in lines if line.startswith(f"not checkable: {QASPER}: sample log")]
    assert f": samples_{QASPER}_" in missing
    (official,) = [line for line in lines if ": official figures: " in line]
    assert official.startswith("not checkable: 2 tasks: ")
    assert len(lines) < 10


def test_unreadable(command, files, tmp_path):
    files.results.write_text("{", encoding="utf-8")
    result = command(files.folder)
    assert result.exit_code == 2
    assert f"unreadable: {files.results} is not JSON" in result.stderr
    assert result.stdout.splitlines() == [
        "nothing could be checked. Checks: 0 confirmed, 0 different, 0 not checkable, 1 unreadable."
    ]
    result = command(tmp_path / "nothing")
    assert isinstance(result.exception, PredictionError) and result.exception.status == 2
    assert "does not exist" in str(result.exception)


def test_json(command, files):
    files.edit_run(V2, asked=503)
    files.log(QASPER).unlink()
    result = command(files.folder, "--json")
    assert result.exit_code == 1

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    report = json.loads(result.stdout, parse_constant=refuse)
    assert report["format"] == 1
    assert report["exit_status"] == 1
    assert sum(report["counts"].values()) == len(report["checks"])
    different = [check for check in report["checks"] if check["status"] == "different"]
    assert report["counts"]["different"] == len(different) == 2
    assert {check["kind"] for check in different} == {"signature", "counts"}
    checks = {(check["place"], check["kind"], check["name"]): check for check in report["checks"]}
    asked = checks[V2, "counts", "asked"]
    assert (asked["status"], asked["found"], asked["expected"]) == ("different", 503, 18)
    assert asked["file"] == str(files.results)
    assert checks[QASPER, "sample log", "sample log"]["status"] == "not checkable"
