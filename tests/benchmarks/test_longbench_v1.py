"""LongBench v1 and LongBench-E: facts, official files, what an answer is worth, and figures."""

import json
import random
from pathlib import Path
from statistics import median_low

import numpy as np
import pytest
from figures_of import answers_of, of_question, official_of
from longbench_v1_facts import (
    BUCKET_METRICS,
    BUCKETS,
    CATEGORIES,
    DATASETS,
    LANGUAGES,
    bucket,
    datasets_of,
)
from prediction_rows import v1_row
from scored_runs import v1_rows
from v1_tasks import BY_FILE, E_TASKS, TASKS

from lm_eval_longbench.benchmarks.v1 import V1, E
from lm_eval_longbench.records.sample import Sample, Unusable

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"


# ---------------------------------------------------------------------- facts


def test_the_pin_is_the_one_of_the_specification():
    assert V1.source == E.source
    assert (V1.source.label, V1.source.file) == ("zai-org/LongBench@5e628be", "data.zip")
    assert V1.source.sha256 == "cb45b11a4133c6bc1d6a44b0f8e701335ff1e543195db1103472e575857f7f64"


def test_asked_greedily_within_the_budget():
    for task in TASKS:
        assert V1.generation(task) == {
            "until": [],
            "max_gen_toks": DATASETS[task.label].budget,
            "do_sample": False,
            "temperature": 0.0,
        }
        protocol = V1.protocol(task)
        assert (protocol.budgets, protocol.temperature, protocol.repeats) == ((task.budget,), 0, 1)
        assert protocol.limits == (3500, 7500, 15500, 31500)
    assert (V1.repeats, V1.one_message) == (1, False)


WITH_ROUGE = {"gov_report", "qmsum", "multi_news", "samsum"}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.dataset)
def test_the_harness_metrics_and_their_order(task):
    benchmark = E if task in E_TASKS else V1
    expected = [("score", "mean")]
    if benchmark is E:
        expected += [(name, "mean_of_known") for name in BUCKET_METRICS.values()]
    if task.label in WITH_ROUGE:
        expected.append(("rougeL_google", "mean"))
    expected += [("failed", "mean"), ("truncated", "mean"), ("reasoned", "mean")]
    expected.append(("capped", "mean_of_known"))
    found = benchmark.harness_metrics(task)
    assert [(metric.name, metric.aggregation) for metric in found] == expected
    assert [metric.name for metric in found if not metric.higher_is_better] == [
        "failed",
        "truncated",
        "reasoned",
        "capped",
    ]


def test_published_columns():
    place = V1.published.place_of
    assert place("qasper") == ("dataset", "qasper")
    assert place("en:Avg") == ("headline", "English")
    assert place("zh:Code Completion") == ("Chinese", "code")
    assert place("model") is place("url") is None


# ---------------------------------------------------------------------- official files


GOOD = v1_row("Emma", "Emma", "Bob", length=7)


def read(row, stem="qasper", index=0):
    task = BY_FILE[stem]
    benchmark = E if stem.endswith("_e") else V1
    return benchmark.read_official(row, index, benchmark.tables[task.table], task.name)


def reason(row, stem="qasper"):
    found = read(row, stem)
    assert isinstance(found, Unusable)
    assert found.kind == "malformed"
    return found.reason


def test_a_good_row():
    (found,) = read({**GOOD, "pred": "汉字\n🙂"}, index=3)
    assert found.content
    found.content = None
    assert [found] == [
        Sample(
            table="longbench_v1",
            task="longbench_v1_qasper",
            id="3",
            order=3,
            repeat=1,
            response="汉字\n🙂",
            golds=["Emma", "Bob"],
            classes=None,
            shown={"dataset": "qasper", "index": 3},
            truncated=None,
        )
    ]


def test_the_content_is_all_that_is_asked_and_nothing_else():
    (one,) = read(GOOD)
    for same in ({**GOOD, "pred": "x"}, {**GOOD, "more": 1}):
        assert read(same, index=5)[0].content == one.content
    for other in ({"answers": ["Emma"]}, {"length": 8}, {"all_classes": ["a"]}, {"input": "?"}):
        assert read({**GOOD, **other})[0].content != one.content
    # Without a length many official questions are alike.
    for length in (None, "7", True, -1):
        assert read({**GOOD, "length": length})[0].content is None


def test_v1_needs_neither_length_nor_classes():
    (found,) = read({"pred": "x", "answers": ["y"]})
    assert (found.classes, found.shown) == (None, {"dataset": "qasper", "index": 0})
    (found,) = read({**GOOD, "length": "seven", "all_classes": 3, "more": 1})
    assert (found.response, found.classes) == ("Emma", None)


def test_longbench_e_shows_the_length():
    (found,) = read(GOOD, "qasper_e", 5)
    assert (found.table, found.task) == ("longbench_v1_e", "longbench_v1_e_qasper")
    assert found.shown == {"dataset": "qasper", "index": 5, "length": 7}


@pytest.mark.parametrize("name", ["pred", "answers"])
def test_a_prediction_lacks_a_field(name):
    assert reason({key: GOOD[key] for key in GOOD if key != name}) == f"no field {name!r}"


@pytest.mark.parametrize("value", [None, 1, ["Emma"], {}, True])
def test_a_pred_that_is_no_text(value):
    assert reason({**GOOD, "pred": value}) == "'pred' is not a text"


@pytest.mark.parametrize("value", [None, "Emma", [], [1], ["Emma", None], {"a": 1}, [["Emma"]]])
def test_answers_that_are_no_texts(value):
    assert reason({**GOOD, "answers": value}) == "'answers' is not a list of one or more texts"


@pytest.mark.parametrize("stem", ["trec", "lsht", "trec_e"])
@pytest.mark.parametrize("value", [None, [], "Human", [1], ["a", None], 3])
def test_classification_needs_classes(stem, value):
    name = BY_FILE[stem].label
    expected = f"{name} needs 'all_classes', a list of texts"
    assert reason({**GOOD, "all_classes": value}, stem) == expected
    (found,) = read({**GOOD, "all_classes": ["a"]}, stem)
    assert found.classes == ["a"]


@pytest.mark.parametrize("value", [None, "7", 7.0, True, [7]])
def test_longbench_e_needs_lengths(value):
    expected = "LongBench-E needs 'length', a whole number"
    assert reason({**GOOD, "length": value}, "qasper_e") == expected
    missing = {key: GOOD[key] for key in GOOD if key != "length"}
    assert reason(missing, "qasper_e") == expected
    (found,) = read({**GOOD, "length": 0}, "qasper_e")
    assert found.shown["length"] == 0


def test_whose_files_are_whose():
    assert V1.is_official_row(GOOD, "any") and V1.is_official_row({"pred": "x"}, "qasper")
    assert not V1.is_official_row({"pred": "x"}, "any")
    assert not V1.is_official_row({"answers": ["x"]}, "qasper")
    assert V1.is_official_name("narrativeqa") and not E.is_official_name("narrativeqa")
    assert V1.run_in_name("qasper") == V1.run_in_name("trec") is not None


# ---------------------------------------------------------------------- what an answer is worth


def scored(row, stem="qasper"):
    (sample,) = read(row, stem)
    return (E if stem.endswith("_e") else V1).score(sample)


@pytest.mark.parametrize(
    ("stem", "row", "expected"),
    [
        ("hotpotqa", v1_row("the Emma", "Emma"), 1.0),
        ("hotpotqa", v1_row("Emma Smith", "Bob", "Emma"), 2 / 3),  # precision 1/2, recall 1
        ("hotpotqa", v1_row("nobody", "Emma"), 0.0),
        ("passage_count_e", v1_row("3 or 4", "3"), 0.5),
        ("trec", v1_row("\nHuman or Animal\nx", "Human", classes=["Human", "Animal"]), 0.5),
        ("repobench-p", v1_row("`\nreturn x", "return x"), 1.0),
        ("dureader", v1_row("灯塔由王小明建造", "灯塔由王小明建造"), 1.0),
    ],
)
def test_hand_made_scores(stem, row, expected):
    found = scored(row, stem)
    assert found.score == pytest.approx(expected, abs=1e-8)
    assert found.failed is False
    assert found.summary is None and found.differing is None


@pytest.mark.parametrize(
    ("pred", "worth", "failed"),
    [
        ("<think>Bob</think>\n\nEmma", 1.0, False),
        ("<think>Emma", 0.0, True),
        (" \n", 0.0, True),
        ("", 0.0, True),
        ("Bob", 0.0, False),
        ("\ud800\0Emma", 0.0, False),
    ],
)
def test_reasoning_is_dropped_and_empty_answers_have_failed(pred, worth, failed):
    found = scored(v1_row(pred, "Emma"))
    assert (found.score, found.failed) == (worth, failed)


def test_googles_rouge_is_an_extra():
    text, gold = "The cat sat. A dog ran.", "A dog ran. The cat sat."
    (sample,) = read(v1_row(text, gold, "none"), "gov_report")
    assert "rougeL_google" not in V1.score(sample).shown
    found = V1.score(sample, extras=True)
    # One longest common subsequence of three words out of six, not the union over sentences.
    assert found.shown["rougeL_google"] == pytest.approx(0.5)
    assert found.score > 0.99
    (sample,) = read(v1_row(text, gold))
    assert "rougeL_google" not in V1.score(sample, extras=True).shown


# ---------------------------------------------------------------------- figures


@pytest.mark.parametrize(
    ("length", "name"),
    [
        (0, "0-4k"),
        (1, "0-4k"),
        (3999, "0-4k"),
        (4000, "4-8k"),
        (4001, "4-8k"),
        (7999, "4-8k"),
        (8000, "8k+"),
        (8001, "8k+"),
        (10**9, "8k+"),
        (-1, "0-4k"),
    ],
)
def test_borders_of_buckets(length, name):
    assert bucket(length) == name


def with_repeats(dataset, *questions):
    """Lines of questions, each a list of scores."""
    return [
        {**row, "score": score, "repeat": repeat}
        for row, scores in zip(v1_rows({dataset: [0] * len(questions)}), questions, strict=True)
        for repeat, score in enumerate(scores, start=1)
    ]


def test_v1_means_repeats_then_questions():
    lines = with_repeats("qasper", [1.0, 0.0], [0.25]) + with_repeats("narrativeqa", [1 / 3])
    found = official_of("longbench_v1", lines, expected=["longbench_v1_lcc"])
    assert list(found.items()) == [("narrativeqa", 33.33), ("qasper", 37.5), ("lcc", None)]


def test_an_unscored_answer_leaves_no_figure():
    rows = v1_rows({"qasper": [1.0, None], "trec": [1.0]})
    assert official_of("longbench_v1", rows) == {"qasper": None, "trec": 100.0}


def test_e_means_by_bucket():
    scores = np.random.default_rng(1).random(500)
    pairs = [(3999 if n % 3 else 4000, float(score)) for n, score in enumerate(scores)]
    rows = v1_rows({"trec": pairs}, "longbench_v1_e")
    own = np.arange(500) % 3 != 0
    assert official_of("longbench_v1_e", rows, expected=["longbench_v1_e_lcc"]) == {
        "trec": {
            "0-4k": round(100 * np.mean(list(scores[own])), 2),
            "4-8k": round(100 * np.mean(list(scores[~own])), 2),
            "8k+": None,
        },
        "lcc": {"0-4k": None, "4-8k": None, "8k+": None},
    }


def test_buckets_are_added_as_numpy_adds_and_v1_is_not():
    """The official scorers add pairwise and from the left; here their second decimals differ."""
    scores = [0.221, 0.992, 0.432, 0.743, 0.029, 0.54, 0.227, 0.782]
    assert official_of("longbench_v1", v1_rows({"trec": scores}))["trec"] == 49.57
    rows = v1_rows({"trec": [(9000, score) for score in scores]}, "longbench_v1_e")
    found = official_of("longbench_v1_e", rows)["trec"]["8k+"]
    assert found == 49.58 == round(100 * np.mean(scores), 2)
    assert type(found) is float


def placed(benchmark, lines, **more):
    """Value of each figure of a report by its section and name."""
    figures = benchmark.figures(answers_of(benchmark.name, lines, **more))
    assert len({figure.place for figure in figures}) == len(figures)
    return {figure.place: figure.tree.value for figure in figures}


def test_headlines_are_means_of_categories_and_those_of_datasets():
    draw = random.Random(3)
    worth = {name: draw.random() for name in DATASETS}
    found = placed(V1, v1_rows({name: [score] for name, score in worth.items()}))
    for language, code in LANGUAGES.items():
        means = []
        for category in CATEGORIES:
            own = [worth[name] for name in datasets_of(code, category)]
            means.append(sum(own) / len(own))
            assert found[language, category] == pytest.approx(means[-1], abs=1e-12)
        assert found["headline", language] == pytest.approx(sum(means) / 6, abs=1e-12)
    assert all(found["dataset", name] == score for name, score in worth.items())
    del worth["lsht"]
    found = placed(V1, v1_rows({name: [score] for name, score in worth.items()}))
    assert found["headline", "Chinese"] is found["Chinese", "few_shot"] is None
    assert found["headline", "English"] is not None
    assert found["dataset", "lsht"] is None
    table = V1.tables["longbench_v1"]
    assert V1.tasks_of(table, ("dataset", "qasper")) == list(table.tasks)
    # The code tasks count in both languages.
    assert len(V1.tasks_of(table, ("headline", "Chinese"))) == 5 + 2


def test_longbench_e_is_shown_by_length_and_relative_to_all():
    pairs = [(1000, 0.5), (5000, 0.25), (5000, 0.75), (9000, 0.0)]
    found = placed(E, v1_rows({"trec": pairs}, "longbench_v1_e"))
    assert found["all lengths", "trec"] == 0.375
    assert [found[name, "trec"] for name in BUCKETS] == [0.5, 0.5, 0.0]
    relative = [found[f"{name}, relative to all lengths", "trec"] for name in BUCKETS]
    assert relative == pytest.approx([0.5 / 0.375 - 1, 0.5 / 0.375 - 1, -1.0])
    assert found["all lengths", "lcc"] is None


def test_googles_rouge_is_shown_where_it_was_computed():
    rows = v1_rows({"gov_report": [0.5, 0.5], "qasper": [1.0]})
    assert ("rougeL_google", "gov_report") not in placed(V1, rows)
    rows = [{**row, "rougeL_google": 0.25} if "gov" in row["task"] else row for row in rows]
    found = placed(V1, rows)
    assert found["rougeL_google", "gov_report"] == 0.25
    assert ("rougeL_google", "qasper") not in found


def test_a_task_has_its_score_and_its_buckets():
    rows = v1_rows({"qasper": [(3999, 1.0), (4000, 0.0), (4000, 0.5)]}, "longbench_v1_e")
    figures = of_question(answers_of("longbench_v1_e", rows))
    found = {figure.metric: figure.tree.value for figure in figures}
    assert found == {
        "score": 0.5,
        "score_0_4k": 1.0,
        "score_4_8k": 0.25,
        "score_8k_plus": None,
    }
    figures = of_question(answers_of("longbench_v1", v1_rows({"qasper": [0.5, 1.0]})))
    assert {figure.metric: figure.tree.value for figure in figures} == {"score": 0.75}


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no golden answers beside this checkout")
def test_median_lengths_are_those_of_the_data():
    # Official prediction files hold the `length` of every question.
    folders = {
        "longbench_v1": GOLDEN / "longbench_v1" / "llama3-8b-instruct",
        "longbench_v1_e": GOLDEN / "longbench_v1_e" / "llama2-7b-chat-4k",
    }
    for task in (*V1.tasks.values(), *E.tasks.values()):
        file = folders[task.table] / f"{task.label}.jsonl"
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert len(rows) == task.questions
        middle = median_low(row["length"] for row in rows)
        assert (task.length.low, task.length.high) == (middle, middle)
        chinese = DATASETS[task.label].language == "zh"
        assert task.length.unit == ("characters" if chinese else "words")
