"""Hold a program to the conformance data: `python -m lm_eval_longbench.conformance COMMAND...`.

A row of the kit holds, besides the official value, what a program would answer that breaks one
rule; of each rule that the row can show. Who breaks a rule gives that answer in all such rows.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.console import say, warn
from lm_eval_longbench.prompts.prepare import common, text_sha256
from lm_eval_longbench.shapes import leaves

FOLDER = Path(__file__).parent
KINDS = ("prompts", "cuts", "answers", "figures")
# Exit statuses.
CONFORMS, BREAKS, CANNOT_RUN = 0, 1, 2
# What is asked for, and of which kind it is.
_TYPES: dict[str, Any] = {
    "prompt": str,
    "letter": str | None,
    "score": int | float | None,
    "figures": Mapping,
}
# Official values are floats of another order of additions at most.
_CLOSE = 1e-9
# Characters of a text that is wrong, digits of its sha256 that are compared.
_SHOWN, _DIGITS = 40, 16


class CannotRun(Exception):
    """The program does not speak the protocol; the message says what happened."""


def lines(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of the kit."""
    with (FOLDER / f"{name}.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def asked(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a program is sent of a row: all but the solution."""
    sent = {"id": row["id"], "kind": row["kind"], **row["ask"]}
    if "tokenizer" in sent:
        sent["tokenizer"] = str(FOLDER / "tokenizers" / sent["tokenizer"])
    return sent


# ---------------------------------------------------------------------- one answer


# A row of the kit with, under "difference", what a program answered and what is expected, in words
# ("": the answer is the official one), and under "shows" the rules whose breaking gives the answer.
Judged = dict[str, Any]


def flat(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested figures with the names on the way to each joined by slashes."""
    return {"/".join(place): value for place, value in leaves(figures)}


def same(value: Any, wanted: Any) -> bool:
    """Whether a value is the wanted one; of figures those that are wanted."""
    if isinstance(wanted, Mapping):
        return all(same(value.get(name), own) for name, own in wanted.items())
    if isinstance(wanted, float | int) and isinstance(value, float | int):
        return math.isclose(value, wanted, rel_tol=0, abs_tol=_CLOSE)
    return bool(value == wanted)


def told(row: Mapping[str, Any], reply: Mapping[str, Any]) -> Any:
    """Return the value in a reply that is asked for: a text, a letter, a score or figures.

    Raises:
        CannotRun: the reply has no such value, or one of another type.
    """
    name = "prompt" if "sha256" in row["expected"] else next(iter(row["expected"]))
    value = reply.get(name, ...)
    if not isinstance(value, _TYPES[name]):
        problem = "missing" if value is ... else f"of the type {type(value).__name__}"
        raise CannotRun(f"Its answer to {row['id']} is of no use: {name!r} is {problem}.")
    return flat(value) if name == "figures" else value


def compared(row: Mapping[str, Any], value: Any) -> tuple[Any, Any]:
    """Return what is compared of an answer, and the official: of texts the start of the sha256."""
    (official, *_) = row["expected"].values()
    if "sha256" in row["expected"]:
        return text_sha256(value)[:_DIGITS], official[:_DIGITS]
    return value, official


def judged(row: Mapping[str, Any], reply: Mapping[str, Any]) -> Judged | None:
    """Return a row with what a program answered to it, None: it skips it; CannotRun as `told`."""
    if reply.get("skip") is True:
        return None
    expected, wrong, value = row["expected"], row["wrong"], told(row, reply)
    own, official = compared(row, value)
    if same(own, official):
        return {**row, "difference": "", "shows": []}
    if "figures" in expected:  # a rule has those that differ
        wrong = {rule: official | figures for rule, figures in wrong.items()}
        name = next(one for one in official if not same(value.get(one), official[one]))
        text = f"{name} is {value.get(name)!r}, officially {official[name]!r}"
    elif "text" in expected:
        at = common(value, expected["text"])
        part = slice(at, at + _SHOWN)
        text = f"character {at} on {value[part]!r}, officially {expected['text'][part]!r}"
    elif "sha256" in expected:
        text = f"{value[-_SHOWN:]!r} at its end, sha256 officially {official}..."
    else:
        text = f"{value!r}, officially {official!r}"
    shows = [rule for rule in wrong if same(own, wrong[rule])]
    return {**row, "difference": text, "shows": shows}


# ---------------------------------------------------------------------- a program


def answered(
    command: Sequence[str], rows: Sequence[Mapping[str, Any]], limit: float
) -> list[dict[str, Any]]:
    """Return what a command answers to rows, a line to each line.

    Raises:
        CannotRun: it does not start, does not answer all rows in so many seconds, or what it says
            is no JSON object.
    """
    sent = "".join(f"{json.dumps(asked(row))}\n" for row in rows)
    how: dict[str, Any] = {"input": sent.encode(), "stdout": subprocess.PIPE, "timeout": limit}
    try:
        done = subprocess.run(command, **how, check=False)
        said, end = done.stdout, f"ends at {{}}, with exit status {done.returncode}"
    except OSError as error:
        raise CannotRun(f"{command[0]} does not start: {error}.") from error
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").rpartition(b"\n")[0]  # the last line may be a part of one
        end = f"has not answered {{}} after {limit:g} s"
    replies = []
    for row, line in itertools.zip_longest(rows, said.splitlines()[: len(rows)]):
        if line is None:
            raise CannotRun(f"It {end.format(row['id'])}.")
        text, reply = line.decode("utf-8", "backslashreplace"), None
        with contextlib.suppress(ValueError):
            reply = json.loads(text)
        if not isinstance(reply, dict):
            raise CannotRun(f"Its answer to {row['id']} is no JSON object: {text[:200]!r}")
        replies.append(reply)
    return replies


# ---------------------------------------------------------------------- what is said


def diagnose(rows: Sequence[Judged]) -> tuple[dict[str, list[str]], Counter[str], list[Judged]]:
    """Return the fewest rules that explain wrong answers, and the rows that none explains.

    A rule that a right answer speaks against is accused only if no other explains a row.

    Returns:
        By rule the ids of the rows that show it; how many rows could have shown each rule and are
        right; the rows that no rule explains.
    """
    spared = Counter(rule for row in rows if not row["difference"] for rule in row["wrong"])
    left = [row for row in rows if row["difference"]]
    accused: dict[str, list[str]] = {}
    while shown := Counter(rule for row in left for rule in row["shows"]):
        best = max(shown, key=lambda rule: (not spared[rule], shown[rule]))
        accused[best] = [row["id"] for row in left if best in row["shows"]]
        left = [row for row in left if best not in row["shows"]]
    return accused, spared, left


def report(held: Mapping[str, Sequence[Judged | None]]) -> int:
    """Print what was found by kind, None for rows that were skipped; return the exit status."""
    words = {line["rule"]: line["says"] for line in lines("rules")}
    checked = {kind: [row for row in rows if row is not None] for kind, rows in held.items()}
    wrong = {kind: sum(bool(row["difference"]) for row in rows) for kind, rows in checked.items()}
    for kind, rows in checked.items():
        skipped = len(held[kind]) - len(rows)
        right = len(rows) - wrong[kind]
        say(f"{kind}: {right} right, {wrong[kind]} wrong, {skipped} not checked")
    for kind, rows in checked.items():
        accused, spared, others = diagnose(rows)
        for rule, ids in accused.items():
            part = f"; not in {spared[rule]} that can tell, too" if spared[rule] else ""
            say(f"{'BREAKS IN PART' if part else 'BREAKS'} {rule}: {words[rule]}")
            say(f"       {len(ids)} of {kind}, such as {ids[0]}{part}")
        if others:
            say(f"DIFFERS otherwise in {len(others)} of {kind}:")
        for row in others[:5]:
            tests = "; ".join(words[rule] for rule in row["wrong"]) or "no single rule"
            say(f"       {row['id']}: {row['difference']} [can show: {tests}]")
    if any(wrong.values()):
        return BREAKS
    is_any = any(checked.values())
    say("All that was checked is as officially." if is_any else "Nothing was checked.")
    return CONFORMS if is_any else BREAKS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments say; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m lm_eval_longbench.conformance",
        description="Hold a program to LongBench's official prompts, cuts, scores and figures.",
        epilog=f"The protocol: {FOLDER / 'README.md'}",
    )
    parser.add_argument("--only", default=",".join(KINDS), help="kinds, such as prompts,answers")
    parser.add_argument("--limit", type=float, default=3600, help="seconds for all (default 3600)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the program with its arguments")
    given = parser.parse_args(arguments)
    kinds = given.only.split(",")
    unknown = [kind for kind in kinds if kind not in KINDS]
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    if unknown or not command:
        parser.error(f"no kind {unknown[0]!r}: {', '.join(KINDS)}" if unknown else "no COMMAND")
    try:
        rows = [row for kind in kinds for row in lines(kind)]
        held: dict[str, list[Judged | None]] = {kind: [] for kind in kinds}
        for row, reply in zip(rows, answered(command, rows, given.limit), strict=True):
            held[row["kind"]].append(judged(row, reply))
        return report(held)
    except CannotRun as error:
        warn(f"The program could not be checked. {error}")
        return CANNOT_RUN


if __name__ == "__main__":
    sys.exit(main())
