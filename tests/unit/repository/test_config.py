"""One configuration: what is written, what Triton fills in, and what is wrong with it."""

from pathlib import Path

import pytest

from tritonscope.errors import ConfigError
from tritonscope.repository.config import parse_json, parse_text, read_stage, read_text, to_stage
from tritonscope.repository.stages import Batching, InstanceCount, InstanceGroup, SequenceBatching, Tensor

PATH = Path("models/decode/config.pbtxt")


def stage(text: str, name: str = "decode", files: frozenset[str] = frozenset()):
    return to_stage(parse_text(text, PATH), name, files=files, path=PATH, text=text)


def test_everything_that_is_written():
    found = stage("""
        name: "decode" backend: "python" max_batch_size: 8 default_model_filename: "decode.py"
        instance_group [{ kind: KIND_CPU count: 2 }, { kind: KIND_GPU gpus: [0, 1] passive: true }]
        dynamic_batching { preferred_batch_size: [4, 8] max_queue_delay_microseconds: 100 }
        model_transaction_policy { decoupled: true }
    """)
    assert (found.name, found.backend, found.max_batch_size, found.entry) == ("decode", "python", 8, "decode.py")
    assert found.groups == (InstanceGroup("CPU", 2), InstanceGroup("GPU", 1, (0, 1), passive=True))
    assert found.batching == Batching((4, 8), 100)
    assert found.decoupled
    assert found.is_python
    assert found.batches_dynamically


def test_a_missing_name_is_the_folders():
    assert stage('backend: "python"').name == "decode"


@pytest.mark.parametrize(
    ("text", "files", "backend"),
    [
        ("", {"model.py"}, "python"),
        ("", {"model.onnx", "model.py"}, "onnxruntime"),
        ("", {"weights.npz"}, ""),
        ('backend: "onnxruntime"', {"model.py"}, "onnxruntime"),
        ('default_model_filename: "model.plan"', {"model.py"}, "tensorrt"),
        ('platform: "pytorch_libtorch"', set(), "pytorch"),
        ('platform: "my_platform"', set(), "my_platform"),
        ('platform: "torch_aoti"', set(), "pytorch"),
        ('platform: "pytorch_libtorch" backend: "python"', set(), "python"),
        ('default_model_filename: "other.py"', {"model.py"}, ""),
        ('name: "model.dali"', {"weights.bin"}, "dali"),
        ('name: "model.dali"', {"model.py"}, "python"),
        ('backend: "${triton_backend}"', set(), "${triton_backend}"),
        ('platform: "ensemble"', set(), "ensemble"),
        ("ensemble_scheduling { }", set(), "ensemble"),
    ],
)
def test_a_missing_backend_is_guessed_as_triton_does(text, files, backend):
    assert stage(text, files=frozenset(files)).backend == backend


@pytest.mark.parametrize(
    ("groups", "backend", "expected"),
    [
        ("", "python", InstanceCount(0, 1)),
        ("{ kind: KIND_CPU }", "python", InstanceCount(1)),
        ("{ kind: KIND_CPU }", "onnxruntime", InstanceCount(2)),
        ("{ kind: KIND_CPU }", "tensorflow", InstanceCount(2)),
        ("{ kind: KIND_CPU }", "pytorch", InstanceCount(1)),
        ("{ kind: KIND_CPU count: 0 }", "python", InstanceCount(1)),
        ("{ kind: KIND_CPU count: 3 }", "onnxruntime", InstanceCount(3)),
        ("{ kind: KIND_GPU count: 2 gpus: [0, 1] }", "python", InstanceCount(4)),
        ("{ kind: KIND_GPU count: 2 }", "python", InstanceCount(0, 2)),
        ("{ count: 2 }", "python", InstanceCount(0, 2)),
        ("{ count: 2 gpus: [0] }", "python", InstanceCount(2)),
        ("{ kind: KIND_MODEL }", "python", InstanceCount(1)),
        ("{ kind: KIND_CPU count: 2 }, { kind: KIND_GPU }", "python", InstanceCount(2, 1)),
        ("{ kind: KIND_CPU count: 2 }, { count: 5 passive: true }", "python", InstanceCount(2)),
    ],
)
def test_instances_are_counted_as_triton_does(groups, backend, expected):
    text = f'backend: "{backend}"' + (f" instance_group [ {groups} ]" if groups else "")
    assert stage(text).instances == expected


@pytest.mark.parametrize(
    ("groups", "on_cpu"),
    [("", False), ("instance_group { }", False), ("instance_group { kind: KIND_CPU }", True),
     ("instance_group [{ kind: KIND_CPU }, { kind: KIND_GPU }]", False)],
)  # fmt: skip
def test_only_what_says_so_is_on_the_cpu_for_certain(groups, on_cpu):
    assert stage(groups).is_on_cpu is on_cpu


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("sequence_batching { }", SequenceBatching("direct", 1_000_000)),
        (
            "sequence_batching { direct { max_queue_delay_microseconds: 5 } max_sequence_idle_microseconds: 7 }",
            SequenceBatching("direct", 7, max_queue_delay_us=5),
        ),
        (
            (
                "sequence_batching { oldest { max_candidate_sequences: 4 preferred_batch_size: [2, 4] "
                "max_queue_delay_microseconds: 9 } iterative_sequence: true state { input_name: 'i' } }"
            ),
            SequenceBatching("oldest", 1_000_000, (2, 4), 9, 4, is_iterative=True, states=1),
        ),
    ],
)
def test_sequence_batchers_are_read(text, expected):
    assert stage(text).sequences == expected


def test_tensors_and_parameters_are_read():
    found = stage("""
        input [{ name: "X" data_type: TYPE_FP32 dims: [-1, 3] }, { name: "Y" dims: [] optional: true }]
        output { name: "Z" data_type: TYPE_STRING dims: 1 }
        parameters { key: "k" value { string_value: "v" } }
        parameters [{ key: "empty" }]
    """)
    assert found.inputs == (Tensor("X", "FP32", (-1, 3)), Tensor("Y", "INVALID", (), is_optional=True))
    assert found.outputs == (Tensor("Z", "STRING", (1,)),)
    assert found.parameters == {"k": "v", "empty": ""}


def test_numbers_of_newer_enums_are_their_own_names():
    """Proto3 keeps a number that it has no name for."""
    found = stage("input { name: 'X' data_type: 99 } instance_group { kind: 77 }")
    assert (found.inputs[0].data_type, found.groups[0].kind) == ("99", "77")


def test_a_template_s_open_values_count_as_not_written():
    found = read_stage("backend: 'python' instance_group { kind: KIND_CPU count: ${n} }", PATH, "decode")
    assert (found.is_template, found.instances) == (True, InstanceCount(1))
    assert [hole.field for hole in found.placeholders] == ["instance_group.count"]
    assert found.text.startswith("backend")


def test_an_ensemble_has_no_instances():
    assert stage("ensemble_scheduling { }").instances == InstanceCount(0)


@pytest.mark.parametrize(
    ("count", "text", "known"),
    [(InstanceCount(2), "2", 2), (InstanceCount(0, 1), "unknown: 1 per GPU", None),
     (InstanceCount(2, 1), "unknown: 2 + 1 per GPU", None)],
)  # fmt: skip
def test_a_number_that_depends_on_the_machine_says_so(count, text, known):
    assert (str(count), count.known) == (text, known)
    assert count.on(3) == count.fixed + 3 * count.per_gpu


def test_dynamic_batching_without_a_batch_size_means_nothing():
    assert not stage('backend: "python" dynamic_batching { }').batches_dynamically


@pytest.mark.parametrize(
    "data",
    [
        b'\xef\xbb\xbfname: "decode"',  # a byte order mark
        b'name: "decode"\r\nbackend: "python"\r\n',
        'name: "decode" # Größe'.encode("latin-1"),
        'name: "decode" # Größe'.encode(),
    ],
)
def test_bytes_of_any_origin_are_read(data):
    assert stage(read_text(data)).name == "decode"


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ('name: "decode"\nmax_batch_size: eight', "2:17", "eight"),
        ('name: "decode"\nbatch: 8', "2:1", "batch"),
        ("max_batch_size: ${size}", "1:17", "it is a template: fill in its ${...} first"),
        ("instance_group [ {", "1:18", ""),
        ("max_batch_size:\r\n\r\ninput [ ]", "3:1", "input"),
    ],
)
def test_a_broken_one_names_file_line_column_and_cause(text, where, what):
    with pytest.raises(ConfigError) as error:
        parse_text(text, PATH)
    assert str(error.value).startswith(f"{PATH}:{where}: ")
    assert what in str(error.value)
    assert "\r" not in str(error.value)


def test_a_servers_json_means_the_same_as_the_file():
    """As `/v2/models/NAME/config` writes it; a field that this protobuf does not know is left out."""
    config = {
        "name": "decode", "platform": "", "backend": "python", "max_batch_size": 8,
        "instance_group": [{"name": "decode_0", "kind": "KIND_CPU", "count": 2, "gpus": [], "passive": False}],
        "dynamic_batching": {"preferred_batch_size": [8], "max_queue_delay_microseconds": 0},
        "ensemble_of_tomorrow": {"a": 1},
    }  # fmt: skip
    found = to_stage(parse_json(config), "decode")
    assert (found.backend, found.instances, found.batching) == ("python", InstanceCount(2), Batching((8,)))


def test_json_and_text_of_the_same_model_make_the_same_stage():
    """The server's JSON has defaults, enums by name, 64-bit numbers as strings or numbers, and maps."""
    text = """
        name: "e" platform: "ensemble" max_batch_size: 4
        input { name: "A" data_type: TYPE_INT64 dims: [-1] } output { name: "B" data_type: TYPE_BF16 dims: [2, 3] }
        model_transaction_policy { decoupled: true } parameters { key: "k" value { string_value: "v" } }
        ensemble_scheduling { step [
          { model_name: "m" model_version: -1
            input_map { key: "X" value: "A" } output_map { key: "Y" value: "B" } } ] }
    """
    config = {
        "name": "e", "platform": "ensemble", "backend": "", "max_batch_size": 4,
        "version_policy": {"latest": {"num_versions": 1}},
        "input": [
            {"name": "A", "data_type": "TYPE_INT64", "format": "FORMAT_NONE", "dims": [-1], "optional": False}
        ],
        "output": [{"name": "B", "data_type": "TYPE_BF16", "dims": ["2", "3"], "label_filename": ""}],
        "model_transaction_policy": {"decoupled": True}, "parameters": {"k": {"string_value": "v"}},
        "ensemble_scheduling": {"step": [{"model_name": "m", "model_version": -1, "model_namespace": "",
                                          "input_map": {"X": "A"}, "output_map": {"Y": "B"}, "new": {}}]},
    }  # fmt: skip
    assert to_stage(parse_json(config), "e") == to_stage(parse_text(text, PATH), "e")


@pytest.mark.parametrize(
    "config",
    [{"name": "m", "input": 3}, {"name": "m", "input": [3]}, {"name": 7},
     {"instance_group": [{"kind": "KIND_NEW"}]}, {"ensemble_scheduling": []},
     {"parameters": []}, {"max_batch_size": 1e99},
     {"name": None, "dynamic_batching": "x"}],
)  # fmt: skip
def test_odd_json_is_read_or_refused_by_the_model_s_name(config):
    try:
        to_stage(parse_json(config), "m")
    except ConfigError as error:
        assert str(error).startswith("the configuration of model ")  # noqa: PT017 - either is right


def test_json_that_is_no_configuration_is_an_error():
    with pytest.raises(ConfigError, match="the configuration of model 'decode'"):
        parse_json({"name": "decode", "max_batch_size": "many"})
