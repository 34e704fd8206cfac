"""A leaderboard shows runs, and which of them `verify` confirms."""

import json
import shutil

import pytest
from page_runs import HOSTILE, Shown
from real_runs import AnsweringLM, Files, write_run
from typer.testing import CliRunner

from lm_eval_longbench.cli.main import app
from lm_eval_longbench.page.build import build_page
from lm_eval_longbench.page.leaderboard import leaderboard_data

TASKS = ["longbench_v1_lcc", "longbench_v1_trec"]


def answer(number, prompt):
    return ("The harbor opened in spring.", "[Answer]\nB", "", "A ledger.")[number % 4]


@pytest.fixture(scope="module")
def submission(tmp_path_factory):
    folder = tmp_path_factory.mktemp("submissions") / "honest"
    return write_run(folder, AnsweringLM(answer), TASKS)


def changed(folder):
    """Have a run whose figure does not follow from its answers."""
    files = Files(folder)
    files.edit_results(lambda whole: whole["results"][TASKS[0]].update({"score,none": 0.9}))
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
    assert own[0]["mark"] == "confirmed"
    assert own[0]["signature"].startswith("lb-v1")
    assert len(benchmark["entries"]) == 1 + 8 + 7
    assert data["unconfirmed"] == []


def test_the_same_folders_give_the_same_bytes(submission, tmp_path):
    pages = []
    for place in ("here", "there"):
        folders = [
            about(shutil.copytree(submission, tmp_path / place / name), model="One")
            for name in ("a", "b")
        ]
        folders.append(changed(shutil.copytree(submission, tmp_path / place / "c")))
        order = folders if place == "here" else folders[::-1]
        data, _ = leaderboard_data(order, tmp_path / place / "scratch")
        pages.append(build_page(data))
    assert pages[0] == pages[1]
    assert "One (a)" in pages[0] and "One (b)" in pages[0]


def test_the_command_and_its_page(submission, tmp_path, browser):
    folders = [about(shutil.copytree(submission, tmp_path / "one"), model=HOSTILE[:200])]
    changed(shutil.copytree(submission, tmp_path / "two"))
    data, _ = leaderboard_data([tmp_path / "two", submission], tmp_path / "scratch")
    # Its number is that of its answers.
    one, other = (entry for entry in data["benchmarks"][0]["entries"] if entry["run"])
    assert one["values"] == other["values"] and str(tmp_path) not in json.dumps(data)
    command = ["leaderboard", *map(str, folders), str(tmp_path / "two")]
    done = CliRunner().invoke(app, [*command, "--output", str(tmp_path / "site")])
    assert done.exit_code == 0, done.output
    assert "not confirmed: two: " in done.output
    assert "1 of 2 runs confirmed" in done.output
    own = Shown(browser, tmp_path / "site" / "index.html")
    assert "<script>alert(1)</script>" in own.page.inner_text("#board tbody")
    marks = own.page.locator("#board tbody .badge").all_inner_texts()
    assert sorted(text.lower() for text in marks) == ["confirmed", "not confirmed"]
    own.page.click("#unconfirmed summary")
    assert "different: " in own.page.inner_text("#unconfirmed")
    own.page.click("#language")
    assert "未确认" in own.page.inner_text("#unconfirmed")
    own.close()
