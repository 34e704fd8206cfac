"""What commands print of how answers came about: warnings, and reasons whatever is in them."""

import json

from scored_runs import v1_rows
from typer.testing import CliRunner

from lm_eval_longbench.answers.answer import Answer
from lm_eval_longbench.api.run import Run
from lm_eval_longbench.cli.main import app
from lm_eval_longbench.harness.evaluate import Captured
from lm_eval_longbench.signature.ingredients import INGREDIENTS

HOSTILE = Answer("", "failed", "HTTP 500: \x1b[2Jgone\nagain")


def log_rows(capped):
    """Rows of a sample log, the first ones capped, the last one refused by a hostile server."""
    rows = []
    for number, sample in enumerate(v1_rows({"qasper": [1.0] * 100})):
        answer = Answer("yes", finish_reason="length" if number < capped else "stop")
        answer = HOSTILE if number == 99 else answer
        doc = {"_id": sample["id"], "index": number, "answers": ["yes"], "all_classes": None}
        doc |= {"dataset": "qasper", "task": "longbench_v1_qasper", "data": "local-1", "length": 9}
        doc["replies"] = [answer.reply()]
        texts = [[answer.text]]
        rows.append({"doc": doc, "resps": texts, "filtered_resps": texts[0], "filter": "none"})
    return rows


def printed(tmp_path, *arguments):
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    assert "\x1b" not in done.output
    return " ".join(done.output.split())


def test_score_and_report(tmp_path):
    log = tmp_path / "samples_longbench_v1_qasper_2026-01-01T00-00-00.jsonl"
    warning = "answers (3.0%) ended at the output budget (capped)"
    for capped in (2, 3):  # 2% are not more than 2%
        log.write_text("".join(json.dumps(row) + "\n" for row in log_rows(capped)))
        for text in (
            printed(tmp_path, "score", log, "--output", tmp_path / str(capped)),
            printed(tmp_path, "report", tmp_path / str(capped)),
        ):
            assert (warning in text) == (capped == 3)
            assert r"failed 1: 1 x HTTP 500 (\x1b[#Jgone again)" in text


def test_the_table_at_the_end_of_a_run():
    signature = {"task": "longbench_v1_qasper", "data": "local-1"}
    kept = Captured(rows={"longbench_v1_qasper": log_rows(50)})
    kept.signatures = {"longbench_v1_qasper": {**dict.fromkeys(INGREDIENTS), **signature}}
    text = " ".join(Run(kept).ending(str).split())
    assert "50 of 100 answers (50.0%) ended at the output budget (capped)" in text
    assert "failed 1: 1 x HTTP 500 (" in text
