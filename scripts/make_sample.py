"""Write the embedded samples of LongBench v1, LongBench-E, v2 and Pro, or check them.

The texts are the project's own and live in `sample_text`.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from sample_text import chinese, few_shot, longbench_e, longbench_pro, longbench_v1, longbench_v2
from sample_text.row import Row

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the catalog of this checkout, installed or not

from lm_eval_longbench.catalog_pro import BY_CODE, DIMENSIONS  # noqa: E402
from lm_eval_longbench.catalog_v2 import DOMAINS  # noqa: E402

FOLDER = ROOT / "lm_eval_longbench/data/sample"
PATTERNS = ("longbench_v1/*.jsonl", "longbench_v2/*.json", "longbench_pro/*.json")
SEED = "lm-eval-longbench sample 1"
CHINESE = {"multifieldqa_zh", "dureader", "vcsum", "lsht", "passage_retrieval_zh"}
ALL_CLASSES = {"trec": few_shot.TREC_CLASSES, "lsht": chinese.LSHT_CLASSES}
# Secondary tasks of LongBench Pro whose questions need only a part of the text.
PARTIAL = {f"t{number}_2" for number in range(1, 12)}


def line(file_stem: str, dataset: str, number: int, row: Row) -> str:
    """Return a row as a line of JSON."""
    is_chinese = dataset in CHINESE
    document = {
        "input": row.input,
        "context": row.context,
        "answers": row.answers,
        "length": len(row.context) if is_chinese else len(row.context.split()),
        "dataset": dataset,
        "language": "zh" if is_chinese else "en",
        "all_classes": ALL_CLASSES.get(dataset),
        "_id": hashlib.sha256(f"{file_stem}:{number}".encode()).hexdigest()[:48],
    }
    return json.dumps(document, ensure_ascii=False) + "\n"


def array(documents: list[dict[str, Any]]) -> bytes:
    """Return a file with one JSON array."""
    return (json.dumps(documents, indent=1, ensure_ascii=False) + "\n").encode()


def v1_files() -> dict[str, bytes]:
    """Return the files of LongBench v1 and LongBench-E."""
    stems = {dataset: (dataset, rows) for dataset, rows in longbench_v1.rows(SEED).items()}
    stems |= {f"{dataset}_e": (dataset, rows) for dataset, rows in longbench_e.rows(SEED).items()}
    return {
        f"longbench_v1/{stem}.jsonl": "".join(
            line(stem, dataset, number, row) for number, row in enumerate(rows)
        ).encode()
        for stem, (dataset, rows) in stems.items()
    }


def v2_file() -> bytes:
    """Return the file of LongBench v2.

    `length` is the bucket that a question is counted in; longer buckets have longer texts, but
    none is as long as the official ones.
    """
    documents = [
        {
            "_id": hashlib.sha256(f"longbench_v2:{number}".encode()).hexdigest()[:24],
            "domain": DOMAINS[row.domain],
            "sub_domain": row.sub_domain,
            "difficulty": row.difficulty,
            "length": row.length,
            "question": row.question,
            **{f"choice_{name}": text for name, text in row.choices(letter).items()},
            "answer": letter,
            "context": row.context,
        }
        for number, (row, letter) in enumerate(longbench_v2.rows(SEED))
    ]
    return array(documents)


def pro_file() -> bytes:
    """Return the file of LongBench Pro.

    `token_length` goes through all values in each language and does not tell a text's length.
    """
    lengths = DIMENSIONS["token_length"]
    seen: dict[str, int] = {}
    documents = []
    for row in longbench_pro.rows(SEED):
        number = seen[row.language] = seen.get(row.language, -1) + 1
        task = BY_CODE[row.task]
        shift = 3 if row.language == "Chinese" else 0
        name = f"longbench_pro:{row.language}:{number}"
        documents.append(
            {
                "id": hashlib.sha256(name.encode()).hexdigest(),
                "context": row.context,
                "language": row.language,
                "token_length": lengths[(number + shift) % len(lengths)],
                "primary_task": task.primary,
                "secondary_task": task.name,
                "contextual_requirement": "Partial" if row.task in PARTIAL else "Full",
                "question_nonthinking": row.question(thinking=False),
                "question_thinking": row.question(thinking=True),
                "answer": row.answer,
                "difficulty": row.difficulty,
            }
        )
    return array(documents)


def sample_files() -> dict[str, bytes]:
    """Return the content of each file of the samples by its path in the folder."""
    return v1_files() | {
        "longbench_v2/data.json": v2_file(),
        "longbench_pro/longbench_pro.json": pro_file(),
    }


def differing(files: dict[str, bytes]) -> list[str]:
    """Return the files that are missing, different or no part of a sample."""
    on_disk = {
        path.relative_to(FOLDER).as_posix(): path.read_bytes()
        for pattern in PATTERNS
        for path in FOLDER.glob(pattern)
    }
    return sorted(
        name for name in files.keys() | on_disk.keys() if files.get(name) != on_disk.get(name)
    )


def main() -> int:
    """Write the samples, or with `--check` name the files that differ from them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; report differences")
    arguments = parser.parse_args()
    files = sample_files()
    if arguments.check:
        names = differing(files)
        for name in names:
            print(f"{name} differs from what {Path(__file__).name} makes")
        return 1 if names else 0
    for name, content in files.items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_bytes(content)
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes, in {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
