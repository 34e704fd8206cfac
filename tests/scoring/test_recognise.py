"""Files are told by what is in them, and by their names where nothing can be read."""

from typing import NamedTuple

import pytest
from prediction_rows import (
    PRO_FILE,
    STAMP,
    V1_FILE,
    V2_FILE,
    log_row,
    pro_question,
    pro_row,
    v1_doc,
    v1_row,
    v2_question,
    v2_row,
    write_lines,
)
from v1_tasks import E_TASKS, V1_TASKS

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.scoring.files import (
    LOG,
    Foreign,
    InputFile,
    recognise,
    recognise_log,
    table_of_folder,
)

QASPER = "longbench_v1_qasper"
LOGGED = log_row(QASPER, v1_doc(QASPER, 0, "Emma"), "x")


class Recognised(NamedTuple):
    kind: str
    table: str | None = None
    task: str | None = None
    filter: str | None = None


def held(file):
    return Recognised(file.kind, file.table, file.task, file.filter)


@pytest.fixture
def look(tmp_path):
    """Recognise a file of these lines: look(name, *lines)."""

    def run(name, *lines, benchmark=None, named=False, packed=False):
        path = write_lines(tmp_path / "in" / name, *lines, packed=packed)
        file = InputFile(f"in/{name}", path, named)
        return recognise(file, benchmark) or held(file)

    return run


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("name", "row", "expected"),
    [
        ("qasper.jsonl", v1_row("x", "y"), Recognised(V1_FILE, None, "qasper")),
        ("repobench-p.jsonl.gz", v1_row("x", "y"), Recognised(V1_FILE, None, "repobench-p")),
        ("qasper.jsonl", {"pred": "x"}, Recognised(V1_FILE, None, "qasper")),
        ("any.jsonl", v2_row("q"), Recognised(V2_FILE, "longbench_v2", "longbench_v2")),
        ("any.jsonl", pro_row("q"), Recognised(PRO_FILE, "longbench_pro")),
        ("any.jsonl", LOGGED, Recognised(LOG, None, None, "none")),
        # The content wins.
        ("qasper.jsonl", LOGGED, Recognised(LOG, None, None, "none")),
        ("m_inference_1.jsonl", v2_row("q"), Recognised(V2_FILE, "longbench_v2", "longbench_v2")),
    ],
)
def test_by_content(look, name, row, expected, packed):
    assert look(name, row, packed=packed) == expected
    assert look(name, "{", "", [], row, packed=packed) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qasper.jsonl", Recognised(V1_FILE, None, "qasper")),
        ("m_nonthinking_inference_1-of-2.jsonl", Recognised(PRO_FILE, "longbench_pro")),
        (f"samples_{QASPER}_{STAMP}.jsonl", Recognised(LOG, None, QASPER)),
        (f"samples_{QASPER}.jsonl.gz", Recognised(LOG, None, QASPER)),
        ("samples.jsonl", Foreign("is not recognised as predictions")),
        (f"samples_gsm8k_{STAMP}.jsonl", Foreign("is not recognised as predictions")),
    ],
)
@pytest.mark.parametrize("lines", [[], ["{"], ["[]", "", "7", b"\xff"]])
def test_by_name_where_nothing_can_be_read(look, name, expected, lines):
    assert look(name, *lines) == expected


def test_a_name_does_not_decide_where_rows_can_be_read(look):
    assert isinstance(look("qasper.jsonl", {"other": 1}), Foreign)


@pytest.mark.parametrize(
    ("name", "more", "table"),
    [
        ("llama.jsonl", {}, "longbench_v2"),
        ("llama_no_context.jsonl", {}, "longbench_v2_no_context"),
        ("llama_rag_5.jsonl.gz", {}, "longbench_v2_rag"),
        ("llama_cot.jsonl", {}, "longbench_v2_cot_answer"),
        ("llama.jsonl", {"response_cot": "Let me think."}, "longbench_v2_cot_answer"),
        ("rag_model.jsonl", {}, "longbench_v2"),
    ],
)
def test_the_modes_of_v2(look, name, more, table):
    assert look(name, {**v2_row("q"), **more}) == Recognised(V2_FILE, table, table)


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("m_nonthinking_context-120000_bon-3_inference_1-of-1.jsonl", "longbench_pro"),
        ("m_thinking_context-120000_bon-3_inference_1-of-1.jsonl", "longbench_pro_thinking"),
        ("Model-Thinking_nonthinking_inference_.jsonl", "longbench_pro"),
        ("m_inference_1.jsonl", "longbench_pro"),
    ],
)
def test_the_forms_of_pro(look, name, table):
    assert look(name, pro_row("q")) == Recognised(PRO_FILE, table)


def test_scores_of_the_official_pro_evaluation_are_not_answers(look):
    row = {**pro_row("q"), "metric": 1.0}
    found = look("m_nonthinking_evaluation.jsonl", row)
    assert found == Foreign("holds scores of the official evaluation, not answers")
    # Unless the user names the file, or its name says what it is.
    assert look("x.jsonl", row, named=True) == Recognised(PRO_FILE, "longbench_pro")
    assert look("m_inference_1.jsonl", row) == Recognised(PRO_FILE, "longbench_pro")


def test_logs_of_other_tasks(look):
    row = {"doc_id": 0, "doc": {"question": "1+1?"}, "resps": [["2"]]}
    found = look(f"samples_gsm8k_{STAMP}.jsonl", row)
    assert found.reason.startswith("is a sample log of the task 'gsm8k'; the tasks of longbench_v1")
    assert "does not say its task" in look("log.jsonl", row).reason


def test_what_we_write_is_passed_over(look):
    own = dict.fromkeys(("table", "task", "id", "repeat", "score", "failed", "truncated"))
    assert look("samples.jsonl", own).quiet
    assert look("samples.jsonl", own, benchmark="v2").quiet
    assert not look("samples.jsonl", own, named=True).quiet


@pytest.mark.parametrize(
    "name",
    [
        "answers_m_0a1b2c3d.sqlite",
        "answers_m_0a1b2c3d.sqlite.lock",
        "requests_answers_m_0a1b2c3d.jsonl",
        f"run_{STAMP}.log",
    ],
)
def test_what_a_run_keeps_beside_its_results_is_passed_over(look, name):
    assert look(name, "{").quiet
    assert look(name, "{", named=True).quiet


def test_the_user_says_v1(look):
    for benchmark, table in (("v1", "longbench_v1"), ("v1_e", "longbench_v1_e")):
        expected = Recognised(V1_FILE, table, "qasper")
        assert look("qasper.jsonl", "{", benchmark=benchmark) == expected
        assert look("qasper.jsonl", v2_row("q"), benchmark=benchmark) == expected
        for name in ("qaspr.jsonl", "hotpotqa_e.jsonl"):
            found = look(name, v1_row("x", "y"), benchmark=benchmark)
            assert found == Foreign(f"is no dataset of {benchmark}")
    found = look("narrativeqa.jsonl", v1_row("x", "y"), benchmark="v1_e")
    assert found == Foreign("is no dataset of v1_e")
    assert look("any.jsonl", LOGGED, benchmark="v1").kind == LOG


def test_the_user_says_v2_or_pro(look):
    assert look("qasper.jsonl", "{", benchmark="v2").kind == V2_FILE
    assert look("any.jsonl", {"id": 1}, benchmark="pro", named=True).kind == PRO_FILE
    assert look("any.jsonl", {"id": 1}, benchmark="pro") == Foreign(
        "is not recognised as predictions"
    )
    assert look("m_inference_1.jsonl", {"id": 1}, benchmark="pro").kind == PRO_FILE
    found = look("any.jsonl", LOGGED, benchmark="v2")
    assert found == Foreign(f"is a sample log of the task '{QASPER}', which is not of v2")


def test_rows_in_memory():
    def look(row, name):
        file = InputFile(name)
        return recognise_log(file, row) or held(file)

    assert look(LOGGED, "mine") == Recognised(LOG, None, None, "none")
    old = {"doc": pro_question("q"), "resps": [["x"]]}
    assert look(old, "longbench_pro_t3_2") == Recognised(LOG, None, "longbench_pro_t3_2")
    assert isinstance(look(old, "gsm8k"), Foreign)
    assert look({"doc": v2_question("q")}, "longbench_v2").task == "longbench_v2"


@pytest.fixture
def folder_table(tmp_path):
    """The table of a folder of files with so many rows: folder_table("pred_e/model", qasper=3)."""

    def run(folder, **rows):
        path = tmp_path / folder
        files = {
            name: write_lines(path / f"{name}.jsonl", *[v1_row("x", "y")] * number)
            for name, number in rows.items()
        }
        return table_of_folder(V1_FILE, path, files)

    return run


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("pred/model", "longbench_v1"),
        ("pred_e/model", "longbench_v1_e"),
        ("pred", "longbench_v1"),
        ("pred_e", "longbench_v1_e"),
        ("pred/pred_e/model", "longbench_v1_e"),  # the nearest counts
        ("pred_e/pred", "longbench_v1"),
    ],
)
def test_the_official_folders_decide(folder_table, folder, expected):
    assert folder_table(folder, qasper=1) == expected
    assert folder_table(folder, qasper=200, narrativeqa=1) == expected


def test_official_numbers_of_rows(folder_table):
    assert folder_table("a", qasper=224) == "longbench_v1_e"
    assert folder_table("b", qasper=200) == "longbench_v1"
    assert folder_table("c", qasper=200, trec=200, multifieldqa_en=150) == "longbench_v1"
    assert (
        folder_table("d", **{split.label: split.questions for split in E_TASKS}) == "longbench_v1_e"
    )
    shared = {split.label for split in E_TASKS}
    rows = {split.label: split.questions for split in V1_TASKS if split.label in shared}
    assert folder_table("e", **rows) == "longbench_v1"


@pytest.mark.parametrize(
    "rows",
    [
        {"multifieldqa_en": 150},  # as many in both
        {"qasper": 10},
        {"qasper": 224, "trec": 200},
        {"qasper": 0},
    ],
)
def test_nothing_tells(folder_table, rows):
    with pytest.raises(PredictionError, match="which benchmark it is: v1 or v1_e") as caught:
        folder_table("model", **rows)
    for name, number in rows.items():
        assert f"{name} {number}" in str(caught.value)
