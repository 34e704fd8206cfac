"""What `verify` of a run opens and reads does not grow faster than the run."""

from command_costs import costs
from real_runs import Files


def test_each_file_twice_and_each_question_once(base_run, tmp_path):
    folder = Files.copy(base_run, tmp_path / "run").folder
    environment = {"HF_DATASETS_CACHE": str(tmp_path / "cache")}
    costs("verify", folder, **environment)  # converts the data
    names = ("rows", "datasets", "lm_eval", "torch")
    found = costs("verify", folder, names=names, **environment)
    assert found["modules"] == []
    logs = {path.name for path in folder.rglob("*.json*")}
    assert {found["files"].pop(name) for name in logs} == {2}
    # Task files, templates and data: once, but for what tells that converted data is whole.
    index = found["files"].pop("converted.json")
    # Converted files for their hash, and then to be mapped.
    assert all(
        number == (2 if name.endswith(".arrow") else 1) for name, number in found["files"].items()
    ), found["files"]
    tasks = sum(name.startswith("samples_") for name in logs)
    assert index <= 3 * tasks
    asked = sum(len(path.read_bytes().splitlines()) for path in folder.rglob("samples_*"))
    assert 0 < found["rows"]["rows"] <= asked
