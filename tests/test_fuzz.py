"""Damaged inputs through every reader, and that the script would notice if one failed."""

import random
import subprocess
import sys
from pathlib import Path

import damaged_inputs
import pytest

from lm_eval_longbench.scoring import score_chunk

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "fuzz.py"
pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="not run from a checkout")
CASES = 500


@pytest.fixture(scope="module")
def script():
    return damaged_inputs


@pytest.fixture(scope="module")
def inputs(script, tmp_path_factory):
    with script.unseen():
        return script.Inputs(tmp_path_factory.mktemp("fuzz"))


def failures(tallies):
    return [said for tally in tallies.values() for _, said, _ in tally.failures]


def test_damaged_inputs_do_no_harm(script, inputs):
    tallies = script.fuzz(inputs, CASES)
    assert failures(tallies) == []
    assert sum(tally.cases for tally in tallies.values()) == CASES
    # The damage is neither hopeless nor harmless.
    for reader in script.READERS:
        assert tallies[reader].cases > 40, reader
        assert tallies[reader].refused, reader
        assert tallies[reader].accepted, reader


def test_a_case_follows_from_seed_and_number(script, inputs):
    def written(seed, number):
        files = script.damaged_files(inputs.sound["score"][0], random.Random(f"{seed} {number}"))
        return sorted(files.items())

    assert written(0, 7) == written(0, 7)
    # Two may change the same byte, or put a value where it is already.
    assert len({str(written(seed, number)) for seed in (0, 1) for number in range(9)}) > 12
    whole = script.fuzz(inputs, 18, only=None)
    parts = [script.fuzz(inputs, 1, first=number) for number in range(18)]
    for reader, tally in whole.items():
        assert tally.refused == sum(part[reader].refused for part in parts)
        assert tally.accepted == sum(part[reader].accepted for part in parts)


def noticed(script, inputs, reader, cases=20):
    """What the script says of some cases of a reader."""
    found = failures(script.fuzz(inputs, cases, only=reader))
    assert found
    return found


NAMES = {
    "score": "score_paths",
    "report": "report_text",
    "verify": "verify",
    "compare": "compare_results",
    "lock": "read_lock",
    "prepare": "_loaded",
}


@pytest.mark.parametrize("reader", NAMES)
def test_an_exception_that_is_not_ours_is_noticed(script, inputs, monkeypatch, reader):
    def broken(*arguments, **options):
        raise KeyError("pred")

    monkeypatch.setattr(script, NAMES[reader], broken)
    said = noticed(script, inputs, reader, 10)
    assert all(one.startswith(f"{reader}: KeyError at ") for one in said)


def test_a_lost_row_is_noticed(script, inputs, monkeypatch):
    read = score_chunk.read_row

    def second_lost(row, index, source):
        found = read(row, index, source)
        return [] if index == 1 and isinstance(found, list) else found

    monkeypatch.setattr(score_chunk, "read_row", second_lost)
    assert all("answers, and" in one for one in noticed(script, inputs, "score"))


def test_a_lost_document_is_noticed(script, inputs, monkeypatch):
    real = script._loaded
    monkeypatch.setattr(script, "_loaded", lambda place, case: real(place, case)[1:])
    assert all("documents were loaded" in one for one in noticed(script, inputs, "prepare"))


@pytest.mark.parametrize("value", [1.5, -0.1, float("nan")])
def test_a_score_outside_its_range_is_noticed(script, inputs, monkeypatch, value):
    real = score_chunk.score_sample

    def wrong(*arguments, **options):
        scored = real(*arguments, **options)
        scored.score = value
        return scored

    monkeypatch.setattr(score_chunk, "score_sample", wrong)
    noticed(script, inputs, "score")


def test_a_figure_outside_its_range_is_noticed(script, inputs, monkeypatch):
    """Of a report and of a comparison, whose reader would refuse it."""
    real = script.report_text
    monkeypatch.setattr(
        script,
        "report_text",
        lambda *arguments, **options: real(*arguments, **options).replace(
            '"value": 0.0', '"value": 100.5'
        ),
    )
    assert all("100.5" in one for one in noticed(script, inputs, "report"))


def test_a_lock_that_freezes_nothing_is_noticed(script, inputs, monkeypatch):
    monkeypatch.setattr(script, "require_lock", lambda *arguments: None)
    assert all("is let pass" in one for one in noticed(script, inputs, "lock", 60))


def test_status_and_table(script, inputs, monkeypatch, capsys):
    monkeypatch.setattr(script, "Inputs", lambda folder: inputs)
    monkeypatch.setattr(sys, "argv", ["fuzz.py", "--cases", "9"])
    assert script.main() == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == ["reader", *script.READERS]
    assert sum(int(row.split()[1]) for row in rows[1:]) == 9
    monkeypatch.setattr(sys, "argv", ["fuzz.py", "--cases", "0"])
    assert script.main() == 2
    capsys.readouterr()

    def broken(*arguments, **options):
        raise KeyError("pred")

    monkeypatch.setattr(script, "compare_results", broken)
    number = script.TURNS.index("compare")
    monkeypatch.setattr(sys, "argv", ["fuzz.py", "--case", str(number)])
    assert script.main() == 1
    said = capsys.readouterr().out
    assert "Traceback" in said
    assert f"case {number}: compare: KeyError" in said.splitlines()[-1]


def test_it_says_how_it_is_used():
    said = subprocess.run(
        [sys.executable, SCRIPT, "--help"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert "--only" in said
