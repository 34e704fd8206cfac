"""Files of other programs: recognised by themselves, scored as official files would be."""

import csv
import json

import pytest
from prediction_rows import STAMP, write_lines

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.records.layouts import texts_of

# Three data sets whose answers are judged in three ways.
ROWS = {
    "qasper": [
        ("Emma, it's said", ["Emma", 'the "tall" one']),
        ("\n no", ["yes"]),
        ("Emma", ["Emma\nWoodhouse", "艾玛"]),
    ],
    "trec": [("  Type: city\nmore", ["city"]), ("Type: person", ["city"])],
    "lcc": [("x = 1\ny", ["x = 1"])],
}
CLASSES = {"trec": ["city", "person", 'it\'s "quoted"']}


def doc(dataset, index):
    return {
        "answers": ROWS[dataset][index][1],
        "all_classes": CLASSES.get(dataset),
        "length": 10 * index + 5,
        "dataset": dataset,
        "language": "en",
        "_id": f"id{index}",
    }


def each():
    for dataset, rows in ROWS.items():
        for index, (answer, _) in enumerate(rows):
            yield dataset, index, answer


@pytest.fixture
def expected(score, tmp_path):
    """Official figures of the same answers in official files."""
    for dataset in ROWS:
        own = [{"pred": answer, **doc(name, at)} for name, at, answer in each() if name == dataset]
        write_lines(tmp_path / "official" / "pred" / "m" / f"{dataset}.jsonl", *own)
    return score(tmp_path / "official").scores


def harness(folder):
    for dataset in ROWS:
        rows = [
            {
                "doc_id": at,
                "doc": {**doc(name, at), "question": "?", "context": "A text."},
                "target": "?",
                "arguments": {},
                "resps": [[answer]],
                "filtered_resps": [answer],
                "filter": "none",
                "score": 0.0,
            }
            for name, at, answer in each()
            if name == dataset
        ]
        write_lines(folder / "model" / f"samples_longbench_{dataset}_{STAMP}.jsonl", *rows[::-1])


def kvcache(folder, method="SnapKV"):
    for dataset in ROWS:
        rows = [
            {"prompt": "p", "input": "", "context": "A text.", "pred": answer, **doc(name, at)}
            for name, at, answer in each()
            if name == dataset
        ]
        path = folder / "llama_128" / dataset / f"{method}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "llama_128" / "run_meta.json").write_text("{}")


def kvpress(folder, prefix="longbench"):
    import numpy

    ends = {"trec": "Type:"}
    for dataset in ROWS:
        path = folder / f"{prefix}__{dataset}__llama__knorm__0.50" / "predictions.csv"
        path.parent.mkdir(parents=True)
        with path.open("w", newline="") as file:
            writer = None
            for name, at, answer in each():
                if name != dataset:
                    continue
                own = doc(name, at)
                classes = own["all_classes"]
                row = {
                    **own,
                    "answers": str(numpy.array(own["answers"], dtype=object)),
                    "all_classes": "" if classes is None else str(numpy.array(classes, object)),
                    "task": dataset,
                    "question": "Which?",
                    "answer_prefix": ends.get(dataset, "Answer:"),
                    "max_new_tokens": 84,
                    "predicted_answer": answer,
                }
                writer = writer or csv.DictWriter(file, sorted(row))
                if at == 0:
                    writer.writeheader()
                writer.writerow(row)


def opencompass(folder):
    for dataset in ROWS:
        whole = {}
        for name, at, answer in each():
            if name != dataset:
                continue
            own = doc(name, at)
            gold = own["answers"]
            if own["all_classes"]:
                gold = {"answers": gold, "all_classes": own["all_classes"]}
            prompt = [{"role": "HUMAN", "prompt": "A text."}]
            whole[str(at)] = {"origin_prompt": prompt, "prediction": answer, "gold": gold}
        path = folder / "predictions" / "llama" / f"LongBench_{dataset}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(whole))


# What writes the files of a program by its title, and the name of the run that it makes.
WRITERS = {
    "a sample log of the harness's built-in longbench": (harness, f"theirs/model {STAMP}"),
    "KVCache-Factory's answers of one method": (kvcache, "llama_128/SnapKV"),
    "kvpress's predictions.csv": (kvpress, "longbench__llama__knorm__0.50"),
    "OpenCompass's LongBench predictions": (opencompass, "llama"),
}


@pytest.mark.parametrize("title", WRITERS)
def test_the_same_answers_have_the_same_official_figures(score, tmp_path, expected, title):
    write, run = WRITERS[title]
    write(tmp_path / "theirs")
    found = score(tmp_path / "theirs")
    assert found.scores == expected
    assert {own["made_by"] for own in found.report["inputs"]} == {title}
    assert all(own["notes"] for own in found.report["inputs"])
    assert set(found.problems) == {"missing"}  # the other data sets
    assert len(found.samples) == 6
    assert found.report["tables"]["longbench_v1"]["repeats"] == 1
    assert found.report["tables"]["longbench_v1"]["runs"] == [run]


def test_kvpress_says_which_rows_it_changed(score, tmp_path):
    kvpress(tmp_path / "in")
    remarks = {own["task"]: own["remarks"] for own in score(tmp_path / "in").report["inputs"]}
    (budget,) = remarks["longbench_v1_lcc"]
    assert budget == "in 1 of 1 rows the output budget is not the official one"
    ends, budget, stripped = remarks["longbench_v1_trec"]
    assert ends.startswith("in 2 of 2 rows the question lost its end")
    assert stripped.startswith("1 of 2 answers begin with white space")


def test_two_methods_are_no_repeats(score, tmp_path):
    kvcache(tmp_path / "in")
    kvcache(tmp_path / "in", "FullKV")
    with pytest.raises(PredictionError, match=r"several models.*llama_128/FullKV.*llama_128/Snap"):
        score(tmp_path / "in")
    inputs = score(*(tmp_path / "in").glob("*/*/SnapKV.json")).report["inputs"]
    assert sorted(own["rows"] for own in inputs) == [1, 2, 3]


def test_longbench_e_is_told_from_v1(score, tmp_path):
    kvpress(tmp_path / "one", "longbench-e")
    assert set(score(tmp_path / "one").report["tables"]) == {"longbench_v1_e"}
    kvcache(tmp_path / "two")
    (tmp_path / "two" / "llama_128" / "qasper").rename(tmp_path / "two" / "llama_128" / "qasper_e")
    found = score(tmp_path / "two" / "llama_128" / "qasper_e").report["tables"]
    assert set(found) == {"longbench_v1_e"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("predictions.csv", "a,b\n1,2\n"),
        ("LongBench_qasper.json", "[1, 2"),
        ("LongBench_qasper.json", "[]"),
        ("LongBench_qasper.json", '{"0": 1}'),
        ("LongBench_unheard.json", '{"0": {"prediction": "x", "gold": ["x"]}}'),
        ("qasper/x.json", "{}"),
        ("predictions.csv", 'predicted_answer,task,answers\n"x'),
    ],
)
def test_other_files_of_such_names_are_not_scored(score, tmp_path, name, text):
    place = tmp_path / "in" / name
    place.parent.mkdir(parents=True)
    place.write_text(text)
    with pytest.raises(PredictionError, match="nothing is recognised as predictions"):
        score(tmp_path / "in")


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("[]", []),
        ("['a' \"it's\"\n 'x\\'y']", ["a", "it's", "x'y"]),
        ("['a', 'b']", ["a", "b"]),
        ("['one\ntwo']", ["one\ntwo"]),
        ("['\\u827e']", ["艾"]),
    ],
)
def test_cells_that_hold_one(cell, texts):
    assert texts_of(cell) == texts


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"predicted_answer": None}, None),
        ({"answers": "[1 2]"}, "'answers' is not a list"),
        ({"answers": "['a'"}, "'answers' is not a list"),
        ({"task": "lcc"}, "'task' is 'lcc'"),
    ],
)
def test_bad_rows_of_a_table_are_named_and_the_others_scored(score, tmp_path, change, reason):
    kvpress(tmp_path / "in")
    path = next((tmp_path / "in").glob("*qasper*/predictions.csv"))
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows([rows[0], rows[1] | change, rows[2]])
    found = score(path)
    if reason is None:  # an empty answer
        assert [one["failed"] for one in found.samples] == [False, True, False]
        return
    ((problem),) = found.problems["malformed"]
    assert problem["line"] == 2
    assert reason in problem["reason"]
    assert len(found.samples) == 2


# ---------------------------------------------------------------------- LongBench v2

V2 = [("A", "A", "easy", "short"), ("B", "C", "hard", "long"), (None, "D", "hard", "medium")]


def facts(index, **more):
    _, _, difficulty, length = V2[index]
    own = {"_id": f"q{index}", "domain": "Single-Document QA", "sub_domain": "Legal"}
    return {**own, "difficulty": difficulty, "length": length, **more}


def says(letter):
    return "No idea." if letter is None else f"The correct answer is ({letter})."


def test_the_likelihoods_of_the_built_in_longbench2(score, tmp_path):
    rows = []
    for index, (letter, gold, _, _) in enumerate(V2):
        likely = [[-2.0 - ("ABCD".index(gold) == at), False] for at in range(4)]
        if letter is not None:
            likely["ABCD".index(letter)] = [-0.5, True]
        answer = "ABCD".index(gold) if index else gold
        own = facts(index, question="?", choices=list("wxyz"), answer=answer, context="A text.")
        resps = [[pair] for pair in likely]
        rows.append(
            {"doc_id": index, "doc": own, "resps": resps, "filtered_resps": likely, "filter": "n"}
        )
    write_lines(tmp_path / "in" / f"samples_longbench2_graph_{STAMP}.jsonl", *rows)
    found = score(tmp_path / "in")
    assert [one["choice"] for one in found.samples] == ["A", "B", "A"]
    assert found.scores["overall"] == 33.3
    (own,) = found.report["inputs"]
    assert own["made_by"] == "a sample log of the harness's built-in longbench2"


def test_kvpress_v2_and_where_its_rule_differs(score, tmp_path):
    path = tmp_path / "longbench-v2__0shot__llama__knorm__0.50" / "predictions.csv"
    path.parent.mkdir()
    with path.open("w", newline="") as file:
        fields = [*facts(0), "answer", "question", "predicted_answer", "task"]
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        for index, (letter, gold, _, _) in enumerate(V2):
            answer = says(letter) + (" Or: The correct answer is C" if index == 1 else "")
            more = {"answer": gold, "question": "?", "predicted_answer": answer, "task": "x"}
            writer.writerow(facts(index, **more))
    found = score(path)
    assert [(one["choice"], one["score"]) for one in found.samples] == [
        ("A", 1.0),
        ("B", 0.0),
        (None, 0.0),
    ]
    (own,) = found.report["inputs"]
    assert own["remarks"] == ["in 1 of 3 rows kvpress's rule and the official one judge otherwise"]


@pytest.mark.parametrize("cot", [False, True])
def test_the_results_of_tensorrt_llm(score, tmp_path, cot):
    """The official rule reads the answer; of two passes the second one's."""
    rows = []
    for index, (letter, gold, _, _) in enumerate(V2):
        text = "C" if letter is None else says(letter)  # it counts a letter that stands alone
        judged = {"prediction": text, "extracted_answer": letter or "C", "is_correct": True}
        if cot:
            thought = {"prediction": "Thought", "cot_response": "Thought", "final_prediction": text}
            judged |= thought
        rows.append(facts(index, question="?", answer=gold, **judged))
    write_lines(tmp_path / "llama" / "longbench_v2_results.jsonl", *rows)
    found = score(tmp_path / "llama")
    assert [one["choice"] for one in found.samples] == ["A", "B", None]
    assert [one["id"] for one in found.samples] == ["q0", "q1", "q2"]
    (table,) = found.report["tables"]
    assert table == ("longbench_v2_cot_answer" if cot else "longbench_v2")
    (own,) = found.report["inputs"]
    assert own["made_by"] == "TensorRT-LLM's results of LongBench v2"


def olmo(folder, *, requests=True):
    """Its two files of one run; the second answer to a question is a sample more."""
    rows, asked = [], []
    for index, (letter, gold, _, _) in enumerate(V2):
        known = {"id": f"q{index}", "index": index, **facts(index)}
        name = {"doc_id": index, "native_id": f"q{index}", "label": gold}
        texts = [{"text": text, "extracted_answer": letter} for text in (says(letter), "**No**")]
        rows.append({**name, "model_output": texts, "instance_metrics": {}})
        asked.append({**name, "doc": {"query": "A text.", **known}, "task_name": "longbench_v2"})
    rows.append({**rows[0], "model_output": 5})
    write_lines(folder / "predictions" / "olmo" / "longbench_v2_a1b2c3-predictions.jsonl", *rows)
    if requests:
        write_lines(folder / "requests" / "olmo" / "longbench_v2_a1b2c3-requests.jsonl", *asked[:2])


def test_the_predictions_of_olmo_eval(score, tmp_path):
    """Difficulty and length are in the requests; a question that is not there is named."""
    olmo(tmp_path / "in")
    found = score(tmp_path / "in")
    assert [(one["id"], one["repeat"], one["choice"]) for one in found.samples] == [
        ("q0", 1, "A"),
        ("q0", 2, None),
        ("q1", 1, "B"),
        ("q1", 2, None),
    ]
    assert {one["difficulty"] for one in found.samples} == {"easy", "hard"}
    assert [one["reason"] for one in found.problems["malformed"]] == [
        "its question is not in the file of requests",
        "'model_output' has no texts",
    ]
    (own,) = found.report["inputs"]
    assert own["made_by"] == "olmo-eval's predictions of LongBench v2" and own["notes"]
    path = next((tmp_path / "in").rglob("*-predictions.jsonl"))
    path.write_bytes(b"\n \n" + path.read_bytes()[:-40])
    found = score(tmp_path / "in")
    *_, broken = found.problems["malformed"]
    assert len(found.samples) == 4 and "not JSON" in broken["reason"] and broken["line"] == 6
    olmo(tmp_path / "alone", requests=False)
    with pytest.raises(
        PredictionError, match=r"difficulty, length of its questions.*requests/olmo/"
    ):
        score(tmp_path / "alone")


def review(index, **more):
    letter, gold, _, _ = V2[index]
    score = {"value": {"acc": 1.0}, "extracted_prediction": letter or "", "prediction": "ANSWER"}
    known = {"score": score, "sample_id": index, "sample_metadata": facts(index), **more}
    return {"index": index, "target": gold, "messages": [], "sample_score": known}


def test_the_reviews_of_evalscope(score, tmp_path):
    folder = tmp_path / "in" / "reviews" / "qwen"
    for index, name in enumerate(("short", "long", "medium")):
        write_lines(folder / f"longbench_v2_{name}.jsonl", review(index))
    found = score(tmp_path / "in")
    assert [one["choice"] for one in found.samples] == ["A", "B", None]
    assert found.scores["overall"] == 33.3
    assert found.report["tables"]["longbench_v2"]["repeats"] == 1


@pytest.mark.parametrize("domain", ["Single-Document QA", "A name of its own", None])
def test_domains_of_a_mirror_of_longbench2(score, tmp_path, domain):
    likely = [[-0.5, True], *([[-2.0, False]] * 3)]
    own = facts(0, question="?", choices=list("wxyz"), answer="A", context="") | {"domain": domain}
    row = {"doc_id": 0, "doc": own, "resps": [], "filtered_resps": likely, "filter": "n"}
    path = write_lines(tmp_path / f"samples_longbench2_x_{STAMP}.jsonl", row)
    (one,) = score(path).samples
    assert one.get("domain") == (domain if domain == "Single-Document QA" else None)


def test_what_says_too_little_is_named(score, tmp_path):
    folder = tmp_path / "in"
    write_lines(folder / "longbench_v2_short.jsonl", {"index": 0, "model_output": {}})
    with pytest.raises(PredictionError, match="have no gold answers: give the file of the same"):
        score(folder)
    write_lines(folder / "longbench_v2_short.jsonl", review(0, sample_metadata=None))
    with pytest.raises(PredictionError, match="without what it knows of the questions"):
        score(folder)
    (folder / "longbench_v2_short.jsonl").unlink()
    (folder / "LongBenchv2.json").write_text('{"0": {"prediction": "A", "gold": "A"}}')
    with pytest.raises(PredictionError, match="neither the id nor the difficulty"):
        score(folder)
