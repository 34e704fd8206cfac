"""Answers to questions of different data are not merged."""

import pytest
from prediction_rows import V1_FILE, V2_FILE

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.scoring.files import LOG, InputFile
from lm_eval_longbench.scoring.merge import Labels, is_official

OFFICIAL = "zai-org/LongBench-v2@2b48e49"
V1, V2 = "longbench_v1", "longbench_v2"
TASKS = ("longbench_v1_narrativeqa", "longbench_v1_qasper")


def labels(*given):
    """Of (table, label, kind) or (table, label, kind, number of the task)."""
    own = Labels()
    for number, (table, label, kind, *task) in enumerate(given):
        source = InputFile(f"file{number}", kind=kind)
        own.add(table, TASKS[task[0]] if task else table, label, source)
    return own


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (OFFICIAL, True),
        ("caskcsg/LongBench-Pro@4996884", True),
        ("caskcsg/LongBench-Pro@4996884 (only language: English)", True),
        ("sample-5ccf977518b0", False),
        ("sample-5ccf977518b0 (only language: English)", False),
        ("local-5ccf977518b0", False),
        (None, False),
    ],
)
def test_official_labels(label, expected):
    assert is_official(label) == expected


@pytest.mark.parametrize(
    "given",
    [
        [],
        [(V2, OFFICIAL, LOG), (V2, OFFICIAL, LOG)],
        [(V2, "sample-1", LOG)],
        [(V2, None, LOG)],
        [(V2, OFFICIAL, LOG), (V2, None, V2_FILE)],
        [(V1, "sample-1", LOG), (V2, "sample-2", LOG)],
        [(V1, None, V1_FILE)],
        # Halves of one set.
        [(V2, f"{OFFICIAL} (only a: x)", LOG), (V2, f"{OFFICIAL} (only a: y)", LOG)],
        [(V2, "sample-1 (only a: x)", LOG), (V2, "sample-1", LOG)],
        # Each dataset of the sample, or of a folder, is a file with a hash of its own.
        [(V1, "sample-1", LOG, 0), (V1, "sample-2", LOG, 1)],
        [(V1, "local-1", LOG, 0), (V1, "local-2", LOG, 1), (V1, "local-1", LOG, 0)],
    ],
)
def test_what_may_be_merged(given):
    labels(*given).check()


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ([(V2, OFFICIAL, LOG), (V2, "sample-1", LOG)], [OFFICIAL, "sample-1", "file0", "file1"]),
        ([(V2, "sample-1", LOG), (V2, None, LOG)], ["sample-1", "data that file1 does not name"]),
        ([(V2, "sample-1", LOG), (V2, None, V2_FILE)], ["sample-1", "the official data", "file1"]),
        ([(V2, None, LOG), (V2, None, V2_FILE)], ["file0 does not name", "the official data"]),
    ],
)
def test_what_must_not_be_merged(given, names):
    for order in (given, given[::-1]):
        own = Labels()
        for table, label, kind in order:
            name = f"file{given.index((table, label, kind))}"
            own.add(table, table, label, InputFile(name, kind=kind))
        with pytest.raises(PredictionError, match="longbench_v2: the inputs are of diff") as caught:
            own.check()
        for name in names:
            assert name in str(caught.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [("sample-1", "local-1"), ("sample-1", "zai-org/LongBench@5e628be"), ("local-1", None)],
)
def test_the_tasks_of_a_table_are_of_one_kind_of_data(one, other):
    with pytest.raises(PredictionError, match="longbench_v1: the inputs are of different data"):
        labels((V1, one, LOG, 0), (V1, other, LOG, 1)).check()


def test_a_task_is_of_one_file():
    with pytest.raises(PredictionError, match=r"'sample-1' \(file0\); 'sample-2' \(file2\)"):
        labels((V1, "sample-1", LOG, 0), (V1, "sample-3", LOG, 1), (V1, "sample-2", LOG, 0)).check()


def test_v1_predictions_and_logs_name_questions_differently():
    given = [(V1, "zai-org/LongBench@5e628be", LOG), (V1, None, V1_FILE)]
    with pytest.raises(PredictionError, match=r"by its line \(file1\), sample logs by its id"):
        labels(*given).check()
