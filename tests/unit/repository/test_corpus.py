"""Hundreds of public configurations, where they are at hand: each is read as the truth beside them says.

The corpus is not a part of this repository; each odd shape that was found in it has a test of its own elsewhere.
"""

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from google.protobuf import json_format

from tritonscope.errors import ConfigError, RepositoryError
from tritonscope.repository.config import parse_json, parse_text, read_stage, to_stage
from tritonscope.repository.edit import with_count
from tritonscope.repository.folder import read_repository
from tritonscope.repository.pipeline import build_pipeline
from tritonscope.repository.stages import Batching, Repository, Stage, Step, Tensor
from tritonscope.repository.text import decode

CORPUS = Path(__file__).resolve().parents[3].parent / "shared" / "corpus"
TRUTH = CORPUS / "TRUTH.jsonl"

pytestmark = pytest.mark.skipif(
    not TRUTH.is_file(), reason="no corpus of public configurations at ../shared/corpus (beside the checkout)"
)

# Configurations that are no templates and that no protobuf parser reads: values were forgotten.
BROKEN = {
    ("odlab-ai__odlab-triton", "ensemble"): "6:1", ("odlab-ai__odlab-triton", "preprocess"): "6:1",
    ("odlab-ai__odlab-triton", "postprocess"): "6:1", ("watanka__ocr-trt", "recognition_postprocessing"): "16:3",
    ("zibestr__PersonScout", "audio_model"): "35:16", ("zibestr__PersonScout", "ensemble_model"): "42:16",
}  # fmt: skip


class Entry(NamedTuple):
    """A line of the truth, and the configuration that it is about."""

    directory: str
    model: str
    ok: bool
    config: dict
    files: frozenset[str]
    error: str
    text: str

    @property
    def path(self):
        return CORPUS / self.directory / self.model / "config.pbtxt"


@pytest.fixture(scope="module")
def truth() -> list[Entry]:
    lines = [json.loads(line) for line in TRUTH.read_text().splitlines()]
    return [
        Entry(line["dir"], line["model"], line["ok"], line.get("config", {}), frozenset(line["files"]),
              line.get("error", ""),
              decode((CORPUS / line["dir"] / line["model"] / "config.pbtxt").read_bytes()).text)
        for line in lines
    ]  # fmt: skip


@pytest.fixture(scope="module")
def repositories(truth, tmp_path_factory) -> dict[str, Repository]:
    """The repositories as they were: with (empty) files in their versions, since those tell missing backends."""
    root = tmp_path_factory.mktemp("corpus")
    for entry in truth:
        folder = root / entry.directory / entry.model
        folder.mkdir(parents=True)
        for name in entry.files - {"config.pbtxt"}:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
        (folder / "config.pbtxt").write_bytes(entry.path.read_bytes())
    return {folder.name: read_repository(folder) for folder in sorted(root.iterdir())}


def test_every_message_is_the_one_of_the_truth(truth):
    for entry in truth:
        if entry.ok:
            message = parse_text(entry.text, entry.path)
            assert json_format.MessageToDict(message, preserving_proto_field_name=True) == entry.config, entry.path


def test_a_server_s_json_of_every_configuration_makes_the_same_stage(truth):
    for entry in truth:
        if entry.ok:
            expected = to_stage(parse_text(entry.text, entry.path), entry.model)
            assert to_stage(parse_json(entry.config), entry.model) == expected, entry.path


def test_what_does_not_parse_is_a_template_or_broken_at_the_place_that_the_truth_says(truth):
    for entry in truth:
        if entry.ok:
            continue
        where = entry.error.partition(" :")[0]
        with pytest.raises(ConfigError) as error:
            parse_text(entry.text, entry.path)
        assert str(error.value).startswith(f"{entry.path}:{where}: ")
        if (entry.directory, entry.model) not in BROKEN:
            assert read_stage(entry.text, entry.path, entry.model).is_template, entry.path


def tensors(config: list[dict]) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(each.get("name", ""), each.get("data_type", "TYPE_INVALID")[len("TYPE_") :],
               tuple(int(size) for size in each.get("dims", ())), each.get("optional", False))
        for each in config
    )  # fmt: skip


def steps(config: dict) -> tuple[Step, ...]:
    return tuple(
        Step(step.get("model_name", ""), int(step.get("model_version", 0)), step.get("input_map", {}),
             step.get("output_map", {}))
        for step in config.get("ensemble_scheduling", {}).get("step", ())
    )  # fmt: skip


def batching(config: dict) -> Batching | None:
    if "dynamic_batching" not in config:
        return None
    its = config["dynamic_batching"]
    sizes = tuple(its.get("preferred_batch_size", ()))
    return Batching(sizes, int(its.get("max_queue_delay_microseconds", 0)))


def check_stage(stage: Stage, config: dict) -> None:
    """Compare a stage with the truth's JSON, field by field; what is default there is missing."""
    assert stage.name == config.get("name", stage.name)
    assert stage.max_batch_size == config.get("max_batch_size", 0)
    assert stage.entry == config.get("default_model_filename", "model.py")
    assert stage.decoupled == config.get("model_transaction_policy", {}).get("decoupled", False)
    assert stage.parameters == {
        key: value.get("string_value", "") for key, value in config.get("parameters", {}).items()
    }
    assert (stage.inputs, stage.outputs) == (tensors(config.get("input", [])), tensors(config.get("output", [])))
    assert stage.steps == steps(config)
    assert stage.batching == batching(config)
    check_groups(stage, config.get("instance_group", []))
    check_sequences(stage, config.get("sequence_batching"))


def check_groups(stage: Stage, config: list[dict]) -> None:
    assert len(stage.groups) == len(config)
    for group, its in zip(stage.groups, config, strict=True):
        assert group.kind == its.get("kind", "KIND_AUTO")[len("KIND_") :]
        assert group.gpus == tuple(its.get("gpus", ()))
        assert group.passive == its.get("passive", False)
        two = group.kind == "CPU" and stage.backend in {"onnxruntime", "tensorflow"}
        assert group.count == its.get("count", 2 if two else 1)


def check_sequences(stage: Stage, config: dict | None) -> None:
    assert (stage.sequences is None) == (config is None)
    if stage.sequences is None or config is None:
        return
    assert stage.sequences.strategy == ("oldest" if "oldest" in config else "direct")
    assert stage.sequences.max_idle_us == int(config.get("max_sequence_idle_microseconds", 1_000_000))
    assert stage.sequences.max_candidates == config.get("oldest", {}).get("max_candidate_sequences", 0)
    assert stage.sequences.is_iterative == config.get("iterative_sequence", False)
    assert stage.sequences.states == len(config.get("state", ()))


def test_every_stage_is_what_the_truth_says(truth, repositories):
    for entry in truth:
        repository = repositories[entry.directory]
        if entry.ok:
            check_stage(repository.stages[entry.model], entry.config)
        else:
            assert (entry.model in repository.broken) == ((entry.directory, entry.model) in BROKEN)


def test_every_backend_is_what_is_written_or_what_the_files_say(truth, repositories):
    for entry in truth:
        if not entry.ok:
            continue
        stage = repositories[entry.directory].stages[entry.model]
        written = entry.config.get("backend") or entry.config.get("platform")
        if "ensemble_scheduling" in entry.config:
            assert stage.is_ensemble
        elif entry.config.get("backend"):
            assert stage.backend == written
        elif not written and "1/model.py" in entry.files and not entry.config.get("default_model_filename"):
            assert stage.is_python, entry.path


def test_every_broken_file_is_told_with_its_place_and_hides_no_other(repositories):
    told = {
        (directory, model): str(error)
        for directory, repository in repositories.items()
        for model, error in repository.broken.items()
    }
    assert told.keys() == BROKEN.keys()
    for (directory, model), error in told.items():
        assert f"{directory}/{model}/config.pbtxt:{BROKEN[directory, model]}: " in error


def test_the_count_of_every_configuration_with_one_group_can_be_changed(truth):
    for entry in truth:
        if entry.ok and len(entry.config.get("instance_group", ())) < 2:
            assert with_count(entry.text, 7) is not None, entry.path


def explanation(name: str, repository: Repository) -> str:
    """Return why the ensemble cannot be built, nothing if it can."""
    try:
        assert build_pipeline(name, repository).nodes
    except RepositoryError as error:
        return str(error)
    return ""


def test_every_ensemble_is_built_or_the_reason_is_that_it_lacks_a_model_or_contains_itself(truth, repositories):
    ensembles = built = 0
    for repository in repositories.values():
        for name, ensemble in repository.ensembles.items():
            ensembles += 1
            why = explanation(name, repository)
            lacking = {step.model for step in ensemble.steps} - repository.stages.keys()
            built += not why
            if not why:
                assert not lacking
            elif "contains itself" not in why:
                assert " is not in " in why or " is broken: " in why
    assert ensembles >= sum("ensemble_scheduling" in entry.config for entry in truth)
    assert built > ensembles // 2


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ("circular_dependency", "contains itself"),
        ("self_circular_dependency", "contains itself"),
        ("non_existing_model", "model 'fp32_dim1_batch4_input4' is not in"),
        ("inconsistent_data_type", "tensor 'data' is FP32"),
        ("invalid_decoupled_branching", "joins answers of different decoupled models"),
        ("invalid_decoupled_branching_2", "of different decoupled models"),
        ("invalid_input_map", "has no input 'invalid_input'"),
        ("unmapped_input", "input 'INPUT0' of model 'fp32_dim1_batch4_input4' gets nothing"),
    ],
)
def test_ensembles_that_triton_s_own_tests_refuse_are_refused_for_the_same_reason(repositories, case, problem):
    repository = repositories[f"triton-inference-server__server__qa_ens_invalid__{case}"]
    reasons = [explanation(name, repository) for name in repository.ensembles]
    assert any(problem in text for text in [*reasons, *map(str, repository.problems)])


def test_ensembles_that_triton_s_own_tests_load_have_no_problems(repositories):
    good = {name: its for name, its in repositories.items() if "qa_ens_ok" in name}
    assert good
    assert [problem for repository in good.values() for problem in repository.problems] == []
