"""Scores of folders of prediction files."""

import json
from pathlib import Path

import pytest

from lm_eval_longbench.catalog import split_of_file
from lm_eval_longbench.errors import PredictionError, UnknownNameError
from lm_eval_longbench.offline.score_v1 import find_files, score_file, score_files

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"
FOLDERS = {
    "v1": GOLDEN / "longbench_v1" / "llama3-8b-instruct",
    "v1_e": GOLDEN / "longbench_v1_e" / "llama2-7b-chat-4k",
}


def write(file, *rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def row(pred, *answers, length=1, classes=None):
    return {"pred": pred, "answers": list(answers), "all_classes": classes, "length": length}


def scored(split, file):
    samples = []
    return score_file(split, file, samples.append), samples


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository")
@pytest.mark.parametrize("benchmark", FOLDERS)
def test_golden_figures(benchmark):
    """The quick datasets, down to each sample; the command's test runs all of them."""
    files, others = find_files(FOLDERS[benchmark], benchmark)
    assert others == []
    published = json.loads((FOLDERS[benchmark] / "result.json").read_text())
    assert {split.info.name for split, _ in files} == published.keys()
    for split, file in files:
        if split.info.name not in {"trec", "hotpotqa", "passage_retrieval_en", "triviaqa"}:
            continue
        result, samples = scored(split, file)
        assert result.figure == published[split.info.name]
        scores = json.loads(file.with_name(f"{split.info.name}.scores.json").read_text())
        assert [sample["score"] for sample in samples] == pytest.approx(scores, abs=1e-9)
        assert [sample["index"] for sample in samples] == list(range(split.rows))


def test_hand_made_figures(tmp_path):
    file = write(
        tmp_path / "hotpotqa.jsonl",
        row("the Emma", "Emma"),  # 1
        row("Emma Smith", "Bob", "Emma"),  # precision 1/2, recall 1: 2/3
        row("nobody", "Emma"),  # 0
    )
    result, samples = scored(split_of_file("hotpotqa"), file)
    assert [sample["score"] for sample in samples] == pytest.approx([1, 2 / 3, 0])
    assert result.figure == 55.56
    assert (result.failed, result.bad, result.buckets) == (0, [], {})


def test_hand_made_buckets(tmp_path):
    file = write(
        tmp_path / "passage_count.jsonl",
        row("3", "3", length=3999),  # 1
        row("3 or 4", "3", length=0),  # 1/2
        row("4", "3", length=4000),  # 0
        row("3 3 4", "3", length=7999),  # 2/3
    )
    result, samples = scored(split_of_file("passage_count_e"), file)
    assert result.figure == {"0-4k": 75.0, "4-8k": 33.33, "8k+": None}
    assert [sample["score"] for sample in samples] == pytest.approx([1, 0.5, 0, 2 / 3])
    assert {sample["dataset"] for sample in samples} == {"passage_count"}


def test_reasoning_is_dropped_and_empty_answers_are_counted(tmp_path):
    file = write(
        tmp_path / "qasper.jsonl",
        row("<think>Bob</think>\n\nEmma", "Emma"),
        row("<think>Emma", "Emma"),
        row(" \n", "Emma"),
        row("", "Emma"),
        row("Bob", "Emma"),
    )
    result, samples = scored(split_of_file("qasper"), file)
    assert [sample["score"] for sample in samples] == [1, 0, 0, 0, 0]
    assert result.failed == 3
    assert result.figure == 20.0


def test_bad_lines_are_counted_and_not_scored(tmp_path):
    file = tmp_path / "qasper.jsonl"
    good = json.dumps(row("Emma", "Emma"))
    file.write_text(f"{good}\n{{\n\n{good}\n[]\n")
    result, samples = scored(split_of_file("qasper"), file)
    assert samples == [
        {"dataset": "qasper", "index": 0, "score": 1.0},
        {"dataset": "qasper", "index": 2, "score": 1.0},
    ]
    assert result.scores == [1.0, 1.0]
    assert result.figure == 100.0
    assert [bad.line for bad in result.bad] == [2, 5]


def test_a_file_without_a_good_line_has_no_figure(tmp_path):
    file = tmp_path / "qasper.jsonl"
    file.write_text("{\n")
    assert scored(split_of_file("qasper"), file)[0].figure is None
    figure = scored(split_of_file("qasper_e"), file)[0].figure
    assert figure == {"0-4k": None, "4-8k": None, "8k+": None}


def test_files_are_found_in_the_benchmarks_order(tmp_path):
    for name in ("lcc", "qasper", "narrativeqa", "repobench-p", "qasper_e", "zeta", "alpha"):
        write(tmp_path / f"{name}.jsonl")
    (tmp_path / "result.json").write_text("{}")
    (tmp_path / "trec.jsonl").mkdir()
    found, others = find_files(tmp_path, "v1")
    assert [split.task for split, _ in found] == [
        "longbench_v1_narrativeqa",
        "longbench_v1_qasper",
        "longbench_v1_lcc",
        "longbench_v1_repobench_p",
    ]
    assert [file.name for _, file in found] == [
        "narrativeqa.jsonl",
        "qasper.jsonl",
        "lcc.jsonl",
        "repobench-p.jsonl",
    ]
    names = [file.name for file in others if file.is_file()]
    assert names == ["alpha.jsonl", "qasper_e.jsonl", "zeta.jsonl"]

    found, others = find_files(tmp_path, "v1_e")
    assert [split.task for split, _ in found] == [
        "longbench_v1_e_qasper",
        "longbench_v1_e_lcc",
        "longbench_v1_e_repobench_p",
    ]
    assert "narrativeqa.jsonl" in [file.name for file in others]


@pytest.mark.parametrize(
    ("name", "nearest"), [("v2", "v1"), ("v1e", "v1_e"), ("", None), ("longbench_v1_e", "v1_e")]
)
def test_an_unknown_benchmark(tmp_path, name, nearest):
    with pytest.raises(UnknownNameError, match="Unknown benchmark") as caught:
        find_files(tmp_path, name)
    assert "Valid: v1, v1_e." in str(caught.value)
    if nearest:
        assert f"Did you mean {nearest!r}?" in str(caught.value)


def test_a_folder_that_is_none(tmp_path):
    file = write(tmp_path / "qasper.jsonl")
    for folder in (tmp_path / "none", file):
        with pytest.raises(PredictionError, match="is not a folder") as caught:
            find_files(folder, "v1")
        assert str(folder) in str(caught.value)


def test_a_folder_without_prediction_files(tmp_path):
    write(tmp_path / "narrativeqa.jsonl")
    with pytest.raises(PredictionError, match="no prediction file of v1_e") as caught:
        find_files(tmp_path, "v1_e")
    assert "qasper.jsonl" in str(caught.value)
    assert "narrativeqa.jsonl" not in str(caught.value)


def test_files_are_scored_one_after_the_other(tmp_path):
    files = [
        (split_of_file(name), write(tmp_path / f"{name}.jsonl", row("Emma", "Emma")))
        for name in ("qasper", "hotpotqa")
    ]
    samples = []
    results = score_files(files, samples.append)
    assert samples == []
    next(results)
    assert [sample["dataset"] for sample in samples] == ["qasper"]
    next(results)
    assert [sample["dataset"] for sample in samples] == ["qasper", "hotpotqa"]
