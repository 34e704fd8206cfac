"""Scores of this machine beside those of the official packages."""

import importlib.util
import json
import subprocess
import sys

import pytest

from lm_eval_longbench.harness.doctor import scorer_lines
from lm_eval_longbench.harness.doctor_report import ERROR, OK, WARNING


def test_here_all_packages_are_installed_and_agree():
    lines = list(scorer_lines())
    assert [line.status for line in lines] == [OK] * 6
    said = " ".join(line.found for line in lines)
    for package in ("fuzzywuzzy", "jieba", "rouge", "rouge_score", "pytrec_eval"):
        assert package in said


def test_a_metric_that_drifted_is_an_error(monkeypatch):
    from lm_eval_longbench.metrics import rouge

    monkeypatch.setattr(rouge, "rouge_l", lambda prediction, answer: 0.5)
    lines = [line for line in scorer_lines() if line.status == ERROR]
    # Chinese texts are segmented, and then scored by the same function.
    assert [line.found.partition(":")[0] for line in lines] == ["ROUGE-L", "ROUGE-L of Chinese"]
    assert "ROUGE-L: 12 of 12 cases differ from rouge" in lines[0].found
    assert all("not the official ones" in line.todo for line in lines)


@pytest.mark.parametrize("package", ["rouge", "fuzzywuzzy", "pytrec_eval", "rouge_score"])
def test_a_package_that_is_not_here_is_said(monkeypatch, package):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == package else find(name)
    )
    lines = [line for line in scorer_lines() if line.status == WARNING]
    assert lines
    assert all(f"{package} is not installed, not compared" in line.found for line in lines)
    assert all("pip install" in line.todo for line in lines)


LEVENSHTEIN = """
def ratio(*strings):
    return 1.0

def distance(*strings):
    return 0

def opcodes(*args):
    return []

def matching_blocks(*args):
    return []

def editops(*args):
    return []
"""


def test_python_levenshtein_moves_the_official_scripts_and_not_ours(tmp_path):
    """fuzzywuzzy takes it without a word where it is installed."""
    (tmp_path / "Levenshtein.py").write_text(LEVENSHTEIN)
    code = (
        "import json, sys\n"
        "from lm_eval_longbench.harness.doctor import scorer_lines\n"
        "lines = [(line.status, line.found) for line in scorer_lines()]\n"
        "sys.stdout.write(json.dumps(lines))\n"
    )
    environment = {"PYTHONPATH": f"{tmp_path}:{':'.join(sys.path)}", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    lines = dict(reversed(pair) for pair in json.loads(done.stdout))
    assert lines["code similarity on difflib: 12 of 12 cases as fuzzywuzzy gives"] == OK
    (moved,) = [found for found, status in lines.items() if status == WARNING]
    assert moved.startswith("python-Levenshtein is installed: the official scripts on this machine")
    assert "ours do not" in moved


def test_scoring_imports_none_of_it():
    code = (
        "import sys\n"
        "import lm_eval_longbench.scoring.score, lm_eval_longbench.reporting.report\n"
        "from lm_eval_longbench.metrics.text import score_sample\n"
        "score_sample('code_sim', 'x = 1', ['x = 2'])\n"
        "assert 'fuzzywuzzy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
