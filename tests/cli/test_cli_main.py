"""The console script: version, help, errors."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from lm_eval_longbench.cli import main as main_module
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.version import __version__


def test_version(invoke):
    result = invoke("--version")
    assert (result.exit_code, result.stdout) == (0, f"{__version__}\n")
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", __version__)
    assert version("lm-eval-longbench") == __version__


def test_the_help_in_short_is_the_beginning_of_each_command_s_own():
    for name, short in main_module.COMMANDS.items():
        own = main_module.command(name)
        assert own.name == name
        assert " ".join(own.help.split("\n\n")[0].split()) == short


def test_every_module_of_a_command_is_in_the_list():
    folder = Path(main_module.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "main"}
    assert main_module.COMMANDS.keys() - {"path"} == modules


def test_an_error_is_one_message_and_exit_2(script):
    done = script("prompt", "longbench_v1_qaspr", "--index", "0", "--data-dir", "sample")
    assert done.returncode == 2
    assert done.stdout == b""
    message = done.stderr.decode()
    start = "error: Unknown task 'longbench_v1_qaspr'. Did you mean 'longbench_v1_qasper'? "
    assert message.startswith(start)
    assert len(message.splitlines()) == 1
    assert "Traceback" not in message


@pytest.mark.parametrize(
    "text", ["[red]x[/red] [/nonsense]", "50% {x} \\[", "汉字 🙂 " + "x" * 500]
)
def test_an_error_is_printed_as_it_is(monkeypatch, capfd, text):
    def fail():
        raise DataError(text)

    monkeypatch.setattr(main_module, "app", fail)
    with pytest.raises(SystemExit) as caught:
        main_module.main()
    assert caught.value.code == 2
    out, err = capfd.readouterr()
    assert (out, err) == ("", f"error: {text}\n")


def test_other_errors_are_shown_whole_with_a_line_that_asks_for_a_report(monkeypatch, capfd):
    def fail():
        raise ZeroDivisionError

    monkeypatch.setattr(main_module, "app", fail)
    with pytest.raises(SystemExit) as caught:
        main_module.main()
    assert caught.value.code == 1
    err = capfd.readouterr().err
    assert err.startswith("Traceback") and "ZeroDivisionError" in err
    assert "This is a fault of lm-eval-longbench" in err.splitlines()[-1]


def test_a_name_that_another_release_of_lm_eval_lacks_is_one_line(monkeypatch, capfd):
    def fail():
        from lm_eval.evaluator import no_such_function  # noqa: F401

    monkeypatch.setattr(main_module, "app", fail)
    with pytest.raises(SystemExit) as caught:
        main_module.main()
    assert caught.value.code == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert "no_such_function" in line and line.endswith('pip install "lm-eval>=0.4.13,<0.5"')
