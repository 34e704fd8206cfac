"""Predictions and sample logs scored from the command line."""

import json
import re
from pathlib import Path

import pytest
from prediction_rows import log_row, pro_row, v1_doc, v1_row, v2_row, write_lines

from lm_eval_longbench.cli.score import SHOWN, notes_of, warnings_of
from lm_eval_longbench.scoring.score import score_paths

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"
FOLDERS = {
    "v1": GOLDEN / "longbench_v1" / "llama3-8b-instruct",
    "v1_e": GOLDEN / "longbench_v1_e" / "llama2-7b-chat-4k",
}


def row(pred, *answers, length=1, classes=None):
    return {"pred": pred, "answers": list(answers), "all_classes": classes, "length": length}


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, rows in files.items():
        lines = [line if isinstance(line, str) else json.dumps(line) for line in rows]
        path = folder / f"{name.replace('repobench_p', 'repobench-p')}.jsonl"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


@pytest.fixture
def predictions(tmp_path):
    """A small folder; every figure below is worked out by hand."""
    return write(
        tmp_path / "predictions",
        repobench_p=[row("`\nreturn x", "return x", length=9000), row("", "x", length=10)],
        hotpotqa=[
            row("the Emma", "Emma", length=3999),  # 1
            row("Emma Smith", "Bob", "Emma", length=4000),  # 2/3
            row(" ", "Emma", length=8000),  # 0 and failed
        ],
        trec=[
            row("\nHuman or Animal\nOther", "Human", classes=["Human", "Animal", "Other"]),  # 1/2
            row("Human", "Human", classes=["Human", "Animal", "Other"]),  # 1
        ],
    )


V1_SCORES = {"hotpotqa": 55.56, "trec": 75.0, "repobench-p": 50.0}
V1_SAMPLES = [
    {"dataset": "hotpotqa", "index": 0, "score": 1.0},
    {"dataset": "hotpotqa", "index": 1, "score": 2 / 3},
    {"dataset": "hotpotqa", "index": 2, "score": 0.0},
    {"dataset": "trec", "index": 0, "score": 0.5},
    {"dataset": "trec", "index": 1, "score": 1.0},
    {"dataset": "repobench-p", "index": 0, "score": 1.0},
    {"dataset": "repobench-p", "index": 1, "score": 0.0},
]
E_SCORES = {
    "hotpotqa": {"0-4k": 100.0, "4-8k": 66.67, "8k+": 0.0},
    "trec": {"0-4k": 75.0, "4-8k": None, "8k+": None},
    "repobench-p": {"0-4k": 0.0, "4-8k": None, "8k+": 100.0},
}


def cells(text):
    """The figures of each line, by its first words."""
    found = (re.split(r"  +", line, maxsplit=1) for line in text.splitlines())
    return {row[0]: row[1] for row in found if len(row) == 2}


def results(folder):
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    lines = (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    return scores, [json.loads(line) for line in lines]


@pytest.mark.parametrize(("benchmark", "expected"), [("v1", V1_SCORES), ("v1_e", E_SCORES)])
def test_hand_made_figures(invoke, predictions, tmp_path, benchmark, expected):
    output = tmp_path / "deep" / "output"
    result = invoke("score", predictions, "--benchmark", benchmark, "--output", output)
    assert result.exit_code == 0, result.output
    scores, samples = results(output)
    assert scores == expected
    assert list(scores) == list(expected)
    kept = [{key: sample[key] for key in ("dataset", "index", "score")} for sample in samples]
    assert kept == [{**sample, "score": pytest.approx(sample["score"])} for sample in V1_SAMPLES]
    assert {sample["table"] for sample in samples} == {f"longbench_{benchmark}"}
    names = ["report.json", "samples.jsonl", "scores.json"]
    assert sorted(path.name for path in output.iterdir()) == names
    assert f"written: {output / 'scores.json'}, {output / 'samples.jsonl'}, " in result.stdout
    assert re.search(rf"^longbench_{benchmark}: lb-.*\|k:1\|n:", result.stdout, re.MULTILINE)


def test_the_screen_is_the_end_of_a_run_without_intervals(invoke, predictions, tmp_path):
    with (predictions / "hotpotqa.jsonl").open("a") as handle:
        handle.write("{\n[]\n")
    result = invoke("score", predictions, "--benchmark", "v1", "--output", tmp_path / "out")
    found = cells(result.stdout)
    assert found["LongBench v1"] == "hotpotqa 55.56, trec 75.00, repobench-p 50.00"
    assert found["official protocol"].startswith("no, because: it is incomplete: longbench_v1_ho")
    assert found["answers"].startswith("7: 2 failed, truncated not known")
    assert "18 of 21 tasks are not in it, so that these have no value: English, " in result.stdout


def test_the_script_gives_the_same_bytes_every_time(script, predictions, tmp_path):
    done = []
    for number in range(2):
        output = tmp_path / f"output{number}"
        done.append(
            script(
                *("score", predictions, "--benchmark", "v1", "--output", output),
                PYTHONHASHSEED=str(number),
            )
        )
        assert done[-1].returncode == 0, done[-1].stderr
        assert b"Traceback" not in done[-1].stderr
    for name in ("scores.json", "samples.jsonl"):
        assert (tmp_path / "output0" / name).read_bytes() == (
            tmp_path / "output1" / name
        ).read_bytes()
    assert results(tmp_path / "output0")[0] == V1_SCORES


def test_without_an_output_figures_are_shown_and_nothing_is_written(script, tmp_path):
    folder = tmp_path / "pred"
    folder.mkdir()
    for file in FOLDERS["v1"].glob("qasper.jsonl"):
        (folder / file.name).write_bytes(file.read_bytes())
    before = sorted(tmp_path.rglob("*"))
    shown = script("score", folder, "--benchmark", "v1")
    assert shown.returncode == 0, shown.stderr
    assert sorted(tmp_path.rglob("*")) == before
    written = script("score", folder, "--benchmark", "v1", "--output", tmp_path / "scored")
    *figures, last = shown.stdout.decode().splitlines()
    assert last == "not written: give --output FOLDER for report, verify and leaderboard"
    *same, last = written.stdout.decode().splitlines()
    assert figures == same and "qasper" in shown.stdout.decode()
    assert last.startswith("written: ")


@pytest.fixture
def mixed(tmp_path):
    """A bit of everything, none of it named."""
    folder = tmp_path / "mixed"
    write_lines(folder / "v2.jsonl", v2_row("q1"), {**v2_row("q2"), "pred": "A"}, v2_row("q1"))
    write_lines(folder / "m_inference_1.jsonl.gz", pro_row("q", bon_idx=2), packed=True)
    summary = pro_row("s", "a summary", code="t4_1", answer=["A summary."])
    write_lines(folder / "m_inference_2.jsonl", summary)
    for name in ("one", "two"):
        task = "longbench_v1_qasper"
        row = log_row(task, v1_doc(task, 0, "Emma"), "Emma" if name == "one" else "Bob")
        write_lines(folder / name / f"samples_{task}_2025-01-01T00-00-00.5.jsonl", row)
    write_lines(folder / "notes.jsonl", {"a": 1})
    return folder


def test_what_it_is_given_is_recognised(invoke, mixed, tmp_path):
    """One folder with all of it, or its parts in another order: the same."""
    parts = [mixed / name for name in ("two", "v2.jsonl", "one")]
    outputs = []
    for number, paths in enumerate(([mixed], parts, parts[::-1])):
        result = invoke("score", *paths, "--output", tmp_path / str(number))
        assert result.exit_code == 0, result.output
        outputs.append(
            (result, {p.name: p.read_bytes() for p in (tmp_path / str(number)).iterdir()})
        )
    result, files = outputs[0]
    scores = json.loads(files["scores.json"])
    assert list(scores) == ["longbench_v1", "longbench_v2", "longbench_pro"]
    assert scores["longbench_v1"] == {"qasper": 50.0}
    assert outputs[1][1] == outputs[2][1]
    found = cells(result.stdout)
    assert found["LongBench v1"] == "qasper 50.00"
    assert found["LongBench v2"].startswith("overall 100.0")
    assert (
        "note: longbench_v1: merged from 2 runs, counted as one model's: mixed/one "
        "2025-01-01T00-00-00.5, " in result.stdout
    )
    for line in (
        "mixed/notes.jsonl is not recognised as predictions; not scored",
        "duplicate, not scored: mixed/v2.jsonl, line 3: longbench_v2, question 'q1', answer 1 is",
        "another letter is stored than is read: mixed/v2.jsonl, line 2: question 'q2': stored 'A'",
        "longbench_pro: 1 summaries (T4) have no score",
    ):
        assert f"warning: {line}" in result.stderr
    assert "longbench_v2 has 2 of 503 questions" in result.stdout
    assert "longbench_pro_t3_2 has 1 of 60 questions" in result.stdout


# ---------------------------------------------------------------------- warnings and notes


@pytest.fixture
def report(tmp_path):
    """The report on files: report({name: rows})."""

    def run(files):
        for name, rows in files.items():
            write_lines(tmp_path / "in" / name, *rows)
        return score_paths(tmp_path / "in", tmp_path / "out", workers=1)

    return run


def test_of_each_kind_twenty_are_shown_and_all_counted(report):
    rows = [v2_row("q")] * 30 + ["{"] * 25 + [{**v2_row(f"q{n}"), "pred": "A"} for n in range(22)]
    found = warnings_of(report({"m.jsonl": rows}))
    assert [line for line in found if line.startswith("...")] == [
        "... and 5 more malformed lines",
        "... and 9 more duplicates",
        "... and 2 more differing letters",
    ]
    assert sum(line.startswith("malformed, not scored: ") for line in found) == SHOWN


def test_of_many_runs_the_first_are_named(report):
    files = {f"{n}/pred/qasper.jsonl": [v1_row("x", "x", length=n)] for n in range(6)}
    (note,) = notes_of(report(files))
    assert note.startswith("longbench_v1: merged from 6 runs, counted as one model's: in/0/pred, ")
    assert note.endswith("in/4/pred, ...")
