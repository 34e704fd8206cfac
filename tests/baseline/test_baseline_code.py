import pytest

from lm_eval_longbench.baseline.extractive import next_line

HEAD = "Please complete the code given below. \n"
ASK = "Next line of code:"


def test_the_line_after_the_most_similar_one():
    code = "int a = load(x);\n\tsave(a);\n\nint b = 0;\nprint(b);\nint c = load(y);\n"
    assert next_line(HEAD + code + ASK) == "\tsave(a);"


def test_blank_lines_are_passed_over():
    code = "def f(x):\r\n\r\n    return x\r\nother\r\ndef f(y):\r\n"
    assert next_line(HEAD + code + ASK) == "    return x"


def test_of_equals_the_latest():
    assert next_line(f"{HEAD}}}\nfirst\n}}\nlatest\n}}\n{ASK}") == "latest"


def test_a_last_line_without_its_line_end():
    assert next_line(f"{HEAD}a = 1\nb = 2\nc\na = {ASK}") == "b = 2"


def test_the_request_is_not_code():
    assert next_line(f"<s>[INST] {HEAD}only\n{ASK}") == ""


def test_tags_at_the_end_are_code():
    assert next_line(f"{HEAD}</div>\n<p>\n</i>\n</div>\n{ASK}") == "<p>"


@pytest.mark.parametrize("prompt", ["", "x = 1\n", "Next line of code:\nx = 1"])
def test_other_prompts_are_left_alone(prompt):
    assert next_line(prompt) is None
