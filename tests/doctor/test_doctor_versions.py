"""Versions against the tested ranges."""

import pytest

from lm_eval_longbench.doctor.line import ERROR, OK
from lm_eval_longbench.doctor.environment import (
    PACKAGES,
    package_line,
    python_line,
    version_lines,
)


def test_this_installation_is_in_range():
    lines = list(version_lines())
    assert [line.status for line in lines] == [OK] * (1 + len(PACKAGES))
    for name, line in zip(PACKAGES, lines[1:], strict=True):
        assert line.found.startswith(f"{name} ")
    assert "lm-eval-longbench" in lines[0].found


@pytest.mark.parametrize(
    ("found", "wanted", "status"),
    [
        ("0.4.13", ">=0.4.13,<0.5", OK),
        ("0.4.99", ">=0.4.13,<0.5", OK),
        ("0.4.12", ">=0.4.13,<0.5", ERROR),
        ("0.5.0", ">=0.4.13,<0.5", ERROR),
        ("0.4.14rc1", ">=0.4.13,<0.5", OK),
        ("1.0", "", OK),
    ],
)
def test_a_package_outside_the_accepted_range_is_an_error(found, wanted, status):
    line = package_line("lm_eval", found, wanted)
    assert line.status == status
    assert found in line.found
    if status == ERROR:
        assert line.todo == f'pip install "lm-eval{wanted}"'


def test_a_missing_package_is_an_error():
    line = package_line("jieba", None, "==0.42.1")
    assert line.status == ERROR
    assert line.todo == 'pip install "jieba==0.42.1"'


def test_an_old_python_is_an_error():
    assert python_line("3.11.2", ">=3.10").status == OK
    line = python_line("3.9.1", ">=3.10")
    assert line.status == ERROR
    assert ">=3.10" in line.found
