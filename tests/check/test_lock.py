"""What a lock freezes, its file, and a run that is held to it."""

import copy
import hashlib
import shutil
import zipfile
from dataclasses import asdict, replace
from importlib.metadata import version

import pytest
import yaml

from lm_eval_longbench.benchmarks.base import SAMPLES
from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.benchmarks.registry import find_task
from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.check import lock as lock_module
from lm_eval_longbench.check.lock import (
    Lock,
    data_of,
    is_lock,
    lock_now,
    lock_text,
    mismatches,
    options_set,
    packages_now,
    read_lock,
    require_lock,
)
from lm_eval_longbench.errors import DataError, LockError, PromptError, UnknownNameError
from lm_eval_longbench.options import Options
from lm_eval_longbench.version import __version__

TASKS = ["longbench_v1_code", "longbench_v2"]
V1_TASKS = ["longbench_v1_qasper", "longbench_v1_trec"]


@pytest.fixture
def folder(tmp_path):
    """A user's folder with two of the sample's files."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("qasper", "trec"):
        shutil.copy(SAMPLES / "longbench_v1" / f"{name}.jsonl", folder)
    return folder


# ---------------------------------------------------------------------- what is frozen


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
    found = dict(lock.packages)
    assert found.pop("lm_eval_longbench") == __version__
    assert set(found) == {"lm_eval", "jieba", "tokenizers", "transformers", "datasets"}
    assert found == {name: version(name) for name in found}
    # Given at its default is as not given: the run is the same.
    assert options_set(Options(overlength="truncate", rag_top_n=4)) == {}


def test_what_cannot_be_frozen(monkeypatch):
    with pytest.raises(UnknownNameError, match="Did you mean 'longbench_v1_qasper'"):
        lock_now(["longbench_v1_lcc", "longbench_v1_qaspr"], Options())
    with pytest.raises(UnknownNameError, match="Unknown task of this package 'gsm8k'"):
        lock_now(["gsm8k"], Options())
    task = find_task("longbench_v1_lcc")
    changed = replace(task, prompt=task.prompt.rstrip())
    monkeypatch.setattr(lock_module, "find_task", lambda name: changed)
    with pytest.raises(PromptError, match="The prompt of longbench_v1_lcc was changed"):
        lock_now(["longbench_v1_lcc"], Options())


def data(*names, **options):
    return data_of([find_task(name) for name in names], Options(**options))


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_pinned_data_is_known_without_having_it(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    found = data(*V1_TASKS, "longbench_v1_e_lcc", "longbench_v2_rag", "longbench_pro_t1_1")
    v1, v2, pro = (
        {"source": f"{repo}@{one.source.revision}", "sha256": one.source.sha256}
        for repo, one in (
            ("zai-org/LongBench", V1),
            ("zai-org/LongBench-v2", V2),
            ("caskcsg/LongBench-Pro", PRO),
        )
    )
    assert found == {
        "longbench_v1": v1,
        "longbench_v1_e": v1,
        "longbench_v2": v2,
        "longbench_pro": pro,
    }


def test_the_sample_and_a_users_folder_archive_and_file(folder, tmp_path):
    found = data("longbench_v1_lcc", "longbench_v2_long_dialogue_history", data_dir="sample")
    assert found == {
        "longbench_v1": {
            "source": "sample",
            "sha256": {"lcc": digest(SAMPLES / "longbench_v1" / "lcc.jsonl")},
        },
        "longbench_v2": {
            "source": "sample",
            "sha256": digest(SAMPLES / "longbench_v2" / "data.json"),
        },
    }
    found = data(*V1_TASKS, data_dir=str(folder))["longbench_v1"]
    own = {name: digest(folder / f"{name}.jsonl") for name in ("qasper", "trec")}
    assert found == {"source": "local", "sha256": own}
    archive = tmp_path / "mine.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for name in own:
            file.write(folder / f"{name}.jsonl", f"data/{name}.jsonl")
    packed = data(*V1_TASKS, data_dir=str(archive))["longbench_v1"]
    assert packed == {"source": "local", "sha256": dict.fromkeys(own, digest(archive))}


# ---------------------------------------------------------------------- the file

LOCK = Lock(
    data={
        "longbench_v1": {"source": "local", "sha256": {"qasper": "ab" * 32, "trec": "9" * 64}},
        "longbench_v2": {"source": "zai-org/LongBench-v2@2b48", "sha256": "1e10" * 16},
    },
    metrics={"longbench_v2": "1.0", "longbench_v1": "1.10"},
    options={
        "truncate_to": 31500,
        "only": {"token_length": ["8k", "16k"]},
        "data_dir": "数据 " + "a long folder name, " * 20,
    },
    packages={"jieba": "0.42.1", "datasets": None},
    tasks={"longbench_v1_qasper": "1.0"},
    templates={"longbench_v1/qasper": "0" * 64},
)
CONFLICT = lock_text(LOCK).replace("packages:", "<<<<<<< HEAD\npackages:")


def changed(*keys, to):
    """The text of the lock with one value replaced."""
    body = {"format": 1, **copy.deepcopy(asdict(LOCK))}
    place = body
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = to
    return yaml.safe_dump(body)


def test_the_same_lock_is_the_same_text_with_a_value_a_line_and_is_read_back(tmp_path):
    text = lock_text(LOCK)
    body = asdict(LOCK)
    turned = {name: dict(reversed(section.items())) for name, section in body.items()}
    assert lock_text(Lock(**turned)) == text
    lines = text.splitlines()
    # A version that YAML would take for a number is in quotes: 1.10 is not 1.1.
    assert {"  jieba: 0.42.1", "  datasets: null", "  longbench_v1: '1.10'"} <= set(lines)
    assert not any("{" in line or "[" in line for line in lines)
    sections = [line.rstrip(":") for line in lines if line[0] not in " #"]
    assert sections == ["format: 1", *Lock.__dataclass_fields__]
    file = tmp_path / "some.lock"
    file.write_text(text, encoding="utf-8")
    assert read_lock(str(file)) == LOCK and is_lock(file)
    file.write_text(CONFLICT, encoding="utf-8")
    assert is_lock(file)
    assert not any(map(is_lock, (tmp_path, tmp_path / "none")))


def test_no_file(tmp_path):
    with pytest.raises(LockError, match=r"There is no lock file .*lock --tasks TASKS --output"):
        read_lock(tmp_path / "none.lock")
    with pytest.raises(LockError, match="cannot be read"):
        read_lock(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- 1\n- 2\n", "has no line 'format: 1'"),
        ("[" * 5000, "is not a lock file"),
        ("a: b: c\n", "line 1"),
        ("!!python/object/apply:os.getcwd []\n", "is not a lock file"),
        (CONFLICT, "is not a lock file"),
        (changed("format", to=2), "has format 2; this version of lm-eval-longbench reads 1"),
        (changed("tasks", to="x"), "'tasks' is 'x'"),
        (changed("model", to="x"), "'model' is unknown"),
        (changed("packages", "jieba", to=0.42), "'packages.jieba' is 0.42"),
        (changed("data", "longbench_v2", "sha256", to=None), "'data.longbench_v2.sha256' is None"),
        (changed("options", "truncate_to", to="many"), "'truncate_to' must be a whole number"),
        (changed("options", "truncat_to", to=5), "Did you mean 'truncate_to'?"),
    ],
)
def test_what_is_no_lock_file(tmp_path, text, said):
    (tmp_path / "some.lock").write_text(text, encoding="utf-8")
    with pytest.raises(LockError) as caught:
        read_lock(tmp_path / "some.lock")
    assert all(part in str(caught.value) for part in ("some.lock", "lm-eval-longbench lock", said))


# ---------------------------------------------------------------------- a run held to its lock


@pytest.fixture
def locked(tmp_path):
    """Write a lock of a run; entries can be replaced, None takes one away."""

    def locked(names=TASKS, options=None, **replaced):
        body = asdict(lock_now(names, options or Options()))
        for section, entries in replaced.items():
            every = {**body[section], **entries}
            gone = {name for name, value in entries.items() if value is None}
            body[section] = {name: own for name, own in every.items() if name not in gone}
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
    assert todo.startswith("To run what was frozen: ")
    assert todo.endswith("write another lock: lm-eval-longbench lock.")
    return [line.strip() for line in lines], todo


def test_a_run_that_was_frozen_goes_on(locked):
    options = Options(truncate_to=31500)
    file = locked(options=options)
    assert require_lock(file, TASKS, None) == require_lock(file, TASKS, options) == options
    # Some of the tasks, by whatever names.
    for tasks in (["longbench_v1_lc*"], ["longbench_v2,longbench_v1_lcc"], []):
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
    for line, own in zip(lines, expected, strict=True):
        name = line.partition(":")[0].removeprefix("packages.")
        assert line.startswith(own.replace("HERE", str(here.get(name))))
    assert todo in said


def test_tasks_that_are_not_in_the_lock(locked):
    lines, _ = refused(locked(), ["longbench_v1_few_shot", "longbench_v2*", "gsm8k"])
    assert "tasks.longbench_v1_trec: not in the lock" in lines
    assert "tasks.longbench_v2_cot_answer: not in the lock" in lines  # pass two comes along
    assert "tasks.gsm8k: not a task of this package" in lines
    # A line a task: not another for its template.
    assert all(line.startswith("tasks.") for line in lines)


def test_data_are_compared_by_what_they_are(locked, folder, tmp_path):
    file = locked(V1_TASKS, Options(data_dir=str(folder), truncate_to=500))
    moved = folder.rename(tmp_path / "moved")
    here = Options(data_dir=str(moved), truncate_to=500)
    assert require_lock(file, V1_TASKS, here) == here
    with pytest.raises(LockError, match=r"data that is not here.*does not exist.*as data_dir"):
        require_lock(file, V1_TASKS, None)
    with pytest.raises(DataError, match="does not exist"):
        require_lock(file, V1_TASKS, Options(data_dir=str(folder), truncate_to=500))
    trec = moved / "trec.jsonl"
    trec.write_text(trec.read_text().splitlines()[0] + "\n")
    lines, _ = refused(file, V1_TASKS, here)
    assert [line.partition(": ")[0] for line in lines] == ["data.longbench_v1.sha256.trec"]
    lines, todo = refused(locked(), options=Options(data_dir="sample"))
    assert [line.rpartition(", ")[2] for line in lines] == ["here sample"] * 2
    assert "the option data_dir" in todo


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
    assert len(refused(file, options=Options())[0]) == 2


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


def test_every_section_is_compared():
    """Each entry of each section, changed by itself, is one line that names it."""
    lock = lock_now(["longbench_v1_lcc"], Options(truncate_to=5, tokenizer="t"))
    assert mismatches(lock, lock) == []
    for section, entries in asdict(lock).items():
        for name, value in entries.items():
            other = {**value, "sha256": "x"} if section == "data" else "x"
            (line,) = mismatches(replace(lock, **{section: {**entries, name: other}}), lock)
            assert line.startswith(f"{section}.{name}") and " locked x, here " in line
