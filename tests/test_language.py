"""English and Chinese: whose language it is, and that every sentence has its Chinese."""

import ast
import pickle
import re
from pathlib import Path

import pytest
from scored_runs import pro_row, v1_rows, v2_row, write_run

from lm_eval_longbench import language as module
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.language import (
    CHINESE,
    ENGLISH,
    catalogue,
    in_chinese,
    language,
    listed,
    said,
    sentence,
)
from lm_eval_longbench.reporting.published import published_rows
from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.signature.ingredients import INGREDIENTS, NOT

MAKERS = ("sentence", "said")
CHINESE_TEXT = re.compile("[\u4e00-\u9fff]")
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


def test_a_sentence_is_english_and_knows_its_chinese(environment):
    own = sentence("it is incomplete: {}", sentence("{} has {} of {} questions", "t_1", 5, 9))
    assert own == "it is incomplete: t_1 has 5 of 9 questions"
    assert in_chinese(own) == "不完整：t_1 有 5 / 9 道题"
    assert in_chinese(pickle.loads(pickle.dumps(own))) == in_chinese(own)
    assert in_chinese(listed([own, "x"])) == "不完整：t_1 有 5 / 9 道题、x"
    # What is filled in is never read: a name may look like a sentence.
    assert in_chinese(sentence("data {}", "temperature 5")) == "数据 temperature 5"
    assert said("and {} more", 3) == "and 3 more"
    environment("LONGBENCH_LANG", "zh")
    assert said("and {} more", 3) == "另有 3 项"


def texts_in_code():
    """Every text that is handed to `sentence` or `said` where it stands."""
    for file in Path(module.__file__).parent.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        tree, named = ast.parse(text if "longbench.language import" in text else ""), {}
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                named[node.targets[0].id] = node.value.value
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MAKERS:
                given = node.args[0]
                for own in [given.body, given.orelse] if isinstance(given, ast.IfExp) else [given]:
                    if isinstance(own, ast.Constant):
                        yield own.value
                    elif isinstance(own, ast.Name) and own.id in named:
                        yield named[own.id]


def test_every_sentence_has_its_chinese():
    texts = [text for text in texts_in_code() if re.search("[a-z]{3}", text)]
    assert len(texts) > 90
    for counted in ("unscored", "truncated", "capped", "unparsed", "inconsistent"):
        texts.append(f"{{}} {counted}")
    texts += [own.unit_note for own in benchmarks().values()]
    rows = [row for name in benchmarks() for row in published_rows(name)]
    texts += [row.caveat for row in rows if row.caveat]
    texts += [rule.reason for rule in INGREDIENTS.values() if rule.weight == NOT]
    assert [text for text in texts if text not in catalogue()] == []


def test_what_is_filled_in_stands_in_both():
    for english, chinese in catalogue().items():
        slots = re.findall(r"\{(\d+)\}", chinese)
        assert sorted(slots) == sorted(map(str, range(english.count("{}")))), english
        assert CHINESE_TEXT.search(chinese) or not re.search("[a-z]{3}", english)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    e_rows = v1_rows({"qasper": [(100, 0.8), (5000, 0.6)] * 20}, "longbench_v1_e")
    rows = [v2_row(f"q{n}", float(n % 3 == 0)) for n in range(30)]
    pro = [pro_row(f"q{n}", 0.5, repeat=r) for n in range(9) for r in (1, 2, 3)]
    folders = [write_run(root / name, e_rows + rows + pro) for name in ("甲", "乙")]
    return [read_run(folder) for folder in folders]


def test_a_report_is_chinese(runs, monkeypatch):
    report = make_report(runs, published=True)
    english = {name: render(report, name) for name in ("table", "markdown", "json", "csv")}
    monkeypatch.setenv("LONGBENCH_LANG", "zh")
    for name, text in english.items():
        told = render(report, name)
        if name in ("json", "csv"):
            assert told == text
            continue
        notes = [own for own in told.splitlines() if not re.match(r"\s*[|│┃┏┡┗└├#]", own)]
        words = {own for line in notes for own in re.findall(r"[a-z]{4,}", line)}
        assert words & {"questions", "intervals", "because", "documents"} == set()
        assert "区间为 95%" in told and "没有名次" in told
