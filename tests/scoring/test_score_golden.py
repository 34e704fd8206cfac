"""The public runs of the official scripts, through the one function that scores everything."""

import json
import random
from pathlib import Path

import pytest
from longbench_pro_facts import DIMENSIONS
from oracles import pro_summary as oracle
from prediction_rows import read_lines, write_lines

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"
V1 = GOLDEN / "longbench_v1" / "llama3-8b-instruct"
E = GOLDEN / "longbench_v1_e" / "llama2-7b-chat-4k"
V2 = GOLDEN / "longbench_v2" / "llama-3.1-8b-instruct.jsonl"
PRO = GOLDEN / "longbench_pro" / "metric_cases.jsonl"

pytestmark = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository"
)


@pytest.mark.parametrize(
    ("folder", "table", "rows"), [(V1, "longbench_v1", 4750), (E, "longbench_v1_e", 3668)]
)
def test_predictions(score, no_network, folder, table, rows):
    """Recognised without being told, equal to the run's own result.json, sample for sample."""
    found = score(folder, strict=True)
    assert found.scores == json.loads((folder / "result.json").read_text())
    assert (list(found.report["tables"]), found.problems) == ([table], {})
    counts = found.report["tables"][table]["counts"]
    assert (counts["samples"], counts["questions"], counts["missing"]) == (rows, rows, 0)
    samples = found.samples
    assert len(samples) == rows
    for name in found.scores:
        own = [sample for sample in samples if sample["dataset"] == name]
        expected = json.loads((folder / f"{name}.scores.json").read_text())
        assert [sample["score"] for sample in own] == pytest.approx(expected, abs=1e-9)
        assert [sample["index"] for sample in own] == list(range(len(expected)))
        assert [sample["id"] for sample in own] == [str(number) for number in range(len(expected))]


def test_v2(score, no_network, tmp_path):
    found = score(V2)
    golden = json.loads((V2.parent / "result.json").read_text())
    scores = found.scores
    assert scores["compensated"] == {k: v for k, v in golden["compensated"].items() if k != "n"}
    assert {name: scores[name] for name in golden["default"]} == golden["default"]
    assert (scores["unparsed"], scores["failed"]) == (2, 0)
    assert found.report["problems"]["differing_pred_total"] == 0
    by_id = {row["_id"]: row for row in read_lines(V2)}
    for sample in found.samples:
        row = by_id[sample["id"]]
        assert (sample["choice"], sample["score"] == 1.0) == (row["pred"], row["judge"])
        assert all(sample[name] == row[name] for name in ("domain", "difficulty", "length"))
    # The letters alone give the same figures.
    rows = [{k: v for k, v in row.items() if k != "response"} for row in by_id.values()]
    assert score(write_lines(tmp_path / "letters.jsonl", *rows)).scores == scores


def near(value):
    """The same figures, to the last bits."""
    if isinstance(value, dict):
        return {name: near(own) for name, own in value.items()}
    return pytest.approx(value, abs=1e-12) if isinstance(value, float) else value


def test_pro(score, no_network, tmp_path):
    """The metric cases as two shards of one inference, one packed, in any order."""
    cases = {row["id"]: row for row in read_lines(PRO)}
    rows = [
        {**{k: v for k, v in row.items() if not k.startswith("expected")}, "bon_idx": 1}
        for row in cases.values()
    ]
    random.Random(1).shuffle(rows)
    name = "m_nonthinking_context-120000_bon-1_inference"
    write_lines(tmp_path / "in" / f"{name}_1-of-2.jsonl", *rows[:200])
    write_lines(tmp_path / "in" / f"{name}_2-of-2.jsonl.gz", *rows[200:], packed=True)
    found = score(tmp_path / "in")
    samples = found.samples
    assert len(samples) == 600
    for sample in samples:
        case = cases[sample["id"]]
        part = "rouge_l" if case["expected_metric"] == "rouge_l_max" else "score"
        assert sample[part] == pytest.approx(case["expected"], abs=1e-9)
        # Of white space the official ROUGE raises, and no other metric.
        text = case["prediction"].strip() if part == "rouge_l" else case["prediction"]
        assert sample["failed"] == (not text)
        assert sample["repeat"] == 1
    rows = [{**sample, "bon_idx": 1, "metric": sample["score"]} for sample in samples]
    assert found.scores == near(oracle.summary(rows, 1, DIMENSIONS))
    assert found.scores["total_samples_num"] == 600
    assert found.scores["unscored_samples_num"] == 37
