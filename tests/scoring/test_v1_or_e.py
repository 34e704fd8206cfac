"""LongBench v1 and LongBench-E prediction files look alike."""

import pytest
from prediction_rows import v1_row, write_lines

from v1_tasks import E_TASKS, V1_TASKS
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.offline.v1_or_e import table_of_folder


@pytest.fixture
def table(tmp_path):
    """The table of a folder of files with so many rows: table("pred_e/model", qasper=3)."""

    def run(folder, **rows):
        path = tmp_path / folder
        files = {
            name: write_lines(path / f"{name}.jsonl", *[v1_row("x", "y")] * number)
            for name, number in rows.items()
        }
        return table_of_folder(path, files)

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
def test_the_official_folders_decide(table, folder, expected):
    assert table(folder, qasper=1) == expected
    assert table(folder, qasper=200, narrativeqa=1) == expected


def test_a_dataset_that_e_does_not_have(table):
    assert table("model", qasper=224, narrativeqa=1) == "longbench_v1"


def test_official_numbers_of_rows(table):
    assert table("a", qasper=224) == "longbench_v1_e"
    assert table("b", qasper=200) == "longbench_v1"
    assert table("c", qasper=200, trec=200, multifieldqa_en=150) == "longbench_v1"
    assert table("d", **{split.label: split.questions for split in E_TASKS}) == "longbench_v1_e"
    shared = {split.label for split in E_TASKS}
    rows = {split.label: split.questions for split in V1_TASKS if split.label in shared}
    assert table("e", **rows) == "longbench_v1"


@pytest.mark.parametrize(
    "rows",
    [
        {"multifieldqa_en": 150},  # as many in both
        {"qasper": 10},
        {"qasper": 224, "trec": 200},
        {"qasper": 0},
    ],
)
def test_nothing_tells(table, rows):
    with pytest.raises(PredictionError, match="--benchmark v1 or --benchmark v1_e") as caught:
        table("model", **rows)
    for name, number in rows.items():
        assert f"{name} {number}" in str(caught.value)
