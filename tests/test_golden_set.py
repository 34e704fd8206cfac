"""The golden set: prompts of all tasks are those that were written down, byte for byte."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILE = ROOT / "tests" / "golden_set.json"


def _check(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/snapshots.py", "--only", "prompts", "--check", str(file)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def test_the_prompts_of_all_tasks_are_the_golden_ones_and_another_is_found(tmp_path):
    """One prompt of the file is another: that one differs, in being the golden one."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    golden = found["prompts"]["longbench_v1_qasper"]
    other = found["prompts"]["longbench_v1_qasper"] = [golden[0], "0" * 64, *golden[2:]]
    (tmp_path / "set.json").write_text(json.dumps(found), encoding="utf-8")
    done = _check(tmp_path / "set.json")
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines() == [
        f"prompts: longbench_v1_qasper: {other} -> {golden}",
        "1 differences in 1 parts",
    ]


def test_the_set_holds_what_a_change_is_compared_with():
    found = json.loads(FILE.read_text(encoding="utf-8"))
    assert FILE.stat().st_size < 1_000_000
    assert sum(name.startswith("figures of ") for name in found) == 12
    assert sum(name.startswith("end of ") for name in found) == 12
