"""The names of the harness that this package relies on: all there, listed, missed with one line."""

import dataclasses
import logging
import re
from pathlib import Path

import lm_eval.evaluator
import pytest

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.harness import private_names
from lm_eval_longbench.harness.evaluate import Captured, arguments_masked, evaluated, quick_index
from lm_eval_longbench.harness.private_names import (
    CAPTURE,
    COMFORTS,
    DOCTOR,
    MASKING,
    NAMES,
    QUICK_INDEX,
    RUN,
    TASKS,
    Name,
    can_have,
    require,
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "harness-names.md"


@pytest.fixture
def lacking(monkeypatch):
    """Make the harness lack the names for one purpose."""

    def lack(needed_for):
        gone = tuple(
            dataclasses.replace(
                name, attribute=f"{name.attribute.split('(')[0].split(' or ')[0]}_moved"
            )
            if name.needed_for == needed_for
            else name
            for name in NAMES
        )
        monkeypatch.setattr(private_names, "NAMES", gone)
        private_names.missing.cache_clear()

    yield lack
    monkeypatch.undo()
    private_names.missing.cache_clear()


@pytest.mark.parametrize("name", NAMES, ids=lambda name: f"{name.module}.{name.attribute}")
def test_the_installed_harness_has_the_name(name):
    assert name.is_there


@pytest.mark.parametrize(
    ("module", "attribute"),
    [
        ("lm_eval.no_such_module", "anything"),
        ("lm_eval.evaluator", "no_such_function"),
        ("lm_eval.evaluator", "evaluate(no_such_parameter)"),
        ("lm_eval.api.task", "ConfigurableTask._no_such_attribute"),
        ("lm_eval.api.task", "NoSuchTask.download"),
    ],
)
def test_what_it_does_not_have_is_seen(module, attribute):
    assert not Name(module, attribute, "a test", TASKS).is_there


def test_the_page_has_the_table():
    rows = re.findall(r"^\| `(.*)` \| `(.*)` \| (.*) \| (.*) \|$", PAGE.read_text("utf-8"), re.M)
    assert rows == [
        (
            name.module,
            name.attribute,
            "comfort" if name.needed_for in COMFORTS else name.needed_for,
            name.why,
        )
        for name in NAMES
    ]


@pytest.mark.parametrize("needed_for", [TASKS, RUN, DOCTOR])
def test_a_needed_name_that_is_gone_gives_one_line(lacking, needed_for):
    require(needed_for)
    lacking(needed_for)
    with pytest.raises(LongBenchError) as caught:
        require(needed_for)
    message = str(caught.value)
    assert message.startswith("lm_eval 0.") and "\n" not in message
    assert "_moved" in message and "pip install 'lm-eval==" in message


@pytest.mark.parametrize("comfort", COMFORTS)
def test_a_run_goes_on_without_a_comfort_and_says_so_once(
    evaluate, recording_lm, tmp_path, caplog, lacking, comfort
):
    lacking(comfort)
    before = lm_eval.evaluator.evaluate
    with (
        caplog.at_level(logging.WARNING),
        evaluated(tmp_path) as kept,
        arguments_masked(Captured(), list),
        quick_index(["a task"], ["folder"], ["folder"], ["a task"]),
    ):
        assert (lm_eval.evaluator.evaluate is before) == (comfort == CAPTURE)
        evaluate(recording_lm, ["longbench_v1_trec"])
    assert not can_have(comfort)
    assert bool(kept.rows) == (comfort != CAPTURE)
    said = [record.message for record in caplog.records if "goes on without" in record.message]
    assert len(said) == 1 and comfort in said[0]
    others = {CAPTURE, MASKING, QUICK_INDEX} - {comfort}
    assert all(can_have(other) for other in others)
