"""LongBench Pro on a real tiny Llama: the harness's own repeats, sampled."""

from lm_eval_longbench.catalog_pro import BY_CODE
from lm_eval_longbench.data.longbench_pro import load


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
        assert len(samples) == len(load(BY_CODE["t3_2"], "sample").rows)
        for sample in samples:
            (texts,) = sample["resps"]
            assert len(texts) == 3
            assert len(set(texts)) == 3  # random weights: three samples of six tokens differ
            assert sample["filtered_resps"] == [texts]
        assert 0.0 <= result["results"][task]["score,none"] <= 1.0
