"""`lm-eval-longbench doctor`, in this process and once as a process."""

import json

SAMPLE = '{"longbench": {"data_dir": "sample"}}'
PASSAGES = ("passage_count", "passage_retrieval_en", "passage_retrieval_zh")


def test_without_arguments(invoke):
    done = invoke("doctor")
    assert done.exit_code == 0, done.output
    assert "versions" in done.output and "disk" in done.output
    assert "No errors" in done.output


def test_a_preset(invoke):
    done = invoke(
        *("doctor", "--preset", "gemma-3-27b-it", "--json", "--model", "longbench-extractive"),
        *("--tasks", "longbench_pro_t3_2", "--metadata", SAMPLE),
    )
    lines = json.loads(done.stdout)["lines"]
    assert [line["status"] for line in lines if line["topic"] == "preset"] == ["ok"]
    (limit,) = [line for line in lines if line["topic"] == "limit"]
    assert limit["status"] == "ok" and "120,000" in limit["found"]


def test_the_scorers(invoke):
    result = invoke("doctor", "--scorers")
    assert result.exit_code == 0, result.output
    assert "No errors, 0 warnings." in result.output
    found = json.loads(invoke("doctor", "--scorers", "--json").output)
    assert {line["topic"] for line in found["lines"]} == {"scorers"}


def test_the_harnesss_own_tasks_are_indexed_for_a_pattern(processes, tmp_path):
    nothing = json.dumps({"longbench": {"data_dir": str(tmp_path)}})
    done = processes.run(
        *("lm-eval-longbench", "doctor", "--json", "--model", "longbench-extractive"),
        *("--tasks", "longbench_v1_passage_*", "--metadata", nothing),
        cwd=tmp_path,
        all_tasks=True,
    )
    assert done.returncode == 1, done.stderr
    lines = json.loads(done.stdout)["lines"]
    missing = [line["tasks"] for line in lines if line["topic"] == "data"]
    assert missing == [[f"longbench_v1_{name}"] for name in PASSAGES]
