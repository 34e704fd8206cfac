"""Prediction files do not say which questions share a document; prepared data does."""

import io
import json
import random
import zipfile

import pytest
from typer.testing import CliRunner

from lm_eval_longbench import score_paths
from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.cli.main import app
from lm_eval_longbench.records.sample import document_in, document_of_text

NAME, DOCUMENTS = "narrativeqa", 20
TASK = f"longbench_v1_{NAME}"
UNKNOWN = "not known which questions share a document"


def question(number):
    """Question of NarrativeQA: 200 on 20 stories, some of them asked and answered alike."""
    return {
        "input": f"Who is it, {number}?",
        "context": f"The story of {number % DOCUMENTS}. " * 3,
        "answers": [f"the keeper {number // 40}"],
        "length": 1000 + number % DOCUMENTS,
        "dataset": NAME,
        "language": "en",
        "all_classes": None,
        "_id": str(number),
    }


QUESTIONS = [question(number) for number in range(200)]


@pytest.fixture
def archive(hub_file):
    """Lay an archive with these questions into the hub's cache, as if it were the official one."""

    def lay(questions):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as opened:
            rows = "".join(json.dumps(row) + "\n" for row in questions)
            opened.writestr(f"data/{NAME}.jsonl", rows)
        hub_file(V1, packed.getvalue())

    return lay


@pytest.fixture
def prepared(archive):
    """Do with questions what `prepare` does; return their documents."""

    def prepare(questions):
        archive(questions)
        V1.load(V1.tasks[TASK], None)
        return V1.documents(V1.tasks[TASK])

    return prepare


@pytest.fixture
def predictions(tmp_path):
    """Answers that are right on every second story, in the order in which eight GPUs wrote them."""
    folder = tmp_path / "pred" / "model"
    folder.mkdir(parents=True)
    order = random.Random(1).sample(range(200), 200)
    with (folder / f"{NAME}.jsonl").open("w", encoding="utf-8") as file:
        for number in order:
            row = {name: QUESTIONS[number][name] for name in ("answers", "all_classes", "length")}
            pred = row["answers"][0] if number % DOCUMENTS % 2 else "nobody"
            file.write(json.dumps({"pred": pred, **row}) + "\n")
    return folder, order


def reported(folder):
    """What `report` prints of a folder, and its table as JSON."""
    texts = []
    for form in ("table", "json"):
        done = CliRunner().invoke(app, ["report", str(folder), "--format", form])
        assert done.exit_code == 0, done.output
        texts.append(done.output)
    return " ".join(texts[0].split()), json.loads(texts[1])


def figure(report):
    """NarrativeQA's figure, of the one run."""
    (benchmark,) = report["benchmarks"]
    (row,) = [r for r in benchmark["figures"] if (r["section"], r["name"]) == ("dataset", NAME)]
    return row["figures"][0]


def test_prepared_data_tells_the_documents_of_official_files(archive, predictions, tmp_path):
    folder, order = predictions
    archive(QUESTIONS)
    text, before = reported(folder)
    assert UNKNOWN in text
    V1.load(V1.tasks[TASK], None)  # what `prepare` does
    text, after = reported(folder)
    assert UNKNOWN not in text
    assert f"{DOCUMENTS} documents" in text
    before, after = figure(before), figure(after)
    assert before["value"] == after["value"] == 50.0
    narrow, wide = (own["high"] - own["low"] for own in (before, after))
    assert wide > 2 * narrow

    score_paths([folder], tmp_path / "scored")
    lines = (tmp_path / "scored" / "samples.jsonl").read_text().splitlines()
    for line in map(json.loads, lines):
        story = QUESTIONS[order[int(line["id"])]]["context"]
        assert line["document"] == document_of_text(story)


def test_questions_asked_alike_on_two_documents_are_told_by_their_place(prepared):
    alike = [dict(QUESTIONS[number]) for number in range(200)]
    alike[5] |= {name: alike[4][name] for name in ("answers", "length")}
    documents = prepared(alike)
    task = V1.tasks[TASK]
    row = {name: alike[4][name] for name in ("answers", "all_classes", "length")}
    found = []
    for place in (4, 5, 6):
        (sample,) = V1.read_official(
            {"pred": "", **row}, place, V1.tables["longbench_v1"], task.name
        )
        found.append(document_in(documents, sample))
    assert found == [
        document_of_text(alike[4]["context"]),
        document_of_text(alike[5]["context"]),
        None,
    ]
    # A layout of another program has the question, too.
    named = {**alike[5], "pred": "", "context": None}
    (sample,) = V1.read_official(named, 77, V1.tables["longbench_v1"], task.name)
    assert document_in(documents, sample) == document_of_text(alike[5]["context"])


def test_damaged_data_tells_nothing_and_is_left_alone(prepared, cache):
    assert prepared(QUESTIONS)
    (file,) = cache.rglob(f"{NAME}.arrow")
    file.write_bytes(file.read_bytes()[:-9])
    before = sorted(cache.rglob("*"))
    assert V1.documents(V1.tasks[TASK]) == {}
    assert sorted(cache.rglob("*")) == before
