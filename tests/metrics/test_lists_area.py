import pytest
from hypothesis import given
from oracles import pro_items as oracle
from oracles.pro_texts import predictions
from oracles.texts import examples

from lm_eval_longbench.metrics.lists import answer_area

CASES = {
    "no mark": (" the whole\ntext \n", "the whole\ntext"),
    "English mark": ("so\n[Answer]\na\nb\n", "a\nb"),
    "Chinese mark": ("so\n[答案]\n甲\n", "甲"),
    "on the line of the mark": ("[Answer] a", "a"),
    "the last English mark": ("[Answer]a[Answer]b", "b"),
    "the last Chinese mark": ("[答案]甲[答案]乙", "乙"),
    "English wins in front": ("[Answer]\na\n[答案]\nb", "a\n[答案]\nb"),
    "English wins behind": ("[答案]\na\n[Answer]\nb", "b"),
    "only an earlier English mark": ("[Answer]a[答案]b[答案]c", "a[答案]b[答案]c"),
    "case matters": ("[answer]\na", "[answer]\na"),
    "a capitalized mark is none": ("[ANSWER]a", "[ANSWER]a"),
    "spaces in the mark": ("[ Answer ]a", "[ Answer ]a"),
    "mark within brackets": ("[[Answer]]a", "]a"),
    "nothing behind the mark": ("a\n[Answer]", ""),
    "nothing behind the last mark": ("[Answer]a[Answer] \n", ""),
    "empty": ("", ""),
    "whitespace": (" \n\u3000", ""),
    "reasoning is not taken out here": ("<think>a</think>b", "<think>a</think>b"),
}
each_case = pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())


@pytest.mark.parametrize("area", [answer_area, oracle.area], ids=["metric", "oracle"])
@each_case
def test_hand_worked(area, text, expected):
    assert area(text) == expected


@examples(300)
@given(predictions)
def test_equals_oracle(text):
    assert answer_area(text) == oracle.area(text)


@examples(150)
@given(predictions, predictions)
def test_nothing_before_the_last_english_mark_counts(before, behind):
    assert answer_area(f"{before}[Answer]{behind}") == answer_area(f"[Answer]{behind}")
