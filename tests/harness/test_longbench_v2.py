"""LongBench v2 in the harness: its modes, prompts, figures and domains."""

import json
import logging

import pytest
from asked import rows_of
from longbench_v2_facts import DOMAINS, SUB_SCORES
from v2_prompts import COT, NO_CONTEXT, RAG, ZERO_SHOT, render
from v2_rows import official_rows

from lm_eval_longbench.benchmarks.modes import retrieved_document
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.data.convert import cache_folder
from lm_eval_longbench.retrieval.chunks import retrieve

ROWS = rows_of("longbench_v2")


def converted_files(file):
    """Every file of the folder that a data file is converted into."""
    digest = V2.load(V2.tasks["longbench_v2"], str(file)).sha256
    return sorted(path for path in cache_folder(V2, digest).rglob("*"))


def chat(prompt):
    return f"<|user|>\n{prompt}\n<|assistant|>\n"


def answers(texts):
    """Answer the questions in order, whatever they are."""
    return lambda number, prompt, generation: texts[number % len(texts)]


@pytest.mark.parametrize(
    ("task", "template", "budget"),
    [
        ("longbench_v2", ZERO_SHOT, 128),
        ("longbench_v2_no_context", NO_CONTEXT, 128),
        ("longbench_v2_cot", COT, 1024),
    ],
)
def test_each_mode_sends_its_prompts_as_one_message(evaluate, recording_lm, task, template, budget):
    evaluate(recording_lm, [task], apply_chat_template=True)
    assert recording_lm.prompts == [chat(render(row, template)) for row in ROWS]
    for _, generation in recording_lm.requests:
        assert generation["temperature"] == 0.1
        assert generation["max_gen_toks"] == budget
        assert generation["until"] == []
        assert "do_sample" not in generation  # the response cache would be off


def test_sub_scores_are_exact(evaluate, recording_lm):
    """Right, wrong, unparsed and failed answers in turn, counted by hand."""
    texts = ["The correct answer is (A)", "The correct answer is B.", "I say A", ""]
    recording_lm.answer = answers(texts)
    result = evaluate(recording_lm, ["longbench_v2"], log_samples=True)
    figures = result["results"]["longbench_v2"]
    letters = {0: "A", 1: "B"}
    right = [letters.get(number % 4) == row["answer"] for number, row in enumerate(ROWS)]
    for name in SUB_SCORES:
        own = [ok for ok, row in zip(right, ROWS, strict=True) if name in row.values()]
        assert figures[f"acc_{name},none"] == pytest.approx(sum(own) / len(own), abs=1e-12)
    unparsed = sum(number % 4 > 1 for number in range(len(ROWS)))
    failed = sum(number % 4 == 3 for number in range(len(ROWS)))
    total = len(ROWS)
    assert figures["acc,none"] == pytest.approx(sum(right) / total, abs=1e-12)
    assert figures["acc_compensated,none"] == pytest.approx(
        (sum(right) + unparsed / 4) / total, abs=1e-12
    )
    assert figures["unparsed,none"] == pytest.approx(unparsed / total)
    assert figures["failed,none"] == pytest.approx(failed / total)
    run = result["configs"]["longbench_v2"]["metadata"]["longbench_run"]
    assert (run["asked"], run["answered"], run["failed"]) == (total, total, failed)


def test_domains_and_their_group(evaluate, recording_lm):
    recording_lm.answer = "The correct answer is (C)"
    results = evaluate(recording_lm, ["longbench_v2_domains"], log_samples=True)
    for code, name in DOMAINS.items():
        own = [row["answer"] == "C" for row in ROWS if row["domain"] == name]
        figures = results["results"][f"longbench_v2_{code}"]
        assert figures["acc,none"] == pytest.approx(sum(own) / len(own))
        samples = results["samples"][f"longbench_v2_{code}"]
        assert {sample["doc"]["domain"] for sample in samples} == {name}
        # A domain's log can be scored with the others as one whole.
        assert {sample["doc"]["task"] for sample in samples} == {"longbench_v2"}
    share = sum(row["answer"] == "C" for row in ROWS) / len(ROWS)
    group = results["groups"]["longbench_v2_domains"]
    assert group["acc,none"] == pytest.approx(share)
    assert not any(name.startswith("acc_easy") for name in group)


def test_a_domain_whose_questions_lie_apart_writes_nothing(evaluate, recording_lm, tmp_path):
    """Official data is mixed, and may be prepared where this user cannot write."""
    file = tmp_path / "data.json"
    file.write_text(json.dumps(official_rows()), encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in converted_files(file)}
    task = "longbench_v2_code_repository"
    samples = evaluate(recording_lm, [task], {"data_dir": str(file)}, log_samples=True)["samples"]
    assert {path: path.stat().st_mtime_ns for path in converted_files(file)} == before
    wanted = [row for row in official_rows() if row["domain"] == DOMAINS["code_repository"]]
    assert [sample["doc"]["_id"] for sample in samples[task]] == [row["_id"] for row in wanted]
    assert recording_lm.prompts == [render(row, ZERO_SHOT) for row in wanted]


def test_retrieved_here_and_labelled_so(evaluate, recording_lm, caplog):
    with caplog.at_level(logging.WARNING):
        result = evaluate(recording_lm, ["longbench_v2_rag"], {"rag_top_n": 2})
    expected = [
        render({**row, "context": retrieved_document(retrieve(row, 2), 2)}, RAG) for row in ROWS
    ]
    assert recording_lm.prompts == expected
    assert "retrieval: own" in str(result["versions"]["longbench_v2_rag"])
    assert "not comparable with official RAG" in caplog.text
    run = result["configs"]["longbench_v2_rag"]["metadata"]["longbench_run"]
    assert run["rag_top_n"] == 2
    assert "own" in run["retrieval"]


def test_given_chunks(evaluate, recording_lm, tmp_path):
    file = tmp_path / "retrieved.jsonl"
    chunks = [{"c_idx": 9, "content": "nine"}, {"c_idx": 1, "content": "one"}]
    rows = [{"_id": row["_id"], "retrieved_context": chunks} for row in ROWS]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = evaluate(recording_lm, ["longbench_v2_rag"], {"retrieved_context": str(file)})
    text = "Retrieved chunk 1: one\n\nRetrieved chunk 2: nine"
    assert recording_lm.prompts == [render({**row, "context": text}, RAG) for row in ROWS]
    run = result["configs"]["longbench_v2_rag"]["metadata"]["longbench_run"]
    assert run["retrieval"].startswith("file sha256 ")
    assert "own" not in str(result["versions"]["longbench_v2_rag"])
