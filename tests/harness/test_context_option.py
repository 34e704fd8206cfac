"""The option `context: none` asks without documents, and says that this is no official protocol."""

import json

import pytest
from departing import departures
from real_runs import AnsweringLM, write_run

from lm_eval_longbench.benchmarks.asking import asking_of
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task, signs
from lm_eval_longbench.benchmarks.results import read_results_file
from lm_eval_longbench.check.verification import DIFFERENT
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.options import Options
from lm_eval_longbench.signature.signature import line

QASPER, PRO = "longbench_v1_qasper", "longbench_pro_t3_1"


def run_with(folder, task, options):
    """Ask a task; return the prompts, what its results say, and the verdict on the protocol."""
    seen = []

    def answer(number, prompt):
        seen.append(prompt)
        return "unanswerable"

    write_run(folder, AnsweringLM(answer), [task], options)
    (file,) = folder.rglob("results_*.json")
    (found,) = read_results_file(file).tasks
    return seen, found, departures(task, found.signature, 1).found


@pytest.mark.parametrize("task", [QASPER, PRO])
def test_prompts_have_no_documents(task, tmp_path):
    options = {"repeats": 1}
    own = find_task(task)
    benchmark = benchmark_of(own)
    rows = [
        dict(row) for row in asking_of(benchmark, own, Options(data_dir="sample"), 1).load().rows
    ]
    plain, with_them, usual = run_with(tmp_path / "with", task, options)
    bare, without, found = run_with(tmp_path / "none", task, {**options, "context": "none"})
    assert plain == [benchmark.render(own, row) for row in rows]
    assert bare == [benchmark.render(own, {**row, "context": ""}) for row in rows]
    assert all(row["context"] not in prompt for row, prompt in zip(rows, bare, strict=True))
    assert (with_them.run["context"], without.run["context"]) == (None, "none")
    said = "prompts without documents (officially with them)"
    assert said in found and said not in usual
    shown = json.loads(without.file.read_text(encoding="utf-8"))["versions"][task]
    assert " context: none data: sample-" in shown
    # The line of a run with documents is that of a version which did not know the option.
    known = {name: own for name, own in with_them.signature.items() if name != "context"}
    assert (
        line({**known, "context": None}, signs())
        == line(with_them.signature, signs())
        == with_them.run["signature"]
    )
    assert line(known, signs()) == with_them.run["signature"] != without.run["signature"]
    for folder in ("with", "none"):
        report = verify([tmp_path / folder])
        assert report.with_status(DIFFERENT) == []
        assert "prompts" in {one.kind for one in report.checks if one.status == "confirmed"}
    # Prompts with documents under a signature that says there are none.
    whole = json.loads(with_them.file.read_text(encoding="utf-8"))
    whole["configs"][task]["metadata"]["longbench_run"]["context"] = "none"
    with_them.file.write_text(json.dumps(whole), encoding="utf-8")
    assert "prompts" in {one.kind for one in verify([tmp_path / "with"]).with_status(DIFFERENT)}


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("longbench_v2", "official: longbench_v2_no_context. Ask for it"),
        ("longbench_v2_no_context", "without the option 'context'"),
        ("longbench_v2_rag", "official: longbench_v2_no_context"),
        ("longbench_v1_retrieval_hotpotqa", "its prompts hold parts of documents"),
    ],
)
def test_tasks_that_have_no_use_for_it(task, said, tmp_path):
    with pytest.raises(OptionError) as caught:
        run_with(tmp_path, task, {"context": "none"})
    assert said in str(caught.value)
