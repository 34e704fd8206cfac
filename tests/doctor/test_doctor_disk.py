"""Free space against the estimate."""

import shutil
from collections import namedtuple

import pytest

from lm_eval_longbench.doctor.environment import (
    CONVERSIONS,
    DOWNLOADS,
    RESERVE,
    cache_lines,
    log_bytes,
    output_line,
    space_line,
)
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def free(monkeypatch):
    """Set the free bytes of every disk."""

    def put(number):
        monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 0, number))

    return put


@pytest.mark.parametrize(
    ("more", "status"), [(-1, ERROR), (0, WARNING), (RESERVE - 1, WARNING), (RESERVE, OK)]
)
def test_space(free, tmp_path, more, status):
    free(5_000_000_000 + more)
    line = space_line("results", tmp_path / "new" / "er", 5_000_000_000, "by guess")
    assert line.status == status
    assert "5.0 GB needed (by guess)" in line.found


def test_a_log_of_whole_prompts_is_larger():
    small, large = log_bytes(100, 1024, 0), log_bytes(100, 1024, 400_000)
    assert large - small == 100 * 400_000
    assert log_bytes(200, 1024, 0) > small


def test_results(a_run, a_task, tmp_path):
    assert list(output_line(a_run(), 100, [a_task()])) == []
    run = a_run(output_path=str(tmp_path))
    (line,) = output_line(run, 100, [a_task()])
    assert "no sample log" in line.found
    run = a_run(output_path=str(tmp_path), log_samples=True)
    (line,) = output_line(run, 4500, [a_task()])
    assert "4,500 answers x (3,000 bytes + 128 tokens x 4)" in line.found
    (line,) = output_line(run, 4500, [a_task(log_prompts="full", whole="x" * 5000)])
    assert "a whole prompt of 5,000 characters" in line.found


def test_caches(empty_caches, free):
    free(10**12)
    datasets, hub = cache_lines(["v1", "pro"])
    assert str(empty_caches / "datasets") in datasets.found
    assert "to be converted: v1, pro" in datasets.found
    assert f"{(CONVERSIONS['v1'] + CONVERSIONS['pro']) / 1e9:.1f} GB needed" in datasets.found
    assert f"{(DOWNLOADS['v1'] + DOWNLOADS['pro']) / 1e9:.1f} GB needed" in hub.found
    _, hub = cache_lines([])
    assert "nothing to be downloaded" in hub.found
    free(100)
    assert [line.status for line in cache_lines(["v1"])] == [ERROR, ERROR]
