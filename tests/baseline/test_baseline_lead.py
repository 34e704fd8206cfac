import pytest

from lm_eval_longbench.baseline.extractive import lead_summary

REPORT = (
    "You are given a report. Write a summary.\n\nReport:\nOne two three. Four five.\nSix seven "
    "eight nine.\n\nNow, write a summary.\n\nSummary:"
)
MEETING = (
    "下面有一段会议记录，请你总结。\n会议记录：\n甲说今天开会。乙说好。\n丙走了。\n\n会议总结："
)


@pytest.mark.parametrize(
    ("budget", "summary"),
    [
        (100, "One two three. Four five. Six seven eight nine."),
        (8, "One two three. Four five."),
        (5, "One two three. Four five."),
        (1, "One two three."),
    ],
)
def test_whole_sentences_within_the_budget(budget, summary):
    assert lead_summary(REPORT, budget) == summary


def test_chinese_counts_characters():
    assert lead_summary(MEETING, 11) == "甲说今天开会。乙说好。"
    assert lead_summary(MEETING, 10) == "甲说今天开会。"


def test_first_utterances_of_the_last_dialogue():
    prompt = (
        "Summarize the dialogue.\n\nDialogue: A: hi\r\nB: ho\r\nSummary: A greets B.\n"
        "Dialogue: Tom: lunch?\r\nAnn: at noon.\r\nTom: fine\nSummary:"
    )
    assert lead_summary(prompt, 50) == "Tom: lunch? Ann: at noon."


@pytest.mark.parametrize("prompt", ["", "Summary: done", "text\nAnswer:"])
def test_other_prompts_are_left_alone(prompt):
    assert lead_summary(prompt, 50) is None


def test_nothing_to_summarize():
    assert lead_summary("Summary:", 50) == ""
