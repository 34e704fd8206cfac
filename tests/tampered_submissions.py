"""Edit a copy of a real run as a cheat would, in one of many ways; the same seed, the same edit."""

import json
import random

import yaml
from real_runs import Files

from lm_eval_longbench.lock.lock import DEFAULT as LOCK


def _figure(files, chance, task):
    def edit(whole):
        own = whole["results"][task]
        name = chance.choice(sorted(n for n, v in own.items() if isinstance(v, float) and v == v))
        own[name] += chance.choice((0.001, 0.05, 0.3))

    files.edit_results(edit)


def _answer(files, chance, task):
    def edit(rows):
        row = chance.choice(rows)
        text = str(row["target"]) + chance.choice(("!", " indeed", " [Answer]"))
        row["resps"] = [[text] for _ in row["resps"]]
        row["filtered_resps"] = [text for _ in row["filtered_resps"]]
        for name in row["metrics"]:
            row[name] = 1.0

    files.edit_log(task, edit)


def _score(files, chance, task):
    def edit(rows):
        row = chance.choice(rows)
        name = chance.choice(sorted(n for n in row["metrics"] if isinstance(row[n], float)))
        row[name] = 1.0 - row[name] if row[name] in (0.0, 1.0) else row[name] / 2

    files.edit_log(task, edit)


def _gold(files, chance, task):
    def edit(rows):
        doc = chance.choice(rows)["doc"]
        key = "answers" if "answers" in doc else "answer"
        doc[key] = [chance.choice(("easy", "one word", "(A)"))]

    files.edit_log(task, edit)


def _dropped(files, chance, task):
    def edit(rows):
        rows.pop(chance.randrange(len(rows)))

    files.edit_log(task, edit)


def _copied(files, chance, task):
    files.edit_log(task, lambda rows: [*rows, chance.choice(rows)])


def _line(files, chance, task):
    line = files.run(task)["signature"]
    files.edit_run(task, signature=f"{line}{chance.choice('xyz')}")


def _ingredient(files, chance, task):
    name, value = chance.choice(
        (("limit", 31500), ("repeats", 2), ("answered", 500), ("failed", 3), ("data_sha256", "0"))
    )
    files.edit_run(task, **{name: value})


def _deleted(files, chance, task):
    files.log(task).unlink()


def _cut(files, chance, task):
    data = files.log(task).read_bytes()
    files.log(task).write_bytes(data[: chance.randrange(len(data) // 3, len(data) - 2)])


def _number(files, chance, task):
    def edit(whole):
        whole["n-samples"][task]["effective"] += chance.choice((1, 100))

    files.edit_results(edit)


def _broken(files, chance, task):
    text = files.results.read_text(encoding="utf-8")
    files.results.write_text(text[: chance.randrange(10, len(text) - 2)], encoding="utf-8")


def _scored_only(files, chance, task):
    for log in files.folder.rglob("samples_*.jsonl"):
        log.unlink()


def _lock_value(files, chance, task):
    """Another value of one line of the lock that the run's tasks have to do with."""

    def edit(lock):
        section = chance.choice(("data", "metrics", "packages", "tasks", "templates"))
        if section == "data":
            (own,) = lock["data"].values()
            own["source"] = "zai-org/LongBench@0"
        else:
            name = chance.choice(sorted(lock[section]))
            while section == "packages" and name in ("datasets", "transformers"):
                name = chance.choice(sorted(lock[section]))
            lock[section][name] = f"{lock[section][name]}0"

    _edit_lock(files, edit)


def _lock_option(files, chance, task):
    _edit_lock(files, lambda lock: lock["options"].update(truncate_to=chance.choice((500, 7500))))


def _lock_hash(files, chance, task):
    def edit(lock):
        (own,) = lock["data"].values()
        own["sha256"][chance.choice(sorted(own["sha256"]))] = "0" * 64

    _edit_lock(files, edit)


def _lock_task(files, chance, task):
    _edit_lock(files, lambda lock: lock["tasks"].pop(chance.choice(sorted(lock["tasks"]))))


def _lock_broken(files, chance, task):
    text = (files.folder / LOCK).read_text(encoding="utf-8")
    (files.folder / LOCK).write_text(text[: chance.randrange(len(text) - 70)], encoding="utf-8")


def _edit_lock(files, edit):
    path = files.folder / LOCK
    lock = yaml.safe_load(path.read_text(encoding="utf-8"))
    edit(lock)
    path.write_text(yaml.safe_dump(lock), encoding="utf-8")


WAYS = (
    *(_figure, _answer, _score, _gold, _dropped, _copied, _line),
    *(_ingredient, _deleted, _cut, _number, _broken, _scored_only),
    *(_lock_value, _lock_option, _lock_hash, _lock_task, _lock_broken),
)


def tampered(folder, target, seed):
    """Write an edited copy of a run; return the name of the way."""
    chance = random.Random(seed)
    files = Files.copy(folder, target)
    whole = json.loads(files.results.read_text(encoding="utf-8"))
    way = WAYS[seed % len(WAYS)]
    way(files, chance, chance.choice(sorted(whole["configs"])))
    return way.__name__
