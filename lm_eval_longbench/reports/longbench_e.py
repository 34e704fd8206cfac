"""The table of LongBench-E: each dataset by document length, and the curve relative to itself."""

from __future__ import annotations

from lm_eval_longbench.aggregation.length_buckets import BUCKETS
from lm_eval_longbench.catalog import E
from lm_eval_longbench.reports.figure import RELATIVE, V1_PERCENT
from lm_eval_longbench.reports.longbench_v1 import rouge_google_specs
from lm_eval_longbench.reports.measure import Relative
from lm_eval_longbench.reports.scored import ScoredTable
from lm_eval_longbench.reports.spec import Spec

SECTIONS = ("all lengths", *BUCKETS)


def specs(table: ScoredTable) -> list[Spec]:
    """Return every figure: the dataset, its three buckets, and x/y - 1 of each bucket.

    x is the score of the bucket, y that of the whole dataset (source: LongBench paper, section on
    LongBench-E). Sections are lengths, so that the datasets of one length stand together.
    """
    means = table.mean_of(table.given)
    by_section: dict[str, list[Spec]] = {name: [] for name in SECTIONS}
    relative: dict[str, list[Spec]] = {name: [] for name in BUCKETS}
    for dataset in E:
        own = table.has("dataset", dataset)
        whole = table.leaf(dataset, own, means, table.given)
        by_section[SECTIONS[0]].append(Spec(SECTIONS[0], dataset, whole, V1_PERCENT))
        buckets = {
            name: table.leaf(
                f"{dataset} {name}", own & table.has("bucket", name), means, table.given
            )
            for name in BUCKETS
        }
        official = table.facts.official.get(dataset)
        for name, leaf in buckets.items():
            by_section[name].append(
                Spec(
                    name,
                    dataset,
                    leaf,
                    V1_PERCENT,
                    in_official=official is not None,
                    official=(official or {}).get(name),
                )
            )
            ratio = Relative(leaf, tuple(buckets.values()))
            section = f"{name}, relative to all lengths"
            relative[name].append(Spec(section, dataset, ratio, RELATIVE))
    parts = (*by_section.values(), *relative.values())
    return [spec for part in parts for spec in part] + rouge_google_specs(table)
