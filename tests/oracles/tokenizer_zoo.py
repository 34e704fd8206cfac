"""Small tokenizers of all the kinds that models have, trained on a few sentences."""

import base64
import functools
import json
import struct

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

CORPUS = [
    "The harbor ledger lists 1234 crates of copper, and the orchard wall hides a lantern. ",
    "We'll see it's true: the meadow isn't theirs, said the old keeper of the granite tower.\n",
    "def total(items):\n    return sum(item.price for item in items)\n\n",
    "合同的预算，会议在今天开始。我们说了三千年前的事，然后大家都回去了。",
    "今天的会议说明，合同里没有预算。naïve café résumé 🙂 👩‍👧 ",
    "hello world hello the world of the lantern and the the ledger ",
] * 8

QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3 = QWEN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN35 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
DEEPSEEK = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
HAN = "[一-龥぀-ゟ゠-ヿ]+"
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
SPECIAL = ["<unk>", "<s>", "</s>", "<|im_start|>"]


def _split(regex, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(regex), behavior, invert)


def _wrap(raw):
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


def _bos(raw, template="<s> $A"):
    ids = [(name, raw.token_to_id(name)) for name in ("<s>", "</s>")]
    return processors.TemplateProcessing(single=template, special_tokens=ids)


def byte_level(*splits, normalizer=None, bos=False, prefix=False, added=(), regex=False, **model):
    """Train a byte-level BPE tokenizer; without `splits` or with `regex` it splits as GPT-2."""
    raw = Tokenizer(models.BPE(**model))
    if normalizer is not None:
        raw.normalizer = normalizer
    last = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=regex or not splits)
    raw.pre_tokenizer = pre_tokenizers.Sequence([*splits, last]) if splits else last
    raw.decoder = decoders.ByteLevel()
    raw.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=700,
            special_tokens=SPECIAL,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    if bos:
        raw.post_processor = processors.Sequence(
            [processors.ByteLevel(trim_offsets=False), _bos(raw)]
        )
    raw.add_tokens(list(added))
    return _wrap(raw)


def _piece_bpe(split=True):
    """Train a BPE model on marked words; without `split` its tokens reach over spaces."""
    raw = Tokenizer(models.BPE(unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=split)
    letters = list("▁abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    raw.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=600,
            min_frequency=1,
            special_tokens=SPECIAL,
            initial_alphabet=letters,
            limit_alphabet=120,
            show_progress=False,
        ),
    )
    model = json.loads(raw.to_str())["model"]
    vocab = dict(model["vocab"])
    for byte in range(256):
        vocab.setdefault(f"<0x{byte:02X}>", len(vocab))
    return vocab, [tuple(merge) for merge in model["merges"]]


def piece_bpe(normalizer, pre_tokenizer=None, split=True, **model):
    vocab, merges = _piece_bpe(split)
    raw = Tokenizer(
        models.BPE(vocab, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True, **model)
    )
    raw.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in SPECIAL])
    if normalizer is not None:
        raw.normalizer = normalizer
    if pre_tokenizer is not None:
        raw.pre_tokenizer = pre_tokenizer
    raw.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    raw.post_processor = _bos(raw)
    return _wrap(raw)


def unigram(normalizer=None, scheme="always", split=True):
    raw = Tokenizer(models.Unigram())
    if normalizer is not None:
        raw.normalizer = normalizer
    raw.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    raw.decoder = decoders.Metaspace(prepend_scheme=scheme)
    raw.train_from_iterator(
        CORPUS,
        trainers.UnigramTrainer(
            vocab_size=300, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
        ),
    )
    raw.post_processor = _bos(raw, "$A </s>")
    return _wrap(raw)


def word_piece():
    raw = Tokenizer(models.WordPiece(unk_token="<unk>"))
    raw.normalizer = normalizers.BertNormalizer()
    raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    raw.decoder = decoders.WordPiece()
    raw.train_from_iterator(
        CORPUS,
        trainers.WordPieceTrainer(vocab_size=400, special_tokens=SPECIAL, show_progress=False),
    )
    raw.post_processor = processors.BertProcessing(
        ("</s>", raw.token_to_id("</s>")), ("<s>", raw.token_to_id("<s>"))
    )
    return _wrap(raw)


def word_level():
    raw = Tokenizer(models.WordLevel(unk_token="<unk>"))
    raw.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)]
    )
    raw.train_from_iterator(
        CORPUS,
        trainers.WordLevelTrainer(vocab_size=80, special_tokens=SPECIAL, show_progress=False),
    )
    return _wrap(raw)


def signs_of_bytes():
    """A model that knows only the signs of single bytes, behind marks and ByteLevel."""
    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = [*SPECIAL, *signs, *(f"##{sign}" for sign in signs)]
    vocab = {name: n for n, name in enumerate(names)}
    raw = Tokenizer(models.WordPiece(vocab, unk_token="<unk>"))
    last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    raw.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), last])
    raw.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Metaspace()])
    raw.add_special_tokens(SPECIAL)
    return _wrap(raw)


def bytes_first():
    """A byte-level model whose regex sees the signs of bytes: its tokens reach over spaces."""
    raw = Tokenizer(models.BPE())
    first = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    raw.pre_tokenizer = pre_tokenizers.Sequence([first, _split(GPT2)])
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=900, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    raw.train_from_iterator(CORPUS, trainer)
    return _wrap(raw)


def panicking():
    """A tokenizer that panics on every character beyond ASCII: its normalizer's table is short."""
    units = [0] * 128
    table = struct.pack(f"<{len(units) + 1}I", 4 * len(units), *units) + b"x\0"
    described = json.loads(byte_level().backend_tokenizer.to_str())
    described["normalizer"] = {
        "type": "Precompiled",
        "precompiled_charsmap": base64.b64encode(table).decode(),
    }
    return _wrap(Tokenizer.from_str(json.dumps(described)))


def with_added(tokenizer, *tokens):
    """Add tokens whose description stays as it is, normalized or not."""
    tokenizer.backend_tokenizer.add_tokens(list(tokens))
    return tokenizer


MARKS = normalizers.Replace(" ", "▁")
LLAMA2 = normalizers.Sequence([normalizers.Prepend("▁"), MARKS])
ADDED = (
    AddedToken("hello", normalized=False),
    AddedToken("lo wo", normalized=False),
    AddedToken(" the", normalized=True),
    AddedToken("ledger", normalized=True, single_word=True),
    AddedToken("<mask>", normalized=False, lstrip=True, rstrip=True),
    AddedToken("，的", normalized=False),
)
LETTERS_FIRST = tuple(AddedToken(text, normalized=False) for text in ("hello", "the ", "Xy<"))
# Name: how to build it, which cuts must be known, and for which texts the bound must be.
KINDS = {
    "gpt2": (lambda: byte_level(), "WORD HAN", "ALWAYS"),
    "gpt2_added": (lambda: byte_level(added=ADDED), "WORD HAN", "ALWAYS"),
    "starcoder": (
        lambda: byte_level(pre_tokenizers.Digits(True), regex=True),
        "WORD HAN",
        "ALWAYS",
    ),
    "r50k": (lambda: byte_level(_split(R50K)), "WORD HAN", "ALWAYS"),
    "llama3": (
        lambda: byte_level(_split(LLAMA3), bos=True, ignore_merges=True),
        "WORD HAN",
        "ALWAYS",
    ),
    "qwen": (
        lambda: byte_level(_split(QWEN), normalizer=normalizers.NFC()),
        "WORD HAN",
        "NFC",
    ),
    "qwen35": (lambda: byte_level(_split(QWEN35)), "WORD HAN", "ALWAYS"),
    "o200k": (lambda: byte_level(_split(O200K, "removed", True)), "WORD HAN", "ALWAYS"),
    "cl100k": (lambda: byte_level(_split(CL100K)), "WORD HAN", "ALWAYS"),
    "tekken": (lambda: byte_level(_split(TEKKEN), bos=True), "WORD HAN", "ALWAYS"),
    "deepseek": (  # its file has no escapes but the very line ends
        lambda: byte_level(
            *map(_split, (r"\p{N}{1,3}", HAN, DEEPSEEK.replace(r"\r\n", "\r\n"))), bos=True
        ),
        "WORD HAN",
        "ALWAYS",
    ),
    "llama2": (lambda: piece_bpe(LLAMA2), "WORD", "ALWAYS"),
    "llama2_added": (lambda: with_added(piece_bpe(LLAMA2), *LETTERS_FIRST), "WORD", "ALWAYS"),
    "gemma": (
        lambda: piece_bpe(MARKS, pre_tokenizers.Split(" ", "merged_with_previous")),
        "WORD",
        "ALWAYS",
    ),
    "metaspace_whole": (
        lambda: piece_bpe(None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False)),
        "WORD",
        "ALWAYS",
    ),
    "metaspace_bpe": (lambda: piece_bpe(None, pre_tokenizers.Metaspace()), "WORD", "ALWAYS"),
    # Of the list, but nothing can be cut.
    "llama2_loose": (lambda: piece_bpe(LLAMA2, split=False), "", "ALWAYS"),
    "llama2_ignore_merges": (lambda: piece_bpe(LLAMA2, ignore_merges=True), "", "ALWAYS"),
    # Not of the list: tokenized whole.
    "gpt2_prefix": (lambda: byte_level(prefix=True, bos=True), "", "NEVER"),
    "nfkc": (lambda: byte_level(normalizer=normalizers.NFKC(), bos=True), "", "NEVER"),
    "t5": (
        lambda: unigram(normalizers.Sequence([normalizers.NFKC(), normalizers.Strip(False, True)])),
        "",
        "NEVER",
    ),
    "unigram_first": (lambda: unigram(scheme="first"), "", "NEVER"),
    "bert": (word_piece, "", "NEVER"),
    "words": (word_level, "", "NEVER"),
    "word_piece_bytes": (signs_of_bytes, "", "NEVER"),
    "bytes_first": (bytes_first, "", "NEVER"),
    "strip": (lambda: byte_level(normalizer=normalizers.Strip()), "", "NEVER"),
    "longer": (lambda: byte_level(normalizer=normalizers.Replace("e", "eee")), "", "NEVER"),
    "odd_regex": (lambda: byte_level(_split(r"\w+ \w+|.")), "", "NEVER"),
    "odd_part": (
        lambda: byte_level(pre_tokenizers.UnicodeScripts()),
        "",
        "NEVER",
    ),
}


@functools.cache
def build(name):
    return KINDS[name][0]()
