"""The lines on the chat template."""

import pytest

from lm_eval_longbench.doctor.prompt import template_lines as backend_lines, chat_lines
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.harness.preflight_facts import FoundTokenizer


def template(messages):
    return messages[0]["content"]


@pytest.fixture
def one(a_run, a_backend, a_task):
    """The one line on a task: one("local", chat="off", ...)."""

    def make(kind="local", has_template=True, **facts):
        backend = a_backend(
            kind,
            tokenizer=FoundTokenizer("tok"),
            chat_template=template if has_template else None,
        )
        (line,) = chat_lines(a_run(), backend, a_task(**facts))
        return line

    return make


def test_on(one):
    line = one(chat="on")
    assert line.status == OK
    assert "template of tok" in line.found
    assert "template of the server" in one("messages", chat="on", as_messages=True).found


def test_raw_datasets_stay_raw(one):
    line = one(chat="raw", sends_raw=True)
    assert line.status == OK
    assert "officially these prompts are not wrapped" in line.found


def test_raw_datasets_in_messages_are_not_comparable(one):
    line = one("messages", chat="on", sends_raw=True, as_messages=True)
    assert line.status == WARNING
    assert "not comparable" in line.todo


@pytest.mark.parametrize(
    ("facts", "has_template", "status"),
    [
        ({}, True, WARNING),  # a chat model, as it seems
        ({}, False, OK),  # a base model
        ({"sends_raw": True}, True, OK),
        ({"one_message": True, "title": "LongBench Pro"}, False, WARNING),
    ],
)
def test_off(one, facts, has_template, status):
    line = one(has_template=has_template, chat="off", **facts)
    assert line.status == status
    if status == WARNING:
        assert line.todo == "Add --apply_chat_template unless this is a base model."


def test_messages_for_a_completions_endpoint(one):
    line = one("text", chat="on", as_messages=True)
    assert line.status == ERROR
    assert "completions endpoint" in line.found


def test_text_for_a_chat_endpoint(one):
    assert one("messages", chat="on").status == ERROR


def test_a_task_that_was_not_built_has_no_line(a_run, a_backend, a_task):
    assert list(chat_lines(a_run(), a_backend("local"), a_task(chat=None))) == []


# ---------------------------------------------------------------------- the whole run


def test_a_tokenizer_without_a_template_is_an_error_only_in_a_chat_run(a_run, a_backend):
    backend = a_backend(
        "local", tokenizer=FoundTokenizer("tok"), template_problem="ValueError: no template"
    )
    (line,) = backend_lines(a_run(chat=True), backend)
    assert line.status == ERROR
    assert "tok" in line.found and "no template" in line.found
    assert list(backend_lines(a_run(), backend)) == []


def test_a_chat_backend_without_the_option_is_an_error(a_run, a_backend):
    backend = a_backend("messages", "local-chat-completions")
    (line,) = backend_lines(a_run(), backend)
    assert line.status == ERROR
    assert "--apply_chat_template" in line.todo
    assert list(backend_lines(a_run(chat=True), backend)) == []


def test_a_backend_that_nothing_is_known_of(a_run, a_backend):
    (line,) = backend_lines(a_run(chat=True), a_backend("other", "dummy"))
    assert line.status == OK
    assert "dummy" in line.found
    known = a_backend("other", "longbench-extractive", chat_template=template)
    assert list(backend_lines(a_run(chat=True), known)) == []


def test_a_system_instruction_is_a_warning(a_run, a_backend):
    run = a_run(chat=True, system_instruction="Be short.")
    (line,) = backend_lines(run, a_backend("local"))
    assert line.status == WARNING
