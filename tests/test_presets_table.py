"""The published settings of 46 models."""

import csv
import hashlib
import re
from argparse import Namespace
from pathlib import Path

import pytest

from lm_eval_longbench.benchmarks.asking import asking_of
from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.benchmarks.registry import presets_named
from lm_eval_longbench.benchmarks.v1 import V1, E
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.catalog.presets import Preset
from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.harness.arguments import with_preset

PUBLISHED = (
    Path(__file__).parents[1].parent
    / "shared"
    / "published"
    / "longbench_pro_inference_settings.csv"
)
SHA256 = "926bca5d2677b77da21dd7400b5cf6faed579714604cb6b7815edc172360b90d"


SOURCE = "the inference settings published with LongBench Pro (December 2025)"
find_preset, names = PRO.presets.find, PRO.presets.names


def parsed(**given):
    return Namespace(**{"metadata": None, "gen_kwargs": None, "tasks": None, **given})


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
    raw = PRO.presets._file.read_bytes().replace(b"\r\n", b"\n")
    assert hashlib.sha256(raw).hexdigest() == SHA256
    known = Preset("GPT-4o", False, 120000, 1024, 1.0, source=SOURCE)
    assert find_preset("GPT-4o", thinking=False) == known


def test_names_do_not_mind_case_and_unknown_ones_get_the_nearest():
    assert find_preset("gpt-4O", thinking=False).model == "GPT-4o"
    with pytest.raises(UnknownNameError, match="'GPT-4o'"):
        find_preset("GPT-4oo", thinking=False)


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


OFFICIAL_V1 = {3500, 7500, 15500, 31500}


def test_v2_has_the_official_table():
    limits = {preset.model: preset.truncate_to for preset in V2.presets.published()}
    official = [own for own in V2.presets.published() if "2e00731" in own.source]
    assert len(official) == 16
    assert all(own.generation == {} for own in official)  # chain of thought has another budget
    assert {name for name, limit in limits.items() if limit != 120_000} == {
        "claude-3.5-sonnet-20241022"
    }
    assert limits["claude-3.5-sonnet-20241022"] == 200_000
    assert set(limits.values()) == set(V2.protocol(V2.tasks["longbench_v2"]).limits)
    cut_with_tiktoken = {p.model for p in V2.presets.published() if "tiktoken:gpt-4o" in p.note}
    assert cut_with_tiktoken == {name for name in limits if name.startswith(("gpt", "o1"))}


def test_v1_has_the_official_lengths_and_the_settings_of_papers():
    presets = {preset.model: preset for preset in V1.presets.published()}
    lengths = {name: presets[name].truncate_to for name in ("4k", "8k", "16k", "32k")}
    assert lengths == {"4k": 3500, "8k": 7500, "16k": 15500, "32k": 31500}
    papers = {name: own.truncate_to for name, own in presets.items() if name.startswith("FullKV")}
    assert papers == {"FullKV-Llama-3-8B-Instruct": 7950, "FullKV-Mistral-7B-Instruct": 31500}
    others = {own.truncate_to for name, own in presets.items() if name not in papers}
    assert others == OFFICIAL_V1 == set(V1.protocol(V1.tasks["longbench_v1_qasper"]).limits)
    assert E.presets is V1.presets
    assert len(presets) == 14


def test_every_row_has_a_source_with_a_date():
    for benchmark in (V1, V2, PRO):
        for preset in benchmark.presets.published():
            assert re.search(r"20\d\d", preset.source), preset


def test_one_name_may_be_of_several_benchmarks():
    found = presets_named("llama-3.1-8B-instruct", thinking=False)
    assert [table.title for table in found] == ["LongBench v2", "LongBench Pro"]
    arguments = parsed(tasks="longbench_pro,longbench_v2,longbench_v1")
    said = with_preset(arguments, "llama-3.1-8B-instruct", thinking=False)
    assert "preset Llama-3.1-8B-Instruct of LongBench v2: truncate_to=120000. Source" in said
    assert "of LongBench Pro, non-thinking: truncate_to=120000, max_gen_toks=1024" in said
    assert "21 tasks of other benchmarks keep" in said


def test_a_benchmark_without_modes_has_no_thinking_settings():
    with pytest.raises(OptionError, match="No thinking settings of 32k are published"):
        presets_named("32k", thinking=True)
    with pytest.raises(UnknownNameError, match="Did you mean '32k'"):
        presets_named("33k", thinking=False)


def test_the_limit_of_a_preset_cuts(tokenizer_folder):
    from lm_eval_longbench.options import Options

    task = V2.tasks["longbench_v2"]
    options = Options(preset="claude-3.5-sonnet-20241022")
    asking = asking_of(V2, task, options, 1)
    assert (asking.options.truncate_to, asking.generation) == (200_000, {})
    assert asking_of(V1, V1.tasks["longbench_v1_qasper"], options, 1).options.truncate_to is None
    own = Options(preset="32k", truncate_to=100)
    assert asking_of(V1, V1.tasks["longbench_v1_qasper"], own, 1).options.truncate_to == 100
