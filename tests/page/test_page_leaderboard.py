"""A leaderboard shows what recomputes, and of the rest why it does not."""

import json
import re
import shutil

import pytest
from page_runs import HOSTILE, Shown
from prediction_rows import v1_row, write_lines
from real_runs import AnsweringLM, write_run
from tampered_submissions import WAYS, tampered
from typer.testing import CliRunner

from lm_eval_longbench.cli.main import app
from lm_eval_longbench.errors import DataError, OptionError
from lm_eval_longbench.lock.lock import DEFAULT, lock_now, lock_text
from lm_eval_longbench.options import Options
from lm_eval_longbench.page.build import build_page
from lm_eval_longbench.page.leaderboard import leaderboard_data
from lm_eval_longbench.scoring.score import score_paths

TASKS = ["longbench_v1_lcc", "longbench_v1_trec"]
TAMPERED = 100


def answer(number, prompt):
    return ("The harbor opened in spring.", "[Answer]\nB", "", "A ledger.")[number % 4]


@pytest.fixture(scope="module")
def submission(tmp_path_factory):
    folder = tmp_path_factory.mktemp("submissions") / "honest"
    write_run(folder, AnsweringLM(answer), TASKS)
    lock = lock_now(TASKS, Options(data_dir="sample"))
    (folder / DEFAULT).write_text(lock_text(lock), encoding="utf-8")
    return folder


def about(folder, **facts):
    (folder / "about.json").write_text(json.dumps(facts), encoding="utf-8")
    return folder


def test_an_honest_submission_is_shown_under_its_own_name(submission, tmp_path):
    folder = shutil.copytree(submission, tmp_path / "one")
    about(folder, model="My model", link="https://example.org", type="Instruct", context="32k")
    data, (one,) = leaderboard_data([folder], tmp_path / "scratch")
    assert one.reasons == ()
    (benchmark,) = data["benchmarks"]
    own = [entry for entry in benchmark["entries"] if entry["run"]]
    assert [entry["model"] for entry in own] == ["My model"]
    assert (own[0]["link"], own[0]["type"]) == ("https://example.org", "Instruct")
    assert own[0]["signature"].startswith("lb-v1")
    assert len(benchmark["entries"]) == 1 + 8 + 7
    assert data["refused"] == []


def test_a_hundred_tampered_submissions_are_refused(submission, tmp_path):
    """Slow for its number: one real verification each."""
    folders = []
    for seed in range(TAMPERED):
        folders.append(tmp_path / f"s{seed:03}")
        tampered(submission, folders[-1], seed)
    data, found = leaderboard_data(folders, tmp_path / "scratch", published=False)
    shown = [(one.name, WAYS[int(one.name[1:]) % len(WAYS)].__name__) for one in found if one.run]
    assert shown == []
    assert len(data["refused"]) == TAMPERED
    assert all(one["reasons"] and one["reasons"][0] for one in data["refused"])
    assert str(tmp_path) not in json.dumps(data)
    words = {
        word
        for one in data["refused"]
        for reason in one["reasons"]
        for word in re.findall(r"\b[a-z]{3,}\b", data["chinese"][reason])
    }
    english = {"are", "has", "rows", "than", "the", "this", "was", "were", "which"}
    assert words & english == set()


def test_a_lock_must_be_of_the_run(submission, tmp_path):
    folder = shutil.copytree(submission, tmp_path / "one")
    whole = lock_now(["longbench_v1"], Options(data_dir="sample"))  # holds the run's tasks, too
    (folder / DEFAULT).write_text(lock_text(whole), encoding="utf-8")
    (folder / "samples.jsonl.lock").touch()  # of another program
    assert leaderboard_data([folder], tmp_path / "a")[1][0].reasons == ()
    text = lock_text(whole).replace("jieba: 0.42.1", "jieba: 0.42.0")
    (folder / "my.lock").write_text(text, encoding="utf-8")
    _, (one,) = leaderboard_data([folder], tmp_path / "b")
    assert one.reasons == (
        "my.lock is not of this run: packages.jieba: locked 0.42.0, here 0.42.1",
    )
    (folder / "my.lock").write_text("x", encoding="utf-8")
    _, (one,) = leaderboard_data([folder], tmp_path / "c")
    assert "my.lock is not a lock file" in one.reasons[0] and str(tmp_path) not in one.reasons[0]


def test_other_files_in_the_folder_do_not_count(submission, tmp_path):
    """Prediction files beside the logs were not verified."""
    folder = shutil.copytree(submission, tmp_path / "one")
    rows = [v1_row("x", "x", classes=["x"]) for _ in range(200)]
    write_lines(folder / "pred" / "trec.jsonl", *rows)
    write_lines(folder / "samples_longbench_v1_trec_2035-03-04T05-06-07.123456.jsonl", *rows)
    plain, _ = leaderboard_data([submission], tmp_path / "a", published=False)
    more, _ = leaderboard_data([folder], tmp_path / "b", published=False)
    values = [data["benchmarks"][0]["entries"][0]["values"] for data in (plain, more)]
    assert values[0] == values[1]


def test_scores_without_answers_are_refused(submission, tmp_path):
    score_paths(submission, tmp_path / "scored")
    data, _ = leaderboard_data([tmp_path / "scored"], tmp_path / "scratch")
    (refused,) = data["refused"]
    assert "Samples hold no answers" in " ".join(refused["reasons"])


@pytest.mark.parametrize(
    ("facts", "said"),
    [({"modell": "x"}, "it may have model"), ({"model": 3}, "not a text"), ([], "no description")],
)
def test_a_broken_description_is_refused(submission, tmp_path, facts, said):
    folder = shutil.copytree(submission, tmp_path / "one")
    (folder / "about.json").write_text(json.dumps(facts))
    data, _ = leaderboard_data([folder], tmp_path / "scratch")
    assert said in data["refused"][0]["reasons"][0]


def test_the_same_folders_give_the_same_bytes(submission, tmp_path):
    pages = []
    for place in ("here", "there"):
        folders = [
            about(shutil.copytree(submission, tmp_path / place / name), model="One")
            for name in ("a", "b")
        ]
        tampered(submission, tmp_path / place / "c", 1)
        folders.append(tmp_path / place / "c")
        order = folders if place == "here" else folders[::-1]
        data, _ = leaderboard_data(order, tmp_path / place / "scratch")
        pages.append(build_page(data))
    assert pages[0] == pages[1]
    assert "One (a)" in pages[0] and "One (b)" in pages[0]


def test_what_is_no_submission(tmp_path, submission):
    with pytest.raises(OptionError, match="one or more"):
        leaderboard_data([], tmp_path)
    with pytest.raises(DataError, match="is no folder"):
        leaderboard_data([tmp_path / "none"], tmp_path)
    with pytest.raises(OptionError, match="given twice"):
        leaderboard_data([submission, submission], tmp_path)
    (tmp_path / "empty").mkdir()
    data, _ = leaderboard_data([tmp_path / "empty"], tmp_path / "scratch")
    assert len(data["refused"]) == 1


def test_the_command_and_its_page(submission, tmp_path, browser):
    folders = [about(shutil.copytree(submission, tmp_path / "one"), model=HOSTILE[:200])]
    tampered(submission, tmp_path / "two", 2)
    command = ["leaderboard", *map(str, folders), str(tmp_path / "two")]
    done = CliRunner().invoke(app, [*command, "--output", str(tmp_path / "site")])
    assert done.exit_code == 0, done.output
    assert "refused: two: " in done.output
    assert "1 of 2 submissions shown" in done.output
    own = Shown(browser, tmp_path / "site" / "index.html")
    assert "<script>alert(1)</script>" in own.page.inner_text("#board tbody")
    own.page.click("#refused summary")
    assert "different: " in own.page.inner_text("#refused")
    own.page.click("#language")
    own.page.click("#refused summary")
    told = own.page.inner_text("#refused")
    assert "不符：" in told and "different: " not in told
    own.close()
