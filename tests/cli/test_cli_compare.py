"""`compare` from the command line: the verdict first, figures only where they may be compared."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from prediction_rows import pro_row, v2_row, write_lines
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


# ---------------------------------------------------------------------- a margin


def v2_file(path, right, of=400):
    """Write official v2 results of which these are right: a set of numbers."""
    rows = [v2_row(f"q{number}", "B" if number in right else "C") for number in range(of)]
    return write_lines(path, *rows)


# Of 400 answers of A every second one is right.
HALF = set(range(0, 400, 2))


@pytest.mark.parametrize(
    ("right", "margin", "status", "verdict"),
    [
        (HALF, "1", 0, "not worse"),
        (HALF, "0.5", 3, "not decided; about 340 more questions would decide"),
        (HALF - set(range(0, 100)), "2", 1, "worse"),
        (HALF - set(range(0, 30)), "3.5", 3, "not decided"),
        (HALF - set(range(0, 30)), "8", 0, "not worse"),
    ],
)
def test_a_margin(command, tmp_path, right, margin, status, verdict):
    sides = v2_file(tmp_path / "a" / "a.jsonl", HALF), v2_file(tmp_path / "b" / "b.jsonl", right)
    result = command(*sides, "--margin", margin)
    assert result.exit_code == status, result.output
    (line,) = [line for line in result.stdout.splitlines() if "B - A" in line and "margin" in line]
    assert line.startswith("margin: LongBench v2") and "official/overall: B - A " in line
    assert line.endswith(verdict) or f": {verdict};" in line
    assert f"margin of {margin}: {verdict.partition(';')[0]}" in result.stdout
    found = json.loads(command(*sides, "--margin", margin, "--json").stdout)["margin"]
    assert (found["points"], found["verdict"]) == (float(margin), verdict.partition(";")[0])
    (figure,) = found["figures"]
    assert figure["n"] == 400 and figure["low"] <= figure["value"] <= figure["high"]


def test_a_figure_of_a_margin(command, tmp_path):
    sides = [v2_file(tmp_path / name / "x.jsonl", HALF) for name in "ab"]
    result = command(*sides, "--margin", "1", "--figure", "easy")
    assert result.exit_code == 0 and "easy: B - A 0.0 [-0.9, +0.9] n=400" in result.stdout
    for arguments, text in {
        ("--margin", "1", "--figure", "eazy"): "Unknown figure 'eazy'. Did you mean",
        ("--figure", "easy"): "give --margin, too",
        ("--margin", "x"): "--margin must be points above 0 and at most 100, not 'x'.",
        ("--margin", "nan"): "not 'nan'.",
        ("--margin", "0"): "not '0'.",
    }.items():
        found = command(*sides, *arguments)
        assert found.exit_code != 0 and text in str(found.exception)
        assert "\n" not in str(found.exception)


def test_a_margin_of_what_is_not_comparable(command, run, files):
    files.edit_run(QASPER, template_sha256="0" * 64)
    result = command(run, files.folder, "--margin", "50", "--figure", "overall")
    assert result.exit_code == 2
    assert "margin of 50: not comparable" in result.stdout


def test_repeats_show_how_much_of_the_noise_is_sampling(command, tmp_path):
    """Pro asks three times: its questions are made up, and half of the answers are luck."""
    rng = np.random.default_rng(5)
    sides = []
    for name in "ab":
        rows = [
            pro_row(f"q{number}", "[Answer]\nEmma" if right else "[Answer]\nAnna", repeat)
            for number in range(60)
            for repeat, right in enumerate(rng.random(3) < 0.5, 1)
        ]
        sides.append(write_lines(tmp_path / name / "x.jsonl", *rows))
    result = command(*sides, "--margin", "1")
    assert result.exit_code == 3, result.output
    (line,) = [line.split() for line in result.stdout.splitlines() if "  noise:" in line]
    assert 60 <= int(line[1].removesuffix("%")) <= 100


def test_the_gate_of_the_examples(tmp_path):
    """Its commands run in one shell each, as there; the sample is too small for one point."""
    gate = yaml.safe_load((Path(__file__).parents[2] / "examples" / "compare-gate.yml").read_text())
    steps = [step["run"] for step in gate["jobs"]["gate"]["steps"] if "run" in step]
    assert steps.pop(0) == "pip install lm-eval-longbench"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    outputs = {}
    for margin, asked in ((gate["env"]["MARGIN"], steps), ("30", steps[-1:])):
        for step in asked:
            done = subprocess.run(
                ["bash", "-e", "-c", step],
                env=os.environ | gate["env"] | {"PATH": path, "MARGIN": margin},
                cwd=tmp_path,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stdout + done.stderr
        outputs[margin] = done.stdout
    assert "::warning::not decided" in outputs["1.0"]
    assert "::warning::" not in outputs["30"] and "margin of 30: not worse" in outputs["30"]
    # What is not comparable fails, as does what is worse.
    shutil.rmtree(tmp_path / "new")
    (tmp_path / "new").mkdir()
    env = os.environ | gate["env"] | {"PATH": path}
    failed = subprocess.run(["bash", "-e", "-c", steps[-1]], env=env, cwd=tmp_path)
    assert failed.returncode == 2
