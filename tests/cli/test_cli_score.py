"""Prediction files scored from the command line."""

import json
from pathlib import Path

import pytest

from lm_eval_longbench.errors import LongBenchError, PredictionError, UnknownNameError

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
            row("<think>Emma", "Emma", length=8000),  # 0 and failed
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
    assert samples == [{**sample, "score": pytest.approx(sample["score"])} for sample in V1_SAMPLES]
    assert sorted(path.name for path in output.iterdir()) == ["samples.jsonl", "scores.json"]
    assert f"written: {output / 'scores.json'}, {output / 'samples.jsonl'}" in result.stdout


def test_the_table_shows_figures_and_what_was_not_scored(invoke, predictions, tmp_path):
    with (predictions / "hotpotqa.jsonl").open("a") as handle:
        handle.write("{\n[]\n")
    result = invoke("score", predictions, "--benchmark", "v1", "--output", tmp_path / "out")
    cells = [
        [cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")]
        for line in result.stdout.splitlines()
        if line[:1] in "│┃" and line
    ]
    # dataset, score, scored, failed, malformed, official rows
    assert ["hotpotqa", "55.56", "3", "1", "2", "200"] in cells
    assert ["trec", "75.00", "2", "0", "0", "200"] in cells
    assert ["repobench-p", "50.00", "2", "1", "0", "500"] in cells


def test_an_empty_bucket_is_a_dash(invoke, predictions, tmp_path):
    result = invoke("score", predictions, "--benchmark", "v1_e", "--output", tmp_path / "out")
    (line,) = (line for line in result.stdout.splitlines() if "trec" in line)
    assert [cell.strip() for cell in line.strip("│").split("│")][:4] == ["trec", "75.00", "-", "-"]


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository")
@pytest.mark.parametrize("benchmark", FOLDERS)
def test_published_results(invoke, tmp_path, benchmark):
    """The public runs of the official scripts, all datasets: equal to their own result.json."""
    result = invoke("score", FOLDERS[benchmark], "--benchmark", benchmark, "--output", tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    scores, samples = results(tmp_path)
    assert scores == json.loads((FOLDERS[benchmark] / "result.json").read_text())
    assert len(samples) == {"v1": 4750, "v1_e": 3668}[benchmark]
    for name in scores:
        own = [sample for sample in samples if sample["dataset"] == name]
        expected = json.loads((FOLDERS[benchmark] / f"{name}.scores.json").read_text())
        assert [sample["score"] for sample in own] == pytest.approx(expected, abs=1e-9)
        assert [sample["index"] for sample in own] == list(range(len(expected)))


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
        assert b"hotpotqa: 3 rows instead of the official 200" in done[-1].stderr
        assert b"Traceback" not in done[-1].stderr
    for name in ("scores.json", "samples.jsonl"):
        assert (tmp_path / "output0" / name).read_bytes() == (
            tmp_path / "output1" / name
        ).read_bytes()
    assert results(tmp_path / "output0")[0] == V1_SCORES


def test_scored_again_into_the_same_folder(invoke, predictions, tmp_path):
    contents = []
    for _ in range(2):
        invoke("score", predictions, "--benchmark", "v1", "--output", tmp_path / "out")
        contents.append({p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()})
    assert contents[0] == contents[1]
    assert len(contents[0]) == 2


def test_malformed_lines_are_counted_and_not_scored(invoke, tmp_path):
    folder = write(
        tmp_path / "predictions",
        qasper=[row("Emma", "Emma"), "{", "", {"pred": "x"}, row("Bob", "Emma")],
    )
    result = invoke("score", folder, "--benchmark", "v1", "--output", tmp_path / "out")
    assert result.exit_code == 0
    scores, samples = results(tmp_path / "out")
    assert scores == {"qasper": 50.0}
    assert [sample["index"] for sample in samples] == [0, 3]
    assert "warning: malformed, not scored: qasper.jsonl, line 2: not JSON (" in result.stderr
    assert "qasper.jsonl, line 4: no field 'answers'" in result.stderr
    # The malformed ones are rows too.
    assert "warning: qasper: 4 rows instead of the official 200" in result.stderr


def test_of_many_malformed_lines_some_are_shown_and_all_counted(invoke, tmp_path):
    folder = write(tmp_path / "predictions", qasper=["{"] * 50 + [row("Emma", "Emma")])
    result = invoke("score", folder, "--benchmark", "v1", "--output", tmp_path / "out")
    assert result.stderr.count("malformed, not scored") == 20
    assert "warning: ... and 30 more malformed lines" in result.stderr
    (line,) = (line for line in result.stdout.splitlines() if "qasper" in line)
    assert "50" in line


def test_strict_fails_and_writes_nothing(script, tmp_path):
    folder = write(tmp_path / "predictions", qasper=[row("Emma", "Emma"), "{"], trec=["[]"])
    output = tmp_path / "out"
    done = script("score", folder, "--benchmark", "v1", "--output", output, "--strict")
    assert done.returncode == 1
    message = done.stderr.decode()
    assert message.startswith("error: 2 malformed lines, and --strict is on; nothing was written.")
    assert "qasper.jsonl, line 2: not JSON" in message
    assert "trec.jsonl, line 1: not a JSON object" in message
    assert "Traceback" not in message
    assert [path for path in output.rglob("*") if path.is_file()] == []


def test_strict_leaves_earlier_results(invoke, raised, predictions, tmp_path):
    arguments = ("score", predictions, "--benchmark", "v1", "--output", tmp_path / "out")
    assert invoke(*arguments, "--strict").exit_code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    write(predictions, qasper=["{"])
    error = raised(*arguments, "--strict")
    assert isinstance(error, PredictionError)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_the_official_row_count_is_no_warning(invoke, tmp_path):
    folder = write(tmp_path / "predictions", qasper=[row("Emma", "Emma")] * 224)
    result = invoke("score", folder, "--benchmark", "v1_e", "--output", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (0, "")
    result = invoke("score", folder, "--benchmark", "v1", "--output", tmp_path / "out")
    assert result.stderr == "warning: qasper: 224 rows instead of the official 200\n"


def test_a_file_of_no_dataset_is_named(invoke, predictions, tmp_path):
    write(predictions, qaspr=["{"], hotpotqa_e=[row("x", "x")])
    result = invoke("score", predictions, "--benchmark", "v1", "--output", tmp_path / "out")
    assert "warning: qaspr.jsonl is no dataset of v1; not scored" in result.stderr
    assert "warning: hotpotqa_e.jsonl is no dataset of v1; not scored" in result.stderr
    assert results(tmp_path / "out")[0] == V1_SCORES


def test_an_unknown_benchmark_names_the_nearest(raised, predictions, tmp_path):
    error = raised("score", predictions, "--benchmark", "v1-e", "--output", tmp_path / "out")
    assert isinstance(error, UnknownNameError)
    assert "Did you mean 'v1_e'?" in str(error)
    assert not (tmp_path / "out").exists()


def test_a_missing_folder(script, tmp_path):
    done = script("score", tmp_path / "none", "--benchmark", "v1", "--output", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr.decode().startswith(f"error: {tmp_path / 'none'} is not a folder")
    assert not (tmp_path / "out").exists()


def test_a_folder_without_predictions(raised, tmp_path):
    (tmp_path / "empty").mkdir()
    error = raised("score", tmp_path / "empty", "--benchmark", "v1", "--output", tmp_path / "out")
    assert isinstance(error, PredictionError)
    assert not (tmp_path / "out").exists()


def test_an_output_that_is_a_file(script, predictions, tmp_path):
    (tmp_path / "out").write_text("mine")
    done = script("score", predictions, "--benchmark", "v1", "--output", tmp_path / "out")
    assert done.returncode == 1
    assert b"cannot be written" in done.stderr
    assert b"Traceback" not in done.stderr
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.parametrize("name", ["samples.jsonl", "scores.json"])
def test_a_folder_under_the_name_of_a_result(raised, predictions, tmp_path, name):
    (tmp_path / "out" / name).mkdir(parents=True)
    error = raised("score", predictions, "--benchmark", "v1", "--output", tmp_path / "out")
    assert isinstance(error, LongBenchError)
    assert f"{tmp_path / 'out' / name} cannot be written" in str(error)


def test_a_name_with_brackets_is_printed_as_it_is(invoke, predictions, tmp_path):
    write(predictions, **{"[red]x": ["{}"]})
    result = invoke("score", predictions, "--benchmark", "v1", "--output", tmp_path / "out")
    assert "warning: [red]x.jsonl is no dataset of v1" in result.stderr
