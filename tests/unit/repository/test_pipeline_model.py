"""From an ensemble's configuration to a Python model of the same interface, and what cannot become one."""

from pathlib import Path

import pytest

from tests.conformance.pipelines import ENSEMBLES, write_pipelines
from tritonscope.cli import main
from tritonscope.errors import RepositoryError
from tritonscope.repository.folder import read_repository
from tritonscope.repository.pipeline_model import plan_of, write_pipeline_model
from tritonscope.repository.stages import Batching


@pytest.fixture
def repository(tmp_path) -> Path:
    return write_pipelines(tmp_path / "models")


def changed(repository: Path, model: str, old: str, new: str) -> Path:
    """Change a model's configuration, and return the repository."""
    config = repository / model / "config.pbtxt"
    assert old in config.read_text()
    config.write_text(config.read_text().replace(old, new))
    return repository


def test_nested_ensembles_are_taken_apart_with_tensors_of_their_own(repository):
    calls = plan_of("nested", read_repository(repository)).calls
    assert [(call.model, call.step, call.within) for call in calls] == [
        ("add_one", 0, ("serial",)),
        ("add_one", 0, ("serial",)),
        ("add_one", 1, ("nested_once", "serial")),
        ("add_one", 1, ("nested_once", "serial")),
        ("add_one", 1, ("nested_once",)),
    ]
    made = [tensor for call in calls for tensor in call.outputs.values()]
    assert len(set(made)) == len(made)
    assert (made[1], made[-1]) == ("a", "Y")


def test_the_interface_stays_and_the_way_to_run_changes(repository, tmp_path):
    changed(repository, "optional", "max_batch_size: 0", "max_batch_size: 4 version_policy { all {} }")
    changed(repository, "optional_input", 'backend: "python"', 'backend: "python" max_batch_size: 4')
    models = read_repository(repository)
    ensemble = models.stages["optional"]
    write_pipeline_model(ensemble, plan_of("optional", models), 3, tmp_path / "out" / "optional")
    written = read_repository(tmp_path / "out").stages["optional"]
    assert (written.inputs, written.outputs) == (ensemble.inputs, ensemble.outputs)
    assert (written.backend, written.max_batch_size, written.steps) == ("python", 4, ())
    assert (written.instances.known, written.is_on_cpu, written.batching) == (3, True, Batching())
    assert "version_policy" in written.text


def test_a_pipeline_without_batches_has_no_batcher(repository, tmp_path):
    models = read_repository(repository)
    write_pipeline_model(models.stages["wide"], plan_of("wide", models), 1, tmp_path / "out" / "wide")
    assert read_repository(tmp_path / "out").stages["wide"].batching is None


@pytest.mark.parametrize(
    ("model", "old", "new", "reason"),
    [
        ("add_one", 'backend: "python"', 'backend: "python" model_transaction_policy { decoupled: true }',
         "'add_one' of ensemble 'nested' is decoupled"),
        ("serial", "'add_one'", "'gone'", "ensemble 'serial', step 1: model 'gone' is not in"),
        ("serial", "'add_one'", "'nested'", "contains itself"),
        ("add_one", "count: 1", "count: ${n}", "'add_one' of ensemble 'nested' is a template"),
        ("nested", "value: 'Y'", "value: 'Z'", "tensor 'Y': no step makes it"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_refused_with_the_reason(repository, model, old, new, reason):
    changed(repository, model, old, new)
    with pytest.raises(RepositoryError, match=reason.replace("(", r"\(")):
        plan_of("nested", read_repository(repository))


def test_a_model_that_is_no_ensemble_is_no_pipeline(repository):
    with pytest.raises(RepositoryError, match="model 'add_one' is no ensemble: it runs on python"):
        plan_of("add_one", read_repository(repository))


def test_the_command_writes_it_and_leaves_other_ensembles_alone(repository, tmp_path, capsys):
    out = tmp_path / "observed"
    assert main(["wrap", str(repository), "-o", str(out), "--pipeline", "serial", "--pipeline-instances", "2"]) == 0
    found = read_repository(out).stages
    assert found["serial"].is_python
    assert found["serial"].instances.known == 2
    assert "instrument" in (out / "serial" / "1" / "model.py").read_text()
    assert all(found[name].is_ensemble for name in ENSEMBLES.keys() - {"serial"})
    assert "observed add_one" in capsys.readouterr().out


@pytest.mark.parametrize("count", ["0", "-1", "many"])
def test_a_number_of_instances_is_a_number(repository, tmp_path, capsys, count):
    with pytest.raises(SystemExit):
        main(["wrap", str(repository), "-o", str(tmp_path / "o"), f"--pipeline-instances={count}"])
    assert f"'{count}' is not a number of instances" in capsys.readouterr().err
