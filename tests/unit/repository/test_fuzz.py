"""Configurations that were cut, spliced and mutated: read, or refused by name; never a crash, never a hang.

TRITONSCOPE_FUZZ_EXAMPLES sets how many (default: 300).
"""

import os
import random
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tritonscope.errors import ConfigError, RepositoryError
from tritonscope.repository.config import parse_json, read_stage, to_stage
from tritonscope.repository.edit import with_count
from tritonscope.repository.folder import with_findings
from tritonscope.repository.pipeline import build_pipeline
from tritonscope.repository.stages import Repository
from tritonscope.repository.text import decode

PATH = Path("models/m/config.pbtxt")
CORPUS = Path(__file__).resolve().parents[3].parent / "shared" / "corpus"

# Every kind of thing that a configuration can hold, so that cuts and splices meet all of them.
SEEDS = [
    b"""
name: "decode"  backend: 'python' max_batch_size: 8  # a comment with { "quotes" }
input [ { name: "X" data_type: TYPE_FP32 dims: [ -1, 3 ] reshape { shape: [ ] } optional: true } ]
output < name: "Y"; data_type: TYPE_STRING; dims: 1 >
instance_group [ { kind: KIND_CPU count: 2 }, { gpus: [0, 1] passive: true } ]
dynamic_batching { preferred_batch_size: [4, 8], max_queue_delay_microseconds: 100 }
parameters { key: "EXECUTION_ENV_PATH" value: { string_value: "$$TRITON_MODEL_DIRECTORY/e.tar" } }
model_transaction_policy { decoupled: True } version_policy: { specific { versions: [1, 0x2] } }
""",
    b"""
platform: "ensemble"
ensemble_scheduling { step [
  { model_name: "m" model_version: -1 input_map { key: "A" value: "a" } output_map { key: "B" value: "b" } },
  { model_name: "e" input_map { key: "A" value: "b" } output_map { key: "B" value: "a" } } ] }
input { name: "a" data_type: TYPE_INT32 dims: -1 } output { name: "b" data_type: 11 dims: -1 }
""",
    b"""
max_batch_size: ${size} instance_group { count: INSTANCE_NUM } backend: "${backend}" of_tomorrow { a: [1, {b: 2}] }
sequence_batching { oldest { max_candidate_sequences: {{ n }} } control_input [ { name: "START" control [
  { kind: CONTROL_SEQUENCE_START fp32_false_true: [0, 1e3, inf, -nan] } ] } ]
  state { dims: [#n] data_type: TYPE_#T } }
""",
    '\ufeffname: "größe" # 中文\r\nmodel_warmup { name: "w" inputs { key: "\\xff\\001\\u4e2d" } }\r\n'.encode(),
    'name: "utf16"'.encode("utf-16"),
]
PIECES = [
    b"{", b"}", b"[", b"]", b"<", b">", b":", b",", b";", b"'", b'"', b"#", b"\\", b"\n", b"\r", b"\0", b"\xff",
    b"$",
    b"${", b"}}", b"-", b"- -1", b"9" * 40, b"1e999", b"nan", b"{" * 300, b"[" * 300, b"input {" * 200, b"a." * 50,
    b"name:", b"count:", b"input", b"kind: KIND_NEW", b"data_type: 999", b"[a.b/c.d] { }", b'"\\777"',
    b'"\xed\xa0\x80"',
    b"of_tomorrow: 1 ", b"max_batch: 1", b"MAX_N", b"@x@", b"\xe4\xb8\xad", b" \t" * 50, b"platform: 'ensemble'",
]  # fmt: skip


def corpus() -> list[bytes]:
    """Some of the public configurations too, where they are at hand: the same ones in every run."""
    paths = sorted(CORPUS.glob("*/*/config.pbtxt")) if CORPUS.is_dir() else []
    return [path.read_bytes() for path in random.Random(1).sample(paths, min(60, len(paths)))]  # noqa: S311


ALL_SEEDS = [*SEEDS, *corpus()]


@st.composite
def mangled(draw):
    """A seed after up to eight cuts, insertions, repetitions, changed bytes or splices with another seed."""
    data = draw(st.sampled_from(ALL_SEEDS))
    for _ in range(draw(st.integers(0, 8))):
        begin, end = sorted((draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))))
        data = draw(
            st.sampled_from([
                data[:begin], data[end:], data[:begin] + data[end:], data[:end] + data[begin:],
                data[:begin] + draw(st.sampled_from(PIECES)) + data[begin:],
                data[:begin] + draw(st.sampled_from(PIECES)) + data[end:],
                data[:begin] + draw(st.binary(min_size=1, max_size=3)) + data[begin + 1 :],
                data[:begin] + draw(st.sampled_from(ALL_SEEDS))[begin:],
            ])
        )  # fmt: skip
    return data[:20_000]


def read(data: bytes):
    """Read a configuration as a folder does, and return its stage, None if it is refused."""
    try:
        return read_stage(decode(data).text, PATH, "m", files=frozenset({"model.py"}))
    except ConfigError as error:
        place = str(error).removeprefix(f"{PATH}:").split(":")
        assert int(place[0]) >= 1
        assert int(place[1]) >= 1
        return None


EXAMPLES = int(os.environ.get("TRITONSCOPE_FUZZ_EXAMPLES", "300"))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(mangled(), mangled())
@example(b"{" * 5000, b"input {" * 5000)
@example(b'name: "' + b"\\" * 5001, b"max_batch_size: " + b"9" * 5000)
@example(b"a: 1 " * 3000, b"${x} " * 3000)
def test_mangled_configurations_are_read_or_refused_by_name(first, second):
    stages = {name: stage for name, data in (("m", first), ("e", second)) if (stage := read(data)) is not None}
    repository = with_findings(Repository(stages))
    assert isinstance(repository.problems, tuple)
    for name, stage in stages.items():
        assert stage.instances.on(2) >= 0
        with_count(stage.text, 3)
        try:
            build_pipeline(name, repository)
        except RepositoryError as error:
            assert "ensemble" in str(error)  # noqa: PT017 - a plain model always makes a pipeline


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "1", "TYPE_FP32", "KIND_CPU", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "dims", "step", "kind"]), inner)
    ),
    max_leaves=6,
)
FIELDS = [
    "name",
    "backend",
    "max_batch_size",
    "input",
    "instance_group",
    "ensemble_scheduling",
    "parameters",
    "new",
]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), VALUES))
def test_any_json_is_read_or_refused_by_the_model_s_name(config):
    try:
        assert to_stage(parse_json(config), "m").name
    except ConfigError as error:
        assert str(error).startswith("the configuration of model ")  # noqa: PT017 - either is right
