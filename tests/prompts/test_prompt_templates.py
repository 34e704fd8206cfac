"""Templates are the official ones byte for byte, or refused."""

import hashlib
import shutil
from pathlib import Path

import pytest

from lm_eval_longbench.benchmarks.longbench_v1_facts import DATASETS
from lm_eval_longbench.errors import PromptError
from lm_eval_longbench.prompts import templates
from lm_eval_longbench.prompts.templates import load_template, template_sha256

FOLDER = Path(templates.__file__).parent / "templates"
# Of the official templates (THUDM/LongBench, commit 2e00731, config/dataset2prompt.json).
OFFICIAL = {
    "narrativeqa": "aada7ed24b06abace5b0045ac3bcfe06fc831a6cf434f0ecfd99fb7b3d299e1c",
    "qasper": "0fbdd123fe7f83d6d6a9c583ca28cb29d68e523bf8fec01a0cf2dcd11037775d",
    "multifieldqa_en": "20b4666a2de8a1f701bdb6c4e015fa9f8758d64b361d841f7766df6c9ceba770",
    "multifieldqa_zh": "344b3a4e557cd5470c661b3d6b374339717e1257a6c01f628d22322d4a554b94",
    "hotpotqa": "9ec4ae308865bd0c62af20b3dc7b12b31f2b447f55684bd88c1aa40f2f636deb",
    "2wikimqa": "9ec4ae308865bd0c62af20b3dc7b12b31f2b447f55684bd88c1aa40f2f636deb",
    "musique": "9ec4ae308865bd0c62af20b3dc7b12b31f2b447f55684bd88c1aa40f2f636deb",
    "dureader": "ae53329f51b17908e08b8c6bf366987282b8b38c0ee35275ebd7b79e9b30eff2",
    "gov_report": "91c25d585b189ced91c9280efcb4ecb5dcff9548cd4e3bfae66c68025b569e95",
    "qmsum": "dca23b678fe0183bbd9555b57947022aed1b85739da5ad7e1b4708dd0c71c409",
    "multi_news": "2af3f28c40b902e6535d4910510d51653613c49de9b2fc287c5958395061101d",
    "vcsum": "3e5d8241bc9b512eb4929c1ba80882a44f50b446bc2b1d9d79eff030dd10dc27",
    "trec": "0eff8bebdba99d91e9d7d91b6ab39455ac74648bea92c9255c9f68c62175b2db",
    "triviaqa": "00a802e6377e72fca39b169cf6c28893bedf23ba7286b03ecd15867c3e27a7c4",
    "samsum": "a68d884234907eefcaa0eacf7b2997f60fa46603988dceae6a44f9b49f045b3f",
    "lsht": "f3edabdf7fae53d6cadfa7a10f3574d114302161c46dacecd5d30763204bbbf3",
    "passage_count": "986550b6c61009c629a4535766d94b7b51e2b2b9e1ed169e4ecb54417466e964",
    "passage_retrieval_en": "39b96b7fa52bdd2aa2bde34ea199158505201b9a0a2c3ce94e80249293f60431",
    "passage_retrieval_zh": "c1e2346e245eb365bc33a1503cde2e473948a2aad51c3e4c72893e61ab074d60",
    "lcc": "6a1f24cf0bb83cd90f1fca8f0dd24801626c2aaea29db834ddc83b950e71190e",
    "repobench-p": "ee9ec182ea5ffeb70a7140d55baea97264a8612d88226d323afa90859c36240c",
}


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the templates that may be changed, in place of the package's own."""
    folder = tmp_path / "templates"
    shutil.copytree(FOLDER, folder)
    monkeypatch.setattr(templates, "FOLDER", folder)
    templates._hashes.cache_clear()
    load_template.cache_clear()
    yield folder
    templates._hashes.cache_clear()
    load_template.cache_clear()


# commit 2e00731, config/prompts.
OFFICIAL_V2 = {
    "0shot": "68a162252bc9ff71d5d7abca3d69bb31aac3c35f832d657a2866f2018b8a6950",
    "0shot_cot": "6cc33d92fd8f611662b756c1f10f302c541ca005b58c46d5f3188ac3a939bfe8",
    "0shot_cot_ans": "85ec59df4ac0e27aabbc619a7ca5cf3ae1787dd5a76cf51a18944eb52c91955f",
    "0shot_no_context": "125fb44183af01ffc623df19392b80a287db62af3e2a2805e5b2ff9c7b2bee30",
    "0shot_rag": "5c50ce4fa24d297b8c72eb048599681ee01ced5d24a6636464386d6d3c72c4c9",
}
PRO = "48eb3e6e68cbe498e6f7d952d87bd4dcb6a9fc62a2103448f62baf6d8c31cf36"


def test_every_dataset_has_its_template():
    assert OFFICIAL.keys() == DATASETS.keys()
    files = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    v1 = {f"longbench_v1/{name}.txt" for name in OFFICIAL}
    v2 = {f"longbench_v2/{name}.txt" for name in OFFICIAL_V2}
    assert files == v1 | v2 | {"longbench_pro/prompt.txt", "SHA256SUMS"}


@pytest.mark.parametrize(("name", "sha256"), OFFICIAL.items())
def test_template_bytes(name, sha256):
    raw = (FOLDER / "longbench_v1" / f"{name}.txt").read_bytes()
    assert hashlib.sha256(raw).hexdigest() == sha256
    assert template_sha256("longbench_v1", name) == sha256
    assert load_template("longbench_v1", name).encode() == raw


def test_the_sums_can_be_checked_with_sha256sum():
    lines = (FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    v1 = [f"{sha256}  longbench_v1/{name}.txt" for name, sha256 in OFFICIAL.items()]
    v2 = [f"{sha256}  longbench_v2/{name}.txt" for name, sha256 in OFFICIAL_V2.items()]
    assert sorted(lines) == sorted([*v1, *v2, f"{PRO}  longbench_pro/prompt.txt"])


@pytest.mark.parametrize(("name", "sha256"), OFFICIAL_V2.items())
def test_v2_template_bytes(name, sha256):
    raw = (FOLDER / "longbench_v2" / f"{name}.txt").read_bytes()
    assert hashlib.sha256(raw).hexdigest() == sha256
    assert template_sha256("longbench_v2", name) == sha256
    assert load_template("longbench_v2", name).encode() == raw


def test_the_pro_template():
    assert load_template("longbench_pro", "prompt") == "{context}\n\n\n\n{question}"
    assert template_sha256("longbench_pro", "prompt") == PRO


def test_endings_that_editors_like_to_strip():
    ends = {name: load_template("longbench_v1", name)[-2:] for name in OFFICIAL}
    assert ends["passage_count"] == ends["passage_retrieval_en"] == ": "
    assert ends["lcc"] == ends["repobench-p"] == ":\n"
    assert "\n\n{input}" in load_template("longbench_v1", "samsum")
    assert "asconcisely" in load_template("longbench_v1", "narrativeqa")  # the official typo


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw + b"\n",
        lambda raw: raw.rstrip(),
        lambda raw: raw.replace(b"\n", b"\r\n"),
        lambda raw: raw.replace(b"the", b"teh", 1),
        lambda raw: b"\xef\xbb\xbf" + raw,
        lambda raw: b"",
    ],
)
def test_a_changed_template_is_refused(copy, change):
    file = copy / "longbench_v1" / "passage_count.txt"
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(PromptError, match=r"longbench_v1/passage_count\.txt was changed") as caught:
        load_template("longbench_v1", "passage_count")
    assert OFFICIAL["passage_count"] in str(caught.value)
    assert hashlib.sha256(file.read_bytes()).hexdigest() in str(caught.value)
    # The others are as good as before.
    assert load_template("longbench_v1", "qasper")


def test_the_copy_is_what_is_read(copy):
    file = copy / "longbench_v1" / "qasper.txt"
    sums = copy / "SHA256SUMS"
    file.write_bytes(b"mine {input}\n")
    digest = hashlib.sha256(b"mine {input}\n").hexdigest()
    sums.write_text(sums.read_text().replace(OFFICIAL["qasper"], digest))
    assert load_template("longbench_v1", "qasper") == "mine {input}\n"


@pytest.mark.parametrize(
    ("benchmark", "name"),
    [("longbench_v1", "nq"), ("longbench_v3", "qasper"), ("longbench_v1", "../templates")],
)
def test_there_is_no_such_template(benchmark, name):
    for function in (load_template, template_sha256):
        with pytest.raises(PromptError, match="There is no prompt template") as caught:
            function(benchmark, name)
        assert f"{benchmark}/{name}.txt" in str(caught.value)
