"""Answers of a table, and the figures over them.

`lm_eval_longbench.figures` is a function of the public interface as well as this folder: the module
can be called, and does what `interface.scores.figures` does.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from lm_eval_longbench.interface.scores import figures

        return figures(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
