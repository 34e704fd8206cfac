import re
import time

import pytest

from lm_eval_longbench.baseline.text import last_match, material, paragraphs, strip_markup


@pytest.mark.parametrize(
    "closing",
    [
        "",
        " \n",
        "<|im_end|>\n<|im_start|>assistant\n",
        "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
        " [/INST]",
        "<end_of_turn>\n<start_of_turn>model\n",
        "<｜Assistant｜><think>\n\n</think>\n\n",
        " ASSISTANT:",
        "\n\n### Response:\n",
    ],
)
def test_strip_markup(closing):
    assert strip_markup("Which model?\nAnswer:" + closing) == "Which model?\nAnswer:"


@pytest.mark.parametrize(
    "opening",
    [
        "\n ",
        "<|im_start|>user\n",
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n",
        "<s>[INST] ",
        "USER: ",
    ],
)
def test_strip_markup_at_the_start(opening):
    assert strip_markup(opening + "user guide?") == "user guide?"


def test_strip_markup_leaves_words_that_only_look_like_roles():
    assert strip_markup("Describe the language model") == "Describe the language model"


def test_paragraphs():
    assert paragraphs("\n\na\nb\n \t\n\n c \n\n\n") == ["a\nb", "c"]
    assert paragraphs(" \n ") == []


def test_material_loses_instructions_and_heading():
    text = (
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
        "<|im_start|>user\nYou are given a report. Summarize it.\n\nReport:\nFirst fact.\n"
        "\nPlease note the second fact.\nThird fact.\n\nNow, write a summary.\n\n"
    )
    assert material(text) == "First fact.\n\nPlease note the second fact.\nThird fact."


def test_material_of_chinese():
    assert material("请你阅读下文。\n会议记录：\n甲：好。\n\n现在请回答。\n") == "甲：好。"


def test_material_may_be_empty():
    assert material("") == material("Answer the question.\n\n") == ""


@pytest.mark.parametrize("filler", [" ", "<a>", "<a> ", "<a>user ", "[A_]", "USER: ", "<"])
def test_long_markup_is_read_once(filler):
    line = (filler * 1000)[:990] + "x"
    started = time.process_time()
    assert material(line).endswith("x")
    assert strip_markup(line).endswith("x")
    assert time.process_time() - started < 1


def test_last_match():
    pattern = re.compile("a.")
    found = last_match(pattern, "ab ac")
    assert found is not None
    assert found.group() == "ac"
    assert last_match(pattern, "ab ac", 4) is None
