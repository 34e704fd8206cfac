"""No metric raises on any text, and every score is a number in [0, 1]."""

import time

import pytest
from hypothesis import given
from oracles.texts import ODD, anything, examples
from v1_tasks import score_sample

from lm_eval_longbench.metrics.code import code_sim
from lm_eval_longbench.metrics.reasoning import strip_reasoning
from lm_eval_longbench.metrics.rouge import rouge_l, rouge_l_google, rouge_l_zh
from lm_eval_longbench.metrics.text import (
    classification,
    count,
    qa_f1,
    qa_f1_zh,
    retrieval,
    retrieval_zh,
)

pytestmark = pytest.mark.slow


def classified(prediction, answer):
    return classification(prediction, answer, [answer, *list(ODD.values())])


METRICS = {
    "qa_f1": qa_f1,
    "qa_f1_zh": qa_f1_zh,
    "rouge_l": rouge_l,
    "rouge_l_zh": rouge_l_zh,
    "rouge_l_google": rouge_l_google,
    "classification": classified,
    "retrieval": retrieval,
    "retrieval_zh": retrieval_zh,
    "count": count,
    "code_sim": code_sim,
}
each_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS.keys())

LENGTH = 100_000
LONG = {
    "one word": "x" * LENGTH,
    "another word": "x" * (LENGTH // 2) + "y" * (LENGTH // 2),
    "full stops": "." * LENGTH,
    "newlines": "\n" * LENGTH,
    "spaces": " " * LENGTH,
    "numbers": "7 " * (LENGTH // 2),
    "Chinese": "北京天气很好。" * (LENGTH // 7),
    "surrogates": "\ud800" * LENGTH,
    "hashes": "#\n" * (LENGTH // 2),
}
SHORT = ["", "Paragraph 7", "段落7。北京天气. The cat sat."]


def checked(metric, prediction, answer):
    score = metric(prediction, answer)
    assert type(score) is float, (prediction[:20], answer[:20], score)
    assert 0.0 <= score <= 1.0, (prediction[:20], answer[:20], score)
    return score


@each_metric
@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_texts_on_either_side(metric, text):
    for other in [*ODD.values(), "The cat sat. 北京 7"]:
        checked(metric, text, other)
        checked(metric, other, text)


@each_metric
@examples(150)
@given(anything, anything)
def test_any_text(metric, prediction, answer):
    checked(metric, prediction, answer)


@each_metric
@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_a_hundred_thousand_characters(metric, text):
    begin = time.perf_counter()
    for other in SHORT:
        checked(metric, text, other)
        checked(metric, other, text)
    checked(metric, text, text)
    assert time.perf_counter() - begin < 60


@pytest.mark.parametrize("text", [*ODD.values(), *LONG.values()], ids=[*ODD, *LONG])
def test_reasoning_is_taken_out_of_any_text(text):
    behind = strip_reasoning(f"<think>{text}</think>\n{text}")
    assert behind == ("" if text == "<think>" else text.lstrip("\n"))
    assert strip_reasoning(f"<think>{text}") == ""


@pytest.mark.parametrize("dataset", ["trec", "triviaqa", "samsum", "lsht", "lcc", "vcsum"])
@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_samples(dataset, text):
    for answers in ([], [text], ["x", text]):
        score = score_sample(dataset, text, answers, [text, "x"])
        assert type(score) is float
        assert 0.0 <= score <= 1.0
