"""Where a prompt's question begins, for every template, whole and cut."""

import json
from pathlib import Path

import pytest
import v2_prompts
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.benchmarks.registry import benchmark_of, benchmarks, find_task
from lm_eval_longbench.prompts.prepare import place_as_sent, question_at

GOLDEN = Path(__file__).resolve().parents[2].parent / "shared" / "golden" / "prompts.jsonl"
ROW = {
    "context": "A {input} $Q$ document.",
    "input": "Who?",
    "language": "en",
    "question": "Who $C_A$?",
    "question_nonthinking": "Who, in short?",
    "question_thinking": "Who, and why?",
    "cot": "Because.",
    **{f"choice_{letter}": letter.lower() for letter in "ABCD"},
    "retrieved_context": [{"c_idx": 0, "content": "A chunk of a document."}],
}
TASKS = [task for one in benchmarks().values() for task in one.tasks.values()]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_what_follows_the_document_is_the_question(task):
    benchmark = benchmark_of(task)
    whole = benchmark.render(task, ROW)
    at = question_at(whole, whole, benchmark.question(task, ROW))
    assert at is not None
    if not task.document:
        assert at == 0
    else:
        assert whole[:at].rstrip().endswith("document.")
    # Another question leaves what may be compressed before it is known as it is.
    other = {**ROW, "input": "Where?", "question": "Where?", "choice_D": "x"}
    other |= {"question_nonthinking": "Where?", "question_thinking": "Where, and why?"}
    if task.document and "$Q$" not in whole[:at]:
        again = benchmark.render(task, {**other, "context": "A document."})
        plain = benchmark.render(task, {**ROW, "context": "A document."})
        same = question_at(plain, plain, benchmark.question(task, ROW))
        assert again[:same] == plain[:same]


def _asked(golden):
    """Return the task and the document of a golden prompt."""
    doc = {**golden["doc"], **{name: golden[name] for name in ("cot",) if name in golden}}
    if golden["benchmark"] == "longbench_v1":
        return find_task(f"longbench_v1_{golden['dataset']}".replace("-", "_")), doc
    if golden["benchmark"] == "longbench_pro":
        form = (
            "_thinking"
            if golden["prompt"].strip().endswith(doc["question_thinking"].strip())
            else ""
        )
        return find_task(f"longbench_pro{form}_t1_1"), doc
    return find_task(v2_prompts.TASKS[golden["template"]]), doc


@pytest.mark.skipif(not GOLDEN.exists(), reason="no golden prompts beside this checkout")
def test_golden_prompts_join_from_two_parts():
    seen = set()
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        golden = json.loads(line)
        task, doc = _asked(golden)
        question = benchmark_of(task).question(task, doc)
        at = question_at(golden["prompt"], golden["prompt"], question)
        assert golden["prompt"][:at] + question == golden["prompt"]
        if golden["benchmark"] != "longbench_v2":
            assert golden["prompt"][:at].strip().endswith(doc["context"].strip())
        seen.add(task.prompt)
    # Three data sets of v1 share one; LongBench v2 has five, Pro two.
    assert len(seen) == 21 - 2 + 5 + 2


def test_nothing_follows_the_document():
    assert question_at("A document", "A document", "") is None


@given(
    st.text("ab", max_size=30),
    st.text("ab", min_size=1, max_size=30),
    st.integers(0, 30),
    st.integers(0, 30),
)
def test_a_cut_prompt(document, question, head, tail):
    whole = document + question
    head, tail = min(head, len(whole)), min(tail, len(whole))
    if head + tail >= len(whole):
        return
    cut = whole[:head] + (whole[-tail:] if tail else "")
    at = question_at(cut, whole, question)
    assert at is not None and 0 <= at <= len(cut)
    # What stands before is of the document's side, what stands after is of the question.
    assert whole.startswith(cut[:at]) or cut.endswith(question)
    assert whole.endswith(cut[at:]) or at == len(document)


def test_a_seam_may_have_a_broken_character():
    whole = "dddddddddd" + "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqX"
    cut = "dddd\N{REPLACEMENT CHARACTER}" + whole[-10:]
    assert question_at(cut, whole, whole[10:]) == 5


def test_a_changed_text_has_no_known_place():
    whole = "d" * 50 + "a , question , that is changed everywhere , and longer"
    assert question_at("d" * 20 + "x" * 40, whole, whole[50:]) is None


def test_place_in_a_chat_template():
    prompt = "\n A document. Who?"
    sent = "<|user|>A document. Who?<|assistant|>"
    at = place_as_sent(sent, prompt, prompt.index("Who"))
    assert sent[at:] == "Who?<|assistant|>"
    assert place_as_sent("<|user|>A changed one", prompt, 3) is None
