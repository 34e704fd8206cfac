"""The catalog against the official lists, written out once more."""

import pytest

from lm_eval_longbench.benchmarks.longbench_v1 import CATEGORIES
from v1_tasks import BY_FILE, BY_NAME, E_TASKS, TASKS, V1_TASKS
from lm_eval_longbench.benchmarks.longbench_v1 import DATASETS
from lm_eval_longbench.benchmarks.longbench_v1 import E
from MISSING:catalog import RAW_PROMPT
from lm_eval_longbench.errors import UnknownNameError

# Official order: the task list of LongBench's pred.py.
BUDGETS = {
    "narrativeqa": 128,
    "qasper": 128,
    "multifieldqa_en": 64,
    "multifieldqa_zh": 64,
    "hotpotqa": 32,
    "2wikimqa": 32,
    "musique": 32,
    "dureader": 128,
    "gov_report": 512,
    "qmsum": 512,
    "multi_news": 512,
    "vcsum": 512,
    "trec": 64,
    "triviaqa": 32,
    "samsum": 128,
    "lsht": 64,
    "passage_count": 32,
    "passage_retrieval_en": 32,
    "passage_retrieval_zh": 32,
    "lcc": 64,
    "repobench-p": 64,
}
MEMBERS = {
    "single_doc_qa": "narrativeqa qasper multifieldqa_en multifieldqa_zh",
    "multi_doc_qa": "hotpotqa 2wikimqa musique dureader",
    "summarization": "gov_report qmsum multi_news vcsum",
    "few_shot": "trec triviaqa samsum lsht",
    "synthetic": "passage_count passage_retrieval_en passage_retrieval_zh",
    "code": "lcc repobench-p",
}
CHINESE = {"multifieldqa_zh", "dureader", "vcsum", "lsht", "passage_retrieval_zh"}
CODE = {"lcc", "repobench-p"}
RAW = {"trec", "triviaqa", "samsum", "lsht", "lcc", "repobench-p"}
IN_E = [
    "qasper",
    "multifieldqa_en",
    "hotpotqa",
    "2wikimqa",
    "gov_report",
    "multi_news",
    "trec",
    "triviaqa",
    "samsum",
    "passage_count",
    "passage_retrieval_en",
    "lcc",
    "repobench-p",
]
ROWS = dict.fromkeys(BUDGETS, 200) | {"multifieldqa_en": 150, "lcc": 500, "repobench-p": 500}
ROWS_E = dict.fromkeys(IN_E, 300) | {"multifieldqa_en": 150, "qasper": 224, "multi_news": 294}


def test_the_21_datasets_in_official_order_with_their_budgets():
    assert [(name, info.max_gen_toks) for name, info in V1.items()] == list(BUDGETS.items())
    assert all(info.name == name for name, info in V1.items())
    assert len(V1) == len(V1_TASKS) == 21


def test_the_13_datasets_of_longbench_e_are_the_same_infos():
    assert list(E) == IN_E
    assert all(E[name] is V1[name] for name in IN_E)
    assert len(E) == len(E_TASKS) == 13


def test_row_counts():
    assert {name: info.rows for name, info in V1.items()} == ROWS
    assert {name: info.rows_e for name, info in E.items()} == ROWS_E
    assert {name for name, info in V1.items() if info.rows_e is None} == set(BUDGETS) - set(IN_E)
    assert sum(split.questions for split in V1_TASKS) == 4750
    assert sum(split.questions for split in E_TASKS) == 3668


def test_categories():
    assert tuple(MEMBERS) == CATEGORIES
    for category, names in MEMBERS.items():
        found = [name for name, info in V1.items() if info.category == category]
        assert found == names.split()


def test_languages():
    languages = {
        language: {name for name, info in V1.items() if info.language == language}
        for language in ("en", "zh", "code")
    }
    assert (languages["zh"], languages["code"]) == (CHINESE, CODE)
    assert languages["en"] == set(BUDGETS) - CHINESE - CODE
    assert [len(languages[language]) for language in ("en", "code", "zh")] == [14, 2, 5]
    assert not CHINESE & set(IN_E)


def test_the_six_that_go_out_raw():
    assert set(RAW_PROMPT) == RAW
    assert len(RAW_PROMPT) == 6
    assert {name for name, info in V1.items() if not info.chat} == RAW


def test_the_tables_cannot_be_changed():
    with pytest.raises(TypeError):
        V1["nq"] = V1["qasper"]
    with pytest.raises(TypeError):
        del E["qasper"]
    with pytest.raises(AttributeError):
        V1["qasper"].rows = 1


def test_task_names_and_file_names():
    assert [split.name for split in V1_TASKS] == [
        f"longbench_v1_{name.replace('-', '_')}" for name in BUDGETS
    ]
    assert [split.dataset for split in V1_TASKS] == list(BUDGETS)
    assert [split.name for split in E_TASKS] == [
        f"longbench_v1_e_{name.replace('-', '_')}" for name in IN_E
    ]
    assert [split.dataset for split in E_TASKS] == [f"{name}_e" for name in IN_E]
    assert TASKS == V1_TASKS + E_TASKS


def test_the_dataset_with_a_hyphen():
    split = BY_NAME["longbench_v1_repobench_p"]
    assert (split.label, split.dataset, split.questions) == ("repobench-p", "repobench-p", 500)
    assert not (split in E_TASKS)
    split = BY_NAME["longbench_v1_e_repobench_p"]
    assert (split.label, split.dataset, split.questions) == ("repobench-p", "repobench-p_e", 300)
    assert (split in E_TASKS)


def test_names_are_unique_and_lead_back():
    assert len({split.name for split in TASKS}) == len({s.file_stem for s in TASKS}) == 34
    for split in TASKS:
        assert BY_NAME[split.name] is split
        assert BY_FILE[split.dataset] is split


@pytest.mark.parametrize(
    ("find", "name", "nearest"),
    [
        (split_of_file, "quasper", "qasper"),
        (split_of_file, "repobench_p", "repobench-p"),
        (split_of_file, "narrativeqa_e", "narrativeqa"),
        (split_of_file, "nq", None),
        (split_of_file, "None", None),
        (split_of_task, "longbench_v1_repobench-p", "longbench_v1_repobench_p"),
        (split_of_task, "longbench_v1_e_gov_reprot", "longbench_v1_e_gov_report"),
        (split_of_task, "qasper", None),
    ],
)
def test_unknown_names(find, name, nearest):
    with pytest.raises(UnknownNameError) as caught:
        find(name)
    assert repr(name) in str(caught.value)
    assert "Did you mean" in str(caught.value)
    if nearest:
        assert f"Did you mean {nearest!r}?" in str(caught.value)
