"""Lengths of a first prompt, against the tokenizer itself."""

from lm_eval_longbench.doctor.model import Lengths, is_cut, lengths
from lm_eval_longbench.harness.limit import Limit


def test_without_a_tokenizer_nothing_is_counted(a_task):
    assert lengths(a_task()) == Lengths()


def test_raw_text(a_task, found_tokenizer):
    text = "How long is the ferry?"
    facts = a_task(tokenizer=found_tokenizer, whole=text, sent=text)
    number = len(found_tokenizer.tokenizer(text)["input_ids"])
    assert lengths(facts) == Lengths(number, number, 0)


def test_a_template_that_writes_the_first_token_is_not_counted_twice(a_task, found_tokenizer):
    tokenizer = found_tokenizer.tokenizer
    text, sent = "How long?", "<s><|user|>\nHow long?\n<|assistant|>\n"
    facts = a_task(
        tokenizer=found_tokenizer, whole=text, sent=sent, probe="<s><|user|>\n?\n<|assistant|>\n"
    )
    counted = lengths(facts)
    assert counted.whole == len(tokenizer(text)["input_ids"])
    assert counted.sent == len(tokenizer(sent, add_special_tokens=False)["input_ids"])
    assert counted.template == counted.sent - counted.whole


def test_messages_are_counted_without_the_servers_template(a_task, found_tokenizer):
    facts = a_task(
        tokenizer=found_tokenizer, sent='[{"role": "user", "content": "x"}]', as_messages=True
    )
    counted = lengths(facts)
    assert counted.whole is not None and counted.sent is None and counted.template is None


def test_is_cut(a_task):
    limit = Limit(10, None, "truncate_to=10", official=True)
    assert is_cut(a_task(limit=limit), Lengths(11))
    assert not is_cut(a_task(limit=limit), Lengths(10))
    assert not is_cut(a_task(limit=limit), Lengths())
    assert not is_cut(a_task(limit=None), Lengths(11))
    assert not is_cut(a_task(limit=Limit(None, None, "unknown")), Lengths(11))
