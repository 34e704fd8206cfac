"""The data that a lock names is what a run would say of it."""

import hashlib
import shutil
import zipfile

import pytest

from lm_eval_longbench.benchmarks.base import SAMPLES
from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.benchmarks.registry import find_task
from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.check.lock import data_of
from lm_eval_longbench.options import Options


def data(*names, **options):
    return data_of([find_task(name) for name in names], Options(**options))


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def folder(tmp_path):
    """A user's folder with two of the sample's files."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("qasper", "trec"):
        shutil.copy(SAMPLES / "longbench_v1" / f"{name}.jsonl", folder)
    return folder


def test_pinned_data_is_known_without_having_it(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    names = ("longbench_v1_qasper", "longbench_v1_trec", "longbench_v1_e_lcc")
    found = data(*names, "longbench_v2_rag", "longbench_pro_thinking_t1_1")
    v1 = {"source": f"zai-org/LongBench@{V1.source.revision}", "sha256": V1.source.sha256}
    assert found == {
        "longbench_v1": v1,
        "longbench_v1_e": v1,
        "longbench_v2": {
            "source": f"zai-org/LongBench-v2@{V2.source.revision}",
            "sha256": V2.source.sha256,
        },
        "longbench_pro": {
            "source": f"caskcsg/LongBench-Pro@{PRO.source.revision}",
            "sha256": PRO.source.sha256,
        },
    }


def test_the_sample():
    found = data(
        *("longbench_v1_repobench_p", "longbench_v1_lcc", "longbench_v1_e_lcc"),
        *("longbench_v2", "longbench_v2_long_dialogue_history", "longbench_pro_t1_1"),
        data_dir="sample",
    )
    assert {name: entry["source"] for name, entry in found.items()} == dict.fromkeys(
        ("longbench_v1", "longbench_v1_e", "longbench_v2", "longbench_pro"), "sample"
    )
    samples = SAMPLES / "longbench_v1"
    assert found["longbench_v1"]["sha256"] == {
        "repobench-p": digest(samples / "repobench-p.jsonl"),
        "lcc": digest(samples / "lcc.jsonl"),
    }
    assert found["longbench_v1_e"]["sha256"] == {"lcc_e": digest(samples / "lcc_e.jsonl")}
    v2 = samples.parent / "longbench_v2" / "data.json"
    assert found["longbench_v2"]["sha256"] == digest(v2)


def test_a_users_folder_archive_and_file(folder, tmp_path):
    tasks = ("longbench_v1_qasper", "longbench_v1_trec")
    found = data(*tasks, data_dir=str(folder))["longbench_v1"]
    assert found == {
        "source": "local",
        "sha256": {name: digest(folder / f"{name}.jsonl") for name in ("qasper", "trec")},
    }
    archive = tmp_path / "mine.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for name in ("qasper", "trec"):
            file.write(folder / f"{name}.jsonl", f"data/{name}.jsonl")
    packed = data(*tasks, data_dir=str(archive))["longbench_v1"]
    assert packed == {
        "source": "local",
        "sha256": dict.fromkeys(("qasper", "trec"), digest(archive)),
    }
    v2 = tmp_path / "own.json"
    shutil.copy(SAMPLES / "longbench_v2" / "data.json", v2)
    assert data("longbench_v2", data_dir=str(v2))["longbench_v2"] == {
        "source": "local",
        "sha256": digest(v2),
    }
    assert str(tmp_path) not in repr([found, packed])
