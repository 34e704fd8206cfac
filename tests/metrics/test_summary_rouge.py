import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import rouge_l as oracle
from oracles.pro_items import normalized
from oracles.rouge_l import f_of
from oracles.texts import EXACT, anything, examples, joined

from lm_eval_longbench.metrics.summary import summary_rouge

texts = st.one_of(
    joined(["X ", "x ", "y ", "z", ". ", "..", "\n", "北京", "天气", "。", "[Answer]", "É"]),
    anything,
)

ENGLISH = {
    # prediction, references, recall, precision of the best one
    "equal": ("x y", ["x y"], 1, 1),
    "lower case": ("X Y", ["x y"], 1, 1),
    "lower case of the reference": ("x y", ["X Y"], 1, 1),
    "the best reference": ("x y", ["v w", "x y z", "x"], 2 / 3, 1),  # 4/5; x alone 2/3
    "whitespace after the last stop is stripped": ("x.\n", ["x"], 1, 1),
    "and before the text": (" \nx", ["x."], 1, 1),
    "newlines within are spaces": ("x\n\ny", ["x y"], 1, 1),
    # pieces x | " " : whitespace between stops is the word "" as in rouge_l
    "a piece of whitespace within": ("x. .", ["x"], 1, 1 / 2),
    "the answer area is not taken out": ("[Answer] x", ["x"], 1, 1 / 2),
    "Chinese is not cut in an English question": ("北京天气", ["北京 天气"], 0, 0),
}
CHINESE = {
    "equal": ("北京天气", ["北京天气"], 1, 1),
    # 北京 天气 against 北京
    "cut into words": ("北京天气", ["北京"], 1, 1 / 2),
    "English words too": ("ABC", ["abc"], 1, 1),
    "the best reference": ("北京天气", ["大学", "北京"], 1, 1 / 2),
    # [ answer ] 北京 against 北京: four words
    "the answer area is not taken out": ("[Answer]\n北京", ["北京"], 1, 1 / 4),
    "whitespace is stripped before the cut": ("北京.\n", ["北京"], 1, 1),
}


@pytest.mark.parametrize(
    ("prediction", "answers", "recall", "precision"), ENGLISH.values(), ids=ENGLISH.keys()
)
def test_english(prediction, answers, recall, precision):
    assert summary_rouge(prediction, answers, chinese=False) == pytest.approx(
        f_of(recall, precision), rel=0, abs=EXACT
    )


@pytest.mark.parametrize(
    ("prediction", "answers", "recall", "precision"), CHINESE.values(), ids=CHINESE.keys()
)
def test_chinese(prediction, answers, recall, precision):
    assert summary_rouge(prediction, answers, chinese=True) == pytest.approx(
        f_of(recall, precision), rel=0, abs=EXACT
    )


@pytest.mark.parametrize("chinese", [False, True])
def test_nothing_to_compare(chinese):
    assert summary_rouge("x", [], chinese=chinese) == 0.0
    assert summary_rouge("", ["x"], chinese=chinese) == 0.0
    assert summary_rouge(" \n", [" "], chinese=chinese) == 0.0
    assert summary_rouge("...", ["x"], chinese=chinese) == 0.0
    assert summary_rouge("x", ["", "x"], chinese=chinese) == pytest.approx(f_of(1, 1), abs=EXACT)


@pytest.mark.parametrize("chinese", [False, True])
@examples(200)
@given(texts, st.lists(texts, max_size=3))
def test_equals_oracle(chinese, prediction, answers):
    metric = oracle.rouge_l_zh if chinese else oracle.rouge_l
    expected = [metric(normalized(prediction), normalized(answer)) for answer in answers]
    assert summary_rouge(prediction, answers, chinese=chinese) == pytest.approx(
        max([0.0, *expected]), rel=0, abs=EXACT
    )
