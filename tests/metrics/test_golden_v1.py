"""Parity with the official scorers on real model outputs."""

import json
from pathlib import Path

import pytest
from v1_tasks import score_sample

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"
V1 = GOLDEN / "longbench_v1" / "llama3-8b-instruct"
V1_E = GOLDEN / "longbench_v1_e" / "llama2-7b-chat-4k"
pytestmark = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository"
)

E_NAMES = {
    "qasper",
    "multifieldqa_en",
    "hotpotqa",
    "2wikimqa",
    "gov_report",
    "multi_news",
    "trec",
    "triviaqa",
    "samsum",
    "passage_count",
    "passage_retrieval_en",
    "lcc",
    "repobench-p",
}
V1_NAMES = E_NAMES | {
    "narrativeqa",
    "multifieldqa_zh",
    "musique",
    "dureader",
    "qmsum",
    "vcsum",
    "lsht",
    "passage_retrieval_zh",
}


def names(folder, expected):
    """The known names and whatever else lies in the folder: an unknown name must fail."""
    return sorted(expected | {path.stem for path in folder.glob("*.jsonl")})


def read(folder, dataset):
    lines = (folder / f"{dataset}.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    scores = json.loads((folder / f"{dataset}.scores.json").read_text(encoding="utf-8"))
    assert len(rows) == len(scores) > 0
    return rows, scores


def scored(dataset, rows):
    return [score_sample(dataset, row["pred"], row["answers"], row["all_classes"]) for row in rows]


def differences(rows, found, expected):
    return [
        (number, mine, official, row["pred"][:80])
        for number, (row, mine, official) in enumerate(zip(rows, found, expected, strict=True))
        if not abs(mine - official) <= 1e-9
    ]


@pytest.mark.parametrize("dataset", names(V1, V1_NAMES))
def test_v1(dataset):
    rows, expected = read(V1, dataset)
    found = scored(dataset, rows)
    assert differences(rows, found, expected) == []
    published = json.loads((V1 / "result.json").read_text(encoding="utf-8"))
    assert round(100 * sum(found) / len(found), 2) == published[dataset]


@pytest.mark.parametrize("dataset", names(V1_E, E_NAMES))
def test_v1_e(dataset):
    rows, expected = read(V1_E, dataset)
    found = scored(dataset, rows)
    assert differences(rows, found, expected) == []
    published = json.loads((V1_E / "result.json").read_text(encoding="utf-8"))[dataset]
    buckets = {"0-4k": [], "4-8k": [], "8k+": []}
    for row, score in zip(rows, found, strict=True):
        length = row["length"]
        buckets["0-4k" if length < 4000 else "4-8k" if length < 8000 else "8k+"].append(score)
    means = {name: round(100 * sum(part) / len(part), 2) for name, part in buckets.items()}
    assert means == published


def test_results_name_the_same_datasets():
    assert json.loads((V1 / "result.json").read_text(encoding="utf-8")).keys() == V1_NAMES
    assert json.loads((V1_E / "result.json").read_text(encoding="utf-8")).keys() == E_NAMES
