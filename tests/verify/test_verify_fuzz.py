"""Mutated results files, logs, reports and samples: every one ends in a documented status."""

import copy
import json
import random
import shutil

import pytest
from real_runs import AnsweringLM, Files, write_run
from typer import Typer
from typer.testing import CliRunner

from lm_eval_longbench.cli import compare, verify
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.verify.verify import verify as verify_results

CASES = 300
RUNS = (
    ["longbench_v1_code"],
    ["longbench_v1_e_trec"],
    ["longbench_v2_code_repository", "longbench_v2_cot", "longbench_v2_cot_answer"],
    ["longbench_pro_t3_1", "longbench_pro_t4_1"],
)
DEEP = json.loads("[" * 300 + "]" * 300)
# Values of wrong types, beyond bounds, and such as a careless writer leaves.
ODD = (
    *(None, True, False, 0, -1, 1, 10**30, -(10**19), 2.5, float("nan"), float("inf")),
    *(-float("inf"), 1e308, "", "x", "none", "\ud800", "\x00", "\x1b[2J", "../../etc", [], {}),
    *([None], [[]], {"a": 1}, {"": None}, [1, "x"], "a" * 5000, DEEP),
    *("longbench_v1_qasper", "longbench_v2_rag", "longbench_v9", "longbench_v2_code_repository"),
    *("longbench_v1", "longbench_pro", "raw", "skip", "sample-x", "mean", "def f(x): 1"),
)


def answer(number, prompt):
    texts = ("The harbor opened in spring.", "[Answer]\nB", "", "The correct answer is (C)")
    return texts[number % 4]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Small runs, and a scored folder of each."""
    found = []
    for number, tasks in enumerate(RUNS):
        run = write_run(
            tmp_path_factory.mktemp(f"run{number}"), AnsweringLM(answer), tasks, limit=2
        )
        scored = tmp_path_factory.mktemp(f"scored{number}")
        score_paths([run], scored, workers=1)
        found += [Files(run).results.parent, scored]
    return found


@pytest.fixture(scope="module")
def command():
    app = Typer()
    verify.register(app)
    compare.register(app)
    return lambda *arguments: CliRunner().invoke(app, [*map(str, arguments)])


def places(value):
    """Every object and list in decoded JSON."""
    waiting, found = [value], []
    while waiting:
        own = waiting.pop()
        if isinstance(own, dict | list):
            found.append(own)
            waiting += own.values() if isinstance(own, dict) else own
    return found


def mutate(value, rng):
    """Change a few places of decoded JSON."""
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        own = rng.choice([place for place in places(value) if place] or [None])
        if own is None:
            return copy.deepcopy(rng.choice(ODD))
        key = rng.choice(list(own) if isinstance(own, dict) else range(len(own)))
        how = rng.randrange(6)
        if how == 0:
            del own[key]
        elif how == 1 and isinstance(own, dict):
            own[rng.choice((*own, "added", ""))] = own.pop(key)
        elif how == 2:
            other = rng.choice(places(value))
            own[key] = json.loads(json.dumps(other))
        elif how == 3 and isinstance(own, list):
            own += own[: rng.randrange(3)]
        else:
            own[key] = copy.deepcopy(rng.choice(ODD))
    return copy.deepcopy(rng.choice(ODD)) if rng.random() < 0.02 else value


def damage(raw, rng):
    """Change bytes."""
    at = rng.randrange(len(raw))
    how = rng.randrange(4)
    if how == 0:
        return raw[:at]
    if how == 1:
        return raw[:at] + bytes(rng.randrange(256) for _ in range(3)) + raw[at + 3 :]
    return raw[:at] + raw[at + rng.randrange(1, 40) :] if how == 2 else b"\x1f\x8b" + raw


def mutated(path, rng):
    """Write one file of a folder anew, with a mutation."""
    raw = path.read_bytes()
    if rng.random() < 0.15:
        path.write_bytes(damage(raw, rng))
        return
    rows = [json.loads(row) for row in raw.splitlines()] if path.suffix == ".jsonl" else None
    if rows is None:
        path.write_text(json.dumps(mutate(json.loads(raw), rng)), encoding="utf-8")
        return
    for number in rng.sample(range(len(rows)), min(len(rows), rng.choice((1, 1, 3)))):
        rows[number] = mutate(rows[number], rng)
    if rng.random() < 0.1:
        rows += rows[:1]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def status_of(result):
    """The exit status of a command; `main` gives errors of ours theirs."""
    error = result.exception
    assert error is None or isinstance(error, (SystemExit, LongBenchError)), error
    return error.status if isinstance(error, LongBenchError) else result.exit_code


def test_mutations(folders, command, tmp_path):
    rng = random.Random(20_251)
    statuses = []
    for number in range(CASES):
        folder = rng.choice(folders)
        place = tmp_path / "copy"
        shutil.copytree(folder, place)
        path = rng.choice(sorted(place.glob("*.json*")))
        mutated(path, rng)
        if number % 10:  # as the command does, without its tables
            report = verify_results([place])
            json.dumps(report.as_json(), allow_nan=False)
            statuses.append(report.exit_status)
        else:
            statuses.append(status_of(command("verify", place)))
        if number % 5 == 0:
            assert status_of(command("compare", place, folder)) in (0, 1, 2)
        shutil.rmtree(place)
    # The mutations matter: every status is met, and most of them are found.
    assert set(statuses) == {0, 1, 2, 3}
    assert statuses.count(1) + statuses.count(2) > 0.6 * CASES


def test_one_bad_file_does_not_end_the_others(folders, command, tmp_path):
    """V7: it is one line, and the rest is verified."""
    for number, folder in enumerate(folders):
        shutil.copytree(folder, tmp_path / str(number))
    bad = next((tmp_path / "0").glob("results_*.json"))
    bad.write_text('{"results": {"x": 3}, "configs": {}}', encoding="utf-8")
    result = command("verify", tmp_path)
    assert result.exit_code == 2
    (said,) = [row for row in result.stderr.splitlines() if row.startswith("unreadable: ")]
    assert said == f"unreadable: {bad} is no sound results file: 'results.x' is not a JSON object."
    assert "1 unreadable: not everything could be read." in result.stdout
    assert "official figures" in result.stdout
    # What differs is graver than what cannot be read.
    other = next((tmp_path / "2").glob("results_*.json"))
    text = other.read_text(encoding="utf-8")
    other.write_text(text.replace('"sample_len": 2', '"sample_len": 4'), encoding="utf-8")
    assert command("verify", tmp_path).exit_code == 1
