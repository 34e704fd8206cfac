"""The data behind a task's `dataset_name`."""

import pytest

from lm_eval_longbench.doctor.data import Wanted, load, official_rows
from lm_eval_longbench.errors import UnknownNameError


@pytest.mark.parametrize(
    ("benchmark", "dataset", "rows"),
    [
        ("v1", "qasper", 200),
        ("v1", "qasper_e", 224),
        ("v2", "all", 503),
        ("v2", "code_repository", 50),
        ("pro", "t1_1", 60),
        ("pro", "t1_1_thinking", 60),
    ],
)
def test_official_numbers_and_the_sample(benchmark, dataset, rows):
    assert official_rows(benchmark, dataset) == rows
    documents = load(Wanted("task", benchmark, dataset, "sample"))
    assert documents.label.startswith("sample-")
    assert len(documents.rows) > 0


@pytest.mark.parametrize(("benchmark", "dataset"), [("v1", "qasperr"), ("pro", "t1_9")])
def test_no_such_dataset(benchmark, dataset):
    with pytest.raises(UnknownNameError, match="Did you mean"):
        load(Wanted("task", benchmark, dataset, "sample"))
