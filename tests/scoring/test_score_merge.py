"""Several files and runs: repeats, halves that are one whole, and no trace of any order."""

import itertools
import random
from concurrent.futures import ProcessPoolExecutor

import pytest
from longbench_pro_facts import DIMENSIONS
from oracles import pro_summary as oracle
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


def test_repeats_of_a_log_and_of_a_further_one(score, tmp_path):
    doc = {**pro_question("q"), "index": 0}
    task = "longbench_pro_t3_2"
    for stamp, in_process in ((EARLY, True), (LATE, False)):
        row = log_row(task, doc, "Emma", "Bob", stamp, in_process=in_process, truncated=True)
        write_lines(tmp_path / f"samples_{task}_{stamp}.jsonl", row)
    found = score(tmp_path)
    assert [own["repeat"] for own in found.samples] == [1, 2, 3, 4, 5, 6]
    assert [own["score"] for own in found.samples] == [1.0, 0.0, 0.0] * 2
    assert found.scores["inference_iterations"] == 6
    assert found.report["tables"]["longbench_pro"]["counts"]["truncated"] == 6


def test_pro_shards_keep_their_runs(score, tmp_path):
    rows = {
        "m_inference_1-of-2.jsonl": [("a", 1), ("b", 2), ("a", 3)],
        "m_inference_2-of-2.jsonl": [("b", 1), ("a", 2), ("b", 3)],
    }
    for name, own in rows.items():
        write_lines(
            tmp_path / "in" / name,
            *(pro_row(id, "Emma" if run > 1 else "Bob", bon_idx=run) for id, run in own),
        )
    found = score(tmp_path / "in")
    assert shown(found) == [(id, run, float(run > 1)) for id in "ab" for run in (1, 2, 3)]
    rows = [{**own, "bon_idx": own["repeat"], "metric": own["score"]} for own in found.samples]
    assert found.scores == oracle.summary(rows, 3, DIMENSIONS)
    assert found.scores["pass@1"] == 0.0 and found.scores["pass@2"] == 1.0
    assert found.scores["inference_inconsistent_samples_num"] == 0


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


def test_one_row_of_a_very_late_run_costs_nothing(score, tmp_path):
    rows = [pro_row("a"), pro_row("b", bon_idx=10_000), pro_row("c", bon_idx=2)]
    found = score(write_lines(tmp_path / "m_inference_1.jsonl", *rows))
    assert found.scores["inference_iterations"] == 2
    (bad,) = found.report["problems"]["malformed"]
    assert (bad["line"], bad["reason"]) == (2, "'bon_idx' is not a whole number from 1 to 256")


def test_a_question_that_lacks_a_run_is_counted(score, tmp_path):
    rows = [pro_row("a", bon_idx=1), pro_row("a", bon_idx=3), pro_row("b", bon_idx=2)]
    found = score(write_lines(tmp_path / "m_inference_1.jsonl", *rows))
    assert found.scores["inference_iterations"] == 3
    assert found.scores["inference_inconsistent_samples_num"] == 2
    assert found.report["tables"]["longbench_pro"]["counts"]["inconsistent"] == 2


def test_pro_files_and_logs_of_the_official_data_are_runs(score, tmp_path):
    write_lines(tmp_path / "m_inference_1.jsonl", pro_row("q", "Emma"))
    task = "longbench_pro_t3_2"
    row = log_row(task, {**pro_question("q"), "index": 7}, "Bob")
    write_lines(tmp_path / f"samples_{task}_{EARLY}.jsonl", row)
    assert shown(score(tmp_path)) == [("q", 1, 1.0), ("q", 2, 0.0)]


def test_questions_stand_in_the_official_order(score, tmp_path):
    tasks = [f"longbench_pro_{code}" for code in ("t10_1", "t1_1", "t2_1")]
    for task in tasks:
        code = task.removeprefix("longbench_pro_")
        rows = [log_row(task, pro_question(id, code=code), "x") for id in ("b", "a")]
        write_lines(tmp_path / f"samples_{task}_{EARLY}.jsonl", *rows)
    rows = [log_row(QASPER, v1_doc(QASPER, n, "x"), "x") for n in (10, 9, 2)]
    write_lines(tmp_path / f"samples_{QASPER}_{EARLY}.jsonl", *rows)
    assert [(own["task"], own["id"]) for own in score(tmp_path).samples] == [
        (QASPER, "id-2"),
        (QASPER, "id-9"),
        (QASPER, "id-10"),
        *((task, id) for task in (tasks[1], tasks[2], tasks[0]) for id in "ab"),
    ]


def test_different_data_is_not_merged(score, tmp_path):
    for name, label in (("a", None), ("b", "sample-5ccf977518b0")):
        row = log_row(QASPER, v1_doc(QASPER, 0, "x"), "x", data=label)
        write_lines(tmp_path / name / f"samples_{QASPER}_{EARLY}.jsonl", row)
    with pytest.raises(PredictionError, match="cannot be merged") as caught:
        score(tmp_path)
    assert "'sample-5ccf977518b0'" in str(caught.value)
    assert "'zai-org/LongBench@5e628be'" in str(caught.value)
    assert "Score them apart" in str(caught.value)


def test_v2_repeats(score, tmp_path):
    for name, letters in (("a", "BA"), ("b", "BB")):
        rows = [v2_row(f"q{n}", letter) for n, letter in enumerate(letters)]
        write_lines(tmp_path / f"{name}.jsonl", *rows)
    found = score(tmp_path)
    assert shown(found) == [("q0", 1, 1.0), ("q0", 2, 1.0), ("q1", 1, 0.0), ("q1", 2, 1.0)]
    assert (found.scores["overall"], found.scores["n"]) == (75.0, 4)


def test_the_modes_of_v2_are_tables_of_their_own(score, tmp_path):
    for name in ("m", "m_no_context", "m_rag_5", "m_cot"):
        write_lines(tmp_path / f"{name}.jsonl", v2_row("q"))
    assert list(score(tmp_path).report["tables"]) == [
        "longbench_v2",
        "longbench_v2_no_context",
        "longbench_v2_cot_answer",
        "longbench_v2_rag",
    ]


def test_our_own_output_beside_the_input_is_passed_over(score, tmp_path):
    write_lines(tmp_path / "in" / "m.jsonl", v2_row("q"))
    first = score(tmp_path / "in")
    for path in first.folder.iterdir():
        (tmp_path / "in" / path.name).write_bytes(path.read_bytes())
    again = score(tmp_path / "in")
    assert again.bytes == first.bytes
