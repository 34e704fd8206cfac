#!/usr/bin/env python3
"""Run damaged inputs through every reader: score, report, verify, compare, lock, prepare.

Usage: fuzz.py [--cases 10000] [--seed 0] [--only READER] [--case NUMBER]

Sound inputs are made first: runs of the embedded baseline on the embedded sample, files in the
formats of the official scripts, scored folders, a lock file, options, and data. Each case writes
one of them with some damage to its bytes, its JSON, its lines or its files, and reads it as the
command does. A case fails on

- an exception that is not a LongBenchError, which the command line turns into one line,
- a lost row: of what was accepted, every line is a sample or named as a problem,
- a score outside [0, 1], a figure outside its range, or one that is not finite,
- damage that `verify` confirms or a lock file lets pass, where it is in figures, rows or hashes.

A case follows from the seed and its number alone, so that --case repeats it. Prints cases, refused
and accepted by reader, and every failure. Exit status 0 without a failure, 1 with one, 2 if
nothing was run.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import logging
import math
import random
import shutil
import sys
import tempfile
import time
import traceback
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import datasets
import yaml

from lm_eval_longbench import once
from lm_eval_longbench.benchmarks.longbench_pro import PRO
from lm_eval_longbench.benchmarks.longbench_v1 import V1, E
from lm_eval_longbench.benchmarks.longbench_v2 import V2
from lm_eval_longbench.cli.compare import differences_table, figures_table, notes
from lm_eval_longbench.cli.lock import read_metadata
from lm_eval_longbench.cli.prepare import prepared_table
from lm_eval_longbench.cli.report import report_text
from lm_eval_longbench.cli.score import notes_of, tables_of, warnings_of
from lm_eval_longbench.cli.verify import (
    different_lines,
    kinds_table,
    not_checkable_lines,
    summary_line,
)
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.harness.command import run_harness
from lm_eval_longbench.lock.check import check_locked, require_lock
from lm_eval_longbench.lock.lock import lock_now, lock_text, read_lock
from lm_eval_longbench.logs.sample_log import responses_of
from lm_eval_longbench.options import KEY, Options
from lm_eval_longbench.reports.render import FORMATS
from lm_eval_longbench.scoring.files import LOG
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.signature.compare import CARE, COMPARABLE, NOT
from lm_eval_longbench.terminal import say_table
from lm_eval_longbench.verify.check import STATUSES
from lm_eval_longbench.verify.compare import compare_results
from lm_eval_longbench.verify.verify import verify

Files = dict[str, bytes]  # by path within a folder
RUNS = {
    "v1": "longbench_v1_code,longbench_v1_gov_report,longbench_v1_dureader",
    "v1_e": "longbench_v1_e_trec,longbench_v1_e_passage_count",
    "v2": "longbench_v2_code_repository,longbench_v2_cot,longbench_v2_rag",
    "pro": "longbench_pro_t1_1,longbench_pro_t2_2,longbench_pro_t4_1",
}
LOCKED = ["longbench_v1_lcc", "longbench_v1_e_trec", "longbench_v2", "longbench_pro_t3_1"]
# JSON texts that stand for a value. The last ones are not JSON, or hardly.
ODD = [
    *("null", "true", "false", "0", "-1", "1", "2", "7", "0.5", "1.5", "-0.0", "1e308", "1e-320"),
    *("NaN", "Infinity", "-Infinity", "1e999", "9" * 30, "-" + "9" * 400, "1" * 5000, str(2**63)),
    *('""', '"x"', '"B"', '" "', '"\\ud800"', '"\\u0000"', '"\\u001b[2J"', '"../../etc"', '"NaN"'),
    *('"[Answer]\\nB"', '"<think>hm</think>B"', '"<think>so"', '"' + "a" * 5000 + '"', '"汉字"'),
    *("[]", "{}", "[[]]", "[null]", '["x"]', '{"a": 1}', '{"": null}', '[1, "x"]', '[[["B"]]]'),
    *('{"a": 1, "a": 2}', "[" * 300 + "]" * 300, '{"a":' * 50 + "1" + "}" * 50, "[" * 100_000),
    *('"longbench_v1_qasper"', '"longbench_v2"', '"longbench_v9"', '"longbench_pro_t1_1"'),
    *('"sample"', '"none"', '"mean"', '"raw"', '"skip"', '"drop"', '"keep"', "'", "@", "tru"),
]
MARK = "\u2042odd\u2042"  # stands in decoded JSON for a text of ODD that is put in afterwards
YAML_ODD = [*(b"&a [*a]", b"!!python/object:os.system x", b"2001-01-01", b"yes", b"? [1]", b"\t")]


class Wrong(Exception):
    """What a reader accepted or said, and should not have."""


# ---------------------------------------------------------------------- damage


def places(value: Any) -> list[Any]:
    """Return every object and list in decoded JSON that is not empty."""
    waiting, found = [value], []
    while waiting:
        own = waiting.pop()
        if isinstance(own, dict | list) and own:
            found.append(own)
            waiting += own.values() if isinstance(own, dict) else own
    return found


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
    value = MARK if rng.random() < 0.02 else value
    made = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    mark = json.dumps(MARK, ensure_ascii=made.isascii())
    while mark in made:
        made = made.replace(mark, rng.choice(ODD), 1)
    if rng.random() < 0.03:  # a key twice
        made = made.replace("{", rng.choice(('{"score": 2, ', '{"": 1, "": 2, ')), 1)
    return made


def damaged_bytes(raw: bytes, rng: random.Random) -> bytes:
    """Cut, flip, insert, drop or double some bytes."""
    at, length = rng.randrange(len(raw) + 1), rng.randrange(1, 40)
    some = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 4)))
    return rng.choice(
        (
            raw[:at],
            raw[:at] + some + raw[at + len(some) :],
            raw[:at] + some + raw[at:],
            raw[:at] + raw[at + length :],
            raw[: at + length] + raw[at:],
            raw[:at] + rng.choice((b"\n", b"\0", b"\r", b"\xef\xbb\xbf", b'"', b"]")) + raw[at:],
        )
    )


def damaged_lines(raw: bytes, rng: random.Random) -> bytes:
    """Double, swap, drop or blank lines, or end them otherwise."""
    rows = raw.split(b"\n")
    one, other = rng.randrange(len(rows)), rng.randrange(len(rows))
    how = rng.randrange(6)
    if how == 0:
        rows.insert(other, rows[one])
    elif how == 1:
        rows[one], rows[other] = rows[other], rows[one]
    elif how == 2:
        del rows[one]
    elif how == 3:
        rows[one] = rng.choice((b"", b" \t", b"{}", b"null", b"{", b'"x"', b"[]", b"\xff"))
    return (b"\r\n" if how == 4 else b"\r" if how == 5 else b"\n").join(rows)


def damaged(name: str, raw: bytes, rng: random.Random) -> bytes:
    """Return a file's bytes with some damage of one kind."""
    how = rng.random()
    if how < 0.03:
        return rng.choice(
            (b"", b"\n", b"\0" * 9, b"\x1f\x8b" + raw, b"\xff\xfe" + raw, b"[", b"{}")
        )
    if how < 0.15:
        return damaged_bytes(raw, rng)
    if how < 0.25 and (name.endswith(("jsonl", "lock"))):
        return damaged_lines(raw, rng)
    if how < 0.30:
        packed = gzip.compress(raw, mtime=0)
        return packed if rng.random() < 0.3 else damaged_bytes(packed, rng)
    if name.endswith("lock"):
        if rng.random() < 0.3:
            rows = raw.split(b"\n")
            at = rng.randrange(3, len(rows))
            odd = rng.choice((*YAML_ODD, rng.choice(ODD).encode()))
            rows[at] = rows[at].partition(b":")[0] + b": " + odd
            return b"\n".join(rows)
        return damaged_json(json.dumps(yaml.safe_load(raw)), rng).encode()
    if not name.endswith("jsonl"):
        return damaged_json(raw.decode(), rng).encode("utf-8", "surrogatepass")
    rows = raw.decode().split("\n")
    full = [number for number, row in enumerate(rows) if row]
    for number in rng.sample(full, min(len(full), rng.choice((1, 1, 3)))):
        rows[number] = damaged_json(rows[number], rng)
    return "\n".join(rows).encode("utf-8", "surrogatepass")


def damaged_files(files: Files, rng: random.Random) -> Files:
    """Return some files with damage to one or two of them; now and then one is gone."""
    made = dict(files)
    for _ in range(rng.choice((1, 1, 1, 2))):
        name = rng.choice(sorted(made) or [""])
        if rng.random() < 0.03:
            made.pop(name, None)
        elif name:
            with contextlib.suppress(ValueError, RecursionError):  # it is too odd already
                made[name] = damaged(name, made[name], rng)
    return made


def packed_files(files: Files, rng: random.Random) -> Files:
    """Return the files with some of the JSON Lines compressed, as users keep them."""
    return {
        name + ".gz" * (packed := name.endswith("jsonl") and rng.random() < 0.15): (
            gzip.compress(raw, mtime=0) if packed else raw
        )
        for name, raw in files.items()
    }


def write(folder: Path, files: Files) -> Path:
    """Write files anew into a folder and return it."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, raw in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def read(folder: Path) -> Files:
    """Return the files of a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def text_lines(raw: bytes) -> tuple[list[tuple[int, bytes]], bool]:
    """Return number and text of the lines that are not blank, and whether the whole was readable.

    Of damaged gzip data these are the whole lines before the damage.
    """
    text, sound = raw, True
    if raw[:2] == b"\x1f\x8b":
        try:
            text = gzip.decompress(raw)
        except (OSError, EOFError, zlib.error):
            text, sound, decoder = b"", False, zlib.decompressobj(31)
            with contextlib.suppress(zlib.error):
                for at in range(len(raw)):  # one by one, so that all before the damage is there
                    text += decoder.decompress(raw[at : at + 1])
            text = text[: text.rfind(b"\n") + 1]
    rows = enumerate(text.split(b"\n"), start=1)
    return [(number, row) for number, row in rows if row and not row.isspace()], sound


# ---------------------------------------------------------------------- sound inputs


def _official(run: Mapping[str, list[dict[str, Any]]]) -> Iterator[tuple[str, list[Any]]]:
    """Yield name and rows of the files that official scripts would write of a run's answers."""
    for task, rows in run.items():
        docs = [row["doc"] for row in rows]
        texts = [row["resps"][0] for row in rows]
        if task.startswith("longbench_v1"):
            names = ("answers", "all_classes", "length")
            part = "pred_e" if "_v1_e_" in task else "pred"
            made = [
                {"pred": text[0], **{name: doc[name] for name in names}}
                for doc, text in zip(docs, texts, strict=True)
            ]
            yield f"{part}/m/{docs[0]['dataset'].removesuffix('_e')}.jsonl", made
        elif task == "longbench_v2_code_repository":
            kept = [{name: doc[name] for name in doc if name != "prompt"} for doc in docs]
            made = [{**doc, "response": "The correct answer is (B)", "pred": "B"} for doc in kept]
            yield "m.jsonl", made
        elif task.startswith("longbench_pro"):
            made = [
                {**doc, "prediction": text, "bon_idx": number}
                for doc, own in zip(docs, texts, strict=True)
                for number, text in enumerate(own, start=1)
            ]
            yield f"{task}_nonthinking_inference_1-of-1.jsonl", made


def _jsonl(rows: list[Any]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


class Inputs:
    """Sound inputs, made with the package itself in a folder of their own."""

    def __init__(self, root: Path) -> None:
        self.work = root / "work"
        self.cache = str(root / "cache")
        datasets.config.HF_DATASETS_CACHE = self.cache
        self.raw: list[Files] = []  # what `score` reads
        self.results: list[Files] = []  # what `verify` and `compare` read
        self.scored: list[Files] = []  # what `report` reads
        for name, tasks in RUNS.items():
            run_harness(
                [
                    *("--model", "longbench-extractive", "--tasks", tasks, "--limit", "2"),
                    *("--metadata", json.dumps({KEY: {"data_dir": "sample"}}), "--log_samples"),
                    *("--output_path", str(root / name)),
                ]
            )
            (results,) = (root / name).rglob("results_*.json")
            logs = {
                path.name.removeprefix("samples_").rpartition("_")[0]: [
                    json.loads(line) for line in path.read_bytes().splitlines()
                ]
                for path in sorted(results.parent.glob("samples_*.jsonl"))
            }
            official = {file: _jsonl(rows) for file, rows in _official(logs)}
            for files in (read(results.parent), official):
                self.raw.append(files)
                score_paths([write(self.work, files)], root / "scored", workers=1)
                self.scored.append(read(root / "scored"))
            self.results += [self.raw[-2], *self.scored[-2:]]
        self.lock = lock_text(lock_now(LOCKED, Options(data_dir="sample")))
        self.options = {
            **{"truncate_to": 31500, "overlength": "skip", "log_prompts": "full", "repeats": 2},
            **{"tokenizer": "t", "reasoning": "keep", "thinking": False, "rag_top_n": 3},
            **{"only": {"language": "English", "token_length": ["8k"]}, "data_dir": "sample"},
            **{"embedding_model": "m", "embedding_url": "http://localhost:9/v1"},
            **{"preset": None, "cot_samples": "c", "retrieved_context": None},
        }
        self.v1 = {}
        for split in (*V1.tasks.values(), *E.tasks.values()):
            if split.dataset in ("lcc", "trec_e", "vcsum"):
                rows = list(V1.load(split, "sample").rows)[:3]
                short = [{**row, "context": row["context"][:300]} for row in rows]
                self.v1[f"data/{split.dataset}.jsonl"] = _jsonl(short)
        self.arrays = {}
        for own in (V2, PRO):
            rows = json.loads((own.samples / own.source.file).read_bytes())[:6]
            short = [{**row, "context": row["context"][:300]} for row in rows]
            name = own.source.file
            self.arrays[name] = json.dumps(short, ensure_ascii=False, indent=1).encode()


# ---------------------------------------------------------------------- what must hold


def _constant(name: str) -> float:
    raise Wrong(f"{name} in JSON that we wrote")


def strict_json(text: str | bytes) -> Any:
    """Decode JSON of ours, in which no figure may be NaN or infinite."""
    return json.loads(text, parse_constant=_constant)


def within(value: Any, most: float, where: str, least: float = 0) -> None:
    """Fail unless a value is None or a finite number between two bounds."""
    if value is not None and (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not least <= value <= most  # which NaN never is
        or value == math.inf
    ):
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
    elif isinstance(value, float):
        within(value, 100, where)
    elif isinstance(value, int) and not isinstance(value, bool):
        within(value, math.inf, where)


def answers_of(row: Any, is_log: bool) -> int:
    """Return how many answers an accepted row holds; one at least."""
    if not is_log:
        return 1
    return max(1, len(responses_of(row) or ()))


def check_rows(folder: Path, report: Mapping[str, Any], samples: int) -> None:
    """Fail unless every line of every file is a sample or named as a problem."""
    problems = report["problems"]
    entries = {kind: problems[kind] for kind in ("malformed", "foreign", "duplicate")}
    for kind, own in entries.items():
        if len(own) != min(problems[f"{kind}_total"], 100):
            raise Wrong(f"{problems[f'{kind}_total']} rows are {kind}, {len(own)} are named")
    conflicts = [own for own in entries["foreign"] if "has other gold answers" in own["reason"]]
    bad = {
        (own["file"], own["line"])
        for own in (*entries["malformed"], *entries["foreign"])
        if own not in conflicts
    }
    left_out = {own["file"] for kind in entries for own in entries[kind] if own["line"] is None}
    inputs = {own["name"]: own for own in report["inputs"]}
    expected, certain = 0, True
    for path in sorted(folder.rglob("*.jsonl*")):
        name = path.relative_to(folder.parent).as_posix()
        if name not in inputs:
            if name not in left_out and not path.name.startswith("reasoning_"):
                raise Wrong(f"nothing is said of the file {name}")
            continue
        rows, sound = text_lines(path.read_bytes())
        found = inputs[name]["rows"]
        if found != len(rows) and (sound or found < len(rows)):
            raise Wrong(f"{name} has {len(rows)} lines, and {found} were read")
        certain = certain and sound
        is_log = inputs[name]["kind"] == LOG
        expected += sum(
            answers_of(json.loads(row), is_log) for number, row in rows if (name, number) not in bad
        )
    told = samples + len(conflicts) + sum(own["line"] is not None for own in entries["duplicate"])
    if told != expected and (certain or told < expected):
        raise Wrong(f"the lines hold {expected} answers, and {told} are samples or named")


# ---------------------------------------------------------------------- the readers


def try_score(inputs: Inputs, rng: random.Random) -> bool:
    """Score raw predictions."""
    files = packed_files(damaged_files(rng.choice(inputs.raw), rng), rng)
    folder = write(inputs.work / "in", files)
    output = inputs.work.with_name("output")
    shutil.rmtree(output, ignore_errors=True)
    report = score_paths(
        [folder],
        output,
        reasoning=rng.choice((None, None, "drop", "keep")),
        rouge_google=rng.random() < 0.2,
        workers=1,
    )
    lines = [strict_json(line) for line in (output / "samples.jsonl").read_bytes().splitlines()]
    for value in (lines, strict_json((output / "scores.json").read_bytes())):
        check_numbers(value, "written")
    if strict_json((output / "report.json").read_bytes()) != json.loads(json.dumps(report)):
        raise Wrong("report.json is not what was returned")
    check_numbers(report)
    check_rows(folder, report, len(lines))
    [*warnings_of(report), *notes_of(report)]
    for table in tables_of(report):
        say_table(table)
    return True


def try_report(inputs: Inputs, rng: random.Random) -> bool:
    """Report on a scored folder, alone or beside a sound one."""
    folder = write(inputs.work / "a", damaged_files(rng.choice(inputs.scored), rng))
    paths = [folder]
    if rng.random() < 0.3:
        paths.append(write(inputs.work / "b", rng.choice(inputs.scored)))
    against = rng.choice((None, "published"))
    found = strict_json(report_text(paths, "json", against=against))
    if rng.random() < 0.3:
        report_text(paths, rng.choice(FORMATS), against=against, width=rng.choice((None, 80)))
    for benchmark in found["benchmarks"]:
        for column in benchmark["columns"]:
            for name, number in column["counts"].items():
                within(number, math.inf, f"counts.{name}")
        for row in benchmark["figures"]:
            most = {"percent": 100, "share": 1}.get(row["unit"], math.inf)
            for figure in filter(None, row["figures"]):
                for name in ("value", "low", "high"):
                    within(figure[name], most, f"{row['name']}.{name}", -1)
                within(figure["n"], math.inf, f"{row['name']}.n")
            for difference in filter(None, row["differences"]):
                within(difference["value"], most, f"{row['name']} difference", -most)
                within(difference["p_value"], 1, f"{row['name']}.p_value")
    if folder.joinpath("samples.jsonl").is_file():
        lines, _ = text_lines(folder.joinpath("samples.jsonl").read_bytes())
        columns = [own for each in found["benchmarks"] for own in each["columns"]]
        told = sum(own["counts"]["samples"] for own in columns if own["run"].split("/")[-1] == "a")
        if told != len(lines):
            raise Wrong(f"samples.jsonl has {len(lines)} lines, the report counts {told}")
    return True


def figures_in(files: Files) -> list[Any]:
    """Return the figures that results files state, and the number of rows in each other file."""
    told: list[Any] = []
    for name, raw in sorted(files.items()):
        if name.endswith("jsonl"):
            told.append(len(text_lines(raw)[0]))
        elif "results_" in name:
            told.append(
                json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)["results"]
            )
    return told


def try_verify(inputs: Inputs, rng: random.Random) -> bool:
    """Verify a run folder or a scored folder."""
    sound = rng.choice(inputs.results)
    files = damaged_files(sound, rng)
    report = verify([write(inputs.work / "a", files)])
    strict_json(json.dumps(report.as_json(), allow_nan=False))
    say_table(kinds_table(report))
    [*different_lines(report), *not_checkable_lines(report), summary_line(report)]
    if report.exit_status not in (0, 1, 2, 3) or set(report.counts) != set(STATUSES):
        raise Wrong(f"exit status {report.exit_status}, counts {report.counts}")
    if report.exit_status == 0 and figures_in(files) != figures_in(sound):
        raise Wrong("other figures or rows are confirmed")
    return report.exit_status in (0, 3)


def try_compare(inputs: Inputs, rng: random.Random) -> bool:
    """Compare a damaged result with a sound one."""
    number = rng.randrange(len(inputs.results))
    folder = write(inputs.work / "a", damaged_files(inputs.results[number], rng))
    other = number if rng.random() < 0.7 else rng.randrange(len(inputs.results))
    pair = [folder, write(inputs.work / "b", inputs.results[other])]
    compared = compare_results(*pair[:: rng.choice((1, -1))])
    if compared.verdict not in (COMPARABLE, CARE, NOT):
        raise Wrong(f"verdict {compared.verdict!r}")
    table = differences_table(compared)
    for each in filter(None, (table, *(figures_table(compared, refused=own) for own in (0, 1)))):
        say_table(each)
    list(notes(compared))
    for task in compared.tasks:
        for name, *values in task.figures:
            for value in values:
                # The harness writes NaN, "N/A" or "bypass" where there is no figure.
                if name != "bypass" and value == value and value != "N/A":
                    within(value, 1, f"{task.task} {name}")
    return True


def holds(locked: Any, sound: Any) -> bool:
    """Return whether a value has all that a sound one has; what no task needs may be there too."""
    if isinstance(sound, dict):
        return all(name in locked and holds(locked[name], sound[name]) for name in sound)
    return bool(locked == sound)


def try_lock(inputs: Inputs, rng: random.Random) -> bool:
    """Hold a run to a damaged lock file, or freeze damaged options and read the lock again."""
    path = inputs.work / "x.lock"
    if rng.random() < 0.6:
        write(inputs.work, {"x.lock": damaged("lock", inputs.lock.encode(), rng)})
        lock = read_lock(path)
        require_lock(path, LOCKED, rng.choice((None, Options(data_dir="sample"))))
        sound = yaml.safe_load(inputs.lock)
        for section in ("data", "metrics", "packages", "tasks", "templates"):
            if not holds(getattr(lock, section), sound[section]):
                raise Wrong(f"a run is let pass though {section} differs: {lock}")
        return True
    text = damaged_json(json.dumps({KEY: inputs.options}), rng)
    options = Options.from_metadata(read_metadata(text))
    tasks = rng.choice((LOCKED, LOCKED[:1], ["longbench_v2_rag"]))
    lock = lock_now(tasks, options)
    write(inputs.work, {"x.lock": lock_text(lock).encode("utf-8")})
    if read_lock(path) != lock and json.dumps(vars(read_lock(path))) != json.dumps(vars(lock)):
        raise Wrong(f"the lock was {lock}, and is read as {read_lock(path)}")
    check_locked(path, tasks, options)
    return True


def _loaded(place: Path) -> dict[str, list[str]]:
    """Return the ids of the documents of each dataset that is in some data."""
    if place.name in (V2.source.file, PRO.source.file):
        if place.name == V2.source.file:
            loaded = [V2.load(V2.tasks["longbench_v2"], str(place))]
            ids = "_id"
        else:
            raw = place.read_bytes() if place.is_file() else b""
            tasks = list(PRO.tables["longbench_pro"].tasks.values())
            tasks = [task for task in tasks if b'"%s"' % task.label.encode() in raw] or tasks[:1]
            loaded = [PRO.load(task, str(place)) for task in tasks]
            ids = "id"
        say_table(prepared_table("", [("x", 1, documents) for documents in loaded]))
        return {place.name: [name for own in loaded for name in own.rows[ids]]}
    wanted = [
        split
        for split in (*V1.tasks.values(), *E.tasks.values())
        if split.dataset in ("lcc", "trec_e", "vcsum")
    ]
    return {
        f"data/{split.dataset}.jsonl": list(V1.load(split, str(place)).rows["_id"])
        for split in wanted
    }


def try_prepare(inputs: Inputs, rng: random.Random) -> bool:
    """Load damaged data, and load it again from a damaged cache."""
    datasets.config.HF_DATASETS_CACHE = str(inputs.work / "cache")
    try:
        return _prepare(inputs, rng)
    finally:
        datasets.config.HF_DATASETS_CACHE = inputs.cache


def _prepare(inputs: Inputs, rng: random.Random) -> bool:
    name = rng.choice(("folder", "data.zip", *inputs.arrays))
    damage = (lambda files, rng: dict(files)) if rng.random() < 0.3 else damaged_files
    if name in inputs.arrays:
        files = damage({name: inputs.arrays[name]}, rng)
        place = write(inputs.work, files) / name
    else:
        files = damage(inputs.v1, rng)
        place = write(inputs.work, files)
        if name == "data.zip":
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                for member, raw in files.items():
                    archive.writestr(zipfile.ZipInfo(member), raw)
            raw = packed.getvalue()
            raw = damaged_bytes(raw, rng) if rng.random() < 0.4 else raw
            place = write(inputs.work, {name: raw}) / name
    found = _loaded(place)
    for name, ids in found.items():
        if name in inputs.arrays:
            rows = json.loads(files[name].decode("utf-8-sig"))
        else:
            rows = [json.loads(row) for _, row in text_lines(files[name])[0]]
        if sorted(ids) != sorted(row.get("_id", row.get("id")) for row in rows):
            raise Wrong(f"of {len(rows)} rows of {name} other documents were loaded: {ids}")
    cached = [path for path in (inputs.work / "cache").rglob("*") if path.is_file()]
    path = rng.choice(sorted(cached))
    raw = path.read_bytes()
    path.unlink()  # a mapped file must not change in place
    path.write_bytes(damaged_bytes(raw, rng))
    if _loaded(place) != found:
        raise Wrong(f"with damage to {path.name} in the cache other documents were loaded")
    return True


READERS: dict[str, Callable[[Inputs, random.Random], bool]] = {
    "score": try_score,
    "report": try_report,
    "verify": try_verify,
    "compare": try_compare,
    "lock": try_lock,
    "prepare": try_prepare,
}
# Which reader a case is for follows from its number; most of them are for what people pay for.
TURNS = ("score", "report", "score", "verify", "score", "lock", "score", "compare", "prepare")


# ---------------------------------------------------------------------- the run


@dataclass
class Tally:
    """What happened to the cases of one reader.

    Attributes:
        refused, accepted: cases without a failure.
        failures: number of the case, what went wrong, and the traceback.
        slowest: seconds, and number of the case.
    """

    refused: int = 0
    accepted: int = 0
    failures: list[tuple[int, str, str]] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, 0)

    @property
    def cases(self) -> int:
        """All of them."""
        return self.refused + self.accepted + len(self.failures)


@contextlib.contextmanager
def unseen() -> Iterator[None]:
    """Drop what is printed and logged, but encode it as a terminal would need it."""
    level, cache = logging.root.manager.disable, datasets.config.HF_DATASETS_CACHE
    logging.disable(logging.CRITICAL)
    try:
        with (
            io.TextIOWrapper(io.BytesIO(), "utf-8") as out,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
        ):
            yield
    finally:
        logging.disable(level)
        datasets.config.HF_DATASETS_CACHE = cache


def run_case(inputs: Inputs, tally: Tally, reader: str, seed: int, number: int) -> None:
    """Run one case and count what happens."""
    start = time.perf_counter()
    once.forget()
    try:
        if READERS[reader](inputs, random.Random(f"{seed} {number}")):  # noqa: S311
            tally.accepted += 1
        else:
            tally.refused += 1
    except LongBenchError:
        tally.refused += 1
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "lm_eval_longbench" in frame.filename] or frames
        frame = frames[-1] if isinstance(error, Wrong) else ours[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        said = f"{reader}: {type(error).__name__} at {where}: {str(error)[:300]}"
        tally.failures.append((number, said, traceback.format_exc()))
    tally.slowest = max(tally.slowest, (time.perf_counter() - start, number))


def fuzz(
    inputs: Inputs, cases: int, seed: int = 0, only: str | None = None, first: int = 0
) -> dict[str, Tally]:
    """Run cases and return what happened by reader.

    Args:
        inputs: sound ones.
        cases: how many to run.
        seed: of all random choices, with the number of a case.
        only: a reader; None: all.
        first: number of the first case.
    """
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


def table_of(tallies: Mapping[str, Tally]) -> str:
    """Lay out what happened, the failures last."""
    rows = [
        f"{'reader':<10}{'cases':>8}{'refused':>9}{'accepted':>10}{'failures':>10}{'slowest':>10}"
    ]
    for reader, own in tallies.items():
        counts = f"{own.cases:>8}{own.refused:>9}{own.accepted:>10}{len(own.failures):>10}"
        seconds, number = own.slowest
        rows.append(f"{reader:<10}{counts}{seconds:>8.2f} s, case {number}")
    rows += [
        f"case {number}: {said}" for own in tallies.values() for number, said, _ in own.failures
    ]
    return "\n".join(rows)


def main() -> int:
    """Run the cases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=READERS)
    parser.add_argument("--case", type=int, help="run this one alone, and show where it fails")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        with unseen():
            inputs = Inputs(Path(folder))
        if arguments.case is None:
            tallies = fuzz(inputs, arguments.cases, arguments.seed, arguments.only)
        else:
            tallies = fuzz(inputs, 1, arguments.seed, first=arguments.case)
            for trace in (own[2] for tally in tallies.values() for own in tally.failures):
                print(trace.encode("utf-8", "backslashreplace").decode())
    print(table_of(tallies).encode("utf-8", "backslashreplace").decode())
    if not sum(tally.cases for tally in tallies.values()):
        return 2
    return 1 if any(tally.failures for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
