"""Which of the known differences between two answers to a question is why they differ."""

from __future__ import annotations

from lm_eval_longbench.explain.side import Answered, SideFacts

QUESTIONS, SCORER = "questions", "scorer"
PROMPT, CUT, CHAT, STOP, LEFT = (
    "prompt bytes",
    "cut",
    "chat template",
    "stop and budget",
    "what is left (model, sampling)",
)
# In the order in which they are looked for: what is earlier changes all that is later.
CAUSES = (QUESTIONS, PROMPT, CUT, CHAT, STOP, SCORER, LEFT)
# Characters by which the length of two prompts differs that were cut otherwise.
_CUT = 512


def _differ(left: object, right: object) -> bool | None:
    """Return whether two facts differ; None: one of them is not known."""
    return None if left is None or right is None else left != right


def _by_prompt(theirs: SideFacts, ours: SideFacts) -> list[str]:
    """Return what tells the prompts apart, where both logs have their hashes."""
    if theirs.prompt == ours.prompt:
        return []
    if _differ(theirs.template, ours.template) or _differ(theirs.document, ours.document):
        # Both can be: then what was cut is another text.
        return [PROMPT, CUT] if _differ(theirs.cut, ours.cut) else [PROMPT]
    return [CUT] if theirs.truncated or ours.truncated else [PROMPT]


def _by_sent(theirs: SideFacts, ours: SideFacts) -> list[str] | None:
    """Return what tells apart what the models got; None: one side does not have it."""
    if theirs.sent is None or ours.sent is None:
        return None
    sent = theirs.sent.get("sha256"), ours.sent.get("sha256")
    if sent[0] == sent[1]:
        return []
    # One side got just what the other one wrapped.
    if sent[0] == ours.prompt or sent[1] == theirs.prompt:
        return [CHAT]
    lengths = [
        own
        for facts in (theirs, ours)
        if isinstance(own := (facts.sent or {}).get("characters"), int)
    ]
    if theirs.truncated or ours.truncated:
        is_shorter = len(lengths) == 2 and abs(lengths[0] - lengths[1]) > _CUT
        return [CUT] if is_shorter else [CUT, PROMPT]
    return [PROMPT]


def _without_hashes(theirs: SideFacts, ours: SideFacts) -> list[str]:
    found = []
    if _differ(theirs.template, ours.template) or _differ(theirs.document, ours.document):
        found.append(PROMPT)
    if _differ(theirs.cut, ours.cut) and (theirs.truncated or ours.truncated):
        found.append(CUT)
    return found


def _is_begun(one: str | None, other: str | None) -> bool:
    """Whether one text is the beginning of the other."""
    if not one or not other or one == other:
        return False
    short, long = sorted((one.strip(), other.strip()), key=len)
    return bool(short) and long.startswith(short)


def _by_stop(theirs: Answered, ours: Answered) -> bool:
    """Whether the answers differ as they do where one ended earlier."""
    differ = _differ(theirs.facts.stop, ours.facts.stop)
    if differ is False:
        return False
    number = min(len(theirs.texts), len(ours.texts))
    pairs = zip(theirs.texts[:number], ours.texts[:number], strict=True)
    begun = any(_is_begun(one, other) for one, other in pairs)
    return begun or (bool(differ) and bool(theirs.capped or ours.capped))


def suspects(theirs: Answered, ours: Answered) -> list[str]:
    """Return all causes that two answers to one question can differ for, the first one first.

    LEFT, if there is no other.
    """
    left, right = theirs.facts, ours.facts
    if left.prompt is not None and right.prompt is not None:
        found = _by_prompt(left, right)
    else:
        sent = _by_sent(left, right)
        found = _without_hashes(left, right) if sent is None else sent
    if _differ(left.chat, right.chat) and CHAT not in found:
        found.append(CHAT)
    if _by_stop(theirs, ours):
        found.append(STOP)
    return found or [LEFT]


def unknown(theirs: SideFacts, ours: SideFacts) -> list[str]:
    """Return the causes that cannot be told from what two logs say of a question."""
    sent = theirs.sent is not None and ours.sent is not None
    prompts = theirs.prompt is not None and ours.prompt is not None
    found = []
    if not (prompts or sent):
        if _differ(theirs.template, ours.template) is None:
            found.append(PROMPT)
        if _differ(theirs.cut, ours.cut) is None:
            found.append(CUT)
    if not sent and _differ(theirs.chat, ours.chat) is None:
        found.append(CHAT)
    if _differ(theirs.stop, ours.stop) is None:
        found.append(STOP)
    return found
