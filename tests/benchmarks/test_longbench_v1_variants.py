"""LongBench v1 without documents, with parts of them, and as first released."""

import json
from pathlib import Path

import pytest

from lm_eval_longbench import evaluate, load, score_paths
from lm_eval_longbench.benchmarks.asking import RetrievedAsking, asking_of
from lm_eval_longbench.benchmarks.registry import benchmark_of, families, find_task, short_names
from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.benchmarks.variants import VARIANTS
from lm_eval_longbench.catalog.read import read_folder
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.retrieval.chunks import first_words, rank, sentence_chunks
from lm_eval_longbench.task_folder import task_folder

FIRST = Path(__file__).resolve().parents[2].parent / "shared" / "spec" / "first_release.json"
ROW = {
    "input": "Who keeps bees?",
    "context": "Ann sings. " * 90 + "Tom keeps bees. " + "Bob sleeps. " * 90,
    "language": "en",
}


def task_and_benchmark(name):
    task = find_task(name)
    return task, benchmark_of(task)


@pytest.mark.parametrize("benchmark", VARIANTS)
def test_a_variant_claims_no_files(benchmark):
    assert benchmark.variant and benchmark.official_files is None
    assert not benchmark.is_official_row({"pred": "x", "answers": ["x"]}, "qasper")
    assert not benchmark.is_official_row({"secondary_task": "x", "prediction": "x"}, "x_inference_")
    assert not benchmark.is_official_name("qasper")
    assert not benchmark.is_official_name("model_inference_1")
    assert benchmark not in short_names().values()
    assert all(benchmark not in members for members in families().values())


def test_retrieved_chunks_stand_best_first():
    task, benchmark = task_and_benchmark("longbench_v1_retrieval_hotpotqa")
    options = Options(chunk_size=20, rag_top_n=2)
    chunks = sentence_chunks(ROW["context"], 20)
    best = rank(chunks, ROW["input"], 2)
    assert "Tom keeps bees" in best[0]["content"]
    asking = asking_of(benchmark, task, options, 1)
    assert isinstance(asking, RetrievedAsking)
    text = "".join(chunk["content"] for chunk in best)
    official = V1.render(find_task("longbench_v1_hotpotqa"), {**ROW, "context": text})
    assert asking.render(ROW) == official
    given = {
        **ROW,
        "retrieved_context": [{"c_idx": 5, "content": "x"}, {"c_idx": 1, "content": "y"}],
    }
    assert "xy" in asking.render(given)
    # An empty list is an empty document, not one of ours.
    assert "bees." not in asking.render({**ROW, "retrieved_context": []})
    assert asking.version_notes == ("retrieval: own",)
    assert asking.ingredients == {
        "rag_top_n": 2,
        "retrieval": "bm25s over 20-word chunks, lm-eval-longbench's own",
    }
    assert len(benchmark.tasks) == 8


@pytest.mark.parametrize(("language", "label"), [("en", "Paragraph Summary"), ("zh", "段落摘要")])
def test_summaries_stand_in_the_order_of_the_document(language, label, tmp_path):
    task, benchmark = task_and_benchmark("longbench_v1_summary_gov_report")
    row = {**ROW, "language": language}
    options = Options(chunk_size=200, rag_top_n=1)
    asking = asking_of(benchmark, task, options, 1)
    parts = [first_words(part, 200) for part in sentence_chunks(ROW["context"], 200)]
    text = "".join(f"{label}{n} : {part}\n" for n, part in enumerate(parts, start=1))
    assert len(parts) == 2 and text in asking.render(row)
    assert asking.ingredients["rag_top_n"] is None  # all of them
    assert asking.ingredients["retrieval"].startswith("the first 200 words of each part of 200,")
    documents = benchmark.load(task, "sample")
    given = [{"c_idx": n, "content": f"part {n}"} for n in (2, 0, 1)]
    file = tmp_path / "summaries.jsonl"
    file.write_text(
        "".join(
            json.dumps({"_id": name, "retrieved_context": given}) + "\n"
            for name in documents.rows["_id"]
        )
    )
    options = Options(data_dir="sample", retrieved_context=str(file), rag_top_n=1)
    asking = asking_of(benchmark, task, options, 1)
    asking.load()
    prompt = asking.render({**documents.rows[0], "language": language})
    assert f"{label}1 : part 0\n{label}2 : part 1\n{label}3 : part 2\n" in prompt
    assert asking.version_notes == ()


# ---------------------------------------------------------------------- the first release


def test_natural_questions_without_data_says_why():
    task, benchmark = task_and_benchmark("longbench_v1_nq")
    with pytest.raises(DataError, match=r"withdrawn\. If you have its nq\.jsonl") as caught:
        benchmark.load(task, None)
    assert "data_dir" in str(caught.value)
    assert list(benchmark.prepared()) == []


@pytest.mark.skipif(not FIRST.exists(), reason="no facts of the first release beside this checkout")
def test_natural_questions_are_those_of_the_first_release():
    facts = json.loads(FIRST.read_text(encoding="utf-8"))
    task = find_task("longbench_v1_nq")
    assert task.prompt_sha256 == text_sha256(facts["templates"]["nq"])
    assert task.budget == facts["max_new_tokens"]["nq"]
    assert task.chat is ("nq" not in facts["raw_prompts"])
    group = read_folder(task_folder()).groups["longbench_v1_2023_07"]
    names = [find_task(name).label for name in group.members]
    assert sorted(names) == sorted(facts["datasets"]) and len(names) == 20


def test_a_prediction_file_of_the_first_release_is_scored_as_a_run(tmp_path):
    answers = ["The Commodore\nPassage:", "Commodore", "1836", "", "Ann"]
    said = iter(answers)
    run = evaluate(lambda prompts: [next(said)], "longbench_v1_nq", data_dir="sample", limit=5)
    rows = load("longbench_v1_nq", data_dir="sample")
    folder = tmp_path / "pred" / "vicuna"
    folder.mkdir(parents=True)
    with (folder / "nq.jsonl").open("w", encoding="utf-8") as file:
        for answer, row in zip(answers, rows, strict=False):
            official = {"pred": answer, "answers": row["answers"], "all_classes": None}
            file.write(json.dumps(official) + "\n")
    report = score_paths(tmp_path / "pred", tmp_path / "out")
    (table,) = report["tables"].values()
    assert table["official"] == run.scores["longbench_v1_2023"]
    assert 0 < table["official"]["nq"] < 100
