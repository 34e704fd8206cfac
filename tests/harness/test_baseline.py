import re

import pytest
from harness_requests import generation_request

from lm_eval_longbench.harness.baseline import ExtractiveBaseline, answer

TEXT = "Cows eat. Emma built the tower.\n\n"
ENGLISH = TEXT + "Question: Who built the tower?\nAnswer:"
CHINESE = "阅读。\n\n灯塔由王小明建造。下雨了。\n\n问题：谁建造灯塔？\n回答："


def requests(*arguments):
    return [generation_request(*pair, number=number) for number, pair in enumerate(arguments)]


def test_generates_in_order_within_stops_and_budgets():
    asked = requests(
        (ENGLISH, {"until": [], "max_gen_toks": 64}),
        (ENGLISH, {"until": [" the"], "max_gen_toks": 64}),
        (ENGLISH, {"max_new_tokens": 3, "do_sample": False}),
        (CHINESE, {"until": ["\n"], "max_tokens": 3}),
    )
    expected = ["Emma built the tower.", "Emma built", "Emma built the", "灯塔由"]
    model = ExtractiveBaseline()
    assert model.generate_until(asked) == expected
    assert model.generate_until(asked) == ExtractiveBaseline().generate_until(asked)


def test_answers_have_the_form_that_each_benchmark_reads(evaluate):
    """On the sample: a letter, a paragraph, a number, a label, a line of code, items."""
    forms = {
        "longbench_v2": r"The correct answer is \([A-D]\)\.",
        "longbench_v2_no_context": r"The correct answer is \([A-D]\)\.",
        "longbench_v1_passage_retrieval_en": r"Paragraph \d+",
        "longbench_v1_passage_retrieval_zh": r"段落\d+",
        "longbench_v1_passage_count": r"\d+",
        "longbench_v1_trec": r"\w[\w ]*",
        "longbench_v1_lcc": r".*\S.*",
        "longbench_v1_gov_report": r"(?s:.{100,})",
        "longbench_pro": r"\[(Answer|答案)\](\n.*\S.*)+",
    }
    logged = evaluate(ExtractiveBaseline(), list(forms), {"data_dir": "sample"})["samples"]
    for task, rows in logged.items():
        form = next(form for name, form in forms.items() if task.startswith(name))
        if task == "longbench_v2_no_context":
            form = forms["longbench_v2"]
        assert rows and all(re.fullmatch(form, text) for row in rows for text in row["resps"][0])


@pytest.mark.parametrize("prompt", ["", "Answer:", "Next line of code:", "one", "a\n\nb", "\n\n？"])
def test_any_prompt_can_be_answered(prompt):
    assert answer(prompt) in prompt
