#!/usr/bin/env python
"""Stop `run` again and again at random moments, and count what is lost or asked twice.

    python scripts/stress_runs.py [--kills 60] [--terms 20] [--ints 20] [--seed 1] [--model NAME]

Fresh processes answer LongBench v1, chain of thought of v2, and LongBench Pro three times (the
embedded sample) from a chat server on loopback that counts what it answers. Each is stopped by
kill -9, SIGTERM or Ctrl-C after a random number of answers or seconds and started again, until all
stops are spent; a run that ends is compared with one that nothing disturbed, and begins anew.
Exit status 1 if an answer is missing, was asked twice without being in flight, or differs.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
from json_server import JsonHandler, JsonServer, serving

TASKS = "longbench_v1,longbench_v2_cot,longbench_pro"
# A reply that was sent so short a time before a kill, in seconds, was on its way.
IN_FLIGHT = 1.0
CONCURRENT = 8
LOST = ("answers missing at the end", "answers that differ", "asked again, answered before")
SIGNS = {"kill -9": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "Ctrl-C": signal.SIGINT}


class Server(JsonServer):
    def __init__(self, *, seeded):
        super().__init__(Handler)
        self.seeded = seeded  # whether the answers to one question differ by their seeds
        self.lock = threading.Lock()
        self.forget()

    def handle_error(self, request, client_address):
        """A process that is killed leaves its connections."""

    def forget(self):
        self.replies = defaultdict(list)  # when each request was answered, by its body

    @property
    def number(self):
        with self.lock:
            return sum(map(len, self.replies.values()))


class Handler(JsonHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.body()
        key = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        time.sleep(0.02 + int(key[:2], 16) / 2500)
        asked = [body["messages"], body.get("seed") if self.server.seeded else None]
        sign = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
        text = f"[Answer]\n{sign[:3]}\nThe correct answer is ({'ABCD'[int(sign[0], 16) % 4]})"
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 109}
        one = {"index": 0, "finish_reason": "stop", "message": message}
        choices = [{**one, "index": number} for number in range(body.get("n") or 1)]
        sent = self.reply(200, {"id": key, "model": "m", "choices": choices, "usage": usage})
        # Each process asks how the server is; and one that is gone got no answer.
        if sent and body["messages"][-1]["content"] != "?":
            with self.server.lock:
                self.server.replies[key].append(time.time())


def start(server, model, out, cache):
    url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    arguments = f"model=m,base_url={url},num_concurrent={CONCURRENT}"
    command = [
        *(str(Path(sys.executable).with_name("lm-eval-longbench")), "run", "--model", model),
        *("--model_args", arguments, "--apply_chat_template", "--tasks", TASKS),
        *("--metadata", json.dumps({"longbench": {"data_dir": "sample"}})),
        *("--output_path", str(out), "--log_samples"),
    ]
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(cache), "OPENAI_API_KEY": "none"}
    with Path(f"{out}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **offline})


def samples(out):
    """All answers of the one complete run in a folder."""
    found = {}
    for path in sorted(out.rglob("samples_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found[path.name.rsplit("_", 1)[0], row["doc_id"]] = row["resps"]
    return found


def stop(server, process, kind, dice):
    """Send a signal at a random moment; return when it was sent, None: the run was over."""
    if dice.random() < 0.8:
        until = server.number + dice.randrange(1, 120)
        while server.number < until and process.poll() is None:
            time.sleep(0.005)
        time.sleep(dice.random() * 0.05)
    else:
        end = time.time() + dice.random() * 15
        while time.time() < end and process.poll() is None:
            time.sleep(0.02)
    if process.poll() is not None:
        return None
    at = time.time()
    process.send_signal(SIGNS[kind])
    process.wait()
    return at


def again(server, kills):
    """How many replies came twice: those that were in flight at a kill, and the others."""
    flying = other = 0
    for times in server.replies.values():
        for early in times[:-1]:
            if any(early - IN_FLIGHT < kill < early + IN_FLIGHT for kill in kills):
                flying += 1
            else:
                other += 1
    return flying, other


def main():
    parser = argparse.ArgumentParser()
    for name, number in (("kills", 60), ("terms", 20), ("ints", 20), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--model", default="local-chat-completions")
    given = parser.parse_args()
    print(f"seed {given.seed}, model {given.model}")
    dice = random.Random(given.seed)  # noqa: S311
    kinds = dict(zip(SIGNS, (given.kills, given.terms, given.ints), strict=True))
    left = [kind for kind, number in kinds.items() for _ in range(number)]
    dice.shuffle(left)
    # longbench-api asks for several answers in one request: then a seed says nothing.
    with serving(Server(seeded=given.model != "longbench-api")) as server:
        total = stress(server, given.model, left, dice)
    for what, count in total.items():
        print(f"{count:>8}  {what}")
    sys.exit(any(total[what] for what in LOST))


def stress(server, model, left, dice):
    """Spend the stops that are left; return what is counted."""
    folder = Path(tempfile.mkdtemp(prefix="stress-runs-"))
    print(f"files: {folder}")
    process = start(server, model, folder / "whole", folder / "hf")
    assert process.wait() == 0, (folder / "whole.log").read_text()[-3000:]
    whole = samples(folder / "whole")
    total, statuses, number = Counter(), Counter(), 0
    while left:
        number += 1
        out = folder / f"run{number}"
        server.forget()
        kills, stops = [], 0
        while left:
            process = start(server, model, out, folder / "hf")
            at = stop(server, process, left[-1], dice)
            if at is None:
                break
            kind = left.pop()
            statuses[kind, process.returncode] += 1
            stops += 1
            if kind == "kill -9":  # after a signal what is in flight is waited for
                kills.append(at)
        if process.wait() != 0:
            process = start(server, model, out, folder / "hf")
            assert process.wait() == 0, Path(f"{out}.log").read_text()[-3000:]
        found = samples(out)
        flying, other = again(server, kills)
        total["runs"] += 1
        total["answers"] += sum(len(own) * len(own[0]) for own in whole.values())
        total["answers missing at the end"] += len(whole.keys() - found.keys())
        total["answers that differ"] += sum(found.get(key) != own for key, own in whole.items())
        total[f"asked again, in flight at a kill (at most {CONCURRENT} each)"] += flying
        total["asked again, answered before"] += other
        total["tracebacks of stopped runs"] += Path(f"{out}.log").read_text().count("Traceback")
        print(f"run {number}: {stops} stops, {flying} asked again in flight, {other} others")
    for (kind, status), count in sorted(statuses.items()):
        print(f"{count:>8}  {kind}, exit status {status}")
    return total


if __name__ == "__main__":
    main()
