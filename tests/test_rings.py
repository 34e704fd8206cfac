"""Every file of tests is in one ring, and what the tables name is there."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from rings import RINGS, TOGETHER, found_in, ring_of

TESTS = Path(__file__).parent
FILES = sorted(file.relative_to(TESTS).as_posix() for file in TESTS.rglob("test_*.py"))


def test_each_file_is_in_one_ring(pytestconfig):
    assert len(FILES) > 100
    assert {file: len(found_in(RINGS, file)) for file in FILES} == dict.fromkeys(FILES, 1)
    markers = {line.partition(":")[0] for line in pytestconfig.getini("markers")}
    assert markers >= RINGS.keys() == set(map(ring_of, FILES))


@pytest.mark.parametrize("table", [RINGS, TOGETHER], ids=["rings", "together"])
def test_each_entry_is_there_and_once(table):
    entries = [entry for own in table.values() for entry in own]
    assert [entry for entry in entries if not (TESTS / entry).exists()] == []
    assert len(entries) == len(set(entries))


def fixtures_of(file):
    """The names of all arguments of functions of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def test_who_starts_processes_shares_them():
    own = [file for file in FILES if "processes" in fixtures_of(TESTS / file)]
    assert len(own) > 15
    alone = [file for file in own if not {*found_in(TOGETHER, file)} & {"processes", "all tasks"}]
    assert alone == []


def test_a_ring_runs_alone():
    """Of two files with a ring each, one is left."""
    words = ["-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", "faults"]
    files = ["tests/test_errors.py", "tests/test_presets_table.py"]
    done = subprocess.run(
        [sys.executable, *words, *files], cwd=TESTS.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert "tests/test_errors.py::" in done.stdout
    assert "tests/test_presets_table.py::" not in done.stdout
