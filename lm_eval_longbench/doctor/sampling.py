"""Temperature, sampling and repeats: against each other and against the official settings."""

from __future__ import annotations

from collections.abc import Iterator

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.harness.preflight_facts import LOCAL, Backend, TaskFacts
from lm_eval_longbench.protocol import is_greedy

TOPIC = "sampling"


def sampling_lines(backend: Backend, facts: TaskFacts) -> Iterator[Line]:
    """Yield the lines on how a task's answers are drawn."""
    generation, tasks = facts.generation, (facts.name,)
    if not generation:
        return
    try:
        temperature = float(generation.get("temperature") or 0.0)
    except (TypeError, ValueError):
        what = f"temperature={generation['temperature']!r} is no number"
        yield Line(ERROR, TOPIC, what, "Give a number from 0 in --gen_kwargs.", tasks)
        return
    sample = generation.get("do_sample")
    if sample and temperature == 0.0:
        if facts.repeats > 1 or backend.kind == LOCAL:
            yield Line(ERROR, TOPIC, "do_sample=True with temperature 0 does not sample", _T, tasks)
        else:
            what = "do_sample=True with temperature 0: the server answers greedily"
            yield Line(WARNING, TOPIC, what, _T, tasks)
        return
    if sample is not None and not sample and temperature > 0.0:
        what = f"do_sample=False with temperature {temperature:g}: greedy here, sampled by servers"
        yield Line(WARNING, TOPIC, what, "Set temperature=0.0, or leave do_sample out.", tasks)
        return
    if is_greedy(generation) and facts.repeats > 1:
        if not facts.problem:
            what = f"{facts.repeats} repeats with greedy decoding are one answer that often"
            yield Line(ERROR, TOPIC, what, _T, tasks)
        return
    yield _against_official(facts, temperature)


_T = "Sample: --gen_kwargs temperature=1.0,do_sample=True; or set the option repeats to 1."


def _words(greedy: bool, temperature: float, repeats: int) -> str:
    how = "greedy" if greedy else f"temperature {temperature:g}"
    return f"{how}, {repeats} answer{'s' if repeats > 1 else ''} a question"


def _against_official(facts: TaskFacts, temperature: float) -> Line:
    official = facts.official_generation
    own = float(official.get("temperature") or 0.0)
    found = _words(is_greedy(facts.generation), temperature, facts.repeats)
    wanted = _words(is_greedy(official), own, facts.official_repeats)
    # Officially each model of Pro is sampled at its own default temperature.
    free = facts.benchmark == "pro" and temperature > 0.0
    same = facts.repeats == facts.official_repeats and (free or temperature == own)
    if same:
        note = ", where it is the model's own default temperature" if free else ""
        return Line(OK, TOPIC, f"{found}, as officially{note}", "", (facts.name,))
    return Line(
        WARNING,
        TOPIC,
        f"{found}; officially {wanted}",
        "Leave temperature and do_sample out of --gen_kwargs, and the option repeats.",
        (facts.name,),
    )
