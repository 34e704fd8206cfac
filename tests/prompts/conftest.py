"""Two small real tokenizers, without and with a beginning-of-text token."""

import pytest

TEXT = (
    "the quick brown fox jumps over the lazy dog. def f(x):\n    return {x: 'the'}\n"
    "今天天气很好，我们去公园。会议记录：预算。🙂🙃 naïve Ünïcode {input} {{x}}\n"
)


@pytest.fixture(scope="session")
def plain():
    return build(bos=False)


@pytest.fixture(scope="session")
def with_bos():
    return build(bos=True)


def build(*, bos):
    """Train a byte-level BPE tokenizer; its merges make tokens that split characters."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator([TEXT] * 3, trainer)
    if bos:
        raw.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", raw.token_to_id("<s>"))]
        )
    return PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>", eos_token="</s>")
