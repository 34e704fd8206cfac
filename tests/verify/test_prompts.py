"""What stands around prompts when they are sent, found from the ends that the log keeps."""

import dataclasses
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_longbench.logs.results_file import TaskResult
from lm_eval_longbench.logs.sample_log import LogRow
from lm_eval_longbench.prompts.prepare import EXCERPT
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.verify.check import CONFIRMED, DIFFERENT, NOT_CHECKABLE
from lm_eval_longbench.verify.prompts import _FORMS, _around, _ends, _put, _Sent

FIELDS = dict.fromkeys((field.name for field in dataclasses.fields(LogRow)), None)
TASK = dict.fromkeys((field.name for field in dataclasses.fields(TaskResult)), None)


def excerpt(sent):
    """What the log keeps of a prompt in short, written out."""
    ends = {"head": sent[:EXCERPT], "tail": sent[-EXCERPT:]}
    return {"sha256": text_sha256(sent), "characters": len(sent), **ends}


def row(sent, line=1):
    doc = {"_id": str(line), "index": line, "prompt": {}}
    hashes = {"prompt": text_sha256(sent)}
    own = {"line": line, "doc": doc, "hashes": hashes, "excerpts": [excerpt(sent)]}
    return LogRow(**{**FIELDS, **own})


LONG = st.text(max_size=8).flatmap(lambda own: st.integers(0, 120).map(lambda n: own * n))
AROUND = st.tuples(LONG, LONG, st.integers(0, len(_FORMS) - 1))


@settings(max_examples=300)
@given(LONG, AROUND)
def test_ends_are_those_of_the_whole(text, around):
    wanted = excerpt(_put(text, around))
    wanted.pop("sha256")
    assert _ends(text, around) == wanted


@settings(max_examples=300)
@given(st.text(min_size=1, max_size=500), st.text(max_size=100), st.text(max_size=100))
def test_what_is_found_is_what_was_sent(text, before, after):
    for form in range(len(_FORMS)):
        sent = _put(text, (before, after, form))
        found = _around(row(sent), text)
        assert found is None or _put(text, found) == sent


def judged(prompts, stated, template="<user>{}<model>"):
    """The checks of prompts in a template, by name; `stated` is the signature's hash."""
    sent = _Sent(TaskResult(**{**TASK, "run": {"chat_sha256": stated}}))
    for line, text in enumerate(prompts, start=1):
        own = row(template.format(text), line)
        sent.add(own, text)
    return {check.name: check for check in sent.checks()}


def test_the_signatures_hash_of_what_stands_around():
    prompts = [f"Question {number}: {'long ' * 200}\n" for number in range(40)]
    right = text_sha256("<user>?<model>")
    found = judged(prompts, right)
    assert {check.status for check in found.values()} == {CONFIRMED}
    assert found["around the prompts"].found == "40 rows"
    assert judged(prompts, "0" * 64)["chat_sha256"].status == DIFFERENT
    # One row alone may be of a template that looks at the prompt.
    assert "chat_sha256" not in judged(prompts[:1], "0" * 64)
    bare = judged(prompts, text_sha256("?"), "{}")
    assert {check.status for check in bare.values()} == {CONFIRMED}


def test_messages_and_what_does_not_tell():
    message = '[{{"role": "user", "content": "{}"}}]'
    prompts = [f'"Frage" {number}: ä\n' * 40 for number in range(30)]
    texts = [json.dumps(text, ensure_ascii=False)[1:-1] for text in prompts]
    sent = _Sent(TaskResult(**{**TASK, "run": {"chat_sha256": text_sha256(message.format("?"))}}))
    for line, (text, inner) in enumerate(zip(prompts, texts, strict=True), start=1):
        sent.add(row(message.format(inner), line), text)
    found = {check.name: check.status for check in sent.checks()}
    assert found == {"around the prompts": CONFIRMED, "chat_sha256": CONFIRMED}
    # A long instruction before the prompt hides where it begins.
    hidden = judged(prompts, "0" * 64, "x" * 300 + "{}")
    assert [check.status for check in hidden.values()] == [NOT_CHECKABLE]


def test_an_edited_excerpt():
    prompts = [f"Question {number}: {'long ' * 200}" for number in range(20)]
    stated = text_sha256("<user>?<model>")
    for place, name in ((0, "tail"), (3, "head"), (19, "tail"), (19, "characters")):
        sent = _Sent(TaskResult(**{**TASK, "run": {"chat_sha256": stated}}))
        for line, text in enumerate(prompts):
            own = row(f"<user>{text}<model>", line)
            if line == place:
                value = own.excerpts[0][name]
                own.excerpts[0][name] = value + (1 if name == "characters" else "x")
            sent.add(own, text)
        (found,) = [check for check in sent.checks() if check.status == DIFFERENT]
        assert found.found.startswith(f"1 of 20: line {place} (")
