"""The command line, in this process and as the installed console script."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner


@pytest.fixture
def invoke():
    """Run the command line in this process; errors of the package are raised."""
    from lm_eval_longbench.cli.main import app

    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@pytest.fixture
def raised(invoke):
    """Run the command line and return the error that `main` would print."""
    from lm_eval_longbench.errors import LongBenchError

    def run(*arguments):
        result = invoke(*arguments)
        assert isinstance(result.exception, LongBenchError), result.output
        return result.exception

    return run


@pytest.fixture
def script(tmp_path):
    """Run the console script beside this Python; bytes in and out."""

    def run(*arguments, **environment):
        return subprocess.run(
            [Path(sys.executable).with_name("lm-eval-longbench"), *map(str, arguments)],
            env={
                **os.environ,
                "HF_HUB_OFFLINE": "1",
                "HF_HOME": str(tmp_path / "hf_home"),
                "HF_DATASETS_CACHE": str(tmp_path / "hf_datasets"),
                **environment,
            },
            cwd=tmp_path,
            capture_output=True,
            timeout=120,
            check=False,
        )

    return run
