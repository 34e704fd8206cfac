"""What only some metrics of words and numbers have to give, and which data set has which."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import qa_f1_zh as oracle
from oracles.hand_worked import METRICS
from oracles.rouge_l import f_of
from oracles.texts import EXACT, examples, joined
from v1_tasks import score_sample

from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.errors import LongBenchError, UnknownNameError
from lm_eval_longbench.metrics import text as scorer
from lm_eval_longbench.metrics.text import classification, count, qa_f1_zh, retrieval

SPEC = Path(__file__).resolve().parents[3] / "shared" / "spec" / "zh_punctuation.json"

# ---------------------------------------------------------------------- one metric


def test_the_class_list_is_left_alone():
    classes = ["a", "b", "abc"]
    classification("abc", "abc", classes)
    assert classes == ["a", "b", "abc"]
    assert classification("abc", "abc", tuple(classes)) == 1 / 2


@examples(100)
@given(st.lists(st.sampled_from(["red", "green", "blue", "plum", "teal"]), unique=True, min_size=1))
def test_the_true_class_alone_scores_one(classes):
    assert [classification(name, name, classes) for name in classes] == [1.0] * len(classes)


@examples(50)
@given(st.integers(0, 10**20))
def test_a_number_against_itself(number):
    assert count(str(number), str(number)) == 1.0


@examples(100)
@given(st.integers(1, 30), METRICS["retrieval"][2][0])
def test_a_numbered_answer_finds_itself(number, prediction):
    gold = f"Paragraph {number}"
    assert retrieval(gold, gold) == 1.0
    assert retrieval(f"{prediction} {number}", gold) > 0.0


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


# ---------------------------------------------------------------------- data sets

FIRST_LINE = ["trec", "triviaqa", "samsum", "lsht"]
DATASETS = list(V1.datasets)


def close(expected):
    return pytest.approx(expected, rel=0, abs=EXACT)


@pytest.mark.parametrize("dataset", ["trec", "lsht"])
def test_classification_datasets(dataset):
    # found: a b abc; a goes, b is passed over
    assert score_sample(dataset, "abc", ["abc"], ["a", "b", "abc"]) == 1 / 2
    assert score_sample(dataset, "abc", ["abc"], []) == 0.0
    assert score_sample(dataset, "abc", ["abc"], None) == 0.0


@pytest.mark.parametrize("dataset", FIRST_LINE)
def test_only_the_first_line_is_scored(dataset):
    # "x", where the second line would add the class "y" or the word "y"
    whole = score_sample(dataset, "x", ["x"], ["x", "y"])
    assert whole == close(f_of(1, 1) if dataset == "samsum" else 1.0)
    assert score_sample(dataset, "x\ny", ["x"], ["x", "y"]) == whole
    assert score_sample(dataset, "\n\nx\ny", ["x"], ["x", "y"]) == whole
    assert score_sample(dataset, "y\nx", ["x"], ["x", "y"]) == 0.0
    # Leading newlines go, leading spaces do not: the first line is then a space.
    assert score_sample(dataset, " \nx", ["x"], ["x", "y"]) == 0.0
    # Nothing else ends a line.
    assert score_sample(dataset, "\r\nx", ["x"], ["x", "y"]) == 0.0
    one_line = score_sample(dataset, "x\u2028y\x0by", ["x"], ["x", "y"])
    assert 0.0 <= one_line < whole


def test_the_first_line_is_not_stripped():
    # "hi. " has the pieces hi and " ", the second is the word "": P = 1/2. Stripped it would be 1.
    assert score_sample("samsum", "hi. \nBob", ["hi"], None) == close(f_of(1, 1 / 2))
    # "\n" at the end goes with the line, so no word "" here.
    assert score_sample("samsum", "hi.\n", ["hi"], None) == close(f_of(1, 1))
    assert score_sample("gov_report", "hi.\n", ["hi"], None) == close(f_of(1, 1 / 2))


words = joined(["x ", "y ", "a", "7", "\n", "。", "北京", "#", "Paragraph 7", "段落7"], 8)


@pytest.mark.parametrize("dataset", DATASETS)
@examples(25)
@given(words, st.lists(words, min_size=1, max_size=4))
def test_maximum_over_answers(dataset, prediction, answers):
    classes = ["x", "y", "a", "7", "x y"]
    single = [score_sample(dataset, prediction, [answer], classes) for answer in answers]
    assert score_sample(dataset, prediction, answers, classes) == max(single)
    assert all(0.0 <= score <= 1.0 for score in single)


def test_an_unknown_metric_names_the_nearest():
    for answers in ([], ["x"]):
        with pytest.raises(UnknownNameError, match="Did you mean 'qa_f1'") as caught:
            scorer.score_sample("qa-f1", "x", answers)
        assert isinstance(caught.value, LongBenchError)
