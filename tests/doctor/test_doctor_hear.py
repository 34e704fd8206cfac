"""Warnings of the package become lines."""

import logging

from lm_eval_longbench.doctor.checkup import overheard, warning_lines
from lm_eval_longbench.doctor.line import WARNING


def test_warnings_are_kept_and_not_shown(caplog):
    ours = logging.getLogger("lm_eval_longbench.harness.longbench_v2_rag")
    with overheard() as records:
        ours.warning("chunks are our own")
        ours.info("nothing")
        logging.getLogger("elsewhere").warning("theirs")
    assert [record.getMessage() for record in records] == ["chunks are our own"]
    assert [record.getMessage() for record in caplog.records] == ["theirs"]
    ours.warning("after")
    assert caplog.records[-1].getMessage() == "after"


def test_what_the_report_says_itself_is_not_said_twice():
    with overheard() as records:
        logging.getLogger("lm_eval_longbench.harness.task").warning("no limit")
        logging.getLogger("lm_eval_longbench.data.load_array").warning("not official")
        logging.getLogger("lm_eval_longbench.harness.longbench_v2_rag").warning("own chunks")
    (line,) = warning_lines(records, "longbench_v2_rag")
    assert (line.status, line.found) == (WARNING, "own chunks")
    assert line.tasks == ("longbench_v2_rag",)
