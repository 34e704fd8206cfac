"""Machines that each ask a shard: together they are one run, to the byte."""

import json
import random

import pytest
from filelock import FileLock
from prediction_rows import write_lines
from real_runs import EXTRACTIVE
from transformers import AutoTokenizer

import lm_eval_longbench
from lm_eval_longbench.check.compare import compare_results
from lm_eval_longbench.errors import OptionError, PredictionError
from lm_eval_longbench.records.store import answer_files
from lm_eval_longbench.records.summary import merge_answers, summary
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.signature.ingredients import CARE

TASKS = (
    *("longbench_v1", "longbench_v1_e", "longbench_v2", "longbench_v2_rag", "longbench_v2_cot"),
    *("longbench_v2_no_context", "longbench_pro", "longbench_pro_thinking"),
    *("longbench_v1_retrieval", "longbench_v1_summary"),
)
NUMBER = 8
FILES = ("samples.jsonl", "scores.json")


def run(folder, tasks=TASKS, **options):
    return lm_eval_longbench.evaluate(
        EXTRACTIVE, tasks, data_dir="sample", output_path=folder, **options
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """One run of all benchmarks, and the same in eight shards."""
    folder = tmp_path_factory.mktemp("shards")
    run(folder / "one")
    for piece in range(1, NUMBER + 1):
        run(folder / f"shard-{piece}", shard=f"{piece}/{NUMBER}")
    return folder


def without_names(report):
    """Return a report without what names its files."""
    report = {key: part for key, part in report.items() if key != "inputs"}
    return report | {
        "tables": {
            name: {key: part for key, part in table.items() if key != "runs"}
            for name, table in report["tables"].items()
        }
    }


def test_eight_shards_in_any_order_are_one_run(runs, tmp_path):
    whole = score_paths(runs / "one", tmp_path / "whole")
    shards = [runs / f"shard-{piece}" for piece in range(1, NUMBER + 1)]
    random.Random(7).shuffle(shards)
    together = score_paths(shards, tmp_path / "together")
    for file in FILES:
        left, right = (tmp_path / name / file for name in ("whole", "together"))
        assert left.read_bytes() == right.read_bytes() and left.stat().st_size > 100
    assert without_names(together) == without_names(whole)
    # The signatures, too: no shard is left in them.
    for table in together["tables"].values():
        assert table["signature"]["ingredients"]["shard"] is None
    assert compare_results(tmp_path / "whole", tmp_path / "together").verdict == "comparable"


def test_missing_and_double_shards_are_named_with_what_to_do(invoke, runs, tmp_path):
    shards = [runs / f"shard-{piece}" for piece in (1, 2, 4, 5, 6, 7, 8)]
    result = invoke("score", *shards)
    assert result.exit_code == 0
    assert "shards that are missing or double" in result.stdout
    (line,) = [line for line in result.stdout.splitlines() if line.split()[:1] == ["longbench_v2"]]
    assert "3/8" in line and line.rstrip().endswith("run ... --shard 3/8")
    # A shard that answered twice, and not the same.
    (log,) = (runs / "shard-2").rglob("samples_longbench_v2_2*.jsonl")
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    for row in rows:
        row["filtered_resps"] = row["resps"] = ["The correct answer is (D)."]
    for file in (runs / "shard-2").rglob("results_*.json"):
        other = tmp_path / "again" / file.name.replace("results_20", "results_21")
        other.parent.mkdir(exist_ok=True)
        other.write_bytes(file.read_bytes())
    write_lines(tmp_path / "again" / log.name.replace("v2_20", "v2_21"), *map(_as_log, rows))
    report = score_paths([*runs.glob("shard-*"), tmp_path / "again"], tmp_path / "out")
    (gap,) = report["shards"]
    assert (gap["task"], gap["missing"], gap["double"]) == ("longbench_v2", [], [2])


def _as_log(row):
    return row | {"resps": [row["resps"]]}


def test_shards_of_two_divisions_are_refused(runs, tmp_path):
    run(tmp_path / "third", ["longbench_v2"], shard="1/3")
    with pytest.raises(PredictionError, match="of several divisions are no parts of one run"):
        score_paths([runs / "shard-1", tmp_path / "third"], tmp_path / "out")


def test_joined_answers_leave_nothing_to_ask(invoke, runs, tmp_path):
    shards = [runs / f"shard-{piece}" for piece in range(1, NUMBER + 1)]
    before = {file: file.read_bytes() for one in shards for file in answer_files(one)}
    random.Random(3).shuffle(shards)
    result = invoke("answers", "merge", *shards, "--to", tmp_path / "joined")
    assert result.exit_code == 0, result.output
    assert {file: file.read_bytes() for file in before} == before
    (file,) = answer_files(tmp_path / "joined")
    known = summary(file).tasks
    run(tmp_path / "joined")
    # Nothing came in the second run: neither a number nor a time has changed.
    assert summary(file).tasks == known
    for name in ("joined", "whole"):
        score_paths(tmp_path / name if name == "joined" else runs / "one", tmp_path / f"o{name}")
    left, right = (tmp_path / f"o{name}" / FILES[0] for name in ("joined", "whole"))
    assert left.read_bytes() == right.read_bytes()
    assert "have no answer" not in result.output
    again = invoke("answers", "merge", shards[0], "--to", tmp_path / "joined")
    number = sum(one.answered for one in summary(answer_files(shards[0])[0]).tasks.values())
    assert f"{number} answers were in several files" in again.output


def test_a_file_in_use_is_not_merged(invoke, raised, runs, tmp_path):
    (file,) = answer_files(runs / "shard-3")
    with FileLock(f"{file}.lock"):
        error = raised(
            "answers", "merge", runs / "shard-1", runs / "shard-3", "--to", tmp_path / "to"
        )
    assert str(error) == f"A run writes its answers to {file}. Wait for it; nothing was merged."
    assert not answer_files(tmp_path / "to")
    with pytest.raises(OptionError, match="No file of answers is in"):
        merge_answers([tmp_path], tmp_path / "to")


def test_a_damaged_file_is_not_merged(runs, tmp_path):
    (file,) = answer_files(runs / "shard-3")
    copy = tmp_path / "shard" / file.name
    copy.parent.mkdir()
    data = bytearray(file.read_bytes())
    place = data.rindex(b"answered")
    data[place : place + 8] = b"ANSWERED"
    copy.write_bytes(data)
    with pytest.raises(OptionError, match=r"damaged \(1 answers.*Nothing was merged"):
        merge_answers([runs / "shard-1", copy], tmp_path / "to")
    assert not answer_files(tmp_path / "to")


# ---------------------------------------------------------------------- a part


def test_a_part_pairs_with_the_whole_on_the_questions_both_have(runs, tmp_path):
    run(tmp_path / "part", ["longbench_v2"], only={"difficulty": "hard"})
    compared = compare_results(runs / "one", tmp_path / "part")
    (task,) = [one for one in compared.tasks if one.task == "longbench_v2"]
    assert task.comparison.verdict == CARE
    (own,) = [own for own in compared.headlines if own.title == "LongBench v2"]
    assert own.a.n > own.b.n == own.difference.n
    assert own.difference.value == 0


def test_a_window_of_tokens_is_that_of_the_prompts_before_cutting(runs, tmp_path, tokenizer_folder):
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    documents = lm_eval_longbench.load("longbench_v2", data_dir="sample")
    known = {one.id: len(tokenizer(one.prompt).input_ids) for one in documents}
    least, most = sorted(known.values())[4], sorted(known.values())[-4]
    options = {"tokenizer": tokenizer_folder, "truncate_to": 60}
    run(tmp_path / "window", ["longbench_v2"], only={"tokens": [least, most]}, **options)
    (log,) = (tmp_path / "window").rglob("samples_longbench_v2_2*.jsonl")
    rows = [json.loads(line)["doc"] for line in log.read_text().splitlines()]
    assert {row["_id"] for row in rows} == {
        name for name, number in known.items() if least <= number <= most
    }
    with pytest.raises(OptionError, match="no question is left by only tokens: 1 to 2") as told:
        run(tmp_path / "none", ["longbench_v2"], only={"tokens": [1, 2]}, **options)
    assert "\n" not in str(told.value)
