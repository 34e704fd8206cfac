"""A benchmark of a user's own that is a folder of task files: no Python, and no folder later on."""

import hashlib
import json
import os
import re
import shutil

import pytest
from lm_eval.tasks import TaskManager
from mirror_server import mirroring

from lm_eval_longbench.benchmarks import registry
from lm_eval_longbench.benchmarks.results import read_results_file
from lm_eval_longbench.catalog.users import WHOLE
from lm_eval_longbench.errors import LongBenchError, OptionError

BASE = """class: !function lm_eval_longbench.harness.task.LongBenchTask
benchmark: ponds
metric: qa_f1
generation_kwargs: {max_gen_toks: 8}
headline: {animals and plants: {mean_of: category}}
"""
LEAF = """include: _base
task: ponds_%s
dataset_name: %s
category: %s
doc_to_text: "{{context}}\\n\\nQuestion: {{question}}\\nAnswer:"
"""
ROWS = [
    {
        "_id": f"q{number}",
        "context": f"The {thing} is {colour}. It is near the pond.",
        "question": f"What colour is the {thing}?",
        "answers": [f"{colour} {thing}" if number else colour],
    }
    for number, (thing, colour) in enumerate(
        (("frog", "green"), ("reed", "brown"), ("fish", "red"))
    )
]


def write_rows(file, rows):
    file.write_bytes("".join(f"{json.dumps(row)}\n" for row in rows).encode())


def forget():
    registry._learnt.clear()
    registry.forget()


@pytest.fixture(autouse=True)
def _forgotten():
    """What one test makes known, the next one does not know."""
    yield
    forget()


@pytest.fixture
def folder(tmp_path):
    """Two tasks with three questions, of two categories."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "_base").write_text(BASE)
    for name, category, rows in (("things", "plants", ROWS[:1]), ("more", "animals", ROWS[1:])):
        (own / f"{name}.yaml").write_text(LEAF % (name, name, category))
        write_rows(own / f"{name}.jsonl", rows)
    return own


@pytest.fixture
def alone(tmp_path):
    """Write one task that names a pinned file."""

    def write(lines="", source=None, name="alone"):
        own = tmp_path / name
        own.mkdir()
        text = BASE.replace("headline: {animals and plants: {mean_of: category}}\n", "")
        text += (LEAF % ("things", "things", "plants")).partition("\n")[2] + lines
        text += "" if source is None else f"dataset_path: a/ponds\nsource: {json.dumps(source)}\n"
        (own / "ponds.yaml").write_text(text)
        return own

    return write


def loaded(own, name="ponds_things", **options):
    metadata = {"longbench": options} if options else {}
    manager = TaskManager(include_path=[str(own)], include_defaults=False, metadata=metadata)
    return manager.load([name])["tasks"][name]


@pytest.fixture
def said(processes, tmp_path):
    """Run a command in a folder of its own; return what it prints."""

    def said(*words, status=0, place=tmp_path, **more):
        environment = {
            **{name: own for name, own in os.environ.items() if name != "HF_ENDPOINT"},
            **{"HF_HUB_OFFLINE": "1", "COLUMNS": "200", "HF_DATASETS_CACHE": str(place / "cache")},
            **more,
        }
        everything = words[0] == "lm_eval"
        done = processes.run(*words, cwd=place, env=environment, all_tasks=everything)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    return said


def doctored(said, tasks, own, **environment):
    """What `doctor` says of a run, line by line."""
    words = ["--model", "longbench-extractive", "--tasks", tasks, "--include_path", own]
    return json.loads(said("lm-eval-longbench", "doctor", *words, "--json", **environment))["lines"]


def figures(report):
    return json.loads(report.read_text())["tables"]["ponds"]["official"]


def run_of(results):
    (file,) = results.rglob("results_*.json")
    return json.loads(file.read_text())


def test_all_commands_know_it_by_its_results(folder, said, tmp_path, model_folder):
    """Run both ways here; score, report and verify elsewhere, where the folder is not."""
    asked = ["--tasks", "ponds_things,ponds_more", "--include_path", "own", "--log_samples"]
    plain = ["--model", "hf", "--model_args", f"pretrained={model_folder}", "--device", "cpu"]
    table = said("lm_eval", "run", *plain, *asked, "--output_path", "plain")
    assert re.search(r"^\|ponds_more *\|1\.0 data: local-", table, re.M)
    assert "official protocol: no, because: data that no task file pins" in table
    ours = ["--model", "longbench-extractive", *asked, "--output_path", "ours"]
    checked = doctored(said, "ponds_things,ponds_more", "own")
    (data,) = [line["found"] for line in checked if line["topic"] == "data"]
    assert re.fullmatch("ponds: local-.*; 3 documents", data)
    assert {line["topic"] for line in checked if line["status"] != "ok"} == {"limit", "output"}
    ended = said("lm-eval-longbench", "run", *ours)

    worth = {name: one["score,none"] for name, one in run_of(tmp_path / "ours")["results"].items()}
    assert 0 < min(worth.values()) < max(worth.values()) < 1  # something to tell apart
    headline = 50 * sum(worth.values())  # two categories of one task each
    assert re.search(rf"^headline +animals and plants {headline:.2f}$", ended, re.M)

    away = tmp_path / "away"
    away.mkdir()
    for name in ("plain", "ours"):
        (tmp_path / name).rename(away / name)
    shutil.rmtree(folder)
    for name in ("plain", "ours"):
        said("lm-eval-longbench", "score", name, "--output", f"scored-{name}", place=away)
        verified = said("lm-eval-longbench", "verify", name, place=away)
        assert verified.startswith("confirmed: an official figure of every task follows")
    shutil.rmtree(away / "ours")
    found = figures(away / "scored-ours" / "report.json")
    assert found == {name: round(100 * own, 2) for name, own in worth.items()}
    report = said("lm-eval-longbench", "report", "scored-ours", "scored-plain", place=away)
    assert re.search(rf"animals and plants +│ {headline:.2f} \[", report)
    said("lm-eval-longbench", "verify", "scored-ours", status=3, place=away)


def test_a_pinned_file(alone, said, tmp_path):
    """From the repository on a mirror, and from an address; another file is refused."""
    write_rows(tmp_path / "three.jsonl", ROWS)
    content = (tmp_path / "three.jsonl").read_bytes()
    digest, wrong = hashlib.sha256(content).hexdigest(), "0" * 64
    words = ["lm-eval-longbench", "run", "--model", "longbench-extractive", "--log_samples"]
    words += ["--tasks", "ponds_things", "--include_path"]
    with mirroring(content) as mirror:
        online = {"HF_ENDPOINT": mirror.url, "HF_HUB_OFFLINE": "0"}
        pinned = {"file": "three.jsonl", "sha256": digest}
        by_hub = alone(source={**pinned, "revision": "abc" * 13 + "d"}, name="hub")
        (data,) = [
            (line["status"], line["todo"])
            for line in doctored(said, "ponds_things", by_hub, **online)
            if line["topic"] in ("data", "task")
        ]
        assert data == ("warning", "The run fetches it.")
        assert not mirror.asked  # it looks, and fetches nothing
        said(*words, by_hub, "--output_path", "one", **online)
        (data,) = [
            line["status"]
            for line in doctored(said, "ponds_things", by_hub, **online)
            if line["topic"] in ("data", "task")
        ]
        assert data == "ok"
        assert [path for path, _ in mirror.asked] == [
            f"/datasets/a/ponds/resolve/{'abc' * 13}d/three.jsonl"
        ]
        address = {"url": f"{mirror.url}/files/three.jsonl"}
        bad = alone(source={**pinned, **address, "sha256": wrong}, name="bad")
        refused = said(*words, bad, "--output_path", "two", status=2, **online)
        assert f"sha256 {digest}, pinned {wrong}; it was not kept" in refused
        assert "--data-dir" not in refused and "prepare" not in refused
        shutil.rmtree(tmp_path / "cache")
        by_address = alone(source={**pinned, **address}, name="url")
        said(*words, by_address, "--output_path", "three", **online)
        assert len(mirror.asked) == 3
    signed = {}
    for name in ("one", "three"):
        config = run_of(tmp_path / name)["configs"]["ponds_things"]
        run = signed[name] = config["metadata"]["longbench_run"]
        assert (run["data_sha256"], run["asked"]) == (digest, 3)
        verified = said("lm-eval-longbench", "verify", name)
        assert verified.startswith("confirmed")
        assert config["metadata"][WHOLE]["ponds"]["all"]["source"]["sha256"] == digest
    assert signed["one"]["data"] == "a/ponds@abcabca"
    assert signed["three"]["data"] == f"a/ponds@{digest[:7]}"
    # Of a file named by hand the hash decides, too.
    assert loaded(by_hub, data_dir=str(tmp_path / "three.jsonl"))._documents.official


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("metric: null\n", "its file must name a metric of ours. Unknown metric None"),
        ("generation_kwargs: {until: []}\n", "'generation_kwargs' has no 'max_gen_toks'"),
        ("doc_to_text: null\n", "it has no 'doc_to_text'"),
        ("truncation: middle\n", "Unknown truncation 'middle'. Did you mean"),
        ("dataset_name: ../things\n", "'../things' is no name of letters"),
        ("benchmark: ../ponds\n", "'../ponds' is no name of letters"),
        ("first_pass: ponds\n", "'first_pass' needs a module of its own"),
        ("headline: {all: {mean_of: colour}}\n", "a headline has 'colour'"),
        ("prompt_sha256: abc\n", "The prompt of ponds_things was changed in"),
        ("task: longbench_v1_qasper\n", "another one has names of it: longbench_v1_qasper"),
        ("task: longbench_v1\n", "another one has names of it: longbench_v1"),
        ("tag: longbench_v1_en\n", "inherits the tag longbench_v1_en"),
        ("length: long\n", "length 'long' is not such as"),
    ],
)
def test_what_is_refused(alone, lines, said):
    own = alone(lines)
    write_rows(own / "things.jsonl", ROWS)
    key = lines.partition(":")[0]
    text = (own / "ponds.yaml").read_text()
    kept = [line for line in text.splitlines() if not line.startswith(f"{key}:")]
    (own / "ponds.yaml").write_text("\n".join(kept) + f"\n{lines}")
    name = lines.split()[1] if key == "task" else "ponds_things"
    with pytest.raises(LongBenchError) as caught:
        loaded(own, name).doc_to_text({"index": 0})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"file": "../../secret.jsonl"}, "the file of its source is '../../secret.jsonl'"),
        ({"file": "/etc/secret.zip"}, "the file of its source is '/etc/secret.zip'"),
        ({"sha256": "abc"}, "the sha256 of its source is 'abc'"),
        ({"url": "file:///etc/passwd"}, "neither a 'revision' of the repository nor a 'url'"),
    ],
)
def test_a_source_that_no_file_can_be(alone, change, said):
    source = {"file": "a.jsonl", "sha256": "0" * 64, "url": "http://localhost/a.jsonl"}
    with pytest.raises(OptionError) as caught:
        loaded(alone(source={**source, **change}))
    assert said in str(caught.value)


def test_our_names_are_ours(folder, said, tmp_path):
    """Results cannot say what one of our tasks is."""
    words = ["--model", "longbench-extractive", "--tasks", "ponds_things", "--include_path", "own"]
    said("lm-eval-longbench", "run", *words, "--output_path", "one", "--log_samples")
    (file,) = (tmp_path / "one").rglob("results_*.json")
    whole = json.loads(file.read_text())
    carried = whole["configs"]["ponds_things"]["metadata"][WHOLE]
    ours = {**carried["ponds"], "all": {**carried["ponds"]["all"], "benchmark": "longbench_v1"}}
    carried["longbench_v1"] = ours
    file.write_text(json.dumps(whole))
    read_results_file(file)
    assert "ponds_more" in registry.tasks()
    assert "ponds_more" not in registry.benchmarks()["longbench_v1"].tasks
    carried["ponds"]["tasks"]["ponds_more"]["task"] = "longbench_v1_qasper"
    file.write_text(json.dumps(whole))
    forget()
    with pytest.raises(OptionError, match="names of it: longbench_v1_qasper"):
        read_results_file(file)


@pytest.mark.parametrize(
    ("metric", "golds", "answer", "worth"),
    [
        ("accuracy", ["[2]"], "[Answer]\n[2]", 1.0),
        ("f1", ["a", "b"], "[Answer]\na", 2 / 3),
        ("letter", ["C"], "The correct answer is (C).", 1.0),
        ("rouge_l_zh", ["池塘是绿色的"], "池塘是绿色的", 1.0),
    ],
)
def test_a_metric_of_any_benchmark(alone, metric, golds, answer, worth):
    own = alone(name="metric")
    text = (own / "ponds.yaml").read_text()
    (own / "ponds.yaml").write_text(text.replace("metric: qa_f1", f"metric: {metric}"))
    write_rows(own / "things.jsonl", [{**ROWS[0], "answers": golds}])
    task = loaded(own)
    doc = {**task.eval_docs[0], "prompt": {"truncated": False}}
    found = task.process_results(doc, [answer])
    assert found["score"] == pytest.approx(worth)
    assert task.process_results(doc, ["Well"])["score"] < worth


def test_a_task_with_a_change_beside_it(folder):
    """As with our own: `definition` survives the include."""
    (folder / "things.yaml").write_text(
        (folder / "things.yaml").read_text() + "definition: ponds_things\n"
    )
    (folder / "mine.yaml").write_text(
        'include: things.yaml\ntask: mine\ndoc_to_text: "{{question}}"\n'
    )
    task = loaded(folder, "mine")
    assert task.doc_to_text(task.eval_docs[0]) == ROWS[0]["question"]
    assert str(task.VERSION).startswith("1.0 prompt: own data: local-")
    assert list(registry.benchmarks()["ponds"].tasks) == ["ponds_more", "ponds_things"]
