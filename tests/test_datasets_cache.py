"""The cache is where the datasets library says, whether it is imported or not."""

import runpy
import sys
from pathlib import Path

import datasets
import pytest

from lm_eval_longbench.files import datasets_cache, our_cache

VARIABLES = ("XDG_CACHE_HOME", "HF_HOME", "HF_DATASETS_CACHE")


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"XDG_CACHE_HOME": "~/elsewhere"},
        {"XDG_CACHE_HOME": "/x", "HF_HOME": "~/hf"},
        {"HF_HOME": "relative"},
        {"HF_HOME": "/y", "HF_DATASETS_CACHE": "~/not expanded"},
        {"HF_HOME": "/y", "HF_DATASETS_CACHE": ""},
    ],
    ids=str,
)
def test_without_the_library_it_is_the_same_place(environment, monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    theirs = runpy.run_path(datasets.config.__file__)["HF_DATASETS_CACHE"]
    monkeypatch.delitem(sys.modules, "datasets.config")
    assert datasets_cache() == theirs


def test_what_a_caller_has_set_holds(monkeypatch, tmp_path):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path))
    assert our_cache() == Path(tmp_path, "lm_eval_longbench")
