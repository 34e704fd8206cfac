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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_longbench.conformance.diagnosis import Row, Wrong, diagnose, told
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


def rules() -> dict[str, str]:
    """Return what breaks each rule, in words, by the rule's id."""
    return {line["rule"]: line["says"] for line in lines("rules")}


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
        try:
            reply = json.loads(line)
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            raise CannotRun(f"Its answer to {row['id']} is no JSON object: {line.strip()[:200]!r}")
        return reply

    def end(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()


@dataclass
class Outcome:
    """What a program did with the rows of one kind."""

    right: list[Row] = field(default_factory=list)
    wrong: list[Wrong] = field(default_factory=list)
    skipped: int = 0


def hold(program: Program, kind: str) -> Outcome:
    """Return what a program answers to all rows of a kind; CannotRun as `Program.answer`."""
    outcome = Outcome()
    for row in lines(kind):
        reply = program.answer(asked(row))
        if reply.get("skip") is True:
            outcome.skipped += 1
            continue
        try:
            value = told(row["expected"], reply)
        except (KeyError, TypeError) as error:
            lacks = f"it has no {error}." if isinstance(error, KeyError) else str(error)
            raise CannotRun(f"Its answer to {row['id']} is of no use: {lacks}") from None
        one = Row(row["id"], row["expected"], row["wrong"])
        if one.equals(value):
            outcome.right.append(one)
        else:
            outcome.wrong.append(Wrong(one, value))
    return outcome


def report(outcomes: Mapping[str, Outcome]) -> int:
    """Print what was found, and return the exit status."""
    words, checked, wrong = rules(), 0, 0
    for kind, outcome in outcomes.items():
        checked += len(outcome.right) + len(outcome.wrong)
        wrong += len(outcome.wrong)
        say(
            f"{kind}: {len(outcome.right)} right, {len(outcome.wrong)} wrong, "
            f"{outcome.skipped} not checked"
        )
    for kind, outcome in outcomes.items():
        accused, others = diagnose(outcome.right, outcome.wrong)
        for one in accused:
            part = "" if one.always else f", but not in {one.spared} that can tell, too"
            say(f"BREAKS {one.rule}: {words[one.rule]}")
            say(f"       {len(one.rows)} of {kind}, such as {one.rows[0]}{part}")
        if others:
            say(f"DIFFERS otherwise in {len(others)} of {kind}:")
            for other in others[:5]:
                tests = "; ".join(words[rule] for rule in other.row.wrong) or "no rule alone"
                say(f"       {other.row.id}: {other.difference()} (it tells who {tests})")
    if not checked:
        say("Nothing was checked.")
    elif not wrong:
        say("All that was checked is as officially.")
    return CONFORMS if checked and not wrong else BREAKS


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
    program = None
    try:
        program = Program(command, given.limit)
        outcomes = {kind: hold(program, kind) for kind in kinds}
    except CannotRun as error:
        warn(f"The program could not be checked. {error}")
        return CANNOT_RUN
    finally:
        if program is not None:
            program.end()
    return report(outcomes)


if __name__ == "__main__":
    sys.exit(main())
