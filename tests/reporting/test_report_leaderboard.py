"""Runs among the published rows of their table."""

import json
import random
from pathlib import Path

import pytest
from longbench_pro_facts import BY_CODE, DIMENSIONS
from longbench_v1_facts import DATASETS
from prediction_rows import v1_row, write_lines
from scored_runs import pro_row, v1_rows, v2_row, write_run
from v1_tasks import V1_TASKS

from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task, protocol_of
from lm_eval_longbench.reporting.published import published_rows
from lm_eval_longbench.reporting.render import rank_text
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.run_end import official_protocol
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.scoring.score import score_paths

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "longbench_v1"


def boards(*folders):
    (benchmark,) = make_report([read_run(folder) for folder in folders], published=True).benchmarks
    return {board.table: board for board in benchmark.leaderboards}


def v1_run(folder, score, without=(), official=True):
    scores = {name: [score] * info.rows for name, info in DATASETS.items() if name not in without}
    return write_run(folder, v1_rows(scores), official_data=official, data=("official",))


def ranks(board):
    return {(rank.column, *rank.figure, rank.mode): rank for rank in board.ranks}


def test_v1_has_a_rank_a_language(tmp_path):
    board = boards(v1_run(tmp_path / "mine", 0.44))["longbench_v1"]
    found = ranks(board)
    english, chinese = (found["mine", "headline", name, ""] for name in ("English", "Chinese"))
    # English: 48.5, 44.0, 40.9, ...; Chinese: 52.8, 44.5, 41.7, ...
    assert (english.rank, english.of, english.ties) == (2, 9, ("GPT-3.5-Turbo-16k",))
    assert (chinese.rank, chinese.of, chinese.ties) == (3, 9, ())
    names = [entry.name for entry in board.entries]
    assert len(names) == 9 + 7  # with rows of papers
    names = [name for name in names if "FullKV" not in name]
    assert names[:3] == ["ChatGLM3-6B-32k", "GPT-3.5-Turbo-16k", "mine"]


def signed(folder, **changes):
    """Give a scored run the signature of an official one, changed in some ingredients."""
    report = json.loads((folder / "report.json").read_text())
    for name, table in report["tables"].items():
        tasks = {}
        for task in table["tasks"]:
            official = protocol_of(task)
            tasks[task] = {
                "benchmark": name.removesuffix("_cot_answer").removesuffix("_cot"),
                "data_sha256": benchmark_of(find_task(task)).source.sha256,
                "truncation": benchmark_of(find_task(task)).rule.__name__,
                "limit": official.limits[0],
                "overlength": "truncate",
                "chat": official.chat,
                "generation": {
                    "until": [],
                    "max_gen_toks": official.budgets[0],
                    "temperature": official.temperature,
                },
                "filters": None,
            } | changes
        table["signature"] = {"line": "", "ingredients": {}, "tasks": tasks}
    (folder / "report.json").write_text(json.dumps(report))
    return folder


def texts(*folders):
    """What is printed of the ranks of one benchmark."""
    found = boards(*folders).values()
    return [rank_text(rank, board) for board in found for rank in board.ranks]


def test_an_official_run_and_one_of_an_unknown_protocol_are_ranked(tmp_path):
    run = v1_run(tmp_path / "mine", 0.44)
    start = "mine, English: rank 2 of 9, tied with GPT-3.5-Turbo-16k"
    assert texts(run)[0] == f"{start} (protocol not known)."
    assert texts(signed(run, limit="?", chat="?"))[0] == f"{start} (not known: limit, chat)."
    assert texts(signed(run))[0] == f"{start}."


def test_copies_of_one_question_have_no_rank(tmp_path):
    for split in V1_TASKS:
        rows = [v1_row("1 a", "a", "1", length=5, classes=["a", "b"])] * split.questions
        write_lines(tmp_path / "pred" / f"{split.label}.jsonl", *rows)
    score_paths(tmp_path / "pred", tmp_path / "mine")
    board = boards(tmp_path / "mine")["longbench_v1"]
    assert board.entries[0].name == "mine"  # 100 percent, or nearly
    assert [rank.rank for rank in board.ranks] == [None, None]
    assert rank_text(board.ranks[0], board) == (
        "mine, English: no rank, because its questions are not distinct: 199 of 200 of "
        "longbench_v1_narrativeqa are copies, 199 of 200 of longbench_v1_qasper are copies, 149 "
        "of 150 of longbench_v1_multifieldqa_en are copies and 13 more tasks."
    )


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository")
def test_real_predictions_of_the_official_scripts_keep_their_rank(tmp_path):
    score_paths(GOLDEN, tmp_path / "mine", benchmark="v1")
    report = json.loads((tmp_path / "mine" / "report.json").read_text())
    copies = {own["copies"] for own in report["tables"]["longbench_v1"]["tasks"].values()}
    assert copies == {0, 1, 2}
    assert [text.rpartition(" (")[2] for text in texts(tmp_path / "mine")] == [
        "protocol not known)."
    ] * 2


def test_with_chain_of_thought_the_first_pass_counts_too(tmp_path):
    rows = [v2_row(f"q{n}", float(n < 150)) for n in range(503)]
    names = ("longbench_v2_cot_answer", "longbench_v2_cot")
    rows = [row | {"table": name, "task": name} for name in names for row in rows]
    run = signed(write_run(tmp_path / "mine", rows, official_data=True))
    (rank,) = boards(run)["longbench_v2_cot_answer"].ranks
    # Rows of people, of chance and of a third party do not count.
    known = [row for row in published_rows("longbench_v2") if row.mode == "CoT" and not row.caveat]
    above = sum(row.values["official", "overall"] > 29.8 for row in known)
    assert (rank.reason, rank.rank, rank.of) == ("", 1 + above, 37)
    report = json.loads((run / "report.json").read_text())
    first = report["tables"]["longbench_v2_cot"]["signature"]["tasks"]["longbench_v2_cot"]
    first["generation"]["max_gen_toks"] = 128
    (run / "report.json").write_text(json.dumps(report))
    (rank,) = boards(run)["longbench_v2_cot_answer"].ranks
    assert rank.reason == (
        "it is no run of the official protocol: an output budget of 128 tokens (officially 1024) "
        "in longbench_v2_cot"
    )
    # Of a second pass alone the first may be another model's, or asked for in another way.
    rows = [row for row in rows if row["table"] == names[0]]
    run = signed(write_run(tmp_path / "alone", rows, official_data=True))
    assert texts(run)[0].endswith("of 37 (not known: the first pass).")
    (report,) = make_report([read_run(run)]).benchmarks
    assert official_protocol(report.columns) == ("", "the first pass")


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
    """A whole run; `write_run` counts what each question lacks the slow way, and none does."""
    rows = pro_rows(0.5) + pro_rows(0.7, "longbench_pro_thinking")
    some = [row for row in rows if row["id"].endswith("-0")]
    folder = write_run(tmp_path_factory.mktemp("pro") / "mine", some, official_data=True)
    report = json.loads((folder / "report.json").read_text())
    for table in report["tables"].values():
        table["official"] = {}
        table["counts"] |= {"questions": 1500, "samples": 4500, "missing": 0}
        for own in table["tasks"].values():
            own |= {"questions": 60, "samples": 180}
    (folder / "report.json").write_text(json.dumps(report))
    (folder / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


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
