"""`lm-eval-longbench lock`, and the argument --locked of `run`."""

import pytest
from typer.testing import CliRunner

from lm_eval_longbench.check.lock import lock_text, read_lock, require_lock
from lm_eval_longbench.cli.lock import take_locked
from lm_eval_longbench.cli.main import app
from lm_eval_longbench.errors import LockError, LongBenchError
from lm_eval_longbench.options import Options

OPTIONS = '{"longbench": {"data_dir": "sample", "truncate_to": 500}}'


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in a folder of its own; errors of the package are raised."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        result = CliRunner().invoke(app, ["lock", *map(str, arguments)])
        if isinstance(result.exception, LongBenchError):
            raise result.exception
        return result

    return run


def test_a_lock_is_written_and_used(run, tmp_path):
    result = run("--tasks", "longbench_v1_code,longbench_v2", "--metadata", OPTIONS)
    assert (result.exit_code, result.stdout) == (0, "longbench.lock: 3 tasks frozen\n")
    assert [path.name for path in tmp_path.iterdir()] == ["longbench.lock"]
    found = read_lock("longbench.lock")
    assert found.options == {"data_dir": "sample", "truncate_to": 500}
    options = Options(data_dir="sample", truncate_to=500)
    assert require_lock("longbench.lock", ["longbench_v1_code"], None) == options
    text = (tmp_path / "longbench.lock").read_text(encoding="utf-8")
    assert text == lock_text(found)
    assert str(tmp_path) not in text


def test_a_damaged_lock_is_written_anew_and_other_files_are_left_alone(run, tmp_path):
    run("--tasks", "longbench_v2")
    file = tmp_path / "longbench.lock"
    good = file.read_text()
    file.write_text(good.replace("packages:", "<<<<<<< HEAD\npackages:"))
    with pytest.raises(LockError):
        read_lock(file)
    run("--tasks", "longbench_v2", "--force")
    assert file.read_text() == good
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    with pytest.raises(LockError, match=r"notes\.txt is there and is no lock file"):
        run("--tasks", "longbench_v2", "--output", other)
    assert other.read_text() == "mine"


@pytest.mark.parametrize(
    ("given", "path", "rest"),
    [
        (["--locked"], "longbench.lock", []),
        (["--tasks", "a", "--locked", "my.lock"], "my.lock", ["--tasks", "a"]),
        (["--locked", "my.lock", "--limit", "2"], "my.lock", ["--limit", "2"]),
        (["--locked=my.lock", "-x"], "my.lock", ["-x"]),
        (["--locked=", "--tasks", "a"], "longbench.lock", ["--tasks", "a"]),
        (["--lockedness"], None, ["--lockedness"]),
    ],
)
def test_the_argument_of_run(given, path, rest):
    assert take_locked(given) == (path, rest)
