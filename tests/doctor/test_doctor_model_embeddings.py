"""The lines on the embedding model."""

import pytest

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.doctor.model import embedding_lines, summaries
from lm_eval_longbench.options import Options
from lm_eval_longbench.semantic.embedder import OFFICIAL_MODEL


@pytest.fixture
def lines(a_leaf):
    def make(task="longbench_pro_t4_1", **options):
        leaves = [a_leaf(), a_leaf("summary", task)]
        return list(embedding_lines(Options(**options), leaves))

    return make


def test_only_summaries_need_embeddings(lines, a_leaf):
    assert lines("longbench_pro_t5_1") == []
    wanted = ["longbench_pro_t4_1", "longbench_pro_thinking_t4_2"]
    leaves = [a_leaf(name, name) for name in (*wanted, "longbench_pro_t3_1", "nonsense")]
    assert summaries(leaves) == dict.fromkeys(wanted, "pro")


def test_without_a_model_summaries_are_unscored_and_can_be_completed(lines):
    (line,) = lines()
    assert line.status == WARNING
    assert line.tasks == ("summary",)
    assert "lm-eval-longbench score" in line.todo


def test_a_server_is_asked_once(lines, models_server):
    official, reached = lines(
        embedding_model=OFFICIAL_MODEL, embedding_url=models_server.url("/v1")
    )
    assert [official.status, reached.status] == [OK, OK]
    assert models_server.asked == [("POST", "/v1/embeddings")]


def test_another_model_is_not_official(lines, models_server):
    first, _ = lines(embedding_model="small", embedding_url=models_server.url("/v1"))
    assert first.status == WARNING
    assert OFFICIAL_MODEL in first.found


def test_a_server_that_is_not_there_is_an_error_at_once(lines, nobody):
    _, line = lines(embedding_model=OFFICIAL_MODEL, embedding_url=f"{nobody}/v1")
    assert line.status == ERROR
    assert "cannot be reached" in line.found


def test_a_folder(lines, model_folder, tmp_path):
    assert lines(embedding_model=model_folder)[1].status == OK
    assert lines(embedding_model=str(tmp_path))[1].status == ERROR


def test_a_model_of_the_hub(lines, hub_file, monkeypatch):
    import huggingface_hub.constants

    _, line = lines(embedding_model=OFFICIAL_MODEL)
    assert line.status == ERROR
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    _, line = lines(embedding_model=OFFICIAL_MODEL)
    assert line.status == WARNING
    assert f"hf download {OFFICIAL_MODEL}" in line.todo
    hub_file(OFFICIAL_MODEL, "model.safetensors.index.json")
    _, line = lines(embedding_model=OFFICIAL_MODEL)
    assert line.status == OK


def test_names_without_an_owner_are_the_librarys_own(lines, hub_file):
    hub_file("sentence-transformers/small", "model.safetensors")
    assert lines(embedding_model="small")[1].status == OK
