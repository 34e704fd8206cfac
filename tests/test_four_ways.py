"""The four ways to a figure agree: the harness, `score`, `report` and `verify`.

Real runs on the embedded sample, in the layouts that users have. What the harness states is held
against `scores.json`, against the report, and against what `verify` recomputes, figure by figure.
"""

import functools
import gzip
import hashlib
import importlib.util
import json
import math
import shutil
from collections import Counter
from pathlib import Path

import lm_eval.tasks
import pytest
from json_server import JsonServer, serving
from longbench_pro_facts import BY_CODE
from real_runs import EXTRACTIVE
from v1_tasks import BY_NAME, load

from lm_eval_longbench.api.run import report
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task
from lm_eval_longbench.check.verification import CONFIRMED, DIFFERENT, NOT_CHECKABLE, OFFICIAL
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.harness.baseline import NAME
from lm_eval_longbench.harness.run import run_harness
from lm_eval_longbench.records.results import RESULTS_NAME
from lm_eval_longbench.retrieval.embedding import choose_embedder
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.task_folder import task_folder

V1 = ["longbench_v1_trec", "longbench_v1_qasper"]
ROUGE = ["longbench_v1_gov_report", "longbench_v1_e_gov_report"]
E = ["longbench_v1_e_trec", "longbench_v1_e_qasper"]
PRO = ["longbench_pro_t3_1", "longbench_pro_t6_2"]
V2, COT, COT_ANSWER = "longbench_v2", "longbench_v2_cot", "longbench_v2_cot_answer"
MINE, PRO_MINE = "longbench_v1_mine", "longbench_pro_mine"
SAMPLING = ("--gen_kwargs", "temperature=1.0,do_sample=True")
# One reasoning of two is lost; its answer is right all the same.
LOST = 2

# A user's own groups, one of them called almost as ours.
GROUPS = {
    MINE: """
group: longbench_v1_mine
task: [TASKS]
aggregate_metric_list:
  - {metric: score, weight_by_size: WEIGHTED, filter_list: [FILTERS]}
""",
    PRO_MINE: """
group: longbench_pro_mine
task: [TASKS]
aggregate_metric_list:
  - {metric: score, weight_by_size: true, filter_list: [FILTERS]}
  - {metric: best_of_n, weight_by_size: true, filter_list: [FILTERS]}
  - {metric: pass_at_n, weight_by_size: true, filter_list: [FILTERS]}
""",
}
# The first one, which is what counts, takes the answer from behind a mark; the other one does not.
FILTERS = """
filter_list:
  - name: last
    filter:
      - {function: regex, regex_pattern: '(?s)Finally: (.*)', fallback: ''}
      - {function: take_first}
  - name: plain
    filter:
      - {function: take_first}
"""


def documents(task):
    """Return the sample's documents of a task."""
    return benchmark_of(find_task(task)).load(find_task(task), "sample").rows


def _questions():
    """Return the text of each question that may be asked here, with a right answer."""
    known = []
    for task in (*V1, *E):
        rows = load(BY_NAME[task], "sample").rows
        known += [(row["input"], row["answers"][0]) for row in rows]
    for row in documents("longbench_v2"):
        known.append((row["question"].strip(), f"The correct answer is ({row['answer']})"))
    for task in ROUGE:  # without a question: known by the beginning of the document
        rows = load(BY_NAME[task], "sample").rows
        known += [(row["context"][:100].strip(), row["answers"][0][:300]) for row in rows]
    for task in PRO:
        for row in documents(task):
            right = "\n".join(row["answer"])
            mark = "[Answer]" if row["language"] == "English" else "[答案]"
            known.append((row["question_nonthinking"], f"{mark}\n{right}"))
    return known


class Answers:
    """What the server answers: by the prompt, and by how often it has been asked before."""

    def __init__(self, *, marked):
        self.known = _questions()
        self.asked = Counter()
        self.marked = marked

    def __call__(self, payload):
        prompt = payload["messages"][0]["content"]
        self.asked[prompt] += 1
        text = f"{self.asked[prompt]} {prompt}"
        number = hashlib.sha256(text.encode()).digest()[0]
        right = next(right for question, right in self.known if question in prompt)
        if "think step by step" in prompt:
            if payload["max_tokens"] == 1024:
                return "" if number % LOST == 0 else f"It may be so. {right if number % 3 else ''}"
            return right
        said = (right, right, "", f"<think>hm</think>{right}", "The correct answer is (A)", "B")
        own = said[number % len(said)]
        return f"{said[number % 5]} Finally: {own}" if self.marked else own


def _conftest_of(folder):
    """Return the module with a test folder's own servers."""
    path = Path(__file__).parent / folder / "conftest.py"
    spec = importlib.util.spec_from_file_location(f"{folder}_conftest", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def server():
    """An OpenAI-compatible server of chats."""
    with serving(_conftest_of("harness").ApiServer()) as own:
        yield own


@pytest.fixture(scope="module")
def embeddings():
    """One of chats, with an answer a seed, and of embeddings; its address."""
    with serving(JsonServer(_conftest_of("check").ChatHandler)) as own:
        yield own.url("/v1")


class Run:
    """A run of the harness, and what the three other ways say of it.

    Attributes:
        whole: its results file.
        filter: the one whose answers count.
    """

    def __init__(self, folder, filter="none", embedder=None):
        self.folder, self.filter = folder, filter
        (path,) = (one for one in folder.rglob("*.json") if RESULTS_NAME.fullmatch(one.name))
        self.path, self.whole = path, json.loads(path.read_text(encoding="utf-8"))
        scored = folder.with_name(f"{folder.name} scored")
        self.scored = score_paths([folder], scored, workers=1, rouge_google=True, embedder=embedder)
        self.samples = [json.loads(line) for line in (scored / "samples.jsonl").open()]
        self.scores = json.loads((scored / "scores.json").read_text(encoding="utf-8"))
        self.report = json.loads(report(scored, format="json"))
        self.of_logs = json.loads(report(folder, format="json"))
        self.verified = verify([folder])

    @property
    def tasks(self):
        """Tasks by name, groups left out."""
        return [name for name in self.whole["results"] if name in self.whole["configs"]]

    def figure(self, name, metric):
        """What the harness says."""
        return self.whole["results"][name][f"{metric},{self.filter}"]

    def row(self, table, section, name, of=None):
        """What the report says: value in its unit, official value, questions."""
        for benchmark in (of or self.report)["benchmarks"]:
            labels = [column["table"] for column in benchmark["columns"]]
            if table in labels:
                number = labels.index(table)
                for row in benchmark["figures"]:
                    if (row["section"], row["name"]) == (section, name):
                        return row["figures"][number]
        raise AssertionError(f"no {section}, {name} of {table}")

    def rows(self, task):
        """The log of a task, packed or not, under the filter that counts."""
        (path,) = self.folder.rglob(f"samples_{task}_2*.jsonl*")
        opened = gzip.open if path.name.endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        return [row for row in rows if row["filter"] == self.filter]


def make_run(folder, tasks, *arguments, options=None, output="out", include=None):
    """Run `lm-eval-longbench run` in this process; return the folder of its output."""
    metadata = {"longbench": {"data_dir": "sample", **(options or {})}}
    place = [] if include is None else ["--include_path", str(include)]
    with pytest.MonkeyPatch.context() as patch:
        # The harness would read all of its own tasks first, for ten seconds.
        ours_alone = functools.partial(lm_eval.tasks.TaskManager, include_defaults=False)
        patch.setattr(lm_eval.tasks, "TaskManager", ours_alone)
        run_harness(
            [
                *arguments,
                *place,
                *("--tasks", ",".join(tasks)),
                *("--metadata", json.dumps(metadata)),
                *("--output_path", str(folder / output)),
                "--log_samples",
            ]
        )
    return folder / output.partition("/")[0]


def over_api(server, *, marked=False):
    """Return the arguments of a run that asks the server, which forgets what it was asked."""
    server.answer = Answers(marked=marked)
    url = server.url("/v1/chat/completions")
    model = f"base_url={url},model=tiny"
    return ["--model", "local-chat-completions", "--model_args", model, "--apply_chat_template"]


def own_tasks(folder, *, weighted, filters=False):
    """Write the user's YAML: groups, and with filters tasks that include ours."""
    folder.mkdir()
    for task in (*V1, *E, V2, *PRO) if filters else ():
        (found,) = task_folder().rglob(f"{task}.yaml")
        text = f"include: {found}\ntask: my_{task}\ntag: []\n{FILTERS}"
        (folder / f"my_{task}.yaml").write_text(text, encoding="utf-8")
    for name, tasks in ((MINE, V1), (PRO_MINE, PRO)):
        own = [f"my_{task}" if filters else task for task in tasks]
        text = GROUPS[name].replace("TASKS", ", ".join(own))
        text = text.replace("WEIGHTED", str(weighted).lower())
        text = text.replace("FILTERS", "last, plain" if filters else "none")
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The baseline, a JSON output path, a user's groups weighted by size, chain of thought."""
    folder = tmp_path_factory.mktemp("base")
    own = own_tasks(folder / "own", weighted=True)
    tasks = [MINE, PRO_MINE, *E, V2, COT]
    arguments = ["--model", EXTRACTIVE]
    return Run(make_run(folder, tasks, *arguments, output="out/x.json", include=own))


@pytest.fixture(scope="module")
def filtered(tmp_path_factory, server):
    """A user's own tasks and filters, two repeats over an API from seed 7, plain group means."""
    folder = tmp_path_factory.mktemp("filtered")
    own = own_tasks(folder / "own", weighted=False, filters=True)
    tasks = [MINE, PRO_MINE, *(f"my_{task}" for task in (*E, V2))]
    arguments = [*over_api(server, marked=True), SAMPLING[0], f"{SAMPLING[1]},seed=7"]
    return Run(make_run(folder, tasks, *arguments, options={"repeats": 2}, include=own), "last")


ANSWERED = [*V1, E[0], *ROUGE, V2, COT, *PRO]


@pytest.fixture(scope="module")
def answered(tmp_path_factory, server):
    """Every benchmark over an API; pass one of chain of thought fails for some questions."""
    folder = tmp_path_factory.mktemp("answered")
    return Run(make_run(folder, ANSWERED, *over_api(server), output="out/x.json"))


@pytest.fixture(scope="module")
def predicted(tmp_path_factory, server):
    """The same answers with --predict_only."""
    folder = tmp_path_factory.mktemp("predicted")
    return Run(make_run(folder, ANSWERED, *over_api(server), "--predict_only"))


@pytest.fixture(scope="module")
def packed(answered, tmp_path_factory):
    """The same files, whose logs were packed afterwards."""
    folder = tmp_path_factory.mktemp("packed") / "out"
    shutil.copytree(answered.folder, folder)
    for log in folder.rglob("samples_*.jsonl"):
        log.with_name(f"{log.name}.gz").write_bytes(gzip.compress(log.read_bytes()))
        log.unlink()
    return Run(folder)


@pytest.fixture(scope="module")
def unseeded(tmp_path_factory, server):
    """Two repeats over an API without a seed."""
    folder = tmp_path_factory.mktemp("unseeded")
    arguments = [*over_api(server), SAMPLING[0], f"{SAMPLING[1]},seed=none"]
    tasks = [V1[0], E[0], V2, PRO[0]]
    return Run(make_run(folder, tasks, *arguments, options={"repeats": 2}))


SCORED = ["base", "filtered", "answered", "packed", "unseeded"]


@pytest.fixture(params=SCORED)
def layout(request):
    """Each layout in which the harness itself has figures."""
    return request.param


@pytest.fixture
def run(request, layout):
    return request.getfixturevalue(layout)


def close(value, expected, tolerance=1e-9):
    return value == pytest.approx(expected, rel=0, abs=tolerance)


def same(share, row, factor=100, digits=2, official=None):
    """Whether a share of the harness, a row of the report and an official figure are one number.

    Args:
        share: what the harness says, from 0 to 1.
        row: of the report, `factor` times the share, unrounded.
        digits: of the official figure, which is rounded; None: it is not.
        official: in scores.json; the report has the same.
    """
    half = 0 if digits is None else 0.5 * 10**-digits
    return (
        close(row["value"], factor * share)
        and (official is None or close(official, factor * share, half + 1e-9))
        and (official is None or row["official"] == official)
    )


def ours(run, task):
    """Our own name of a task that a user may have called otherwise."""
    return run.whole["configs"][task]["metadata"]["longbench_run"]["task"]


def scores_of(run, table):
    """The part of scores.json that is a table's; it names them only if there are several."""
    assert run.scores[table] == run.scored["tables"][table]["official"]
    return run.scores[table]


def check_google(run, task, table, dataset, of):
    """Compare Google's ROUGE-L, which `score` computes where it is asked to."""
    if dataset != "gov_report" or of is run.of_logs:
        return 0
    found = run.figure(task, "rougeL_google")
    assert 0 < found < 1 and found != run.figure(task, "score")
    assert close(run.scored["tables"][table]["tasks"][ours(run, task)]["rougeL_google"], found)
    assert same(found, run.row(table, "rougeL_google", dataset, of))
    return 1


def check_v1(run, task, of):
    dataset = BY_NAME[ours(run, task)].label
    official = scores_of(run, "longbench_v1")[dataset]
    row = run.row("longbench_v1", "dataset", dataset, of)
    assert same(run.figure(task, "score"), row, official=official)
    assert close(row["failed"] / samples_of(run, task), run.figure(task, "failed"))
    return 1 + check_google(run, task, "longbench_v1", dataset, of)


def check_e(run, task, of):
    dataset = BY_NAME[ours(run, task)].label
    assert same(run.figure(task, "score"), run.row("longbench_v1_e", "all lengths", dataset, of))
    for metric, name in (("0_4k", "0-4k"), ("4_8k", "4-8k"), ("8k_plus", "8k+")):
        official = scores_of(run, "longbench_v1_e")[dataset][name]
        row = run.row("longbench_v1_e", name, dataset, of)
        assert same(run.figure(task, f"score_{metric}"), row, official=official)
    return 4 + check_google(run, task, "longbench_v1_e", dataset, of)


def check_v2(run, task, of):
    table, failed = ours(run, task), run.figure(task, "failed")
    metric = "acc_one_call" if table == COT else "acc"
    stated = run.scored["tables"][table]["accuracy"]
    parts = {"overall": metric}
    if table != COT:
        parts |= {name: f"acc_{name}" for name in ("easy", "hard", "short", "medium", "long")}
        assert close(
            stated["compensated"]["overall"],
            100 * run.figure(task, "acc_compensated"),
            0.05 + 1e-9,
        )
    for name, own in parts.items():
        row = run.row(table, "accuracy (failed are wrong)", name, of)
        assert same(run.figure(task, own), row, digits=1, official=stated[name])
    if run.scored["tables"][table]["repeats"] == 1:
        # Officially a failed call has no line: it is in no denominator.
        official = run.figure(task, metric) / (1 - failed)
        row = run.row(table, "official", "overall", of)
        assert same(official, row, digits=1, official=scores_of(run, table)["overall"])
    number = run.row(table, "accuracy (failed are wrong)", "overall", of)["failed"]
    assert close(number / samples_of(run, task), failed)
    return len(parts) + 1


def check_pro(run, task, of):
    name = BY_CODE[ours(run, task).removeprefix("longbench_pro_")].name
    row = run.row("longbench_pro", "secondary_task", name, of)
    assert same(run.figure(task, "score"), row, factor=1, digits=None)
    return 1


CHECKS = {
    "longbench_v1": check_v1,
    "longbench_v1_e": check_e,
    "longbench_v2": check_v2,
    "longbench_pro": check_pro,
}


def samples_of(run, task):
    table = next(t for t in run.scored["tables"].values() if ours(run, task) in t["tasks"])
    return table["tasks"][ours(run, task)]["samples"]


def test_the_harness_score_and_report_agree(run):
    """For every task, whether the report is made of scored folders or of logs."""
    for of in (run.report, run.of_logs):
        compared, benchmarks = 0, set()
        for task in run.tasks:
            benchmark = run.whole["configs"][task]["metadata"]["longbench_run"]["benchmark"]
            compared += CHECKS[benchmark](run, task, of)
            benchmarks.add(benchmark)
        assert benchmarks == set(CHECKS)
        assert compared >= 13
        assert not any(table["counts"]["duplicate"] for table in run.scored["tables"].values())


@pytest.mark.parametrize(("layout", "weighted"), [("base", True), ("filtered", False)])
def test_a_users_groups_agree(request, layout, weighted):
    """The harness's means over the user's groups are those of the figures in the report."""
    run = request.getfixturevalue(layout)
    names = [BY_NAME[task].label for task in V1]
    rows = [run.row("longbench_v1", "dataset", name) for name in names]
    sizes = [row["n"] if weighted else 1 for row in rows]
    assert sizes in ([5, 4], [1, 1])
    values = [row["value"] / 100 * size for row, size in zip(rows, sizes, strict=True)]
    assert close(run.figure(MINE, "score"), sum(values) / sum(sizes))
    repeats = run.scored["tables"]["longbench_pro"]["repeats"]
    official = scores_of(run, "longbench_pro")
    for metric, section, name, stated in (
        ("score", "overall", "overall", official["average_overall_metric"]),
        (
            "best_of_n",
            "best of N",
            f"best of {repeats}",
            official[f"BoN-{repeats}"]["overall_metric"],
        ),
        ("pass_at_n", "pass@N", f"pass@{repeats}", official[f"pass@{repeats}"]),
    ):
        row = run.row("longbench_pro", section, name)
        assert same(run.figure(PRO_MINE, metric), row, 1, None, stated)
    checked = {
        check.place: check.status
        for check in run.verified.checks
        if check.kind == "groups" and check.name == f"score,{run.filter}"
    }
    assert checked == {MINE: CONFIRMED, PRO_MINE: CONFIRMED}


def test_pro_agrees_over_all_repeats(answered):
    """Three answers to each question, which are not the same: the figures are not either."""
    sizes = [answered.whole["results"][task]["sample_len"] for task in PRO]
    official = scores_of(answered, "longbench_pro")

    def mean(metric):
        return sum(
            answered.figure(task, metric) * size for task, size in zip(PRO, sizes, strict=True)
        ) / sum(sizes)

    for metric, found in (
        ("score", official["average_overall_metric"]),
        ("best_of_n", official["BoN-3"]["overall_metric"]),
        ("pass_at_n", official["pass@3"]),
    ):
        assert close(found, mean(metric))
    assert official["average_overall_metric"] < official["BoN-3"]["overall_metric"]


def test_verify_confirms_every_figure(run):
    """Of the results file each one is recomputed, and the same; its status is 0."""
    report = run.verified
    assert report.unreadable == []
    assert report.with_status(DIFFERENT) == []
    assert report.exit_status == 0
    figures = {
        (check.place, check.name): check
        for check in report.checks
        if check.kind in ("figures", "groups")
    }
    stated = 0
    for place, own in run.whole["results"].items():
        for key, value in own.items():
            if "," in key and "_stderr" not in key:
                check = figures[place, key]
                assert (check.status, check.found) == (CONFIRMED, value)
                if key.startswith("capped,"):  # these models do not say how answers end
                    assert math.isnan(value) and math.isnan(check.expected)
                else:
                    assert close(check.expected, value)
                stated += 1
            elif (place, key) in figures:
                assert figures[place, key].status == CONFIRMED
    assert stated > 30
    official = [check for check in report.checks if check.kind == OFFICIAL]
    assert {check.place for check in official} == set(run.tasks)
    assert report.with_status(NOT_CHECKABLE) == []


def rows_of(report):
    """All rows of a report, without the name of its run."""
    return [one["figures"] for one in report["benchmarks"]]


def test_predictions_only_give_the_figures_of_a_scored_run(answered, predicted):
    """The harness has no figures then; `score` and `report` have those of the same answers."""
    assert predicted.scores == answered.scores
    assert predicted.samples == answered.samples
    assert rows_of(predicted.report) == rows_of(answered.report)
    for task in (*answered.tasks,):
        assert predicted.figure(task, "bypass") == 999
        texts = [[row["resps"] for row in run.rows(task)] for run in (answered, predicted)]
        assert texts[0] == texts[1]


def test_verify_says_that_predictions_were_not_scored(predicted):
    report = predicted.verified
    assert report.with_status(DIFFERENT) == []
    assert report.exit_status == 3
    own = report.with_status(NOT_CHECKABLE)
    said = {(check.kind, check.meaning) for check in own}
    assert said == {
        ("sample scores", "The run was made with predict_only: nothing was scored."),
        ("counts", "Nothing was scored, so nothing was counted."),
        (
            OFFICIAL,
            "No official figure was recomputed: there is no log, or nothing was scored.",
        ),
    }
    assert {check.place for check in own} == set(predicted.tasks)
    # The prompts are checked all the same.
    confirmed = {(check.kind, check.place) for check in report.with_status(CONFIRMED)}
    for task in predicted.tasks:
        assert {(kind, task) for kind in ("prompts", "questions asked")} <= confirmed


@pytest.mark.parametrize("layout", ["answered", "packed", "predicted"])
def test_an_answer_whose_reasoning_failed_is_worth_nothing(request, layout):
    """In all four, although the answer itself is right."""
    run = request.getfixturevalue(layout)
    lost = {row["doc"]["_id"] for row in run.rows(COT) if not row["resps"][0][0]}
    rows = run.rows(COT_ANSWER)
    assert 3 < len(lost) < len(rows) - 3
    # Each answer is right: what is not 1.0 is so for its reasoning alone.
    for row in rows:
        assert f"The correct answer is ({row['doc']['answer']})" in row["resps"][0][0]
        if layout != "predicted":
            assert (row["acc"], row["failed"]) == (
                (0.0, 1.0) if row["doc"]["_id"] in lost else (1.0, 0.0)
            )
    samples = {one["id"]: one for one in run.samples if one["task"] == COT_ANSWER}
    for name, one in samples.items():
        worth = (0.0, True, True) if name in lost else (1.0, False, False)
        assert (one["score"], one["failed"], one["dropped"]) == worth
    share = 1 - len(lost) / len(rows)
    row = run.row(COT_ANSWER, "accuracy (failed are wrong)", "overall")
    assert close(row["value"], 100 * share)
    assert (row["failed"], row["n"]) == (len(lost), len(rows))
    official = scores_of(run, COT_ANSWER)
    assert (official["overall"], official["n"]) == (100.0, len(rows) - len(lost))
    if layout != "predicted":
        assert close(run.figure(COT_ANSWER, "acc"), share)
        (check,) = (
            check
            for check in run.verified.checks
            if (check.place, check.name) == (COT_ANSWER, "acc,none")
        )
        assert check.status == CONFIRMED
        assert close(check.expected, share)


def test_packed_logs_give_the_same(answered, packed):
    assert not list(packed.folder.rglob("samples_*.jsonl"))
    assert packed.scores == answered.scores
    assert packed.samples == answered.samples
    assert rows_of(packed.report) == rows_of(answered.report)
    for check, other in zip(packed.verified.checks, answered.verified.checks, strict=True):
        assert (check.kind, check.name, check.place) == (other.kind, other.name, other.place)
        assert (check.status, check.meaning) == (other.status, other.meaning)


SUMMARY = "longbench_pro_t4_1"


@pytest.mark.parametrize("known", [True, False])
def test_summaries(tmp_path, embeddings, known):
    """With the official embedding model all four agree; without one none of them has a figure."""
    model = ["--model", "local-chat-completions", "--apply_chat_template", "--model_args"]
    model.append(f"base_url={embeddings}/chat/completions,model=tiny")
    name = "Qwen/Qwen3-Embedding-8B"
    options = {"embedding_model": name, "embedding_url": embeddings} if known else {}
    embedder = choose_embedder(name, embeddings) if known else None
    run = Run(make_run(tmp_path, [SUMMARY], *model, options=options), embedder=embedder)
    (task,) = (table["tasks"][SUMMARY] for table in run.scored["tables"].values())
    row = run.row("longbench_pro", "overall", "overall")
    best = run.row("longbench_pro", "best of N", "best of 3")
    (official,) = (check for check in run.verified.checks if check.kind == OFFICIAL)
    assert run.verified.with_status(DIFFERENT) == []
    assert (run.verified.exit_status, official.status) == (3, NOT_CHECKABLE)
    if known:
        assert 0 < run.figure(SUMMARY, "score") < 1
        assert same(
            run.figure(SUMMARY, "score"), row, 1, None, run.scores["average_overall_metric"]
        )
        assert same(run.figure(SUMMARY, "best_of_n"), best, 1, None)
        assert close(task["score"], run.figure(SUMMARY, "score"))
        assert official.meaning.startswith(
            "It follows from the logged values, but these cannot be recomputed:"
        )
    else:
        for value in (run.figure(SUMMARY, "score"), run.figure(SUMMARY, "best_of_n")):
            assert value != value  # NaN
        assert row["value"] is best["value"] is task["score"] is None
        assert run.scores["average_overall_metric"] is None
        assert row["unscored"] == task["unscored"] == task["samples"]
        assert official.meaning == "The official figure is not known yet (NaN)."


def test_the_users_first_filter_counts(filtered):
    """The other one has figures of its own in the results, and they are confirmed too."""
    moved = set()
    for task in filtered.tasks:
        own = filtered.whole["results"][task]
        metric = "acc" if "acc,last" in own else "score"
        if own[f"{metric},plain"] != own[f"{metric},last"]:
            moved.add(filtered.whole["configs"][task]["metadata"]["longbench_run"]["benchmark"])
    assert moved == set(CHECKS)


@pytest.mark.parametrize(
    ("layout", "seeds"),
    [("filtered", [7, 8]), ("unseeded", [None, None]), ("answered", [1234, 1235, 1236])],
)
def test_seeds_are_recorded(request, layout, seeds):
    run = request.getfixturevalue(layout)
    repeated = [task for task in run.tasks if seeds[0] != 1234 or ours(run, task) in PRO]
    for task in repeated:
        recorded = run.whole["configs"][task]["metadata"]["longbench_run"]
        assert recorded["seeds"] == seeds


def test_a_model_in_this_process_without_a_seed(tmp_path):
    """Nothing is sent to it in place of a seed, and nothing is open because of that."""
    arguments = ("--model", EXTRACTIVE, "--gen_kwargs", "seed=none")
    report = verify([make_run(tmp_path, [V1[0]], *arguments)])
    assert report.exit_status == 0
    assert report.with_status(NOT_CHECKABLE) == []


def test_the_baseline_has_a_name_of_its_own(base, tmp_path):
    """Not one that the harness makes up: two runs of it are one model's."""
    assert base.whole["model_name"] == NAME
    assert base.path.parent == base.folder
    assert base.path.name.startswith("x_")
    # Its answers are the same again: another log, or it would be taken for a copy.
    options = {"log_prompts": "full"}
    again = make_run(tmp_path, V1[:1], "--model", EXTRACTIVE, options=options)
    (path,) = (one for one in again.rglob("*.json") if RESULTS_NAME.fullmatch(one.name))
    assert path.parent.name == json.loads(path.read_text(encoding="utf-8"))["model_name"] == NAME
    report = score_paths([base.folder, again], tmp_path / "scored", workers=1)
    table = report["tables"]["longbench_v1"]
    assert table["repeats"] == 2
    assert (table["tasks"][V1[0]]["questions"], table["tasks"][V1[0]]["samples"]) == (5, 10)


def test_two_models_of_one_layout_are_no_repeats(base, answered, tmp_path):
    """With a JSON output path too, where the results file has a name of the user's."""
    with pytest.raises(PredictionError, match=r"longbench-extractive \(.*tiny \("):
        score_paths([base.folder, answered.folder], tmp_path, workers=1)
    assert not list(tmp_path.iterdir())
