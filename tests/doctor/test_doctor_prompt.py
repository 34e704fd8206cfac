"""The first prompt, its template, stops and sampling."""

import copy
import json
from dataclasses import replace

import pytest

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.doctor.model import Lengths
from lm_eval_longbench.doctor.prompt import (
    EXCERPT,
    chat_lines,
    end_lines,
    excerpt,
    problem_lines,
    prompt_lines,
    sampling_lines,
    stop_lines,
)
from lm_eval_longbench.doctor.prompt import template_lines as backend_lines
from lm_eval_longbench.harness.preflight_facts import FoundTokenizer
from lm_eval_longbench.harness.prompts import Limit

# -------------------------------------------------- The lines on a first prompt


def test_a_problem_is_an_error_in_its_own_words(a_task):
    (line,) = problem_lines(a_task(problem="Repeats are refused."))
    assert line.status == ERROR
    assert "Repeats are refused." in line.found
    assert list(problem_lines(a_task())) == []


def test_fewer_questions_are_a_warning(a_task):
    (line,) = problem_lines(a_task(asked=5))
    assert line.status == WARNING
    assert "5 of 200" in line.found


def test_short_texts_are_shown_whole_and_long_ones_by_both_ends():
    assert excerpt("a\n b ") == '"a\\n b "'
    text = "x" * EXCERPT + "middle" + "y" * EXCERPT
    assert excerpt(text) == f'"{"x" * EXCERPT}" ... "{"y" * EXCERPT}"'


def test_a_cut_prompt_tells_both_lengths(a_task):
    limit = Limit(100, None, "truncate_to=100", official=True)
    (line,) = prompt_lines(a_task(limit=limit), Lengths(1234, 105, 5))
    assert line.status == OK
    assert "as sent" in line.found and "105 tokens" in line.found
    assert "from 1,234 to 100 tokens" in line.found


def test_a_prompt_that_is_not_cut(a_task):
    (line,) = prompt_lines(a_task(), Lengths(6, 6, 0))
    assert "nothing cut" in line.found
    assert '"How long is it?"' in line.found


def test_messages_show_what_the_user_says(a_task):
    sent = json.dumps([{"role": "system", "content": "S"}, {"role": "user", "content": "Hm?"}])
    (line,) = prompt_lines(a_task(sent=sent, as_messages=True), Lengths())
    assert '"Hm?"' in line.found and "chat messages" in line.found
    assert "not counted" in line.found


def test_a_prompt_that_could_not_be_built_is_shown_whole(a_task):
    (line,) = prompt_lines(a_task(sent=None), Lengths())
    assert "not as sent" in line.found


def test_no_prompt_no_line(a_task):
    assert list(prompt_lines(a_task(whole=None, sent=None), Lengths())) == []


# -------------------------------------------------- The lines on the chat template


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


# -------------------------------------------------- The lines on stop strings and the end-of-text


def test_none_is_official(a_run, a_task):
    (line,) = stop_lines(a_run(), a_task())
    assert line.status == OK


@pytest.mark.parametrize("name", ["until", "stop"])
@pytest.mark.parametrize("by_user", [True, False])
def test_any_is_a_warning_that_tells_whose_it_is(a_run, a_task, name, by_user):
    generation = {**a_task().generation, name: ["\n\n"]}
    run = a_run(gen_kwargs={name: ["\n\n"]} if by_user else {})
    (line,) = stop_lines(run, a_task(generation=generation))
    assert line.status == WARNING
    assert f"{name}=" in line.found
    assert ("--gen_kwargs" if by_user else "YAML") in line.found


def test_a_task_that_could_not_be_built_has_no_line(a_run, a_task):
    assert list(stop_lines(a_run(), a_task(generation={}))) == []


def test_the_end_of_text_token(a_backend, found_tokenizer):
    (line,) = end_lines(a_backend("local", tokenizer=found_tokenizer))
    assert line.status == OK
    assert "'</s>' (id 1)" in line.found


def test_a_tokenizer_without_one(a_backend, found_tokenizer):
    tokenizer = copy.deepcopy(found_tokenizer.tokenizer)
    tokenizer.eos_token = None
    found = replace(found_tokenizer, tokenizer=tokenizer)
    (line,) = end_lines(a_backend("local", tokenizer=found))
    assert line.status == WARNING


def test_where_none_is_used_the_backend_ends(a_backend):
    (line,) = end_lines(a_backend("messages", "local-chat-completions"))
    assert line.status == OK
    assert list(end_lines(a_backend("local"))) == []  # it is missing, which is said elsewhere


# -------------------------------------------------- The lines on sampling and repeats


GREEDY = {"temperature": 0.0, "do_sample": False}
PRO = {
    "task": "longbench_pro_t1_1",
    "official_repeats": 3,
    "official_generation": {"temperature": 1.0},
}


@pytest.fixture
def only(a_backend, a_task):
    def make(generation, kind="text", **more):
        (line,) = sampling_lines(a_backend(kind), a_task(generation=generation, **more))
        return line

    return make


@pytest.mark.parametrize(
    ("generation", "more", "status"),
    [
        (GREEDY, {}, OK),
        ({"temperature": 0.7}, {}, WARNING),
        ({"temperature": 0.1}, {"official_generation": {"temperature": 0.1}}, OK),
        ({"temperature": 0.2}, {"official_generation": {"temperature": 0.1}}, WARNING),
        ({"temperature": 1.0}, {**PRO, "repeats": 3}, OK),
        ({"temperature": 0.6}, {**PRO, "repeats": 3}, OK),
        ({"temperature": 0.6}, {**PRO, "repeats": 2}, WARNING),
        (GREEDY, {**PRO, "repeats": 1}, WARNING),
    ],
)
def test_against_the_official_settings(only, generation, more, status):
    line = only(generation, **more)
    assert line.status == status
    if status == WARNING:
        assert "officially" in line.found


def test_greedy_repeats_are_an_error_unless_the_task_says_it(only, a_backend, a_task):
    assert only(GREEDY, repeats=3).status == ERROR
    facts = a_task(generation=GREEDY, repeats=3, problem="3 repeats with greedy decoding ...")
    assert list(sampling_lines(a_backend("text"), facts)) == []


@pytest.mark.parametrize(
    ("kind", "repeats", "status"),
    [("local", 1, ERROR), ("text", 1, WARNING), ("text", 3, ERROR)],
)
def test_sampling_at_temperature_zero(only, kind, repeats, status):
    line = only({"temperature": 0.0, "do_sample": True}, kind, repeats=repeats)
    assert line.status == status


def test_greedy_at_a_temperature_means_two_things(only):
    assert only({"temperature": 1.0, "do_sample": False}).status == ERROR


def test_a_temperature_that_is_none(only):
    assert only({"temperature": "warm"}).status == ERROR
