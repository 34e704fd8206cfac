"""Reasons and notes in Chinese: each template that the package makes has one."""

import ast
import re
from pathlib import Path

import pytest
from scored_runs import pro_row, v1_rows, v2_row, write_run
from texts_in_code import texts_in

from lm_eval_longbench import language as module
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.language import chinese_of, in_chinese
from lm_eval_longbench.page.data import page_data
from lm_eval_longbench.reporting.published import published_rows
from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.signature.ingredients import INGREDIENTS, NOT

ROOT = Path(module.__file__).parent
# Functions whose texts a reader of reports sees.
MAKERS = {
    "reporting/published.py": (
        *("why_not_ranked", "_copied", "protocol_of_run", "verdict_of", "rank_of", "leaderboard"),
    ),
    "reporting/report.py": (
        "_documents",
        "note_on_column",
        "note_on_pair",
        "pair_of",
        "remarks_on",
    ),
    "reporting/scored_run.py": ("capped_warning", "_official"),
    "reporting/render.py": ("_entry_note", "_source_texts", "_board_table", "rank_text"),
    "signature/compare.py": ("incomparable",),
    "signature/protocol.py": (
        *("_sampling", "_generation", "_departing", "_of_settings", "departures"),
    ),
    "answers/answer.py": ("failure", "failed_text"),
}
CAPPED = (
    "5 of 9 answers (55.6%) ended at the output budget (capped): what is scored may be missing in "
    "them. {}. Official runs have 32, 64 or 128 tokens, each dataset its own, and 512 for thinking "
    "scores"
)
SMALLER = "This run had a smaller budget than official ones"
LARGER = (
    "A larger budget (--gen_kwargs max_gen_toks=TOKENS) gives them room, but it is another "
    "protocol, and its scores are not comparable with these"
)
HELD = (
    "5 of 9 answers hold reasoning (<think>...</think>), which the figures keep; those with "
    "reasoning dropped have rows of their own"
)
ON_LINES = (
    "Difference a less b: on the 7 questions that both have, paired by their line in the "
    "prediction files: right only if both files have their lines in one order."
)
UNLIKE = (
    "they have no question in common; one was scored from prediction files, which know a question "
    "by its line, the other from logs, which know its id"
)
# Texts that are parts of one, or are filled with words, in such a one.
WHOLE = [
    *(
        "no limit of prompts (officially cut at 4 or 8)",
        "2 answers to each question (officially 1)",
    ),
    "prompts cut at 100 tokens (officially cut at 4, 8 or 16)",
    "it is incomplete: t1 has 5 of 9 questions, t2 has 0 of 5 questions and 2 more tasks",
    *("stop strings (officially none) in t_1, t_2 and 3 more tasks", UNLIKE, HELD, ON_LINES),
    *(
        "not known: data, generation arguments",
        "not known: data, the first pass",
        "7 documents, and 5 questions whose document is not known",
    ),
    *("120 questions x 3 repeats", "Difference a less b: on the 7 questions that both have."),
    *(CAPPED.format(SMALLER), CAPPED.format(LARGER)),
    "a, b among thinking figures: rank 5 of 9, tied with x.",
    "a, b: rank 5 of 9 (counts if the model was thinking) (protocol not known).",
    *("a, b: no rank, because protocol not known.", "a, b: rank 5 of 9 (not known: data)."),
    "failed 5: 2 x content filter, 1 x other reasons",
    "temperature 0.5 (officially the model's own temperature, above 0)",
    f"No difference a less b: {UNLIKE}.",
    "Remark: t_1, not comparable: t_2 differs (5 | [7; 9]): other questions were asked.",
]
# Names and keys stay: what else is left must be Chinese.
STAYS = re.compile(
    r"<think>|</think>|--?[a-z_]+ [a-z_]+=TOKENS|--format csv|json|tokens?\b|truncate|overlength"
    r"|best-of-N|pass@N|Wilson|BCa|LongBench( v2| Pro)?|thinking\b|HTTP|id\b|t_?\d|x/y"
    r"|FullKV|Passage Count|strict \(missing and failed are wrong\)"
)


def english_left(text):
    return re.findall(r"[A-Za-z]{3,}", STAYS.sub("", in_chinese(text)))


def made():
    """Every text of several words in the functions, docstrings aside; {} is what is filled in."""
    for name, functions in MAKERS.items():
        tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
        found = {own.name: own for own in ast.walk(tree) if isinstance(own, ast.FunctionDef)}
        for function in functions:
            yield from texts_in(found[function])


MADE = sorted(set(made()))


def test_texts_are_found():
    assert len(MADE) > 60


@pytest.mark.parametrize("text", MADE)
def test_each_template_has_its_chinese(text):
    pieces = [piece for piece in re.split(r"\{\}", text) if re.search("[a-z]{3}", piece)]
    wholes = [own for own in WHOLE if all(piece in own for piece in pieces)]
    if not wholes:
        assert english_left(text.replace("{}", "7")) == []


@pytest.mark.parametrize("text", WHOLE)
def test_put_together_they_have_it_too(text):
    assert english_left(text) == []


def test_other_texts_of_reports():
    texts = [own.unit_note for own in benchmarks().values()]
    texts += [row.caveat for name in benchmarks() for row in published_rows(name) if row.caveat]
    texts += [rule.reason for rule in INGREDIENTS.values() if rule.weight == NOT]
    assert [text for text in texts if english_left(text)] == []


def test_numbers_and_names_are_kept():
    for english, chinese in chinese_of("notes").items():
        slots = re.findall(r"\{(\d+)\}", chinese)
        assert sorted(slots) == sorted(map(str, range(english.count("{}")))), english
        assert re.search("[\u4e00-\u9fff]", chinese)
    assert in_chinese("prompts cut at 8000 tokens (officially cut at 3500 or 7500)") == (
        "提示词截断到 8000 个 token（官方截断到 3500 或 7500）"
    )
    two = "prompts cut at 8 tokens (officially cut at 4); temperature 0.5 (officially greedy)"
    assert in_chinese(two) == (
        "提示词截断到 8 个 token（官方截断到 4）；温度 0.5（官方为 贪心解码）"
    )
    assert in_chinese("t_1 has 5 of 9 questions, t_2 has 0 of 5 questions and 2 more tasks") == (
        "t_1 有 5 / 9 道题，t_2 有 0 / 5 道题，另有 2 项"
    )
    assert in_chinese("not known: data, limit, chat") == "未知：数据、limit、chat"
    assert in_chinese("something nobody translated") == "something nobody translated"


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
        notes = [own for own in told.splitlines() if not re.match(r"\s*[|│┃┏┡┗└├]", own)]
        words = {own for line in notes for own in re.findall(r"[a-z]{4,}", STAYS.sub("", line))}
        assert words & {"questions", "intervals", "because", "documents", "missing"} == set()
        assert "区间为 95%" in told and "没有名次" in told


def test_a_page_has_its_notes_in_both(runs):
    data = page_data(runs, published=True)
    for benchmark in data["benchmarks"]:
        for entry in benchmark["entries"]:
            for text in (entry["why"], *entry["notes"]):
                assert not text or re.search("[\u4e00-\u9fff]", data["chinese"][text]), text


@pytest.mark.parametrize(
    ("label", "chinese"), [("Warning: {}.", "警告：{}。"), ("Remark: {}", "备注：{}")]
)
def test_a_label_is_no_part_of_a_note(label, chinese):
    note = (
        "3 of 4 answers (75.0%) ended at the output budget (capped): what is scored may be missing "
        "in them. This run had a smaller budget than official ones. Official runs have 128 tokens"
    )
    assert in_chinese(label.format(note)) == chinese.format(in_chinese(note))
    assert in_chinese(note).startswith("4 个回答中有 3 个（75.0%）")
