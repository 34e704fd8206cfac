"""Exactly the prompt a model gets."""

import json
from pathlib import Path

import pytest
from v1_tasks import BY_FILE, TASKS

import lm_eval_longbench
from lm_eval_longbench.benchmarks.longbench_v1 import V1
from lm_eval_longbench.errors import (
    DataError,
    OptionError,
    PromptError,
    TokenizerError,
    UnknownNameError,
)

SAMPLE = Path(lm_eval_longbench.__file__).parent / "data" / "sample" / "longbench_v1"
DOCUMENT = {"context": "{input} 故事\r\n🙂 {x}\x00\u2028\x1b[0m [red]x[/red]", "input": "who?\t"}
TREC = (
    "Please determine the type of the question below. Here are some examples of questions.\n\n"
    "{input} 故事\r\n🙂 {x}\x00\u2028\x1b[0m [red]x[/red]\nwho?\t"
)


@pytest.fixture
def document(tmp_path):
    """Write a document to a file; bytes as they are."""

    def write(value):
        file = tmp_path / "document.json"
        file.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        return file

    return write


def test_a_document_from_a_file(invoke, document):
    result = invoke("prompt", "longbench_v1_trec", "--doc", document(DOCUMENT))
    assert result.exit_code == 0
    assert result.stdout_bytes == TREC.encode()
    assert result.stderr_bytes == b""


def test_the_script_writes_the_bytes_and_no_newline(script, document):
    file = document(DOCUMENT)
    # An encoding that cannot say any of it: the bytes are UTF-8 all the same.
    done = script("prompt", "longbench_v1_trec", "--doc", file, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == TREC.encode()


def test_the_script_keeps_the_last_space_and_the_last_newline(script, document):
    file = document({"context": "x", "input": ""})
    assert script("prompt", "longbench_v1_passage_count", "--doc", file).stdout.endswith(b"is: ")
    assert script("prompt", "longbench_v1_lcc", "--doc", file).stdout == (
        b"Please complete the code given below. \nxNext line of code:\n"
    )


def test_half_a_character_is_no_document(invoke, document):
    file = document(b'{"context": "\\ud83d", "input": ""}')
    result = invoke("prompt", "longbench_v1_lcc", "--doc", file)
    assert result.stdout_bytes == b""
    assert isinstance(result.exception, PromptError)


@pytest.mark.parametrize("task", TASKS[::4], ids=lambda task: task.name)
@pytest.mark.parametrize("index", [0, 3])
def test_a_row_of_the_sample(invoke, task, index):
    lines = (SAMPLE / f"{task.dataset}.jsonl").read_bytes().splitlines()
    result = invoke("prompt", task.name, "--index", index, "--data-dir", "sample")
    expected = V1.render(task, json.loads(lines[index]))
    assert result.exit_code == 0
    assert result.stdout_bytes == expected.encode()


@pytest.mark.parametrize("limit", [40, 41])
def test_a_cut_prompt(invoke, document, tokenizer_folder, limit):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    value = {"context": "The fox 今天 jumps 🙂. " * 50, "input": "Who jumps?"}
    result = invoke(
        *("prompt", "longbench_v1_qasper", "--doc", document(value)),
        *("--tokenizer", tokenizer_folder, "--truncate-to", limit),
    )
    ids = tokenizer(V1.render(BY_FILE["qasper"], value))["input_ids"]
    head = tokenizer.decode(ids[:20], skip_special_tokens=True)
    tail = tokenizer.decode(ids[-20:], skip_special_tokens=True)
    assert len(ids) > limit
    assert result.stdout_bytes == (head + tail).encode()


def test_a_prompt_that_is_short_enough_is_whole(script, document, tokenizer_folder):
    done = script(
        *("prompt", "longbench_v1_e_trec", "--doc", document(DOCUMENT)),
        *("--tokenizer", tokenizer_folder, "--truncate-to", 4000),
    )
    assert (done.returncode, done.stdout) == (0, TREC.encode())


@pytest.mark.parametrize("both", [True, False])
def test_either_an_index_or_a_file(raised, document, both):
    more = ("--index", 0, "--doc", document(DOCUMENT)) if both else ()
    error = raised("prompt", "longbench_v1_qasper", "--data-dir", "sample", *more)
    assert isinstance(error, OptionError)
    assert str(error) == "Give either --index N or --doc FILE."


@pytest.mark.parametrize("more", [("--tokenizer", "x"), ("--truncate-to", 100)])
def test_tokenizer_and_limit_go_together(raised, document, more):
    error = raised("prompt", "longbench_v1_qasper", "--doc", document(DOCUMENT), *more)
    assert isinstance(error, OptionError)
    assert "go together" in str(error)


@pytest.mark.parametrize("index", [4, 99, -1])
def test_an_index_beyond_the_dataset(raised, index):
    error = raised("prompt", "longbench_v1_qasper", "--data-dir", "sample", "--index", index)
    assert isinstance(error, OptionError)
    assert str(error) == f"--index must be from 0 to 3 for longbench_v1_qasper, not {index}."


def test_an_unknown_task(raised, document):
    error = raised("prompt", "longbench_v1_repobench-p", "--doc", document(DOCUMENT))
    assert isinstance(error, UnknownNameError)
    assert "Did you mean 'longbench_v1_repobench_p'?" in str(error)


def test_a_limit_that_is_too_small(raised, document):
    file = document(DOCUMENT)
    error = raised(
        *("prompt", "longbench_v1_qasper", "--doc", file),
        *("--tokenizer", "x", "--truncate-to", 1),
    )
    assert isinstance(error, OptionError)


def test_a_tokenizer_that_is_not_there(raised, document, tmp_path):
    error = raised(
        *("prompt", "longbench_v1_qasper", "--doc", document(DOCUMENT)),
        *("--tokenizer", tmp_path / "none", "--truncate-to", 100),
    )
    assert isinstance(error, TokenizerError)
    assert str(tmp_path / "none") in str(error)


def test_a_folder_without_the_data(raised, tmp_path):
    error = raised("prompt", "longbench_v1_qasper", "--index", 0, "--data-dir", tmp_path)
    assert isinstance(error, DataError)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'{"a": 1} x', b"[" * 100_000])
def test_a_file_that_is_no_json(raised, document, content):
    error = raised("prompt", "longbench_v1_qasper", "--doc", document(content))
    assert isinstance(error, PromptError)
    assert "cannot be read as one JSON object" in str(error)


@pytest.mark.parametrize("value", [[DOCUMENT], "text", None, 1])
def test_a_file_with_another_value(raised, document, value):
    error = raised("prompt", "longbench_v1_qasper", "--doc", document(value))
    assert isinstance(error, PromptError)
    assert f"must hold one JSON object, not {type(value).__name__}" in str(error)


def test_a_file_that_is_missing(raised, tmp_path):
    error = raised("prompt", "longbench_v1_qasper", "--doc", tmp_path / "none.json")
    assert isinstance(error, PromptError)
    assert "none.json" in str(error)


def test_a_document_without_a_field(raised, document):
    error = raised("prompt", "longbench_v1_qasper", "--doc", document({"context": "x"}))
    assert isinstance(error, PromptError)
    assert "'input'" in str(error)
