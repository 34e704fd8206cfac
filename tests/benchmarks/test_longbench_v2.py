"""LongBench v2: facts, rows of the data, official files, what an answer is worth, and figures."""

import json
from collections import Counter

import pytest
from figures_of import answers_of, of_question, official_of, parts_of
from hypothesis import given
from hypothesis import strategies as st
from longbench_v2_facts import COUNTS, DOMAINS, SUB_SCORES
from prediction_rows import says, v2_question, v2_row
from scored_runs import v2_row as line_of_v2
from v2_rows import ROW, official_rows

from lm_eval_longbench.benchmarks.asking import asking_of
from lm_eval_longbench.benchmarks.modes import CotAnswerAsking
from lm_eval_longbench.benchmarks.registry import table_of
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.records.sample import Unusable

# ---------------------------------------------------------------------- facts


def test_the_pin_is_the_one_of_the_specification():
    assert V2.source.label == "zai-org/LongBench-v2@2b48e49"
    assert V2.source.revision == "2b48e494f2c7a2f0af81aae178e05c7e1dde0fe9"
    assert V2.source.sha256.startswith("15d61c22d92c9690") and len(V2.source.sha256) == 64


def test_five_modes_and_six_domains():
    assert {name: table.title for name, table in V2.tables.items()} == dict.fromkeys(
        V2.tables, "LongBench v2"
    )
    assert [table.mode for table in V2.tables.values()] == [
        "",
        "no context",
        "CoT, one call",
        "CoT",
        "RAG",
    ]
    assert {name: task.budget for name, task in V2.tasks.items()} == {
        "longbench_v2": 128,
        "longbench_v2_no_context": 128,
        "longbench_v2_cot": 1024,
        "longbench_v2_cot_answer": 128,
        "longbench_v2_rag": 128,
        **{f"longbench_v2_{code}": 128 for code in DOMAINS},
    }
    assert V2.tables["longbench_v2_cot_answer"].first_pass == "longbench_v2_cot"
    assert [name for name, table in V2.tables.items() if table.published] == [
        "longbench_v2",
        "longbench_v2_cot_answer",
    ]
    for code, name in DOMAINS.items():
        task = V2.tasks[f"longbench_v2_{code}"]
        assert (task.dataset, task.label, task.counted) == (code, name, "longbench_v2")


def test_asked_at_a_tenth_as_one_message():
    task = V2.tasks["longbench_v2_cot"]
    assert V2.generation(task) == {"until": [], "max_gen_toks": 1024, "temperature": 0.1}
    protocol = V2.protocol(task)
    assert (protocol.limits, protocol.chat) == ((120_000, 200_000), "on")
    assert (protocol.budgets, protocol.temperature, protocol.repeats) == ((1024,), 0.1, 1)
    assert (V2.repeats, V2.one_message) == (1, True)


def test_the_harness_metrics():
    metrics = {
        name: [metric.name for metric in V2.harness_metrics(task)]
        for name, task in V2.tasks.items()
    }
    counts = ["unparsed", "failed", "truncated", "reasoned"]
    assert metrics.pop("longbench_v2_cot") == ["acc_one_call", *counts, "capped"]
    whole = ["acc", *(f"acc_{name}" for name in SUB_SCORES), "acc_compensated", *counts, "capped"]
    assert all(own == whole for own in metrics.values())
    aggregations = {
        metric.name: metric.aggregation for metric in V2.harness_metrics(V2.tasks["longbench_v2"])
    }
    assert {name for name, own in aggregations.items() if own == "mean_of_known"} == {
        *(f"acc_{name}" for name in SUB_SCORES),
        "capped",
    }


def test_published_columns():
    place = V2.published.place_of
    assert place("overall") == ("official", "overall")
    assert place("long") == ("official", "long")
    assert place("model") is None


# ---------------------------------------------------------------------- rows of the data


ASKED = ("question", "choice_A", "choice_B", "choice_C", "choice_D")


def test_rows_of_the_data_have_no_problem():
    assert tuple(ROW) == V2.fields
    assert {V2.row_problem(row) for row in official_rows()} == {None}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("value", ["", " \n\t\u3000"])
def test_an_empty_question_or_choice(name, value):
    assert V2.row_problem({**ROW, name: value}) == f"has an empty {name}"


@pytest.mark.parametrize("answer", ["", "E", "a", "A ", "(A)", "AB", "Emma"])
def test_an_answer_that_is_no_letter(answer):
    problem = V2.row_problem({**ROW, "answer": answer})
    assert problem == f"has the answer {answer!r}, not one of A, B, C, D"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"domain": "single_document_qa"},
            "has an unknown domain 'single_document_qa', not one of Single-Document QA, "
            "Multi-Document QA, Long In-context Learning, Long-dialogue History Understanding, "
            "Code Repository Understanding, Long Structured Data Understanding",
        ),
        ({"domain": ""}, "has an unknown domain ''"),
        ({"domain": "Single-document QA"}, "has an unknown domain 'Single-document QA'"),
        ({"difficulty": "Easy"}, "has an unknown difficulty 'Easy', not one of easy, hard"),
        ({"difficulty": "medium"}, "has an unknown difficulty 'medium', not one of easy, hard"),
        ({"length": "hard"}, "has an unknown length 'hard', not one of short, medium, long"),
        ({"length": "8k"}, "has an unknown length '8k', not one of short, medium, long"),
    ],
)
def test_values_that_no_question_has(change, message):
    assert V2.row_problem({**ROW, **change}).startswith(message)


# ---------------------------------------------------------------------- official files


def read(row):
    return V2.read_official(row, 0, V2.tables["longbench_v2_rag"], "longbench_v2_rag")


def without(row, name):
    return {key: value for key, value in row.items() if key != name}


def test_a_good_row():
    (found,) = read(v2_row("q1", "C"))
    assert (found.table, found.task, found.id) == ("longbench_v2_rag", "longbench_v2_rag", "q1")
    assert (found.response, found.golds) == ("The correct answer is (C).", ["B"])
    assert (found.stored, found.has_stored, found.repeat) == ("C", True, 1)
    assert found.shown == {
        "domain": "Single-Document QA",
        "sub_domain": "Academic",
        "difficulty": "easy",
        "length": "short",
    }


def test_a_letter_alone_is_enough():
    (found,) = read({**v2_question("q1"), "pred": "A"})
    assert (found.response, found.stored, found.has_stored) == (None, "A", True)
    (found,) = read({**v2_question("q1"), "pred": None})
    assert (found.response, found.stored, found.has_stored) == (None, None, True)


def test_a_failed_call_is_an_empty_response():
    (found,) = read({**v2_row("q1"), "response": None, "pred": None})
    assert (found.response, found.stored) == ("", None)


def test_domains_may_be_unknown_and_ids_may_be_numbers():
    row = without(without(v2_row(7), "domain"), "sub_domain")
    (found,) = read(row)
    assert found.id == "7"
    assert (found.shown["domain"], found.shown["sub_domain"]) == (None, None)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"_id": None}, "no field '_id' or 'id' with a text"),
        ({"_id": ""}, "no field '_id' or 'id' with a text"),
        ({"_id": ["q"]}, "no field '_id' or 'id' with a text"),
        ({"answer": "E"}, "'answer' is missing or not one of A, B, C, D"),
        ({"answer": None}, "'answer' is missing or not one of A, B, C, D"),
        ({"difficulty": "Easy"}, "'difficulty' is missing or not one of easy, hard"),
        ({"length": 5}, "'length' is missing or not one of short, medium, long"),
        ({"length": ["short"]}, "'length' is missing or not one of short, medium, long"),
        ({"response": 5}, "'response' is not a text"),
        ({"response": ["x"]}, "'response' is not a text"),
    ],
)
def test_what_cannot_be_scored(change, reason):
    assert read({**v2_row("q1"), **change}) == Unusable(reason)


def test_neither_response_nor_letter():
    expected = "neither a field 'response' nor a field 'pred'"
    assert read(v2_question("q1")) == Unusable(expected)


@pytest.mark.parametrize("value", ["E", "(A)", 3, True, ["A"]])
def test_a_stored_letter_that_is_none(value):
    reason = "'pred' is neither null nor a letter from A to D"
    assert read({**v2_question("q1"), "pred": value}) == Unusable(reason)
    # Beside a response it is only compared.
    (found,) = read({**v2_row("q1"), "pred": value})
    assert found.stored == str(value)


def test_whose_files_are_whose():
    assert V2.is_official_row(v2_row("q"), "any")
    assert V2.is_official_row({"_id": "q", "answer": "A", "pred": "A"}, "any")
    for lacking in (
        {"_id": "q", "answer": "A"},
        {"answer": "A", "pred": "A"},
        {"_id": 1, "pred": 2},
    ):
        assert not V2.is_official_row(lacking, "any")
    assert not V2.is_official_name("longbench_v2")
    assert V2.run_in_name("any") is None


# ---------------------------------------------------------------------- what an answer is worth


def scored(row):
    (sample,) = read(row)
    return V2.score(sample)


@pytest.mark.parametrize(
    ("given", "worth", "failed", "choice", "compensated"),
    [
        ({"response": says("B")}, 1.0, False, "B", 1.0),
        ({"response": says("A")}, 0.0, False, "A", 0.0),
        ({"response": "It is B."}, 0.0, False, None, 0.25),
        ({"response": ""}, 0.0, True, None, 0.25),
        ({"response": None}, 0.0, True, None, 0.25),
        ({"pred": "B"}, 1.0, False, "B", 1.0),
        ({"pred": "C"}, 0.0, False, "C", 0.0),
        ({"pred": None}, 0.0, False, None, 0.25),  # whether the call failed is not known
        ({"response": f"<think>{says('A')}</think>{says('B')}"}, 1.0, False, "B", 1.0),
    ],
)
def test_what_answers_are_worth(given, worth, failed, choice, compensated):
    found = scored({**v2_question("q"), **given})
    assert (found.score, found.failed) == (worth, failed)
    assert found.shown["choice"] == choice
    assert found.shown["unparsed"] == (choice is None)
    assert found.shown["compensated"] == compensated
    assert list(found.shown) == [
        "domain",
        "sub_domain",
        "difficulty",
        "length",
        "choice",
        "unparsed",
        "compensated",
        "dropped",
    ]
    assert found.differing is None


@pytest.mark.parametrize(
    ("stored", "response", "expected"),
    [
        ("B", says("B"), None),
        (None, "no letter", None),
        ("", "no letter", None),
        ("A", says("B"), ("A", "B")),
        (None, says("B"), (None, "B")),
        ("B", "no letter", ("B", None)),
        ("B", "", ("B", None)),
        (7, says("B"), ("7", "B")),
    ],
)
def test_a_stored_letter_is_compared(stored, response, expected):
    found = scored({**v2_row("q"), "response": response, "pred": stored})
    assert found.differing == expected


def test_a_failed_call_of_a_run_has_no_official_line():
    task = V2.tables["longbench_v2"].tasks["longbench_v2"]
    for response, dropped in (("", True), (says("B"), False), (" ", False)):
        sample = V2.sample(v2_question("q"), task, 1, response)
        assert V2.score(sample).shown["dropped"] == dropped
    (sample,) = read({**v2_row("q"), "response": None})
    assert not V2.score(sample).shown["dropped"]  # the official file has the line


def test_an_answer_without_reasoning_has_failed_before_it_was_asked():
    from lm_eval_longbench.prompts.render import text_sha256

    task = V2.tasks["longbench_v2_cot_answer"]
    doc = {**ROW, "prompt": {"truncated": False}}
    for reasoning, cut, expected in (
        ("", False, True),
        ("", True, True),
        ("Because.", False, False),
        ("Because.", True, None),  # the hash is of the cut prompt
    ):
        prompt = V2.render(task, {**doc, "cot": reasoning})
        doc["prompt"] = {"sha256": text_sha256(prompt), "truncated": cut}
        assert V2.failed_before(task, doc) is expected
    assert V2.failed_before(V2.tasks["longbench_v2"], doc) is False


# ---------------------------------------------------------------------- figures


def line(name, score, difficulty="easy", length="short", **more):
    own = {"difficulty": difficulty, "length": length, **more}
    if own.get("unparsed"):
        own["compensated"] = 0.25
    return line_of_v2(name, score, **own)


LOST = {"unparsed": True, "failed": True, "dropped": True}


def test_four_ways_to_count():
    lines = [
        line("a", 1.0),
        line("b", 0.0, "hard", "medium"),
        line("c", 0.0, "hard", unparsed=True),
        line("d", 0.0, "hard", **LOST),
    ]
    # The official scripts write no line for a failed call.
    assert official_of("longbench_v2", lines) == {
        "overall": 33.3,
        "easy": 100.0,
        "hard": 0.0,
        "short": 50.0,
        "medium": 0.0,
        "long": None,
        "compensated": {
            "overall": 41.7,
            "easy": 100.0,
            "hard": 12.5,
            "short": 62.5,
            "medium": 0.0,
            "long": None,
        },
        "n": 3,
        "unparsed": 2,
        "failed": 1,
    }
    parts = parts_of("longbench_v2", lines)
    given = parts["accuracy"]
    assert [given[name] for name in ("overall", "hard", "short", "n")] == [25.0, 0.0, 33.3, 4]
    assert given["compensated"]["overall"] == 37.5  # (1 + 0 + 0.25 + 0.25) / 4
    strict = parts["strict"]
    assert (strict["overall"], strict["easy"], strict["n"]) == (0.2, 0.5, 503)  # 1/503, 1/192
    assert (strict["long"], strict["short"]) == (0.0, 0.6)  # 0/108, 1/180
    assert parts["parts"]["short"] == {
        "questions": 3,
        "samples": 3,
        "failed": 1,
        "unparsed": 2,
        "dropped": 1,
        "official_questions": 180,
    }


def test_repeats():
    lines = [line("a", 1.0), line("a", 0.0, repeat=2, **LOST), line("b", 1.0)]
    official, parts = official_of("longbench_v2", lines), parts_of("longbench_v2", lines)
    assert (official["overall"], official["n"], official["failed"]) == (100.0, 2, 1)
    assert (parts["accuracy"]["overall"], parts["accuracy"]["n"]) == (75.0, 3)
    # A repeat that is not there is wrong: (1/2 + 1/2) of 192 easy questions.
    assert (parts["strict"]["easy"], parts["strict"]["n"]) == (round(100 / 192, 1), 1006)


def test_strict_figures_need_official_questions():
    lines = [line(f"q{n}", 1.0) for n in range(192)]
    assert parts_of("longbench_v2", lines)["strict"] is None  # more than 180 short ones
    assert parts_of("longbench_v2", lines[:5])["strict"] is not None
    assert parts_of("longbench_v2", lines[:5], official=False)["strict"] is None


def test_domains_are_shown_and_in_no_official_file():
    lines = [line("a", 1.0, domain="Code Repository Understanding"), line("b", 0.0)]
    answers = answers_of("longbench_v2", lines)
    found = {figure.place: figure for figure in V2.figures(answers)}
    code = found["official", "Code Repository Understanding"]
    assert (code.tree.value, code.path) == (1.0, ())
    of_domains = {figure for place, figure in found.items() if place[1] == code.place[1]}
    assert {figure.section for figure in of_domains if not figure.detail} == {"official"}
    assert len(of_domains) > 3
    # Where the domain of one is not known, none of them is known.
    lines.append(line("c", 1.0, domain=None))
    found = {figure.place: figure for figure in V2.figures(answers_of("longbench_v2", lines))}
    assert found["official", "Code Repository Understanding"].tree.value is None
    assert found["official", "overall"].tree.value == pytest.approx(2 / 3)


def test_a_task_has_the_accuracy_of_every_answer():
    lines = [line("a", 1.0), line("b", 0.0, "hard", "long", **LOST)]
    figures = of_question(answers_of("longbench_v2", lines))
    assert {figure.metric: figure.tree.value for figure in figures} == {
        "acc": 0.5,
        "acc_easy": 1.0,
        "acc_hard": 0.0,
        "acc_short": 1.0,
        "acc_medium": None,
        "acc_long": 0.0,
        "acc_compensated": 0.625,
        "unparsed": 0.5,
    }
    table = "longbench_v2_cot"
    lines = [{**own, "table": table, "task": table} for own in lines]
    figures = of_question(answers_of(table, lines))
    assert {figure.metric: figure.tree.value for figure in figures} == {
        "acc_one_call": 0.5,
        "unparsed": 0.5,
    }


WORTH = st.sampled_from([0.0, 0.25, 1.0])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(COUNTS["difficulty"])),
            st.sampled_from(list(COUNTS["length"])),
            WORTH,
        ),
        max_size=60,
    )
)
def test_figures_against_counting(rows):
    lines = [
        line(f"q{n}", worth, difficulty, length)
        for n, (difficulty, length, worth) in enumerate(rows)
    ]
    found = official_of("longbench_v2", lines, 1)
    for name in ("overall", *SUB_SCORES):
        own = [worth for *question, worth in rows if name == "overall" or name in question]
        quarters = sum(round(4 * worth) for worth in own)
        assert found[name] == (round(25 * quarters / len(own), 1) if own else None)


def test_modes_ask_the_same_questions_and_can_be_paired():
    first = answers_of("longbench_v2", [line("a", 1.0)])
    second = answers_of(
        "longbench_v2_rag",
        [{**line("a", 0.0), "table": "longbench_v2_rag", "task": "longbench_v2_rag"}],
    )
    assert list(first.keys) == list(second.keys)
    assert table_of("longbench_v2_rag").benchmark == "longbench_v2"
    assert Counter(row["domain"] for row in official_rows()) == COUNTS["domain"]


def test_pass_two_embeds_reasoning_and_names_its_hash():
    asking = asking_of(V2, V2.tasks["longbench_v2_cot_answer"], Options(), 1)
    assert isinstance(asking, CotAnswerAsking)
    # The harness renders a document before there is any reasoning.
    assert (asking.ingredients, ROW["question"] in asking.render(ROW)) == ({}, True)
    asking.embed({ROW["_id"]: "because of it"})
    assert "because of it" in asking.render(ROW)
    whole = json.dumps([ROW["_id"], "because of it"])
    assert asking.ingredients == {"reasoning_sha256": text_sha256(whole)}
    # Answers of a part of the ranks are embedded; the hash is of all.
    asking.embed({ROW["_id"]: "because of it"}, {ROW["_id"]: "because of it", "other": "no"})
    assert asking.ingredients != {"reasoning_sha256": text_sha256(whole)}
    with pytest.raises(DataError, match="has no reasoning for gone"):
        asking.render({**ROW, "_id": "gone"})
