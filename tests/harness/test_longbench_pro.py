"""LongBench Pro under the harness's evaluator, on the embedded sample."""

import json
import logging
import math

import asked
import pytest
from longbench_pro_facts import BY_CODE

FIGURES = ["score", "best_of_n", "pass_at_n", "failed", "truncated", "reasoned", "capped"]


def rows_of(code):
    return list(asked.rows_of(f"longbench_pro_{code}"))


def prompt_of(code, row):
    return asked.prompt_of(f"longbench_pro_{code}", row)


def prompts_of(code, thinking=False):
    return [
        asked.prompt_of(f"longbench_pro{'_thinking' * thinking}_{code}", row)
        for row in rows_of(code)
    ]


def figures(result, task):
    return {
        key.removesuffix(",none"): value
        for key, value in result["results"][task].items()
        if key.endswith(",none") and "stderr" not in key
    }


@pytest.mark.parametrize("form", ["longbench_pro", "longbench_pro_thinking"])
def test_the_whole_tree_runs_with_official_prompts_and_budgets(evaluate, recording_lm, form):
    thinking = form.endswith("thinking")
    result = evaluate(recording_lm, [form], {"repeats": 1})
    leaves = {f"{form}_{code}" for code in BY_CODE}
    assert set(result["configs"]) == leaves
    expected = [prompt for code in BY_CODE for prompt in prompts_of(code, thinking)]
    assert sorted(recording_lm.prompts) == sorted(expected)
    for _, arguments in recording_lm.requests:
        assert arguments == {
            "until": [],
            "max_gen_toks": 8192 if thinking else 1024,
            "temperature": 1.0,
        }
    for code, task in BY_CODE.items():
        assert result["results"][f"{form}_{code}"]["alias"] == task.name
        extra = ["rouge_l", "semantic_similarity"] if task.metric == "summary" else []
        names = [*FIGURES[:3], *extra, *FIGURES[3:]]
        assert list(figures(result, f"{form}_{code}")) == names


def test_three_repeats_in_process_are_sampled_and_all_scored(evaluate, recording_lm):
    """Accuracy task: right in one of three answers."""
    code = "t3_2"
    rows = rows_of(code)
    answers = {prompt_of(code, row): row["answer"][0] for row in rows}
    seen = {}

    def answer(number, prompt, arguments):
        assert arguments["do_sample"] is True  # keeps the response cache from merging repeats
        assert "seed" not in arguments  # in-process models reject it
        seen[prompt] = seen.get(prompt, 0) + 1
        return f"[Answer]\n{answers[prompt]}" if seen[prompt] == 2 else "[Answer]\nwrong"

    recording_lm.answer = answer
    result = evaluate(recording_lm, [f"longbench_pro_{code}"], log_samples=True)
    assert set(seen.values()) == {3}
    found = figures(result, f"longbench_pro_{code}")
    assert found["score"] == pytest.approx(1 / 3, abs=1e-12)
    assert (found["best_of_n"], found["pass_at_n"]) == (1.0, 1.0)
    for sample in result["samples"][f"longbench_pro_{code}"]:
        assert len(sample["resps"][0]) == len(sample["filtered_resps"][0]) == 3
        assert len(json.dumps(sample)) < 20_000


def test_summaries_without_an_embedder_have_no_score(evaluate, recording_lm, caplog):
    with caplog.at_level(logging.WARNING):
        result = evaluate(recording_lm, ["longbench_pro_t4", "longbench_pro_t3"], {"repeats": 1})
    for code in ("t4_1", "t4_2"):
        found = figures(result, f"longbench_pro_{code}")
        for name in ("score", "best_of_n", "pass_at_n", "semantic_similarity"):
            assert math.isnan(found[name]), name
        assert 0.0 <= found["rouge_l"] <= 1.0
    assert not math.isnan(result["results"]["longbench_pro_t3_1"]["score,none"])
    assert caplog.text.count("Summaries (T4) have no score yet") == 1


def test_only_keeps_documents_by_dimension(evaluate, recording_lm):
    code = "t5_1"
    languages = {row["language"] for row in rows_of(code)}
    assert languages == {"English", "Chinese"}
    result = evaluate(
        recording_lm, [f"longbench_pro_{code}"], {"repeats": 1, "only": {"language": "Chinese"}}
    )
    expected = [prompt_of(code, row) for row in rows_of(code) if row["language"] == "Chinese"]
    assert recording_lm.prompts == expected
    assert "(only language: Chinese)" in result["versions"][f"longbench_pro_{code}"]


def test_a_preset_sets_pro_and_nothing_else(evaluate, recording_lm, tokenizer_folder):
    """LongBench v1 and v2 in the same run keep their official budgets and temperatures."""
    recording_lm.answer = lambda number, prompt, generation: str(number)
    tasks = ["longbench_pro_t3_1", "longbench_v1_trec", "longbench_v2"]
    options = {"preset": "Qwen3-8B", "thinking": True, "tokenizer": tokenizer_folder}
    result = evaluate(recording_lm, tasks, options)
    runs = {task: result["configs"][task]["metadata"]["longbench_run"] for task in tasks}
    pro, v1, v2 = (runs[task] for task in tasks)
    assert pro["limit"] == 120000
    assert (pro["generation"]["max_gen_toks"], pro["generation"]["temperature"]) == (8192, 0.6)
    assert (v1["limit"], v2["limit"]) == (None, None)
    assert (v1["generation"]["max_gen_toks"], v1["generation"]["temperature"]) == (64, 0.0)
    assert (v2["generation"]["max_gen_toks"], v2["generation"]["temperature"]) == (128, 0.1)
