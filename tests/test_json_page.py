"""docs/scoring.md names the keys that commands print, all of them and no others."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lm_eval_longbench.cli.main import app

PAGE = (Path(__file__).parents[1] / "docs" / "scoring.md").read_text(encoding="utf-8")


def keys_of(section):
    """The keys in the first column of a section's table."""
    (text,) = re.findall(rf"^## `{section} --json`\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    found = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    return found, text


def printed(*arguments):
    return json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)


@pytest.mark.parametrize(
    ("section", "arguments", "more"),
    [
        ("tasks", ("tasks", "longbench_v1*"), {"median_prompt_tokens"}),
        ("presets", ("presets", "v2"), set()),
    ],
)
def test_lists_of_objects(section, arguments, more):
    keys, _ = keys_of(section)
    for row in printed(*arguments):
        assert row.keys() == keys - more


def test_doctor():
    keys, text = keys_of("doctor")
    found = printed("doctor", "--model", "longbench-extractive")
    assert found.keys() == keys
    for line in found["lines"]:
        assert all(f"`{key}`" in text for key in line)


def test_compare_and_verify(tmp_path):
    from real_runs import EXTRACTIVE, write_run

    run = write_run(tmp_path / "run", EXTRACTIVE, ["longbench_v2"])
    keys, text = keys_of("compare")
    assert printed("compare", str(run), str(run)).keys() == keys - {"margin"}
    found = printed("compare", str(run), str(run), "--margin", "1")
    assert found.keys() == keys
    margin = found["margin"]
    assert all(f"`{key}`" in text for part in (margin, *margin["figures"]) for key in part)
    for part in (found["why"], *found["headline"], *found["why"]["parts"]):
        assert all(f"`{key}`" in text for key in part)
    assert all(f"`{key}`" in text for task in found["tasks"] for key in task)
    keys, text = keys_of("verify")
    found = printed("verify", str(run))
    assert found.keys() == keys
    assert all(f"`{key}`" in text for check in found["checks"] for key in check)
