"""`compare` from the command line: the verdict first, figures only where they may be compared."""

import pytest
from real_runs import EXTRACTIVE, Files, write_run
from typer.testing import CliRunner

from lm_eval_longbench.cli.main import app
from lm_eval_longbench.harness.baseline import ExtractiveBaseline

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
        return CliRunner().invoke(app, ["compare", *map(str, arguments)])

    return run


def cells(result):
    return [line.split() for line in result.stdout.splitlines()]


def test_not_comparable(command, run, files):
    files.edit_run(QASPER, template_sha256="0" * 64, failed=1)
    result = command(run, files.folder)
    assert result.exit_code == 2
    text = result.stdout
    assert "not comparable (2 shared tasks)" in text
    # The heaviest first, then what needs care.
    assert text.index("template_sha256 in") < text.index("failed in")
    assert "the questions were put in other words" in text
    assert "0" * 12 in text and "0" * 13 not in text
    # The headline and the difference are told all the same, and all figures with their mark.
    assert "LongBench v1 qasper: A 11.25 [n<20], B 11.25 [n<20]; B - A 0.00 [n<20] n=4" in text
    found = cells(command(run, files.folder, "--verbose"))
    marked = {line[0] for line in found if line[-2:] == ["not", "comparable"]}
    assert marked >= {QASPER} and V2 not in marked
    (hard,) = [line for line in found if line[:2] == [V2, "acc_hard"]]
    assert hard[2] == hard[3] and hard[4:] == ["+0.0000"]


def test_tasks_of_one_side(command, run, files):
    def edit(whole):
        for part in ("results", "configs"):
            del whole[part][V2]

    files.edit_results(edit)
    for log in files.folder.rglob(f"samples_{V2}_*"):
        log.unlink()
    result = command(files.folder, run)
    assert result.exit_code == 0
    assert f"comparable with care (1 shared task; only in B: {V2})" in result.stdout

    def rest(whole):
        whole["configs"][QASPER]["metadata"]["longbench_run"]["task"] = "longbench_v1_trec"

    files.edit_results(rest)
    for log in files.folder.rglob("samples_*"):
        log.unlink()
    result = command(files.folder, run)
    assert result.exit_code == 2
    assert "not comparable: the two results have no task in common" in result.stdout


# What nobody may change without seeing it.
SCREEN = """\
A: /whole (ExtractiveBaseline)
B: /cut (ExtractiveBaseline)
LongBench v1 qasper: A 11.25 [n<20], B 2.78 [n<20]; B - A -8.47 [n<20] n=4
LongBench v2 overall: A 16.7 [n<20], B 11.1 [n<20]; B - A -5.6 [n<20] n=18
not comparable (2 shared tasks)
  limit: 100000 | 500: prompts were cut, and this decides what the model read
  truncated in longbench_v1_qasper: 0 | 4, care: another number of prompts was cut
  ingredients: 1 more
why: -6.09 points of the mean over questions (A 15.68, B 9.60; 22 shared): cut -6.09
more: --verbose (every ingredient, figure and cause), --json
"""


def test_the_screen(command, tmp_path, tokenizer_folder):
    """Ten lines at most: both numbers, what tells them apart, and why, in points."""
    sides = []
    for name, limit in (("whole", 100_000), ("cut", 500)):
        options = {"tokenizer": tokenizer_folder, "truncate_to": limit}
        (tmp_path / name).mkdir()
        sides.append(write_run(tmp_path / name, ExtractiveBaseline(), [QASPER, V2], options))
    result = command(*sides)
    text = result.stdout.replace(str(tmp_path), "").replace(tokenizer_folder, "TOKENIZER")
    assert text == SCREEN
    assert len(text.splitlines()) <= 10
    assert result.exit_code == 2
    assert "as tokenizers differ" not in command(*sides, "--verbose").stdout
