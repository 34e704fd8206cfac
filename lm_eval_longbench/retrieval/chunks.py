"""Chunks of documents: cut and ranked here, the same for every model, or read from a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from lm_eval_longbench.data.rows import array_items, kind_problem, schema_problem
from lm_eval_longbench.errors import DataError, OptionError, few
from lm_eval_longbench.files import (
    blocks,
    is_packed,
    read_json_lines,
    reading,
    sha256_of,
    user_path,
)
from lm_eval_longbench.prompts.render import text_field
from lm_eval_longbench.retrieval.embedding import choose_embedder, cosine
from lm_eval_longbench.retrieval.vectors import VectorCache, vectors_by_text

SIZE = 512  # tokens
# Scripts written without spaces, as a character class; here neighbouring characters stand in for
# words. Compiled when first used: that takes longer than to import the module.
UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = rf"([{UNSPACED}]+)|[^\W{UNSPACED}]+"
# No token of any model: the chunks must not change with the model that reads them.
_TOKEN = rf"[{UNSPACED}]|[^\W_{UNSPACED}]+|\S"
# Where a sentence ends, with the white space behind it (source: LongBench, retrieval/).
_SENTENCE = re.compile(r".*?(?:[。？！；\n.!?;]\s*|$)", re.DOTALL)
_WORD = r"[\u4e00-\u9fa5]|[^\W\u4e00-\u9fa5]+"


class Chunk(TypedDict):
    """A piece of a document, with the names of the official data.

    Attributes:
        c_idx: place in the document, 0 or more.
        content: its text.
    """

    c_idx: int
    content: str


def chunks(text: str, size: int = SIZE) -> list[str]:
    """Return `text` cut into consecutive pieces, which together are the text again.

    Every piece has `size` tokens, the last one 1 to `size`. A token is a run of letters and
    digits, a single character of Chinese or Japanese script, or any other single character that is
    no white space. White space stays with the token before it, at the start of the text with the
    one after it. A text of nothing but white space is one piece; an empty text has none.
    """
    starts = [token.start() for token in islice(re.finditer(_TOKEN, text), 0, None, size)]
    borders = [0, *starts[1:], len(text)]
    return [text[start:end] for start, end in pairwise(borders)] if text else []


def sentence_chunks(text: str, size: int) -> list[str]:
    """Return `text` cut where sentences end, which together are the text again.

    A chunk takes sentences as long as it has at most `size` words; a longer sentence is a chunk. A
    word is a Chinese character or any other run of letters, digits and underscores. LongBench v1's
    retrieval cuts so, but adds spaces between sentences, and cuts a longer sentence elsewhere.
    """
    found: list[str] = []
    number = 0
    for sentence in _SENTENCE.findall(text):
        own = words_in(sentence)
        if found and number + own <= size:
            found[-1] += sentence
            number += own
        elif sentence:
            found.append(sentence)
            number = own
    return found


def words_in(text: str) -> int:
    """Return how many words a text has, see `sentence_chunks`."""
    return sum(1 for _ in re.finditer(_WORD, text))


def first_words(text: str, number: int) -> str:
    """Return the start of a text up to the end of its word of this number."""
    ends = [word.end() for word in islice(re.finditer(_WORD, text), number)]
    return text[: ends[-1]].strip() if ends else ""


# ---------------------------------------------------------------------- ranked by BM25


def words(text: str) -> list[str]:
    """Return the lower-cased words of `text`; Chinese and Japanese runs as character pairs.

    A run of one such character is a token by itself. Punctuation gives no tokens.
    """
    tokens: list[str] = []
    for run in re.finditer(_RUN, text.lower()):
        token = run.group()
        if run.group(1) and len(token) > 1:
            tokens.extend(token[at : at + 2] for at in range(len(token) - 1))
        else:
            tokens.append(token)
    return tokens


def scores(documents: Sequence[Sequence[str]], query: Sequence[str]) -> np.ndarray:
    """Return one BM25 score (0 or more, float32) for each tokenized document.

    All scores are 0 when the query or all documents are empty. Repeated query words count once.
    """
    ids = {word: number for number, word in enumerate(dict.fromkeys(query))}
    # Words outside the query only weigh by a document's length: one id does for all of them,
    # and the index stays as small as the query.
    other = len(ids)
    corpus = [[ids.get(word, other) for word in document] for document in documents]
    if not ids or not any(corpus):
        return np.zeros(len(corpus), dtype=np.float32)
    # bm25s brings numba, whose exit handler must run after that of multiprocessing: otherwise a
    # program that has started an engine such as vLLM never ends. So multiprocessing comes first,
    # and bm25s only where it is used.
    import multiprocessing.util  # noqa: F401

    import bm25s

    index = bm25s.BM25()
    # Not index.index(): that writes a debug line to the log at every call, which a program that
    # has set up logging, as the harness does, would show.
    index.scores = index.build_index_from_ids(list(range(other + 1)), corpus, show_progress=False)
    return index.get_scores_from_ids(list(ids.values()))


BM25, EMBEDDING = "bm25", "embedding"
# Returns the best of some chunks for a query, best first, at most so many.
Ranker = Callable[[Sequence[str], str, int], list[Chunk]]


def rank(chunks: Sequence[str], query: str, top_n: int) -> list[Chunk]:
    """Return the `top_n` chunks that fit the query best, best first; all if there are no more.

    BM25 in the variant and with the parameters that are bm25s' default (Lucene's, k1 = 1.5,
    b = 0.75). Its words are lower-cased words, of Chinese and Japanese pairs of characters; a word
    that the query repeats counts once. Of equal chunks the earlier comes first.

    Args:
        chunks: texts in the order of the document; the place of each becomes its `c_idx`.
        query: any text.
        top_n: at least 1.
    """
    return _best(chunks, scores([words(chunk) for chunk in chunks], words(query)), top_n)


def _best(chunks: Sequence[str], relevance: np.ndarray, top_n: int) -> list[Chunk]:
    order = np.argsort(-relevance, kind="stable")[:top_n]
    return [Chunk(c_idx=int(place), content=chunks[place]) for place in order]


# ---------------------------------------------------------------------- questions without chunks


def label(retriever: str, chunks: str, model: str | None = None) -> str:
    """Return how chunks are ranked here, for results: published figures come from others.

    Args:
        retriever: "bm25" or "embedding".
        chunks: size and unit of a chunk, such as "512-token".
        model: embedding model.
    """
    by = f"embeddings of {model}" if retriever == EMBEDDING else "bm25s"
    return f"{by} over {chunks} chunks, lm-eval-longbench's own"


_ASKED = ("question", "choice_A", "choice_B", "choice_C", "choice_D")


def retrieve(
    question_row: Mapping[str, Any], top_n: int, ranked: Ranker = rank, size: int = SIZE
) -> list[Chunk]:
    """Return the chunks of a question's document that fit the question and its choices, best first.

    Args:
        question_row: with the texts `context`, `question` and `choice_A` to `choice_D`, each
            stripped before use, as in the prompt.
        top_n: at most so many chunks, 1 or more.
        ranked: ranks them.
        size: of a chunk in tokens.

    Raises:
        PromptError: a field is missing or is not a text.
    """
    *asked, context = (
        text_field(question_row, name, "Retrieval", "row").strip() for name in (*_ASKED, "context")
    )
    return ranked(chunks(context, size), "\n".join(asked), top_n)


# ---------------------------------------------------------------------- ranked by embeddings


def rank_by_embedding(
    chunks: Sequence[str], query: str, top_n: int, *, model: str | None, url: str | None
) -> list[Chunk]:
    """Return the `top_n` chunks whose embeddings have the highest cosine with the query's.

    Of equal chunks the earlier comes first. Vectors are cached.

    Args:
        chunks: texts in the order of the document; the place of each becomes its `c_idx`.
        query: any text.
        top_n: at least 1.
        model: embedding model.
        url: OpenAI-compatible embeddings server; None: the model is loaded here.

    Raises:
        OptionError: no model is named.
        EmbeddingError: the model or the server fails.
    """
    embedder = choose_embedder(model, url)
    if embedder is None:
        raise OptionError(
            "The option retriever \"embedding\" needs 'embedding_model', the model that embeds "
            "questions and chunks."
        )
    vectors = vectors_by_text([query, *chunks], embedder, VectorCache())
    cosines = [cosine(vectors[chunk], vectors[query]) for chunk in chunks]
    return _best(chunks, np.array(cosines), top_n)


# ---------------------------------------------------------------------- read from a file

_BOM = b"\xef\xbb\xbf"
# Missing questions that an error names.
_SHOWN = 5


def read_contexts(path: str, keep: int | None = None) -> Mapping[str, list[Chunk]]:
    """Return each question's ranked chunks, best first, by the question's `_id`.

    The file holds objects with `_id` and `retrieved_context`, a list of objects with `c_idx` (a
    whole number, 0 or more) and `content` (a text); other fields are ignored. It is JSON Lines,
    plain or packed by gzip, where blank lines are passed over; or one JSON array, as the official
    data file is. The list may be empty: then, as officially, the document is empty.

    Args:
        path: the file; `~` is the home folder.
        keep: hold no more than so many of the best of each question in memory; None: all.

    Raises:
        DataError: the file cannot be read, an entry is none such, or two entries of one question
            differ. The message names the file, the line or element (from 1) and the reason.
    """
    file = user_path(path)
    contexts: dict[str, list[Chunk]] = {}
    first: dict[str, str] = {}
    for place, row in _rows(file):
        problem = problem_of(row)
        if problem:
            raise DataError(f"{file}, {place}, {problem}.")
        name = row["_id"]
        found = [
            Chunk(c_idx=chunk["c_idx"], content=chunk["content"])
            for chunk in row["retrieved_context"][:keep]
        ]
        if contexts.setdefault(name, found) != found:
            raise DataError(
                f"{file}, {place}, has other chunks for the _id {name!r} than {first[name]}. "
                "Keep one of the two."
            )
        first.setdefault(name, place)
    return contexts


def check_complete(contexts: Mapping[str, Any], ids: Iterable[str], path: str) -> None:
    """Check that every question that is asked has an entry.

    Raises:
        DataError: questions are missing; the message has their number and names the first ones.
    """
    asked = list(dict.fromkeys(ids))
    missing = [name for name in asked if name not in contexts]
    if missing:
        raise DataError(
            f"{path} has no chunks for {len(missing)} of {len(asked)} questions, by _id: "
            f"{few(missing, _SHOWN)}. Add them, or leave the option "
            "'retrieved_context' away to have chunks retrieved here."
        )


def contexts_sha256(path: str) -> str:
    """Return the sha256 of the file's bytes, for results; DataError if it cannot be read."""
    file = user_path(path)
    with reading(file, DataError):
        return sha256_of(file)


def _rows(file: Path) -> Iterator[tuple[str, Any]]:
    """Yield each decoded entry with its place, "line 3" or "element 3"."""
    with reading(file, DataError), closing(blocks(file)) as text:
        start = next(text, b"").removeprefix(_BOM).lstrip()
    if start.startswith(b"["):
        if is_packed(file):
            raise DataError(
                f"{file} is a JSON array packed by gzip. Unpack it, or write JSON Lines."
            )
        for number, row in enumerate(array_items(file), start=1):
            yield f"element {number}", row
        return
    for number, row in read_json_lines(file, DataError):
        yield f"line {number}", row


def problem_of(row: Any) -> str | None:
    """Return what is wrong with a decoded entry, or None if nothing is."""
    problem = schema_problem(row, ("_id", "retrieved_context"), ("_id",))
    if problem:
        return problem
    if not isinstance(row["retrieved_context"], list):
        return "has a field 'retrieved_context' that is not a list"
    for number, chunk in enumerate(row["retrieved_context"], start=1):
        problem = kind_problem(chunk, ("c_idx", "content"), {"c_idx": "int64"})
        if not problem and chunk["c_idx"] < 0:
            problem = "has a field 'c_idx' below 0"
        if problem:
            return f"has a 'retrieved_context' whose item {number} {problem}"
    return None
