"""What a command imports, which files it opens, and which rows of data it reads: all counted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import lm_eval_longbench

COUNT = """
import contextlib, io, json, os, sys
from collections import Counter

names, status, *sys.argv[1:] = json.loads(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
files, rows = Counter(), Counter()

def opened(event, given):
    if event == "open" and isinstance(given[0], str) and "site-packages" not in given[0]:
        name = os.path.basename(given[0])
        if name.endswith((".json", ".jsonl", ".yaml", ".arrow", ".txt")) and given[1] != "w":
            files[name] += 1

def counted(function, kind):
    def counting(*given):
        rows[kind(given)] += 1
        return function(*given)
    return counting

sys.addaudithook(opened)
if "rows" in names:
    from lm_eval_longbench.data.convert import MappedRows

    json.loads = counted(json.loads, lambda given: "decoded")
    MappedRows.__getitem__ = counted(
        MappedRows.__getitem__, lambda given: "columns" if isinstance(given[1], str) else "rows"
    )
from lm_eval_longbench.cli.main import main

ended, printed = 0, io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
with contextlib.redirect_stdout(printed):
    try:
        main()
    except SystemExit as end:
        ended = end.code or 0
    printed.flush()
assert ended == status and printed.buffer.getvalue(), ended
modules = [name for name in names if name in sys.modules]
sys.stdout.write(json.dumps({"modules": modules, "files": files, "rows": rows}))
"""


def run_code(code, *arguments, **environment):
    """Return what a fresh interpreter prints."""
    package = str(Path(lm_eval_longbench.__file__).resolve().parents[1])
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": package, **environment},
        stdout=subprocess.PIPE,
        text=True,
        timeout=200,
        check=True,
    ).stdout


def costs(*command, names=(), status=0, **environment):
    """Return which of the modules in `names` a command imports, and what it opens and reads.

    "rows" among the names: also how often a row or a column of data was read, and JSON decoded.
    """
    return json.loads(run_code(COUNT, json.dumps(list(names)), status, *command, **environment))
