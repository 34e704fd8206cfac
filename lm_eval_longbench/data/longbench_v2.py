"""Load LongBench v2 or one of its domains: pinned, from a local copy, or the sample."""

from __future__ import annotations

import datasets

from lm_eval_longbench.catalog_v2 import COUNTS, DOMAINS
from lm_eval_longbench.data.array_benchmark import ArrayBenchmark
from lm_eval_longbench.data.documents import Documents
from lm_eval_longbench.data.load_array import open_array
from lm_eval_longbench.data.rows_v2 import FIELDS, problem_of
from lm_eval_longbench.data.sources import LONGBENCH_V2
from lm_eval_longbench.errors import UnknownNameError

# All questions are in one Arrow file, so that their order stays that of the source.
_ALL = "questions"
BENCHMARK = ArrayBenchmark(
    source=LONGBENCH_V2,
    name="longbench_v2",
    fields=FIELDS,
    problem_of=problem_of,
    features=datasets.Features({name: datasets.Value("string") for name in FIELDS}),
    counts=COUNTS,
    arrow_file=lambda row: _ALL,
)


def load(domain: str | None, data_dir: str | None = None) -> Documents:
    """Return all questions, or those of one domain, in the order of the file.

    The first call for a file converts it; later ones only map its rows, and a domain is a choice of
    row numbers. A domain of the pinned file is official, as the whole is: both are defined sets.

    Args:
        domain: short form of a domain in `catalog_v2.DOMAINS`; None: all questions.
        data_dir: None: the pinned official file; "sample": the embedded sample; else a folder with
            `data.json`, or such a file.

    Raises:
        UnknownNameError: there is no such domain.
        DataError: the data is not there, damaged, has no rows of the domain, or (pinned) is not
            what is pinned.
    """
    if domain is not None and domain not in DOMAINS:
        raise UnknownNameError("LongBench v2 domain", domain, DOMAINS)
    data = open_array(BENCHMARK, data_dir)
    if domain is None:
        return data.documents(_ALL)
    name = DOMAINS[domain]
    data.require("domain", name)
    documents = data.documents(_ALL)
    # This reads the one column, not the texts.
    kept = [index for index, own in enumerate(documents.rows["domain"]) if own == name]
    return documents.select(kept)
