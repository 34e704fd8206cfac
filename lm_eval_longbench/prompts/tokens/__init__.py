"""The exact partial tokenization, behind `cutting_tokenizer`; see docs/long-contexts.md."""

from lm_eval_longbench.prompts.tokens.fast import cutting_tokenizer, tokenizer_sha256

__all__ = ["cutting_tokenizer", "tokenizer_sha256"]
