"""Answers in the page: what is kept of them, and a browser that stays quick with 10,000."""

import base64
import gzip
import json

import pytest
from page_runs import HOSTILE, Shown
from prediction_rows import log_row, v1_doc, v1_row, write_lines

from lm_eval_longbench.page.build import build_page
from lm_eval_longbench.page.data import page_data
from lm_eval_longbench.page.samples import ANSWER, answers_of
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.scoring.score import score_paths

TASK = "longbench_v1_trec"


def unpacked(text):
    return json.loads(gzip.decompress(base64.b64decode(text)))


def predictions(folder, answers):
    rows = [v1_row(answer, "a", classes=["a", "b"], length=n) for n, answer in enumerate(answers)]
    write_lines(folder / "trec.jsonl", *rows)
    return folder


def test_answers_have_their_official_scores(tmp_path):
    path = predictions(tmp_path / "one", ["a", "b", "", "x" * 9000])
    score_paths(path, tmp_path / "scored", benchmark="v1")
    lines = (tmp_path / "scored" / "samples.jsonl").read_text().splitlines()
    own = unpacked(answers_of([path], ["one"], "v1"))
    found = [(answer[3], bool(answer[4])) for answer in own["answers"]]
    assert found == [(row["score"], row["failed"]) for row in map(json.loads, lines)]
    assert own["runs"] == ["one"]
    assert own["questions"][0]["golds"] == ["a"]
    long = own["answers"][3][7]
    assert len(long) < ANSWER + 60 and f"[... {9000 - ANSWER} characters ...]" in long


def test_ten_thousand_answers_are_shown_in_pages_and_filtered(browser, tmp_path):
    paths, runs = [], []
    for name in ("one", "two"):
        answers = [f"{name}{n} a" for n in range(5000)]
        answers[7] = HOSTILE
        answers[9] = "a"
        paths.append(predictions(tmp_path / name, answers))
        score_paths(paths[-1], tmp_path / "scored" / name, benchmark="v1", workers=1)
        runs.append(read_run(tmp_path / "scored" / name, name))
    file = tmp_path / "report.html"
    page = build_page(page_data(runs), answers_of(paths, ["one", "two"], "v1"))
    file.write_text(page, encoding="utf-8")
    own = Shown(browser, file)
    own.page.click("#answers-box summary")
    own.page.wait_for_selector("#answers-list .answer")
    count = own.page.locator("#answers-count")
    assert count.inner_text() == "5000 questions, page 1 of 250"
    assert own.page.locator("#answers-list .answer").count() == 20
    assert "<script>alert(1)</script>\\u202egnp.exe \\x1b[31m" in own.page.inner_text(
        "#answers-list"
    )
    own.page.fill("#answers-text", "one4999 a")
    assert count.inner_text() == "1 questions, page 1 of 1"
    own.page.fill("#answers-text", "")
    own.page.click("#answers-next")
    assert count.inner_text() == "5000 questions, page 2 of 250"
    scores = [[row["score"] for row in map(json.loads, lines)] for lines in read_samples(tmp_path)]
    for status, expected in (
        ("right", sum(1.0 in pair for pair in zip(*scores, strict=True))),
        ("disagree", sum(len(set(pair)) > 1 for pair in zip(*scores, strict=True))),
        ("failedOnes", 0),
    ):
        own.page.select_option("#answers-status", status)
        assert count.inner_text().startswith(f"{expected} questions")
    own.close()


def read_samples(folder):
    files = [folder / "scored" / name / "samples.jsonl" for name in ("one", "two")]
    return [file.read_text(encoding="utf-8").splitlines() for file in files]


@pytest.mark.parametrize("arguments", ["text", [1], 7, True, {"gen_args_0": 1}, None])
def test_arguments_that_are_no_object_tell_nothing_of_a_prompt(tmp_path, arguments):
    row = log_row(TASK, v1_doc(TASK, 0, "a", classes=["a", "b"]), "a") | {"arguments": arguments}
    write_lines(tmp_path / f"samples_{TASK}_2025-03-04T05-06-07.123456.jsonl", row)
    own = unpacked(answers_of([tmp_path], ["run"]))
    assert own["questions"][0]["prompt"] == []
    assert own["answers"][0][3] == 1.0
