import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.baseline.extractive import answer
from lm_eval_longbench.baseline.text import count_units

CUES = [
    "Question: who?\n",
    "问题：谁？\n",
    "Query: what?\n",
    "Answer:",
    "回答：",
    "Type: A\n",
    "Type:",
    "类别：",
    "Dialogue: A: b\n",
    "Summary:",
    "会议总结：",
    "Paragraph 1: a b\n\n",
    "段落2：甲乙\n\n",
    "The following is an abstract.\n\n",
    "number of the paragraph",
    "段落的编号",
    "final count of unique paragraphs",
    "Next line of code:\n",
    "<|im_end|>",
    "[/INST]",
    "assistant\n",
    "\n\n",
]
ANY_TEXT = st.text(alphabet=st.characters(), max_size=300)
CUED_TEXT = st.lists(st.sampled_from(CUES) | st.text("ab 中。.\n\ud800", max_size=12)).map("".join)

PROMPTS = {
    "code": ("Complete the code.\na = 1\nb = 2\na = 3\nNext line of code:\n", "b = 2"),
    "count": ("Paragraph 1: a\n\nParagraph 2: a\n\nThe final count of unique paragraphs is: ", "2"),
    "passage": (
        "Paragraph 1: cows\n\nParagraph 2: whales\n\nThe following is an abstract.\n\nOn whales\n\n"
        "Please enter the number of the paragraph.\n\nThe answer is: ",
        "Paragraph 2",
    ),
    "label": (
        "Question: when ?\nType: Date\nQuestion: who ?\nType: Person\nQuestion: who is X ?\nType:",
        "Person",
    ),
    "dialogue": ("Dialogue: A: hi\nB: ho\nA: he\nSummary: ", "A: hi B: ho"),
    "summary": (
        "Write a summary.\n\nReport:\nIt rained.\n\nNow, write it.\n\nSummary:",
        "It rained.",
    ),
    "chinese summary": ("请总结。\n会议记录：\n下雨了。\n\n会议总结：", "下雨了。"),
    "query": ("Transcript:\nIt rained.\n\nNow, answer.\n\nQuery: rain?\nAnswer:", "It rained."),
    "question": (
        "Read the following text.\n\nCows eat. Emma built the tower.\n\nNow, answer.\n\n"
        "Question: Who built the tower?\nAnswer:",
        "Emma built the tower.",
    ),
    "other": ("Cows eat. Emma built the tower.\n\nwho built the tower", "Emma built the tower."),
}
CHATS = [
    "{}",
    "<|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n"
    "<|im_start|>assistant\n",
    "<|start_header_id|>user<|end_header_id|>\n\n{}<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "<s>[INST] {} [/INST]",
]


@pytest.mark.parametrize("chat", CHATS, ids=["plain", "chatml", "llama3", "inst"])
@pytest.mark.parametrize("kind", PROMPTS)
def test_every_kind_of_prompt_in_every_wrapping(kind, chat):
    prompt, expected = PROMPTS[kind]
    assert answer(chat.format(prompt), 64) == expected


def test_a_prompt_cut_in_its_middle_still_shows_its_kind():
    filler = "Some words stand here. " * 500
    prompt = (
        f"Read the text.\n\n{filler}Emma built the tower.\n\n"
        "Question: Who built the tower?\nAnswer:"
    )
    assert answer(prompt[:2000] + prompt[-200:], 64) == "Emma built the tower."


def test_the_budget_cuts_words_and_characters():
    assert answer(PROMPTS["question"][0], 2) == "Emma built"
    assert answer(PROMPTS["chinese summary"][0], 2) == "下雨"
    assert answer(PROMPTS["question"][0], 0) == ""


def test_a_negative_budget_is_refused():
    with pytest.raises(ValueError, match="-5"):
        answer("text", -5)


@given(ANY_TEXT | CUED_TEXT, st.integers(0, 20))
def test_never_raises_stays_in_the_budget_and_repeats_itself(prompt, budget):
    first = answer(prompt, budget)
    assert count_units(first) <= budget
    assert answer(prompt, budget) == first


@pytest.mark.parametrize("cue", ["", *CUES])
@pytest.mark.parametrize(
    "filler",
    ["", " ", "\n", " \n", "a", "a ", "a. ", "中", "。", "\ud800", "<a>", "\u3000", "x\n\n"],
)
def test_long_monotonous_prompts(filler, cue):
    started = time.process_time()
    assert count_units(answer(filler * (40_000 // max(len(filler), 1)) + "\n" + cue, 7)) <= 7
    assert time.process_time() - started < 1.5


def test_ten_thousand_words_take_no_time():
    prompt = "Read.\n\n" + "".join(
        f"Word{n % 977} stands near word{n % 499} in line {n}. " for n in range(1430)
    )
    answer(prompt, 5)
    started = time.process_time()
    answer(prompt + "\n\nQuestion: What stands near word498?\nAnswer:", 64)
    assert time.process_time() - started < 1  # measured: 0.05 s; the rest is for busy machines


def test_the_answer_does_not_hang_on_the_hash_seed():
    program = (
        "from lm_eval_longbench.baseline.extractive import answer;"
        "t = '. '.join(f'w{n % 7} w{n % 11} w{n % 13}' for n in range(300));"
        "print(answer(t + '\\n\\nQuery: w1 w2 w3 w4 w5 w6?\\nAnswer:', 90))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert len(runs[0].split()) == 15
