"""LongBench Pro: one file, and from it the questions of each secondary task."""

import json

import pytest
from pro_rows import ROW, official_rows, write_rows

from lm_eval_longbench.benchmarks.longbench_pro import BY_CODE, COUNTS, QUESTIONS, SECONDARY_TASKS
from lm_eval_longbench.data import longbench_pro
from lm_eval_longbench.data.longbench_pro import BENCHMARK, load
from lm_eval_longbench.data.rows_pro import FIELDS
from MISSING:data.sources import LONGBENCH_PRO
from lm_eval_longbench.errors import DataError

T1_1 = BY_CODE["t1_1"]
ROWS = official_rows()


def test_the_pin_is_the_one_of_the_specification():
    assert BENCHMARK.source is LONGBENCH_PRO
    assert LONGBENCH_PRO.label == "caskcsg/LongBench-Pro@4996884"
    assert LONGBENCH_PRO.revision == "4996884deae51f5e5d23c88da9d857fc54e5fa15"
    assert LONGBENCH_PRO.sha256.startswith("92ff05f6088e212d") and len(LONGBENCH_PRO.sha256) == 64


def test_official_counts():
    assert {sum(values.values()) for values in COUNTS.values()} == {QUESTIONS} == {1500}
    assert COUNTS["contextual_requirement"] == {"Full": 840, "Partial": 660}
    assert COUNTS["difficulty"] == {"Easy": 482, "Moderate": 289, "Hard": 289, "Extreme": 440}
    assert set(COUNTS["secondary_task"].values()) == {60} and len(COUNTS["secondary_task"]) == 25
    assert COUNTS["language"] == {"Chinese": 750, "English": 750}
    assert set(COUNTS["token_length"].values()) == {250}
    assert COUNTS["primary_task"]["T6. Aggregation & Clustering"] == 180


def test_the_pinned_file_is_split_by_task(folders, hub_file):
    hub_file(longbench_pro, json.dumps(ROWS).encode())
    for task in SECONDARY_TASKS.values():
        documents = load(task)
        assert documents.rows[:]["id"] == [
            row["id"] for row in ROWS if row["secondary_task"] == task.name
        ]
        assert set(documents.rows["secondary_task"]) == {task.name}
        assert len(documents.rows) == 60
    (folder,) = folders()
    assert {path.name for path in folder.iterdir()} == {
        "counts.json",
        "manifest.json",
        *(f"{code}.arrow" for code in BY_CODE),
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], "1499 questions instead of 1500"),
        (lambda rows: [*rows, rows[0]], "1501 questions instead of 1500"),
        (lambda rows: [{**rows[0], "difficulty": "Hard"}, *rows[1:]], "'Easy' 481 instead of 482"),
        (
            lambda rows: [{**rows[0], "contextual_requirement": "Partial"}, *rows[1:]],
            "'Full' 839 instead of 840; contextual_requirement 'Partial' 661 instead of 660",
        ),
        (lambda rows: [{**rows[0], "token_length": "16k"}, *rows[1:]], "'8k' 249 instead of 250"),
        (lambda rows: rows[:3], "3 questions instead of 1500.*; and .* more"),
        (lambda rows: [], "0 questions instead of 1500"),
    ],
)
def test_other_counts_than_pinned_are_an_error(folders, hub_file, change, message):
    hub_file(longbench_pro, json.dumps(change(ROWS)).encode())
    for _ in range(2):
        with pytest.raises(DataError, match=message):
            load(T1_1)
        assert folders() == []


def test_a_subset_serves_the_tasks_it_has(cache, tmp_path, caplog):
    file = write_rows(tmp_path / "longbench_pro.json", [ROW, {**ROW, "id": "1"}])
    documents = load(T1_1, str(tmp_path))
    assert list(documents.rows) == [ROW, {**ROW, "id": "1"}]
    assert tuple(documents.rows.column_names) == FIELDS
    assert "2 questions instead of 1500" in caplog.text
    with pytest.raises(DataError, match=r"holds no questions of 'T11\.2 ") as caught:
        load(BY_CODE["t11_2"], str(tmp_path))
    assert str(file) in str(caught.value)


def test_the_sample_has_every_task(cache, caplog):
    for task in SECONDARY_TASKS.values():
        documents = load(task, "sample")
        assert len(documents.rows) >= 2
        assert set(documents.rows["secondary_task"]) == {task.name}
        assert documents.label == f"sample-{documents.sha256[:12]}"
        assert not documents.official
    assert caplog.records == []
