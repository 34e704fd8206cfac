"""A tokenizer as the official releases of transformers made it, under any release.

The official code pins transformers 4.31.0 (LongBench v1 and E), 4.45.0 (v2) and 4.51.0 (Pro). Later
releases make other prompts of the same files, in three ways, and each is undone here:

*Clean-up.* `decode` may take out spaces before punctuation (" ," becomes ","). Its default was yes
in 4.31.0 and 4.45.0, is no since 4.45.1, and transformers 5 leaves it out for BPE models whatever
tokenizer_config.json states. Here the library's own clean-up is off; `clean_up` does it where the
file states it or, if the file is silent, where the official release did it by default.

*Ids.* transformers 5 builds the tokenizers of many model classes anew from their vocabulary and
does not look at the normalizer, the splits and the decoder in tokenizer.json. Here they are those
of the file, as in all releases before.

*Added tokens.* tokenizers 0.23 decodes added tokens that are looked for in normalized text to
their normalized form, and then no longer knows that they are special. Here they are their content.
"""

from __future__ import annotations

import functools
import hashlib
import json
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import AddedToken, Tokenizer
    from transformers import PreTrainedTokenizerBase

RELEASE_V1 = "4.31.0"
RELEASE_V2 = "4.45.0"
RELEASE_PRO = "4.51.0"
Decode = Callable[[Sequence[int]], str]

_RELEASES = (RELEASE_V1, RELEASE_V2, RELEASE_PRO)

_CLEAN_UP = "clean_up_tokenization_spaces"
# In the order in which every release replaces them: the later ones see what the earlier ones left.
_SPACED = (" .", " ?", " !", " ,", " ' ", " n't", " 'm", " 's", " 've", " 're")
_CONFIG = "tokenizer_config.json"
_SETTINGS = (_CONFIG, "special_tokens_map.json", "added_tokens.json")
_NAMED = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
_LISTED = ("additional_special_tokens", "extra_special_tokens")
_LLAMA = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
_GPT2 = dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>")
# The special tokens that language models' classes have where the files name none.
_CLASS_TOKENS = {
    "LlamaTokenizer": _LLAMA,
    "CodeLlamaTokenizer": _LLAMA,
    "BloomTokenizer": {**_LLAMA, "pad_token": "<pad>"},
    "GemmaTokenizer": {
        **{"bos_token": "<bos>", "eos_token": "<eos>"},
        **{"unk_token": "<unk>", "pad_token": "<pad>"},
    },
    "CohereTokenizer": {
        **{"bos_token": "<BOS_TOKEN>", "eos_token": "<|END_OF_TURN_TOKEN|>"},
        "unk_token": "<UNK>",
    },
    "GPT2Tokenizer": _GPT2,
    "GPTNeoXTokenizer": _GPT2,
    "CodeGenTokenizer": _GPT2,
    "Qwen2Tokenizer": dict.fromkeys(("eos_token", "unk_token", "pad_token"), "<|endoftext|>"),
}
# Classes that put their first token before every text and their last one behind it if
# `add_bos_token` (by default yes) and `add_eos_token` (no) say so, whatever tokenizer.json says.
_PUT_ENDS = ("LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer", "CohereTokenizer")
# Classes that do more with a text than tokenizer.json says; none is a language model's.
_MORE = (
    *("Cpm", "Lasr", "Layout", "Luke", "MLuke", "Markup", "Parakeet", "Seamless", "Udop"),
    "Whisper",
)


def panicked(error: BaseException) -> bool:
    """Whether an error is a panic of the `tokenizers` library, which is no `Exception`."""
    return type(error).__name__ == "PanicException"


# ---------------------------------------------------------------------- the files


@dataclass(frozen=True)
class _Origin:
    """What the files of a tokenizer say.

    Attributes:
        tokenizer_class: the class that they name, without "Fast"; None: none.
        model_type: the model's type.
        cleans_up: what tokenizer_config.json states; None: nothing.
        settings_sha256: of the files beside tokenizer.json.
        backend: what tokenizer.json describes; None: there is no such file, or it is not all.
    """

    tokenizer_class: str | None = None
    model_type: str | None = None
    cleans_up: bool | None = None
    settings_sha256: str = ""
    backend: Tokenizer | None = None


_origins: weakref.WeakKeyDictionary[Any, _Origin] = weakref.WeakKeyDictionary()


def _find(name: str, revision: str | None, file: str) -> Path | None:
    """Return a file of a tokenizer's folder, or of its repository in the hub's cache."""
    from transformers.utils import cached_file

    try:
        found = cached_file(name, file, revision=revision, local_files_only=True)
    except (OSError, ValueError):  # there is no such file, or no such repository
        return None
    return Path(found) if found is not None else None


def _read(path: Path | None) -> dict[str, Any]:
    """Return a JSON object; an empty one if there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path is not None else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _read_origin(name: str, revision: str | None, *, whole: bool) -> _Origin:
    """Read a tokenizer's files; with `whole` also those that its ids depend on."""
    if not name:
        return _Origin()
    config = _read(_find(name, revision, _CONFIG))
    model = _read(_find(name, revision, "config.json"))
    kind = config.get("tokenizer_class") or model.get("tokenizer_class")
    kind = kind if isinstance(kind, str) else None
    if kind is not None and kind != "PreTrainedTokenizerFast":
        kind = kind.removesuffix("Fast")
    stated = bool(config[_CLEAN_UP]) if _CLEAN_UP in config else None
    origin = _Origin(kind, model.get("model_type"), stated)
    if not whole:
        return origin
    digest = hashlib.sha256()
    for file in _SETTINGS:
        path = _find(name, revision, file)
        data = path.read_bytes() if path is not None else b""
        digest.update(f"{file} {len(data)}\n".encode() + data)
    description = _find(name, revision, "tokenizer.json")
    backend = None
    if description is not None and not (kind or "").startswith(_MORE):
        specials, added = (_read(_find(name, revision, file)) for file in _SETTINGS[1:])
        backend = _backend(description, kind, config, specials, added)
    return replace(origin, settings_sha256=digest.hexdigest(), backend=backend)


def remember_origin(
    tokenizer: PreTrainedTokenizerBase, name: str, revision: str | None = None
) -> None:
    """Read and keep what a tokenizer's files say; to be called right after it was loaded.

    Args:
        tokenizer: as the installed transformers made it of these files.
        name: folder or repository.
        revision: of the repository; None: main.
    """
    ours = type(tokenizer).__module__.startswith("transformers.")
    origin = _read_origin(name, revision, whole=True)
    # A class with code of its own is what its code makes of the files.
    _origins[tokenizer] = origin if ours else replace(origin, backend=None)


def _origin(tokenizer: PreTrainedTokenizerBase) -> _Origin:
    if tokenizer in _origins:
        return _origins[tokenizer]
    # Not loaded by us: it may have been changed since, so only names are taken from its files.
    return _read_origin(str(getattr(tokenizer, "name_or_path", "") or ""), None, whole=False)


def take_backend(tokenizer: PreTrainedTokenizerBase) -> Tokenizer | None:
    """Return what tokenizer.json describes, once, for it can be large.

    None: there is no such file, the tokenizer was not loaded by us, or it was taken before.
    """
    if tokenizer not in _origins:
        return None
    origin = _origins[tokenizer]
    _origins[tokenizer] = replace(origin, backend=None)
    return origin.backend


def settings(tokenizer: PreTrainedTokenizerBase) -> list[Any]:
    """Return all settings that a tokenizer was built with, to tell it from others."""
    kwargs = getattr(tokenizer, "init_kwargs", {})
    plain = {k: v for k, v in kwargs.items() if v is None or isinstance(v, bool | int | float)}
    return [_origin(tokenizer).settings_sha256, sorted(plain.items())]


# ---------------------------------------------------------------------- ids


def _named_tokens(config: Mapping[str, Any]) -> list[Any]:
    """Return the special tokens that the settings name, texts or mappings."""
    listed: list[Any] = []
    for key in _LISTED:
        value = config.get(key) or []
        listed += value.values() if isinstance(value, Mapping) else value
    return [token for token in [*map(config.get, _NAMED), *listed] if token]


def _token(entry: Any, **more: Any) -> AddedToken:
    from tokenizers import AddedToken

    fields = {"content": entry} if isinstance(entry, str) else dict(entry)
    fields.pop("__type", None)
    return AddedToken(**{**fields, **more})


def _backend(
    path: Path,
    kind: str | None,
    config: Mapping[str, Any],
    specials: Mapping[str, Any],
    added: Mapping[str, int],
) -> Tokenizer:
    """Return the tokenizer that tokenizer.json describes, with what the other files add to it.

    Args:
        path: of tokenizer.json.
        kind: the class that the files name, without "Fast".
        config: tokenizer_config.json.
        specials: special_tokens_map.json, which counts where `config` has no added tokens.
        added: added_tokens.json, likewise.
    """
    from tokenizers import Tokenizer

    backend = Tokenizer.from_file(str(path))
    backend.no_truncation()
    backend.no_padding()
    backend.encode_special_tokens = bool(config.get("split_special_tokens"))
    stated = config.get("added_tokens_decoder")
    named = {**_CLASS_TOKENS.get(kind or "", {}), **config}
    in_file = {token.content: token for token in backend.get_added_tokens_decoder().values()}
    if stated is not None:
        tokens = [_token(stated[number]) for number in sorted(stated, key=int)]
        known = {token.content: token for token in tokens}
    else:
        named |= specials
        known = in_file
        contents = {t if isinstance(t, str) else t["content"] for t in _named_tokens(named)}
        tokens = [
            _token(text, normalized=text not in contents, special=text in contents)
            for text, _ in sorted(added.items(), key=lambda item: item[1])
            if text not in in_file
        ]
    for entry in _named_tokens(named):
        content = entry if isinstance(entry, str) else entry["content"]
        if content in known or content not in in_file or not isinstance(entry, str):
            token = known.get(content) or _token(entry)
            token.special = True
            tokens.append(token)
    backend.add_tokens(tokens)
    if kind in _PUT_ENDS:
        backend.post_processor = _ends(backend, named)
    return backend


def _ends(backend: Tokenizer, named: Mapping[str, Any]) -> Any:
    """Return the post-processor that puts a text between its first and its last token."""
    from tokenizers.processors import TemplateProcessing

    def put(key: str, wanted: Any) -> list[str]:
        entry = named.get(key)
        return [entry if isinstance(entry, str) else entry["content"]] if wanted and entry else []

    first = put("bos_token", named.get("add_bos_token", True))
    last = put("eos_token", named.get("add_eos_token", False))
    return TemplateProcessing(
        single=[*(f"{token}:0" for token in first), "$A:0", *(f"{token}:0" for token in last)],
        special_tokens=[(t, backend.token_to_id(t)) for t in dict.fromkeys(first + last)],
    )


# ---------------------------------------------------------------------- texts


def clean_up(text: str) -> str:
    """Take out spaces before punctuation and contractions, as every release does it."""
    for spaced in _SPACED:
        text = text.replace(spaced, spaced.strip())
    return text


@functools.cache
def _defaults() -> dict[str, dict[str, list[str]]]:
    """Return the classes and model types that each official release cleans up by default."""
    path = Path(__file__).with_name("clean_up_defaults.json")
    found: dict[str, dict[str, list[str]]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def cleans_up(tokenizer: PreTrainedTokenizerBase, release: str | None) -> bool:
    """Whether an official release takes spaces out of what a tokenizer decodes.

    What the attribute of the same name says does not count: the installed release sets it. Nor does
    the setting by which transformers 5 lets BPE models be cleaned up: no official release has it.

    Args:
        tokenizer: its tokenizer_config.json decides if it was loaded by `load_tokenizer`, else what
            it was built with; if that is silent, the class or the model type that its files name.
        release: 4.31.0, 4.45.0 or 4.51.0; None: no release's default counts.
    """
    library = type(tokenizer).__module__.startswith("transformers.")
    loaded = tokenizer in _origins
    origin = _origin(tokenizer)
    if loaded and origin.cleans_up is not None:
        return origin.cleans_up
    built_with = getattr(tokenizer, "init_kwargs", {})
    # The library's own classes fill in defaults that change from one release to the next.
    if _CLEAN_UP in built_with and not (loaded and library):
        return bool(built_with[_CLEAN_UP])
    if release is None:
        return False
    defaults = _defaults()[release]
    if not library:
        # Code of the repository inherits the default; other code has no official release.
        remote = type(tokenizer).__module__.startswith("transformers_modules")
        return remote and "PreTrainedTokenizerFast" in defaults["classes"]
    if origin.tokenizer_class is not None:
        return origin.tokenizer_class in defaults["classes"]
    return origin.model_type in defaults["model_types"]


def clean_up_policy(tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Return the official releases that clean up what a tokenizer decodes."""
    return [release for release in _RELEASES if cleans_up(tokenizer, release)]


class BackendDecoder:
    """Decodes with a tokenizer of the `tokenizers` library, the same in each of its releases."""

    def __init__(self, backend: Tokenizer) -> None:
        added = backend.get_added_tokens_decoder()
        self._backend = backend
        self._contents = {number: token.content for number, token in added.items()}
        self._special = {token.content for token in added.values() if token.special}
        self._normalized = {number for number, token in added.items() if token.normalized}

    def __call__(self, ids: Sequence[int]) -> str:
        """Return the text of ids, special tokens skipped, not cleaned up."""
        if self._normalized.isdisjoint(ids):
            return self._backend.decode(ids, skip_special_tokens=True)
        known = (self._contents.get(n) or self._backend.id_to_token(n) for n in ids)
        tokens = [token for token in known if token is not None and token not in self._special]
        decoder = self._backend.decoder
        return decoder.decode(tokens) if decoder is not None else " ".join(tokens)


def _decode_slowly(tokenizer: Any, ids: Sequence[int]) -> str:
    """Decode with a tokenizer written in Python as all releases before 5 did.

    The text between two added tokens is put together by itself, and spaces join the parts.
    """
    special = set(tokenizer.all_special_tokens)
    added = set(tokenizer.get_added_vocab()) - special
    parts: list[str] = []
    run: list[str] = []
    for token in tokenizer.convert_ids_to_tokens(ids, skip_special_tokens=True):
        if token in added:
            before = tokenizer.convert_tokens_to_string(run) if run else ""
            parts += [before, token] if before else [token]
            run = []
        elif token not in special:
            run.append(token)
    if run:
        parts.append(tokenizer.convert_tokens_to_string(run))
    return " ".join(parts)


def slow_decoder(tokenizer: Any, clean: bool) -> Decode:
    """Return how to decode with a tokenizer that must be asked itself.

    Args:
        tokenizer: of any class.
        clean: whether the official release cleans up.
    """
    kind = type(tokenizer)
    homes = [getattr(getattr(kind, name, None), "__module__", "") for name in ("decode", "_decode")]
    if all(home.startswith("transformers.tokenization_") for home in homes):
        if getattr(tokenizer, "is_fast", False):
            return cleaned(BackendDecoder(tokenizer.backend_tokenizer), clean)
        return cleaned(functools.partial(_decode_slowly, tokenizer), clean)
    # A class that decodes in its own way: one of the library leaves the clean-up to us, code of
    # the repository gets to know what the release would have told it.
    ours = kind.__module__.startswith("transformers.")
    asked = {"skip_special_tokens": True, _CLEAN_UP: clean and not ours}
    return cleaned(lambda ids: tokenizer.decode(ids, **asked), clean and ours)


def cleaned(decode: Decode, clean: bool) -> Decode:
    """Return a decoder with the clean-up behind it, or without."""
    return (lambda ids: clean_up(decode(ids))) if clean else decode
