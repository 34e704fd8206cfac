"""Texts for property tests and odd inputs that every metric must survive."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXACT = 1e-12


def examples(count):
    """Settings of one property test: the same examples in every run."""
    return settings(
        max_examples=count,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )


def joined(parts, max_size=20):
    """Texts made of `parts` strung together without anything between them."""
    return st.lists(st.sampled_from(parts), max_size=max_size).map("".join)


# Any code point, lone surrogates included: models and tokenizers produce both.
anything = st.text(st.characters(codec=None), max_size=40)

ODD = {
    "empty": "",
    "full stop": ".",
    "full stops": "....",
    "space": " ",
    "newline": "\n",
    "newlines and stops": "\n.\n.\n",
    "carriage return": "\r\n",
    "tabs and ideographic space": "\t\u3000\xa0",
    "nul": "\u0000",
    "emoji": "\U0001f600",
    "emoji family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "lone high surrogate": "\ud800",
    "lone low surrogate in a word": "ab\udfffcd",
    "combining mark": "a\u0301",
    "right to left": "\u202eשלום",
    "line separator": "\u2028x\u2029",
    "digits of other scripts": "٣७７²",
    "quote": "`",
    "comment": "# //",
    "article": "the",
    "Chinese full stop": "。",
    "Chinese": "段落3，北京。",
    "paragraph": "Paragraph 3",
    "paragraph without number": "Paragraph ",
    "backslashes": "\\d+(\\",
    "thinking": "<think>",
}
