"""Hold a program to the conformance data: `python -m lm_eval_longbench.conformance COMMAND...`."""

from __future__ import annotations

import argparse
import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.conformance.diagnosis import Row, diagnose, told
from lm_eval_longbench.console import say, warn

FOLDER = Path(__file__).parent
KINDS = ("prompts", "cuts", "answers", "figures")
# Exit statuses.
CONFORMS, BREAKS, CANNOT_RUN = 0, 1, 2


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


class Program:
    """A running command that answers each line with a line."""

    def __init__(self, command: Sequence[str], limit: float) -> None:
        self._limit = limit
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="backslashreplace",
            )
        except OSError as error:
            raise CannotRun(f"{command[0]} does not start: {error}.") from error
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def answer(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the program answers.

        Raises:
            CannotRun: it ends, says nothing in time, or what it says is no JSON object.
        """
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended; its last words come first
            self._process.stdin.write(json.dumps(row) + "\n")
            self._process.stdin.flush()
        try:
            line = self._lines.get(timeout=self._limit)
        except queue.Empty:
            raise CannotRun(f"It says nothing to {row['id']} in {self._limit:g} s.") from None
        if not line:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(self._limit)
            status = self._process.poll()
            raise CannotRun(f"It ends at {row['id']}, with exit status {status}.")
        reply = None
        with contextlib.suppress(ValueError):
            reply = json.loads(line)
        if not isinstance(reply, dict):
            raise CannotRun(f"Its answer to {row['id']} is no JSON object: {line.strip()[:200]!r}")
        return reply

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()


def hold(program: Any, kind: str) -> tuple[list[Row], int]:
    """Return the rows of a kind with what a program answers, and how many it skips.

    Raises:
        CannotRun: as `Program.answer`, or an answer lacks the value that is asked for.
    """
    rows, skipped = [], 0
    for row in lines(kind):
        reply = program.answer(asked(row))
        if reply.get("skip") is True:
            skipped += 1
            continue
        try:
            value = told(row["expected"], reply)
        except (KeyError, TypeError) as error:
            lacks = f"it has no {error}." if isinstance(error, KeyError) else str(error)
            raise CannotRun(f"Its answer to {row['id']} is of no use: {lacks}") from None
        rows.append(Row(row["id"], row["expected"], row["wrong"], value))
    return rows, skipped


def report(held: Mapping[str, tuple[list[Row], int]]) -> int:
    """Print what was found by kind, and return the exit status."""
    words = {line["rule"]: line["says"] for line in lines("rules")}
    for kind, (rows, skipped) in held.items():
        right = sum(row.right for row in rows)
        say(f"{kind}: {right} right, {len(rows) - right} wrong, {skipped} not checked")
    for kind, (rows, _) in held.items():
        accused, others = diagnose(rows)
        for one in accused:
            part = f"; not in {one.spared} that can tell, too" if one.spared else ""
            say(f"{'BREAKS IN PART' if part else 'BREAKS'} {one.rule}: {words[one.rule]}")
            say(f"       {len(one.rows)} of {kind}, such as {one.rows[0]}{part}")
        if others:
            say(f"DIFFERS otherwise in {len(others)} of {kind}:")
        for row in others[:5]:
            tests = "; ".join(words[rule] for rule in row.wrong) or "no single rule"
            say(f"       {row.id}: {row.difference()} [can show: {tests}]")
    checked = [row for rows, _ in held.values() for row in rows]
    if checked and not all(row.right for row in checked):
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
    kinds: Iterable[str] = given.only.split(",")
    unknown = [kind for kind in kinds if kind not in KINDS]
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    if unknown or not command:
        parser.error(f"no kind {unknown[0]!r}: {', '.join(KINDS)}" if unknown else "no COMMAND")
    try:
        with contextlib.closing(Program(command, given.limit)) as program:
            return report({kind: hold(program, kind) for kind in kinds})
    except CannotRun as error:
        warn(f"The program could not be checked. {error}")
        return CANNOT_RUN


if __name__ == "__main__":
    sys.exit(main())
