import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import qa_f1 as oracle
from oracles.texts import EXACT, anything, examples, joined

from lm_eval_longbench.metrics.text import qa_f1

WORDS = ["a", "an", "the", "The", "cat", "Cat", "c", "at", "7", "é", "a\u0301", "İ", "ß", "  "]
english = joined([*WORDS, *" \n\t\xa0.,-_'\"!。"])
texts = st.one_of(english, anything)

CASES = {
    # prediction, answer, F1 = 2 * common / (words of prediction + words of answer)
    "equal": ("Paris", "Paris", 1.0),
    "case": ("PARIS", "paris", 1.0),
    "nothing in common": ("Paris", "London", 0.0),
    "half the words": ("Paris France", "Paris", 2 / 3),  # 2*1/(2+1)
    "two of three and two of four": ("x y z", "x y v w", 4 / 7),  # 2*2/(3+4)
    "order does not matter": ("y x", "x y", 1.0),
    "a word counts as often as both have it": ("x x x", "x x", 4 / 5),  # 2*2/(3+2)
    "articles": ("The cat and an owl", "a cat and the owl", 1.0),
    "articles inside words stay": ("theatre another banana", "theatre another banana", 1.0),
    "article inside a word is not cut out": ("theatre", "atre", 0.0),
    "punctuation is dropped, not blanked": ("well-known", "wellknown", 1.0),
    "punctuation joins, it does not split": ("well-known", "well known", 0.0),
    "all ASCII punctuation": ("x!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~y", "xy", 1.0),
    "punctuation before articles: a. is an article": ("a. cat", "cat", 1.0),
    "punctuation before articles: the-se is a word": ("the-se", "these", 1.0),
    "lower case before articles": ("THE cat", "cat", 1.0),
    "Unicode punctuation stays": ("cat。", "cat", 0.0),
    "curly quotes stay": ("“cat”", "cat", 0.0),
    # next to a character that is no letter the word ends: “the” becomes “ ”, two words
    "article in curly quotes": ("“the”", "“ ”", 1.0),
    "an accent on its own ends the article": ("a\u0301", "\u0301", 1.0),
    "an accented letter is no article": ("á", "", 0.0),
    "underscore is dropped first": ("_a_ cat", "cat", 1.0),
    "whitespace of any kind": (" x\t\ny\xa0\u3000z ", "x y z", 1.0),
    "empty prediction": ("", "Paris", 0.0),
    "empty answer": ("Paris", "", 0.0),
    "two empty texts": ("", "", 0.0),
    "only articles on both sides": ("the", "the", 0.0),
    "only punctuation on both sides": ("...", "...", 0.0),
    "decimal numbers lose their point": ("3.5", "35", 1.0),
}


@pytest.mark.parametrize(("prediction", "answer", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(prediction, answer, expected):
    assert qa_f1(prediction, answer) == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize(("prediction", "answer", "expected"), CASES.values(), ids=CASES.keys())
def test_oracle_agrees_with_the_hand_worked_cases(prediction, answer, expected):
    assert oracle.qa_f1(prediction, answer) == pytest.approx(expected, abs=EXACT)


@examples(400)
@given(texts, texts)
def test_equals_oracle(prediction, answer):
    assert qa_f1(prediction, answer) == pytest.approx(
        oracle.qa_f1(prediction, answer), rel=0, abs=EXACT
    )


@examples(150)
@given(texts)
def test_a_text_against_itself(text):
    assert qa_f1(text, text) == (1.0 if oracle.tokens(text) else 0.0)


@examples(150)
@given(texts, texts)
def test_symmetric(one, other):
    assert qa_f1(one, other) == pytest.approx(qa_f1(other, one), rel=0, abs=EXACT)
