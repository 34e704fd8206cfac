import pytest

from lm_eval_longbench.baseline.extractive import nearest_label

ENGLISH = (
    "Determine the type. Here are some examples.\n\n"
    "Question: When did the war end ?\nType: Date\n"
    "Question: What river flows through Rome ?\nType: Other location\n"
    "Question: Who wrote Hamlet ?\r\nType: Individual\r\n"
)
CHINESE = (
    "新闻内容：\n球队赢得足球比赛。\n类别：体育\n新闻内容：\n银行加息，股市上涨。\n类别：经济\n"
)


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("When did Rome fall ?", "Date"),
        ("Which river flows through Paris ?", "Other location"),
        ("Who wrote Faust ?", "Individual"),
    ],
)
def test_english(question, label):
    assert nearest_label(f"{ENGLISH}Question: {question}\nType:") == label


def test_chinese():
    assert nearest_label(CHINESE + "新闻内容：\n足球队输了。\n类别：") == "体育"
    assert nearest_label(CHINESE + "新闻内容：\n股市下跌。\n类别：") == "经济"


def test_nothing_in_common_gives_the_first_label():
    assert nearest_label(CHINESE + "类别：") == "体育"


@pytest.mark.parametrize("prompt", ["", "Question: x\nType:", ENGLISH, "Prototype:\nArchetype:"])
def test_other_prompts_are_left_alone(prompt):
    assert nearest_label(prompt) is None
