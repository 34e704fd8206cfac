"""The range of lm_eval is claimed alike everywhere, and a script tests all of it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest needs it there

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(
    not (ROOT / "pyproject.toml").is_file(), reason="not run from a checkout"
)
NAME = "test_lm_eval_versions"


@pytest.fixture
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def claimed(project):
    """The requirement of the core."""
    (found,) = (text for text in project["dependencies"] if Requirement(text).name == "lm-eval")
    return Requirement(found)


def versions():
    return (ROOT / "scripts" / "lm_eval_versions.txt").read_text().splitlines()


def test_the_extras_claim_the_same(project, claimed):
    extras = [text for texts in project["optional-dependencies"].values() for text in texts]
    own = [Requirement(text) for text in extras if Requirement(text).name == "lm-eval"]
    assert len(own) == 3
    assert {requirement.specifier for requirement in own} == {claimed.specifier}


def test_the_page_on_dependencies_claims_the_same(claimed):
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| lm-eval `([^`]+)` \|", page, re.MULTILINE)
    assert Requirement(f"lm-eval{row}").specifier == claimed.specifier


def test_the_listed_versions_are_those_of_the_range(claimed):
    listed = versions()
    assert listed == sorted(set(listed), key=Version)
    assert all(claimed.specifier.contains(version, prereleases=True) for version in listed)
    (oldest,) = (bound.version for bound in claimed.specifier if bound.operator == ">=")
    assert listed[0] == oldest


def test_the_running_version_is_listed():
    from importlib.metadata import version

    assert version("lm_eval") in versions()


STUB = """#!/bin/sh
echo "$(basename "$(dirname "$(dirname "$0")")") $*" >> "$LOG"
case "$*" in *pytest*) [ "$(basename "$(dirname "$(dirname "$0")")")" != "$FAILING" ];; esac
"""


@pytest.fixture
def script(tmp_path):
    """Run the script in a copy of the checkout's folder, where every environment is a stub."""
    (tmp_path / "scripts").mkdir()
    copy = tmp_path / "scripts" / NAME
    copy.write_bytes((ROOT / "scripts" / NAME).read_bytes())
    (tmp_path / "scripts" / "lm_eval_versions.txt").write_text("0.4.13\n0.4.14\n")
    for version in ("0.4.13", "0.4.14"):
        python = tmp_path / "venvs" / version / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(STUB)
        python.chmod(0o755)

    def run(*arguments, failing=""):
        done = subprocess.run(
            ["bash", copy, *arguments],
            env={
                **os.environ,
                "LM_EVAL_VENVS": str(tmp_path / "venvs"),
                "LOG": str(tmp_path / "log"),
                "FAILING": failing,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return done, (tmp_path / "log").read_text().splitlines()

    return run


def test_the_script_tests_each_version_in_its_own_environment(script):
    done, log = script("-k", "something")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "passed with lm_eval 0.4.13 0.4.14"
    expected = []
    for version in ("0.4.13", "0.4.14"):
        expected += [
            f"{version} -m pip install --quiet torch==2.13.0",
            f"{version} -m pip install --quiet --editable .[test] lm-eval=={version}",
            f"{version} -m pytest --numprocesses auto tests/harness tests/cli -k something",
        ]
    assert log == expected


def test_one_failing_version_is_named_and_the_others_are_tested(script):
    done, log = script(failing="0.4.13")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "failed with lm_eval 0.4.13"
    assert sum("pytest" in line for line in log) == 2


def test_the_script_can_be_run():
    assert os.access(ROOT / "scripts" / NAME, os.X_OK)
