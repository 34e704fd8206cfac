"""The tasks of LongBench Pro, the dimensions of its questions, and how many have which value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lm_eval_longbench.catalog.model import Length

NAME, THINKING = "longbench_pro", "thinking"
QUESTIONS, QUESTIONS_PER_TASK = 1500, 60
# Each task has as many documents of 8k, 16k, 32k, 64k, 128k and 256k tokens.
LENGTH = Length(32_000, 64_000, "tokens")
# The metric of tasks whose score needs semantic similarity.
SUMMARY = "summary"
PRIMARY_TASKS = (
    "T1. Retrieval & Ranking",
    "T2. Sequencing & Structure Reconstruction",
    "T3. Evidence-Grounded QA",
    "T4. Summarization & Synthesis",
    "T5. Attribution & Citation Alignment",
    "T6. Aggregation & Clustering",
    "T7. Consistency & Compliance Checking",
    "T8. Structured & Numeric Reasoning",
    "T9. Version & Code Diff Analysis",
    "T10. Rule Induction & In-Context Learning",
    "T11. Dialogue Memory & Long-Horizon Tracking",
)
# Dimensions by which official figures are broken down, in the official order, and their values.
DIMENSIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "token_length": ("8k", "16k", "32k", "64k", "128k", "256k"),
        "contextual_requirement": ("Full", "Partial"),
        "difficulty": ("Easy", "Moderate", "Hard", "Extreme"),
        "primary_task": PRIMARY_TASKS,
        "language": ("Chinese", "English"),
    }
)


@dataclass(frozen=True)
class SecondaryTask:
    """One secondary task.

    Attributes:
        name: official name, such as "T1.1 Global Cohesive Retrieval".
        metric: "accuracy", "f1", "sub_em", "ndcg", "pairwise_accuracy" or "summary".
    """

    name: str
    metric: str

    @property
    def code(self) -> str:
        """Short form for task and file names, such as "t1_1"."""
        return self.name.split(" ", 1)[0].lower().replace(".", "_")

    @property
    def primary_code(self) -> str:
        """Short form of the primary task, such as "t1"."""
        return self.code.split("_", 1)[0]

    @property
    def primary(self) -> str:
        """Official name of the primary task."""
        return PRIMARY_TASKS[int(self.primary_code[1:]) - 1]


_ALL = (
    SecondaryTask("T1.1 Global Cohesive Retrieval", "ndcg"),
    SecondaryTask("T1.2 Key-Snippet Retrieval", "ndcg"),
    SecondaryTask("T2.1 Global Timeline Reconstruction", "pairwise_accuracy"),
    SecondaryTask("T2.2 Local Causal Chain Sorting", "pairwise_accuracy"),
    SecondaryTask("T3.1 Multi-Doc Integration QA", "accuracy"),
    SecondaryTask("T3.2 Single-Hop Fact QA", "accuracy"),
    SecondaryTask("T4.1 Global-Coverage Constrained Summary", "summary"),
    SecondaryTask("T4.2 Query-Focused Summary", "summary"),
    SecondaryTask("T5.1 Full-Sentence Citation Alignment", "f1"),
    SecondaryTask("T5.2 Key-Statement Citation Alignment", "f1"),
    SecondaryTask("T6.1 Large-Scale Document Clustering", "sub_em"),
    SecondaryTask("T6.2 Targeted Subset Cluster Identification", "f1"),
    SecondaryTask("T6.3 Global Frequency Analysis", "pairwise_accuracy"),
    SecondaryTask("T7.1 Global Conflict & Inconsistency Localization", "f1"),
    SecondaryTask("T7.2 Targeted Rule or Condition Violation Detection", "f1"),
    SecondaryTask("T7.3 Comprehensive Error & Anomaly Sweep", "f1"),
    SecondaryTask("T8.1 Structured Multi-Source Consistency Verification", "sub_em"),
    SecondaryTask("T8.2 Single-Source Targeted Aggregation", "sub_em"),
    SecondaryTask("T8.3 Long-Context Procedural State Tracking", "sub_em"),
    SecondaryTask("T9.1 Dependency-Aware Multi-Version Impact Analysis", "f1"),
    SecondaryTask("T9.2 Localized Interface Change Detection", "f1"),
    SecondaryTask("T10.1 Large-Scale In-Context Rule Induction", "sub_em"),
    SecondaryTask("T10.2 Targeted Example-Based Rule Induction", "sub_em"),
    SecondaryTask("T11.1 Long-Range Entity & Commitment Tracking", "accuracy"),
    SecondaryTask("T11.2 Short-Range Reference Resolution & State Query", "accuracy"),
)
SECONDARY_TASKS: Mapping[str, SecondaryTask] = MappingProxyType({task.name: task for task in _ALL})
BY_CODE: Mapping[str, SecondaryTask] = MappingProxyType({task.code: task for task in _ALL})


def _counts() -> dict[str, Mapping[str, int]]:
    """Questions by dimension: 25 secondary tasks x 2 languages x 6 lengths x 5 questions."""
    per_primary = dict.fromkeys(PRIMARY_TASKS, 0)
    for task in _ALL:
        per_primary[task.primary] += QUESTIONS_PER_TASK
    return {
        "token_length": dict.fromkeys(DIMENSIONS["token_length"], QUESTIONS // 6),
        "contextual_requirement": {"Full": 840, "Partial": 660},
        "difficulty": {"Easy": 482, "Moderate": 289, "Hard": 289, "Extreme": 440},
        "primary_task": per_primary,
        "language": dict.fromkeys(DIMENSIONS["language"], QUESTIONS // 2),
        "secondary_task": {task.name: QUESTIONS_PER_TASK for task in _ALL},
    }


# Questions of the official set that have each value, by dimension; the secondary task comes last.
COUNTS: Mapping[str, Mapping[str, int]] = MappingProxyType(_counts())
