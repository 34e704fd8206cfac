"""What the sample log keeps of a request's prompt."""

from __future__ import annotations

from typing import Any

from lm_eval_longbench.prompts.prepare import EXCERPT, text_sha256


class LoggedPrompt(dict[str, Any]):
    """The prompt as sent, in short: sha256, length in characters, first and last 256 characters.

    The harness hashes the first request argument of every sample through its `encode`; this gives
    it the whole prompt's bytes, so that `prompt_hash` stays the hash of what was really sent. The
    whole text is not part of the dictionary and does not travel between ranks.
    """

    def __init__(self, text: str) -> None:
        super().__init__(
            sha256=text_sha256(text),
            characters=len(text),
            head=text[:EXCERPT],
            tail=text[-EXCERPT:],
        )
        self._text = text

    def encode(self, encoding: str = "utf-8") -> bytes:
        """Return the whole prompt's bytes."""
        return self._text.encode(encoding, "surrogatepass")

    def __reduce__(self) -> tuple[type[dict], tuple[dict[str, Any]]]:
        return dict, (dict(self),)
