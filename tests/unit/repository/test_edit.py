"""Changing the number of instances in a configuration's text: that one setting, and nothing else."""

from pathlib import Path

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st
from tritonclient.grpc import model_config_pb2

from tritonscope.repository.config import parse_text
from tritonscope.repository.edit import count_diff, with_count
from tritonscope.repository.stages import Stage


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("instance_group [{ kind: KIND_CPU count: 1 }]", "instance_group [{ kind: KIND_CPU count: 3 }]"),
        ("instance_group { count: 1 }", "instance_group { count: 3 }"),
        ("instance_group: [ { count:1 kind:KIND_CPU } ]", "instance_group: [ { count:3 kind:KIND_CPU } ]"),
        ("instance_group [{ kind: KIND_CPU }]", "instance_group [{ kind: KIND_CPU count: 3 }]"),
        ("instance_group [{ gpus: [0, 1] }]", "instance_group [{ gpus: [0, 1] count: 3 }]"),
        ("instance_group [{ }]", "instance_group [{ count: 3 }]"),
        (
            "instance_group [\n  {\n    kind: KIND_CPU\n  }\n]\n",
            "instance_group [\n  {\n    kind: KIND_CPU\n    count: 3\n  }\n]\n",
        ),
        ('backend: "python"', 'backend: "python"\ninstance_group [\n  {\n    count: 3\n  }\n]\n'),
        (
            '# count: 1 of instance_group { count: 1 }\nname: "{ count: 1 }"\ninstance_group < count: 1 >',
            '# count: 1 of instance_group { count: 1 }\nname: "{ count: 1 }"\ninstance_group < count: 3 >',
        ),
        (
            "instance_group { # one\n count: 1 # is enough\n rate_limiter { resources [{ name: 'r' count: 4 }] } }",
            "instance_group { # one\n count: 3 # is enough\n rate_limiter { resources [{ name: 'r' count: 4 }] } }",
        ),
    ],
)
def test_the_count_changes_and_everything_else_stays(before, after):
    assert with_count(before, 3) == after


@pytest.mark.parametrize(
    "text", ["instance_group [{ count: 1 }, { count: 1 }]", "instance_group [{ count: ${n} }]"]
)
def test_what_is_more_than_one_change_is_left_to_people(text):
    assert with_count(text, 3) is None


GROUP = st.builds(
    dict,
    kind=st.integers(0, 3),
    count=st.integers(0, 9),
    gpus=st.lists(st.integers(0, 7), max_size=3),
    passive=st.booleans(),
)


@given(st.lists(GROUP, max_size=2), st.integers(1, 64), st.booleans())
def test_protobuf_reads_the_change_and_nothing_else(groups, count, one_line):
    config = model_config_pb2.ModelConfig(name="m", max_batch_size=8, instance_group=groups)
    text = text_format.MessageToString(config, as_one_line=one_line)
    after = with_count(text, count)
    if len(groups) > 1:
        assert after is None
        return
    expected = model_config_pb2.ModelConfig()
    expected.CopyFrom(config)
    (expected.instance_group[0] if groups else expected.instance_group.add()).count = count
    assert parse_text(after, Path()) == expected


def test_the_diff_applies_to_the_repository():
    path = Path("model_repository/decode/config.pbtxt")
    text = 'name: "decode"\r\ninstance_group [{ count: 1 }]\r\n'
    assert count_diff(Stage("decode", "python", 0, (), path=path, text=text), 2) == (
        "--- a/decode/config.pbtxt\n+++ b/decode/config.pbtxt\n@@ -1,2 +1,2 @@\n"
        ' name: "decode"\n-instance_group [{ count: 1 }]\n+instance_group [{ count: 2 }]\n'
    )


def test_without_a_file_there_is_no_diff():
    assert count_diff(Stage("decode", "python", 0, ()), 2) == ""
