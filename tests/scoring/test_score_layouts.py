"""Users' own names and layouts of runs change no figure and no signature."""

import json

import pytest
from prediction_rows import (
    STAMP,
    log_row,
    pro_row,
    says,
    v1_doc,
    v1_row,
    v2_question,
    v2_row,
    write_lines,
)

from lm_eval_longbench.benchmarks.results import RecordedRuns
from lm_eval_longbench.errors import PredictionError

QASPER = "longbench_v1_qasper"


def results(task, model, **run):
    config = {"metadata": {"longbench_run": {"task": task, "benchmark": "longbench_v1", **run}}}
    return {
        "configs": {task: config},
        "model_name": model,
        "config": {"model": "hf", "model_args": {"pretrained": model}},
    }


def write_run(folder, stem, answer, model="org/one", packed=False, stamp=STAMP, **run):
    name = f"samples_{QASPER}_{stamp}.jsonl" + (".gz" if packed else "")
    row = log_row(QASPER, v1_doc(QASPER, 0, "x"), answer)
    path = write_lines(folder / name, row, packed=packed)
    data = json.dumps(results(QASPER, model, **run)).encode()
    place = folder / f"{stem}_{stamp}.json"
    place.write_bytes(data)
    return path


@pytest.mark.parametrize("stem", ["results", "my_run", "qwen3_2026-01-01"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_results_file_of_any_name_is_found(score, tmp_path, stem, packed):
    """With --output_path X.json the harness writes X_<moment>.json."""
    log = write_run(tmp_path, stem, "x", limit=3500, packed=packed)
    recorded = RecordedRuns().of(log)
    assert recorded.model == "org/one"
    assert recorded.signature["limit"] == 3500
    table = score(log).report["tables"]["longbench_v1"]
    assert table["signature"]["ingredients"]["limit"] == 3500


def test_two_models_in_one_folder_are_no_repeats_whatever_their_files_are_called(score, tmp_path):
    write_run(tmp_path, "one", "x", "org/one")
    write_run(tmp_path, "two", "y", "org/two", stamp=STAMP.replace("2025", "2026"))
    with pytest.raises(PredictionError, match=r"org/one \(.*\); org/two"):
        score(tmp_path)


def test_two_runs_of_one_unnamed_model_are_repeats(score, tmp_path):
    for number, name in enumerate(("quiet-lake-17", "loud-hill-2")):
        stamp = STAMP.replace("2025", f"202{number}")
        write_run(tmp_path, "results", f"x {number}", name, stamp=stamp)
        place = tmp_path / f"results_{stamp}.json"
        whole = json.loads(place.read_bytes())
        whole["config"] = {"model": "longbench-extractive", "model_args": {}}
        place.write_text(json.dumps(whole))
    assert score(tmp_path).report["tables"]["longbench_v1"]["repeats"] == 2


COT = "longbench_v2_cot_answer"
CHOICES = {f"choice_{letter}": f"It is {letter}." for letter in "ABCD"}


@pytest.mark.parametrize("scored", [True, False])
@pytest.mark.parametrize("reasoning", ["", "Because."])
def test_an_answer_without_reasoning_has_failed_in_every_log(score, tmp_path, reasoning, scored):
    """The prompt tells, not what the log says of itself: with --predict_only it says nothing."""
    from v2_prompts import COT_ANSWER, render

    from lm_eval_longbench.prompts.render import text_sha256

    doc = {**v2_question("a", **CHOICES), "index": 0}
    own = {"failed": float(not reasoning)} if scored else {}
    row = log_row(COT, doc, says("B"), **own)
    row["doc"]["prompt"]["sha256"] = text_sha256(render(doc, COT_ANSWER, reasoning))
    found = score(write_lines(tmp_path / f"samples_{COT}_{STAMP}.jsonl", row))
    (sample,) = found.samples
    assert (sample["score"], sample["failed"]) == ((1.0, False) if reasoning else (0.0, True))
    assert sample["dropped"] == (not reasoning)  # officially such a question has no line


def test_selections_of_questions_merge_without_a_remark(score, tmp_path):
    """Two runs with other `only` are two parts of one."""
    for number, language in enumerate(("English", "Chinese")):
        label = f"caskcsg/LongBench-Pro@4996884 (only language: {language})"
        task, stamp = "longbench_pro_t3_2", STAMP.replace("2025", f"202{number}")
        from prediction_rows import pro_question

        doc = {**pro_question(f"q{number}", language=language), "index": 0}
        row = log_row(task, doc, "[Answer]\nEmma", data=label)
        write_lines(tmp_path / f"samples_{task}_{stamp}.jsonl", row)
        run = {
            "task": task,
            "benchmark": "longbench_pro",
            "data": label,
            "questions_sha256": number,
        }
        whole = {"configs": {task: {"metadata": {"longbench_run": run}}}, "model_name": "m"}
        (tmp_path / f"results_{stamp}.json").write_text(json.dumps(whole))
    table = score(tmp_path).report["tables"]["longbench_pro"]
    assert (table["counts"]["questions"], table["repeats"]) == (2, 1)


def test_official_v2_is_one_number(score, tmp_path):
    """18 answers, 6 of them failed calls: score, scores.json and report say the same."""
    from lm_eval_longbench.reporting.render import render
    from lm_eval_longbench.reporting.report import make_report
    from lm_eval_longbench.reporting.scored_run import read_run

    texts = [says("B")] * 4 + [says("A")] * 8 + [""] * 6
    rows = [
        log_row("longbench_v2", {**v2_question(f"q{n}"), "index": n}, text)
        for n, text in enumerate(texts)
    ]
    found = score(write_lines(tmp_path / f"samples_longbench_v2_{STAMP}.jsonl", *rows))
    assert (found.scores["overall"], found.scores["n"]) == (33.3, 12)
    table = found.report["tables"]["longbench_v2"]
    assert table["official"]["overall"] == 33.3
    assert (table["accuracy"]["overall"], table["accuracy"]["n"]) == (22.2, 18)
    text = render(make_report([read_run(found.folder)]), "csv")
    assert "\nlongbench_v2,official,overall,percent,33.3," in text
    assert "\nlongbench_v2,accuracy (failed are wrong),overall,percent,22.2," in text


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["model.jsonl", "model_cot.json"])
def test_official_v2_rows_may_be_one_array(score, tmp_path, name, indent):
    """The official result.py reads a file with json.load first, as lines second."""
    rows = [v2_row("q1"), v2_row("q2", "C"), v2_row("q3", difficulty="hard")]
    path = tmp_path / name
    path.write_text("\n" + json.dumps(rows, indent=indent))
    found = score(path)
    lines = score(write_lines(tmp_path / "lines" / f"{path.stem}.jsonl", *rows))
    assert [found.scores[name] for name in ("overall", "easy", "hard")] == [66.7, 50.0, 100.0]
    assert found.bytes["samples.jsonl"] == lines.bytes["samples.jsonl"]
    assert found.scores == lines.scores


# ---------------------------------------------------------------------- official files of models

PRO = "nonthinking_context-120000_bon-1_inference_1-of-1.jsonl"
OFFICIAL = {
    "v1": ("pred/{}/qasper.jsonl", lambda answer: v1_row(answer, "A")),
    "E": ("pred_e/{}/qasper.jsonl", lambda answer: v1_row(answer, "A")),
    "v2": ("results/{}.jsonl", lambda answer: v2_row("q", answer)),
    "v2 packed": ("results/{}.jsonl.gz", lambda answer: v2_row("q", answer)),
    "Pro": (f"output/{{}}/{PRO}", lambda answer: pro_row("q", answer)),
}


def official(folder, kind, *models):
    """Write a file of the official scripts for each model, with answers that differ."""
    place, row = OFFICIAL[kind]
    for model, answer in zip(models, "ABCD", strict=False):
        path = folder / place.format(model)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_lines(path, row(answer), packed=path.suffix == ".gz")
    return folder / place.partition("/")[0]


@pytest.mark.parametrize("kind", OFFICIAL)
def test_official_files_of_two_models_are_no_repeats(score, tmp_path, kind):
    home = official(tmp_path, kind, "llama-8b", "llama-70b")
    with pytest.raises(PredictionError, match="of several models") as caught:
        score(home)
    assert "llama-70b (" in str(caught.value)
    assert "llama-8b (" in str(caught.value)
    for path in home.iterdir():
        score(path)  # each by itself


@pytest.mark.parametrize("kind", OFFICIAL)
@pytest.mark.parametrize("second", ["m_repeat-2", "m-run2", "m_seed_7", "m_shard1_repeat-2"])
def test_official_files_of_one_models_repeats_are_repeats(score, tmp_path, kind, second):
    found = score(official(tmp_path, kind, "m", second))
    assert max(line["repeat"] for line in found.samples) == 2


@pytest.mark.parametrize(
    "names",
    [
        ("llama-2-7b", "llama-3-7b"),
        ("doubao-seed-1", "doubao-seed-2"),
        ("llama-prun30", "llama-prun50"),
        ("m-sample16", "m-sample64"),
        ("run1", "m"),
        ("m-7b-v1", "m-7b-v2"),
    ],
)
def test_names_that_look_like_repeats_and_are_models(score, tmp_path, names):
    with pytest.raises(PredictionError, match="of several models") as caught:
        score(official(tmp_path, "v1", *names))
    assert all(f"{name} (pred/" in str(caught.value) for name in names)


def test_modes_of_one_model_are_one_model(score, tmp_path):
    """LongBench v2's modes have names of their own behind the model's, or before a repeat's."""
    ends = ("", "_cot", "_no_context", "_rag_16", "_cot_repeat-2", "_repeat-3_cot")
    for number, end in enumerate(ends):
        write_lines(tmp_path / "results" / f"m{end}.jsonl", v2_row(f"q{number}"))
    assert len(score(tmp_path / "results").samples) == len(ends)
