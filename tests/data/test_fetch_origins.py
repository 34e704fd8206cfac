"""The pinned file from a hub, ModelScope, an address or a folder."""

import os
from pathlib import Path

import pytest
from huggingface_hub import constants
from mirror_server import MISSING, mirroring

from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.catalog.model import Source
from lm_eval_longbench.data import fetch as hub
from lm_eval_longbench.data.fetch import address_of, downloaded_file, provide, ways
from lm_eval_longbench.errors import DataError

CONTENT = b'[{"a": 1}]'


@pytest.fixture
def source(cache):
    import hashlib

    digest = hashlib.sha256(CONTENT).hexdigest()
    return Source("owner/name", "a" * 40, "data.json", digest, modelscope="Other/name-2")


@pytest.mark.parametrize(
    ("origin", "address"),
    [
        ("hub", f"https://hub.test/datasets/owner/name/resolve/{'a' * 40}/data.json"),
        ("modelscope", "https://modelscope.cn/datasets/Other/name-2/resolve/master/data.json"),
        ("http://host/files", "http://host/files/data.json"),
        ("http://host/files/", "http://host/files/data.json"),
        ("http://host/other-name.json", "http://host/other-name.json"),
        ("https://host/get?file=1&key=x", "https://host/get?file=1&key=x"),
    ],
)
def test_addresses(source, monkeypatch, origin, address):
    monkeypatch.setattr(constants, "ENDPOINT", "https://hub.test/")
    assert address_of(source, origin) == address


def test_addresses_of_the_pinned_files():
    known = {one.name: one.source.modelscope for one in benchmarks().values() if not one.variant}
    assert known == {
        "longbench_v1": "ZhipuAI/LongBench",
        "longbench_v1_e": "ZhipuAI/LongBench",
        "longbench_v2": "ZhipuAI/LongBench-v2",
        "longbench_pro": "",
    }
    with pytest.raises(DataError, match="No copy of caskcsg/LongBench-Pro on ModelScope is known"):
        address_of(benchmarks()["longbench_pro"].source, "modelscope")


def test_from_the_hub_with_the_users_key(source, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with mirroring(CONTENT) as mirror:
        monkeypatch.setattr(constants, "ENDPOINT", mirror.url)
        path = provide(source, "hub", "x")
        assert mirror.keys == ["Bearer hf_secret"]
        assert provide(source, "hub", "x") == path
        assert len(mirror.asked) == 1
    assert path == downloaded_file(source)
    assert path.read_bytes() == CONTENT


def test_from_modelscope_without_it(source, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with mirroring(CONTENT) as mirror:
        monkeypatch.setattr(hub, "MODELSCOPE_ENDPOINT", mirror.url)
        provide(source, "modelscope", "x")
        assert mirror.asked == [("/datasets/Other/name-2/resolve/master/data.json", None)]
        assert mirror.keys == [None]


def test_a_damaged_file_that_is_here_is_fetched_anew(source):
    target = downloaded_file(source)
    target.parent.mkdir(parents=True)
    target.write_bytes(b"damage")
    with mirroring(CONTENT) as mirror:
        provide(source, mirror.url, "x")
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("what", ["folder", "file"])
def test_from_a_folder_or_a_file(source, tmp_path, what):
    file = tmp_path / ("data.json" if what == "folder" else "other.bin")
    file.write_bytes(CONTENT)
    path = provide(source, str(tmp_path if what == "folder" else file), "x")
    assert path.read_bytes() == CONTENT
    file.unlink()
    assert path.read_bytes() == CONTENT
    assert sorted(os.listdir(path.parent)) == ["data.json"]


def test_another_file_in_a_folder(source, tmp_path):
    (tmp_path / "data.json").write_bytes(CONTENT + b" ")
    with pytest.raises(DataError, match=rf"another file: sha256 .*, pinned {source.sha256}"):
        provide(source, str(tmp_path), "x")
    assert not downloaded_file(source).exists()


def test_places_that_are_not_there(source, tmp_path):
    with pytest.raises(DataError, match=r"has no data\.json"):
        provide(source, str(tmp_path), "x")
    with pytest.raises(DataError, match="is neither an address nor there"):
        provide(source, str(tmp_path / "nowhere"), "x")


def test_a_failure_says_in_eight_lines_what_to_do(source, monkeypatch):
    with mirroring(CONTENT, MISSING) as mirror, pytest.raises(DataError) as caught:
        provide(source, f"{mirror.url}/?key=secret", "x")
    lines = str(caught.value).splitlines()
    assert len(lines) <= 8
    assert lines[0] == f"{mirror.url}/?key=*** cannot be downloaded: HTTP 404 Not Found."
    assert source.sha256 in lines[1]
    assert [line[2:4] for line in lines if line[2:3].isdigit()] == ["1.", "2.", "3."]
    assert "lm-eval-longbench prepare x --from modelscope" in lines[3]
    assert f"curl -L -C - -o data.json {hub.hub_address(source)}" in lines[4]
    assert "lm-eval-longbench prepare x --from ." in lines[5]


def test_no_modelscope_is_named_where_there_is_none(source):
    pro = benchmarks()["longbench_pro"].source
    assert "modelscope" not in ways(pro, "pro")
    assert isinstance(downloaded_file(pro), Path)
