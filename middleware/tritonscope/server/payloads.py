"""A request's inputs, and their encoding for gRPC: done once, sent any number of times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from tritonclient.grpc import service_pb2
from tritonclient.utils import serialize_byte_tensor

Array = npt.NDArray[Any]


class InputTensor(NamedTuple):
    """One input of a request: name, Triton's datatype ("FP32", "BYTES"), and the values."""

    name: str
    datatype: str
    array: Array


Payload = Sequence[InputTensor]
"""The inputs of one request."""


def encode(model: str, payload: Payload, version: str = "") -> bytes:
    """Return the ModelInferRequest of `payload` as bytes that can be sent any number of times."""
    request = service_pb2.ModelInferRequest(model_name=model, model_version=version)
    for name, datatype, array in payload:
        request.inputs.add(name=name, datatype=datatype, shape=array.shape)
        request.raw_input_contents.append(_raw(datatype, array))
    encoded: bytes = request.SerializeToString()
    return encoded


def _raw(datatype: str, array: Array) -> bytes:
    if datatype == "BYTES":
        elements = serialize_byte_tensor(array)
        return bytes(elements.item()) if elements.size else b""
    if datatype == "BF16":
        # numpy has no BF16: it is the upper half of an FP32.
        return (np.ascontiguousarray(array, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return np.ascontiguousarray(array).tobytes()
