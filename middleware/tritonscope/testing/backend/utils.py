"""The functions and constants of `triton_python_backend_utils`."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import numpy as np

from tritonscope.testing.backend import datatypes

TRITONSERVER_REQUEST_FLAG_SEQUENCE_START = 1
TRITONSERVER_REQUEST_FLAG_SEQUENCE_END = 2
TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1
TRITONSERVER_REQUEST_RELEASE_ALL = 1
TRITONSERVER_REQUEST_RELEASE_RESCHEDULE = 2

TRITON_STRING_TO_NUMPY: dict[str, Any] = {
    "TYPE_STRING" if name == datatypes.BYTES else f"TYPE_{name}": bool
    if name == "BOOL"
    else datatypes.to_numpy(name)
    for name in datatypes.NAMES
    if name not in {"INVALID", "BF16"}
}


def serialize_byte_tensor(input_tensor: np.ndarray[Any, Any]) -> Any:
    """Return the elements as bytes, each after its length; () for no elements, None for an array of numbers.

    Bytes stay as they are; anything else is encoded as the UTF-8 of its `str`.
    """
    if input_tensor.size == 0:
        return ()
    if input_tensor.dtype != np.object_ and input_tensor.dtype.type is not np.bytes_:
        return None
    return b"".join(map(_with_length, input_tensor.ravel(order="C").tolist()))


def _with_length(element: Any) -> bytes:
    data = element if isinstance(element, bytes) else str(element).encode()
    return struct.pack("<I", len(data)) + data


def deserialize_bytes_tensor(encoded_tensor: Any) -> np.ndarray[Any, Any]:
    """Return the elements that `serialize_byte_tensor` encoded: a flat array of `bytes` objects."""
    data = bytes(encoded_tensor)
    elements: list[bytes] = []
    offset = 0
    while offset < len(data):
        (length,) = struct.unpack_from("<I", data, offset)
        elements.append(data[offset + 4 : offset + 4 + length])
        offset += 4 + length
    return np.array(elements, dtype=np.object_)


def get_input_tensor_by_name(inference_request: Any, name: str) -> Any:
    """Return the request's input of this name, None if it has none."""
    return _named(inference_request.inputs(), name)


def get_output_tensor_by_name(inference_response: Any, name: str) -> Any:
    """Return the response's output of this name, None if it has none."""
    return _named(inference_response.output_tensors(), name)


def _named(tensors: Iterable[Any], name: str) -> Any:
    return next((tensor for tensor in tensors if tensor.name() == name), None)


def get_input_config_by_name(model_config: dict[str, Any], name: str) -> Any:
    """Return the properties of the configuration's input of this name, None if it has none."""
    return next((each for each in model_config.get("input", ()) if each["name"] == name), None)


def get_output_config_by_name(model_config: dict[str, Any], name: str) -> Any:
    """Return the properties of the configuration's output of this name, None if it has none."""
    return next((each for each in model_config.get("output", ()) if each["name"] == name), None)


def using_decoupled_model_transaction_policy(model_config: dict[str, Any]) -> bool:
    """Whether the model may answer a request any number of times."""
    policy = model_config.get("model_transaction_policy")
    return policy["decoupled"] if policy is not None else False


def triton_string_to_numpy(triton_type_string: str) -> Any:
    """Return NumPy's type for a `data_type` of a config.pbtxt, such as TYPE_FP32."""
    return TRITON_STRING_TO_NUMPY[triton_type_string]


def triton_to_numpy_type(data_type: int) -> Any:
    """Return NumPy's type for one of Triton's numbers of data types, None for others."""
    known = 0 < data_type < len(datatypes.NAMES) - 1
    return datatypes.to_numpy(datatypes.NAMES[data_type]) if known else None


def numpy_to_triton_type(data_type: Any) -> int | None:
    """Return Triton's number for a NumPy type, None if it has none."""
    if data_type == np.bytes_:
        return datatypes.NAMES.index(datatypes.BYTES)
    return next((number for number in range(1, 14) if data_type == triton_to_numpy_type(number)), None)
