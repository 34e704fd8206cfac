"""Documents with all that is known of them, and their prompts."""

import pytest
from typer.testing import CliRunner

from lm_eval_longbench import load, prompt
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task
from lm_eval_longbench.cli.main import app

QASPER = "longbench_v1_qasper"
TASKS = [QASPER, "longbench_v1_e_samsum", "longbench_v2", "longbench_v2_no_context"]
TASKS += ["longbench_v2_rag", "longbench_pro_t1_1"]


@pytest.mark.parametrize("name", TASKS)
def test_documents_have_everything(name):
    documents = load(name, data_dir="sample")
    task = find_task(name)
    assert len(documents) >= 2
    assert not documents.official
    for index, doc in enumerate(documents):
        assert (doc.task, doc.index, doc.length) == (name, index, len(doc["context"]))
        assert doc.id in (doc.get("_id"), doc.get("id"))
        assert doc.golds == benchmark_of(task).golds(doc.row)
        assert doc.budget == task.budget
        assert doc.prompt == prompt(name, doc)
        document, question = doc.prompt[: doc.question_at], doc.prompt[doc.question_at :]
        assert document + question == doc.prompt
        if not task.retrieved:
            assert (doc["context"].strip()[:200] in document) is task.document
        assert set(doc) == set(documents[0])


def test_documents_are_a_sequence():
    documents = load(QASPER, data_dir="sample")
    assert [doc.index for doc in documents[1:3]] == [1, 2]
    assert documents[-1].index == len(documents) - 1
    with pytest.raises(IndexError):
        documents[len(documents)]
    assert repr(documents).startswith(f"<4 documents of {QASPER}, sample-")


def test_only_chooses_documents():
    chosen = load("longbench_pro_t1_1", data_dir="sample", only={"language": "English"})
    assert 0 < len(chosen) < len(load("longbench_pro_t1_1", data_dir="sample"))
    assert {doc["language"] for doc in chosen} == {"English"}


def test_a_cut_prompt_is_that_of_the_command_line(tokenizer_folder):
    from transformers import AutoTokenizer

    doc = load(QASPER, data_dir="sample")[0]
    arguments = ["prompt", QASPER, "--index", "0", "--data-dir", "sample"]
    arguments += ["--tokenizer", tokenizer_folder, "--truncate-to", "200"]
    done = CliRunner().invoke(app, arguments)
    cut = prompt(QASPER, doc, tokenizer=tokenizer_folder, truncate_to=200)
    assert cut == done.stdout_bytes.decode("utf-8")
    assert cut.truncated and cut.tokens > 200
    assert cut.question_at < doc.question_at
    assert doc.prompt.endswith(cut[cut.question_at :])
    own = AutoTokenizer.from_pretrained(tokenizer_folder)
    assert prompt(QASPER, doc, tokenizer=own, truncate_to=200) == cut
    whole = prompt(QASPER, doc, tokenizer=own, truncate_to=100_000)
    assert whole == doc.prompt and not whole.truncated
