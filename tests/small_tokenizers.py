"""Real tokenizers that are trained in a moment."""

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

BOS, EOS = "<s>", "</s>"


def byte_level_bpe(texts, *, vocabulary, bos, special=(), **settings):
    """Train a byte-level BPE tokenizer.

    Args:
        texts: that it learns from.
        vocabulary: its most tokens.
        bos: whether it puts a beginning-of-text token before every text.
        special: further special tokens.
        settings: of the tokenizer of transformers.
    """
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[BOS, EOS, *special],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(texts, trainer)
    if bos:
        raw.post_processor = processors.TemplateProcessing(
            single=f"{BOS} $A", special_tokens=[(BOS, raw.token_to_id(BOS))]
        )
    return PreTrainedTokenizerFast(tokenizer_object=raw, bos_token=BOS, eos_token=EOS, **settings)
