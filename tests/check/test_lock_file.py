"""The lock file: its text, and what is said of one that cannot be used."""

import copy
from dataclasses import asdict

import pytest
import yaml

from lm_eval_longbench.check.lock import Lock, is_lock, lock_text, read_lock
from lm_eval_longbench.errors import LockError

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


@pytest.fixture
def write(tmp_path):
    def write(text):
        file = tmp_path / "some.lock"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    return write


@pytest.fixture
def refused(write):
    def refused(text):
        with pytest.raises(LockError) as caught:
            read_lock(write(text))
        assert "some.lock" in str(caught.value)
        assert "lm-eval-longbench lock" in str(caught.value)
        return str(caught.value)

    return refused


def changed(*keys, to):
    """The text of the lock with one value replaced."""
    body = {"format": 1, **copy.deepcopy(asdict(LOCK))}
    place = body
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = to
    return yaml.safe_dump(body)


def test_what_is_written_is_read(write):
    assert read_lock(write(lock_text(LOCK))) == LOCK
    assert read_lock(str(write(lock_text(LOCK)))) == LOCK


def test_the_same_lock_is_the_same_text():
    body = asdict(LOCK)
    turned = {name: dict(reversed(section.items())) for name, section in body.items()}
    turned["data"]["longbench_v1"] = dict(reversed(body["data"]["longbench_v1"].items()))
    assert [*turned["tasks"], *turned["packages"]] != [*body["tasks"], *body["packages"]]
    assert lock_text(Lock(**turned)) == lock_text(LOCK)


def test_every_line_has_one_value():
    lines = lock_text(LOCK).splitlines()
    assert "  jieba: 0.42.1" in lines
    assert "  datasets: null" in lines
    assert "  truncate_to: 31500" in lines
    # A version that YAML would take for a number is in quotes: 1.10 is not 1.1.
    assert "  longbench_v1: '1.10'" in lines
    assert not any("{" in line or "[" in line for line in lines)
    # Sections in the order of Lock, entries sorted.
    sections = [line.rstrip(":") for line in lines if line[0] not in " #"]
    assert sections == ["format: 1", *Lock.__dataclass_fields__]
    metrics = lines.index("metrics:")
    assert [line.strip()[:12] for line in lines[metrics + 1 : metrics + 3]] == [
        "longbench_v1",
        "longbench_v2",
    ]


def test_is_lock(write, tmp_path):
    assert is_lock(write(lock_text(LOCK)))
    conflict = lock_text(LOCK).replace("packages:", "<<<<<<< HEAD\npackages:")
    assert is_lock(write(conflict))
    assert not is_lock(write("format: 1\n"))
    assert not is_lock(write(""))
    assert not is_lock(tmp_path)
    assert not is_lock(tmp_path / "none")


def test_no_file(tmp_path):
    with pytest.raises(LockError) as caught:
        read_lock(tmp_path / "none.lock")
    message = str(caught.value)
    assert message.startswith(f"There is no lock file {tmp_path / 'none.lock'}.")
    assert "lm-eval-longbench lock --tasks TASKS --output" in message
    with pytest.raises(LockError, match="cannot be read"):
        read_lock(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no line 'format: 1'"),
        ("- 1\n- 2\n", "has no line 'format: 1'"),
        (b"\xff\xfe\x00", "is not a lock file"),
        ("[" * 5000, "is not a lock file"),
        ("a: b: c\n", "line 1"),
        ("!!python/object/apply:os.getcwd []\n", "is not a lock file"),
        (lock_text(LOCK).replace("packages:", "<<<<<<< HEAD\npackages:"), "is not a lock file"),
        (changed("format", to=2), "has format 2; this version of lm-eval-longbench reads 1"),
        (changed("tasks", to="x"), "'tasks' is 'x'"),
        (changed("model", to="x"), "'model' is unknown"),
        (changed("tasks", "longbench_v1_qasper", to=1.0), "'tasks.longbench_v1_qasper' is 1.0"),
        (changed("packages", "jieba", to=0.42), "'packages.jieba' is 0.42"),
        (changed("data", "longbench_v2", "sha256", to=None), "'data.longbench_v2.sha256' is None"),
        (changed("options", "truncate_to", to="many"), "'truncate_to' must be a whole number"),
        (changed("options", "truncat_to", to=5), "Did you mean 'truncate_to'?"),
    ],
)
def test_what_is_no_lock_file(refused, text, said):
    assert said in refused(text)
