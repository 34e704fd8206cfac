"""Reports on runs in memory beside runs in folders."""

import csv
import io

import pytest

from lm_eval_longbench import evaluate, report


@pytest.fixture(scope="module")
def runs():
    def run(name, answer):
        def answered(prompts):
            return [answer] * len(prompts)

        return evaluate(answered, "longbench_v2", data_dir="sample", name=name)

    return run("one", "The correct answer is (A)"), run("two", "The correct answer is (D)")


def rows(text):
    lines = csv.DictReader(io.StringIO(text))
    return {(line["section"], line["figure"]): line for line in lines}


def test_runs_in_memory_and_in_folders_stand_side_by_side(runs, tmp_path):
    one, two = runs
    expected = report(one, two, format="csv")
    figures = rows(expected)["official", "overall"]
    assert figures["one"] != figures["two"]
    assert float(figures["two less one"]) == pytest.approx(
        float(figures["two"]) - float(figures["one"]), abs=0.11
    )
    assert report(one, two.save_scores(tmp_path / "two"), format="csv") == expected
    assert report(one.save_scores(tmp_path / "one"), tmp_path / "two", format="csv") == expected
