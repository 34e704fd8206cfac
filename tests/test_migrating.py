"""docs/migrating.md: its commands are accepted, and those that need no model work."""

import json
import os
import re
from pathlib import Path

import pytest
from processes import words_of

from lm_eval_longbench.benchmarks.registry import expanded
from lm_eval_longbench.harness.arguments import Beside
from lm_eval_longbench.harness.doctor_tasks import read_run
from lm_eval_longbench.options import Options

PAGE = (Path(__file__).parents[1] / "docs" / "migrating.md").read_text(encoding="utf-8")
FLAGS = PAGE.partition("\n## Answers from other programs\n")[0]
*OTHERS, LAST = re.findall(r"```bash\n(.*?)```", FLAGS, re.DOTALL)


def taken(words):
    """Return the arguments of `run` without ours, and the preset with its mode."""
    words, preset = list(words[2:]), None
    thinking = "--thinking" in words
    if thinking:
        words.remove("--thinking")
    if "--preset" in words:
        at = words.index("--preset")
        preset = words[at + 1]
        del words[at : at + 2]
    return words, preset, thinking


@pytest.mark.parametrize(
    "words", [words for block in OTHERS for words in words_of(block)], ids=lambda own: own[3]
)
def test_a_command_for_a_real_model_is_accepted(words):
    assert words[:2] == ["lm-eval-longbench", "run"]
    arguments, preset, thinking = taken(words)
    run, _, said = read_run(arguments, Beside(preset, thinking))
    ours, foreign = expanded([run.tasks])
    assert ours and not foreign
    assert Options.from_metadata(run.metadata).preset == preset
    assert f"preset {preset}" in "".join(said)


def test_every_official_task_name_in_the_tables_is_there():
    named = set(re.findall(r"`--tasks ([\w,]+)`", PAGE))
    assert len(named) == 11
    for name in named:
        ours, foreign = expanded([name])
        assert ours and not foreign, name


def test_the_last_block_runs(tmp_path, processes):
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_CACHE": str(tmp_path / "cache"),
    }
    said = []
    for words in words_of(LAST):
        done = processes.run(*words, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        said.append(done.stdout)
    _run, _scored, again, explained, presets = said
    assert (tmp_path / "official" / "pred").is_dir()
    assert (tmp_path / "official" / "results").is_dir()
    first, second = (
        json.loads((tmp_path / name / "scores.json").read_text()) for name in ("scored", "again")
    )
    assert first["longbench_v1"] == second["longbench_v1"]
    assert first["longbench_v2"]["overall"] == second["longbench_v2"]["overall"]
    # The same answers on both sides: every question is paired, and no cause has a point.
    assert "why: +0.00 points" in explained and "22 shared): no answer differs" in explained
    words = [*words_of(LAST)[3], "--json"]
    why = json.loads(processes.run(*words, cwd=tmp_path, env=environment).stdout)["why"]
    assert why["questions"] == {"a": 22, "b": 22, "both": 22}
    assert {(part["points"], part["questions"]) for part in why["parts"]} == {(0.0, 0)}
    assert "FullKV-Llama-3-8B-Instruct" in presets
    assert "result.json: its 1 figures are those computed here" in again
