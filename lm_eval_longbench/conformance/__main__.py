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
import queue
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.console import say, warn
from lm_eval_longbench.prompts.prepare import common, text_sha256

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


@dataclass(frozen=True)
class Row:
    """One row of the kit, and what a program answered.

    Attributes:
        id: of the row.
        can_show: the rules that it can show.
        shows: those of them whose breaking gives this answer.
        difference: what came and what is expected, in words; "": the answer is the official one.
    """

    id: str
    can_show: Sequence[str]
    shows: Sequence[str] = ()
    difference: str = ""


def flat(figures: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested figures with the names on the way to each joined by slashes."""
    found: dict[str, Any] = {}
    for name, value in figures.items():
        own = f"{before}{name}"
        found |= flat(value, f"{own}/") if isinstance(value, Mapping) else {own: value}
    return found


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
    problem = f"it has no {name!r}."
    if name in reply:
        if isinstance(reply[name], _TYPES[name]):
            return flat(reply[name]) if name == "figures" else reply[name]
        problem = f"{name!r} cannot be of the type {type(reply[name]).__name__}."
    raise CannotRun(f"Its answer to {row['id']} is of no use: {problem}")


def compared(row: Mapping[str, Any], value: Any) -> tuple[Any, Any]:
    """Return what is compared of an answer, and the official: of texts the start of the sha256."""
    (official, *_) = row["expected"].values()
    if "sha256" in row["expected"]:
        return text_sha256(value)[:_DIGITS], official[:_DIGITS]
    return value, official


def judged(row: Mapping[str, Any], reply: Mapping[str, Any]) -> Row:
    """Return a row with what a program answered to it; CannotRun as `told`."""
    expected, wrong, value = row["expected"], row["wrong"], told(row, reply)
    own, official = compared(row, value)
    if same(own, official):
        return Row(row["id"], list(wrong))
    if "figures" in expected:  # a rule has those that differ
        wrong = {rule: official | figures for rule, figures in wrong.items()}
        name = next(one for one in official if not same(value.get(one), official[one]))
        text = f"{name} is {value.get(name)!r}, officially {official[name]!r}"
    elif "text" in expected:
        at = common(value, expected["text"])
        part = slice(at, at + _SHOWN)
        text = f"character {at} on {value[part]!r}, officially {expected['text'][part]!r}"
    elif "sha256" in expected:
        text = f"{value[-_SHOWN:]!r} at its end, sha256 officially {official[:12]}..."
    else:
        text = f"{value!r}, officially {official!r}"
    return Row(row["id"], list(wrong), [rule for rule in wrong if same(own, wrong[rule])], text)


# ---------------------------------------------------------------------- a program

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]


@contextlib.contextmanager
def started(command: Sequence[str], limit: float) -> Iterator[Answer]:
    """Start a command that answers each line with a line; give what sends a row to it.

    Raises:
        CannotRun: it does not start or ends, says nothing in time, or what it says is no JSON
            object.
    """
    pipe, odd = subprocess.PIPE, "backslashreplace"
    try:
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8", errors=odd)
    except OSError as error:
        raise CannotRun(f"{command[0]} does not start: {error}.") from error
    to, of = process.stdin, process.stdout
    assert to is not None and of is not None
    said: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in itertools.chain(of, [""]):
            said.put(line)

    def answer(row: Mapping[str, Any]) -> dict[str, Any]:
        with contextlib.suppress(OSError):  # it has ended; its last words come first
            to.write(json.dumps(row) + "\n")
            to.flush()
        try:
            line = said.get(timeout=limit)
        except queue.Empty:
            raise CannotRun(f"It says nothing to {row['id']} in {limit:g} s.") from None
        if not line:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(limit)
            raise CannotRun(f"It ends at {row['id']}, with exit status {process.poll()}.")
        with contextlib.suppress(ValueError):
            if isinstance(reply := json.loads(line), dict):
                return reply
        raise CannotRun(f"Its answer to {row['id']} is no JSON object: {line.strip()[:200]!r}")

    threading.Thread(target=read, daemon=True).start()
    try:
        yield answer
    finally:
        process.kill()
        process.wait()


def hold(answer: Answer, kind: str) -> tuple[list[Row], int]:
    """Return the rows of a kind with what a program answers, and how many it skips.

    CannotRun as `started` and `told`.
    """
    rows, skipped = [], 0
    for row in lines(kind):
        reply = answer(asked(row))
        if reply.get("skip") is True:
            skipped += 1
        else:
            rows.append(judged(row, reply))
    return rows, skipped


# ---------------------------------------------------------------------- what is said


def diagnose(rows: Sequence[Row]) -> tuple[dict[str, list[str]], Counter[str], list[Row]]:
    """Return the fewest rules that explain wrong answers, and the rows that none explains.

    A rule that a right answer speaks against is accused only if no other explains a row.

    Returns:
        By rule the ids of the rows that show it; how many rows could have shown each rule and are
        right; the rows that no rule explains.
    """
    spared = Counter(rule for row in rows if not row.difference for rule in row.can_show)
    left = [row for row in rows if row.difference]
    accused: dict[str, list[str]] = {}
    while shown := Counter(rule for row in left for rule in row.shows):
        best = max(shown, key=lambda rule: (not spared[rule], shown[rule]))
        accused[best] = [row.id for row in left if best in row.shows]
        left = [row for row in left if best not in row.shows]
    return accused, spared, left


def report(held: Mapping[str, tuple[list[Row], int]]) -> int:
    """Print what was found by kind, and return the exit status."""
    words = {line["rule"]: line["says"] for line in lines("rules")}
    for kind, (rows, skipped) in held.items():
        wrong = sum(bool(row.difference) for row in rows)
        say(f"{kind}: {len(rows) - wrong} right, {wrong} wrong, {skipped} not checked")
    for kind, (rows, _) in held.items():
        accused, spared, others = diagnose(rows)
        for rule, ids in accused.items():
            part = f"; not in {spared[rule]} that can tell, too" if spared[rule] else ""
            say(f"{'BREAKS IN PART' if part else 'BREAKS'} {rule}: {words[rule]}")
            say(f"       {len(ids)} of {kind}, such as {ids[0]}{part}")
        if others:
            say(f"DIFFERS otherwise in {len(others)} of {kind}:")
        for row in others[:5]:
            tests = "; ".join(words[rule] for rule in row.can_show) or "no single rule"
            say(f"       {row.id}: {row.difference} [can show: {tests}]")
    checked = [row for rows, _ in held.values() for row in rows]
    if any(row.difference for row in checked):
        return BREAKS
    say("All that was checked is as officially." if checked else "Nothing was checked.")
    return CONFORMS if checked else BREAKS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments say; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m lm_eval_longbench.conformance",
        description="Hold a program to LongBench's official prompts, cuts, scores and figures.",
        epilog=f"The protocol: {FOLDER / 'README.md'}",
    )
    parser.add_argument("--only", default=",".join(KINDS), help="kinds, such as prompts,answers")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a row (default 60)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the program with its arguments")
    given = parser.parse_args(arguments)
    kinds = given.only.split(",")
    unknown = [kind for kind in kinds if kind not in KINDS]
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    if unknown or not command:
        parser.error(f"no kind {unknown[0]!r}: {', '.join(KINDS)}" if unknown else "no COMMAND")
    try:
        with started(command, given.limit) as answer:
            return report({kind: hold(answer, kind) for kind in kinds})
    except CannotRun as error:
        warn(f"The program could not be checked. {error}")
        return CANNOT_RUN


if __name__ == "__main__":
    sys.exit(main())
