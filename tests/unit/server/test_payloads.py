"""An encoded request is the message that Triton's own client would send."""

import numpy as np
import pytest
from tritonclient.grpc import InferInput, service_pb2

from tritonscope.server.payloads import InputTensor, encode


def decode(*tensors) -> service_pb2.ModelInferRequest:
    request = service_pb2.ModelInferRequest()
    request.ParseFromString(encode("m", [InputTensor(*tensor) for tensor in tensors], version="2"))
    return request


def test_model_version_and_inputs_are_named():
    request = decode(("A", "FP32", np.zeros((2, 3), np.float32)), ("B", "INT64", np.ones(4, np.int64)))
    assert (request.model_name, request.model_version) == ("m", "2")
    assert [(one.name, one.datatype, list(one.shape)) for one in request.inputs] == [
        ("A", "FP32", [2, 3]), ("B", "INT64", [4]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("datatype", "array"),
    [
        ("FP32", np.arange(12, dtype=np.float32).reshape(3, 4).T),
        ("BOOL", np.array([True, False])),
        ("BYTES", np.array([b"jpeg\x00bytes", "text ä".encode(), b""], dtype=object)),
    ],
)
def test_values_are_encoded_as_tritons_client_does(datatype, array):
    theirs = InferInput("A", list(array.shape), datatype)
    theirs.set_data_from_numpy(array)
    assert list(decode(("A", datatype, array)).raw_input_contents) == [theirs._get_content()]


def test_bf16_is_the_upper_half_of_fp32():
    raw = decode(("A", "BF16", np.array([1.0, -2.5], np.float32))).raw_input_contents[0]
    assert np.frombuffer(raw, np.uint16).tolist() == [0x3F80, 0xC020]
