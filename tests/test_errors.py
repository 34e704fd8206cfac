"""The exceptions: one base, and the nearest name in a message about an unknown one."""

import inspect

import pytest

from lm_eval_longbench import errors
from lm_eval_longbench.errors import LongBenchError, UnknownNameError, few

CLASSES = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if value.__module__ == errors.__name__
]


def test_all_errors_have_one_base():
    assert {cls.__name__ for cls in CLASSES} == {
        "LongBenchError",
        "OptionError",
        "UnknownNameError",
        "DataError",
        "PromptError",
        "TokenizerError",
        "OverlengthError",
        "PredictionError",
        "LinkError",
        "LockError",
        "EmbeddingError",
        "Interrupted",
        "HarnessError",
        "LockMismatch",
        "MissingDependencyError",
        "NothingSent",
        "RunStopped",
    }
    assert all(issubclass(cls, LongBenchError) for cls in CLASSES)
    # Nothing that ordinary code catches by accident.
    assert not any(issubclass(cls, (OSError, ValueError, KeyError)) for cls in CLASSES)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("qaspr", "qasper"),
        ("hotpot", "hotpotqa"),
        ("gov-report", "gov_report"),
        ("QASPER", "qasper"),
        ("", None),
        (7, None),
        (None, None),
    ],
)
def test_the_nearest_name(name, nearest):
    valid = ["qasper", "hotpotqa", "gov_report"]
    message = str(UnknownNameError("dataset", name, valid))
    assert message.startswith(f"Unknown dataset {name!r}.")
    assert message.endswith(" Valid: gov_report, hotpotqa, qasper.")
    if nearest:
        assert f" Did you mean {nearest!r}? " in message


def test_valid_names_may_be_an_iterator_and_may_be_none():
    message = str(UnknownNameError("dataset", "b", iter(["c", "a"])))
    assert message.endswith("Valid: a, c.")
    message = str(UnknownNameError("dataset", "b", []))
    assert message == "Unknown dataset 'b'. Valid: ."


def test_long_lists_are_shortened():
    texts = list("abc")
    assert few([], 2) == ""
    assert few(texts, 3) == "a, b, c"
    assert few(texts, 2) == "a, b and 1 more"
    assert few(texts, 3, "; ") == "a; b; c"
    assert few(texts, 1, "; ") == "a; and 2 more"
