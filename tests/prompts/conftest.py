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
    """Train a tokenizer whose merges make tokens that split characters."""
    from small_tokenizers import byte_level_bpe

    return byte_level_bpe([TEXT] * 3, vocabulary=330, bos=bos)
