"""Where the fields of a text lie, however broken it is."""

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st
from tritonclient.grpc import model_config_pb2

from tritonscope.repository.fields import blanked, walk

TEXT = """
name: "a" "b"; max_batch_size: - 1, # of a group { count: 9 }
input [ { name: 'x{' dims: [ -1, ${n} ] }, { data_type: TYPE_#T } ]
parameters < key: "k" value: { string_value: "v" } >
"""


def spans(text):
    return {(field.path, text[field.begin : field.end]) for field in walk(text)}


def test_every_field_is_found_with_its_path_and_its_separator():
    assert spans(TEXT) >= {
        ("name", 'name: "a" "b";'),
        ("max_batch_size", "max_batch_size: - 1,"),
        ("input.name", "name: 'x{'"),
        ("input.dims", "-1,"),
        ("input.dims", "${n}"),
        ("input.dims", "dims: [ -1, ${n} ]"),
        ("input.data_type", "data_type: TYPE_#T"),
        ("parameters.value.string_value", 'string_value: "v"'),
        ("parameters", TEXT[TEXT.index("parameters") :].strip()),
    }
    assert not [path for path, _ in spans(TEXT) if "count" in path]


def test_inner_fields_come_before_those_around_them():
    order = [field.path for field in walk("a { b { c: 1 } }")]
    assert order == ["a.b.c", "a.b", "a"]


@pytest.mark.parametrize(
    ("text", "hole"),
    [
        ("count: ${n}", "${n}"), ("count: $n", "$n"), ("count: $(n)", "$(n)"), ("count: {{ n }}", "{{ n }}"),
        ("count: @n@", "@n@"), ("count: %n%", "%n%"), ("count: __N__", "__N__"), ("dims: [1, #n]", "#n"),
        ("data_type: TYPE_#T # FP32", "TYPE_#T"), ("${everything}", "${everything}"),
    ],
)  # fmt: skip
def test_placeholders_are_known_by_their_form(text, hole):
    assert [found for field in walk(text) for found in field.holes] == [hole]


@pytest.mark.parametrize("text", ["a: 1 # ${n}", 'a: "${n}"', "a: 1 #n", "# [ #n ]"])
def test_comments_and_strings_are_no_placeholders(text):
    assert [found for field in walk(text) for found in field.holes] == []


def test_what_is_blanked_keeps_lines_and_columns():
    assert blanked("ab\ncd", 1, 4) == "a \n d"
    assert blanked("dims: ${n}", 6, 10, "-1") == "dims: -1  "


@given(st.text(alphabet="ab:{}[]<>,;\"'#\\-1 \n${", max_size=80))
def test_nothing_is_too_broken_to_be_walked(text):
    for field in walk(text):
        assert 0 <= field.begin <= field.value <= len(text)
        assert field.begin < field.end <= len(text)


def test_what_is_cut_out_leaves_a_text_that_parses():
    text = 'name: "a", max_batch_size: 8; input { name: "x" dims: [1, 2] } backend: "b"'
    for field in walk(text):
        if field.name is not None:
            text_format.Parse(blanked(text, field.begin, field.end), model_config_pb2.ModelConfig())
