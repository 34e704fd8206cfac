"""Run damaged inputs through every reader: score, report, verify, compare, lock, prepare.

Usage: scripts/fuzz.py [--cases 10000] [--seed 0] [--only READER] [--case NUMBER]

Sound inputs are made first: of every benchmark a run of the embedded baseline, files as its
official scripts write them, both scored, and data; a lock file and options. Each case takes one,
damages its bytes, JSON, lines or files, and reads it as the command does. A case fails on

- an exception that is not a LongBenchError, which the command line turns into one line,
- a lost row: of what was accepted, every line is a sample or named as a problem,
- a score outside [0, 1], a figure outside its range, or one that is not finite,
- damage that a lock file lets pass, where it is in hashes.

A case follows from the seed and its number alone, so that --case repeats it. Prints cases, refused
and accepted by reader, and every failure. Exit status 0 without a failure, 1 with one, 2 if
nothing was run.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gzip
import io
import json
import logging
import math
import random
import shutil
import sys
import tempfile
import traceback
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import datasets
import yaml

from lm_eval_longbench import console
from lm_eval_longbench.api.run import report as report_text
from lm_eval_longbench.benchmarks.base import Benchmark
from lm_eval_longbench.benchmarks.registry import benchmarks, families
from lm_eval_longbench.check.compare import compare_results
from lm_eval_longbench.check.lock import lock_now, lock_text, read_lock, require_lock
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.cli import compare, lock, prepare, score
from lm_eval_longbench.cli import verify as verify_command
from lm_eval_longbench.console import say_table
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.harness.run import run_harness
from lm_eval_longbench.options import KEY, Options
from lm_eval_longbench.records.log import responses_of
from lm_eval_longbench.reporting.formats import FORMATS
from lm_eval_longbench.scoring.files import LOG
from lm_eval_longbench.scoring.score import score_paths

Files = dict[str, bytes]  # by path within a folder
SAMPLE = Options(data_dir="sample")
OPTIONS = {
    **{"truncate_to": 31500, "overlength": "skip", "log_prompts": "full", "repeats": 2},
    **{"tokenizer": "t", "reasoning": "keep", "thinking": False, "rag_top_n": 3, "preset": None},
    **{"only": {"language": "English", "token_length": ["8k"]}, "data_dir": "sample"},
    **{"embedding_model": "m", "embedding_url": "http://localhost:9/v1", "cot_samples": "c"},
}
LOCKED = [next(iter(one.tasks)) for one in benchmarks().values()]
# JSON texts that stand for a value. The last ones are not JSON, or hardly.
ODD = [
    *("null", "true", "false", "0", "-1", "1", "2", "7", "0.5", "1.5", "-0.0", "1e308", "1e-320"),
    *("NaN", "Infinity", "-Infinity", "1e999", "9" * 30, "-" + "9" * 400, "1" * 5000, str(2**63)),
    *('""', '"x"', '"B"', '" "', '"\\ud800"', '"\\u0000"', '"\\u001b[2J"', '"../../etc"', '"NaN"'),
    *('"[Answer]\\nB"', '"<think>hm</think>B"', '"<think>so"', '"' + "a" * 5000 + '"', '"汉字"'),
    *("[]", "{}", "[[]]", "[null]", '["x"]', '{"a": 1}', '{"": null}', '[1, "x"]', '[[["B"]]]'),
    *('{"a": 1, "a": 2}', "[" * 300 + "]" * 300, '{"a":' * 50 + "1" + "}" * 50, "[" * 100_000),
    *('"sample"', '"none"', '"mean"', '"raw"', '"skip"', '"drop"', '"keep"', "'", "@", "tru"),
    *(json.dumps(name) for name in ("longbench_v9", *LOCKED)),
]
MARK = "\u2042odd\u2042"  # stands in decoded JSON for a text of ODD that is put in afterwards
# Lines, and bytes, that do not belong where they are.
LINES = [
    *(b"", b" \t", b"{}", b"null", b"{", b'"x"', b"[]", b"\xff", b"data: &a [*a]", b"? [1]", b"\t"),
    *(b"tasks: !!python/object:os.system x", b"version: 2001-01-01", b"options: yes"),
]
BYTES = (b"\n", b"\0", b"\r", b"\xef\xbb\xbf", b'"', b"]", b"7", b"\x9e\x01", b"a:\xe6")
strict_json = functools.partial(json.loads, parse_constant=int)  # which takes no NaN or Infinity


class Wrong(Exception):
    """What a reader accepted or said, and should not have."""


def places(value: Any) -> list[Any]:
    """Return every object and list in decoded JSON that is not empty."""
    own = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value] * bool(own) + [place for one in own for place in places(one)]


def damaged_json(text: str, rng: random.Random) -> str:
    """Change some values, keys or elements of a JSON text."""
    value = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        own = rng.choice(places(value) or [[value]])
        key = rng.choice(list(own) if isinstance(own, dict) else range(len(own)))
        how = rng.randrange(8)
        if how == 0:
            del own[key]
        elif how == 1 and isinstance(own, dict):
            own[rng.choice((*own, "added", "", "\0"))] = own.pop(key)
        elif how == 2:
            own[key] = json.loads(json.dumps(rng.choice(places(value) or [None])))
        elif how == 3 and isinstance(own, list):
            own += own[: rng.randrange(4)]
        elif how == 4 and isinstance(own[key], int | float):
            own[key] = own[key] * rng.choice((-1, 2, 100, 10**20)) + rng.choice((0, 1, 1e-9))
        else:
            own[key] = MARK
    made = json.dumps(MARK if rng.random() < 0.02 else value, ensure_ascii=rng.random() < 0.5)
    mark = json.dumps(MARK, ensure_ascii=made.isascii())
    while mark in made:
        made = made.replace(mark, rng.choice(ODD), 1)
    twice = rng.choice(('{"score": 2, ', '{"": 1, "": 2, '))  # a key twice
    return made.replace("{", twice, 1) if rng.random() < 0.03 else made


def damaged_parts(whole: Any, rng: random.Random) -> Any:
    """Cut, replace, insert, drop, double or turn round some bytes, or some lines of a list."""
    odd = rng.choice(BYTES) if isinstance(whole, bytes) else [rng.choice(LINES)]
    at, length = rng.randrange(len(whole) + 1), rng.randrange(1, 40 if len(whole) > 99 else 2)
    begin, end = whole[:at], whole[at:]
    ways = (begin, begin + odd + end[len(odd) :], begin + odd + end, begin + end[length:])
    return rng.choice((*ways, whole[: at + length] + end, end + begin))


def damaged(name: str, raw: bytes, rng: random.Random) -> bytes:
    """Return a file's bytes with some damage of one kind; ValueError if it is too odd already."""
    how, by_line, rows = rng.random(), name.endswith(("jsonl", "lock")), raw.split(b"\n")
    if how < 0.03:
        return rng.choice((b"", b"\n", b"\0" * 9, b"\x1f\x8b" + raw, b"\xff\xfe" + raw, b"["))
    if how < 0.15:
        return damaged_parts(raw, rng)
    if how < 0.25 and by_line:
        return rng.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r")).join(damaged_parts(rows, rng))
    if how < 0.30:
        packed = gzip.compress(raw, mtime=0)
        return packed if rng.random() < 0.3 else damaged_parts(packed, rng)
    if not name.endswith("jsonl"):
        rows = [json.dumps(yaml.safe_load(raw)).encode() if by_line else raw]
    full = [number for number, row in enumerate(rows) if row]
    for number in rng.sample(full, min(len(full), rng.choice((1, 1, 3)))):
        rows[number] = damaged_json(rows[number].decode(), rng).encode("utf-8", "surrogatepass")
    return b"\n".join(rows)


def damaged_files(files: Files, rng: random.Random) -> Files:
    """Return files with damage to one or two of them; one may be gone, others be compressed."""
    made = dict(files)
    for name in rng.sample(sorted(files), min(len(files), rng.choice((1, 1, 1, 2)))):
        if rng.random() < 0.03:
            made.pop(name, None)
        elif name in made:
            with contextlib.suppress(ValueError, RecursionError):  # it is too odd already
                made[name] = damaged(name, made[name], rng)
    for name in sorted(made):
        if name.endswith("jsonl") and rng.random() < 0.05:  # as users keep them
            made[name + ".gz"] = gzip.compress(made.pop(name), mtime=0)
    return made


def write(folder: Path, files: Files) -> Path:
    """Write files anew into a folder and return it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, raw in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)
    return folder


def read(folder: Path) -> Files:
    """Return the files of a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def text_lines(raw: bytes) -> tuple[list[tuple[int, bytes]], bool]:
    """Return number and text of the lines that are not blank, and whether the whole was readable.

    Of damaged gzip data these are the whole lines before the damage.
    """
    sound = True
    if raw[:2] == b"\x1f\x8b":
        packed, raw, decoder = raw, b"", zlib.decompressobj(31)
        with contextlib.suppress(zlib.error):
            for at in range(len(packed)):  # one by one, so that all before the damage is there
                raw += decoder.decompress(packed[at : at + 1])
        sound = decoder.eof and not decoder.unused_data
        raw = raw if sound else raw[: raw.rfind(b"\n") + 1]
    rows = enumerate(raw.split(b"\n"), start=1)
    return [(number, row) for number, row in rows if row and not row.isspace()], sound


def encoded(rows: list[Any], *, lines: bool = True) -> bytes:
    texts = [json.dumps(row, ensure_ascii=False) for row in rows]
    return ("\n".join((*texts, "")) if lines else f"[{','.join(texts)}]").encode()


def official(one: Benchmark, run: Files) -> Files:
    """Return the files that official scripts would write of a run's answers."""
    found: dict[str, list[Any]] = defaultdict(list)
    for name in (own for own in run if own.startswith("samples_")):
        task = one.tasks[name.removeprefix("samples_").rpartition("_")[0]]
        stem = task.label.removesuffix("_e") if one.official_folder else f"_inference_{task.table}"
        for row in map(json.loads, run[name].splitlines()):
            kept = {field: row["doc"][field] for field in one.fields if field in row["doc"]}
            for number, text in enumerate(responses_of(row) or (), start=1):
                said = {"prediction": text, "bon_idx": number} if "id" in kept else {"pred": text}
                said |= {"response": text, "pred": "B"} if "choice_A" in kept else {}
                found[f"{one.official_folder or 'all'}/m/{stem}.jsonl"].append({**kept, **said})
    return {name: encoded(rows) for name, rows in found.items()}


class Inputs:
    """Sound inputs of each reader, made with the package itself in a folder of their own."""

    def __init__(self, root: Path) -> None:
        self.work, self.cache = root / "work", str(root / "cache")
        datasets.config.HF_DATASETS_CACHE = self.cache
        self.sound: dict[str, list[Files]] = defaultdict(list)
        for one in benchmarks().values():
            if one.official_files is None:
                continue  # a variant, whose logs are read as those of its benchmark
            # Where tasks are asked as a part of another, the last part stands for it.
            parts = {(task.table, task.counted): name for name, task in one.tasks.items()}
            asked = [own for (table, _), own in parts.items() if not one.tables[table].first_pass]
            asked = asked[:: -9 if len(asked) > 9 else 1]
            given = ["--model", "longbench-extractive", "--limit", "2", "--log_samples"]
            given += ["--tasks", ",".join(asked), "--output_path", str(root / one.name)]
            run_harness([*given, "--metadata", json.dumps({KEY: {"data_dir": "sample"}})])
            (results,) = (root / one.name).rglob("results_*.json")
            for files in (run := read(results.parent), official(one, run)):
                score_paths([write(self.work, files)], root / "scored", workers=1)
                self.sound["score"].append(files)
                self.sound["report"].append(read(root / "scored"))
            self.sound["verify"] += [run, *self.sound["report"][-2:]]
        self.sound["compare"] = self.sound["verify"]
        frozen, options = lock_text(lock_now(LOCKED, SAMPLE)), json.dumps({KEY: OPTIONS})
        self.sound["lock"] = [{"x.lock": frozen.encode()}, {"options.json": options.encode()}]
        for members in families().values():
            files = {}
            for file in sorted(members[0].samples.iterdir())[::11]:
                lines, raw = file.suffix == ".jsonl", file.read_bytes()
                rows = [json.loads(row) for row in raw.splitlines()] if lines else json.loads(raw)
                rows = [{**row, "context": row["context"][:300]} for row in rows[:5]]
                files["data/" * lines + file.name] = encoded(rows, lines=lines)
            self.sound["prepare"].append(files)


def within(value: Any, most: float, where: str, least: float = 0) -> None:
    """Fail unless a value is None or a finite number between two bounds."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    # NaN is never between.
    if value is not None and not (number and least <= value <= most and value != math.inf):
        raise Wrong(f"{where} is {value!r}, not a number from {least} to {most}")


SHARES = {"score", "compensated", "rougeL_google", "score_otherwise"}


def check_numbers(value: Any, where: str = "report") -> None:
    """Fail unless scores in JSON are shares, other fractions percents, and counts not negative."""
    if isinstance(value, dict):
        for name, own in value.items():
            if name in SHARES and not isinstance(own, dict):  # or such figures by name
                within(own, 1, f"{where}.{name}")
            elif name not in ("signature", "problems", "inputs", "length", "index"):
                check_numbers(own, f"{where}.{name}")
    elif isinstance(value, list):
        for own in value:
            check_numbers(own, where)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        within(value, 100 if isinstance(value, float) else math.inf, where)


def check_rows(folder: Path, report: Mapping[str, Any], samples: int) -> None:
    """Fail unless every line of every file is a sample or named as a problem."""
    problems = report["problems"]
    entries = {kind: problems[kind] for kind in ("malformed", "foreign", "duplicate")}
    for kind, own in entries.items():
        if len(own) != min(problems[f"{kind}_total"], 100):
            raise Wrong(f"{problems[f'{kind}_total']} rows are {kind}, {len(own)} are named")
    conflicts = [own for own in entries["foreign"] if "has other gold answers" in own["reason"]]
    unread = [*entries["malformed"], *(own for own in entries["foreign"] if own not in conflicts)]
    bad = {(own["file"], own["line"]) for own in unread}
    left_out = {own["file"] for kind in entries for own in entries[kind] if own["line"] is None}
    inputs = {own["name"]: own for own in report["inputs"]}
    expected, certain = 0, True
    for path in sorted(folder.rglob("*.jsonl*")):
        name = path.relative_to(folder.parent).as_posix()
        if name not in inputs:
            if name not in left_out:
                raise Wrong(f"nothing is said of the file {name}")
            continue
        rows, sound = text_lines(path.read_bytes())
        found, is_log = inputs[name]["rows"], inputs[name]["kind"] == LOG
        if found != len(rows) and (sound or found < len(rows)):
            raise Wrong(f"{name} has {len(rows)} lines, and {found} were read")
        certain = certain and sound
        taken = [json.loads(row) for number, row in rows if (name, number) not in bad]
        expected += sum(max(1, len(responses_of(row) or ())) if is_log else 1 for row in taken)
    told = samples + len(conflicts) + sum(own["line"] is not None for own in entries["duplicate"])
    if told != expected and (certain or told < expected):
        raise Wrong(f"the lines hold {expected} answers, and {told} are samples or named")


@dataclass
class Case:
    """One of several sound inputs, the files that damage made of it, and where they lie."""

    rng: random.Random
    others: list[Files]
    sound: Files
    files: Files
    folder: Path


def try_score(case: Case) -> bool:
    """Score raw predictions."""
    rng, output = case.rng, case.folder.with_name("output")
    reasoning, google = rng.choice((None, None, "drop", "keep")), rng.random() < 0.2
    report = score_paths([case.folder], output, reasoning=reasoning, rouge_google=google, workers=1)
    lines = [strict_json(line) for line in (output / "samples.jsonl").read_bytes().splitlines()]
    check_numbers([lines, strict_json((output / "scores.json").read_bytes())], "written")
    if strict_json((output / "report.json").read_bytes()) != json.loads(json.dumps(report)):
        raise Wrong("report.json is not what was returned")
    check_numbers(report)
    check_rows(case.folder, report, len(lines))
    [*score.warnings_of(report), *score.notes_of(report)]
    if rng.random() < 0.3:
        score.figures_text(output)
    return True


def try_report(case: Case) -> bool:
    """Report on a scored folder, alone or beside a sound one."""
    rng, paths = case.rng, [case.folder]
    if rng.random() < 0.3:
        paths.append(write(case.folder.with_name("b"), rng.choice(case.others)))
    against = rng.choice((None, "published"))
    found = strict_json(report_text(*paths, format="json", against=against))
    if rng.random() < 0.3:
        kind, width = rng.choice(FORMATS), rng.choice((None, 80))
        report_text(*paths, format=kind, against=against, width=width)
    columns = [column for one in found["benchmarks"] for column in one["columns"]]
    check_numbers([column["counts"] for column in columns])
    for row in (row for one in found["benchmarks"] for row in one["figures"]):
        name, most = row["name"], {"percent": 100, "share": 1}.get(row["unit"], math.inf)
        for own in filter(None, row["figures"]):
            for value in (own["value"], own["low"], own["high"]):
                within(value, most, name, -1)
            within(own["n"], math.inf, f"{name}.n")
        for own in filter(None, row["differences"]):
            within(own["value"], most, f"{name} difference", -most)
            within(own["p_value"], 1, f"{name}.p_value")
    if "samples.jsonl" in case.files:
        lines = len(text_lines(case.files["samples.jsonl"])[0])
        # A run that stands alone is called by its model, not by its folder.
        alone = len({own["run"] for own in columns}) == 1
        told = [
            own["counts"]["samples"] for own in columns if alone or own["run"].split("/")[-1] == "a"
        ]
        if sum(told) != lines:
            raise Wrong(f"samples.jsonl has {lines} lines, the report counts {told}")
    return True


def try_verify(case: Case) -> bool:
    """Verify a run folder or a scored folder."""
    report = verify([case.folder])
    strict_json(json.dumps(report.as_json(), allow_nan=False))
    say_table(verify_command.kinds_table(report))
    verify_command.outcome_lines(report, verbose=True)
    return report.exit_status in (0, 3)


def try_compare(case: Case) -> bool:
    """Compare a damaged result with a sound one, mostly its own."""
    other = case.sound if case.rng.random() < 0.7 else case.rng.choice(case.others)
    pair = [case.folder, write(case.folder.with_name("b"), other)]
    compared = compare_results(*pair[:: case.rng.choice((1, -1))])
    tables = [compare.differences_table(compared), compare.figures_table(compared)]
    for table in filter(None, tables):
        say_table(table)
    list(compare.notes(compared))
    for name, *values in (figure for task in compared.tasks for figure in task.figures):
        # The harness writes NaN, "N/A" or "bypass" where there is no figure.
        for value in (own for own in values if name != "bypass" and own == own and own != "N/A"):
            within(value, 1, name)
    return True


def holds(locked: Any, sound: Any) -> bool:
    """Return whether a value has all that a sound one has; what no task needs may be there too."""
    inner = sound if isinstance(sound, dict) and isinstance(locked, dict) else None
    return locked == sound if inner is None else all(holds(locked.get(k), inner[k]) for k in inner)


def try_lock(case: Case) -> bool:
    """Hold a run to a damaged lock file, or freeze damaged options and read the lock again."""
    path = case.folder / "x.lock"
    if path.name in case.sound:
        given = read_lock(path)
        require_lock(path, LOCKED, case.rng.choice((None, SAMPLE)))
        sound = yaml.safe_load(case.sound[path.name])
        for section in ("data", "metrics", "packages", "tasks", "templates"):
            if not holds(getattr(given, section), sound[section]):
                raise Wrong(f"a run is let pass though {section} differs: {given}")
        return True
    text = case.files.get("options.json", b"").decode("utf-8", "replace")
    options = Options.from_metadata(lock.read_metadata(text))
    tasks = case.rng.choice((LOCKED, LOCKED[:1], ["longbench_v2_rag"]))
    frozen = lock_now(tasks, options)
    path.write_text(lock_text(frozen), encoding="utf-8")
    again = read_lock(path)
    if again != frozen and json.dumps(vars(again)) != json.dumps(vars(frozen)):
        raise Wrong(f"the lock was {frozen}, and is read as {again}")
    require_lock(path, tasks, options)
    return True


def _unpacked(raw: bytes) -> bytes:
    """Return a file's bytes as readers see them, as far as a damaged gzip file goes."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        return unpacker.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except zlib.error:
        return raw


def _loaded(place: Path, case: Case) -> list[str]:
    """Return the ids of all documents that are loaded of data."""
    raw, asked, there = b"".join(map(_unpacked, case.files.values())), [], []
    for one in benchmarks().values():
        # A variant has the data of its benchmark.
        for label, task in one.prepared() if one.official_files else ():
            if one.source.file in case.sound or f"data/{task.dataset}.jsonl" in case.sound:
                asked.append((label, one, task))
                # An array has all tasks; those that it has no questions of are refused.
                there += asked[-1:] if len(case.sound) > 1 or label.encode() in raw else []
    loaded = [(label, 1, one.load(task, str(place))) for label, one, task in there or asked[:1]]
    say_table(prepare.prepared_table("", loaded))
    rows = [documents.rows for *_, documents in loaded]
    return [name for own in rows for name in own["_id" if "_id" in own.column_names else "id"]]


def try_prepare(case: Case) -> bool:
    """Load damaged data, a folder, an archive or an array, and again from a damaged cache."""
    rng, cache, place = case.rng, case.folder.with_name("cache"), case.folder
    if len(case.sound) == 1:
        (place,) = (case.folder / name for name in case.sound)
    elif rng.random() < 0.5:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, raw in case.files.items():
                archive.writestr(zipfile.ZipInfo(member), raw)
        raw = packed.getvalue()
        raw = damaged_parts(raw, rng) if rng.random() < 0.4 else raw
        place = write(case.folder.with_name("zip"), {"data.zip": raw}) / "data.zip"
    with mock.patch.object(datasets.config, "HF_DATASETS_CACHE", str(cache)):
        found = _loaded(place, case)
        if len(case.sound) == 1:
            rows = json.loads(_unpacked(*case.files.values()))
        else:
            lines = [line for raw in case.files.values() for _, line in text_lines(raw)[0]]
            rows = list(map(json.loads, lines))
        if sorted(found) != sorted(row.get("_id", row.get("id")) for row in rows):
            raise Wrong(f"of {len(rows)} rows other documents were loaded: {found}")
        path = rng.choice(sorted(path for path in cache.rglob("*") if path.is_file()))
        raw = path.read_bytes()
        path.unlink()  # a mapped file must not change in place
        path.write_bytes(damaged_parts(raw, rng))
        if _loaded(place, case) != found:
            raise Wrong(f"with damage to {path.name} in the cache other documents were loaded")
    return True


_READERS = (try_score, try_report, try_verify, try_compare, try_lock, try_prepare)
READERS = {own.__name__.removeprefix("try_"): own for own in _READERS}
# Which reader a case is for follows from its number; most of them are for what people pay for.
TURNS = ("score", "report", "score", "verify", "score", "lock", "score", "compare", "prepare")


@dataclass
class Tally:
    """What happened to the cases of one reader."""

    refused: int = 0
    accepted: int = 0
    failures: list[tuple[int, str, str]] = field(default_factory=list)  # number, error, traceback

    @property
    def cases(self) -> int:
        return self.refused + self.accepted + len(self.failures)


@contextlib.contextmanager
def unseen() -> Iterator[None]:
    """Drop what is printed and logged, but encode it as a terminal would need it."""
    level, cache = logging.root.manager.disable, datasets.config.HF_DATASETS_CACHE
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    logging.disable(logging.CRITICAL)
    try:
        with out, contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            yield
    finally:
        logging.disable(level)
        datasets.config.HF_DATASETS_CACHE = cache


def run_case(inputs: Inputs, tally: Tally, reader: str, seed: int, number: int) -> None:
    """Run one case and count what happens."""
    rng = random.Random(f"{seed} {number}")
    console.forget()
    sound = rng.choice(inputs.sound[reader])
    files = damaged_files(sound, rng) if rng.random() < 0.9 else sound
    shutil.rmtree(inputs.work, ignore_errors=True)
    folder = write(inputs.work / "a", files)
    try:
        accepted = READERS[reader](Case(rng, inputs.sound[reader], sound, files, folder))
        tally.accepted, tally.refused = tally.accepted + accepted, tally.refused + (not accepted)
    except LongBenchError:
        tally.refused += 1
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "lm_eval_longbench" in frame.filename] or frames
        frame = frames[-1] if isinstance(error, Wrong) else ours[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        said = f"{reader}: {type(error).__name__} at {where}: {str(error)[:300]}"
        tally.failures.append((number, said, traceback.format_exc()))


def fuzz(
    inputs: Inputs, cases: int, seed: int = 0, only: str | None = None, first: int = 0
) -> dict[str, Tally]:
    """Run cases from number `first` on, of one reader or all, and return what happened."""
    tallies = {reader: Tally() for reader in READERS if only in (None, reader)}
    number = first
    with unseen():
        datasets.config.HF_DATASETS_CACHE = inputs.cache
        while sum(tally.cases for tally in tallies.values()) < cases:
            reader = TURNS[number % len(TURNS)]
            if reader in tallies:
                run_case(inputs, tallies[reader], reader, seed, number)
            number += 1
    return tallies


def main() -> int:
    """Run the cases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=READERS)
    parser.add_argument("--case", type=int, help="run this one alone, and show where it fails")
    asked = parser.parse_args()
    alone = asked.case is not None
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        with unseen():
            inputs = Inputs(Path(folder))
        cases, only = (1, None) if alone else (asked.cases, asked.only)
        tallies = fuzz(inputs, cases, asked.seed, only, asked.case or 0)
    failures = [own for tally in tallies.values() for own in tally.failures]
    rows = [trace for *_, trace in failures if alone]
    rows.append("reader       cases  refused  accepted  failures")
    for reader, own in tallies.items():
        counts = f"{own.cases:>8}{own.refused:>9}{own.accepted:>10}{len(own.failures):>10}"
        rows.append(f"{reader:<10}{counts}")
    rows += [f"case {number}: {said}" for number, said, _ in failures]
    print("\n".join(rows).encode("utf-8", "backslashreplace").decode())
    ran = sum(tally.cases for tally in tallies.values())
    return 2 if not ran else 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
