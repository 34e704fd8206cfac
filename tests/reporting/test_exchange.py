"""Records that others read, held to the others' own schema and reader."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from huggingface_hub.repocard_data import model_index_to_eval_results
from scored_runs import pro_row, v1_rows, v2_row, write_run

from lm_eval_longbench import evaluate
from lm_eval_longbench.benchmarks.registry import benchmark_of_table
from lm_eval_longbench.reporting.exchange import eee, model_index
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run

SCHEMA_FILE = Path(__file__).parent / "every_eval_ever" / "eval.schema.json"
NOW = 1_790_000_000.4


def checked(text):
    """Return a record that the pinned schema takes."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    record, schema = json.loads(text), json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(record)
    assert schema["version"] == record["schema_version"]
    broken = record | {"evaluation_results": [{"evaluation_name": "no score"}]}
    assert not jsonschema.Draft7Validator(schema).is_valid(broken)
    return record


@pytest.fixture
def folder(tmp_path):
    """A scored run of three benchmarks; v2 is of the official data."""
    rows = [v2_row(f"q{n}", float(n % 3 == 0)) for n in range(30)]
    rows += [*v1_rows({"qasper": [0.2, 0.4, 0.9]}), pro_row("p", 0.5)]
    folder = write_run(tmp_path / "model", rows)
    report = json.loads((folder / "report.json").read_text())
    report["tables"]["longbench_v2"]["data"] = [benchmark_of_table("longbench_v2").source.label]
    report["tables"]["longbench_v2"]["signature"] = {
        "line": "lb-v2|v1.1|...",
        "ingredients": {"generation": {"temperature": 0.1, "max_gen_toks": 128, "until": []}},
        "tasks": {},
    }
    (folder / "report.json").write_text(json.dumps(report))
    return folder


def test_a_record_of_every_eval_ever_is_valid(folder):
    record = checked(eee(make_report([read_run(folder, "org/model")]), NOW))
    assert record["evaluation_id"] == "longbench/org/model/1790000000"
    assert record["model_info"]["id"] == "org/model"
    found = {one["evaluation_result_id"]: one for one in record["evaluation_results"]}
    overall = found["longbench_v2/official/overall"]
    assert overall["source_data"]["hf_repo"] == "zai-org/LongBench-v2"
    assert overall["source_data"]["additional_details"]["revision"].startswith("2b48e49")
    score = overall["score_details"]
    assert score["score"] == pytest.approx(100 / 3)
    assert score["details"]["official_value"] == "33.3"
    assert score["details"]["signature"] == "lb-v2|v1.1|..."
    assert score["details"]["official_protocol"].startswith("no, because: ")
    interval = score["uncertainty"]["confidence_interval"]
    assert (interval["method"], interval["confidence_level"]) == ("wilson", 0.95)
    assert [round(interval[end], 1) for end in ("lower", "upper")] == [19.2, 51.2]
    assert score["uncertainty"]["num_samples"] == 30
    assert overall["generation_config"]["generation_args"] == {
        "temperature": 0.1,
        "max_tokens": 128,
    }
    qasper = found["longbench_v1/dataset/qasper"]
    assert qasper["source_data"]["source_type"] == "other"  # nobody says which data
    assert "confidence_interval" not in qasper["score_details"]["uncertainty"]
    assert {own["metric_config"]["max_score"] for own in found.values()} == {100.0, 1.0}  # Pro


def test_the_hub_reads_a_model_index(folder):
    made = yaml.safe_load(model_index(make_report([read_run(folder, "org/model")])))
    name, results = model_index_to_eval_results(made["model-index"])
    assert name == "org/model"
    (overall,) = (
        one
        for one in results
        if (one.dataset_name, one.metric_name) == ("LongBench v2", "official: overall")
    )
    assert (overall.dataset_type, overall.metric_type) == ("zai-org/LongBench-v2", "accuracy")
    assert overall.dataset_revision == benchmark_of_table("longbench_v2").source.revision
    assert overall.metric_value == 33.3  # as the official result file has it
    assert [round(end, 1) for end in overall.metric_args["interval"]["ends"]] == [19.2, 51.2]
    assert overall.metric_args["signature"] == "lb-v2|v1.1|..."
    others = [one for one in results if one.dataset_revision is None]
    assert {"other data" in one.dataset_name for one in others} == {True}
    assert {one.dataset_name.split(",")[0] for one in others} == {
        "LongBench v1",
        "LongBench Pro (non-thinking prompt)",
    }


def report(*arguments):
    command = [sys.executable, "-m", "lm_eval_longbench.cli.main", "report", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8")


def test_only_what_verify_confirms_gets_a_model_index(tmp_path):
    """By the command, on a real run, and on the same with a figure that somebody raised."""
    evaluate(
        lambda prompts: ["The correct answer is (B)"] * len(prompts),
        "longbench_v2",
        data_dir="sample",
        name="all B",
    ).save(tmp_path / "run")
    done = report(f"org/b={tmp_path / 'run'}", "--format", "model-index")
    assert done.returncode == 0, done.stderr
    name, results = model_index_to_eval_results(yaml.safe_load(done.stdout)["model-index"])
    assert name == "org/b" and results[0].dataset_type.startswith("sample-")
    assert results[0].metric_args["signature"].startswith("lb-v2|")
    output = tmp_path / "record.json"
    done = report(tmp_path / "run", "--format", "eee", "--output", output)
    assert done.returncode == 0, done.stderr
    assert checked(output.read_text(encoding="utf-8"))["model_info"]["id"] == "all B"

    (results_file,) = (tmp_path / "run").rglob("results_*.json")
    whole = json.loads(results_file.read_text(encoding="utf-8"))
    whole["results"]["longbench_v2"]["acc,none"] = 0.99
    results_file.write_text(json.dumps(whole), encoding="utf-8")
    done = report(tmp_path / "run", "--format", "model-index")
    assert done.returncode != 0 and not done.stdout
    (line,) = done.stderr.splitlines()
    assert "is for runs that `lm-eval-longbench verify` confirms" in line and "0.99" in line


def test_a_record_is_of_one_run(folder):
    done = report(folder, folder, "--format", "model-index")
    assert done.returncode == 2 and "is the record of one run. Give one" in done.stderr


@pytest.mark.parametrize(
    "option", ["--against=published", "--baseline=a", "--share=0.5", "--without-known-errors"]
)
def test_other_options_are_refused(folder, option):
    done = report(folder, "--format", "eee", option)
    assert done.returncode == 2 and option.split("=")[0] in done.stderr
