import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import qa_f1_zh as oracle
from oracles.texts import EXACT, anything, examples, joined

from lm_eval_longbench.metrics.text import qa_f1_zh

WORDS = ["北京", "天气", "很", "好", "大学", "我", "爱", "北", "京", "abc", "ABC", "7", "3.5"]
chinese = joined([*WORDS, *"。，“”《》．.,-—…· \n\u3000"])
texts = st.one_of(chinese, anything)
SPEC = Path(__file__).resolve().parents[3] / "shared" / "spec" / "zh_punctuation.json"

CASES = {
    # jieba cuts 北京天气 into 北京 and 天气; F1 = 2 * common / (tokens + tokens)
    "equal": ("北京", "北京", 1.0),
    "one of two tokens": ("北京天气", "北京", 2 / 3),
    "order does not matter": ("天气北京", "北京天气", 1.0),
    "a token counts as often as both have it": ("北京北京", "北京", 2 / 3),
    "nothing in common": ("天气", "北京", 0.0),
    "tokens, not characters": ("北京", "北", 0.0),
    "Chinese full stop": ("北京。", "北京", 1.0),
    "curly double quotes": ("“北京”", "北京", 1.0),
    "curly single quotes": ("‘北京’", "北京", 1.0),
    "full-width marks": ("！北京？", "北京", 1.0),
    "ASCII full stop": ("北京.", "北京", 1.0),
    "ASCII punctuation": ("(北京)!", "北京", 1.0),
    "point inside a number": ("3.5", "35", 1.0),  # jieba keeps 3.5 in one token
    "full-width full stop stays": ("北京．", "北京", 2 / 3),  # U+FF0E is not in the list
    "opening title mark stays, closing one goes": ("《北京》", "北京", 2 / 3),  # U+300A is missing
    "middle dot stays": ("北京·", "北京", 2 / 3),
    # The raw text is cut; a comma inside keeps 北 and 京 apart.
    "cut before normalizing": ("北，京", "北京", 0.0),
    "case": ("ABC", "abc", 1.0),
    "no article rule": ("the 北京", "北京", 2 / 3),
    "whitespace tokens do not count": ("北京 \n\u3000天气", "北京天气", 1.0),
    "empty prediction": ("", "北京", 0.0),
    "empty answer": ("北京", "", 0.0),
    "two empty texts": ("", "", 0.0),
    "only punctuation on both sides": ("。", "。", 0.0),
}


@pytest.mark.parametrize(("prediction", "answer", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(prediction, answer, expected):
    assert qa_f1_zh(prediction, answer) == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize(("prediction", "answer", "expected"), CASES.values(), ids=CASES.keys())
def test_oracle_agrees_with_the_hand_worked_cases(prediction, answer, expected):
    assert oracle.qa_f1_zh(prediction, answer) == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("point", oracle.CODE_POINTS, ids="U+{:04X}".format)
def test_every_listed_mark_is_dropped(point):
    assert qa_f1_zh(f"北京 {chr(point)} 天气", "北京 天气") == 1.0


def test_no_neighbour_of_a_listed_mark_is_dropped():
    listed = set(oracle.CODE_POINTS)
    wrong = []
    for point in [*range(0x2010, 0x2030), *range(0x3001, 0x3040), *range(0xFF01, 0xFF66)]:
        mark = chr(point)
        if point not in listed and not mark.isspace() and qa_f1_zh(f"北京 {mark}", "北京") == 1.0:
            wrong.append(f"U+{point:04X}")
    assert wrong == []


@pytest.mark.skipif(not SPEC.exists(), reason="no shared/spec folder beside this repository")
def test_the_list_is_the_specified_one():
    spec = json.loads(SPEC.read_text(encoding="utf-8"))
    assert [f"U+{point:04X}" for point in sorted(oracle.CODE_POINTS)] == sorted(
        spec["zh_punctuation_codepoints"]
    )


@examples(300)
@given(texts, texts)
def test_equals_oracle(prediction, answer):
    assert qa_f1_zh(prediction, answer) == pytest.approx(
        oracle.qa_f1_zh(prediction, answer), rel=0, abs=EXACT
    )


@examples(150)
@given(texts)
def test_a_text_against_itself(text):
    assert qa_f1_zh(text, text) == (1.0 if oracle.tokens(text) else 0.0)
