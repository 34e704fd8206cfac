"""The prompts of LongBench v2 by the names of their official files."""

from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.prompts import render as module

ZERO_SHOT, NO_CONTEXT, COT, COT_ANSWER, RAG = (
    "0shot",
    "0shot_no_context",
    "0shot_cot",
    "0shot_cot_ans",
    "0shot_rag",
)
TASKS = {
    ZERO_SHOT: "longbench_v2",
    NO_CONTEXT: "longbench_v2_no_context",
    COT: "longbench_v2_cot",
    COT_ANSWER: "longbench_v2_cot_answer",
    RAG: "longbench_v2_rag",
}


def load_template(name):
    """Return an official template."""
    return module.checked_template(V2.tasks[TASKS[name]])


def render(document, template, reasoning=None):
    """Return the prompt of a question."""
    row = document if reasoning is None else {**document, "cot": reasoning}
    return module.render(V2.tasks[TASKS[template]], row)


def question(document, template, reasoning=None):
    """Return the end of the prompt that follows the document."""
    row = document if reasoning is None else {**document, "cot": reasoning}
    return module.question(V2.tasks[TASKS[template]], row)
