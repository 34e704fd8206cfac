import pickle

from lm_eval_longbench.answers.answer import FAILED, Answer, AnswerText, answer_of


def test_a_text_brings_its_answer_along():
    answer = Answer("Paris", finish_reason="stop", completion_tokens=2)
    text = AnswerText(answer)
    assert text == "Paris" and answer_of(text) is answer
    assert answer_of("Paris") is None


def test_a_pickled_text_is_a_plain_one():
    copy = pickle.loads(pickle.dumps(AnswerText(Answer("Paris"))))
    assert type(copy) is str and copy == "Paris"


def test_a_reply_holds_what_is_known_without_the_text():
    answer = Answer("", FAILED, "HTTP 400: too long", left_out=("seed",), prompt_tokens=0)
    assert answer.reply() == {
        "state": "failed",
        "reason": "HTTP 400: too long",
        "prompt_tokens": 0,
        "left_out": ["seed"],
    }
