"""Fixtures that several test folders share: a real small tokenizer and a real tiny model."""

import datasets
import pytest
from v1_tasks import E_TASKS, TASKS, load

from lm_eval_longbench import once

CHAT_TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


@pytest.fixture(autouse=True)
def _warnings_anew():
    """Every test sees the once-only warnings as a fresh process would."""
    once.forget()
    yield
    once.forget()


@pytest.fixture(scope="session", autouse=True)
def _datasets_cache(tmp_path_factory):
    """Keep converted data out of the user's cache."""
    before = datasets.config.HF_DATASETS_CACHE
    datasets.config.HF_DATASETS_CACHE = str(tmp_path_factory.mktemp("datasets"))
    yield
    datasets.config.HF_DATASETS_CACHE = before


def build_tokenizer(folder, *, bos: bool) -> str:
    """Train a byte-level BPE tokenizer on the embedded sample and save it with a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    texts = [
        text
        for split in TASKS
        if split not in E_TASKS
        for text in load(split, "sample").rows["context"]
    ]
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=3000,
        special_tokens=["<s>", "</s>", "<|user|>", "<|assistant|>", "<|system|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(texts, trainer)
    if bos:
        raw.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", raw.token_to_id("<s>"))]
        )
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )
    wrapped.chat_template = CHAT_TEMPLATE
    wrapped.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def tokenizer_folder(tmp_path_factory) -> str:
    """A real tokenizer that puts a beginning-of-text token before every prompt."""
    return build_tokenizer(tmp_path_factory.mktemp("tokenizer"), bos=True)


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory) -> str:
    """A real Llama of two small layers, with random weights, that takes 2,048 tokens."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("model")
    build_tokenizer(folder, bos=True)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=3000,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)
