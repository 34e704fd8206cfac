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


def test_a_package(locked):
    here = packages_now()
    lines, todo = refused(locked(packages={"jieba": "0.42.0", "lm_eval": "0.4.14"}))
    assert lines == [
        f"packages.jieba: locked 0.42.0, here {here['jieba']}",
        f"packages.lm_eval: locked 0.4.14, here {here['lm_eval']}",
    ]
    assert 'pip install "jieba==0.42.0" "lm-eval==0.4.14"' in todo


def test_a_package_that_one_side_lacks(locked):
    here = packages_now()
    lines, _ = refused(locked(packages={"jieba": None, "somewhat": "1.0"}))
    assert lines == [
        f"packages.jieba: not in the lock, here {here['jieba']}",
        "packages.somewhat: locked 1.0, here not looked for",
    ]


def test_a_package_that_was_or_is_not_installed():
    lock = lock_now(["longbench_v2"], Options())
    without = replace(lock, packages={**lock.packages, "jieba": None})
    version = lock.packages["jieba"]
    assert mismatches(without, lock) == [f"packages.jieba: locked null, here {version}"]
    assert mismatches(lock, without) == [f"packages.jieba: locked {version}, here null"]


def test_a_task_version(locked):
    lines, _ = refused(locked(tasks={"longbench_v2": "0.9"}))
    assert lines == ["tasks.longbench_v2: locked 0.9, here 1.1"]


def test_tasks_that_are_not_in_the_lock(locked):
    file = locked()
    lines, todo = refused(file, ["longbench_v1_few_shot", "longbench_v2*", "gsm8k"])
    assert "tasks.longbench_v1_trec: not in the lock" in lines
    assert "tasks.longbench_v2_cot_answer: not in the lock" in lines
    assert "tasks.gsm8k: not a task of this package" in lines
    # A line a task: not another for its template.
    assert all(line.startswith("tasks.") for line in lines)
    assert "ask for locked tasks alone" in todo


def test_pass_two_of_chain_of_thought_must_be_frozen_too(locked):
    file = locked(["longbench_v2_cot"], tasks={"longbench_v2_cot_answer": None})
    lines, _ = refused(file, ["longbench_v2_cot"])
    assert lines == ["tasks.longbench_v2_cot_answer: not in the lock"]


def test_a_metric_version(locked):
    lines, todo = refused(locked(metrics={"longbench_v1": "0.9"}))
    assert lines == ["metrics.longbench_v1: locked 0.9, here 1.0"]
    assert 'pip install "lm-eval-longbench==' in todo


def test_a_template(locked):
    file = locked(templates={"longbench_v1_lcc": "0" * 64, "longbench_v2": None})
    lines, todo = refused(file)
    assert lines[0].startswith(f"templates.longbench_v1_lcc: locked {'0' * 64}, here 6a1f24cf")
    assert lines[1].startswith("templates.longbench_v2: not in the lock, here ")
    assert len(lines) == 2
    assert 'pip install "lm-eval-longbench==' in todo


def test_other_data(locked):
    lines, todo = refused(locked(), options=Options(data_dir="sample"))
    revision = "5e628be450b7e67fb7ae6e201bd6d8f7056f7672"
    assert lines[0] == f"data.longbench_v1: locked zai-org/LongBench@{revision}, here sample"
    assert lines[1].startswith("data.longbench_v2: locked zai-org/LongBench-v2@")
    assert len(lines) == 2
    assert "the option data_dir" in todo


def test_another_revision_or_hash(locked):
    entry = {"source": "zai-org/LongBench@0000", "sha256": "0" * 64}
    lines, _ = refused(locked(data={"longbench_v1": entry, "longbench_v2": None}))
    assert lines[0].startswith("data.longbench_v1: locked zai-org/LongBench@0000, here zai-org")
    assert lines[1].startswith("data.longbench_v2: not in the lock, here zai-org/LongBench-v2@")
    entry = {**asdict(lock_now(TASKS, Options()))["data"]["longbench_v1"], "sha256": "0" * 64}
    lines, _ = refused(locked(data={"longbench_v1": entry}))
    assert lines == [
        f"data.longbench_v1.sha256: locked {'0' * 64}, here "
        "cb45b11a4133c6bc1d6a44b0f8e701335ff1e543195db1103472e575857f7f64"
    ]


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


def test_the_values_of_a_selection(locked):
    tasks = ["longbench_pro_t1_1"]
    file = locked(tasks, Options(only={"token_length": ["8k", "16k"], "language": "English"}))
    lines, _ = refused(file, tasks, Options(only={"token_length": ["8k"]}))
    assert lines == [
        'options.only.language: locked ["English"], here not set',
        'options.only.token_length: locked ["8k", "16k"], here ["8k"]',
    ]


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


def test_equal_locks_have_no_mismatch():
    lock = lock_now(TASKS, Options(truncate_to=5))
    assert mismatches(lock, lock) == []


def test_every_section_is_compared():
    """Each entry of each section, changed by itself, is one line that names it."""
    lock = lock_now(["longbench_v1_lcc"], Options(truncate_to=5, tokenizer="t"))
    for section, entries in asdict(lock).items():
        for name, value in entries.items():
            other = {**value, "sha256": "x"} if section == "data" else "x"
            changed = replace(lock, **{section: {**entries, name: other}})
            (line,) = mismatches(changed, lock)
            assert line.startswith(f"{section}.{name}")
            assert " locked x, here " in line


def test_no_lock_file(tmp_path):
    with pytest.raises(LockError, match="There is no lock file"):
        require_lock(tmp_path / "none.lock", TASKS, None)
    with pytest.raises(LockError, match="There is no lock file"):
        require_lock(tmp_path / "none.lock", TASKS, Options())
