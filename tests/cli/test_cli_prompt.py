"""Exactly the prompt a model gets."""

import json
from pathlib import Path

import pytest
from v1_tasks import BY_FILE, TASKS

import lm_eval_longbench
from lm_eval_longbench.benchmarks.v1 import V1

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


def test_the_script_writes_the_bytes_and_no_newline(script, document):
    file = document(DOCUMENT)
    # An encoding that cannot say any of it: the bytes are UTF-8 all the same.
    done = script("prompt", "longbench_v1_trec", "--doc", file, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == TREC.encode()


@pytest.mark.parametrize("task", TASKS[::8], ids=lambda task: task.name)
@pytest.mark.parametrize("index", [3])
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
