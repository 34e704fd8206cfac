"""The checks of runs and results give what the commands give."""

import pytest
from typer.testing import CliRunner

from lm_eval_longbench import (
    Options,
    compare_results,
    evaluate,
    freeze,
    verify_results,
)
from lm_eval_longbench.cli.main import app
from lm_eval_longbench.errors import PredictionError, UnknownNameError

TASK = "longbench_v1_qasper"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("run")
    evaluate(
        lambda prompts: ["Paris", ""],
        TASK,
        data_dir="sample",
        batch_size=2,
        name="m",
        output_path=place,
    )
    return place


def test_results_are_verified_and_compared(folder):
    checked = verify_results(str(folder))
    assert (checked.exit_status, checked.unreadable) == (0, [])
    assert compare_results(folder, str(folder)).verdict == "comparable"
    with pytest.raises(PredictionError):
        verify_results([folder / "none"])


def test_a_lock_is_that_of_the_command(tmp_path):
    file = tmp_path / "longbench.lock"
    options = '{"longbench": {"data_dir": "sample", "truncate_to": 100}}'
    arguments = ["lock", "--tasks", TASK, "--metadata", options, "--output", str(file)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert freeze([TASK], Options(data_dir="sample", truncate_to=100)) == file.read_text("utf-8")
    with pytest.raises(UnknownNameError, match=TASK):
        freeze(["longbench_v1_qaspr"], Options())
