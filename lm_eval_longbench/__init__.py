"""LongBench for the lm-evaluation-harness: data, prompts, truncation, scoring, reports.

`__all__` is the public interface; docs/python.md explains it. Each name is imported when it is
first used, so that `import lm_eval_longbench` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lm_eval_longbench.version import __version__

if TYPE_CHECKING:
    from lm_eval_longbench.api.documents import Document, Documents, PromptText, load, prompt
    from lm_eval_longbench.api.evaluate import evaluate
    from lm_eval_longbench.api.run import Run, report
    from lm_eval_longbench.api.scores import FigureValue, figures, judge, score
    from lm_eval_longbench.check.compare import compare_results
    from lm_eval_longbench.check.lock import freeze
    from lm_eval_longbench.check.verify import verify as verify_results
    from lm_eval_longbench.errors import LongBenchError
    from lm_eval_longbench.harness.doctor import examine as check_run
    from lm_eval_longbench.options import Options
    from lm_eval_longbench.records.summary import kept_answers
    from lm_eval_longbench.retrieval.embedding import choose_embedder
    from lm_eval_longbench.scoring.score import score_paths

# Where each name lies, and what it is called there if otherwise.
_PLACES = {
    "api.documents": ("Document", "Documents", "PromptText", "load", "prompt"),
    "api.evaluate": ("evaluate",),
    "api.run": ("Run", "report"),
    "api.scores": ("FigureValue", "figures", "judge", "score"),
    "check.compare": ("compare_results",),
    "check.lock": ("freeze",),
    "check.verify": ("verify_results",),
    "errors": ("LongBenchError",),
    "harness.doctor": ("check_run",),
    "options": ("Options",),
    "records.summary": ("kept_answers",),
    "retrieval.embedding": ("choose_embedder",),
    "scoring.score": ("score_paths",),
}
_CALLED = {"check_run": "examine", "verify_results": "verify"}
__all__ = [
    "Document",
    "Documents",
    "FigureValue",
    "LongBenchError",
    "Options",
    "PromptText",
    "Run",
    "__version__",
    "check_run",
    "choose_embedder",
    "compare_results",
    "evaluate",
    "figures",
    "freeze",
    "judge",
    "kept_answers",
    "load",
    "prompt",
    "report",
    "score",
    "score_paths",
    "verify_results",
]


if not TYPE_CHECKING:  # type checkers know the names above, and no others

    def __getattr__(name: str) -> Any:
        for module, names in _PLACES.items():
            if name in names:
                from importlib import import_module

                return getattr(import_module(f"{__name__}.{module}"), _CALLED.get(name, name))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
