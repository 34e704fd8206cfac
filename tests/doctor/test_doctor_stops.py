"""The lines on stop strings and the end-of-text token."""

import copy
from dataclasses import replace

import pytest

from lm_eval_longbench.doctor.line import OK, WARNING
from lm_eval_longbench.doctor.prompt import end_lines, stop_lines


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
