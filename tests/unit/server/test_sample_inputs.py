"""Requests made for an unknown model fit what it declares, or it is said which option is missing."""

import numpy as np
import pytest

from tritonscope.errors import UsageError
from tritonscope.server.sample_inputs import InputSpec, random_payloads

IMAGE = InputSpec("IMAGE", "FP32", (-1, 3, 4))


@pytest.mark.parametrize(
    ("datatype", "kind"),
    [("FP16", "f"), ("FP32", "f"), ("FP64", "f"), ("BF16", "f"), ("INT8", "i"), ("INT64", "i"), ("UINT8", "u"),
     ("BOOL", "b"), ("BYTES", "O")],
)  # fmt: skip
def test_each_datatype_can_be_made(datatype, kind):
    [[tensor]] = random_payloads([InputSpec("A", datatype, (2, 5))], count=1)
    assert (tensor.name, tensor.datatype, tensor.array.shape, tensor.array.dtype.kind) == (
        "A",
        datatype,
        (2, 5),
        kind,
    )
    assert len({repr(value) for value in tensor.array.flat}) > 1


def test_payloads_differ_and_repeat_with_the_seed():
    first, second = random_payloads([IMAGE], 2, batch=1)
    again, _ = random_payloads([IMAGE], 2, batch=1)
    assert not np.array_equal(first[0].array, second[0].array)
    assert np.array_equal(first[0].array, again[0].array)


def test_batch_size_fills_the_first_dimension():
    [[tensor]] = random_payloads([IMAGE], 1, batch=8)
    assert tensor.array.shape == (8, 3, 4)


def test_open_dimension_asks_for_a_shape():
    with pytest.raises(UsageError, match="--shape TOKENS:1,1"):
        random_payloads([InputSpec("TOKENS", "INT64", (-1, -1))], 1, batch=1)


def test_given_shape_closes_it():
    [[tensor]] = random_payloads([InputSpec("TOKENS", "INT64", (-1, -1))], 1, shapes={"TOKENS": (2, 128)}, batch=1)
    assert tensor.array.shape == (2, 128)


@pytest.mark.parametrize("shape", [(1, 3), (1, 3, 5), (1, 3, 4, 1)])
def test_shape_that_does_not_fit_is_refused(shape):
    with pytest.raises(UsageError, match="does not fit input IMAGE, which is -1,3,4"):
        random_payloads([IMAGE], 1, shapes={"IMAGE": shape})


def test_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="no input PICTURE; its inputs are: IMAGE"):
        random_payloads([IMAGE], 1, shapes={"PICTURE": (1,)})


def test_optional_inputs_are_sent_only_on_request():
    specs = [IMAGE, InputSpec("MASK", "BOOL", (4,), optional=True)]
    assert [len(payload) for payload in random_payloads(specs, 1, batch=1)] == [1]
    assert [len(payload) for payload in random_payloads(specs, 1, batch=1, shapes={"MASK": (4,)})] == [2]


def test_any_file_is_one_string(tmp_path):
    picture = tmp_path / "cat.jpg"
    picture.write_bytes(b"\xff\xd8jpeg")
    [[tensor]] = random_payloads([InputSpec("IMAGE", "BYTES", (-1, 1))], 1, files={"IMAGE": picture}, batch=1)
    assert tensor.array.tolist() == [[b"\xff\xd8jpeg"]]


def test_raw_values_take_the_declared_shape(tmp_path):
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    (tmp_path / "raw").write_bytes(values.tobytes())
    np.save(tmp_path / "saved.npy", values)
    for name in ("raw", "saved.npy"):
        [[tensor]] = random_payloads([IMAGE], 1, files={"IMAGE": tmp_path / name}, batch=2)
        assert np.array_equal(tensor.array, values)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("missing", "No such file"), ("short", "has 3 bytes, but input IMAGE"), ("wrong.npy", "holds float64, but")],
)
def test_file_that_does_not_fit_is_named(tmp_path, name, reason):
    (tmp_path / "short").write_bytes(b"abc")
    np.save(tmp_path / "wrong.npy", np.zeros((1, 3, 4)))
    with pytest.raises(UsageError, match=f"{name}.*{reason}"):
        random_payloads([IMAGE], 1, files={"IMAGE": tmp_path / name}, batch=1)
