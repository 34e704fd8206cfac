"""Runs whose logs tell how answers came about: verified, scored, reported and compared."""

import json
import math

import pytest
from real_runs import AnsweringLM, Files, write_run

from lm_eval_longbench.answers.answer import Answer, AnswerText
from lm_eval_longbench.api.run import report as report_text
from lm_eval_longbench.check.compare import compare_results
from lm_eval_longbench.check.verification import DIFFERENT
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.signature.ingredients import INGREDIENTS, LATER
from lm_eval_longbench.signature.signature import fingerprint

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


def without(files):
    """Make of a run one of an earlier version, which knew nothing of how answers came about."""

    def old_rows(rows):
        for row in rows:
            row["doc"].pop("replies", None)
            row.pop("capped")
            row["metrics"].remove("capped")

    def old_results(whole):
        for task in (QASPER, PRO):
            for key in ("capped,none", "capped_stderr,none"):
                del whole["results"][task][key]
            whole["higher_is_better"][task].pop("capped")
            config = whole["configs"][task]
            config["metric_list"] = [m for m in config["metric_list"] if m["metric"] != "capped"]
            run = config["metadata"]["longbench_run"]
            for name in LATER:
                run.pop(name)
            # As those versions did: from the ingredients that there were.
            own = {key: run[key] for key in INGREDIENTS if key in run}
            start = run["signature"].rpartition("sig:")[0]
            run["signature"] = f"{start}sig:{fingerprint(own)}"

    for task in (QASPER, PRO):
        files.edit_log(task, old_rows)
    files.edit_results(old_results)


def test_an_untouched_run_is_confirmed(known_run):
    report = verify([known_run])
    assert report.with_status(DIFFERENT) == []
    confirmed = {(check.place, check.kind, check.name) for check in report.with_status("confirmed")}
    for task in (QASPER, PRO):
        assert (task, "figures", "capped,none") in confirmed
        assert (task, "counts", "capped") in confirmed


def test_edits_are_found(known):
    def capped_to_stop(rows):
        for row in rows:
            for reply in row["doc"].get("replies", ()):
                if reply.get("finish_reason") == "length":
                    reply["finish_reason"] = "stop"

    known.edit_log(QASPER, capped_to_stop)
    found = verify([known.folder]).with_status(DIFFERENT)
    assert {check.place for check in found} == {QASPER}
    assert {"sample scores", "figures", "counts"} <= {check.kind for check in found}


@pytest.mark.parametrize("replies", ["x", [1], {"0": {}}])
def test_misshapen_replies(known, replies, tmp_path):
    known.edit_log(QASPER, lambda rows: rows[0]["doc"].update(replies=replies))
    assert verify([known.folder]).with_status(DIFFERENT)
    # To score an answer nobody needs them.
    scored = score_paths(known.log(QASPER), tmp_path / "scored")
    assert scored["tables"]["longbench_v1"]["counts"]["samples"] == len(known.rows(QASPER))


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
    report = verify([out])
    assert report.with_status(DIFFERENT) == [] and report.unreadable == []


def test_a_scored_folder_cannot_hide_them(known_run, tmp_path):
    score_paths(known_run, tmp_path)
    file = tmp_path / "report.json"
    report = json.loads(file.read_text())
    del report["tables"]["longbench_pro"]["failures"]
    report["tables"]["longbench_v1"]["counts"]["capped"] = 0
    file.write_text(json.dumps(report))
    found = {(check.place, check.name) for check in verify([tmp_path]).with_status(DIFFERENT)}
    assert ("longbench_v1", "counts.capped") in found
    assert ("longbench_pro", "failures.HTTP 400 (context length)") in found


@pytest.mark.parametrize("kind", ["table", "markdown", "csv", "json"])
def test_every_format_warns_and_gives_reasons(known_run, tmp_path, kind):
    score_paths(known_run, tmp_path / "scored")
    text = report_text(tmp_path / "scored", format=kind)
    plain = text.replace("\\", "")
    assert "ended at the output budget" in plain
    assert "HTTP 400 (context length)" in plain and "content filter" in plain
    assert "1024 tokens, and 8192 or 32768 for thinking scores" in plain
    assert "32, 64, 128 or 512 tokens, each dataset its own" in plain
    if kind in ("table", "markdown"):
        assert " x HTTP 400 (context length), " in plain
    if kind == "json":
        columns = [own for one in json.loads(text)["benchmarks"] for own in one["columns"]]
        assert all(column["warnings"] and column["failures"] for column in columns)


def test_results_of_earlier_versions(known, known_run, tmp_path):
    without(known)
    report = verify([known.folder])
    assert report.with_status(DIFFERENT) == [] and report.unreadable == []
    old, new = score_paths(known.folder, tmp_path / "a"), score_paths(known_run, tmp_path / "b")
    for table, own in old["tables"].items():
        assert own["official"] == new["tables"][table]["official"]
        assert own["counts"]["capped"] is None
        assert own["failures"].keys() == {"not known"}
    compared = compare_results(known.folder, known_run)
    for task in compared.tasks:
        assert [one.ingredient for one in task.comparison.differences] == ["capped"]
        assert task.comparison.unstated == []
        assert all(same(left, right) for _, left, right in task.figures)
    assert compare_results(known.folder, known.folder).verdict == "comparable"
    assert "ended at" not in report_text(tmp_path / "a")


def same(left, right):
    return left == right or (math.isnan(left) and math.isnan(right))
