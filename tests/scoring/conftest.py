"""Score files into a fresh folder, and read what was written."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from prediction_rows import read_lines

from lm_eval_longbench.scoring.score import score_paths


@dataclass
class Written:
    """What a call wrote."""

    folder: Path
    report: dict

    @property
    def scores(self):
        return json.loads((self.folder / "scores.json").read_bytes())

    @property
    def samples(self):
        return read_lines(self.folder / "samples.jsonl")

    @property
    def bytes(self):
        return {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}

    @property
    def problems(self):
        """Kinds that there are, with their entries."""
        return {
            kind: entries
            for kind, entries in self.report["problems"].items()
            if isinstance(entries, list) and entries
        }


@pytest.fixture
def score(tmp_path):
    """Score paths: score(path, ..., benchmark=...)."""
    number = 0

    def run(*paths, **options):
        nonlocal number
        number += 1
        folder = tmp_path / "scored" / str(number)
        report = score_paths(paths, folder, **options)
        assert json.loads((folder / "report.json").read_bytes()) == report
        assert sorted(path.name for path in folder.iterdir()) == [
            "report.json",
            "samples.jsonl",
            "scores.json",
        ]
        return Written(folder, report)

    return run


@pytest.fixture
def no_network(monkeypatch):
    """Any attempt to reach another machine, or this one, fails the test."""
    import socket

    def refuse(*arguments, **more):
        raise AssertionError("offline scoring opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
