"""The pinned official data: dataset repository, revision, file and hash, by benchmark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """One file of one revision of a dataset on the hub.

    Attributes:
        repo: dataset repository.
        revision: full commit hash.
        file: file in the repository.
        sha256: of the file, as hexadecimal digits.
    """

    repo: str
    revision: str
    file: str
    sha256: str

    @property
    def label(self) -> str:
        """Short name of exactly this data, for results."""
        return f"{self.repo}@{self.revision[:7]}"


# LongBench v1 and LongBench-E share one archive, members data/<dataset>.jsonl and
# data/<dataset>_e.jsonl. The repository was THUDM/LongBench before.
LONGBENCH_V1 = Source(
    repo="zai-org/LongBench",
    revision="5e628be450b7e67fb7ae6e201bd6d8f7056f7672",
    file="data.zip",
    sha256="cb45b11a4133c6bc1d6a44b0f8e701335ff1e543195db1103472e575857f7f64",
)
LONGBENCH_V2 = Source(
    repo="zai-org/LongBench-v2",
    revision="2b48e494f2c7a2f0af81aae178e05c7e1dde0fe9",
    file="data.json",
    sha256="15d61c22d92c96900b3c4948b6aeea218d3214b676a65df48e7b8555604c7fe2",
)
LONGBENCH_PRO = Source(
    repo="caskcsg/LongBench-Pro",
    revision="4996884deae51f5e5d23c88da9d857fc54e5fa15",
    file="longbench_pro.json",
    sha256="92ff05f6088e212d06c5a731ab86000b69cee6a0900cbbd524a25851e3c30de0",
)
