"""What the rows and the names of the official files and of sample logs look like."""

from __future__ import annotations

import re
from typing import Any

from lm_eval_longbench.catalog import V1
from lm_eval_longbench.offline import harness_log
from lm_eval_longbench.offline.score_tables import table_of
from lm_eval_longbench.offline.source import LOG, PRO_FILE, V1_FILE, V2_FILE

_LOG_NAME = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.-]+)?")
# In the names of the official LongBench Pro inference files.
INFERENCE = "_inference_"


def task_in(name: str) -> str | None:
    """Return the task in the name of a sample log; None for another name."""
    found = _LOG_NAME.fullmatch(name)
    return found[1] if found else None


def kind_of(row: Any, name: str) -> str | None:
    """Return the kind of file that a decoded row is of, or None."""
    if harness_log.is_log_row(row):
        return LOG
    if not isinstance(row, dict):
        return None
    if "secondary_task" in row and ("prediction" in row or "bon_idx" in row):
        return PRO_FILE
    if "_id" in row and "answer" in row and ("response" in row or "pred" in row):
        return V2_FILE
    if "pred" in row and ("answers" in row or name in V1):
        return V1_FILE
    return None


def kind_by_name(name: str) -> str | None:
    """Return the kind of file that a name is usual for, or None."""
    if name in V1:
        return V1_FILE
    if INFERENCE in name:
        return PRO_FILE
    return LOG if table_of(task_in(name)) else None


def v2_table(row: Any, name: str) -> str:
    """Return the mode of a v2 file: chain of thought shows in its rows, the others in its name."""
    if (isinstance(row, dict) and "response_cot" in row) or name.endswith("_cot"):
        return "longbench_v2_cot_answer"
    if name.endswith("_no_context"):
        return "longbench_v2_no_context"
    return "longbench_v2_rag" if re.search(r"_rag_\d+$", name) else "longbench_v2"


def pro_table(name: str) -> str:
    """Return the form of asking that a Pro file's name says."""
    lower = name.lower()
    thinking = "thinking" in lower and not re.search(r"non[-_ ]?thinking", lower)
    return "longbench_pro_thinking" if thinking else "longbench_pro"
