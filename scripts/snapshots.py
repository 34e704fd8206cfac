#!/usr/bin/env python3
"""Keep what the commands print and write, to compare it before and after a change.

    scripts/snapshots.py FOLDER [--golden FOLDER]   # run everything, write FOLDER
    diff --recursive BEFORE AFTER

Only commands are run, nothing is imported: the same script serves both sides of a redesign. What
changes from run to run (dates, times, places) is replaced. With --golden, prediction files of the
official scripts are scored too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COMMAND = Path(sys.executable).parent / "lm-eval-longbench"
SAMPLE = {"data_dir": "sample"}
# Runs of the baseline on the embedded sample: name, tasks, options, more arguments.
RUNS: tuple[tuple[str, str, dict[str, Any], tuple[str, ...]], ...] = (
    ("v1", "longbench_v1,longbench_v1_e", {}, ()),
    ("v2", "longbench_v2,longbench_v2_no_context,longbench_v2_rag", {}, ()),
    ("domains", "longbench_v2_domains", {}, ("--apply_chat_template",)),
    ("cot", "longbench_v2_cot", {}, ("--apply_chat_template",)),
    ("pro", "longbench_pro", {"repeats": 1}, ("--apply_chat_template",)),
    ("pro_thinking", "longbench_pro_thinking_t3_1", {"repeats": 1, "log_prompts": "full"}, ()),
    ("predict", "longbench_v1_qasper,longbench_v2", {}, ("--predict_only",)),
    ("limit", "longbench_v1_e_trec", {}, ("--limit", "2")),
    ("only", "longbench_pro_t3", {"repeats": 1, "only": {"language": "English"}}, ()),
)
PROMPTS = (
    *("longbench_v1_narrativeqa", "longbench_v1_lcc", "longbench_v1_samsum"),
    *("longbench_v1_e_qasper", "longbench_v2", "longbench_v2_no_context", "longbench_v2_cot"),
    *("longbench_v2_rag", "longbench_v2_code_repository", "longbench_pro_t1_1"),
    *("longbench_pro_t4_2", "longbench_pro_thinking_t11_2"),
)
# Statuses of commands that a user gets wrong.
MISTAKES = (
    ("prompt", "longbench_v1_qaspr", "--index", "0"),
    ("prompt", "longbench_v1_qasper"),
    ("prompt", "longbench_v1_qasper", "--index", "99", "--data-dir", "sample"),
    ("score", "no-such-folder", "--output", "out"),
    ("report", "no-such-folder"),
    ("verify", "no-such-folder"),
    ("compare", "no-such-folder", "no-such-folder"),
    ("prepare", "v3"),
    ("lock", "--tasks", "longbench_v9"),
    ("run", "--preset", "no-such-model", "--tasks", "longbench_pro"),
    ("nonsense",),
)
_NOISE = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d[-:]\d\d[-:]\d\d([.,]\d+)?"), "<moment>"),
    (re.compile(r'(?<="at": )\d+\.\d+'), "0"),
    (re.compile(r"/[^\s\"',:|]*lm-eval-longbench-snapshot-[^/\s\"',:|]*"), "<work>"),
    (re.compile(rf"{re.escape(str(ROOT))}"), "<project>"),
)
# Keys of a results file that differ from run to run, or by machine.
_DROPPED = (
    *("date", "git_hash", "pretty_env_info", "transformers_version", "lm_eval_version"),
    *("start_time", "end_time", "total_evaluation_time_seconds", "upper_git_hash", "config"),
    *("system_instruction_sha", "eot_token_id", "max_length", "task_hashes"),
)


def clean(text: str) -> str:
    """Return a text without what changes from run to run."""
    for pattern, word in _NOISE:
        text = pattern.sub(word, text)
    return text


class Snapshots:
    """A folder of snapshots that is being made, and a work folder that is thrown away."""

    def __init__(self, target: Path, work: Path) -> None:
        self.target, self.work = target, work
        self.environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "HF_DATASETS_CACHE": str(work / "cache"),
            "TOKENIZERS_PARALLELISM": "false",
            "COLUMNS": "200",
        }

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run a command of ours in the work folder."""
        return subprocess.run(
            [str(COMMAND), *map(str, arguments)],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def keep(self, name: str, text: str) -> None:
        """Write one snapshot."""
        path = self.target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(clean(text), encoding="utf-8")

    def said(self, name: str, *arguments: object) -> None:
        """Keep status and output of a command."""
        done = self.run(*arguments)
        self.keep(name, f"status {done.returncode}\n{done.stdout}")

    def scored(self, name: str, *paths: object) -> None:
        """Score paths, and keep all files, and the report in every format."""
        output = self.work / "scored" / name
        self.said(f"score/{name}.txt", "score", *paths, "--output", output)
        for file in sorted(output.glob("*.json*")):
            text = file.read_text(encoding="utf-8")
            if name.startswith("run_"):  # logs hold the moment of each answer
                text = re.sub(r'(?<="sha256": ")[0-9a-f]{64}', "<log>", text)
            self.keep(f"score/{name}/{file.name}", text)
        for kind in ("table", "markdown", "csv", "json"):
            self.said(f"report/{name}.{kind}", "report", output, "--format", kind)
        self.said(f"report/{name}.published", "report", output, "--against", "published")
        self.said(f"verify/{name}.scored", "verify", output)

    def evaluated(
        self, name: str, tasks: str, options: dict[str, Any], more: tuple[str, ...]
    ) -> None:
        """Run tasks on the sample; keep the results file, the logs and the report at the end."""
        output = self.work / "runs" / name
        done = self.run(
            *("run", "--model", "longbench-extractive", "--tasks", tasks),
            *("--metadata", json.dumps({"longbench": {**SAMPLE, **options}})),
            *("--output_path", output, "--log_samples", *more),
        )
        report = "\n".join(
            line for line in done.stdout.splitlines() if not line.startswith("longbench-extractive")
        )
        self.keep(f"run/{name}.txt", f"status {done.returncode}\n{report}")
        for file in sorted(output.rglob("*.json*")):
            short = clean(re.sub(r"_\d{4}-\d\d-\d\dT[\d.-]+", "", file.name))
            if file.name.startswith("results"):
                whole = json.loads(file.read_text(encoding="utf-8"))
                kept = {key: value for key, value in whole.items() if key not in _DROPPED}
                self.keep(f"run/{name}/{short}", json.dumps(kept, indent=1, ensure_ascii=False))
            elif file.name.startswith("samples"):
                self.keep(f"run/{name}/{short}", file.read_text(encoding="utf-8"))
        if output.is_dir():
            self.scored(f"run_{name}", output)
            self.said(f"verify/{name}.json", "verify", output, "--json")


def make(target: Path, golden: Path | None) -> None:
    """Make all snapshots."""
    if target.exists():
        shutil.rmtree(target)
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-snapshot-") as work:
        snapshots = Snapshots(target, Path(work))
        for name, tasks, options, more in RUNS:
            snapshots.evaluated(name, tasks, options, more)
        runs, prompt = Path(work) / "runs", ("prompt", "--index", 0, "--data-dir", "sample")
        snapshots.said("compare/v1_v1.txt", "compare", runs / "v1", runs / "v1")
        snapshots.said("compare/v1_limit.txt", "compare", runs / "v1", runs / "limit")
        snapshots.said("compare/v2_domains.txt", "compare", runs / "v2", runs / "domains")
        for task in PROMPTS:
            snapshots.said(f"prompt/{task}.txt", *prompt, task)
        if golden is not None:
            for name, path in (
                ("v1", golden / "longbench_v1" / "llama3-8b-instruct"),
                ("v1_e", golden / "longbench_v1_e" / "llama2-7b-chat-4k"),
                ("v2", golden / "longbench_v2" / "llama-3.1-8b-instruct.jsonl"),
            ):
                snapshots.scored(f"golden_{name}", path)
            cut = ("--truncate-to", 500, "--tokenizer", golden / "tokenizers" / "bos")
            for task in PROMPTS:
                snapshots.said(f"cut/{task}.txt", *prompt, task, *cut)
        options = json.dumps({"longbench": {**SAMPLE, "truncate_to": 3500}})
        snapshots.said("lock/said.txt", "lock", "--metadata", options, "--output", "a.lock")
        snapshots.keep("lock/a.lock", (Path(work) / "a.lock").read_text(encoding="utf-8"))
        for arguments in MISTAKES:
            done = snapshots.run(*arguments)
            snapshots.keep(f"status/{'_'.join(arguments)[:80]}.txt", f"status {done.returncode}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--golden", type=Path)
    given = parser.parse_args()
    make(given.folder, given.golden.resolve() if given.golden else None)


if __name__ == "__main__":
    main()
