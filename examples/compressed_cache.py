"""A harness model that compresses the key-value cache before it answers: a place for your method.

It keeps the share `keep` of the document's keys and values, those with the smallest keys, and then
reads the question and answers greedily. With `query_aware=True` the question is read first, so that
the method could look at it. Run it with

    python examples/compressed_cache.py run --model compressed-cache \
        --model_args pretrained=MODEL,keep=0.5 --tasks longbench_v1_qasper ...
"""

import torch
from lm_eval.api.registry import register_model
from lm_eval.models.huggingface import HFLM
from tqdm import tqdm
from transformers import DynamicCache


@register_model("compressed-cache")
class CompressedCache(HFLM):
    """An hf model; put your own method in `compress`."""

    def __init__(self, *args, keep=1.0, query_aware=False, **kwargs):
        super().__init__(*args, **kwargs)
        self.keep, self.query_aware = float(keep), str(query_aware).lower() == "true"

    def compress(self, cache):
        """Drop all but a share of each layer's keys and values, in place."""
        for layer in cache.layers:
            kept = max(1, round(layer.keys.shape[2] * self.keep))
            order = layer.keys.norm(dim=-1).topk(kept, largest=False).indices.sort().values
            order = order.unsqueeze(-1).expand(-1, -1, -1, layer.keys.shape[-1])
            layer.keys = layer.keys.gather(2, order)
            layer.values = layer.values.gather(2, order)

    def generate_until(self, requests, disable_tqdm=False):
        """Return one answer a request."""
        return [self.answer(one) for one in tqdm(requests, disable=disable_tqdm)]

    @torch.inference_mode()
    def answer(self, request):
        """Read the document, compress, read the question, answer."""
        prompt, arguments = request.args
        begun = bool(self.tokenizer.bos_token) and prompt.startswith(self.tokenizer.bos_token)
        encoded = self.tokenizer(
            prompt, return_offsets_mapping=True, add_special_tokens=not begun, return_tensors="pt"
        )
        ids = encoded["input_ids"].to(self.device)
        split = ids.shape[1] - 1  # without a question: all but the last token
        place = request.doc["prompt"]["question_at"]
        if place is not None and not self.query_aware:
            split = min(split, int((encoded["offset_mapping"][0, :, 1] <= place).sum()))
        cache = DynamicCache()
        if split:
            self.prefill(ids[:, :split], cache)
        return self.decoded(ids, split, cache, arguments)

    def prefill(self, ids, cache):
        """Read the beginning of a prompt into the cache, and compress it."""
        self.model(ids, past_key_values=cache, logits_to_keep=1)
        self.compress(cache)

    def decoded(self, ids, place, cache, arguments):
        """Decode greedily from a place of the prompt on."""
        answer, new = [], ids[:, place:]
        while len(answer) < arguments["max_gen_toks"]:
            positions = torch.arange(place, place + new.shape[1], device=self.device)[None]
            logits = self.model(new, past_key_values=cache, position_ids=positions).logits
            place, new = place + new.shape[1], logits[:, -1:].argmax(-1)
            answer.append(int(new))
            text = self.tokenizer.decode(answer, skip_special_tokens=True)
            stops = [text.index(stop) for stop in arguments["until"] if stop in text]
            if stops or answer[-1] == self.eot_token_id:
                return text[: min(stops, default=len(text))]
        return text


if __name__ == "__main__":
    from lm_eval_longbench.cli.main import main

    main()
