"""Folders that `score` wrote: figures and counts follow from the samples, or the edit is found."""

import json
import shutil
from pathlib import Path

import pytest
from real_runs import Files

from lm_eval_longbench.check.verification import DIFFERENT, NOT_CHECKABLE
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.scoring.score import score_paths

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"


@pytest.fixture(scope="session")
def scored_run(base_run, tmp_path_factory):
    """v2, Pro with three repeats and one dataset of E, scored from their logs."""
    folder = tmp_path_factory.mktemp("scored")
    files = Files(base_run)
    tasks = ("longbench_v2", "longbench_pro_t3_1", "longbench_pro_t6_2", "longbench_v1_e_trec")
    score_paths([files.log(task) for task in tasks], folder, workers=1)
    return folder


@pytest.fixture
def scored(scored_run, tmp_path):
    """A copy of it to edit."""
    shutil.copytree(scored_run, tmp_path / "scored")
    return tmp_path / "scored"


def edit_json(path, edit):
    value = json.loads(path.read_text(encoding="utf-8"))
    edit(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def edit_samples(folder, edit):
    path = folder / "samples.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = edit(rows) or rows
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def different(folder):
    report = verify([folder])
    assert report.exit_status == 1
    return {(check.place, check.name): check for check in report.with_status(DIFFERENT)}


def test_as_it_is(scored):
    report = verify([scored / "report.json"])
    assert report.with_status(DIFFERENT) == []
    # Figures follow from the samples; the samples' scores follow from nothing that is here.
    assert report.exit_status == 3
    names = {(check.place, check.name) for check in report.checks}
    assert ("longbench_v2", "official.compensated.hard") in names
    assert ("longbench_v2", "accuracy.overall") in names
    assert ("longbench_v1_e", "official.trec.8k+") in names
    assert ("longbench_pro", "official.BoN-3.overall_metric") in names
    assert ("longbench_pro", "tasks.longbench_pro_t3_1.score") in names
    (said,) = {check.meaning for check in report.with_status(NOT_CHECKABLE)}
    assert "verify the logs that they were made from" in said


@pytest.mark.parametrize(
    ("benchmark", "path"),
    [
        ("v1", "longbench_v1/llama3-8b-instruct"),
        ("v1_e", "longbench_v1_e/llama2-7b-chat-4k"),
        ("v2", "longbench_v2/llama-3.1-8b-instruct.jsonl"),
    ],
)
def test_official_predictions(tmp_path, benchmark, path):
    source = GOLDEN / path
    if not source.exists():
        pytest.skip(f"golden data is not present: {path}")
    if source.is_dir():  # the quick datasets; one more, empty, is in the table all the same
        small = tmp_path / "small"
        small.mkdir()
        for name in ("trec", "passage_count", "lcc"):
            shutil.copy(source / f"{name}.jsonl", small)
        (small / "qasper.jsonl").write_text("no prediction\n", encoding="utf-8")
        source = small
    score_paths([source], tmp_path / "out", benchmark=benchmark, workers=1)
    report = verify([tmp_path / "out"])
    assert report.with_status(DIFFERENT) == []
    names = {check.name for check in report.checks if check.status == "confirmed"}
    assert {"counts.missing", "repeats"} <= names


def test_repeats_and_unscored_summaries(tmp_path, base_run):
    """Runs of one task become repeats, of which some are missing."""
    files = Files.copy(base_run, tmp_path / "copy")
    rows = files.rows("longbench_v2")
    for number, part in enumerate((rows, rows[:5], rows[2:9])):
        name = f"samples_longbench_v2_2026-01-0{number + 1}T00-00-00.000000.jsonl"
        path = tmp_path / "runs" / str(number) / name
        path.parent.mkdir(parents=True)
        other = {"resps": [[f"{number}"]], "filtered_resps": [f"{number}"]} if number else {}
        text = "".join(json.dumps({**row, **other}) + "\n" for row in part)
        path.write_text(text, encoding="utf-8")
    score_paths([tmp_path / "runs"], tmp_path / "out", workers=1)
    report = verify([tmp_path / "out"])
    assert report.with_status(DIFFERENT) == []
    inconsistent = next(check for check in report.checks if check.name == "counts.inconsistent")
    assert inconsistent.found > 0


@pytest.mark.parametrize(
    ("table", "part", "key", "name"),
    [
        ("longbench_v2", "official", "overall", "official.overall"),
        ("longbench_v2", "accuracy", "hard", "accuracy.hard"),
        ("longbench_v2", "counts", "failed", "counts.failed"),
        ("longbench_v2", "counts", "questions", "counts.questions"),
        ("longbench_pro", "official", "pass@3", "official.pass@3"),
    ],
)
def test_an_edited_figure_or_count(scored, table, part, key, name):
    def edit(report):
        report["tables"][table][part][key] += 1

    edit_json(scored / "report.json", edit)
    found = different(scored)
    check = found.pop((table, name))
    assert "does not follow from the samples" in check.meaning
    assert check.found == check.expected + 1
    assert found == {}


def test_an_edited_score_of_a_sample(scored):
    def edit(rows):
        row = next(row for row in rows if row["table"] == "longbench_v2" and row["score"] == 0)
        row["score"] = row["compensated"] = 1.0

    edit_samples(scored, edit)
    found = different(scored)
    assert ("longbench_v2", "official.overall") in found
    assert ("longbench_v2", "tasks.longbench_v2.score") in found


def test_a_missing_sample(scored):
    edit_samples(scored, lambda rows: rows[:-1])
    found = different(scored)
    assert ("longbench_pro", "counts.samples") in found
    assert ("longbench_pro", "counts.inconsistent") in found


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"table": "longbench_v2"', "is not JSON"),
        ('{"table": "longbench_v2"}', "is no sample: it has no 'task'"),
        ("[1]", "is no sample: it is [1]: input should be a valid dictionary"),
        (
            '{"table": "longbench_v1", "task": "t", "id": "1", "repeat": 1, "score": 1,'
            ' "failed": false}',
            "is of the table 'longbench_v1', which the report does not have",
        ),
        (
            '{"table": "longbench_v2", "task": "t", "id": "1", "repeat": 1, "score": 1,'
            ' "failed": false}',
            "Unknown task 't'",
        ),
    ],
)
def test_broken_samples(scored, line, message):
    with (scored / "samples.jsonl").open("a", encoding="utf-8") as handle:
        handle.write(line + "\n")
    report = verify([scored])
    assert report.exit_status == 2
    (said,) = report.unreadable
    assert message in said


def test_a_sample_that_lacks_a_field_of_its_table(scored):
    def edit(rows):
        del next(row for row in rows if row["table"] == "longbench_pro")["language"]

    edit_samples(scored, edit)
    (said,) = verify([scored]).unreadable
    assert "longbench_pro" in said and "'language'" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "is no report of `score`: it is []: input should be a valid dictionary"),
        ('{"tables": {"longbench_v2": {}}}', "'tables.longbench_v2' has no 'official'"),
        (
            '{"tables": {"longbench_v9": {"official": {}, "counts": {}, "tasks": {}}}}',
            "Unknown table 'longbench_v9'",
        ),
    ],
)
def test_a_broken_report(scored, text, message):
    (scored / "report.json").write_text(text, encoding="utf-8")
    (said,) = verify([scored]).unreadable
    assert message in said


def test_a_sample_of_v2_that_does_not_say_whether_it_is_dropped(scored):
    def edit(rows):
        del next(row for row in rows if row["table"] == "longbench_v2")["dropped"]

    edit_samples(scored, edit)
    (said,) = verify([scored]).unreadable
    assert "longbench_v2" in said and "'dropped'" in said


@pytest.mark.parametrize("field", ["difficulty", "repeat"])
def test_samples_that_contradict_each_other(scored, field):
    """A second answer of one repeat, or a question that is easy and hard, is an edit."""

    def edit(rows):
        first, other = [row for row in rows if row["table"] == "longbench_pro"][:2]
        assert first["id"] == other["id"]
        other[field] = first["repeat"] if field == "repeat" else "Easy"
        assert field == "repeat" or first[field] != "Easy"

    edit_samples(scored, edit)
    assert ("longbench_pro", "samples") in different(scored)
