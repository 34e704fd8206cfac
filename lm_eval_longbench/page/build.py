"""Put the page together: one file with its data, its style and its scripts, and nothing else.

A Content-Security-Policy names the style and the script by their sha256 and forbids the rest, so
that no text of a model or a file can become code, and nothing can be asked of another machine.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lm_eval_longbench.console import escaped

STATIC = Path(__file__).parent / "static"
SCRIPTS = ("chart.js", "answers.js", "page.js")


def static(name: str) -> str:
    """Return a file of the page as text, with line feeds only."""
    return (STATIC / name).read_text(encoding="utf-8")


def _sha256(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def embedded_json(value: Any) -> str:
    """Return JSON that can stand in a script element: no text of it ends the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def cleaned(value: Any) -> Any:
    """Return a JSON value whose texts have their control and direction characters written out."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, Mapping):
        return {escaped(str(name)): cleaned(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(own) for own in value]
    return value


def build_page(data: Mapping[str, Any], answers: str = "") -> str:
    """Return the page.

    Args:
        data: see `data.page_data`.
        answers: packed samples, see `samples.answers_of`; "" for none.
    """
    style = static("page.css")
    script = "\n".join(static(name) for name in SCRIPTS)
    policy = (
        f"default-src 'none'; script-src {_sha256(script)}; style-src {_sha256(style)}; "
        "img-src blob: data:; base-uri 'none'; form-action 'none'"
    )
    packed = f'<script type="text/plain" id="answers">{answers}</script>\n' if answers else ""
    parts = {
        "policy": policy,
        "style": style,
        "data": embedded_json(data),
        "answers": packed,
        "script": script,
    }
    # All at once: what is put in may hold a mark itself.
    return re.sub("{{(.+?)}}", lambda mark: parts[mark[1]], static("page.html"))
