"""What there is to freeze of a run."""

from dataclasses import replace
from importlib.metadata import version

import pytest

from lm_eval_longbench.benchmarks.registry import find_task
from lm_eval_longbench.check import lock as lock_module
from lm_eval_longbench.check.lock import lock_now, lock_text, options_set, packages_now, read_lock
from lm_eval_longbench.errors import PromptError, UnknownNameError
from lm_eval_longbench.options import Options
from lm_eval_longbench.version import __version__


def test_what_is_frozen():
    lock = lock_now(["longbench_v1_code", "longbench_pro_t1"], Options(truncate_to=31500))
    assert lock.tasks == {
        "longbench_pro_t1_1": "1.1",
        "longbench_pro_t1_2": "1.1",
        "longbench_v1_lcc": "1.2",
        "longbench_v1_repobench_p": "1.2",
    }
    assert set(lock.data) == {"longbench_v1", "longbench_pro"}
    assert lock.metrics == {"longbench_v1": "1.0", "longbench_pro": "1.1"}
    assert lock.options == {"truncate_to": 31500}
    assert lock.templates == {name: find_task(name).prompt_sha256 for name in lock.tasks}
    assert lock.packages == packages_now()


def test_packages():
    found = packages_now()
    assert found.pop("lm_eval_longbench") == __version__
    assert set(found) == {"lm_eval", "jieba", "tokenizers", "transformers", "datasets"}
    assert found == {name: version(name) for name in found}


def test_options_that_are_set():
    assert options_set(Options()) == {}
    # Given at its default is as not given: the run is the same.
    assert options_set(Options(overlength="truncate", rag_top_n=4)) == {}
    given = {"truncate_to": 9, "only": {"language": ["English"]}, "overlength": "skip"}
    assert options_set(Options(**given)) == given


def test_the_same_run_is_the_same_bytes_and_reads_back(tmp_path):
    options = Options(data_dir="sample", only={"language": "English"})
    names = ["longbench_v1_en", "longbench_v2_cot", "longbench_pro_t1_1"]
    text = lock_text(lock_now(names, options))
    again = lock_text(lock_now([*reversed(names), "longbench_v1_lcc"], options))
    assert text == again
    file = tmp_path / "a.lock"
    file.write_text(text, encoding="utf-8")
    assert read_lock(file) == lock_now(names, options)
    assert str(tmp_path) not in text


def test_an_unknown_task():
    with pytest.raises(UnknownNameError, match="Did you mean 'longbench_v1_qasper'"):
        lock_now(["longbench_v1_lcc", "longbench_v1_qaspr"], Options())
    with pytest.raises(UnknownNameError, match="Unknown task of this package 'gsm8k'"):
        lock_now(["gsm8k"], Options())


def test_a_changed_template_cannot_be_frozen(monkeypatch):
    task = find_task("longbench_v1_lcc")
    changed = replace(task, prompt=task.prompt.rstrip())
    monkeypatch.setattr(lock_module, "find_task", lambda name: changed)
    with pytest.raises(PromptError, match="The prompt of longbench_v1_lcc was changed"):
        lock_now(["longbench_v1_lcc"], Options())
