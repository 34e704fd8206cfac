"""Where in a prompt the question begins: what stands before it may be compressed unasked.

Authors of compressed key-value caches who do not let the question choose what is kept need to know
where the document ends. All that follows the document counts as the question.
"""

from __future__ import annotations

from itertools import takewhile

# Characters at the place of a cut that decoding may have changed.
_SEAM = 16


def question_at(prompt: str, whole: str, question: str) -> int | None:
    """Return the place in a prompt, cut or whole, where its question begins.

    Args:
        prompt: as it is asked, before any chat template.
        whole: the same prompt before it was cut.
        question: the end of `whole` that follows the document.

    Returns:
        Characters from 0 to len(prompt); None: nothing follows the document, or the tokenizer has
        changed the text when it was cut, so that the place cannot be told.
    """
    if not question:
        return None
    if prompt.endswith(question):
        return len(prompt) - len(question)
    # The cut goes through the question.
    begins = len(whole) - len(question)
    before = _alike(prompt, whole)
    after = _alike(prompt[::-1], whole[::-1])
    if before >= begins:
        return begins
    seam = max(before, len(prompt) - after)
    return seam if seam - before <= _SEAM else None


def _alike(one: str, other: str) -> int:
    """Return with how many equal characters two texts begin."""
    both = min(len(one), len(other))
    pairs = zip(one[:both], other[:both], strict=True)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def place_as_sent(sent: str, prompt: str, place: int) -> int | None:
    """Return the place in a prompt's request, in its chat template, that is a place in the prompt.

    None where the template has changed more of the prompt than white space around it.
    """
    bare = prompt.strip()
    found = sent.rfind(bare)
    if found < 0:
        return None
    skipped = len(prompt) - len(prompt.lstrip())
    return found + max(0, place - skipped)
