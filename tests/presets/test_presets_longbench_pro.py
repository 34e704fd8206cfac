"""The published settings of 46 models."""

import csv
import hashlib
from argparse import Namespace
from pathlib import Path

import pytest

from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.harness.command import with_preset
from lm_eval_longbench.presets import longbench_pro
from lm_eval_longbench.presets.longbench_pro import Preset, find_preset, names

PUBLISHED = (
    Path(__file__).parents[2].parent
    / "shared"
    / "published"
    / "longbench_pro_inference_settings.csv"
)
SHA256 = "926bca5d2677b77da21dd7400b5cf6faed579714604cb6b7815edc172360b90d"


def parsed(**given):
    return Namespace(
        **{"config": None, "metadata": None, "gen_kwargs": None, "tasks": None, **given}
    )


def test_there_are_46_models():
    assert len(names()) == 46


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published settings are not at hand")
def test_settings_are_the_published_ones():
    with PUBLISHED.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [row["model"] for row in rows] == list(names())
    for row in rows:
        for mode, thinking in (("nonthinking", False), ("thinking", True)):
            if row[f"max_gen_toks_{mode}"]:
                preset = find_preset(row["model"], thinking=thinking)
                assert preset.truncate_to == int(row["truncate_to"])
                assert preset.max_gen_toks == int(row[f"max_gen_toks_{mode}"])
                assert preset.temperature == float(row[f"temperature_{mode}"])
            else:
                with pytest.raises(OptionError, match="are published"):
                    find_preset(row["model"], thinking=thinking)


def test_the_file_has_not_changed():
    raw = Path(longbench_pro.__file__).with_suffix(".csv").read_bytes().replace(b"\r\n", b"\n")
    assert len(raw.splitlines()) == 47
    known = {
        "Gemma-3-27B-It": Preset("Gemma-3-27B-It", False, 120000, 1024, 1.0),
        "GPT-4o": Preset("GPT-4o", False, 120000, 1024, 1.0),
    }
    for name, preset in known.items():
        assert find_preset(name, thinking=False) == preset
    assert hashlib.sha256(raw).hexdigest() == SHA256


def test_names_do_not_mind_case_and_unknown_ones_get_the_nearest():
    assert find_preset("gpt-4O", thinking=False).model == "GPT-4o"
    with pytest.raises(UnknownNameError, match="'GPT-4o'"):
        find_preset("GPT-4oo", thinking=False)


def test_a_mode_without_published_settings_says_which_has_them():
    with pytest.raises(OptionError, match="with --thinking"):
        find_preset("GPT-5", thinking=False)


def test_a_doubt_is_noted():
    noted = [name for name in names() if longbench_pro._rows()[name]["note"]]
    assert noted == ["MiniMax-M2"]
    assert "named 1000000" in find_preset("MiniMax-M2", thinking=True).note
    assert longbench_pro.BENCHMARK == "longbench_pro"


def test_fills_what_the_user_left_open():
    arguments = parsed(
        tasks="longbench_pro", metadata={"longbench": {"data_dir": "sample"}, "other": 1}
    )
    said = with_preset(arguments, "gemma-3-27B-It", thinking=True)
    assert arguments.metadata == {
        "longbench": {"data_dir": "sample", "preset": "Gemma-3-27B-It", "thinking": True},
        "other": 1,
    }
    assert arguments.gen_kwargs is None  # these would reach every task of the run
    assert "of LongBench Pro, thinking: truncate_to=120000, max_gen_toks=8192" in said
    assert "Source: the inference settings published with LongBench Pro" in said


def test_the_users_own_arguments_win_and_are_said():
    arguments = parsed(
        tasks="longbench_pro",
        metadata={"longbench": {"truncate_to": 5000}},
        gen_kwargs={"temperature": 0.5},
    )
    said = with_preset(arguments, "GPT-4o", thinking=False)
    assert arguments.metadata["longbench"] == {"truncate_to": 5000, "preset": "GPT-4o"}
    assert arguments.gen_kwargs == {"temperature": 0.5}
    assert "truncate_to=5000 (yours; published: 120000)" in said
    assert "temperature=0.5 (yours; published: 1.0)" in said


def test_a_config_files_arguments_count_as_the_users(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text(
        "tasks: [longbench_pro]\ngen_kwargs: {temperature: 0.2}\n"
        "metadata: {longbench: {data_dir: sample}}\n"
    )
    arguments = parsed(config=str(config))
    said = with_preset(arguments, "GPT-4o", thinking=False)
    assert "temperature=0.2 (yours; published: 1.0)" in said
    assert arguments.metadata == {"longbench": {"data_dir": "sample", "preset": "GPT-4o"}}
