"""Settings are no repeats of each other, and equal results are one result: with real runs."""

import json
import os
import re
import shlex

import pytest
from fault_server import FaultServer
from real_runs import EXTRACTIVE, AnsweringLM, Files, write_run
from typer.testing import CliRunner

import lm_eval_longbench as lb
from lm_eval_longbench.cli.main import app
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.scoring.score import score_paths

QASPER, TREC, V2 = "longbench_v1_qasper", "longbench_v1_trec", "longbench_v2"


def said(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


# Where a user has two runs put their output.
PLACES = {
    "one folder": ("results", "results"),
    "a name for the file": ("out/x.json", "out/x.json"),
    "nested": ("deep/a", "deep/b/c"),
}


@pytest.fixture(params=[*PLACES, "predicted only"])
def mixed(request, tmp_path, tokenizer_folder):
    """One model, the prompts once whole and once cut; the folder that a user names."""
    places = PLACES.get(request.param, ("results", "results"))
    only = {"predict_only": True} if request.param == "predicted only" else {}
    for place, options in zip(places, ({}, {"truncate_to": 500}), strict=True):
        options = {**options, "tokenizer": tokenizer_folder}
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        write_run(tmp_path / place, EXTRACTIVE, [QASPER], options, **only)
    return tmp_path / places[0].partition("/")[0]


def test_two_limits_are_refused_wherever_they_lie(mixed, tmp_path):
    """11.25 whole and 0.00 cut were averaged to 5.62."""
    for arguments in (
        ("score", mixed, "--output", tmp_path / "out"),
        ("score", mixed, "--output", tmp_path / "out", "--official", tmp_path / "official"),
        ("report", mixed),
    ):
        error = said(*arguments).exception
        assert isinstance(error, PredictionError) and error.status == 2
        text = str(error)
        assert f"{QASPER} was run in two settings" in text and "limit: no limit and 500 (" in text
        named = re.search(r"They are in (\S+) and (\S+)\. Nothing", text).groups()
        found = sorted(path for path in mixed.rglob("*.json") if "_20" in path.name)
        assert sorted(os.path.abspath(name) for name in named) == [str(path) for path in found]
    assert not (tmp_path / "out" / "report.json").exists()
    assert not (tmp_path / "official").exists()
    with pytest.raises(PredictionError, match="no repeats of one another"):
        lb.report(mixed)
    # What the message advises puts them side by side.
    (advice,) = re.findall(r"side by side: `lm-eval-longbench (compare [^`]+)` \(", text)
    compared = said(*shlex.split(advice))
    assert compared.exit_code == 2
    assert "B - A -8.47" in compared.stdout and "limit: no limit | 500" in compared.stdout
    beside = said("report", *shlex.split(advice)[1:], "--format", "json")
    assert beside.exit_code == 0
    (benchmark,) = json.loads(beside.stdout)["benchmarks"]
    (row,) = [row for row in benchmark["figures"] if row["name"] == "qasper"]
    assert [own["value"] for own in row["figures"]] == pytest.approx([11.25, 2.78], abs=0.005)


def test_a_leaderboard_refuses_a_folder_with_two_settings(tmp_path, tokenizer_folder, monkeypatch):
    """Its page names the files as they lie in the folder, wherever the command is started."""
    for options in ({}, {"truncate_to": 500}):
        write_run(tmp_path / "sub", EXTRACTIVE, [V2], {"tokenizer": tokenizer_folder, **options})
    write_run(tmp_path / "good", EXTRACTIVE, [V2])
    pages = []
    for place in (tmp_path, tmp_path / "elsewhere"):
        place.mkdir(exist_ok=True)
        monkeypatch.chdir(place)
        words = ("--output", "site", "--data-dir", "sample", "--tokenizer", tokenizer_folder)
        done = said("leaderboard", tmp_path / "sub", tmp_path / "good", *words)
        assert done.exit_code == 2, done.output
        assert f"not shown: sub: {V2} was run in two settings" in done.output
        assert "limit: no limit and 500" in done.output
        (advice,) = re.findall(r"side by side: `lm-eval-longbench (compare [^`]+)` \(", done.output)
        assert "B - A" in said(*shlex.split(advice)).stdout
        assert "1 of 2 runs confirmed" in done.output
        pages.append((place / "site" / "index.html").read_bytes())
    assert pages[0] == pages[1]
    assert b"elsewhere" not in pages[1] and b"../sub" not in pages[1]


def answering(*texts):
    return AnsweringLM(lambda number, prompt: texts[number % len(texts)])


def test_runs_that_differ_in_their_answers_alone_are_repeats(tmp_path):
    for texts in (("a", "b"), ("c", ""), ("d",)):
        write_run(tmp_path, answering(*texts), [QASPER])
    report = score_paths([tmp_path], tmp_path / "out")
    table = report["tables"]["longbench_v1"]
    assert (table["repeats"], len(table["runs"]), "equal" in report) == (3, 3, False)


def test_two_parts_of_one_run_are_merged(tmp_path, tokenizer_folder):
    """Of one of them nothing is cut, so that it names no tokenizer."""
    options = {"tokenizer": tokenizer_folder, "truncate_to": 800}
    for chosen in ([0, 1], [2, 3]):
        write_run(tmp_path, answering("x"), [TREC], options, samples={TREC: chosen})
    table = score_paths([tmp_path], tmp_path / "out")["tables"]["longbench_v1"]
    assert (table["counts"]["questions"], table["repeats"]) == (4, 1)


def test_the_parts_differ_in_what_they_name(tmp_path, tokenizer_folder):
    """The chat template, the data of a preset and the sampling are settings as well."""
    write_run(tmp_path / "a", answering("x"), [V2])
    write_run(tmp_path / "b", answering("x"), [V2], apply_chat_template=True)
    with pytest.raises(PredictionError, match="chat: off and on"):
        score_paths([tmp_path], tmp_path / "out")
    write_run(tmp_path / "c", answering("x"), [V2], gen_kwargs={"max_gen_toks": 5})
    with pytest.raises(PredictionError, match="generation: max_gen_toks 128 and max_gen_toks 5"):
        score_paths([tmp_path / "a", tmp_path / "c"], tmp_path / "out")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"dtype": "float16"}, "dtype float32 and dtype float16"),
        ({"revision": "x", "seed": 7}, "dtype float32, revision - and dtype -, revision x"),
        ("pretrained=tiny,load_in_4bit=True", "dtype float32, load_in_4bit - and"),
    ],
)
def test_one_model_at_two_precisions_is_two_models(tmp_path, given, named):
    """What else is given to the model, such as another batch size or seed, keeps no run apart."""
    runs = {"a": {"dtype": "float32"}, "b": {"dtype": "float32", "batch_size": 2, "seed": 9}}
    for name, own in {**runs, "c": given}.items():
        folder = Files(write_run(tmp_path / name, answering(name), [QASPER]))
        own = own if isinstance(own, str) else {"pretrained": "tiny", **own}
        folder.edit_results(lambda whole, own=own: whole["config"].update(model_args=own))
        folder.edit_results(lambda whole: whole.update(model_name="tiny"))
    table = score_paths([tmp_path / "a", tmp_path / "b"], tmp_path / "out")["tables"]
    assert table["longbench_v1"]["repeats"] == 2
    with pytest.raises(PredictionError, match=f"model_args: {named}.*another model"):
        score_paths([tmp_path / "a", tmp_path / "c"], tmp_path / "out")


def test_two_policies_for_reasoning_are_no_repeats(tmp_path):
    """Equal answers, scored with and without their reasoning: --reasoning scores both alike."""
    for name, policy in (("a", "drop"), ("b", "keep")):
        write_run(tmp_path / name, EXTRACTIVE, [QASPER], {"reasoning": policy})
    with pytest.raises(PredictionError, match=r"reasoning: drop and keep .*--reasoning"):
        score_paths([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    table = score_paths([tmp_path / "a", tmp_path / "b"], tmp_path / "out", reasoning="keep")
    assert table["tables"]["longbench_v1"]["repeats"] == 1


# ---------------------------------------------------------------------- equal results


def test_predictions_of_a_scored_run_count_once(tmp_path):
    """In either order; those that have one more answer are a repeat."""
    whole, (scored, first) = (
        write_run(tmp_path / "whole", answering("BM25"), [QASPER]),
        (tmp_path / "a", tmp_path / "b"),
    )
    for folder, order in ((scored, (False, True)), (first, (True, False))):
        for only in order:
            write_run(folder, answering("BM25"), [QASPER], predict_only=only)
        report = score_paths([folder], tmp_path / f"out {folder.name}")
        assert (report["tables"]["longbench_v1"]["repeats"], len(report["equal"])) == (1, 1)
        assert lb.verify_results(folder).exit_status == 0
        compared = said("compare", folder, whole)
        assert compared.exit_code == 0 and "comparable (1 shared task)" in compared.stdout
    write_run(scored, answering("x"), [QASPER], predict_only=True)
    table = score_paths([scored], tmp_path / "other")["tables"]["longbench_v1"]
    assert table["repeats"] == 2


def test_a_trial_that_was_answered_otherwise_is_named(tmp_path):
    """`compare` said "asked: 8 | 6", and nothing of --limit."""
    for limit, text in ((2, "x"), (None, "y")):
        write_run(tmp_path / "both", answering(text), [QASPER], limit=limit)
    trial = write_run(tmp_path / "trial", answering("x"), [QASPER], limit=2)
    whole = write_run(tmp_path / "whole", answering("y"), [QASPER])
    compared = said("compare", tmp_path / "both", whole)
    assert compared.exit_code == 2
    (line,) = [own for own in compared.stdout.splitlines() if own.startswith("  runs: ")]
    assert "(2 questions), " in line and " | 4 questions: " in line and "--limit" in line
    named = re.search(r"(\S+) \(4 questions\)", line)[1]
    alone = said("compare", named, whole)
    assert alone.exit_code == 0 and "\ncomparable (1 shared task)" in alone.stdout
    part = said("compare", trial, whole)
    assert part.exit_code == 2 and "  questions: 2, " in part.stdout
    assert "without --limit asks the rest" in part.stdout and "asked:" not in part.stdout
    (tmp_path / "named").mkdir()
    dated = next(iter(whole.rglob("results_*.json")))
    dated.rename(tmp_path / "named" / dated.name.replace("results", "a"))
    missed = said("compare", tmp_path / "named" / "a.json", trial).exception
    assert isinstance(missed, PredictionError)
    assert str(missed).endswith(f"name {next(iter((tmp_path / 'named').iterdir()))}.")


def test_equal_results_count_once_everywhere(tmp_path):
    folder = tmp_path / "results"
    for _ in range(2):
        write_run(folder, EXTRACTIVE, [QASPER, V2])
    one = write_run(tmp_path / "one", EXTRACTIVE, [QASPER, V2])
    scored = said("score", folder, "--output", tmp_path / "out", "--strict")
    assert scored.exit_code == 0, scored.output
    assert "warning" not in scored.stderr
    (note,) = [line for line in scored.stdout.splitlines() if line.startswith("note: 2 ")]
    assert "2 sample logs are equal to others or parts of them and counted once: " in note
    report = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert [table["repeats"] for table in report["tables"].values()] == [1, 1]
    assert report["problems"]["duplicate_total"] == 0
    compared = said("compare", folder, one)
    assert compared.exit_code == 0 and "comparable (2 shared tasks)" in compared.stdout
    verified = lb.verify_results(folder, data_dir="sample")
    assert len({check.file for check in verified.checks}) == 1
    assert len(verified.checks) == len(lb.verify_results(one, data_dir="sample").checks)
    columns = json.loads(lb.report(folder, format="json"))["benchmarks"][0]["columns"]
    assert [column["repeats"] for column in columns] == [1]


def test_a_trial_before_the_whole_run_is_no_repeat_of_it(tmp_path):
    """With --limit first the questions had one answer or two, and half of `strict` was lost."""
    write_run(tmp_path / "both", EXTRACTIVE, [QASPER, V2], limit=2)
    for folder in ("both", "whole"):
        write_run(tmp_path / folder, EXTRACTIVE, [QASPER, V2])
    both, whole = (
        score_paths([tmp_path / folder], tmp_path / f"scored {folder}")
        for folder in ("both", "whole")
    )
    for table in (*both["tables"].values(), *whole["tables"].values()):
        table["runs"] = len(table["runs"])
    assert both["tables"] == whole["tables"]
    assert len(both["equal"]) == 2 and "equal" not in whole
    # Another answer in the trial is a repeat.
    write_run(tmp_path / "other", answering("x"), [QASPER], limit=2)
    write_run(tmp_path / "other", answering("y"), [QASPER])
    report = score_paths([tmp_path / "other"], tmp_path / "scored other")
    assert (report["tables"]["longbench_v1"]["repeats"], "equal" in report) == (2, False)


def run_of(processes, folder, *arguments):
    words = ("lm-eval-longbench", "run", "--output_path", "results", "--log_samples", *arguments)
    environment = {**os.environ, "HF_DATASETS_CACHE": str(folder / "cache"), "HF_HUB_OFFLINE": "1"}
    done = processes.run(*words, cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_finished_run_writes_nothing_new(tmp_path, processes):
    """Over a real server, with repeats; and another limit is something new."""
    with FaultServer() as server:
        arguments = (
            *("--model", "longbench-api", "--tasks", "longbench_pro_t3_1", "--apply_chat_template"),
            *("--model_args", f"model=tiny,base_url={server.base},endpoint=chat"),
        )
        sample = json.dumps({"longbench": {"data_dir": "sample", "repeats": 3}})
        first = run_of(processes, tmp_path, *arguments, "--metadata", sample)
        files = Files(tmp_path / "results")
        before = {
            path: path.read_bytes() for path in (files.results, files.log("longbench_pro_t3_1"))
        }
        slower = (*arguments[:-1], f"{arguments[-1]},num_concurrent=3")
        again = run_of(processes, tmp_path, *slower, "--metadata", sample)
        other = json.dumps({"longbench": {"data_dir": "sample", "repeats": 2}})
        run_of(processes, tmp_path, *arguments, "--metadata", other)
        logs = [*(tmp_path / "results").glob("run_*.log")]
        predicted = run_of(processes, tmp_path, *arguments, "--metadata", sample, "--predict_only")
    line = "Nothing new to write: the results are those of "
    # Those of the first and the third.
    assert len(logs) == len([*(tmp_path / "results").glob("run_*.log")]) == 2
    assert line in predicted and "bypass" not in predicted
    assert re.search(r"^answers  \d+ questions, not scored \(--predict_only\)$", predicted, re.M)
    (advice,) = re.findall(r"^next +lm-eval-longbench (score .+)$", predicted, re.M)
    folder = f"score {files_in(before, 'results_').parent.relative_to(tmp_path)}"
    assert advice == folder
    assert line not in first
    (told,) = [own for own in again.splitlines() if line in own]
    assert told.endswith(f"{files_in(before, 'results_').relative_to(tmp_path)}.")
    assert all(path.read_bytes() == text for path, text in before.items())
    assert len([*(tmp_path / "results").rglob("results_*.json")]) == 2
    (tmp_path / "own").mkdir()
    for path in before:
        path.rename(tmp_path / "own" / path.name)
    table = score_paths([tmp_path / "own"], tmp_path / "out")["tables"]["longbench_pro"]
    assert table["repeats"] == 3


def files_in(files, name):
    (found,) = [path for path in files if path.name.startswith(name)]
    return found
