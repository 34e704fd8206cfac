"""Runs among the published rows of their table."""

import random

import pytest
from scored_runs import pro_row, v1_rows, v2_row, write_run

from lm_eval_longbench.catalog import V1
from lm_eval_longbench.catalog_pro import BY_CODE, DIMENSIONS
from lm_eval_longbench.reports.read_run import read_run
from lm_eval_longbench.reports.report import make_report


def boards(*folders):
    (benchmark,) = make_report([read_run(folder) for folder in folders], published=True).benchmarks
    return {board.table: board for board in benchmark.leaderboards}


def v1_run(folder, score, without=(), official=True):
    scores = {name: [score] * info.rows for name, info in V1.items() if name not in without}
    return write_run(folder, v1_rows(scores), official_data=official, data=("official",))


def ranks(board):
    return {(rank.column, *rank.place, rank.mode): rank for rank in board.ranks}


def test_v1_has_a_rank_a_language(tmp_path):
    board = boards(v1_run(tmp_path / "mine", 0.44))["longbench_v1"]
    found = ranks(board)
    english, chinese = (found["mine", "headline", name, ""] for name in ("English", "Chinese"))
    # English: 48.5, 44.0, 40.9, ...; Chinese: 52.8, 44.5, 41.7, ...
    assert (english.rank, english.of, english.ties) == (2, 9, ("GPT-3.5-Turbo-16k",))
    assert (chinese.rank, chinese.of, chinese.ties) == (3, 9, ())
    names = [entry.name for entry in board.entries]
    assert len(names) == 9
    assert names[:3] == ["ChatGLM3-6B-32k", "GPT-3.5-Turbo-16k", "mine"]


def test_a_language_that_is_complete_is_ranked_without_the_other(tmp_path):
    found = ranks(boards(v1_run(tmp_path / "mine", 0.3, without=["lsht"]))["longbench_v1"])
    assert found["mine", "headline", "English", ""].rank == 7
    chinese = found["mine", "headline", "Chinese", ""]
    assert chinese.reason == "it is incomplete: longbench_v1_lsht has 0 of 200 questions"


def test_other_data_has_no_rank(tmp_path):
    board = boards(v1_run(tmp_path / "mine", 0.3, official=False))["longbench_v1"]
    assert {rank.rank for rank in board.ranks} == {None}
    assert {rank.reason for rank in board.ranks} == {
        "its data is not the official set (data: official)"
    }
    assert "mine" in [entry.name for entry in board.entries]


def pro_rows(score, table="longbench_pro"):
    """1,500 questions, three runs of one score."""
    lengths, generator = DIMENSIONS["token_length"], random.Random(1)
    return [
        pro_row(
            f"{code}-{number}",
            score,
            table=table,
            repeat=run,
            code=code,
            primary_task=task.primary,
            token_length=lengths[number % 6],
            failed=generator.random() < 0.001,
        )
        for code, task in BY_CODE.items()
        for number in range(60)
        for run in (1, 2, 3)
    ]


@pytest.fixture(scope="module")
def pro_folder(tmp_path_factory):
    rows = pro_rows(0.5) + pro_rows(0.7, "longbench_pro_thinking")
    return write_fast(tmp_path_factory.mktemp("pro") / "mine", rows)


def write_fast(folder, rows):
    """`write_run` counts what each question lacks the slow way: here none lacks anything."""
    import json

    write_run(folder, [row for row in rows if row["id"].endswith("-0")], official_data=True)
    report = json.loads((folder / "report.json").read_text())
    for name, table in report["tables"].items():
        own = [row for row in rows if row["table"] == name]
        table["counts"] |= {"samples": len(own), "questions": 1500, "missing": 0}
        table["tasks"] = {row["task"]: {"questions": 60} for row in own}
        (value,) = {row["score"] for row in own}
        table["official"] = with_value(table["official"], value)
    (folder / "report.json").write_text(json.dumps(report))
    (folder / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def with_value(official, value):
    """Every mean is the one score there is; values without a question are None, nothing passes."""
    out = {}
    for name, entry in official.items():
        if isinstance(entry, dict):
            out[name] = with_value(entry, value)
        elif name.startswith("pass@"):
            out[name] = 4 * 30 / 1500 if value > 0.65 else 0.0
        elif isinstance(entry, float) or name in DIMENSIONS["token_length"]:
            out[name] = value
        else:
            out[name] = entry
    return out


def test_pro_tables_are_ranked_in_their_mode(pro_folder):
    found = boards(pro_folder)
    assert set(found) == {"longbench_pro", "longbench_pro_thinking"}
    plain, thinking = found.values()
    assert (plain.mode, thinking.mode) == ("nonthinking", "thinking")
    column = "mine (non-thinking prompt)"
    own = ranks(plain)
    # Non-thinking scores above 0.5: 0.561, 0.559, 0.525, 0.517, 0.517, 0.515, 0.514, 0.514, 0.501.
    assert own[column, "overall", "overall", "nonthinking"].rank == 10
    assert own[column, "overall", "overall", "nonthinking"].of == 35
    # Thinking models officially get this prompt: the rank if it was one.
    assert own[column, "overall", "overall", "thinking"].of == 47
    rank = ranks(thinking)["mine (thinking prompt)", "overall", "overall", "thinking"]
    assert (rank.rank, rank.of) == (3, 47)  # Gemini-2.5-Pro 0.734, GPT-5 0.726
    assert len(thinking.entries) == 47


def test_version_2_modes(tmp_path):
    rows = [v2_row(f"q{n}", float(n % 2), table="longbench_v2") for n in range(4)]
    rows += [
        row | {"table": name, "task": name}
        for row in rows
        for name in ("longbench_v2_cot_answer", "longbench_v2_rag")
    ]
    found = boards(write_run(tmp_path / "r", rows))
    direct, cot, rag = (found[f"longbench_v2{name}"] for name in ("", "_cot_answer", "_rag"))
    assert (direct.mode, cot.mode) == ("direct", "CoT")
    # Rows that do not say their mode are shown with both.
    for board in (direct, cot):
        shown = [entry.published.model for entry in board.entries if entry.published]
        assert {"o1-preview", "Human experts (15 min limit)"} <= set(shown)
    assert rag.reason == "no figures of LongBench v2 RAG are published here"
    assert (rag.entries, rag.ranks) == ((), ())


def test_a_whole_run_of_version_2(tmp_path):
    rows = [v2_row(f"q{n}", float(n < 150)) for n in range(503)]  # 29.8
    (rank,) = boards(write_run(tmp_path / "r", rows, official_data=True))["longbench_v2"].ranks
    # best direct answer 50.1, GPT-4o-mini 29.3, command-r-plus 27.8; two rows have a caveat, and
    # two do not say their mode.
    assert (rank.rank, rank.of, rank.ties) == (2, 4, ())
    rows = [
        row | {"table": "longbench_v2_cot_answer", "task": "longbench_v2_cot_answer"}
        for row in rows
    ]
    (rank,) = boards(write_run(tmp_path / "c", rows, official_data=True))[
        "longbench_v2_cot_answer"
    ].ranks
    assert rank.reason == "no published figure of this mode can be counted"


def test_nothing_is_published_for_e(tmp_path):
    folder = write_run(tmp_path / "r", v1_rows({"trec": [(1, 1.0)]}, "longbench_v1_e"))
    assert boards(folder)["longbench_v1_e"].reason == "no figures of LongBench-E are published here"
