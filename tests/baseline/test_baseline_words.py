from lm_eval_longbench.baseline.text import code_words, words


def test_words_are_lower_cased_without_punctuation():
    assert words("The U.S. Navy's ship!") == ["the", "u", "s", "navy", "s", "ship"]


def test_chinese_gives_character_pairs():
    assert words("灯塔建造，谁") == ["灯塔", "塔建", "建造", "谁"]


def test_scripts_are_told_apart():
    assert words("用BERT模型") == ["用", "bert", "模型"]


def test_nothing_gives_nothing():
    assert words("") == words(" ...\n。") == []


def test_code_keeps_case_and_marks():
    assert code_words("  self.Run(x);") == ["self", ".", "Run", "(", "x", ")", ";"]
