"""The lines on a first prompt."""

import json

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.doctor.prompt import EXCERPT, excerpt, problem_lines, prompt_lines
from lm_eval_longbench.doctor.model import Lengths
from lm_eval_longbench.harness.limit import Limit


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
