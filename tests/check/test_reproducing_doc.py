"""docs/reproducing.md says what there is, and its ten lines work as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from processes import words_of

from lm_eval_longbench.benchmarks.registry import signs
from lm_eval_longbench.check.lock import Lock, lock_now, lock_text, packages_now, require_lock
from lm_eval_longbench.errors import LockError
from lm_eval_longbench.options import Options
from lm_eval_longbench.signature.ingredients import INGREDIENTS
from lm_eval_longbench.signature.signature import completed, line, package_versions

PAGE = (Path(__file__).parents[2] / "docs" / "reproducing.md").read_text(encoding="utf-8")


def part(heading):
    """What stands under a heading."""
    (text,) = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.M)
    return text


def first_cells(text):
    """The first column of a table, without its head."""
    rows = [row.split("|")[1].strip() for row in text.splitlines() if row.startswith("|")]
    return [cell.strip("`") for cell in rows[2:]]


def ten_lines():
    (block,) = re.findall(r"```bash\n(.*?)```", part("In ten lines"), re.DOTALL)
    return block.splitlines()


def test_the_table_has_every_ingredient_in_its_order():
    cells = first_cells(part("What is in a signature"))
    assert [name for cell in cells for name in re.findall(r"\w+", cell)] == list(INGREDIENTS)


def test_the_example_is_a_signature_line():
    text = part("How to read a signature line")
    (example,) = re.findall(r"^    (lb-\S+)$", text, re.M)
    signature = completed(
        {
            "benchmark": "longbench_v1",
            "version": "1.2",
            "data": "zai-org/LongBench@5e628be",
            "template_sha256": "0fbdd123" + 56 * "0",
            "limit": 31500,
            "overlength": "truncate",
            "tokenizer": "Qwen/Qwen3-8B",
            "chat": "on",
            "generation": {"temperature": 0.0},
            "repeats": 1,
            "answered": 200,
            "asked": 200,
            "metrics": "1.0",
        }
    )
    hashed = re.compile(r"sig:[0-9a-f]{8}$")
    assert hashed.search(example)
    assert hashed.sub("", example) == hashed.sub("", line(signature, signs()))
    assert first_cells(text) == example.split("|")


def test_the_example_of_a_mismatch_is_what_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    now = lock_now(["longbench_v2"], Options())
    locked = {**now.packages, "jieba": "0.42.1"}
    Path("longbench.lock").write_text(lock_text(Lock(**{**vars(now), "packages": locked})))
    monkeypatch.setattr(
        "lm_eval_longbench.check.lock.package_versions",
        lambda: {name: now.packages[name] for name in package_versions()} | {"jieba": "0.42.0"},
    )
    assert packages_now()["jieba"] == "0.42.0"
    with pytest.raises(LockError) as caught:
        require_lock("longbench.lock", ["longbench_v2"], None)
    example = "".join(f"    {row}\n" for row in f"error: {caught.value}".splitlines())
    assert example in part("What the lock holds")


def test_the_ten_lines_work(tmp_path, processes):
    """With the sample and the baseline in place of the official data and a large model."""
    lines = ten_lines()
    assert len(lines) == 10
    replaced = {
        "MODEL=": 'MODEL="--model longbench-extractive --batch_size 1"',
        "TASKS=": 'TASKS="longbench_v1_code"',
        "OPTIONS=": 'OPTIONS="--data-dir sample"',
        "lm-eval-longbench prepare v1": "lm-eval-longbench prepare v1 --data-dir sample",
    }
    for start, other in replaced.items():
        (index,) = (number for number, own in enumerate(lines) if own.startswith(start))
        lines[index] = other
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_CACHE": str(tmp_path / "cache"),
    }

    def run(*words):
        return processes.run(*words, cwd=tmp_path, env=environment)

    commands = words_of("\n".join(lines))
    assert len(commands) == 7
    said = ""
    for words in commands:
        done = run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        said += done.stdout
    last = [row for row in said.splitlines() if row.startswith("signature ")]
    signatures = [row.split(maxsplit=1)[1] for row in last]
    assert len(signatures) == 2
    assert signatures[0] == signatures[1]
    assert signatures[0].startswith("longbench_v1: lb-v1|")
    assert "n:8/8" in signatures[0]
    assert (tmp_path / "longbench.lock").is_file()
    # What the page says of the results file.
    (command,) = re.findall(r"```bash\n(python .*?)\n```", part("How to read a signature line"))
    shown = subprocess.run(
        ["bash", "-c", command.replace("longbench_v1_qasper", "longbench_v1_lcc")],
        cwd=tmp_path,
        env={"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert shown.stdout.startswith("lb-v1|v1.2|data:sample-"), shown.stderr
