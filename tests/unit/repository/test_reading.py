"""Texts that protobuf refuses: templates, newer servers' fields, slips, broken files, each told for what it is."""

from pathlib import Path

import pytest

from tritonscope.errors import ConfigError
from tritonscope.repository.reading import parse_text, read_message
from tritonscope.repository.stages import Placeholder

PATH = Path("models/decode/config.pbtxt")

TEMPLATE = """
backend: "python"
max_batch_size: ${triton_max_batch_size}
dynamic_batching {
    preferred_batch_size: [ ${triton_max_batch_size}, 8 ]
    max_queue_delay_microseconds: ${delay}, preserve_ordering: true
}
parameters [ { key: "dir", value: { string_value: "${dir}/x" } } ]
instance_group [ { count: INSTANCE_NUM kind: KIND_CPU } ]
input [ { name: "x" data_type: TYPE_#DTYPE # FP32
  dims: [-1, #num_mel_bins] # 80
} ]
"""


def test_the_rest_of_a_template_is_read():
    message = read_message(TEMPLATE, PATH).message
    assert (message.backend, message.max_batch_size) == ("python", 0)
    assert list(message.dynamic_batching.preferred_batch_size) == [-1, 8]
    assert message.dynamic_batching.preserve_ordering
    assert message.parameters["dir"].string_value == "${dir}/x"
    assert (message.instance_group[0].count, message.instance_group[0].kind) == (0, 2)
    assert list(message.input[0].dims) == [-1, -1]


def test_what_a_template_leaves_open_is_named_with_field_and_line():
    assert set(read_message(TEMPLATE, PATH).placeholders) == {
        Placeholder("${triton_max_batch_size}", "max_batch_size", 3),
        Placeholder("${triton_max_batch_size}", "dynamic_batching.preferred_batch_size", 5),
        Placeholder("${delay}", "dynamic_batching.max_queue_delay_microseconds", 6),
        Placeholder("INSTANCE_NUM", "instance_group.count", 9),
        Placeholder("TYPE_#DTYPE", "input.data_type", 10),
        Placeholder("#num_mel_bins", "input.dims", 11),
        Placeholder("${dir}", "parameters.value.string_value", 8),
    }


def test_a_template_that_parses_is_one_all_the_same():
    reading = read_message('backend: "${triton_backend}"', PATH)
    assert reading.message.backend == "${triton_backend}"
    assert reading.placeholders == (Placeholder("${triton_backend}", "backend", 1),)


def test_dollars_and_hashes_of_plain_files_are_not_placeholders():
    environment = '{ key: "EXECUTION_ENV_PATH" value { string_value: "$$TRITON_MODEL_DIRECTORY/e" } }'
    text = f'name: "a#b" # [#x]\nparameters {environment}'
    assert read_message(text, PATH).placeholders == ()


def test_a_template_that_is_broken_elsewhere_says_where_and_that_it_is_one():
    with pytest.raises(ConfigError, match=r"config\.pbtxt:2:17: .*it is a template"):
        read_message("instance_group { count: ${n} }\nmax_batch_size: eight", PATH)


NEWER = """
backend: "python"
model_metrics_of_tomorrow { metric_control [ { x: 1 }, { y: "z" } ] }
max_batch_size: 8
instance_group [ { count: 2, gravity: STRONG, kind: KIND_CPU } ]
optimization { priority: PRIORITY_OF_TOMORROW }
"""


def test_fields_and_values_of_newer_servers_are_left_out_and_named():
    reading = read_message(NEWER, PATH)
    assert (reading.message.backend, reading.message.max_batch_size) == ("python", 8)
    assert (reading.message.instance_group[0].count, reading.message.instance_group[0].kind) == (2, 2)
    told = [str(problem) for problem in reading.problems]
    assert len(told) == 3
    assert told[0].startswith(f"{PATH}:3:1: field 'model_metrics_of_tomorrow' is not known here")
    assert told[1].startswith(f"{PATH}:5:30: field 'instance_group.gravity' is not known here")
    assert "value PRIORITY_OF_TOMORROW of 'optimization.priority'" in told[2]


@pytest.mark.parametrize(
    ("text", "where", "meant"),
    [
        ("max_batch: 8", "1:1", "max_batch_size"),
        ("backend: 'python'\ninstance_groups { }", "2:1", "instance_group"),
        ("instance_group { kinds: 1 }", None, ""),  # too short to be sure
    ],
)
def test_a_slip_is_an_error_that_names_what_was_meant(text, where, meant):
    if not meant:
        assert len(read_message(text, PATH).problems) == 1
        return
    with pytest.raises(ConfigError) as error:
        read_message(text, PATH)
    assert str(error.value).startswith(f"{PATH}:{where}: ")
    assert str(error.value).endswith(f"did you mean '{meant}'?")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("name:\n\ninput [\n]", "3:1"),  # a value was forgotten: the skeleton of a tutorial
        ("input [\n  {\n    dims :\n  }\n]", "4:3"),
        ("input [\r\n  { reshape: {[1,-1]} }\r\n]", "2:16"),
        ("instance_group [ {", "1:18"),
        ('name: "a', "1:7"),
        ("max_batch_size: 99999999999", "1:17"),
        ("name: 'a' name: 'b'", "1:17"),
        ("\x89PNG\r\n\x1a\n\0\0", "1:1"),
    ],
)
def test_a_broken_file_says_where(text, where):
    for read in (read_message, parse_text):
        with pytest.raises(ConfigError) as error:
            read(text, PATH)
        assert str(error.value).startswith(f"{PATH}:{where}: ")
        assert "\r" not in str(error.value)


def test_too_many_unknown_fields_are_no_configuration():
    with pytest.raises(ConfigError, match="field_51"):
        read_message("\n".join(f"field_{number}: 1" for number in range(1, 80)), PATH)


def test_to_the_letter_means_without_repairs():
    for text in (TEMPLATE, NEWER):
        with pytest.raises(ConfigError):
            parse_text(text, PATH)
