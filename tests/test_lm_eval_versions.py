"""The range of lm_eval is claimed alike everywhere, and its oldest version is tested."""

import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest needs it there

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(
    not (ROOT / "pyproject.toml").is_file(), reason="not run from a checkout"
)


@pytest.fixture
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def claimed(project):
    """The requirement of the core."""
    (found,) = (text for text in project["dependencies"] if Requirement(text).name == "lm-eval")
    return Requirement(found)


def test_the_extras_claim_the_same(project, claimed):
    extras = [text for texts in project["optional-dependencies"].values() for text in texts]
    own = [Requirement(text) for text in extras if Requirement(text).name == "lm-eval"]
    assert len(own) == 3
    assert {requirement.specifier for requirement in own} == {claimed.specifier}


def test_the_page_on_dependencies_claims_the_same(claimed):
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| lm-eval `([^`]+)` \|", page, re.MULTILINE)
    assert Requirement(f"lm-eval{row}").specifier == claimed.specifier


def test_the_oldest_version_is_the_one_that_is_tested(claimed):
    (oldest,) = (bound.version for bound in claimed.specifier if bound.operator == ">=")
    assert version("lm_eval") == oldest
