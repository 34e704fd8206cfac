from lm_eval_longbench.baseline.extractive import answer_last_paragraph, answer_question


def test_question_of_a_text():
    prompt = (
        "Answer the question. No other words.\n\nThe following are given passages.\n"
        "Passage 1:\nThe question\nWho built it is known.\nPassage 2:\nCarrow\n"
        "The lighthouse was built by Emma Stone.\n\nAnswer the question. No other words.\n\n"
        "Question: Who built the lighthouse?\nAnswer:"
    )
    assert answer_question(prompt) == "The lighthouse was built by Emma Stone."


def test_chinese_question():
    prompt = (
        "阅读文字：\n\n天黑了。灯塔由王小明建造。下雨了。\n\n"
        "现在请回答。\n\n问题：谁建造灯塔？\n回答："
    )
    assert answer_question(prompt) == "灯塔由王小明建造。"


def test_worked_examples_are_not_searched():
    prompt = (
        "Passage:\nThe capital of Norway is Atlantis.\nQuestion:\nX?\nAnswer:\ny\n\n"
        "Passage:\nCows eat. The capital is Oslo.\n"
        "Question:\nWhat is the capital of Norway?\nAnswer:"
    )
    assert answer_question(prompt) == "The capital is Oslo."


def test_a_query_gets_five_sentences_in_text_order():
    lines = [f"Speaker {n}: the budget is {n}00." for n in range(8)]
    prompt = "Transcript:\n" + "\n".join(lines) + "\n\nQuery: What of the budget?\nAnswer:"
    assert answer_question(prompt) == " ".join(lines[:5])


def test_a_question_far_from_the_end_is_part_of_the_text():
    assert answer_question("Question: why?\n" + "word " * 2000) is None
    assert answer_question("no cue at all") is None


def test_a_question_without_a_text():
    assert answer_question("Question: why?\nAnswer:") == ""


def test_last_paragraph_as_the_question():
    prompt = "Cows eat grass. Emma built the tower.\n\nRain fell.\n\nTell me who built the tower"
    assert answer_last_paragraph(prompt) == "Emma built the tower."
    assert answer_last_paragraph("only one paragraph") == answer_last_paragraph("") == ""
