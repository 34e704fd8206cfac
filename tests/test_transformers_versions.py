"""The script that compares releases of transformers: what it covers, and that it can fail."""

import json
import os
import sys
from pathlib import Path

import pytest
import transformers_cuts
from packaging.requirements import Requirement
from packaging.version import Version

from lm_eval_longbench.prompts.tokens.official import RELEASE_PRO, RELEASE_V1, RELEASE_V2

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest needs it there

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "scripts"
pytestmark = pytest.mark.skipif(
    not (ROOT / "pyproject.toml").is_file(), reason="not run from a checkout"
)


@pytest.fixture(scope="module")
def module():
    return transformers_cuts


def test_the_listed_releases_start_with_the_oldest_that_is_claimed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (claimed,) = (r for r in map(Requirement, project["dependencies"]) if r.name == "transformers")
    (oldest,) = (bound.version for bound in claimed.specifier if bound.operator == ">=")
    listed = (SCRIPTS / "transformers_versions.txt").read_text().splitlines()
    assert listed == sorted(set(listed), key=Version)
    assert all(claimed.specifier.contains(version) for version in listed)
    assert Version(listed[0]) == Version(oldest)
    assert len(listed) >= 2
    # The page on dependencies names them all.
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    assert all(version in page for version in listed)


def test_the_script_runs_the_official_releases():
    script = (SCRIPTS / "test_transformers_versions").read_text()
    assert f"official=({RELEASE_V1} {RELEASE_V2} {RELEASE_PRO})" in script
    assert os.access(SCRIPTS / "test_transformers_versions", os.X_OK)


def test_what_is_compared(module):
    assert list(module.RULES.values()) == [RELEASE_V1, RELEASE_V2, RELEASE_PRO]
    assert len(module.PACKAGES) >= 6
    assert len(module.KINDS) * len(module.STATED) * len(module.RULES) == 162
    prompts = list(module.prompts(200))
    assert len(set(prompts)) == 200
    assert {limit for _, limit in prompts} == set(module.LIMITS)
    assert prompts == list(module.prompts(200))


def results(folder, **runs):
    files = []
    for name, cases in runs.items():
        run = {f"x y true {rule}": hashes for rule, hashes in cases.items()}
        run |= {f"{case} cut": 2 for case in run}
        files.append(folder / f"{name.replace('_', '-')}.json")
        files[-1].write_text(json.dumps(run))
    return files


def test_the_comparison_fails_on_any_difference(module, tmp_path, capsys):
    same = {"v1": ["a", "b"], "v2": ["c", "d"]}
    assert module.compare(
        results(tmp_path, ours_1=same, ours_2=same, official_3={"v1": ["a", "b"]})
    )
    assert "all equal" in capsys.readouterr().out
    for name, other in (
        ("ours_2", {"v1": ["a", "x"], "v2": ["c", "d"]}),
        ("ours_2", {"v1": ["a"], "v2": ["c", "d"]}),
        ("ours_2", {"v1": ["a", "b"]}),
        ("ours_2", {}),
        ("official_2", {"v1": ["a", "x"]}),
        # An official release that reads nothing compares nothing.
        ("official_2", {"v1": "ValueError"}),
        ("official_2", {}),
    ):
        assert not module.compare(results(tmp_path, ours_1=same, **{name: other}))
        assert "NOT ALL EQUAL" in capsys.readouterr().out
    assert not module.compare(results(tmp_path, ours_1={}, ours_2={}))
