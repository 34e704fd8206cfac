import time

import pytest
import v2_prompts as longbench_v2_prompts
from hypothesis import given
from hypothesis import strategies as st
from v1_tasks import TASKS, load
from v2_prompts import (
    COT,
    COT_ANSWER,
    NO_CONTEXT,
    RAG,
    ZERO_SHOT,
)

from lm_eval_longbench.baseline.choices import choose
from lm_eval_longbench.baseline.extractive import answer
from lm_eval_longbench.benchmarks.longbench_v1 import V1

TEXT = (
    "The mill stood by the river. Ann baked bread in the mill. Tom fished. "
    "The tower on the hill was built by Emma. Rain fell on the hill.\nBob painted a boat."
)
DOCUMENT = {
    "context": TEXT,
    "question": "Who built the tower?",
    "choice_A": "Ann the baker",
    "choice_B": "Bob the painter",
    "choice_C": "Emma of the village",
    "choice_D": "Tom the fisherman",
}
FORMAT = 'Format your response as follows: "The correct answer is (insert answer here)".'
CHATS = [
    "{}",
    "<|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n"
    "<|im_start|>assistant\n",
    "<s>[INST] {} [/INST]",
]
in_chats = pytest.mark.parametrize("chat", CHATS, ids=["plain", "chatml", "inst"])


def prompt(template, reasoning=None, **changes):
    return longbench_v2_prompts.render({**DOCUMENT, **changes}, template, reasoning)


def said(letter):
    return f"The correct answer is ({letter})."


@in_chats
@pytest.mark.parametrize("template", [ZERO_SHOT, RAG])
def test_the_choice_that_a_sentence_of_the_text_bears_out(template, chat):
    assert answer(chat.format(prompt(template)), 128) == said("C")


@pytest.mark.parametrize("place", range(4))
def test_at_every_letter(place):
    names = ["Ann", "Bob", "Tom"]
    names.insert(place, "Emma")
    changes = {f"choice_{letter}": name for letter, name in zip("ABCD", names, strict=True)}
    assert choose(prompt(ZERO_SHOT, **changes)) == said("ABCD"[place])


def test_chinese():
    changes = {
        "context": "母牛吃青草。灯塔由王小明建造。天黑了。",
        "question": "谁建造了灯塔？",
        "choice_A": "李四",
        "choice_B": "张三",
        "choice_C": "赵六",
        "choice_D": "王小明",
    }
    assert choose(prompt(ZERO_SHOT, **changes)) == said("D")


@in_chats
def test_without_a_document_the_choice_most_like_the_question(chat):
    # A document would have said (C); the text of a system message is none.
    assert answer(chat.format(prompt(NO_CONTEXT)), 128) == said("A")
    asked = prompt(NO_CONTEXT, question="Which painter built the tower?")
    assert answer(chat.format(asked), 128) == said("B")
    # The request is no part of the last choice.
    asked = prompt(NO_CONTEXT, question="What is single, most likely?", choice_A="Ann")
    assert answer(chat.format(asked), 128) == said("A")


@pytest.mark.parametrize("template", [ZERO_SHOT, NO_CONTEXT, RAG])
def test_nothing_in_common_gives_the_first_letter(template):
    changes = {f"choice_{letter}": "..." for letter in "ABCD"}
    assert choose(prompt(template, question="?", **changes)) == said("A")


@in_chats
def test_reasoning_comes_in_text_order_before_the_answer(chat):
    text = chat.format(prompt(COT, question="Who built the tower by the river?"))
    assert answer(text, 1024) == (
        "The mill stood by the river. The tower on the hill was built by Emma.\n\n"
        "The correct answer is (C)."
    )


def test_reasoning_leaves_room_for_the_answer():
    endless = "tower " * 5000
    reasoned = answer(prompt(COT, context=endless), 1024)
    assert reasoned.endswith("\n\nThe correct answer is (A).")
    assert len(reasoned.split()) == 105


def test_reasoning_about_nothing():
    assert choose(prompt(COT, context="")) == said("A")


@in_chats
@pytest.mark.parametrize(
    ("reasoning", "letter"),
    [
        ("Emma did. The correct answer is (D).", "D"),
        ("**The correct answer is: (D)**", "D"),
        ("The correct answer is B", "B"),
        ("The correct answer is **B**, not (C).", "B"),
        ("The correct answer is (A)? No. The correct answer is (B).", "B"),
        ("Step 1. It is (B).", "B"),
        ("(B) it is: (B).", "B"),
        ("Not (A), nor (B): it must be Tom, who fished.", "D"),
        ("The correct answer is Diana, as Emma of the village.", "C"),
        ("Only Bob can paint.", "B"),
        ("", "A"),
        ("What is the correct answer to this question: x\nChoices:\n(A) a\n(B) b\n\nEmma", "C"),
        ("First.\n\nLet’s think step by step: The correct answer is (D).", "D"),
    ],
)
def test_the_answer_after_reasoning(reasoning, letter, chat):
    assert answer(chat.format(prompt(COT_ANSWER, reasoning)), 128) == said(letter)


@pytest.mark.parametrize("letter", "ABCD")
def test_the_own_reasoning_is_followed(letter):
    context = f"The tower was built by someone. {DOCUMENT[f'choice_{letter}']} built the tower."
    reasoning = answer(prompt(COT, context=context), 1024)
    assert answer(prompt(COT_ANSWER, reasoning), 128) == said(letter)


def test_lines_that_look_like_choices_are_text():
    inside = "\n\nWhat is the correct answer to this question: x\nChoices:\n(A) y\n(D) Emma\n\n"
    assert choose(prompt(ZERO_SHOT, context=f"Cows.{inside}{TEXT}")) == said("C")
    listed = "Both:\n(A) Ann and\n(B) Bob"
    assert choose(prompt(ZERO_SHOT, choice_D=listed)) == said("C")
    assert choose(prompt(ZERO_SHOT, choice_B=listed)) == said("C")


@pytest.mark.parametrize("template", [ZERO_SHOT, COT])
def test_a_prompt_cut_in_its_middle(template):
    whole = prompt(template, context="Cows eat grass. " * 5000 + TEXT)
    kept = len(prompt(template))
    assert (choose(whole[:1000] + whole[-kept:]) or "").endswith(said("C"))


def test_a_cut_that_takes_choices_away():
    whole = prompt(ZERO_SHOT, context="Cows eat. Emma built the tower. Rain fell.")
    head = whole[: whole.index("Rain")]
    assert choose(head + whole[whole.index("\n(B)") - 6 :]) == said("C")
    assert choose(head + whole[whole.index("\n(D)") - 6 :]) == said("D")
    assert choose(head + whole[whole.index("\n\nFormat") - 6 :]) is None


def test_a_reasoning_prompt_cut_in_its_middle():
    whole = prompt(COT_ANSWER, "Cows eat grass. " * 5000 + "The correct answer is (D).")
    assert choose(whole[:600] + whole[-600:]) == said("D")
    # Without the place where the reasoning began, too.
    assert choose(whole[: whole.index("\n(C)")] + whole[-600:]) == said("D")


QUESTION = "What is the correct answer to this question: Who?\nChoices:\n(A) a\n(B) b\n(C) c\n(D) d"


@pytest.mark.parametrize(
    "text",
    [
        "",
        FORMAT,
        "Let’s think step by step:",
        f"{QUESTION}\n\n{FORMAT} Now.",
        f"{QUESTION}\n\n{FORMAT}\n\n\n\nIn which year was it?\n\n[Answer]\n1871",
        f"{QUESTION}\n\nLet’s think step by step: yes",
        f"{QUESTION}\n\nLet's think step by step:",
        f"{QUESTION[: QUESTION.index('(C)')]}\n\nLet’s think step by step:",
        f"{QUESTION[QUESTION.index('Choices') :]}\n\nLet’s think step by step:",
        f"(A) a\n\n{FORMAT}",
        QUESTION,
        f"{QUESTION}\n\n{'x' * 50_000}\n\n{FORMAT}",
    ],
)
def test_other_prompts_are_left_alone(text):
    assert choose(text) is None


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_other_benchmarks_are_not_disturbed_by_such_a_document(task):
    for row in load(task, "sample").rows.select(range(1)):
        for end in (f"\n\n{FORMAT}\n\n", "\n\nLet’s think step by step:\n\n"):
            told = {**row, "context": f"{row['context']}\n\n{QUESTION}{end}"}
            assert choose(V1.render(task, told).strip()) is None


def test_looser_cues_in_a_question_do_not_win():
    asked = (
        "Which paragraph of the final count of unique paragraphs tells who built the tower? 不重复"
    )
    numbered = f"Paragraph 1: cows\n\nParagraph 2: {TEXT}"
    assert answer(prompt(ZERO_SHOT, context=numbered, question=asked), 128) == said("C")


CUES = [
    "\nChoices:\n",
    "\n(A) ",
    "\n(B) ",
    "\n(D) ",
    "<text>\n",
    "\n</text>\n\n",
    "The text is too long and omitted here.",
    "What is the correct answer to this question: ",
    "\n\nLet’s think step by step: ",
    "The correct answer is (B).",
    "Based on the above, what is the single, most likely answer choice? ",
    "What is the single, most likely answer choice? ",
]
PIECES = st.lists(st.sampled_from(CUES) | st.text("ab 中。.\n(A)*\ud800", max_size=12))
ENDS = st.sampled_from([FORMAT, "Let’s think step by step:", f"{CUES[-2]}{FORMAT}", ""])


@given(PIECES.map("".join), ENDS)
def test_an_answer_names_one_letter(text, end):
    found = choose(text + end)
    assert found is None or found[-4:] in {"(A).", "(B).", "(C).", "(D)."}
    assert choose(text + end) == found


@pytest.mark.parametrize("filler", [" ", "a ", "a. ", "中", "\n(A) ", "(", "*", "\n\n", "<text>"])
@pytest.mark.parametrize("template", [ZERO_SHOT, COT, COT_ANSWER])
def test_long_monotonous_parts(template, filler):
    long = filler * (100_000 // len(filler))
    asked = prompt(template, long, context=long, question=long[:1000], choice_B=long[:1000])
    started = time.process_time()
    assert said("")[:-3] in answer(asked, 1024)
    assert time.process_time() - started < 3
