"""LongBench Pro on a real tiny Llama: the harness's own repeats, sampled."""

import pytest
from asked import rows_of
from longbench_pro_facts import BY_CODE


def test_three_repeats_differ_and_are_all_scored(evaluate, model_folder):
    tasks = ["longbench_pro_t3_2", "longbench_pro_thinking_t3_2"]
    result = evaluate(
        "hf",
        tasks,
        {"truncate_to": 200},
        {"pretrained": model_folder},
        device="cpu",
        gen_kwargs={"max_gen_toks": 6},
        apply_chat_template=True,
        log_samples=True,
    )
    for task in tasks:
        samples = result["samples"][task]
        assert len(samples) == len(rows_of("longbench_pro_t3_2"))
        for sample in samples:
            (texts,) = sample["resps"]
            assert len(texts) == 3
            assert len(set(texts)) == 3  # random weights: three samples of six tokens differ
            assert sample["filtered_resps"] == [texts]
        assert 0.0 <= result["results"][task]["score,none"] <= 1.0


@pytest.mark.parametrize("tree", ["longbench_pro", "longbench_pro_thinking"])
def test_a_whole_tree(evaluate, model_folder, tree):
    result = evaluate(
        "hf",
        [tree],
        {"truncate_to": 120},
        {"pretrained": model_folder},
        device="cpu",
        gen_kwargs={"max_gen_toks": 6},
        apply_chat_template=True,
        batch_size=8,
        limit=1,
        log_samples=True,
    )
    assert set(result["samples"]) == {f"{tree}_{code}" for code in BY_CODE}
    answers = [texts for rows in result["samples"].values() for texts in rows[0]["resps"]]
    assert all(len(set(texts)) == 3 for texts in answers)
    # 25 tasks and the group itself, each with its figures.
    assert len(result["results"]) == 25 + 1
    assert result["groups"][tree]["truncated,none"] == 1.0
