"""What a user is told of a scored input."""

import pytest
from prediction_rows import STAMP, log_row, v1_doc, v1_row, v2_row, write_lines

from lm_eval_longbench.cli.score import SHOWN, notes_of, warnings_of
from lm_eval_longbench.scoring.score import score_paths

QASPER = "longbench_v1_qasper"


@pytest.fixture
def report(tmp_path):
    """The report on files: report({name: rows})."""

    def run(files, **options):
        for name, rows in files.items():
            write_lines(tmp_path / "in" / name, *rows)
        return score_paths(tmp_path / "in", tmp_path / "out", **options)

    return run


def test_nothing_is_said_of_a_whole_dataset(report):
    found = report({"pred/qasper.jsonl": [v1_row("x", "x", length=n) for n in range(200)]})
    assert warnings_of(found) == []
    assert notes_of(found) == ["longbench_v1: 20 of 21 tasks are not in the input"]


def test_of_each_kind_twenty_are_shown_and_all_counted(report):
    rows = [v2_row("q")] * 30 + ["{"] * 25 + [{**v2_row(f"q{n}"), "pred": "A"} for n in range(22)]
    found = warnings_of(report({"m.jsonl": rows}))
    assert [line for line in found if line.startswith("...")] == [
        "... and 5 more malformed lines",
        "... and 9 more duplicates",
        "... and 2 more differing letters",
    ]
    assert sum(line.startswith("malformed, not scored: ") for line in found) == SHOWN
    assert found[-1] == "longbench_v2: 480 of the official 503 questions are missing"


def test_rows_of_prediction_files_are_compared_file_by_file(report):
    found = report(
        {
            "a/pred/qasper.jsonl": [v1_row("x", "x")] * 201,
            "b/pred/qasper.jsonl": [v1_row("y", "x")] * 199 + ["{"],
        }
    )
    said = warnings_of(found)
    assert "qasper: 201 rows instead of the official 200" in said
    assert sum("instead of" in line for line in said) == 1  # malformed lines are rows too
    assert f"{QASPER}: 1 of the official 200 questions are missing" not in said
    assert (
        notes_of(found)[0]
        == "longbench_v1: merged from 2 runs, counted as one model's: in/a/pred, in/b/pred"
    )


def test_tasks_of_logs_that_lack_questions(report):
    row = log_row(QASPER, v1_doc(QASPER, 0, "x"), "x")
    found = report({f"samples_{QASPER}_{STAMP}.jsonl": [row]})
    assert warnings_of(found) == [f"{QASPER}: 199 of the official 200 questions are missing"]


def test_of_the_sample_nothing_is_missing(report):
    row = log_row(QASPER, v1_doc(QASPER, 0, "x"), "x", data="sample-1")
    found = report({f"samples_{QASPER}_{STAMP}.jsonl": [row]})
    assert (warnings_of(found), notes_of(found)) == ([], [])


def test_of_many_runs_the_first_are_named(report):
    found = report({f"{number}/m.jsonl": [v2_row("q", "ABCDA"[number % 5])] for number in range(4)})
    (note,) = notes_of(found)
    assert note == (
        "longbench_v2: merged from 4 runs, counted as one model's: "
        "in/0/m.jsonl, in/1/m.jsonl, in/2/m.jsonl, in/3/m.jsonl"
    )
    rows = {
        f"{number}/m.jsonl": [v2_row("q", sub_domain=None), v2_row(number)] for number in range(7)
    }
    (note,) = notes_of(report(rows))
    assert note.endswith("in/4/m.jsonl, ...")
