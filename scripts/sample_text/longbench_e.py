"""The rows of the 13 LongBench-E samples: the v1 material amid filler, in all three lengths."""

from collections.abc import Callable
from random import Random

from sample_text import few_shot, multi_doc, single_doc, source_code, summaries, synthetic
from sample_text.bank import Bank
from sample_text.row import Passage, Row, count_words, fill, numbered

# Words a row has at least; LongBench-E's buckets end at 4,000 and 8,000 words.
TARGET_WORDS = (700, 1300, 4300, 8300)


def amid_notes(rng: Random, text: str, words: int, heading: str) -> str:
    """Return the text between titled notes of the bank."""
    bank = Bank(rng)

    def block() -> str:
        note = bank.note()
        return f"{heading}: {note.title}\n{note.text}"

    blocks = fill(block, words - count_words(text))
    blocks.insert(rng.randrange(len(blocks) + 1), text)
    return "\n\n".join(blocks)


def annexed(rng: Random, text: str, words: int) -> str:
    """Return the report with an annex of numbered notes."""
    bank = Bank(rng)

    def block() -> str:
        note = bank.note()
        return f"{note.title}. {note.text}"

    blocks = fill(block, words - count_words(text))
    notes = [f"Annex {number}. {note}" for number, note in enumerate(blocks, start=1)]
    return "\n\n".join([text.rstrip("\n"), *notes])


def amid_passages(rng: Random, passages: list[Passage], words: int) -> str:
    """Return the passages in their order, with the bank's scattered among them."""
    bank = Bank(rng)
    mixed = list(passages)
    while count_words(numbered(mixed)) < words:
        note = bank.note()
        mixed.insert(rng.randrange(len(mixed) + 1), Passage(note.title, note.text))
    return numbered(mixed)


def trec(rng: Random, row: int, words: int) -> Row:
    """Return a question after made-up examples."""
    question, label = few_shot.TREC_E_QUESTIONS[row]
    context = "".join(fill(lambda: few_shot.trec_example(rng), words))
    return Row(f"Question: {question}\nType:", context, [label])


def triviaqa(rng: Random, row: int, words: int) -> Row:
    """Return a passage after answered ones of the bank."""
    target = few_shot.TRIVIA[row]
    bank = Bank(rng)
    context = "".join(fill(lambda: few_shot.trivia_example(bank), words))
    return Row(few_shot.trivia_question(target), context, target.answers)


def samsum(rng: Random, row: int, words: int) -> Row:
    """Return a chat after made-up ones."""
    target = few_shot.CHAT_TARGETS[row]
    context = "".join(fill(lambda: few_shot.chat_example(few_shot.made_chat(rng)), words))
    return Row(f"Dialogue: {target.dialogue}\nSummary: ", context, [target.summary])


def multi_hop(items: list[multi_doc.MultiHop]) -> Callable[[Random, int, int], Row]:
    """Return the maker of a multi-hop dataset's rows."""

    def make(rng: Random, row: int, words: int) -> Row:
        item = items[row]
        return Row(item.question, amid_passages(rng, item.passages, words), item.answers)

    return make


def qasper(rng: Random, row: int, words: int) -> Row:
    """Return an article in a volume with notes of others."""
    source = single_doc.QASPER[row]
    context = amid_notes(rng, source.context, words, "Short communication")
    return Row(source.input, context, source.answers)


def multifieldqa_en(rng: Random, row: int, words: int) -> Row:
    """Return an article among notes of the same magazine."""
    source = single_doc.MULTIFIELDQA_EN[row]
    context = amid_notes(rng, source.context, words, "From the villages")
    return Row(source.input, context, source.answers)


def gov_report(rng: Random, row: int, words: int) -> Row:
    """Return a report with an annex, which its summary mentions."""
    source = summaries.GOV_REPORT[row]
    answer = source.answers[0] + " An annex holds short notes on places of the region."
    return Row(source.input, annexed(rng, source.context, words), [answer])


def multi_news(rng: Random, row: int, words: int) -> Row:
    """Return reports of one event among local notices, which the summary mentions."""
    news = summaries.MULTI_NEWS[row]
    answer = news.summary + " The other items are short notices from villages."
    return Row("", amid_passages(rng, news.passages, words), [answer])


def passage_count(rng: Random, row: int, words: int) -> Row:
    """Return paragraphs of which a part that depends on the row is unique."""
    return synthetic.counting(rng, words, (0.7, 0.5, 0.8, 0.6)[row])


def passage_retrieval_en(rng: Random, row: int, words: int) -> Row:
    """Return paragraphs, 30 in the longer rows, as in the official data."""
    return synthetic.retrieval(rng, row, (6, 12, 30, 30)[row], words)


MAKERS: dict[str, Callable[[Random, int, int], Row]] = {
    "qasper": qasper,
    "multifieldqa_en": multifieldqa_en,
    "hotpotqa": multi_hop(multi_doc.HOTPOTQA),
    "2wikimqa": multi_hop(multi_doc.TWO_WIKI),
    "gov_report": gov_report,
    "multi_news": multi_news,
    "trec": trec,
    "triviaqa": triviaqa,
    "samsum": samsum,
    "passage_count": passage_count,
    "passage_retrieval_en": passage_retrieval_en,
    "lcc": source_code.lcc,
    "repobench-p": source_code.repobench,
}


def rows(seed: str) -> dict[str, list[Row]]:
    """Return the rows of each dataset, named without the `_e`."""
    return {
        dataset: [
            make(Random(f"{seed}:{dataset}_e:{row}"), row, words)  # noqa: S311
            for row, words in enumerate(TARGET_WORDS)
        ]
        for dataset, make in MAKERS.items()
    }
