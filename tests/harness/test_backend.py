"""Prompts as backends get them, as one text."""

from lm_eval.models.api_models import JsonChatStr

from lm_eval_longbench.harness.backend import as_text


def test_every_kind_of_prompt_has_a_text():
    messages = [{"role": "user", "content": "Wer? 谁"}]
    assert as_text("Wer?") == "Wer?"
    assert as_text(JsonChatStr("[1]")) == "[1]"
    # What API models get that tokenize on the server.
    assert as_text(messages) == '[{"role": "user", "content": "Wer? 谁"}]'
