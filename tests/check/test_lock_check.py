"""A run that is not what was frozen is stopped with every differing line."""

import shutil
from dataclasses import asdict, replace

import pytest

from lm_eval_longbench.benchmarks.base import SAMPLES
from lm_eval_longbench.check.lock import (
    Lock,
    lock_now,
    lock_text,
    mismatches,
    packages_now,
    require_lock,
)
from lm_eval_longbench.errors import DataError, LockError
from lm_eval_longbench.options import Options

TASKS = ["longbench_v1_code", "longbench_v2"]


@pytest.fixture
def locked(tmp_path):
    """Write a lock of a run; entries can be replaced, None takes one away."""

    def locked(names=TASKS, options=None, **replaced):
        body = asdict(lock_now(names, options or Options()))
        for section, entries in replaced.items():
            body[section] |= entries
            body[section] = {
                name: value
                for name, value in body[section].items()
                if name not in entries or entries[name] is not None
            }
        file = tmp_path / "some.lock"
        file.write_text(lock_text(Lock(**body)), encoding="utf-8")
        return file

    return locked


def refused(file, tasks=TASKS, options=None):
    """The differing lines, and what is said to do."""
    with pytest.raises(LockError) as caught:
        require_lock(file, tasks, options)
    head, *lines, todo = str(caught.value).splitlines()
    assert head == f"This run is not what {file} froze:"
    assert all(line.startswith("  ") for line in lines)
    assert todo.startswith("To run what was frozen: ")
    assert todo.endswith("write another lock: lm-eval-longbench lock.")
    return [line.strip() for line in lines], todo


def test_a_run_that_was_frozen_goes_on(locked):
    file = locked(options=Options(truncate_to=31500))
    assert require_lock(file, TASKS, None) == Options(truncate_to=31500)
    assert require_lock(file, TASKS, Options(truncate_to=31500)) == Options(truncate_to=31500)
    # Some of the tasks, by whatever names.
    for tasks in (
        ["longbench_v1_lcc"],
        ["longbench_v1_lc*"],
        ["longbench_v2,longbench_v1_lcc"],
        [],
    ):
        require_lock(file, tasks, None)


CASES = {
    "packages": (
        {"packages": {"jieba": "0.42.0", "lm_eval": "0.4.14"}},
        ["packages.jieba: locked 0.42.0, here HERE", "packages.lm_eval: locked 0.4.14, here HERE"],
        'pip install "jieba==0.42.0" "lm-eval==0.4.14"',
    ),
    "packages of one side": (
        {"packages": {"jieba": None, "somewhat": "1.0"}},
        ["packages.jieba: not in the lock", "packages.somewhat: locked 1.0, here not looked for"],
        'pip install "somewhat==1.0"',
    ),
    "a task version": (
        {"tasks": {"longbench_v2": "0.9"}},
        ["tasks.longbench_v2: locked 0.9, here 1.1"],
        "ask for locked tasks alone",
    ),
    "a metric version": (
        {"metrics": {"longbench_v1": "0.9"}},
        ["metrics.longbench_v1: locked 0.9, here 1.0"],
        'pip install "lm-eval-longbench==',
    ),
    "templates": (
        {"templates": {"longbench_v1_lcc": "0" * 64, "longbench_v2": None}},
        [
            f"templates.longbench_v1_lcc: locked {'0' * 64}, here 6a1f24cf",
            "templates.longbench_v2: not in the lock, here ",
        ],
        'pip install "lm-eval-longbench==',
    ),
    "another revision": (
        {"data": {"longbench_v1": {"source": "zai-org/LongBench@0000", "sha256": "0" * 64}}},
        ["data.longbench_v1: locked zai-org/LongBench@0000, here zai-org/LongBench@5e628be"],
        "the option data_dir",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_differs(locked, case):
    replaced, expected, todo = CASES[case]
    lines, said = refused(locked(**replaced))
    here = packages_now()
    assert len(lines) == len(expected)
    for line, own in zip(lines, expected, strict=True):
        name = line.partition(":")[0].removeprefix("packages.")
        assert line.startswith(own.replace("HERE", str(here.get(name))))
    assert todo in said


def test_tasks_that_are_not_in_the_lock(locked):
    lines, todo = refused(locked(), ["longbench_v1_few_shot", "longbench_v2*", "gsm8k"])
    assert "tasks.longbench_v1_trec: not in the lock" in lines
    assert "tasks.longbench_v2_cot_answer: not in the lock" in lines  # pass two comes along
    assert "tasks.gsm8k: not a task of this package" in lines
    # A line a task: not another for its template.
    assert all(line.startswith("tasks.") for line in lines)
    assert "ask for locked tasks alone" in todo


def test_other_data(locked):
    lines, todo = refused(locked(), options=Options(data_dir="sample"))
    assert [line.rpartition(", ")[2] for line in lines] == ["here sample"] * 2
    assert "the option data_dir" in todo


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("qasper", "trec"):
        shutil.copy(SAMPLES / "longbench_v1" / f"{name}.jsonl", folder)
    return folder


def test_a_changed_file_of_a_users_folder(locked, folder):
    tasks = ["longbench_v1_qasper", "longbench_v1_trec"]
    file = locked(tasks, Options(data_dir=str(folder)))
    require_lock(file, tasks, None)
    trec = folder / "trec.jsonl"
    trec.write_text(trec.read_text().splitlines()[0] + "\n")
    lines, _ = refused(file, tasks)
    assert [line.partition(": ")[0] for line in lines] == ["data.longbench_v1.sha256.trec"]
    assert require_lock(file, ["longbench_v1_qasper"], None).data_dir == str(folder)


def test_the_same_data_may_lie_elsewhere(locked, folder, tmp_path):
    tasks = ["longbench_v1_qasper"]
    file = locked(tasks, Options(data_dir=str(folder), truncate_to=500))
    moved = folder.rename(tmp_path / "moved")
    here = Options(data_dir=str(moved), truncate_to=500)
    assert require_lock(file, tasks, here) == here
    with pytest.raises(LockError, match=r"data that is not here.*does not exist.*as data_dir"):
        require_lock(file, tasks, None)
    with pytest.raises(DataError, match="does not exist"):
        require_lock(file, tasks, Options(data_dir=str(folder), truncate_to=500))


def test_options(locked):
    file = locked(options=Options(truncate_to=31500, overlength="skip"))
    given = Options(truncate_to=7500, only={"language": "English"}, embedding_model="m/e")
    lines, todo = refused(file, options=given)
    assert lines == [
        "options.embedding_model: not in the lock, here m/e",
        'options.only.language: not in the lock, here ["English"]',
        "options.overlength: locked skip, here not set",
        "options.truncate_to: locked 31500, here 7500",
    ]
    assert "leave all options out" in todo
    # Options that are given but set nothing are given.
    lines, _ = refused(file, options=Options())
    assert len(lines) == 2
    assert require_lock(locked(), TASKS, Options()) == Options()


def test_chunks_are_compared_by_what_they_are(locked, tmp_path):
    tasks = ["longbench_v2_rag"]
    chunks, same = tmp_path / "chunks.jsonl", tmp_path / "same.jsonl"
    chunks.write_text('{"_id": "a", "retrieved_context": []}\n')
    shutil.copy(chunks, same)
    file = locked(tasks, Options(retrieved_context=str(chunks)))
    moved = Options(retrieved_context=str(same))
    assert require_lock(file, tasks, moved) == moved
    same.write_text('{"_id": "b", "retrieved_context": []}\n')
    lines, _ = refused(file, tasks, moved)
    assert [line.partition(": ")[0] for line in lines] == ["data.retrieved_context.sha256"]
    lines, _ = refused(file, tasks, Options())
    assert lines == [f"options.retrieved_context: locked {chunks}, here not set"]
    lines, _ = refused(locked(tasks), tasks, moved)
    assert lines == [
        "data.retrieved_context: not in the lock, here local",
        f"options.retrieved_context: not in the lock, here {same}",
    ]


def test_every_section_is_compared():
    """Each entry of each section, changed by itself, is one line that names it."""
    lock = lock_now(["longbench_v1_lcc"], Options(truncate_to=5, tokenizer="t"))
    assert mismatches(lock, lock) == []
    for section, entries in asdict(lock).items():
        for name, value in entries.items():
            other = {**value, "sha256": "x"} if section == "data" else "x"
            changed = replace(lock, **{section: {**entries, name: other}})
            (line,) = mismatches(changed, lock)
            assert line.startswith(f"{section}.{name}")
            assert " locked x, here " in line
