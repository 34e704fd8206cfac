"""Runs whose logs tell how answers came about: verified, scored, reported and compared."""

import json

import pytest
from real_runs import AnsweringLM, Files, write_run

from lm_eval_longbench.check.verification import DIFFERENT
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.records.answer import Answer, AnswerText
from lm_eval_longbench.scoring.score import score_paths

QASPER, PRO = "longbench_v1_qasper", "longbench_pro_t3_1"
HOSTILE = "HTTP 500: \x1b[2Jgone\nagain | <b>"


def answer(number, prompt):
    """Stopped, capped, refused, withheld, hostile; and one of which nothing is known."""
    return (
        AnswerText(Answer("[Answer]\nB", finish_reason="stop")),
        AnswerText(Answer("[Answer]\nA", finish_reason="length")),
        AnswerText(Answer("", "failed", "HTTP 400: maximum context length is 9")),
        AnswerText(Answer("", "filtered", finish_reason="content_filter")),
        AnswerText(Answer("", "failed", HOSTILE)),
        "a plain text",
        "",
    )[number % 7]


@pytest.fixture(scope="module")
def known_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("known")
    return write_run(folder, AnsweringLM(answer), [QASPER, PRO])


@pytest.fixture
def known(known_run, tmp_path):
    return Files.copy(known_run, tmp_path / "known")


def oracle(files, task):
    """Capped answers and failures as the log has them, counted one by one."""
    capped, failed = 0, 0
    for row in files.rows(task):
        replies = row["doc"].get("replies")
        assert replies is None or len(replies) == sum(map(len, row["resps"]))
        for reply in replies or ():
            if reply.get("finish_reason") == "length":
                capped += 1
        failed += round(row["failed"] * sum(map(len, row["resps"])))
    return capped, failed


def test_an_untouched_run_is_confirmed(known_run):
    report = verify([known_run])
    assert report.with_status(DIFFERENT) == []
    confirmed = {(check.place, check.kind, check.name) for check in report.with_status("confirmed")}
    for task in (QASPER, PRO):
        assert (task, "figures", "capped,none") in confirmed
        assert (task, "counts", "capped") in confirmed


def test_scored_counts_are_those_of_the_log(known_run, tmp_path):
    files, out = Files(known_run), tmp_path / "scored"
    tables = score_paths(known_run, out)["tables"]
    reasons = set()
    for table, task in (("longbench_v1", QASPER), ("longbench_pro", PRO)):
        capped, failed = oracle(files, task)
        counts = tables[table]["counts"]
        assert (counts["capped"], counts["failed"]) == (capped, failed)
        assert tables[table]["tasks"][task]["capped"] == capped > 0
        failures = tables[table]["failures"]
        assert sum(failures.values()) == failed
        reasons |= failures.keys()
        assert tables[table]["signature"]["ingredients"]["capped"] == capped
    assert {"HTTP 400 (context length)", "content filter", "not known"} <= reasons
    lines = [json.loads(line) for line in (out / "samples.jsonl").read_text().splitlines()]
    assert {line["capped"] for line in lines} == {True, False, None}
    assert sum(line["capped"] is True for line in lines) == sum(
        table["counts"]["capped"] for table in tables.values()
    )
    assert all("failure" not in line for line in lines if not line["failed"])
