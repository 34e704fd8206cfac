#!/usr/bin/env python3
"""The golden set: what a change of the code must not change, on the embedded sample.

    scripts/snapshots.py --check tests/golden_set.json [--golden FOLDER]
    scripts/snapshots.py --write tests/golden_set.json --golden FOLDER
    scripts/snapshots.py --texts FOLDER ...    # what was printed and written, too, for `diff -r`

Commands are run and the public interface is called; nothing else is imported, so that the same
script serves both sides of a redesign. Figures are compared as numbers and prompts as bytes;
tests/messages.json has the messages of mistakes. The answers are those of a function of the prompt,
behind a server on loopback or called. With --golden, the answers and tokenizers of that folder
count too: without it those parts of the file are left alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests"))
from json_server import JsonHandler, JsonServer, serving  # noqa: E402

COMMAND = Path(sys.executable).parent / "lm-eval-longbench"
SAMPLE = ("--metadata", '{"longbench": {"data_dir": "sample"}}')
CHAT = ("--apply_chat_template",)
# The part of the model, of a run with a function, and of one of two ranks.
ANSWER = '''
import hashlib

def answer(prompt, seed=0):
    """300 characters of the prompt and a letter, chosen by the hash of prompt and seed."""
    digest = hashlib.sha256(f"{seed} {prompt}".encode()).digest()
    at = int.from_bytes(digest[:4], "big") % max(1, len(prompt) - 300)
    letter = "ABCD"[digest[4] % 4]
    some = prompt[at : at + 300].strip()
    told = f"The correct answer is ({letter})\\n[Answer]\\n{letter}\\nParagraph {digest[5]}"
    return f"{some}\\n{told}"
'''
FUNCTION = f"""{ANSWER}
import sys
import lm_eval_longbench as lb

run = lb.evaluate(
    lambda prompts: [answer(one) for one in prompts],
    ["longbench_v1_en", "longbench_v2"],
    data_dir="sample",
    name="function",
    output_path=sys.argv[1],
    log_samples=True,
)
print(run)
"""
RANK = f"""{ANSWER}
import sys
import torch
import torch.distributed as dist
import lm_eval_longbench as lb
from lm_eval.api.model import LM

rank = int(sys.argv[2])
dist.init_process_group("gloo", init_method="file://" + sys.argv[3], rank=rank, world_size=2)

class Ranks(LM):
    def __init__(self):
        super().__init__()
        self._rank, self._world_size, self._device = rank, 2, torch.device("cpu")

    def generate_until(self, requests, disable_tqdm=False):
        return [answer(one.args[0]) for one in requests]

    def loglikelihood(self, requests):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError

    def all_gather(self, tensor):
        gathered = [torch.zeros_like(tensor) for _ in range(2)]
        dist.all_gather(gathered, tensor)
        return torch.stack(gathered)

    def gather_object(self, obj, dst=0):
        gathered = [None] * 2 if rank == dst else None
        dist.gather_object(obj, gathered, dst=dst)
        return gathered

    def barrier(self):
        dist.barrier()

run = lb.evaluate(
    Ranks(), ["longbench_v1_e", "longbench_v2"], data_dir="sample", name="ranks",
    output_path=sys.argv[1], log_samples=True,
)
if rank == 0:
    print(run)
dist.destroy_process_group()
"""
PROMPTS = """
import hashlib, json, sys
import lm_eval_longbench as lb

options = json.loads(sys.argv[1])
found = {}
for task in json.loads(sys.argv[2]):
    if task.endswith("_cot_answer"):
        continue  # it embeds the answers of another run: pass two of the run `cot`
    documents = lb.load(task, data_dir="sample")
    texts = [lb.prompt(task, one, **options) for one in documents]
    whole = b"".join(len(text.encode()).to_bytes(8, "big") + text.encode() for text in texts)
    found[task] = [len(texts), hashlib.sha256(whole).hexdigest()]
print(json.dumps(found))
"""
SUITE = """\
group: my_suite
task:
  - longbench_v1_trec
  - task: longbench_v1_qasper
    generation_kwargs:
      max_gen_toks: 16
  - task: longbench_v2
    metadata:
      longbench:
        only: {difficulty: easy}
"""
# Runs by the command line: name, tasks, more arguments; {work} is a folder of the script's own.
RUNS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("v1", "longbench_v1,longbench_v1_e", CHAT),
    ("v2", "longbench_v2,longbench_v2_no_context,longbench_v2_rag", CHAT),
    ("cot", "longbench_v2_cot", CHAT),
    ("pro", "longbench_pro", CHAT),
    ("thinking", "longbench_pro_thinking_t3", CHAT),
    ("domains", "longbench_v2_domains", CHAT),
    ("predict", "longbench_v1_qasper,longbench_v2", (*CHAT, "--predict_only")),
    ("limit", "longbench_v1_e_trec,longbench_v1_en", (*CHAT, "--limit", "2")),
    ("suite", "my_suite", (*CHAT, "--include_path", "{work}/suite")),
    ("completions", "longbench_v1_code,longbench_v1_few_shot", ()),
)
API = "model=org/model,base_url={url},endpoint={endpoint},num_concurrent=4"
RUN = ("run", "--model", "longbench-api", *SAMPLE)
PARTS = ("prompts", "runs", "answers")
_NOISE = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d[-:]\d\d[-:]\d\d([.,]\d+)?"), "<moment>"),
    (re.compile(r"/[^\s\"',:|]*lm-eval-longbench-snapshot-[^/\s\"',:|]*"), "<work>"),
    (re.compile(rf"{re.escape(str(ROOT))}"), "<project>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<server>"),
    (re.compile(r"_[0-9a-f]{8}(?=\.sqlite)"), "_<model>"),
)
# Of a results file: what differs from run to run or by machine, and is no figure.
_NO_FIGURES = re.compile(
    r"date|time|git_hash|pretty_env|_version|config|task_hashes|sha256|at\b|\.runs\b|latency"
)


def clean(text: str) -> str:
    """Return a text without what changes from run to run."""
    for pattern, word in _NOISE:
        text = pattern.sub(word, text)
    return text


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float | None]]:
    """Yield each number of decoded JSON with its path; NaN, which equals nothing, as None."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from numbers(inner, f"{path}.{place}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, None if value != value else value


class _Handler(JsonHandler):
    """Of an OpenAI-compatible server that answers by `answer`."""

    def do_POST(self) -> None:
        told = self.body()
        chat = "messages" in told
        prompt = told["messages"][-1]["content"] if chat else told["prompt"]
        texts = [_answer(prompt, told.get("seed", 0) + n) for n in range(told.get("n") or 1)]
        choices = [
            {
                "index": n,
                "finish_reason": "stop",
                **({"message": {"role": "assistant", "content": text}} if chat else {"text": text}),
            }
            for n, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": len(prompt), "completion_tokens": 9, "total_tokens": 9}
        self.reply(200, {"choices": choices, "usage": usage})


_space: dict[str, Any] = {}
exec(ANSWER, _space)
_answer = _space["answer"]


class GoldenSet:
    """What is found, and the folders that it is found in."""

    def __init__(self, work: Path, texts: Path | None, golden: Path | None) -> None:
        self.work, self.texts, self.golden = work, texts, golden
        self.found: dict[str, Any] = {}
        self.environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "HF_DATASETS_CACHE": str(work / "cache"),
            "TOKENIZERS_PARALLELISM": "false",
            "COLUMNS": "200",
            "LC_ALL": "C.UTF-8",
        }

    def started(self, *arguments: object, **environment: str) -> subprocess.Popen[str]:
        """Start a program in the work folder."""
        return subprocess.Popen(
            [*map(str, arguments)],
            cwd=self.work,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ran(self, *arguments: object) -> tuple[int, str, str]:
        """Run a program; return its status, output and errors."""
        process = self.started(*arguments)
        out, errors = process.communicate()
        return process.returncode, out, errors

    def keep_text(self, name: str, text: str) -> None:
        """Write what was printed or written, for readers of a difference."""
        if self.texts is not None:
            path = self.texts / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(clean(text), encoding="utf-8")

    def keep_folder(self, name: str, folder: Path) -> None:
        """Keep all figures of a run's folder: its results files, and what `score` writes of it."""
        figures: dict[str, float | None] = {}
        for file in sorted(folder.rglob("results*.json")):
            whole = json.loads(file.read_text(encoding="utf-8"))
            figures |= dict(numbers({"results": whole["results"], "n": whole["n-samples"]}))
            self.keep_text(f"{name}/results.json", json.dumps(whole, indent=1, ensure_ascii=False))
        figures |= {f"report.{path}": own for path, own in self.scored(name, folder).items()}
        self.found[f"figures of {name}"] = figures

    def scored(self, name: str, path: Path) -> dict[str, float | None]:
        """Score a path, and return the figures of report.json."""
        output = self.work / "scored" / name
        status, out, errors = self.ran(COMMAND, "score", path, "--output", output)
        if status:
            raise SystemExit(f"score {name} ended with status {status}: {out}{errors}")
        for file in sorted(output.rglob("*.json*")):
            self.keep_text(f"{name}/score/{file.name}", file.read_text(encoding="utf-8"))
        self.keep_text(f"{name}/report.txt", self.ran(COMMAND, "report", output)[1])
        whole = json.loads((output / "report.json").read_text(encoding="utf-8"))
        return {path: own for path, own in numbers(whole["tables"]) if not _NO_FIGURES.search(path)}

    def keep_end(self, name: str, folder: Path, ended: tuple[int, str, str]) -> None:
        """Keep the status of a run, what it printed at its end, and its figures."""
        status, out, errors = ended
        self.found[f"end of {name}"] = {"status": status, "lines": clean(out).splitlines()}
        self.keep_text(f"{name}/printed.txt", f"status {status}\n{out}\n--- errors\n{errors}")
        if status:
            raise SystemExit(f"the run {name} ended with status {status}: {out}{errors}")
        self.keep_folder(name, folder)

    def prompts(self) -> None:
        """Keep the prompts of all tasks, whole, and cut by the tokenizers of the golden folder."""
        listed = json.loads(self.ran(COMMAND, "tasks", "longbench", "--json")[1])
        names = json.dumps([one["name"] for one in listed if one["kind"] == "task"])
        wanted: dict[str, dict[str, Any]] = {"prompts": {}}
        if self.golden is not None:
            for tokenizer in sorted((self.golden / "tokenizers").iterdir()):
                key = f"golden: prompts cut by {tokenizer.name}"
                wanted[key] = {"truncate_to": 500, "tokenizer": str(tokenizer)}
        for key, options in wanted.items():
            status, out, errors = self.ran(
                sys.executable, "-c", PROMPTS, json.dumps(options), names
            )
            if status:
                raise SystemExit(f"prompts: {errors}")
            self.found[key] = json.loads(out.splitlines()[-1])

    def runs(self, url: str) -> None:
        """Keep twelve runs: ten by the command line, one of a function, one of two ranks."""
        suite = self.work / "suite" / "my_suite.yaml"
        suite.parent.mkdir()
        suite.write_text(SUITE, encoding="utf-8")
        for name, tasks, more in RUNS:
            # A file's name as output path, too, and a folder of a user's own name.
            output = self.work / "runs" / name / ("my run.json" if name == "v2" else "my results")
            endpoint = "chat" if CHAT[0] in more else "completions"
            ended = self.ran(
                *(COMMAND, *RUN, "--tasks", tasks, "--output_path", output, "--log_samples"),
                *("--model_args", API.format(url=f"{url}/v1", endpoint=endpoint)),
                *(one.format(work=self.work) for one in more),
            )
            self.keep_end(name, self.work / "runs" / name, ended)
        output = self.work / "runs" / "function"
        self.keep_end("function", output, self.ran(sys.executable, "-c", FUNCTION, output))
        output = self.work / "runs" / "ranks"
        meeting = self.work / "meeting"
        ranks = [
            self.started(sys.executable, "-c", RANK, output, rank, meeting, RANK=str(rank))
            for rank in range(2)
        ]
        ends = [(*one.communicate(), one.returncode) for one in ranks]
        out, errors, _ = ends[0]
        self.keep_end("ranks", output, (max(end[2] for end in ends), out, errors))

    def answers(self) -> None:
        """Keep the scores of all answers of the golden folder, and their official figures."""
        for name, path in (
            ("v1", "longbench_v1/llama3-8b-instruct"),
            ("v1_e", "longbench_v1_e/llama2-7b-chat-4k"),
            ("v2", "longbench_v2/llama-3.1-8b-instruct.jsonl"),
        ):
            assert self.golden is not None
            self.found[f"golden: figures of {name}"] = self.scored(
                f"golden_{name}", self.golden / path
            )
            rows: dict[str, list[Any]] = {}
            samples = self.work / "scored" / f"golden_{name}" / "samples.jsonl"
            for line in samples.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                rows.setdefault(row["task"], []).append([row["id"], row["score"]])
            self.found[f"golden: scores of {name}"] = {
                task: [
                    len(own),
                    sum(score or 0 for _, score in own),
                    hashlib.sha256(json.dumps(own).encode()).hexdigest(),
                ]
                for task, own in rows.items()
            }

    def make(self, parts: Sequence[str]) -> dict[str, Any]:
        """Make the set, or some of its PARTS."""
        if "prompts" in parts:
            self.prompts()
        if "runs" in parts:
            with serving(JsonServer(_Handler)) as server:
                self.runs(server.url())
        if "answers" in parts and self.golden is not None:
            self.answers()
        return self.found


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return a line for each thing that differs or is on one side only."""
    found = []
    for part in sorted({*before, *now}):
        old, new = before.get(part, {}), now.get(part, {})
        for key in dict.fromkeys((*old, *new)):
            if old.get(key, "nothing") != new.get(key, "nothing"):
                shown = (str(side.get(key, "nothing"))[:300] for side in (old, new))
                found.append(f"{part}: {key}: " + " -> ".join(shown))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", type=Path, help="compare with this file; status 1 if it differs")
    parser.add_argument("--write", type=Path, help="write this file")
    parser.add_argument("--texts", type=Path, help="write what was printed into this folder")
    parser.add_argument("--golden", type=Path, help="folder of real answers and tokenizers")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="parts to make")
    given = parser.parse_args()
    golden = given.golden.resolve() if given.golden else None
    texts = given.texts.resolve() if given.texts else None
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-snapshot-") as work:
        now = GoldenSet(Path(work), texts, golden).make(given.only)
    if given.write:
        text = json.dumps(now, indent=0, ensure_ascii=False, sort_keys=True)
        given.write.write_text(f"{text}\n", encoding="utf-8")
    if given.check:
        before = json.loads(given.check.read_text(encoding="utf-8"))
        if golden is None or given.only != PARTS:
            before = {part: own for part, own in before.items() if part in now}
        found = differences(before, now)
        print(*found, f"{len(found)} differences in {len(before)} parts", sep="\n")
        sys.exit(bool(found))


if __name__ == "__main__":
    main()
