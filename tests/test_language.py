"""In which language headings are printed."""

import re
from pathlib import Path

import pytest

from lm_eval_longbench import language as module
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.language import CHINESE, ENGLISH, chinese_of, language, said

_SAID = r"""\bsaid\(\s*["']([^"']+)["']"""
VARIABLES = ("LONGBENCH_LANG", "LC_ALL", "LC_MESSAGES", "LANG")


@pytest.fixture
def environment(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch.setenv


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"LONGBENCH_LANG": "zh"}, CHINESE),
        ({"LONGBENCH_LANG": "en", "LANG": "zh_CN.UTF-8"}, ENGLISH),
        ({"LANG": "zh_CN.UTF-8"}, CHINESE),
        ({"LC_ALL": "C.UTF-8", "LANG": "zh_CN.UTF-8"}, ENGLISH),
        ({"LC_ALL": "zh_TW.UTF-8", "LANG": "de_DE.UTF-8"}, CHINESE),
        ({"LANG": "de_DE.UTF-8"}, ENGLISH),
    ],
)
def test_the_language_of_the_user(environment, variables, expected):
    for name, value in variables.items():
        environment(name, value)
    assert language() == expected


def test_another_language_is_refused(environment):
    environment("LONGBENCH_LANG", "zn")
    with pytest.raises(UnknownNameError, match="Did you mean 'zh'"):
        language()


def test_texts(environment):
    assert said("and {} more", 3) == "and 3 more"
    environment("LONGBENCH_LANG", "zh")
    assert said("and {} more", 3) == "另有 3 项"
    assert said("yes") == "是"


def test_every_text_that_is_said_has_its_translation_and_none_is_left_over():
    used = set()
    for file in Path(module.__file__).parent.rglob("*.py"):
        used |= set(re.findall(_SAID, file.read_text(encoding="utf-8")))
    used |= {"failed", "unscored", "truncated", "capped", "headline"}  # said by their names
    used |= {"value [95%] n/failed/unscored", "difference [95%] p n"}
    assert used == set(chinese_of("headings"))
    for english, chinese in chinese_of("headings").items():
        assert english.count("{}") == chinese.count("{}")
        assert re.search("[\u4e00-\u9fff]", chinese)
