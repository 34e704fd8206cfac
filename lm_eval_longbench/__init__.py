"""LongBench for the lm-evaluation-harness: data, prompts, truncation, scoring, reports."""

from lm_eval_longbench.version import __version__

__all__ = ["__version__"]
