import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import rouge_l as oracle
from oracles.rouge_l import f_of
from oracles.texts import EXACT, anything, examples, joined

from lm_eval_longbench.metrics.rouge import rouge_l_zh

WORDS = ["北京", "天气", "很", "好", "大学", "我", "爱", "abc", "3.5", ". ", ".."]
texts = st.one_of(joined([*WORDS, *" \n\u3000。，《》."]), anything)

CASES = {
    # prediction, answer, recall, precision; jieba cuts 北京天气 into 北京 and 天气
    "equal": ("北京天气", "北京天气", 1, 1),
    "half of the prediction": ("北京天气", "北京", 1, 1 / 2),
    "half of the answer": ("天气", "北京天气", 1 / 2, 1),
    "tokens, not characters": ("北京", "北", 0, 0),
    "order matters": ("天气北京", "北京天气", 1 / 2, 1 / 2),
    "distinct words": ("北京北京", "北京", 1, 1),
    "the Chinese full stop is a word": ("北京。", "北京", 1, 1 / 2),
    "the Chinese full stop does not split": ("天气。北京", "北京。天气", 1 / 3, 1 / 3),
    # 天气 . 北京 becomes two pieces, so the order between them is free
    "the ASCII full stop splits": ("天气.北京", "北京.天气", 1, 1),
    # jieba keeps 3.5 in one token; the split at the stop then makes 3 and 5
    "numbers are split after the cut": ("3.5", "5.3", 1, 1),
    "whitespace between words collapses": ("北京 \n\u3000 天气", "北京天气", 1, 1),
    "case matters": ("ABC", "abc", 0, 0),
    # jieba gives . and a space, joined ".  ": a whitespace-only piece, the word ""
    "whitespace after a final stop is a word": ("北京. ", "北京", 1, 1 / 2),
    # a stop and the text before it: "北京 ." has no piece after the stop
    "a final stop leaves no piece": ("北京.", "北京", 1, 1),
    # jieba keeps stops in a row in one token: nothing comes between them
    "two final stops leave no piece": ("北京..", "北京", 1, 1),
}


@pytest.mark.parametrize("score", [rouge_l_zh, oracle.rouge_l_zh], ids=["metric", "oracle"])
@pytest.mark.parametrize(
    ("prediction", "answer", "recall", "precision"), CASES.values(), ids=CASES.keys()
)
def test_hand_worked(score, prediction, answer, recall, precision):
    assert score(prediction, answer) == pytest.approx(f_of(recall, precision), rel=0, abs=EXACT)


@pytest.mark.parametrize(
    ("prediction", "answer"), [("", ""), ("", "北京"), ("北京", ""), (".", "北京"), ("北京", ".")]
)
def test_no_piece_scores_zero(prediction, answer):
    assert rouge_l_zh(prediction, answer) == 0.0


@examples(250)
@given(texts, texts)
def test_equals_oracle(prediction, answer):
    assert rouge_l_zh(prediction, answer) == pytest.approx(
        oracle.rouge_l_zh(prediction, answer), rel=0, abs=EXACT
    )


@examples(100)
@given(texts)
def test_a_text_against_itself(text):
    expected = f_of(1, 1) if text.strip(".") else 0.0
    assert rouge_l_zh(text, text) == pytest.approx(expected, rel=0, abs=EXACT)
