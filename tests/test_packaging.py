"""What is built holds what is needed, and works where there is no checkout."""

import email
import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from v1_tasks import TASKS

from lm_eval_longbench.benchmarks.registry import valid_names
from lm_eval_longbench.version import __version__

# Task files that the harness looks for by their ending.
LINKS = len(list((Path(__file__).resolve().parent.parent / "tasks").rglob("*.yaml")))
ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lm_eval_longbench"
pytestmark = pytest.mark.skipif(
    not (ROOT / "pyproject.toml").is_file(), reason="not run from a checkout"
)


def build(kind, folder, root=ROOT):
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


def environment(folder, *wanted):
    """Make a new environment with this package in it; dependencies come from the running one.

    The running environment's folders come after the new one's own and only as folders: the .pth
    file of an editable installation in them has no effect.

    Args:
        folder: of the environment.
        wanted: what pip is to install.
    """
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    (site,) = (folder / "lib").glob("python*/site-packages")
    outer = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (site / "outer.pth").write_text("".join(f"{path}\n" for path in outer))
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    install = ["install", "--quiet", "--ignore-installed", "--no-deps", "--no-index"]
    more = ["--no-compile", "--no-build-isolation", *wanted]
    done = subprocess.run([*pip, *install, *more], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return build("sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture
def content(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def dist_info(content, name):
    (found,) = (value for path, value in content.items() if path.endswith(f".dist-info/{name}"))
    return found.decode()


# ---------------------------------------------------------------------- the wheel's files


def test_the_page_is_in_the_package(content):
    names = {path.name for path in (PACKAGE / "page" / "static").iterdir()}
    prefix = "lm_eval_longbench/page/static/"
    assert {name.removeprefix(prefix) for name in content if name.startswith(prefix)} == names
    assert len(names) >= 5


def test_task_files_are_in_the_package(content):
    prefix = "lm_eval_longbench/tasks/"
    found = {name.removeprefix(prefix): v for name, v in content.items() if name.startswith(prefix)}
    expected = {
        path.relative_to(ROOT / "tasks").as_posix(): path.read_bytes()
        for path in (ROOT / "tasks").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert found == expected
    assert "longbench_v1/_base" in found
    assert "longbench_v1_e/_base" in found
    leaves = {f"{split.table}/{split.name}.yaml" for split in TASKS}
    assert len(leaves) == 34
    assert leaves <= found.keys()


def test_every_other_file_of_the_package_is_there_byte_for_byte(content):
    expected = {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    found = {
        name: value
        for name, value in content.items()
        if ".dist-info/" not in name and not name.startswith("lm_eval_longbench/tasks/")
    }
    assert found == expected
    assert sum("/data/sample/longbench_v1/" in name for name in found) == 34
    assert "lm_eval_longbench/data/sample/longbench_v2/data.json" in found


def test_nothing_else_is_there(content):
    assert {name.split("/")[0] for name in content} == {
        "lm_eval_longbench",
        f"lm_eval_longbench-{__version__}.dist-info",
    }
    # A file under lm_eval/ would shadow somebody's clone of the harness.
    assert not any(name.startswith("lm_eval/") for name in content)
    assert not any("test" in Path(name).name.lower() for name in content)


def test_licences(content):
    for name in ("LICENSE", "NOTICE"):
        assert dist_info(content, f"licenses/{name}") == (ROOT / name).read_text(encoding="utf-8")
    metadata = email.message_from_string(dist_info(content, "METADATA"))
    assert metadata["License-Expression"] == "MIT"
    assert sorted(metadata.get_all("License-File")) == ["LICENSE", "NOTICE"]


def test_metadata(content):
    metadata = email.message_from_string(dist_info(content, "METADATA"))
    assert (metadata["Name"], metadata["Version"]) == ("lm-eval-longbench", __version__)
    assert metadata["Requires-Python"] == ">=3.10"
    needed = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert any(line.startswith("lm-eval<0.5,>=0.4.13") for line in needed)
    assert not any(line.startswith(("torch", "pytest", "python-levenshtein")) for line in needed)


def test_entry_points(content):
    sections = dist_info(content, "entry_points.txt").split()
    for name in ("[console_scripts]", "[lm_eval.models]", "[lm_eval.tasks]"):
        assert name in sections


# ---------------------------------------------------------------------- what it brings


def needed_by(name, extras=()):
    """Return the names of what an installed package needs, itself included, with no extra of its
    own but those named."""
    known, waiting = set(), [(name, frozenset(extras))]
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in known:
            continue
        known.add((name, extras))
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            asked = [{"extra": extra} for extra in extras] or [{"extra": ""}]
            if needed.marker is None or any(map(needed.marker.evaluate, asked)):
                waiting.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return {name for name, _ in known}


def megabytes(name):
    files = distribution(name).files or ()
    return sum(file.locate().stat().st_size for file in files if file.locate().is_file()) / 1e6


def test_the_core_is_small_beside_the_harness_and_has_no_torch():
    core, harness = needed_by("lm-eval-longbench"), needed_by("lm-eval")
    assert "lm-eval" in core and "torch" in needed_by("lm-eval-longbench", ["hf"])
    assert not core & {"torch", "sentence-transformers", "vllm"}
    sizes = {name: megabytes(name) for name in core - harness - {"lm-eval-longbench"}}
    lines = [f"beside lm-eval, {sum(sizes.values()):.0f} MB:"]
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        lines.append(f"  {name} {distribution(name).version}: {size:.1f} MB")
    print("\n".join(lines))  # noqa: T201 (pytest -s shows it)
    # A wrong walk would find nothing to measure.
    assert {"bm25s", "jieba", "typer"} <= sizes.keys()
    assert 10 < sum(sizes.values()) <= 300


# ---------------------------------------------------------------------- the source archive


def test_the_source_archive(sdist):
    with tarfile.open(sdist) as archive:
        assert all(member.isfile() for member in archive)
        listed = [name.partition("/")[2] for name in archive.getnames()]
    names = set(listed)
    assert len(listed) == len(names)
    tasks = {
        f"lm_eval_longbench/tasks/{path.relative_to(ROOT / 'tasks').as_posix()}"
        for path in (ROOT / "tasks").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if "tasks" in name.split("/")[:-1]} == tasks
    for name in (
        "tests/test_packaging.py",
        "tests/conftest.py",
        "lm_eval_longbench/data/sample/longbench_v1/qasper.jsonl",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "NOTICE",
    ):
        assert name in names
    assert not any("__pycache__" in name or name.startswith((".git/", ".venv")) for name in names)


def test_a_wheel_made_from_the_source_archive_is_the_same(sdist, wheel, tmp_path):
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (root,) = (tmp_path / "source").iterdir()
    again = build("wheel", tmp_path / "again", root)
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
        assert [n for n in one.namelist() if one.read(n) != other.read(n)] == []


# ---------------------------------------------------------------------- installed


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder with an environment that has the wheel."""
    folder = tmp_path_factory.mktemp("installed")
    environment(folder / "env", str(wheel))
    return folder


@pytest.fixture
def run(installed):
    """Run a program of the new environment, outside of the checkout."""

    def running(*command, **environment):
        clean = {key: os.environ[key] for key in os.environ if not key.startswith("PYTHON")}
        cache = {"HF_DATASETS_CACHE": str(installed / "datasets"), "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(
            [installed / "env" / "bin" / command[0], *command[1:]],
            cwd=installed,
            env={**clean, **cache, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return running


def inside(installed, path):
    return Path(path).resolve().is_relative_to((installed / "env").resolve())


def test_the_wheel_is_what_is_imported(run, installed):
    code = "import lm_eval_longbench as p, typer; print(p.__file__); print(typer.__file__)"
    ours, dependency = run("python", "-c", code).splitlines()
    assert inside(installed, ours)
    assert not inside(installed, dependency)


def test_path_link_and_its_removal(run, installed):
    folder = Path(run("lm-eval-longbench", "path").removesuffix("\n"))
    assert inside(installed, folder)
    assert folder.name == "tasks"
    assert folder.parent.name == "lm_eval_longbench"
    assert (folder / "longbench_v1" / "_base").is_file()

    # Never the real harness: a made-up one that Python finds first.
    tasks = installed / "fake" / "lm_eval" / "tasks"
    tasks.mkdir(parents=True)
    (tasks.parent / "__init__.py").write_text("")
    fake = {"PYTHONPATH": str(installed / "fake")}
    target = tasks / "lm_eval_longbench_links"
    assert run("lm-eval-longbench", "link", **fake) == f"{LINKS} links made in {target}\n"
    link = target / "longbench_v1" / "longbench_v1_qasper.yaml"
    assert link.is_symlink()
    assert link.resolve() == (folder / "longbench_v1" / "longbench_v1_qasper.yaml").resolve()
    assert (
        run("lm-eval-longbench", "link", "--remove", **fake)
        == f"{LINKS} links removed from {target}\n"
    )
    assert list(tasks.iterdir()) == []


def test_data_and_prompts(run):
    expected = json.loads(
        (PACKAGE / "data/sample/longbench_v1/lcc.jsonl").read_bytes().splitlines()[1]
    )
    asked = ("prompt", "longbench_v1_lcc", "--index", "1", "--data-dir", "sample")
    prompt = run("lm-eval-longbench", *asked)
    assert prompt == (
        "Please complete the code given below. \n" + expected["context"] + "Next line of code:\n"
    )


def test_entry_points_resolve(run, installed):
    code = """
import json
from importlib.metadata import distribution, entry_points

def load(group):
    own = [e for e in entry_points(group=group) if e.dist.name == "lm-eval-longbench"]
    return {e.name: e.load() for e in own}

((name, tasks),) = load("lm_eval.tasks").items()
models = load("lm_eval.models")
(main,) = load("console_scripts").values()
from lm_eval.api.model import LM
print(json.dumps([name, tasks.__file__, sorted(models),
                  all(issubclass(cls, LM) for cls in models.values()), main.__module__,
                  str(distribution("lm-eval-longbench").locate_file("."))]))
"""
    name, tasks, models, are_models, main, place = json.loads(run("python", "-c", code))
    assert (name, are_models) == ("lm_eval_longbench", True)
    assert models == ["longbench-api", "longbench-extractive"]
    assert main == "lm_eval_longbench.cli.main"
    assert inside(installed, tasks)
    assert inside(installed, place)


# The rule of EleutherAI/lm-evaluation-harness#4015: the folder of the package that the module of an
# entry point is in, whatever follows the colon; and what our own program says of the folder.
PLUGIN = """
import importlib.util, json
from importlib.metadata import entry_points
from pathlib import Path
from lm_eval.tasks import TaskManager
from lm_eval_longbench.task_folder import task_folder

(found,) = entry_points(group="lm_eval.tasks", name="lm_eval_longbench")
folder = Path(importlib.util.find_spec(found.value.partition(":")[0]).origin).parent
manager = TaskManager(include_path=str(folder), include_defaults=False)
print(json.dumps([manager.all_tasks, str(folder), str(folder.resolve()), str(task_folder())]))
"""


@pytest.mark.parametrize("kind", ["wheel", "sdist", "editable"])
def test_the_proposed_plugin_finds_the_tasks(request, tmp_path, kind):
    wanted = ["--editable", str(ROOT)]
    if kind != "editable":  # pip makes a wheel of a source archive
        wanted = [str(request.getfixturevalue(kind))]
    environment(tmp_path / "env", *wanted)
    done = subprocess.run(
        [tmp_path / "env" / "bin" / "python", "-c", PLUGIN],
        cwd=tmp_path,
        env={key: os.environ[key] for key in os.environ if not key.startswith("PYTHON")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "overrides" not in done.stderr and "Duplicate" not in done.stderr
    names, folder, real, ours = json.loads(done.stdout)
    assert names == sorted(valid_names())
    assert Path(folder).parts[-2:] == ("lm_eval_longbench", "tasks")
    assert real == ours
    own = ROOT if kind == "editable" else tmp_path / "env"
    assert Path(ours).is_relative_to(own.resolve())


def test_a_checkout_uses_its_own_tasks(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from lm_eval_longbench.cli.main import main; main()", "path"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{ROOT / 'tasks'}\n"
