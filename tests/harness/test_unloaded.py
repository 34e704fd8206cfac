"""A second run with nothing to ask loads no model, and gives the results of the first."""

import json
import os
import shutil
import sqlite3

import pytest


@pytest.fixture
def run(processes, model_folder, tmp_path):
    """Run two tasks, raw and chat, on the tiny model; return results and all that was printed."""
    model = tmp_path / "model"
    shutil.copytree(model_folder, model)
    settings = model / "tokenizer_config.json"
    cleaned = {"clean_up_tokenization_spaces": True}  # what is scored is not what the model gave
    settings.write_text(json.dumps(json.loads(settings.read_text()) | cleaned))

    def run(*more):
        done = processes.run(
            *("lm-eval-longbench", "run", "--model", "hf", "--device", "cpu"),
            *("--model_args", f"pretrained={model}", "--limit", "2", *more),
            *("--tasks", "longbench_v1_qasper,longbench_v1_trec", "--apply_chat_template"),
            *("--metadata", '{"longbench": {"data_dir": "sample", "truncate_to": 400}}'),
            *("--output_path", str(tmp_path / "out"), "--log_samples", "--verbose"),
            env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path / "c")},
        )
        found = sorted((tmp_path / "out").rglob("results_*.json"))
        results = json.loads(found[-1].read_text()) if found else {}
        own = results.get("configs", {}).get("longbench_v1_qasper", {}).get("metadata", {})
        scored = results.get("results"), own.get("longbench_run")
        return done, scored, (model, tmp_path / "out")

    return run


def test_nothing_to_ask_loads_no_model(run):
    first, results, (model, out) = run("--gen_kwargs", "max_gen_toks=4")
    assert first.returncode == 0, first.stderr
    assert results[1]["decoding"] == "cleaned up"
    (model / "model.safetensors").rename(model / "away")  # who loads it now fails
    again, same, _ = run("--gen_kwargs", "max_gen_toks=4")
    assert again.returncode == 0, again.stderr
    assert "4 of 4 answers are in" in again.stdout and "nothing to ask" in again.stdout
    assert same == results and len(list(out.rglob("results_*.json"))) == 1
    # What is not there needs the model.
    failed, _, _ = run("--gen_kwargs", "max_gen_toks=5")
    assert failed.returncode == 2 and "model.safetensors" in failed.stderr
    (model / "away").rename(model / "model.safetensors")
    (store,) = out.glob("answers_*.sqlite")
    with sqlite3.connect(store) as database:
        database.execute("DELETE FROM answers WHERE rowid = 3")
    resumed, same, _ = run("--gen_kwargs", "max_gen_toks=4")
    assert resumed.returncode == 0, resumed.stderr
    assert "3 of 4 answers are in" in resumed.stdout and "1 to ask" in resumed.stdout
    assert same == results
