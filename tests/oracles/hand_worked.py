"""The metrics with their oracles, texts for them, and scores that were worked out by hand."""

from math import log2

from hypothesis import strategies as st

from lm_eval_longbench.metrics import code, lists, rouge, text
from oracles import classification as labels
from oracles import code_sim as code_oracle
from oracles import numbers_share, pro_items, qa_f1, qa_f1_zh, rouge_l, rouge_l_google
from oracles.pro_texts import golds, predictions
from oracles.rouge_l import f_of
from oracles.texts import anything, joined

# ---------------------------------------------------------------------- lists of LongBench Pro

ACCURACY = {
    "equal": ("[Answer]\nB", ["B"], 1.0),
    "only the first item": ("[Answer]\nB\nC\nwhatever", ["B"], 1.0),
    "right in the second line": ("[Answer]\nC\nB", ["B"], 0.0),
    "only the first gold item": ("[Answer]\nB", ["C", "B"], 0.0),
    "further gold items are not asked for": ("[Answer]\nB", ["B", "C"], 1.0),
    "a part is not enough": ("[Answer]\nB because", ["B"], 0.0),
    "without a mark the first line counts": ("B\nbecause", ["B"], 1.0),
    "the text before the answer without a mark": ("I think\nB", ["B"], 0.0),
    "the Chinese mark is text behind the English": ("[Answer]\nE\n[答案]\nE", ["E"], 1.0),
    "nothing behind the mark": ("B\n[Answer]", ["B"], 0.0),
}
ITEM_F1 = {
    # prediction, gold, F1 = 2 * common / (distinct predicted + distinct gold)
    "equal": ("a\nb", ["a", "b"], 1.0),
    "one too many": ("a\nb\nc", ["a", "b"], 4 / 5),  # 2*2/(3+2)
    "two of three and two of four": ("a\nb\nx", ["a", "b", "c", "d"], 4 / 7),  # 2*2/(3+4)
    "repetitions count once": ("a\na\na\nb", ["a", "b"], 1.0),
    "gold repetitions count once": ("a", ["a", "A"], 1.0),
    "an empty line is a wrong item": ("a\n\nb", ["a", "b"], 4 / 5),  # a, "", b: 2*2/(3+2)
    "one line is one item": ("a, b", ["a", "b"], 0.0),
    "text before the mark does not count": ("x\n[Answer]\na", ["a"], 1.0),
    "text without a mark does": ("x\na", ["a"], 2 / 3),
}
SUB_EM = {
    # prediction, gold, found / gold
    "equal": ("a\nb", ["a", "b"], 1.0),
    "a part of a line is not enough": ("the total is 7", ["7"], 0.0),
    "a line that is part of the gold item": ("7", ["total 7"], 0.0),
    "a gold item twice counts twice": ("a", ["a", "a", "b"], 2 / 3),
    "a predicted item twice counts once": ("a\na", ["a", "b"], 1 / 2),
    "items before the mark do not count": ("a\n[Answer]\nb", ["a", "b"], 1 / 2),
}
# Ranks are discounted by 1, log2(3), log2(4) = 2. Ideal of three: 3/1 + 2/log2(3) + 1/2.
IDEAL_2 = 2 + 1 / log2(3)
IDEAL_3 = 3 + 2 / log2(3) + 1 / 2
NDCG = {
    "equal": ("a\nb\nc", ["a", "b", "c"], 1.0),
    "one gold item found": ("a", ["a"], 1.0),
    "one gold item on the second rank is beyond k": ("x\na", ["a"], 0.0),
    "two swapped": ("b\na", ["a", "b"], (1 + 2 / log2(3)) / IDEAL_2),
    # gains 1, 2, 3 from the last
    "reversed": ("c\nb\na", ["a", "b", "c"], (1 + 2 / log2(3) + 3 / 2) / IDEAL_3),
    "only the first": ("a", ["a", "b", "c"], 3 / IDEAL_3),
    "only the last, in front": ("c", ["a", "b", "c"], 1 / IDEAL_3),
    "a wrong item takes a rank": ("x\na", ["a", "b"], (2 / log2(3)) / IDEAL_2),
    # k is the number of gold items: b comes third and is cut
    "beyond the k-th rank": ("a\nx\nb", ["a", "b"], 2 / IDEAL_2),
    # a moves behind b: b a
    "a repeated item takes its last position": ("a\nb\na", ["a", "b"], (1 + 2 / log2(3)) / IDEAL_2),
    # a a b is a b: a takes one rank, not two
    "a repeated item takes one rank": ("a\na\nb", ["a", "b"], 1.0),
    "empty lines take one rank together": ("a\n\n\nb", ["a", "b"], 2 / IDEAL_2),
    # k = 3; a has the gain of its last place, 1, and b has 2: ideal b a = 2 + 1/log2(3)
    "a repeated gold item has its last gain": (
        "a\nb",
        ["a", "b", "a"],
        (1 + 2 / log2(3)) / IDEAL_2,
    ),
}
PAIRWISE = {
    # prediction, gold, gold pairs in order / pairs of predicted items
    "equal": ("a\nb\nc", ["a", "b", "c"], 1.0),  # 3/3
    "reversed": ("c\nb\na", ["a", "b", "c"], 0.0),
    "two swapped": ("b\na\nc", ["a", "b", "c"], 2 / 3),  # ac, bc of 3
    # the denominator is the prediction's: a missing item costs nothing
    "the first two of four": ("a\nb", ["a", "b", "c", "d"], 1.0),  # 1/1
    "a wrong item between": ("a\nx\nb", ["a", "b"], 1 / 3),  # ab of 3
    "an empty line between": ("a\n\nb", ["a", "b"], 1 / 3),
    "two empty lines count twice": ("a\n\n\nb", ["a", "b"], 1 / 6),  # ab of 6
    # a at 2 and b at 1: no pair in order
    "a repeated item stands at its last position": ("a\nb\na", ["a", "b"], 0.0),
    # b at 1, c at 2, a at 3: bc in order, of 6
    "a repeated first item": ("a\nb\nc\na", ["a", "b", "c"], 1 / 6),
    # a at 1, b at 2: ab, of 3: the repetition counts in the denominator
    "repetitions count among the pairs": ("a\na\nb", ["a", "b"], 1 / 3),
    "one predicted item": ("a", ["a", "b"], 0.0),
    "one item behind the mark": ("a\n[Answer]\nb", ["a", "b"], 0.0),
    # gold pairs ab, aa, ab, ba, bb, ab: ab three times, of 1
    "repeated gold items can come out above one": ("a\nb", ["a", "b", "a", "b"], 3.0),
    # gold pairs ab, aa, ba: ab once, of 1
    "repeated gold items": ("a\nb", ["a", "b", "a"], 1.0),
}

# ---------------------------------------------------------------------- words, numbers, code

QA_F1 = {
    # prediction, answer, F1 = 2 * common / (words of prediction + words of answer)
    "equal": ("Paris", "Paris", 1.0),
    "half the words": ("Paris France", "Paris", 2 / 3),  # 2*1/(2+1)
    "two of three and two of four": ("x y z", "x y v w", 4 / 7),  # 2*2/(3+4)
    "a word counts as often as both have it": ("x x x", "x x", 4 / 5),  # 2*2/(3+2)
    "articles": ("The cat and an owl", "a cat and the owl", 1.0),
    "articles inside words stay": ("theatre another banana", "theatre another banana", 1.0),
    "article inside a word is not cut out": ("theatre", "atre", 0.0),
    "punctuation is dropped, not blanked": ("well-known", "wellknown", 1.0),
    "punctuation joins, it does not split": ("well-known", "well known", 0.0),
    "all ASCII punctuation": ("x!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~y", "xy", 1.0),
    "punctuation before articles: a. is an article": ("a. cat", "cat", 1.0),
    "punctuation before articles: the-se is a word": ("the-se", "these", 1.0),
    "lower case before articles": ("THE cat", "cat", 1.0),
    "Unicode punctuation stays": ("cat。", "cat", 0.0),
    "curly quotes stay": ("“cat”", "cat", 0.0),
    # next to a character that is no letter the word ends: “the” becomes “ ”, two words
    "article in curly quotes": ("“the”", "“ ”", 1.0),
    "an accent on its own ends the article": ("a\u0301", "\u0301", 1.0),
    "an accented letter is no article": ("á", "", 0.0),
    "underscore is dropped first": ("_a_ cat", "cat", 1.0),
    "whitespace of any kind": (" x\t\ny\xa0\u3000z ", "x y z", 1.0),
    "two empty texts": ("", "", 0.0),
    "only articles on both sides": ("the", "the", 0.0),
    "only punctuation on both sides": ("...", "...", 0.0),
    "decimal numbers lose their point": ("3.5", "35", 1.0),
}
QA_F1_ZH = {
    # jieba cuts 北京天气 into 北京 and 天气; F1 = 2 * common / (tokens + tokens)
    "equal": ("北京", "北京", 1.0),
    "a token counts as often as both have it": ("北京北京", "北京", 2 / 3),
    "tokens, not characters": ("北京", "北", 0.0),
    "Chinese full stop": ("北京。", "北京", 1.0),
    "curly double quotes": ("“北京”", "北京", 1.0),
    "curly single quotes": ("‘北京’", "北京", 1.0),
    "full-width marks": ("！北京？", "北京", 1.0),
    "ASCII full stop": ("北京.", "北京", 1.0),
    "ASCII punctuation": ("(北京)!", "北京", 1.0),
    "point inside a number": ("3.5", "35", 1.0),  # jieba keeps 3.5 in one token
    "full-width full stop stays": ("北京．", "北京", 2 / 3),  # U+FF0E is not in the list
    "opening title mark stays, closing one goes": ("《北京》", "北京", 2 / 3),  # U+300A is missing
    "middle dot stays": ("北京·", "北京", 2 / 3),
    # The raw text is cut; a comma inside keeps 北 and 京 apart.
    "cut before normalizing": ("北，京", "北京", 0.0),
    "no article rule": ("the 北京", "北京", 2 / 3),
    "whitespace tokens do not count": ("北京 \n\u3000天气", "北京天气", 1.0),
    "two empty texts": ("", "", 0.0),
    "only punctuation on both sides": ("。", "。", 0.0),
}
RETRIEVAL = {
    # prediction, answer, share of the numbers that are the gold one
    "equal": ("Paragraph 7", "Paragraph 7", 1.0),
    "strings, not values": ("07", "Paragraph 7", 0.0),
    "leading zero in the answer": ("07", "Paragraph 07", 1.0),
    "part of a longer number": ("17", "Paragraph 7", 0.0),
    "decimal point splits": ("3.7", "Paragraph 7", 1 / 2),
    "letters end a number": ("x7y", "Paragraph 7", 1.0),
    "sign does not matter": ("-7", "Paragraph 7", 1.0),
    "thousands separator splits": ("1,007", "Paragraph 007", 1 / 2),
    "full-width digit is another number": ("7 ７", "Paragraph 7", 1 / 2),
    "full-width digit joins a run": ("7７", "Paragraph 7", 0.0),
    "Arabic-Indic digit as gold": ("٣", "Paragraph ٣", 1.0),
    "superscript is no digit": ("7²", "Paragraph 7", 1.0),
    "first number of the answer": ("3", "Paragraph 3 and Paragraph 5", 1.0),
    "second number of the answer": ("5", "Paragraph 3 and Paragraph 5", 0.0),
    "other numbers in the answer": ("7", "Of 30: Paragraph 7", 1.0),
    "answer in lower case": ("7", "paragraph 7", 0.0),
    "answer without space": ("7", "Paragraph7", 0.0),
    "answer with two spaces": ("7", "Paragraph  7", 0.0),
    "answer without number": ("7", "Paragraph ", 0.0),
    "Chinese answer": ("7", "段落7", 0.0),
    "bare answer": ("7", "7", 0.0),
    "two empty texts": ("", "", 0.0),
}
RETRIEVAL_ZH = {
    # prediction, answer, share of the numbers that are the gold one
    "equal": ("段落7", "段落7", 1.0),
    "strings, not values": ("段落07", "段落7", 0.0),
    "Chinese numeral is no digit": ("段落七", "段落7", 0.0),
    "full-width digit is another number": ("段落７", "段落7", 0.0),
    "full-width gold": ("段落７", "段落７", 1.0),
    "first number of the answer": ("5", "段落3、段落5", 0.0),
    "answer with a space": ("7", "段落 7", 0.0),
    "English answer": ("7", "Paragraph 7", 0.0),
    "answer without number": ("7", "段落", 0.0),
    "two empty texts": ("", "", 0.0),
}
COUNT = {
    # prediction, answer, share of the numbers that are the answer
    "equal": ("12", "12", 1.0),
    "part of a longer number": ("112", "12", 0.0),
    "strings, not values": ("012", "12", 0.0),
    "decimal point splits": ("12.5", "12", 1 / 2),
    "full-width digits are another number": ("１２ 12", "12", 1 / 2),
    "the answer is taken as it is": ("12", " 12", 0.0),
    "answer with words": ("12", "12 paragraphs", 0.0),
    "two empty texts": ("", "", 0.0),
}
CLASSIFICATION = {
    # prediction, answer, classes, score
    "found alone": ("Date", "Date", ["Date", "Food"], 1.0),
    "found inside other words": ("My Dates.", "Date", ["Date", "Food"], 1.0),
    "one of three found": ("Price, Date, Food", "Date", ["Date", "Food", "Price"], 1 / 3),
    "found twice counts once": ("Date Date Food", "Date", ["Date", "Food"], 1 / 2),
    "no classes": ("Date", "Date", [], 0.0),
    "truth is no class": ("Date", "Date", ["Food"], 0.0),
    "class inside the truth is dropped": ("hot tea", "hot tea", ["tea", "hot tea"], 1.0),
    "dropped after the truth, too": ("hot tea", "hot tea", ["hot tea", "tea"], 1.0),
    "class around the truth stays": ("hot tea", "tea", ["tea", "hot tea"], 1 / 2),
    # found: a b abc. a goes, the walk passes over b: b and abc are left. A true filter gives 1.
    "walk passes over the next after a removal": ("abc", "abc", ["a", "b", "abc"], 1 / 2),
    "the same behind the truth": ("abc", "abc", ["abc", "a", "b"], 1 / 2),
    # found: a b c abc. a goes, b passed over, c goes, abc passed over: b and abc are left.
    "it looks again at the one after": ("abc", "abc", ["a", "b", "c", "abc"], 1 / 2),
    # found: a x b abc. a goes, x passed over, b goes: x and abc are left.
    "passing over something harmless": ("x abc", "abc", ["a", "x", "b", "abc"], 1 / 2),
    # found: a b x abc. a goes, b passed over, x stays: b, x and abc are left.
    "order of the classes matters": ("x abc", "abc", ["a", "b", "x", "abc"], 1 / 3),
    # The order of the prediction does not: found is in class order.
    "order of the prediction does not": ("abc x", "abc", ["a", "b", "x", "abc"], 1 / 3),
    "classes that were not found are not walked": ("bc", "bc", ["a", "b", "bc"], 1.0),
    "an empty class is found and dropped": ("Date", "Date", ["", "Date"], 1.0),
    "Chinese": ("类别：体育新闻", "体育新闻", ["体育", "体育新闻", "军事"], 1.0),
}
OTHERS = "".join(map(chr, range(300, 500)))
CODE_SIM = {
    # prediction, answer, score; M characters match of T in both texts: round(100 * 2M/T) / 100
    "equal": ("x = 1", "x = 1", 1.0),
    "four of five characters": ("x = 2", "x = 1", 0.8),  # M=4, T=10
    "leading newlines": ("\n\n\nx = 1", "x = 1", 1.0),
    "first line only": ("x = 1\ny = 2", "x = 1", 1.0),
    "fence is passed over": ("```python\nx = 1\n```", "x = 1", 1.0),
    "backtick anywhere in the line": ("see `x`\nx = 1", "x = 1", 1.0),
    "comment is passed over": ("# set x\nx = 1", "x = 1", 1.0),
    "comment behind code": ("x = 1  # one\nx = 2", "x = 1", 0.8),
    "double slash is passed over": ("// set x\nx = 1", "x = 1", 1.0),
    "double slash in an address": ("u = 'http://a'\nx = 1", "x = 1", 1.0),
    "single slash is code": ("x / 1", "x / 1", 1.0),
    "several lines are passed over": ("```\n# a\n// b\nx = 1", "x = 1", 1.0),
    # after a comment an empty line is a line: "" against x = 1
    "empty line after a comment": ("# a\n\nx = 1", "x = 1", 0.0),
    "empty line after a comment, empty answer": ("# a\n\nx = 1", "", 1.0),
    "no line left": ("# a\n// b", "x = 1", 0.0),
    "no line left, empty answer": ("# a\n// b", "", 1.0),
    "only newlines are stripped": (" \nx = 1", "x = 1", 0.33),  # " ": M=1, T=6
    "carriage return is part of the line": ("\r\nx", "\r", 1.0),
    "indentation counts": ("    x = 1", "x = 1", 0.71),  # M=5, T=14: 71.43
    "the answer is not filtered": ("x # c", "x # c", 0.0),
    "answer of two lines": ("x\ny", "x\ny", 0.5),  # x against x\ny: M=1, T=4
    "two empty texts": ("", "", 1.0),
    "newlines against empty": ("\n\n", "", 1.0),
    # M=1, T=16: 12.5 goes to the even 12. M=3: 37.5 to 38. M=5: 62.5 to 62.
    "half goes down to even": ("aPQRSTUV", "abcdefgh", 0.12),
    "half goes up to even": ("abcRSTUV", "abcdefgh", 0.38),
    "half goes down to even again": ("abcdeTUV", "abcdefgh", 0.62),
    # Blocks of one character. tide, diet: t is first in the prediction and last in the answer,
    # nothing is left to match behind it: M=1, T=8: 12.5 * 2 = 25.
    "tide against diet": ("tide", "diet", 0.25),
    # diet, tide: d first, behind it iet and e share e: M=2.
    "diet against tide": ("diet", "tide", 0.5),
    # Below 200 characters x^199 is matched at once: M=198, T=398: 99.497.
    "no autojunk at 199 characters": ("y" + "x" * 198, "x" * 199, 0.99),
    # At 200 x fills more than 1 % of the answer, so no block starts with it; y is not in the
    # answer and the two texts differ at their beginning: nothing is left.
    "autojunk at 200 characters": ("y" + "x" * 199, "x" * 200, 0.0),
    # The length of the answer decides, not that of the prediction.
    "no autojunk for a long prediction": ("y" + "x" * 250, "x" * 199, 0.88),  # 398/450: 88.44
    # Popular is more than 200 // 100 + 1 = 3 times. OTHERS has no character twice.
    "three in two hundred are not popular": ("qz", "zzz" + OTHERS[:197], 0.01),  # M=1, T=202
    "four in two hundred are popular": ("qz", "zzzz" + OTHERS[:196], 0.0),
    # A block that starts with u grows over a popular z: M=2, T=203: 1.97. No block: M=0.
    "blocks grow over popular characters": ("quz", "uzzzz" + OTHERS[:195], 0.02),
    # Without any block the two beginnings are still compared: M=1, T=201.
    "popular character at both beginnings": ("z", "zzzz" + OTHERS[:196], 0.01),
}

# ---------------------------------------------------------------------- ROUGE-L

ROUGE_L = {
    # prediction, answer, recall, precision; U is the set of words of the chosen subsequences
    "equal": ("x y", "x y", f_of(1, 1)),
    "punctuation is part of a word": ("x,", "x", f_of(0, 0)),
    "distinct words only": ("x x x x", "x", f_of(1, 1)),
    "distinct words over pieces": ("x. x. x", "x", f_of(1, 1)),
    "order matters within a piece": ("z y x", "x y z", f_of(1 / 3, 1 / 3)),
    # pieces y | x against x y: {y} and {x} together
    "order does not matter between pieces": ("y. x", "x y", f_of(1, 1)),
    # pieces a b | c against a | b c: {a}, {}, {b}, {c}
    "union over all pairs": ("a b. c", "a. b c", f_of(1, 1)),
    "whitespace collapses": ("  x \t\n y\xa0\u3000", "x y", f_of(1, 1)),
    "a stop splits inside a word": ("x.y", "x y", f_of(1, 1)),
    "numbers are split": ("3.5", "3 5", f_of(1, 1)),
    "empty pieces are dropped": ("x..y", "x.y", f_of(1, 1)),
    "a final stop leaves no piece": ("x.", "x", f_of(1, 1)),
    # pieces x | \n: the words of the prediction are x and ""
    "a newline after the final stop is a word": ("x.\n", "x", f_of(1, 1 / 2)),
    "the empty word can match": ("x. ", "x. .", f_of(1, 1)),
    "a text of one space": (" ", " ", f_of(1, 1)),
    "whitespace of different kinds is the same word": ("\t\n", " ", f_of(1, 1)),
    "space between stops": (". .", ".. ..", f_of(1, 1)),
    # Walk for answer x y against prediction y x: y and x differ at the end and both cells hold 1,
    # so it steps back in the prediction and takes y. The second answer piece adds x: U = {x, y}.
    # The other choice takes x twice: U = {x}, 1/2 and 1/2.
    "tie steps back in the prediction": ("y x", "x y. x", f_of(1, 1)),
    # Answer y x against prediction x y: x and y differ, tie, back in the prediction: takes x.
    # The second prediction piece takes x again: U = {x}. The other choice gives {x, y}.
    "tie steps back in the prediction, words lost": ("x y. x", "y x", f_of(1 / 2, 1 / 2)),
    # Answer a b x against prediction x a b: without x the answer still has a b (2), without b the
    # prediction only a match of 1: step back in the answer, U = {a, b}.
    "a larger cell steps back in the answer": ("x a b", "a b x", f_of(2 / 3, 2 / 3)),
    # Answer x a b against prediction a b x: 1 without b, 2 without x: back in the prediction.
    "a larger cell steps back in the prediction": ("a b x", "x a b", f_of(2 / 3, 2 / 3)),
    # Answer p q p against prediction p p q. The end p, q: without p 2 (p q), without q 2 (p p):
    # tie, back in the prediction: p p. U = {p}. The other choice takes p q.
    "tie within one piece changes the number of words": ("p p q", "p q p", f_of(1 / 2, 1 / 2)),
    # Answer p p q against prediction p q p: end q, p: 2 (p p) and 2 (p q): back in the
    # prediction: p q.
    "the same texts the other way round": ("p q p", "p p q", f_of(1, 1)),
}
NO_PIECE = {
    "two empty texts": ("", "", 0.0),
    "a stop has no piece": (".", "x", 0.0),
    "answer of stops": ("x", "...", 0.0),
    "stops on both sides": (".", ".", 0.0),
    "space against empty": (" ", "", 0.0),
}
ROUGE_L_ZH = {
    # prediction, answer, recall, precision; jieba cuts 北京天气 into 北京 and 天气
    "equal": ("北京天气", "北京天气", f_of(1, 1)),
    "tokens, not characters": ("北京", "北", f_of(0, 0)),
    "order matters": ("天气北京", "北京天气", f_of(1 / 2, 1 / 2)),
    "distinct words": ("北京北京", "北京", f_of(1, 1)),
    "the Chinese full stop is a word": ("北京。", "北京", f_of(1, 1 / 2)),
    "the Chinese full stop does not split": ("天气。北京", "北京。天气", f_of(1 / 3, 1 / 3)),
    # 天气 . 北京 becomes two pieces, so the order between them is free
    "the ASCII full stop splits": ("天气.北京", "北京.天气", f_of(1, 1)),
    # jieba keeps 3.5 in one token; the split at the stop then makes 3 and 5
    "numbers are split after the cut": ("3.5", "5.3", f_of(1, 1)),
    "whitespace between words collapses": ("北京 \n\u3000 天气", "北京天气", f_of(1, 1)),
    # jieba gives . and a space, joined ".  ": a whitespace-only piece, the word ""
    "whitespace after a final stop is a word": ("北京. ", "北京", f_of(1, 1 / 2)),
    # a stop and the text before it: "北京 ." has no piece after the stop
    "a final stop leaves no piece": ("北京.", "北京", f_of(1, 1)),
    # jieba keeps stops in a row in one token: nothing comes between them
    "two final stops leave no piece": ("北京..", "北京", f_of(1, 1)),
}
GOOGLE = {
    # prediction, answer, F = 2 * longest match / (words + words)
    "equal": ("the cat sat", "the cat sat", 1.0),
    "order matters": ("y x", "x y", 1 / 2),  # match of 1: 2*1/(2+2)
    "gaps are allowed": ("x z y", "x y", 4 / 5),  # 2*2/(3+2)
    "repeated words count": ("x x x", "x", 1 / 2),  # 2*1/(3+1); distinct words would give 1
    "no stemmer": ("cats", "cat", 0.0),
    "full stops do not make pieces": ("y. x", "x y", 1 / 2),
    "punctuation splits words": ("well-known", "well known", 1.0),
    "letters beyond ASCII split words": ("caf\xe9s", "caf s", 1.0),
    "Chinese has no words": ("北京", "北京", 0.0),
    "two empty texts": ("", "", 0.0),
}


# ---------------------------------------------------------------------- all of them

numbered = ["1", "2", "12", "012", " ", ".", "x", "１", "²", "\n"]
PARAGRAPHS = [
    "7",
    "07",
    "17",
    "3",
    "Paragraph ",
    "Paragraph 7",
    "paragraph ",
    "段落",
    " ",
    ".",
    "-",
]
ENGLISH = ["a", "an", "the", "The", "cat", "Cat", "c", "at", "7", "é", "a\u0301", "İ", "ß", "  "]
CHINESE = ["北京", "天气", "很", "好", "大学", "我", "爱", "北", "京", "abc", "ABC", "7", "3.5"]
# Few words, so that many longest common subsequences tie; odd stops and whitespace between them.
TIED = ["x ", "y ", "z ", "w "] * 2 + ["x", "X ", "x, ", ". ", "..", *". \n\t\xa0\u3000\x1c。"]


def texts(*parts, most=20):
    """Texts of some parts, or any."""
    return st.one_of(joined(parts, most), anything)


def pair(one):
    return one, one


lists_of = (predictions, golds)
names = st.sampled_from(["", "a", "b", "c", "ab", "bc", "abc", "abcd", "x", "A", "北京", "北"])
labelled = joined(["a", "b", "c", "d", "abc", "abcd", "x", " ", "A", "北京", "\n"], 8)
tied = texts(*TIED, most=40)
# By name: the metric, its oracle, texts of each argument, and the cases.
METRICS = {
    "accuracy": (lists.accuracy, pro_items.accuracy, lists_of, ACCURACY),
    "item_f1": (lists.item_f1, pro_items.item_f1, lists_of, ITEM_F1),
    "sub_em": (lists.sub_em, pro_items.sub_em, lists_of, SUB_EM),
    "ndcg": (lists.ndcg, pro_items.ndcg, lists_of, NDCG),
    "pairwise_accuracy": (
        *(lists.pairwise_accuracy, pro_items.pairwise_accuracy, lists_of, PAIRWISE),
    ),
    "qa_f1": (text.qa_f1, qa_f1.qa_f1, pair(texts(*ENGLISH, *" \n\t\xa0.,-_'\"!。")), QA_F1),
    "qa_f1_zh": (
        *(text.qa_f1_zh, qa_f1_zh.qa_f1_zh),
        *(pair(texts(*CHINESE, *"。，“”《》．.,-—…· \n\u3000")), QA_F1_ZH),
    ),
    "retrieval": (
        *(text.retrieval, numbers_share.retrieval),
        *(pair(texts(*PARAGRAPHS, "７", "٣", "²", "Ⅶ", "\n", "x", most=10)), RETRIEVAL),
    ),
    "retrieval_zh": (
        *(text.retrieval_zh, numbers_share.retrieval_zh),
        *(pair(texts(*PARAGRAPHS, "段落7", "段", "７", "七", "。", most=10)), RETRIEVAL_ZH),
    ),
    "count": (
        *(text.count, numbers_share.count),
        (texts(*numbered, most=10), texts("1", "2", "12", "012", "", " 12", "１", most=1)),
        COUNT,
    ),
    "classification": (
        *(text.classification, labels.classification),
        (labelled, names, st.lists(names, max_size=8)),
        CLASSIFICATION,
    ),
    "code_sim": (
        *(code.code_sim, code_oracle.code_sim),
        *(pair(texts(*"xy=1()#/` \n", "==", "//", "self.", "    ", "return ", most=15)), CODE_SIM),
    ),
    "rouge_l": (rouge.rouge_l, rouge_l.rouge_l, pair(tied), ROUGE_L | NO_PIECE),
    "rouge_l_zh": (
        *(rouge.rouge_l_zh, rouge_l.rouge_l_zh),
        pair(texts(*CHINESE[:7], "abc", "3.5", ". ", "..", *" \n\u3000。，《》.")),
        ROUGE_L_ZH,
    ),
    "rouge_l_google": (
        *(rouge.rouge_l_google, rouge_l_google.rouge_l_google),
        pair(texts(*TIED[:3], "X ", "x", "7 ", "cats ", *"-.\né北İ_", most=30)),
        GOOGLE,
    ),
}
