import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import reasoning as oracle
from oracles.texts import anything, examples, joined

from lm_eval_longbench.metrics.reasoning import strip_reasoning

texts = st.one_of(
    joined(["<think>", "</think>", "<think>", "</think>", "\n", " ", "x", "y", "<", "think>"], 12),
    anything,
)

CASES = {
    "no reasoning": ("x", "x"),
    "empty": ("", ""),
    "unchanged with its newlines": ("\n\nx\n", "\n\nx\n"),
    "block": ("<think>why</think>x", "x"),
    "empty block": ("<think></think>x", "x"),
    "newlines behind the block": ("<think>why</think>\n\nx\n", "x\n"),
    "block over lines": ("<think>\nwhy\n\nhow\n</think>\n\nx", "x"),
    "indentation stays": ("<think>why</think>\n    x", "    x"),
    "a space behind the block stays": ("<think>why</think> x", " x"),
    "newlines after a space stay": ("<think>why</think> \nx", " \nx"),
    "block over lines behind text": ("x <think>\nwhy\n</think> y", "x  y"),
    "two blocks": ("<think>a</think>x<think>b</think>y", "xy"),
    "text before the block stays": ("x <think>a</think> y", "x  y"),
    "newlines before the block": ("\n<think>a</think>\nx", "x"),
    "block opened in the prompt": ("why</think>x", "x"),
    "block opened in the prompt, newlines": ("why\n</think>\n\nx", "x"),
    "everything up to the last end": ("a</think>b</think>x", "x"),
    "block and end without beginning": ("a<think>b</think>c</think>x", "x"),
    "block begun twice": ("<think>a<think>b</think>c</think>x", "x"),
    "nothing behind the block": ("<think>why</think>", ""),
    "cut off": ("<think>why", ""),
    "cut off after whitespace": (" \n<think>why\nx", ""),
    "only a beginning": ("<think>", ""),
    "cut off later is an answer": ("x <think>why", "x <think>why"),
    "other case is no tag": ("<THINK>a</THINK>x", "<THINK>a</THINK>x"),
    "other tag": ("<thinking>a", "<thinking>a"),
    "tag with a space": ("<think >a</think >x", "<think >a</think >x"),
    "half a tag": ("<think", "<think"),
}


@pytest.mark.parametrize("strip", [strip_reasoning, oracle.strip_reasoning], ids=["code", "oracle"])
@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(strip, text, expected):
    assert strip(text) == expected


@examples(600)
@given(texts)
def test_equals_oracle(text):
    assert strip_reasoning(text) == oracle.strip_reasoning(text)


@examples(200)
@given(texts)
def test_no_end_of_reasoning_is_left(text):
    assert "</think>" not in strip_reasoning(text)


@examples(100)
@given(st.text("abc .\n", max_size=20), st.text("abc .", max_size=20))
def test_reasoning_before_an_answer_changes_nothing_in_it(thought, answer):
    assert strip_reasoning(f"<think>{thought}</think>\n\n{answer}") == answer
    assert strip_reasoning(f"{thought}</think>\n\n{answer}") == answer


def test_long_texts():
    thought = "because " * 20_000
    assert strip_reasoning(f"<think>{thought}</think>\n\nx") == "x"
    assert strip_reasoning(f"<think>{thought}") == ""
    assert strip_reasoning("<think>a</think>" * 10_000 + "x") == "x"
    assert strip_reasoning("<think>" * 2_000 + "</think>x") == "x"


def test_marks_without_end_take_no_time():
    """A looping model writes thousands of marks: the time must not grow with their square."""
    begin = time.perf_counter()
    assert strip_reasoning("</think>" + "<think>" * 100_000) == ""
    assert strip_reasoning("x</think>" + "a <think> " * 100_000) == "a <think> " * 100_000
    assert strip_reasoning("<think>a</think>" * 100_000 + "b") == "b"
    assert time.perf_counter() - begin < 10
