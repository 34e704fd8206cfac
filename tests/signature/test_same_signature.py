"""Two runs with the same signature on the same machine give equal scores with greedy decoding."""

import json

import pytest
from real_runs import Files, write_run

from lm_eval_longbench.signature.compare import compare
from lm_eval_longbench.signature.ingredients import COMPARABLE, NOT

TASK = "longbench_v1_multifieldqa_en"


@pytest.fixture
def run(tmp_path, model_folder):
    """Run one task with a real tiny model; what its results file says."""

    def one(name, options=None, **arguments):
        write_run(
            tmp_path / name,
            "hf",
            [TASK],
            {"truncate_to": 400, **(options or {})},
            {"pretrained": model_folder, "device": "cpu"},
            gen_kwargs={"max_gen_toks": 6, **arguments},
        )
        files = Files(tmp_path / name)
        whole = json.loads(files.results.read_text(encoding="utf-8"))
        answers = [row["resps"] for row in files.rows(TASK)]
        return files.run(TASK), whole["results"][TASK], answers

    return one


def test_equal_signatures_and_equal_scores(run):
    (first, scores, answers), (second, again, repeated) = run("first"), run("second")
    assert first == second
    assert first["signature"] == second["signature"]
    assert compare(first, second, ()).verdict == COMPARABLE
    assert answers == repeated
    assert any(text for ((text,),) in answers)
    assert scores == again


@pytest.mark.parametrize(
    ("options", "generation", "name"),
    [
        ({"truncate_to": 300}, {}, "limit"),
        ({}, {"max_gen_toks": 5}, "generation"),
        ({"repeats": 2}, {"temperature": 1.0, "do_sample": True}, "repeats"),
    ],
)
def test_another_option_is_another_signature(run, options, generation, name):
    first, _, _ = run("first")
    other, _, _ = run("other", options, **generation)
    assert first["signature"] != other["signature"]
    comparison = compare(first, other, ())
    assert comparison.verdict == NOT
    assert name in {difference.ingredient for difference in comparison.differences}
