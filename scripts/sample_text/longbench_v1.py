"""The rows of the 21 LongBench v1 samples."""

from random import Random

from sample_text import chinese, few_shot, multi_doc, single_doc, source_code, summaries, synthetic
from sample_text.bank import Bank
from sample_text.row import Row

PASSAGE_COUNTS = ((400, 0.6), (520, 1.0), (640, 0.4), (760, 0.8))
RETRIEVAL_SIZES = (8, 10, 12, 30)
CODE_WORDS = 200


def trec(rng: Random) -> list[Row]:
    """Return the questions after 40 examples each."""
    return [
        Row(
            f"Question: {question}\nType:",
            "".join(few_shot.trec_example(rng) for _ in range(40)),
            [label],
        )
        for question, label in few_shot.TREC_QUESTIONS
    ]


def triviaqa(rng: Random) -> list[Row]:
    """Return each passage after the other three, answered, and two of the bank."""
    rows = []
    for target in few_shot.TRIVIA:
        bank = Bank(rng)
        context = "".join(
            few_shot.trivia_question(other) + other.answers[0] + "\n\n"
            for other in few_shot.TRIVIA
            if other is not target
        )
        context += few_shot.trivia_example(bank) + few_shot.trivia_example(bank)
        rows.append(Row(few_shot.trivia_question(target), context, target.answers))
    return rows


def samsum(rng: Random) -> list[Row]:
    """Return each chat after the written examples and four made-up ones."""
    rows = []
    for target in few_shot.CHAT_TARGETS:
        chats = [*few_shot.CHATS, *(few_shot.made_chat(rng) for _ in range(4))]
        context = "".join(few_shot.chat_example(chat) for chat in chats)
        rows.append(Row(f"Dialogue: {target.dialogue}\nSummary: ", context, [target.summary]))
    return rows


def rows(seed: str) -> dict[str, list[Row]]:
    """Return the rows of each dataset."""

    def rng(name: str) -> Random:
        return Random(f"{seed}:{name}")  # noqa: S311

    return {
        "narrativeqa": single_doc.NARRATIVEQA,
        "qasper": single_doc.QASPER,
        "multifieldqa_en": single_doc.MULTIFIELDQA_EN,
        "multifieldqa_zh": chinese.MULTIFIELDQA_ZH,
        "hotpotqa": [item.row() for item in multi_doc.HOTPOTQA],
        "2wikimqa": [item.row() for item in multi_doc.TWO_WIKI],
        "musique": [item.row() for item in multi_doc.MUSIQUE],
        "dureader": chinese.DUREADER,
        "gov_report": summaries.GOV_REPORT,
        "qmsum": summaries.QMSUM,
        "multi_news": [item.row() for item in summaries.MULTI_NEWS],
        "vcsum": chinese.VCSUM,
        "trec": trec(rng("trec")),
        "triviaqa": triviaqa(rng("triviaqa")),
        "samsum": samsum(rng("samsum")),
        "lsht": chinese.lsht(),
        "passage_count": [
            synthetic.counting(rng(f"passage_count:{words}"), words, share)
            for words, share in PASSAGE_COUNTS
        ],
        "passage_retrieval_en": [
            synthetic.retrieval(rng(f"passage_retrieval_en:{target}"), target, count, 0)
            for target, count in enumerate(RETRIEVAL_SIZES)
        ],
        "passage_retrieval_zh": chinese.passage_retrieval_zh(),
        "lcc": [
            source_code.lcc(rng(f"lcc:{row}"), row, CODE_WORDS)
            for row in range(len(source_code.LCC))
        ],
        "repobench-p": [
            source_code.repobench(rng(f"repobench-p:{row}"), row, CODE_WORDS)
            for row in range(len(source_code.REPOBENCH))
        ],
    }
