"""The table of LongBench v1: 21 datasets, category means, and a headline a language."""

from __future__ import annotations

import numpy as np

from lm_eval_longbench.catalog import CATEGORIES, V1
from lm_eval_longbench.reports.figure import V1_PERCENT
from lm_eval_longbench.reports.measure import Leaf, Mean
from lm_eval_longbench.reports.scored import ScoredTable
from lm_eval_longbench.reports.spec import Spec

LANGUAGES = {"English": "en", "Chinese": "zh"}
HEADLINE, DATASET, ROUGE_GOOGLE = "headline", "dataset", "rougeL_google"


def datasets_of(language: str, category: str | None = None) -> tuple[str, ...]:
    """Return a language's datasets, of one category or all; the code sets count in both.

    Args:
        language: "en" or "zh".
        category: one of CATEGORIES.
    """
    return tuple(
        info.name
        for info in V1.values()
        if info.language in (language, "code") and category in (None, info.category)
    )


def category_means(leaves: dict[str, Leaf], language: str) -> dict[str, Mean]:
    """Return the plain mean of a language's datasets in each category."""
    return {
        category: Mean(tuple(leaves[name] for name in datasets_of(language, category)))
        for category in CATEGORIES
    }


def specs(table: ScoredTable) -> list[Spec]:
    """Return every figure; one that lacks a dataset has no value.

    The headline of a language is the mean of its six category means, a category mean that of its
    datasets (source: LongBench, results tables). A question's score is the mean over its repeats.
    """
    means = table.mean_of(table.given)
    leaves = {name: table.leaf(name, table.has("dataset", name), means, table.given) for name in V1}
    headlines, categories = [], []
    for language, code in LANGUAGES.items():
        own = category_means(leaves, code)
        headlines.append(Spec(HEADLINE, language, Mean(tuple(own.values())), V1_PERCENT))
        categories += [Spec(language, name, mean, V1_PERCENT) for name, mean in own.items()]
    official = table.facts.official
    datasets = [
        Spec(
            DATASET,
            name,
            leaf,
            V1_PERCENT,
            in_official=name in official,
            official=official.get(name),
        )
        for name, leaf in leaves.items()
    ]
    return [*headlines, *categories, *datasets, *rouge_google_specs(table)]


def rouge_google_specs(table: ScoredTable) -> list[Spec]:
    """Return Google's ROUGE-L of each dataset of v1 or E that has it; it is not official."""
    if table.rouge_google is None:
        return []
    means = table.mean_of(table.given, table.rouge_google)
    computed = table.given & ~np.isnan(table.rouge_google)
    return [
        Spec(
            ROUGE_GOOGLE,
            name,
            table.leaf(f"{ROUGE_GOOGLE}/{name}", has, means, table.given),
            V1_PERCENT,
        )
        for name in table.info.dimensions["dataset"]
        if computed[has := table.has("dataset", name)].any()
    ]
