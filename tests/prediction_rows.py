"""Rows of official prediction files and of the harness's sample logs, and files of them."""

import gzip
import json

from longbench_pro_facts import BY_CODE
from v1_tasks import BY_NAME

OFFICIAL = {
    "longbench_v1": "zai-org/LongBench@5e628be",
    "longbench_v2": "zai-org/LongBench-v2@2b48e49",
    "longbench_pro": "caskcsg/LongBench-Pro@4996884",
}
# Kinds of input files.
V1_FILE, V2_FILE, PRO_FILE = "v1_predictions", "v2_results", "pro_inference"
STAMP = "2025-03-04T05-06-07.123456"


def v1_row(pred, *answers, length=1, classes=None):
    """A line of an official v1 or E prediction file."""
    return {"pred": pred, "answers": list(answers), "all_classes": classes, "length": length}


def v2_question(id, answer="B", difficulty="easy", length="short", **more):
    """The question part of a v2 row."""
    return {
        "_id": id,
        "domain": "Single-Document QA",
        "sub_domain": "Academic",
        "difficulty": difficulty,
        "length": length,
        "question": "Which?",
        "answer": answer,
        **more,
    }


def says(letter):
    """An answer in the official words."""
    return f"The correct answer is ({letter})."


def v2_row(id, letter="B", **question):
    """A line of an official v2 result file, whose response names a letter."""
    return {**v2_question(id, **question), "response": says(letter), "pred": letter}


def pro_question(id, code="t3_2", answer=("Emma",), language="English", **more):
    """The question part of a Pro row."""
    task = BY_CODE[code]
    return {
        "id": id,
        "language": language,
        "token_length": "8k",
        "primary_task": task.primary,
        "secondary_task": task.name,
        "contextual_requirement": "Full",
        "question_nonthinking": "Which?",
        "question_thinking": "Think. Which?",
        "answer": list(answer),
        "difficulty": "Easy",
        **more,
    }


def pro_row(id, prediction="[Answer]\nEmma", bon_idx=1, **question):
    """A line of an official Pro inference file."""
    return {**pro_question(id, **question), "prediction": prediction, "bon_idx": bon_idx}


def v1_doc(task, index, *answers, length=1, classes=None, **more):
    """The document in a sample log's row."""
    return {
        "input": "Which?",
        "answers": list(answers),
        "length": length,
        "dataset": BY_NAME[task].label,
        "language": "en",
        "all_classes": classes,
        "_id": f"id-{index}",
        "index": index,
        **more,
    }


def log_row(task, doc, *responses, truncated=False, data=None, in_process=False, **more):
    """A row of the harness's sample log as we write it."""
    benchmark = next(name for name in OFFICIAL if task.startswith(name))
    each = [list(responses)] if in_process else [[text] for text in responses]
    return {
        "doc_id": doc.get("index", 0),
        "doc": {
            **doc,
            "task": task,
            "data": data or OFFICIAL[benchmark],
            "prompt": {"sha256": "0" * 64, "tokens_before_cut": None, "truncated": truncated},
        },
        "resps": each,
        "filtered_resps": each if in_process else list(responses),
        "filter": "none",
        **more,
    }


def write_lines(path, *rows, packed=False):
    """Write rows, or texts and bytes as they are, as the lines of a file; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        row
        if isinstance(row, bytes)
        else (row if isinstance(row, str) else json.dumps(row)).encode()
        for row in rows
    ]
    data = b"".join(line + b"\n" for line in lines)
    path.write_bytes(gzip.compress(data, mtime=0) if packed else data)
    return path


def read_lines(path):
    """Return the objects of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
