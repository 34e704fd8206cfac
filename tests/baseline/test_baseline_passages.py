import pytest

from lm_eval_longbench.baseline.extractive import count_paragraphs, find_paragraph

ANIMALS = ["cows eat green grass", "whales swim in oceans", "owls hunt mice at night"]
EN = "\n\n".join(f"Paragraph {n}: Here {text}." for n, text in enumerate(ANIMALS, 1))
ZH = "段落1：母牛吃青草。\n\n段落2：鲸鱼在海洋游泳。\n\n段落3：猫头鹰夜里捕鼠。"
ASK_EN = "Please enter the number of the paragraph that the abstract is from.\n\nThe answer is:"
ASK_ZH = "请输入摘要所属段落的编号。\n\n答案是："


def english(abstract: str) -> str:
    return f"Which is it?\n\n{EN}\n\nThe following is an abstract.\n\n{abstract}\n\n{ASK_EN}"


@pytest.mark.parametrize(
    ("abstract", "number"),
    [("Cows and grass.", 1), ("Of whales\n\nand oceans.", 2), ("An owl story: mice by night.", 3)],
)
def test_english(abstract, number):
    assert find_paragraph(english(abstract)) == f"Paragraph {number}"


def test_chinese():
    prompt = f"以下是段落。\n\n{ZH}\n\n下面是一个摘要\n\n鲸鱼游泳\n\n{ASK_ZH}"
    assert find_paragraph(prompt) == "段落2"


def test_numbers_are_read_not_counted():
    prompt = english("whales in oceans").replace("Paragraph 2:", "Paragraph 27:")
    assert find_paragraph(prompt) == "Paragraph 27"


def test_the_announcement_may_be_cut_away():
    prompt = f"{EN}\n\nwhales in oceans\n\n{ASK_EN}"
    assert find_paragraph(prompt) == "Paragraph 2"


def test_an_abstract_that_looks_like_an_announcement():
    assert find_paragraph(english("The abstract is on whales.")) == "Paragraph 2"


@pytest.mark.parametrize("prompt", ["", EN, f"no headings\n\n{ASK_EN}", f"Paragraph 1: {ASK_EN}"])
def test_other_prompts_are_left_alone(prompt):
    assert find_paragraph(prompt) is None


def test_count_takes_repeats_for_unique():
    again = "Paragraph 4: Here cows eat green grass."
    prompt = f"{EN}\n\n{again}\n\nenter the final count of unique paragraphs"
    assert count_paragraphs(prompt) == "4"


@pytest.mark.parametrize("prompt", ["", EN, "the final count of unique paragraphs"])
def test_count_leaves_other_prompts_alone(prompt):
    assert count_paragraphs(prompt) is None
