from lm_eval_longbench.baseline.text import best_sentences, join, sentences

TEXT = "Cows eat grass. The lighthouse was built in 1871. Rain fell.\nThe keeper of it was Emma."


def test_sentences():
    assert sentences('He said "no." She left!\n\n天黑了。下雨了？好') == [
        'He said "no."',
        "She left!",
        "天黑了。",
        "下雨了？",
        "好",
    ]
    assert sentences(" \n ") == []


def test_the_fitting_sentence_is_found():
    assert best_sentences(TEXT, "When was the lighthouse built?", 1) == [
        "The lighthouse was built in 1871."
    ]


def test_several_come_in_text_order():
    assert best_sentences(TEXT, "keeper of the lighthouse", 2) == [
        "The lighthouse was built in 1871.",
        "The keeper of it was Emma.",
    ]


def test_a_sentence_of_the_questions_words_is_passed_over():
    assert best_sentences("The lighthouse.\nA lighthouse burns oil.", "the lighthouse?", 1) == [
        "A lighthouse burns oil."
    ]


def test_nothing_in_common_gives_the_first_sentence():
    assert best_sentences(TEXT, "zebra", 1) == ["Cows eat grass."]
    assert best_sentences(TEXT, "", 1) == ["Cows eat grass."]


def test_no_text_gives_none():
    assert best_sentences("", "Who?", 3) == best_sentences("...", "Who?", 3) == []


def test_join():
    assert join(["One.", "Two.", "三。", "四"]) == "One. Two. 三。四"
    assert join([]) == ""
