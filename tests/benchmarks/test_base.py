"""What a benchmark has that says as little as it can: the defaults of base.py."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from departing import departures

from lm_eval_longbench.benchmarks import registry
from lm_eval_longbench.benchmarks.base import Benchmark
from lm_eval_longbench.catalog.model import COUNTS, Metric, prompt_sha256
from lm_eval_longbench.errors import DataError, PromptError
from lm_eval_longbench.records.sample import Scored, Unusable, line_of
from lm_eval_longbench.signature.protocol import Protocol
from lm_eval_longbench.statistics.answers import Columns
from lm_eval_longbench.statistics.figure import Figure, Rows, Unit
from lm_eval_longbench.statistics.tree import Mean

PERCENT = Unit("percent", 100, 100, 1)


class Small(Benchmark):
    """No more than a benchmark has to say."""

    name = short = sign = family = prepared_as = "small"
    title = "Small"
    metrics = "1.0"
    task_folder = Path(__file__).parent / "small_tasks"
    unit, unit_note = PERCENT, "Percent."
    file_kind = "small"
    fields = ("id", "context", "side", "answers", "size")
    kinds: Mapping = {"answers": "texts", "size": "int64"}

    def score(self, sample, reasoning="drop", *, extras=False):
        return Scored(float(sample.response in sample.golds), not sample.response, sample.shown)

    def rows(self, answers):
        return [
            Rows("small", name="whole", path=("official", "whole"), metric="right"),
            Rows("small", by=("side",), path=("official", "sides", "{value}")),
        ]

    def figures(self, answers):
        whole, *sides = super().figures(answers)
        mean = Mean(tuple(side.leaf for side in sides))
        return [whole, sides[0], Figure("small", "mean of sides", mean, PERCENT)]

    def harness_metrics(self, task):
        return (Metric("right"), *COUNTS)


SMALL = Small()
TASK = SMALL.tasks["small"]
ROW = {"id": "q1", "context": "c", "side": "left", "answers": ["a", "b"], "size": 3}


def test_a_row_has_its_fields_of_their_kinds():
    assert SMALL.row_problem(ROW) is None
    assert SMALL.row_problem([ROW]) == "is not a JSON object"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"context": 5}, "has a field 'context' that is not a text"),
        ({"answers": "a"}, "has a field 'answers' that is not a list of texts"),
        ({"answers": ["a", None]}, "has a field 'answers' that is not a list of texts"),
        ({"size": "3"}, "has a field 'size' that is not a whole number"),
        ({"size": True}, "has a field 'size' that is not a whole number"),
        ({"size": 2**63}, "has a field 'size' that is not a whole number"),
        ({"side": "up"}, "has an unknown side 'up', not one of left, right"),
    ],
)
def test_rows_that_are_none(change, problem):
    assert SMALL.row_problem({**ROW, **change}).startswith(problem)


@pytest.mark.parametrize("name", SMALL.fields)
def test_rows_that_lack_a_field(name):
    row = {key: value for key, value in ROW.items() if key != name}
    assert SMALL.row_problem(row) == f"lacks the field {name!r}"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"id": 7}, None),
        ({"id": "", "_id": "x"}, None),
        ({"id": None}, "no field '_id' or 'id' with a text"),
        ({"answers": []}, "'answers' is not a list of one or more texts"),
        ({"side": None}, "'side' is missing or not one of left, right"),
        ({"side": ["left"]}, "'side' is missing or not one of left, right"),
    ],
)
def test_questions_that_can_be_scored(change, problem):
    assert SMALL.question_problem({**ROW, **change}, TASK) == problem


def test_a_sample_has_what_scoring_needs():
    own = SMALL.sample(ROW, TASK, 2, "b", truncated=True, document="f" * 16)
    assert (own.table, own.task, own.id, own.order, own.repeat) == ("small", "small", "q1", 0, 2)
    assert (own.golds, own.shown) == (["a", "b"], {"side": "left"})
    assert (own.truncated, own.document, own.content) == (True, "f" * 16, None)


def test_prompts_are_templates_with_fields_of_the_row():
    text = "{{side}}: {{context}} {other} {{size}}"
    task = replace(TASK, prompt=text, prompt_sha256=prompt_sha256(text))
    row = {**ROW, "size": "3", "context": "{{side}}", "other": "x"}
    assert SMALL.render(task, row) == "left: {{side}} {other} 3"
    assert SMALL.question(task, row) == " {other} 3"
    with pytest.raises(PromptError, match="needs the field 'size' as a text; the document has int"):
        SMALL.render(task, ROW)


def test_a_changed_template_is_refused_and_its_place_named():
    found = prompt_sha256("{{context}} ")
    with pytest.raises(PromptError, match=r"small.yaml: sha256") as caught:
        SMALL.render(replace(TASK, prompt="{{context}} "), ROW)
    assert f"sha256 {found}, official {TASK.prompt_sha256}" in str(caught.value)


def test_data_is_a_file_a_dataset(tmp_path):
    with pytest.raises(DataError, match=r"and no small\.jsonl"):
        SMALL.load(TASK, str(tmp_path))


def test_asking_is_greedy_at_any_limit(monkeypatch):
    generation = {"until": [], "max_gen_toks": 16, "do_sample": False, "temperature": 0.0}
    assert SMALL.generation(TASK) == generation
    assert SMALL.protocol(TASK) == Protocol((), "on", (16,), 0.0, 1)
    monkeypatch.setattr(registry, "OURS", (*registry.OURS, SMALL))
    registry.forget()
    try:
        found = {
            limit: departures("small", {"limit": limit, "generation": generation}, 1).found
            for limit in (None, 100, 10**6)
        }
    finally:
        monkeypatch.undo()
        registry.forget()
    assert found == {None: (), 100: (), 10**6: ()}


def answers(*given):
    columns = Columns(SMALL, SMALL.tables["small"], 1)
    for number, (side, response) in enumerate(given):
        doc = {**ROW, "id": f"q{number}", "side": side}
        sample = SMALL.sample(doc, TASK, 1, response)
        sample.worth = SMALL.score(sample)
        columns.add(line_of(sample))
    return columns.finish()


def test_official_figures_are_in_the_unit_and_not_rounded():
    own = answers(("left", "a"), ("right", "a"), ("right", "x"))
    figures = SMALL.figures(own)
    official = SMALL.official(own, figures)
    assert official == {"whole": 100 * (2 / 3), "sides": {"left": 100.0}}
    assert not figures[0].differs_from(official["whole"])
    assert figures[0].differs_from(2 / 3)
    assert figures[0].differs_from("66.67") and figures[0].differs_from(True)
    assert figures[2].official is None and math.isclose(figures[2].tree.value, 0.75)
    assert np.isclose(figures[0].tree.value, 2 / 3)


def test_the_harness_has_the_figures_that_name_a_metric():
    own = answers(("left", "a"))
    assert [row.metric for row in SMALL.question_rows(own)] == ["right"]
    assert SMALL.official_metrics(TASK) == ("right",)


def test_there_are_no_official_files_unless_it_says_so():
    assert not SMALL.is_official_row({"pred": "x", "answers": ["x"]}, "small")
    assert not SMALL.is_official_name("small")
    assert SMALL.official_table({}, "any") == "small"
    found = SMALL.read_official(ROW, 0, SMALL.tables["small"], "")
    assert found == Unusable("Small has no official files that are read")
