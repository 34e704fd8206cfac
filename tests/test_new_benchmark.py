"""docs/new-benchmark.md adds a benchmark without Python, and one in a package of its own.

The files are written as the page has them, into a folder that looks as an installed package does to
Python: metadata with the entry point beside it on the path. The commands run in their order, each a
process; they share their imports.
"""

import json
import os
import re
import shutil
import sys
from collections import Counter
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
        (words,) = words_of(line)
        return processes.run(*words, cwd=tmp_path, env=environment)

    return process


def only_file(folder, pattern):
    (found,) = folder.rglob(pattern)
    return found


def worth_in(run, task, figure):
    """A figure of a task that a results file states, and the answers in its log."""
    whole = json.loads(only_file(run, "results_*.json").read_text(encoding="utf-8"))
    log = only_file(run, "samples_*").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in log.splitlines()]
    asked = [(row["resps"][0][0], row["doc"]["answers"][0]) for row in rows]
    return whole["results"][task][f"{figure},none"], asked


def test_the_page_is_short_and_its_first_part_has_no_python():
    assert len(PAGE.splitlines()) <= 120
    assert list(files()) == [
        "ponds/ponds.yaml",
        "ponds/ponds.jsonl",
        "pyproject.toml",
        "lm_eval_numbers/numbers.yaml",
        "lm_eval_numbers/numbers.jsonl",
        MODULE,
    ]
    told = [line.split()[1] for line in commands()]
    assert told == ["run", "score", "report", "verify", "run"]


def test_the_page_works_as_it_stands(tmp_path, process):
    install(tmp_path)
    said = {}
    for line in commands():
        if line.startswith("lm-eval-longbench score"):  # from here on the results say what it is
            shutil.rmtree(tmp_path / "ponds")
        done = process(line)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        said[line] = done.stdout
    ponds, score, report, verified, numbers = said.values()

    stated, asked = worth_in(tmp_path / "one", "ponds", "score")
    expected = mean([qa_f1(answer, gold) for answer, gold in asked])
    assert 0 < expected < 1 and len(asked) == 3  # something to tell
    assert stated == pytest.approx(expected, rel=0, abs=1e-9)
    scores = json.loads((tmp_path / "scored" / "scores.json").read_text(encoding="utf-8"))
    assert scores == {"ponds": round(100 * expected, 2)}
    for text in (ponds, score, report):
        assert f" {100 * expected:.2f}" in text
    assert verified.startswith("confirmed") and " 0 different" in verified

    stated, asked = worth_in(tmp_path / "two", "numbers", "closeness")
    expected = mean([closeness(answer, float(gold)) for answer, gold in asked])
    assert expected > 0 and len(asked) == 2
    assert stated == pytest.approx(expected, rel=0, abs=1e-9)
    assert f" overall {100 * expected:.1f}" in numbers

    # What is changed by hand is found.
    results = only_file(tmp_path / "two", "results_*.json")
    text = results.read_text(encoding="utf-8")
    changed = re.sub(r'("closeness,none": )[0-9.]+', r"\g<1>0.99", text)
    assert changed != text
    results.write_text(changed, encoding="utf-8")
    found = process("lm-eval-longbench verify two")
    assert found.returncode == 1
    assert re.search(r"different: .*closeness.*found 0\.99", found.stdout)


def closeness(answer, gold):
    """The metric of the page, said once more."""
    numbers = re.findall(r"[0-9]+", answer)
    return max(0.0, 1.0 - abs(float(numbers[0]) - gold) / gold) if numbers else 0.0


def qa_f1(answer, gold):
    """The harmonic mean of precision and recall of words, said once more."""
    words, wanted = (
        Counter(re.sub(r"\b(a|an|the)\b|[^\w\s]", " ", text.lower()).split())
        for text in (answer, gold)
    )
    common = (words & wanted).total()
    return 2 * common / (words.total() + wanted.total())


def mean(values):
    return sum(values) / len(values)
