"""Several files and runs: repeats, halves that are one whole, and no trace of any order."""

import itertools
import random
from concurrent.futures import ProcessPoolExecutor

import pytest
from prediction_rows import (
    log_row,
    pro_question,
    pro_row,
    says,
    v1_doc,
    v1_row,
    v2_question,
    v2_row,
    write_lines,
)

from lm_eval_longbench import files
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.scoring import merge, score_chunk

EARLY, LATE = "2025-01-01T00-00-00.5", "2025-01-02T00-00-00.5"
QASPER = "longbench_v1_qasper"


def shown(found):
    """(id, repeat, score) of each sample."""
    return [(own["id"], own["repeat"], own["score"]) for own in found.samples]


def test_any_order_of_paths_and_lines_gives_the_same_bytes(score, tmp_path):
    """v1, v2, Pro and logs at once, in folders and by themselves."""
    rows = [v2_row(f"q{number}", "AB"[number % 2]) for number in range(50)]
    write_lines(tmp_path / "v1" / "pred" / "qasper.jsonl", v1_row("x", "x"), "{", v1_row("y", "x"))
    write_lines(tmp_path / "again" / "pred" / "qasper.jsonl", v1_row("y", "x"), v1_row("z", "x"))
    write_lines(tmp_path / "v2" / "a.jsonl", *rows)
    write_lines(tmp_path / "v2" / "b.jsonl.gz", *rows[::2], packed=True)
    for number in (1, 2, 3):
        write_lines(
            tmp_path / "pro" / f"m_inference_{number}.jsonl",
            *(
                pro_row(f"q{n}", bon_idx=number, code=code)
                for n, code in enumerate(("t3_1", "t5_1"))
            ),
        )
    task = "longbench_pro_thinking_t3_2"
    for stamp in (EARLY, LATE):
        row = log_row(task, {**pro_question("q"), "index": 0}, stamp, "[Answer]\nEmma")
        write_lines(tmp_path / "logs" / f"samples_{task}_{stamp}.jsonl", row)
    paths = [tmp_path / name for name in ("v1", "again", "v2", "pro", "logs")]
    paths.append(tmp_path / "v2" / "a.jsonl")
    first = score(*paths)
    assert list(first.report["tables"]) == [
        "longbench_v1",
        "longbench_v2",
        "longbench_pro",
        "longbench_pro_thinking",
    ]
    assert list(first.scores) == list(first.report["tables"])
    for seed in range(4):
        shuffled = random.Random(seed).sample(paths, len(paths))
        assert score(*shuffled, workers=1 + seed % 2).bytes == first.bytes

    # The order of lines leaves no trace either, where rows have ids.
    before = score(tmp_path / "v2")
    for name, own in (("a.jsonl", rows), ("b.jsonl.gz", rows[::2])):
        mixed = random.Random(5).sample(own, len(own))
        write_lines(tmp_path / "v2" / name, *mixed, packed=name.endswith("gz"))
    after = score(tmp_path / "v2")
    for name in ("samples.jsonl", "scores.json"):
        assert after.bytes[name] == before.bytes[name]


def test_processes_give_the_same_bytes(score, tmp_path, monkeypatch):
    pools = []

    class Pool(ProcessPoolExecutor):
        def __init__(self, number, *more):
            pools.append(number)
            super().__init__(number, *more)

    monkeypatch.setattr(score_chunk, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(score_chunk, "SMALL", 0)
    monkeypatch.setattr(files, "BLOCK", 1 << 12)
    texts = ["Emma ran.", "Bob. Emma ran.", "", "{"]
    rows = [v1_row(texts[n % 3], "Emma ran.") if n % 7 else "{" for n in range(600)]
    write_lines(tmp_path / "pred" / "narrativeqa.jsonl", *rows)
    write_lines(tmp_path / "pred" / "gov_report.jsonl", *rows[::-1])
    alone, several = (score(tmp_path / "pred", workers=number) for number in (1, 2))
    assert several.bytes == alone.bytes
    assert pools == [2]
    assert len(alone.samples) > 1000
    assert alone.report["problems"]["malformed_total"] == 2 * 86


def whole_and_halves(tmp_path, make, name):
    """Write rows once in one folder, and in halves in two."""
    rows = [make(number) for number in range(10)]
    write_lines(tmp_path / "whole" / name, *rows)
    write_lines(tmp_path / "half1" / name, *rows[::2])
    write_lines(tmp_path / "half2" / name, *rows[1::2])
    return tmp_path / "whole", (tmp_path / "half2", tmp_path / "half1")


MAKERS = {
    f"samples_{QASPER}_{EARLY}.jsonl": lambda n: log_row(
        QASPER, v1_doc(QASPER, n, f"gold {n}"), f"gold {n % 3}"
    ),
    f"samples_longbench_v2_{EARLY}.jsonl": lambda n: log_row(
        "longbench_v2", v2_question(f"q{n}"), says("ABCD"[n % 4])
    ),
    f"samples_longbench_pro_t3_2_{EARLY}.jsonl": lambda n: log_row(
        "longbench_pro_t3_2", pro_question(f"q{n}"), "Emma", "Bob", "Emma"
    ),
    "results.jsonl": lambda n: v2_row(f"q{n}", "ABCD"[n % 4]),
    "m_inference_1.jsonl": lambda n: pro_row(f"q{n}", "Emma", bon_idx=1),
}


@pytest.mark.parametrize("name", MAKERS)
def test_two_half_runs_are_one_whole(score, tmp_path, name):
    whole, halves = whole_and_halves(tmp_path, MAKERS[name], name)
    expected, found = score(whole), score(*halves)
    for file in ("samples.jsonl", "scores.json"):
        assert found.bytes[file] == expected.bytes[file]
    (table,) = found.report["tables"]
    mine, other = (one.report["tables"][table] for one in (found, expected))
    assert (len(mine["runs"]), len(other["runs"])) == (2, 1)
    assert {**mine, "runs": 0} == {**other, "runs": 0}


def test_further_runs_are_repeats(score, tmp_path):
    """Three runs of a v1 dataset: a question counts by the mean of its answers."""
    for name, preds in (("b", "xx"), ("a", "xy"), ("c", "yy")):
        rows = [v1_row(pred, "x") for pred in preds]
        write_lines(tmp_path / name / "pred" / "qasper.jsonl", *rows)
    found = score(*(tmp_path / name for name in "cab"))
    assert shown(found) == [
        ("0", 1, 1.0),
        ("0", 2, 1.0),
        ("0", 3, 0.0),
        ("1", 1, 0.0),
        ("1", 2, 1.0),
        ("1", 3, 0.0),
    ]
    assert found.scores == {"qasper": 50.0}
    table = found.report["tables"]["longbench_v1"]
    assert (table["repeats"], table["counts"]["questions"], table["counts"]["samples"]) == (3, 2, 6)
    assert table["runs"] == ["a/pred", "b/pred", "c/pred"]
    assert table["tasks"][QASPER]["score"] == pytest.approx(0.5)


def test_the_time_in_the_name_orders_harness_runs(score, tmp_path):
    texts = {("z", EARLY): "x", ("a", LATE): "y", ("b", EARLY): "z"}
    for (folder, stamp), text in texts.items():
        row = log_row(QASPER, v1_doc(QASPER, 0, "x"), text)
        write_lines(tmp_path / folder / f"samples_{QASPER}_{stamp}.jsonl", row)
    for order in itertools.permutations("abz"):
        found = score(*(tmp_path / name for name in order))
        # b and z began at one time: their names decide.
        assert [own["score"] for own in found.samples] == [0.0, 1.0, 0.0]
        assert found.report["tables"]["longbench_v1"]["runs"] == [
            f"b {EARLY}",
            f"z {EARLY}",
            f"a {LATE}",
        ]


def test_more_runs_than_are_scored_together_are_refused(score, tmp_path, monkeypatch):
    monkeypatch.setattr(merge, "MOST_REPEATS", 3)
    for number in range(4):
        write_lines(
            tmp_path / "in" / str(number) / "m_inference_1.jsonl", pro_row("a", f"Emma {number}")
        )
    with pytest.raises(PredictionError, match=r"have 4 answers to .*'a'; at most 3 are scored"):
        score(tmp_path / "in")
    (tmp_path / "in" / "3" / "m_inference_1.jsonl").unlink()
    assert score(tmp_path / "in").scores["inference_iterations"] == 3
