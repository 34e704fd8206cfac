"""Folders that `score` wrote: figures and counts follow from the samples, or the edit is found."""

import json
import re
import shutil
from pathlib import Path

import pytest
from prediction_rows import (
    STAMP,
    log_row,
    pro_question,
    says,
    v1_doc,
    v2_question,
    write_lines,
)
from real_runs import Files

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.logs.results_file import ScoredFolder, read_scored_folder
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.verify import scored as module
from lm_eval_longbench.verify.check import DIFFERENT, NOT_CHECKABLE
from lm_eval_longbench.verify.scored import check_scored, read_samples
from lm_eval_longbench.verify.verify import verify

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
    assert ("", "scores.json") in names
    said = {check.name for check in report.with_status(NOT_CHECKABLE)}
    counts = {
        f"{part}.{name}" for part in ("counts", "tasks.*") for name in ("malformed", "duplicate")
    }
    stated = {"data", "embedding_model", "runs", "package", "inputs", "problems", "tasks.*.copies"}
    stated |= {"reasoning.policy"}
    assert said == counts | stated | {"sample scores", "official figures", "signature"}


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
        path.write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
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
    assert set(found) == ({("", "scores.json")} if part == "official" else set())


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


def test_edited_scores(scored):
    edit_json(scored / "scores.json", lambda scores: scores["longbench_v2"].update(overall=99.9))
    found = different(scored)
    assert set(found) == {("", "scores.json")}
    assert "other figures than the report" in found["", "scores.json"].meaning
    (scored / "scores.json").unlink()
    report = verify([scored])
    assert report.exit_status == 3
    assert "scores.json is not there" in {
        check.meaning.partition(";")[0] for check in report.with_status(NOT_CHECKABLE)
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"table": "longbench_v2"', "is not JSON"),
        ('{"table": "longbench_v2"}', "is no sample: it has no 'task'"),
        ("[1]", "is no sample: it is not a JSON object"),
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
        ("[]", "is no report of `score`: it is not a JSON object"),
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


@pytest.mark.parametrize("change", [{}, {"dropped": None}, {"dropped": "x"}])
def test_a_sample_of_v2_says_whether_it_is_dropped(change):
    table = module._Table("longbench_v2", {"counts": {}, "tasks": {}})
    sample = {
        **{"task": "longbench_v2", "id": "q", "repeat": 1, "score": 1.0, "failed": False},
        **{"compensated": 1.0, "unparsed": False, "difficulty": "easy", "length": "short"},
        "domain": None,
    }
    with pytest.raises(PredictionError, match=r"a line is no sample of longbench_v2: .*'dropped'"):
        table.add({**sample, **change}, "a line", 1)
    table.add({**sample, "dropped": False}, "a line", 1)
    assert table.samples == 1


@pytest.fixture(scope="session")
def rich(tmp_path_factory):
    """Every table, with reasoning, repeats, rougeL_google, duplicates and malformed lines."""
    folder = tmp_path_factory.mktemp("rich")
    marks = ["<think>Bob</think>\n\nEmma sings.", "Emma sings.", "Bob", ""]
    for run in ("a", "b"):
        for task in ("longbench_v1_qmsum", "longbench_v1_e_gov_report", "longbench_v1_lcc"):
            rows = [
                log_row(task, v1_doc(task, n, "Emma sings.", length=100 + 3000 * n), marks[n])
                for n in range(3 if run == "a" else 2)
            ]
            path = folder / run / f"samples_{task}_{STAMP}.jsonl"
            write_lines(path, *rows, "no row", rows[0])
        task = "longbench_v2"
        rows = [
            log_row(task, v2_question(f"q{n}", difficulty=level), text)
            for n, (level, text) in enumerate(
                [("easy", "<think>A</think>" + says("B")), ("hard", ""), ("hard", says("A"))]
            )
        ]
        write_lines(folder / run / f"samples_{task}_{STAMP}.jsonl", *rows)
    task = "longbench_pro_t3_2"
    rows = [log_row(task, pro_question(f"q{n}"), marks[0], "[Answer]\nEmma") for n in range(3)]
    write_lines(folder / "a" / f"samples_{task}_{STAMP}.jsonl", *rows)
    score_paths([folder / "a", folder / "b"], folder / "out", workers=1, rouge_google=True)
    return folder / "out"


def leaves(value, path=()):
    """Yield the path of every leaf; an empty object or list is one."""
    if isinstance(value, dict | list) and value:
        for key, own in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(own, (*path, key))
    else:
        yield path


def changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    return 1 if value is None else ["added"]


# What can be edited in a report while `verify` says that it cannot be checked: path, and its name.
NOT_CHECKABLE_PARTS = [
    (r"package", "package"),
    (r"inputs\..*", "inputs"),
    (r"problems\..*", "problems"),
    (r"equal\..*", "equal"),
    (r"tables\.\w+\.data\..*", "data"),
    (r"tables\.\w+\.data", "data"),
    (r"tables\.\w+\.runs\..*", "runs"),
    (r"tables\.\w+\.runs", "runs"),
    (r"tables\.\w+\.counts\.malformed", "counts.malformed"),
    (r"tables\.\w+\.tasks\.\w+\.copies", "tasks.*.copies"),
    # Where one task's is not known, the sum is not either, whatever the others say.
    (r"tables\.\w+\.signature\.tasks\.\w+\.(asked|kept)", "signature"),
]


# Figures follow from the samples alone, so that an edit of one leaves the others as they were.
FIGURES = {"official", "accuracy", "strict", "parts"}


def together(path):
    """Return what the leaves have in common that are edited in one copy, else the path."""
    if path[0] == "tables" and (path[2] in FIGURES or path[2:4] == ("reasoning", "other")):
        return path[:3]
    return path


def edits(value):
    """Yield paths, and a copy of a JSON object in which what is there was changed or removed.

    Of a list that stands beside the tables two entries are edited; the others are like them.
    """
    text = json.dumps(value)
    copies = {}
    for path in leaves(value):
        if not (path[0] != "tables" and isinstance(path[-2:][0], int) and path[-2] > 1):
            copies.setdefault(together(path), []).append(path)
    for paths in copies.values():
        for remove in (False, True):
            edited, done = json.loads(text), []
            for path in paths:
                *before, last = path
                place = edited
                for key in before:
                    place = place[key]
                if not remove:
                    place[last] = changed(place[last])
                elif place[last] in (None, [], {}):
                    continue  # nothing is lost
                else:
                    del place[last]
                done.append(path)
            if done:
                yield done, edited


def test_every_leaf_of_a_report_is_checked_or_said_not_to_be(rich, monkeypatch):
    folder = read_scored_folder(rich)
    assert [check for check in check_scored(folder) if check.status == DIFFERENT] == []
    names = {".".join(map(str, path)) for path in leaves(folder.report)}
    for name in (
        "tables.longbench_v1.reasoning.other.official.qmsum",
        "tables.longbench_v1.tasks.longbench_v1_qmsum.rougeL_google",
        "tables.longbench_v1_e.tasks.longbench_v1_e_gov_report.score_otherwise",
        "tables.longbench_v2.reasoning.other.official.compensated.hard",
        "tables.longbench_v2.accuracy.overall",
        "tables.longbench_pro.reasoning.answers",
        "tables.longbench_pro.counts.reasoned",
        "tables.longbench_pro.tasks.longbench_pro_t3_2.copies",
    ):
        assert name in names
    # One table at a time, and without the other copy of its figures in scores.json.
    rows = list(read_samples(rich / "samples.jsonl"))
    monkeypatch.setattr(module, "_scores", lambda folder: ())
    passed = []
    for table, entry in folder.report["tables"].items():
        own = [(line, sample) for line, sample in rows if sample["table"] == table]
        monkeypatch.setattr(module, "read_samples", lambda path, own=own: own)
        rest = folder.report if table == "longbench_v1_e" else {"format": 1}
        for paths, edited in edits({**rest, "tables": {table: entry}}):
            checks = list(check_scored(ScoredFolder(rich, edited)))
            found = {check.name for check in checks if check.status == DIFFERENT}
            if len(paths) > 1:  # each is found by its own name
                passed += {".".join(map(str, path[2:])) for path in paths} - found
                continue
            if found:
                continue
            name = ".".join(map(str, paths[0]))
            said = [own for part, own in NOT_CHECKABLE_PARTS if re.fullmatch(part, name)]
            unsure = {check.name for check in checks if check.status == NOT_CHECKABLE}
            if not said or said[0] not in unsure:
                passed.append(name)
    assert passed == []


@pytest.mark.parametrize(
    ("place", "name", "status"),
    [
        (("tables", "longbench_v1"), "official_dropped", NOT_CHECKABLE),
        ((), "extra", NOT_CHECKABLE),
        (("tables", "longbench_v2", "accuracy"), "added", DIFFERENT),
        (("tables", "longbench_v2", "official"), "added", DIFFERENT),
        (("tables", "longbench_v1", "reasoning", "other", "official"), "lcc2", DIFFERENT),
        (("tables", "longbench_v1", "tasks", "longbench_v1_lcc"), "rougeL_google", DIFFERENT),
        (("tables", "longbench_v1", "counts"), "unparsed", DIFFERENT),
        (("tables", "longbench_v1"), "strict", DIFFERENT),
    ],
)
def test_what_was_added_is_named(rich, place, name, status):
    folder = read_scored_folder(rich)
    report = json.loads(json.dumps(folder.report))
    own = report
    for key in place:
        own = own[key]
    assert name not in own
    own[name] = {"overall": 99.9} if status == NOT_CHECKABLE else 3
    checks = list(check_scored(ScoredFolder(rich, report)))
    called = ".".join((*place[2:], name))
    table = place[1] if place else ""
    (found,) = [check for check in checks if (check.place, check.name) == (table, called)]
    assert found.status == status


def test_an_edited_worth_under_the_other_policy(rich, tmp_path):
    shutil.copytree(rich, tmp_path / "scored")

    def edit(rows):
        row = next(row for row in rows if "with_reasoning" in row)
        row["with_reasoning"]["score"] = 1.0

    edit_samples(tmp_path / "scored", edit)
    found = {name for _, name in different(tmp_path / "scored")}
    assert {"reasoning.other.official.qmsum", "tasks.longbench_v1_qmsum.score_otherwise"} <= found


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
