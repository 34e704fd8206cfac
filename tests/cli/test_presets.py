"""`lm-eval-longbench presets`."""

import json

from lm_eval_longbench.benchmarks.registry import benchmarks


def listed(invoke, *arguments):
    result = invoke("presets", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_all_of_them(invoke):
    tables = dict.fromkeys(one.presets for one in benchmarks().values() if one.presets)
    names = [preset.model for table in tables for preset in table.published()]
    assert [row["preset"] for row in listed(invoke)] == names
    assert len(names) > 80


def test_a_benchmark(invoke):
    assert {row["benchmark"] for row in listed(invoke, "pro")} == {"LongBench Pro"}
    own = listed(invoke, "v1")
    limits = {row["preset"]: row["truncate_to"] for row in own}
    assert limits["4k"] == 3500
    assert own[0]["max_gen_toks"] is None


def test_the_table(invoke):
    assert "Qwen3-8B" in invoke("presets", "qwen").stdout
    # A model in two modes is named once.
    (source,) = [
        line for line in invoke("presets", "qwen3-8b").stdout.splitlines() if "Pro (" in line
    ]
    assert source.startswith("source of Qwen3-8B: ")
