"""docs/new-benchmark.md adds a benchmark in a package of its own: its files and commands work.

The files are written as the page has them, into a folder that looks as an installed package does to
Python: metadata with the entry point beside it on the path. The commands run in their order, each a
process, all but pip's; most share their imports.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from processes import words_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest needs it there

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "new-benchmark.md").read_text(encoding="utf-8")
MODULE = "lm_eval_numbers/__init__.py"


def files():
    """The files of the page, by path."""
    found = re.findall(r"^`([^`\n]+)`\n\n```\w+\n(.*?)^```$", PAGE, re.DOTALL | re.M)
    return dict(found)


def commands():
    """The commands of the page in their order."""
    blocks = re.findall(r"^```bash\n(.*?)^```$", PAGE, re.DOTALL | re.M)
    return [line for block in blocks for line in block.splitlines()]


def install(folder):
    """Write the files, and what pip would make of pyproject.toml."""
    for name, text in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    project = tomllib.loads(files()["pyproject.toml"])["project"]
    name, version = project["name"], project["version"]
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


# Commands that nothing else here starts as an installed script.
INSTALLED = ("prepare", "report", "verify", "lock", "compare")


@pytest.fixture
def process(processes, tmp_path):
    """Run a line as a shell does, in the folder with the package."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_CACHE": str(tmp_path / "cache"),
        "COLUMNS": "200",
    }

    def process(line):
        name, command = line.split()[:2]
        if name in ("lm-eval-longbench", "python") and command not in INSTALLED:
            (words,) = words_of(line)
            return processes.run(*words, cwd=tmp_path, env=environment)
        return subprocess.run(
            ["bash", "-c", line],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return process


def closeness(answer, gold):
    """The metric of the page, said once more."""
    numbers = re.findall(r"-?[0-9]+(?:[.][0-9]+)?", answer)
    return max(0.0, 1.0 - abs(float(numbers[0]) - gold) / abs(gold)) if numbers else 0.0


def mean(values):
    return sum(values) / len(values)


def expected_of(log):
    """The figures of the page's benchmark from a sample log, and its answers."""
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    worth = [
        (row["doc"]["kind"], closeness(row["resps"][0][0], float(row["doc"]["answers"][0])))
        for row in rows
    ]
    assert len(worth) == 12
    return {
        "closeness": mean([own for _, own in worth]),
        "closeness_price": mean([own for kind, own in worth if kind == "price"]),
        "closeness_count": mean([own for kind, own in worth if kind == "count"]),
        "exact": mean([own == 1 for _, own in worth]),
    }


def only_file(folder, pattern):
    (found,) = folder.rglob(pattern)
    return found


def figures_in(results):
    """The figures of the task that a results file states."""
    stated = json.loads(results.read_text(encoding="utf-8"))["results"]["numbers"]
    return {name.removesuffix(",none"): value for name, value in stated.items()}


def test_the_page_has_a_whole_package():
    assert list(files()) == [
        "pyproject.toml",
        "lm_eval_numbers/tasks/numbers.yaml",
        MODULE,
        "lm_eval_numbers/sample/numbers.jsonl",
        "predictions/model.jsonl",
    ]
    assert len(files()["lm_eval_numbers/sample/numbers.jsonl"].splitlines()) == 12
    # A benchmark is one short module: what all of them would repeat has a default.
    assert len(files()[MODULE].splitlines()) <= 110
    told = " ".join(commands())
    for name in ("prompt", "run", "score", "report", "verify", "compare", "lock", "doctor"):
        assert f"lm-eval-longbench {name} " in told


def test_the_page_works_as_it_stands(tmp_path, process):
    install(tmp_path)
    assert [line for line in commands() if " pip " in line] == ["python -m pip install -e ."]
    done = {}
    for line in commands():
        if " pip " not in line:
            own = done[line] = process(line)
            assert own.returncode == 0, f"{line}\n{own.stdout}{own.stderr}"

    def said(start):
        (own,) = (own for line, own in done.items() if line.startswith(start))
        return own.stdout

    prepared, prompt = said("lm-eval-longbench prepare"), said("lm-eval-longbench prompt")
    assert "Numbers" in prepared and "sample-" in prepared
    sample = json.loads(files()["lm_eval_numbers/sample/numbers.jsonl"].splitlines()[0])
    assert prompt == (
        f"Read the note and answer with one number.\n\n{sample['context']}\n\n"
        f"Question: {sample['question']}\nAnswer:"
    )
    doctor = " ".join(said("lm-eval-longbench doctor").split())
    assert "12 of officially 12 documents" in doctor and "No errors" in doctor
    assert "at most 32 tokens, greedy, 1 answer to a question" in doctor
    assert "There is no official limit" in doctor

    # The run has the benchmark's own metric and figures.
    run = tmp_path / "results" / "one"
    results, expected = only_file(run, "results_*.json"), expected_of(only_file(run, "samples_*"))
    assert 0 < expected["exact"] < expected["closeness"] < 1  # something to tell apart
    assert len(set(expected.values())) == 4
    stated = figures_in(results)
    assert {name: stated[name] for name in expected} == pytest.approx(expected, rel=0, abs=1e-9)

    # `score` gives the same, and the report shows it; so does the run itself.
    parts = {"overall": "closeness", "price": "closeness_price", "count": "closeness_count"}
    percent = {name: 100 * expected[key] for name, key in {**parts, "exact": "exact"}.items()}
    scores = json.loads((tmp_path / "scored" / "scores.json").read_text(encoding="utf-8"))
    assert scores == pytest.approx(percent, rel=0, abs=1e-7)
    report, ended = said("lm-eval-longbench report"), said("lm-eval-longbench run --model")
    for name, value in percent.items():
        assert re.search(rf" {name} +│? *{value:.1f} \[", report), (name, report)
        assert re.search(rf" {name} {value:.1f}\b", ended), (name, ended)
    assert f" {percent['overall']:.2f} " in said("lm-eval-longbench score results")

    assert " 0 different" in said("lm-eval-longbench verify")
    assert "numbers.lock: 1 tasks frozen" in said("lm-eval-longbench lock")
    assert (tmp_path / "numbers.lock").read_text(encoding="utf-8").count("numbers: ") == 4
    second = figures_in(only_file(tmp_path / "results" / "two", "results_*.json"))
    assert second == stated
    compared = said("lm-eval-longbench compare")
    assert "comparable (1 shared task)" in compared and "Numbers overall: A " in compared

    # Prediction files of its own.
    official = (tmp_path / "scored-predictions" / "scores.json").read_text(encoding="utf-8")
    lines = map(json.loads, files()["predictions/model.jsonl"].splitlines())
    worth = [closeness(row["number_said"], float(row["answers"][0])) for row in lines]
    assert json.loads(official)["overall"] == pytest.approx(100 * mean(worth), rel=0, abs=1e-7)
    assert 0 < mean(worth) < 1

    # What is changed by hand is found.
    text = results.read_text(encoding="utf-8")
    changed = re.sub(r'("closeness_count,none": )[0-9.]+', r"\g<1>0.99", text)
    assert changed != text
    results.write_text(changed, encoding="utf-8")
    found = process("lm-eval-longbench verify results/one")
    assert found.returncode == 1
    assert re.search(r"different: .*closeness_count.*found 0\.99", found.stdout)
