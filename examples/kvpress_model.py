"""The presses of kvpress as a harness model: each compresses what stands before the question.

With `query_aware=True` the question is read first; with `press=None` nothing is compressed. Presses
that work while the answer is written, or that renumber positions, need more than this. Run it with

    python examples/kvpress_model.py run --model kvpress \
        --model_args pretrained=MODEL,press=SnapKVPress,ratio=0.5 --tasks longbench_v1_qasper ...
"""

import contextlib

import torch
from lm_eval.api.registry import register_model

from lm_eval_longbench.errors import MissingDependencyError, UnknownNameError
from lm_eval_longbench.harness.kv import CompressedCacheLM


def find_press(name, ratio):
    """Return a press of kvpress that drops a share of the keys and values."""
    try:
        import kvpress
    except ImportError as error:
        raise MissingDependencyError(
            f"The model kvpress needs the package kvpress, which cannot be imported ({error}). "
            "Install it with: pip install kvpress"
        ) from error
    names = [own for own in dir(kvpress) if own.endswith("Press")]
    if name not in names:
        raise UnknownNameError("press of kvpress", name, names)
    return getattr(kvpress, name)(compression_ratio=float(ratio))


@register_model("kvpress")
class KVPress(CompressedCacheLM):
    """An hf model whose cache a press compresses; `press` is a name or an object of kvpress."""

    def __init__(self, *args, press=None, ratio=0.5, **kwargs):
        super().__init__(*args, **kwargs)
        named = isinstance(press, str) and press != "None"
        self.press = find_press(press, ratio) if named else None if press == "None" else press

    def read(self, ids, cache):
        """Read the beginning of a prompt into the cache, compressed layer by layer."""
        # A press asks for the places, which later releases of transformers do not tell it.
        places = torch.arange(ids.shape[1], device=ids.device)
        with self.press(self.model) if self.press is not None else contextlib.nullcontext():
            self.model(ids, past_key_values=cache, cache_position=places, logits_to_keep=1)


if __name__ == "__main__":
    from lm_eval_longbench.cli.main import main

    main()
