"""`prepare`: data is there before a run, and what is there is printed."""

import hashlib
import os
import re
import subprocess
import sys
import time

import datasets
import pytest
from longbench_pro_facts import SECONDARY_TASKS
from mirror_server import MISSING, mirroring
from pro_rows import ROW, official_rows, write_rows
from typer.testing import CliRunner
from v1_tasks import TASKS, load

from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.cli.main import app
from lm_eval_longbench.data import open as opening
from lm_eval_longbench.errors import DataError


@pytest.fixture
def said(tmp_path, monkeypatch):
    """Run `prepare` on a cache of this test alone; return its output or raise its error."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))

    def run(*arguments):
        result = CliRunner().invoke(app, ["prepare", *map(str, arguments)], env={"COLUMNS": "120"})
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.stdout

    return run


def cells(output, name):
    """The cells after the name in a line of the table."""
    (line,) = [line for line in output.splitlines() if re.match(rf"\W*{re.escape(name)} ", line)]
    found = line.strip().removeprefix(name).split()
    return [*found[1:], found[0]] if len(found) == 3 else found


def never(*_):
    raise AssertionError("converted a second time")


def test_v1_sample(said):
    output = said("v1", "--data-dir", "sample")
    assert "LongBench v1 and LongBench-E" in output
    for task in TASKS:
        documents = load(task, "sample")
        expected = [str(len(documents.rows)), str(task.questions), documents.label]
        assert cells(output, task.dataset) == expected
        assert f"{documents.label}, sha256 {documents.sha256}" in output
    assert cells(output, "all 34")[1] == "8,418"
    assert "LongBench Pro" not in output


def test_pro_from_a_folder_and_the_run_after_it(said, tmp_path, monkeypatch):
    file = write_rows(tmp_path / "data" / "longbench_pro.json", official_rows())
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    output = said("pro", "--data-dir", file.parent)
    for name in SECONDARY_TASKS:
        assert cells(output, name) == ["60", "60", f"local-{digest[:12]}"]
    assert cells(output, "all 25")[:2] == ["1,500", "1,500"]
    assert output.splitlines()[-1] == f"local-{digest[:12]}, sha256 {digest}"

    monkeypatch.setattr(opening, "array_items", never)
    assert said("pro", "--data-dir", file.parent) == output


def test_a_failed_download_ends_with_status_2_and_eight_lines(tmp_path, cache_at):
    with mirroring(b"[]", MISSING) as mirror:
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "lm_eval_longbench.cli.main", "prepare", "v2"],
            env={**cache_at, "HF_ENDPOINT": mirror.url},
            capture_output=True,
            text=True,
        )
        assert time.monotonic() - begun < 15 + 10  # ten of them for the start
        assert [path for path, _ in mirror.asked] == [
            f"/datasets/zai-org/LongBench-v2/resolve/{V2.source.revision}/data.json"
        ]
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) <= 8
    assert lines[0].endswith("cannot be downloaded: HTTP 404 Not Found.")
    assert V2.source.sha256 in done.stderr


@pytest.fixture
def cache_at(tmp_path):
    """An environment with caches of this test alone."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return {**own, "HF_HOME": str(tmp_path / "home")}


def test_data_that_lacks_a_task(said, tmp_path):
    file = write_rows(tmp_path / "longbench_pro.json", [ROW])
    with pytest.raises(DataError, match=r"holds no questions of 'T1\.2 "):
        said("pro", "--data-dir", file)
