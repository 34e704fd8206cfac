"""Write the embedded LongBench v1 and LongBench-E sample, or check that it is up to date.

The texts are the project's own and live in `sample_text`.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

from sample_text import chinese, few_shot, longbench_e, longbench_v1
from sample_text.row import Row

FOLDER = Path(__file__).resolve().parents[1] / "lm_eval_longbench/data/sample/longbench_v1"
SEED = "lm-eval-longbench sample 1"
CHINESE = {"multifieldqa_zh", "dureader", "vcsum", "lsht", "passage_retrieval_zh"}
ALL_CLASSES = {"trec": few_shot.TREC_CLASSES, "lsht": chinese.LSHT_CLASSES}


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


def sample_files() -> dict[str, bytes]:
    """Return the content of each file of the sample by its name."""
    stems = {dataset: (dataset, rows) for dataset, rows in longbench_v1.rows(SEED).items()}
    stems |= {f"{dataset}_e": (dataset, rows) for dataset, rows in longbench_e.rows(SEED).items()}
    return {
        f"{stem}.jsonl": "".join(
            line(stem, dataset, number, row) for number, row in enumerate(rows)
        ).encode()
        for stem, (dataset, rows) in stems.items()
    }


def differing(files: dict[str, bytes]) -> list[str]:
    """Return the names of files that are missing, different or no part of the sample."""
    on_disk = {path.name: path.read_bytes() for path in FOLDER.glob("*.jsonl")}
    return sorted(
        name for name in files.keys() | on_disk.keys() if files.get(name) != on_disk.get(name)
    )


def main() -> int:
    """Write the sample, or with `--check` name the files that differ from it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; report differences")
    arguments = parser.parse_args()
    files = sample_files()
    if arguments.check:
        names = differing(files)
        for name in names:
            print(f"{name} differs from what {Path(__file__).name} makes")
        return 1 if names else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (FOLDER / name).write_bytes(content)
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes, in {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
