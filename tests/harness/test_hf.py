"""The harness's `hf` model, a real tiny Llama with a real tokenizer: what reaches the model."""

import pytest
from asked import prompts_of
from lm_eval.models.huggingface import HFLM


@pytest.fixture
def seen(monkeypatch):
    """Token ids that the model was given, and the generation arguments, call by call."""
    calls = []
    original = HFLM._model_generate

    def recording(self, context, max_length, stop, **arguments):
        calls.append((context[0].tolist(), max_length - context.shape[1], stop, arguments))
        return original(self, context, max_length, stop, **arguments)

    monkeypatch.setattr(HFLM, "_model_generate", recording)
    return calls


@pytest.fixture
def tokenizer(model_folder):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model_folder)


def short_run(evaluate, model_folder, tasks, options=None, **arguments):
    return evaluate(
        "hf",
        tasks,
        options,
        {"pretrained": model_folder, "device": "cpu"},
        gen_kwargs={"max_gen_toks": 4},
        **arguments,
    )


def test_raw_prompts_reach_the_model_token_for_token(evaluate, model_folder, tokenizer, seen):
    tasks = ["longbench_v1_multifieldqa_zh", "longbench_v1_lcc"]
    result = short_run(evaluate, model_folder, tasks, {"truncate_to": 1900})
    expected = [tokenizer(p)["input_ids"] for task in tasks for p in prompts_of(task)]
    assert all(len(ids) <= 1900 for ids in expected)
    assert sorted(ids for ids, *_ in seen) == sorted(expected)
    for _, budget, stop, arguments in seen:
        assert budget == 4
        assert stop == ["</s>"]
        assert arguments["do_sample"] is False
    for task in tasks:
        assert 0.0 <= result["results"][task]["score,none"] <= 1.0


def test_long_prompts_are_cut_in_the_middle_to_the_configs_length(
    evaluate, model_folder, tokenizer, seen
):
    """The folder's config says 2,048 tokens; nothing else names the length."""
    task = "longbench_v1_e_multifieldqa_en"
    result = short_run(evaluate, model_folder, [task])
    assert result["results"][task]["truncated,none"] > 0
    limit = 2048 - 4 - 64
    for prompt in prompts_of(task):
        ids = tokenizer(prompt)["input_ids"]
        got = next(
            received
            for received, *_ in seen
            if received[-20:] == ids[-20:] and received[:20] == ids[:20]
        )
        assert len(got) <= 2048 - 4
        if len(ids) > limit:
            # Both ends are there; where they meet, tokens may merge anew.
            assert got[: limit // 2 - 5] == ids[: limit // 2 - 5]
            assert got[-limit // 2 + 5 :] == ids[-limit // 2 + 5 :]
        else:
            assert got == ids


def test_chat_template_wraps_the_cut_prompt_but_not_few_shot(
    evaluate, model_folder, tokenizer, seen
):
    wrapped, raw = "longbench_v1_e_qasper", "longbench_v1_e_trec"
    short_run(evaluate, model_folder, [wrapped, raw], apply_chat_template=True)
    texts = [tokenizer.decode(ids) for ids, *_ in seen]
    chat = [text for text in texts if text.startswith("<s><|user|>\n")]
    assert len(chat) == len(prompts_of(wrapped))
    for text in chat:
        assert text.endswith("\n\nAnswer:\n<|assistant|>\n")
        assert text.startswith("<s><|user|>\nYou are given a scientific article")
    plain = [text for text in texts if text not in chat]
    assert len(plain) == len(prompts_of(raw))
    for text in plain:
        assert text.startswith("<s>Please determine the type of the question below.")
        assert text.endswith("\nType:")
    assert max(len(ids) for ids, *_ in seen) <= 2048 - 4


def test_batches_never_mix_up_the_beginning_of_text(
    evaluate, model_folder, tokenizer, monkeypatch, tmp_path
):
    """A template that writes the token itself, as Llama's does, next to raw prompts, batch of 8."""
    import shutil

    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    template = folder / "chat_template.jinja"
    template.write_text("{{ bos_token }}" + template.read_text())
    rows = []
    original = HFLM._model_generate

    def recording(self, context, max_length, stop, **arguments):
        rows.extend(context.tolist())
        return original(self, context, max_length, stop, **arguments)

    monkeypatch.setattr(HFLM, "_model_generate", recording)
    short_run(
        evaluate,
        str(folder),
        ["longbench_v1_multifieldqa_en", "longbench_v1_trec"],
        apply_chat_template=True,
        batch_size=8,
    )
    assert len(rows) == 9
    for ids in rows:
        assert ids.count(tokenizer.bos_token_id) == 1
