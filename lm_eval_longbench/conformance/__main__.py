"""Hold a program to the conformance data: `python -m lm_eval_longbench.conformance COMMAND...`.

A row of the kit holds, besides the official value, what a program would answer that breaks one
rule; of each rule that the row can show. Who breaks a rule gives that answer in all such rows.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.check.verification import same_number
from lm_eval_longbench.console import say, warn
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.files import read_json_lines
from lm_eval_longbench.prompts.prepare import common, text_sha256
from lm_eval_longbench.shapes import leaves

FOLDER = Path(__file__).parent
# A row of the kit, or an answer to it.
Row = dict[str, Any]
KINDS = ("prompts", "cuts", "answers", "figures")
# Exit statuses.
CONFORMS, BREAKS, CANNOT_RUN = 0, 1, 2
# What is asked for, and of which type it is.
_TYPES: Any = {"prompt": str, "letter": str | None, "score": int | float | None, "figures": dict}
# Characters of a text that is wrong, digits of its sha256 that are compared.
_SHOWN, _DIGITS = 40, 16


def lines(name: str) -> list[Row]:
    """Return the rows of a file of the kit."""
    return [row for _, row in read_json_lines(FOLDER / f"{name}.jsonl", LongBenchError)]


def asked(row: Row) -> Row:
    """Return what a program is sent of a row: all but the solution."""
    sent = {"id": row["id"], "kind": row["kind"], **row["ask"]}
    if "tokenizer" in sent:
        sent["tokenizer"] = str(FOLDER / "tokenizers" / sent["tokenizer"])
    return sent


def same(value: Any, wanted: Any) -> bool:
    """Whether a value is the wanted one; of figures those that are wanted."""
    if isinstance(wanted, dict):
        return all(same_number(value.get(name), own) for name, own in wanted.items())
    return same_number(value, wanted)


def told(row: Row, reply: Row) -> tuple[Any, Any, Any]:
    """Return what a reply says, what of it is compared, and with what: of texts with a sha256.

    Raises:
        LongBenchError: the reply has no value that was asked for, or one of another type.
    """
    kind, official = next(iter(row["expected"].items()))
    name = "prompt" if kind == "sha256" else kind
    value = reply.get(name, ...)
    if not isinstance(value, _TYPES[name]):
        problem = "missing" if value is ... else f"of the type {type(value).__name__}"
        raise LongBenchError(f"Its answer to {row['id']} is of no use: {name!r} is {problem}.")
    if name == "figures":
        value = {"/".join(place): own for place, own in leaves(value)}
    if kind == "sha256":
        return value, text_sha256(value)[:_DIGITS], official[:_DIGITS]
    return value, value, official


def judged(row: Row, reply: Row) -> Row | None:
    """Return a row with what a program answered to it; None: it skips it.

    Under "difference" are the answer and what is expected in words ("": it is the official one),
    under "shows" the rules whose breaking gives the answer. Raises LongBenchError as `told`.
    """
    if reply.get("skip") is True:
        return None
    expected, wrong, (value, own, official) = row["expected"], row["wrong"], told(row, reply)
    if same(own, official):
        text = ""
    elif "figures" in expected:  # a rule has those that differ
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


def answered(command: Sequence[str], rows: Sequence[Row], limit: float) -> Iterator[Row]:
    """Yield what a command answers to rows, a line to each line.

    Raises:
        LongBenchError: it does not start, does not answer all rows in so many seconds, or what it
            says is no JSON object.
    """
    sent = "".join(f"{json.dumps(asked(row))}\n" for row in rows)
    how: dict[str, Any] = {"input": sent.encode(), "stdout": subprocess.PIPE, "timeout": limit}
    try:
        done = subprocess.run(command, **how, check=False)
        said, end = done.stdout, f"ends at {{}}, with exit status {done.returncode}"
    except OSError as error:
        raise LongBenchError(f"{command[0]} does not start: {error}.") from error
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").rpartition(b"\n")[0]  # the last line may be a part of one
        end = f"has not answered {{}} after {limit:g} s"
    for row, line in itertools.zip_longest(rows, said.splitlines()[: len(rows)]):
        if line is None:
            raise LongBenchError(f"It {end.format(row['id'])}.")
        text, reply = line.decode("utf-8", "backslashreplace"), None
        with contextlib.suppress(ValueError):
            reply = json.loads(text)
        if not isinstance(reply, dict):
            raise LongBenchError(f"Its answer to {row['id']} is no JSON object: {text[:200]!r}")
        yield reply


def diagnose(rows: Sequence[Row]) -> tuple[dict[str, list[str]], Counter[str], list[Row]]:
    """Return the fewest rules that explain wrong answers, each with the ids of rows that show it.

    A rule that a right answer speaks against is accused only if no other explains a row. The others
    are how many right rows could have shown each rule, and the rows that no rule explains.
    """
    spared = Counter(rule for row in rows if not row["difference"] for rule in row["wrong"])
    left = [row for row in rows if row["difference"]]
    accused: dict[str, list[str]] = {}
    while shown := Counter(rule for row in left for rule in row["shows"]):
        best = max(shown, key=lambda rule: (not spared[rule], shown[rule]))
        accused[best] = [row["id"] for row in left if best in row["shows"]]
        left = [row for row in left if best not in row["shows"]]
    return accused, spared, left


def report(held: Mapping[str, Sequence[Row | None]]) -> int:
    """Print what was found by kind, None for rows that were skipped; return the exit status."""
    words = {line["rule"]: line["says"] for line in lines("rules")}
    checked = {kind: [row for row in rows if row is not None] for kind, rows in held.items()}
    for kind, rows in checked.items():
        wrong = sum(bool(row["difference"]) for row in rows)
        skipped = len(held[kind]) - len(rows)
        say(f"{kind}: {len(rows) - wrong} right, {wrong} wrong, {skipped} not checked")
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
    differences = [row["difference"] for rows in checked.values() for row in rows]
    if any(differences):
        return BREAKS
    say("All that was checked is as officially." if differences else "Nothing was checked.")
    return CONFORMS if differences else BREAKS


def main() -> int:
    """Run the command that the arguments say; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m lm_eval_longbench.conformance",
        description="Hold a program to LongBench's official prompts, cuts, scores and figures.",
        epilog=f"The protocol: {FOLDER / 'README.md'}",
    )
    parser.add_argument("--only", default=",".join(KINDS), help="kinds, such as prompts,answers")
    parser.add_argument("--limit", type=float, default=3600, help="seconds for all (default 3600)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the program with its arguments")
    given = parser.parse_args()
    held: dict[str, list[Row | None]] = {kind: [] for kind in given.only.split(",")}
    unknown = [kind for kind in held if kind not in KINDS]
    command = given.command[given.command[:1] == ["--"] :]
    if unknown or not command:
        parser.error(f"no kind {unknown[0]!r}: {', '.join(KINDS)}" if unknown else "no COMMAND")
    rows = [row for kind in held for row in lines(kind)]
    try:
        for row, reply in zip(rows, answered(command, rows, given.limit), strict=True):
            held[row["kind"]].append(judged(row, reply))
    except LongBenchError as error:
        warn(f"The program could not be checked. {error}")
        return CANNOT_RUN
    return report(held)


if __name__ == "__main__":
    sys.exit(main())
