"""A harness model that compresses the key-value cache before it answers: a place for your method.

It keeps the share `keep` of the document's keys and values, those with the smallest keys, and then
reads each question on the document. With `query_aware=True` the question is read first, so that
the method could look at it. Run it with

    python examples/compressed_cache.py run --model compressed-cache \
        --model_args pretrained=MODEL,keep=0.5 --tasks longbench_v1_qasper ...
"""

from lm_eval.api.registry import register_model

from lm_eval_longbench.harness.kv import CompressedCacheLM


@register_model("compressed-cache")
class CompressedCache(CompressedCacheLM):
    """An hf model; put your own method in `compress`."""

    def __init__(self, *args, keep=1.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.keep = float(keep)

    def compress(self, past_key_values, document_ids):
        """Drop all but a share of each layer's keys and values, in place."""
        for layer in past_key_values.layers:
            kept = max(1, round(layer.keys.shape[2] * self.keep))
            order = layer.keys.norm(dim=-1).topk(kept, largest=False).indices.sort().values
            order = order.unsqueeze(-1).expand(-1, -1, -1, layer.keys.shape[-1])
            layer.keys = layer.keys.gather(2, order)
            layer.values = layer.values.gather(2, order)


if __name__ == "__main__":
    from lm_eval_longbench.cli.main import main

    main()
