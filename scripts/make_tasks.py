#!/usr/bin/env python3
"""Write the task YAML files from the catalog, or with --check name those that differ."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lm_eval_longbench.catalog import CATEGORIES, E_SPLITS, V1_SPLITS, Split
from lm_eval_longbench.catalog_pro import PRIMARY_TASKS, SECONDARY_TASKS, SecondaryTask
from lm_eval_longbench.catalog_v2 import DOMAINS

from lm_eval_longbench.aggregation.longbench_v1 import BUCKET_METRICS, ROUGE_DATASETS
from lm_eval_longbench.aggregation.longbench_v2 import SUB_SCORES
from lm_eval_longbench.aggregation.pro_question import SUMMARY_METRICS

TASKS = Path(__file__).resolve().parent.parent / "tasks"
# Raise with every change that can move a score, and say so in CHANGELOG.md.
VERSION = "1.1"
# Output budgets of LongBench Pro's two prompt forms.
PRO_BUDGETS = {"longbench_pro": 1024, "longbench_pro_thinking": 8192}
# Shares of answers or questions that every task states.
COUNTS = ("failed", "truncated", "reasoned")
# Figures of LongBench Pro that every question has.
PRO_FIGURES = ("score", "best_of_n", "pass_at_n", *COUNTS)
_HARNESS = "!function lm_eval_longbench.harness"
V2_CLASSES = {
    "longbench_v2": f"{_HARNESS}.longbench_v2.LongBenchV2Task",
    "longbench_v2_no_context": f"{_HARNESS}.longbench_v2.LongBenchV2NoContextTask",
    "longbench_v2_cot": f"{_HARNESS}.longbench_v2_cot.LongBenchV2CotTask",
    "longbench_v2_cot_answer": f"{_HARNESS}.longbench_v2_cot.LongBenchV2CotAnswerTask",
    "longbench_v2_rag": f"{_HARNESS}.longbench_v2_rag.LongBenchV2RagTask",
}
KNOWN = "!function lm_eval_longbench.aggregation.means.mean_of_known"
ALL_KNOWN = "!function lm_eval_longbench.aggregation.means.mean_if_all_known"
HEADER = "# Written by scripts/make_tasks.py; change that, not this.\n"


def metric(name: str, aggregation: str, higher_is_better: bool) -> str:
    """One entry of a metric_list."""
    return (
        f"  - metric: {name}\n"
        f"    aggregation: {aggregation}\n"
        f"    higher_is_better: {str(higher_is_better).lower()}\n"
    )


COUNTED = "".join(metric(name, "mean", False) for name in COUNTS)


def base(class_name: str, dataset: str, rest: str) -> str:
    """What all tasks of a benchmark share; `rest` is its generation and its metrics."""
    return (
        f"{HEADER}class: {class_name}\n"
        f"{dataset}"
        "test_split: test\n"
        "output_type: generate_until\n"
        "num_fewshot: 0\n"
        'target_delimiter: ""\n'
        f"{rest}metadata:\n  version: {VERSION}\n"
    )


def generation(budget: int, temperature: str) -> str:
    """The generation arguments of a benchmark or a task."""
    return (
        f"generation_kwargs:\n  until: []\n  max_gen_toks: {budget}\n  temperature: {temperature}\n"
    )


def v1_metrics(is_e: bool, rouge: bool) -> str:
    """The metric_list of v1 or E; keys that do not apply to a document are None."""
    return (
        "metric_list:\n"
        + metric("score", "mean", True)
        + "".join(metric(name, KNOWN, True) for name in BUCKET_METRICS.values() if is_e)
        + (metric("rougeL_google", "mean", True) if rouge else "")
        + COUNTED
    )


def leaf(split: Split) -> str:
    """One task."""
    includes = "_base" if split.info.name not in ROUGE_DATASETS else "[_base, _summarization]"
    return (
        HEADER
        + f"include: {includes}\n"
        + f"task: {split.task}\n"
        + f"dataset_name: {split.file_stem}\n"
        + "generation_kwargs:\n"
        + "  until: []\n"
        + f"  max_gen_toks: {split.info.max_gen_toks}\n"
        + "  do_sample: false\n"
        + "  temperature: 0.0\n"
    )


def group(
    name: str,
    members: list[str],
    figures: tuple[str, ...] = (),
    alias: str | None = None,
    *,
    by_size: bool = True,
) -> str:
    """One group; its figures weigh tasks by size, so that questions weigh alike, or all alike."""
    weight = f"    weight_by_size: {str(by_size).lower()}\n"
    return (
        f"{HEADER}group: {name}\n"
        + (f"group_alias: {alias}\n" if alias else "")
        + "task:\n"
        + "".join(f"  - {member}\n" for member in members)
        + ("aggregate_metric_list:\n" if figures else "")
        + "".join(f"  - metric: {figure}\n{weight}" for figure in figures)
        + f"metadata:\n  version: {VERSION}\n"
    )


def pro_metrics(summary: bool) -> str:
    """The metric_list of Pro tasks; a summary has no score until its similarity is known."""
    names = ("score", "best_of_n", "pass_at_n", *(SUMMARY_METRICS if summary else ()))
    return "metric_list:\n" + "".join(metric(name, ALL_KNOWN, True) for name in names) + COUNTED


def pro_leaf(benchmark: str, task: SecondaryTask) -> str:
    """One secondary task; `dataset_name` carries its code and, for the thinking form, the form."""
    includes = "[_base, _summary]" if task.metric == "summary" else "_base"
    form = "_thinking" if benchmark.endswith("_thinking") else ""
    return (
        HEADER
        + f"include: {includes}\n"
        + f"task: {benchmark}_{task.code}\n"
        + f"task_alias: {task.name}\n"
        + f"dataset_name: {task.code}{form}\n"
    )


def pro_files() -> dict[Path, str]:
    """The two Pro trees."""
    written: dict[Path, str] = {}
    for benchmark, budget in PRO_BUDGETS.items():
        folder = TASKS / benchmark
        written[folder / "_base"] = base(
            f"{_HARNESS}.longbench_pro.LongBenchProTask",
            "dataset_path: caskcsg/LongBench-Pro\n",
            generation(budget, "1.0") + pro_metrics(summary=False),
        )
        written[folder / "_summary"] = HEADER + pro_metrics(summary=True)
        groups = []
        for number, primary in enumerate(PRIMARY_TASKS, start=1):
            own = [task for task in SECONDARY_TASKS.values() if task.primary == primary]
            groups.append(f"{benchmark}_t{number}")
            members = [f"{benchmark}_{task.code}" for task in own]
            written[folder / f"_{groups[-1]}.yaml"] = group(
                groups[-1], members, PRO_FIGURES, primary
            )
            for task in own:
                written[folder / f"{benchmark}_{task.code}.yaml"] = pro_leaf(benchmark, task)
        written[folder / f"_{benchmark}.yaml"] = group(benchmark, groups, PRO_FIGURES)
    return written


def v2_base() -> str:
    """What all LongBench v2 tasks share; a sub-score is None for a question it is not about."""
    metrics = (
        "metric_list:\n"
        + metric("acc", "mean", True)
        + "".join(metric(f"acc_{name}", KNOWN, True) for name in SUB_SCORES)
        + metric("acc_compensated", "mean", True)
        + metric("unparsed", "mean", False)
    )
    dataset = "dataset_path: zai-org/LongBench-v2\ndataset_name: all\n"
    rest = generation(128, "0.1") + metrics + COUNTED
    return base(V2_CLASSES["longbench_v2"], dataset, rest)


def v2_mode(name: str) -> str:
    """One mode: all questions under another prompt."""
    text = HEADER + "include: _base\n" + f"task: {name}\n"
    if name != "longbench_v2":
        text += f"class: {V2_CLASSES[name]}\n"
    if name == "longbench_v2_cot":
        text += generation(1024, "0.1") + "metric_list:\n" + metric("acc_one_call", "mean", True)
        text += metric("unparsed", "mean", False) + COUNTED
    return text


def v2_files() -> dict[Path, str]:
    """The modes of LongBench v2, and its domains with their group."""
    folder = TASKS / "longbench_v2"
    written = {folder / f"{name}.yaml": v2_mode(name) for name in V2_CLASSES}
    members = [f"longbench_v2_{domain}" for domain in DOMAINS]
    for domain, name in zip(DOMAINS, members, strict=True):
        written[folder / f"{name}.yaml"] = (
            HEADER
            + "include: _base\n"
            + f"task: {name}\n"
            + f"task_alias: {DOMAINS[domain]}\n"
            + f"dataset_name: {domain}\n"
        )
    # Only figures that every question has: the harness would weigh the others wrongly.
    written[folder / "_longbench_v2_domains.yaml"] = group(
        "longbench_v2_domains",
        members,
        ("acc", "acc_compensated", "unparsed", *COUNTS),
    )
    return written | {folder / "_base": v2_base()}


def files() -> dict[Path, str]:
    """Every task file and its text."""
    written: dict[Path, str] = {}
    for benchmark, splits in (("longbench_v1", V1_SPLITS), ("longbench_v1_e", E_SPLITS)):
        folder = TASKS / benchmark
        is_e = benchmark == "longbench_v1_e"
        written[folder / "_base"] = base(
            f"{_HARNESS}.longbench_v1.LongBenchV1Task",
            "dataset_path: zai-org/LongBench\n",
            v1_metrics(is_e, rouge=False),
        )
        written[folder / "_summarization"] = HEADER + v1_metrics(is_e, rouge=True)
        for split in splits:
            written[folder / f"{split.task}.yaml"] = leaf(split)
        groups = []
        for category in CATEGORIES:
            members = [split.task for split in splits if split.info.category == category]
            groups.append(f"{benchmark}_{category}")
            written[folder / f"_{groups[-1]}.yaml"] = group(
                groups[-1], members, ("score",), by_size=False
            )
        written[folder / f"_{benchmark}.yaml"] = group(benchmark, groups)
    for language, spoken in (("en", {"en", "code"}), ("zh", {"zh"})):
        name = f"longbench_v1_{language}"
        members = [split.task for split in V1_SPLITS if split.info.language in spoken]
        written[TASKS / "longbench_v1" / f"_{name}.yaml"] = group(name, members)
    return written | v2_files() | pro_files()


def main() -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 if any file differs")
    check = parser.parse_args().check
    wanted = files()
    present = {path for path in TASKS.rglob("*") if path.is_file()}
    different = sorted(
        {path for path, text in wanted.items() if path not in present or path.read_text() != text}
        | (present - set(wanted))
    )
    if check:
        for path in different:
            print(f"differs: {path.relative_to(TASKS.parent)}")
        return 1 if different else 0
    for path in present - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"{len(wanted)} files, {len(different)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
