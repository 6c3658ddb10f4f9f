"""Triton's data types in their three spellings (TYPE_FP32, FP32, 11) and NumPy's for the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from tritonscope.testing.backend.errors import TritonModelException

BYTES = "BYTES"
NAMES = (
    "INVALID", "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64",
    "FP16", "FP32", "FP64", BYTES, "BF16",
)  # fmt: skip
"""The names that clients use, at the place of the number that Triton uses inside."""

_NUMPY: dict[str, Any] = {
    "BOOL": np.bool_, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64,
    "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64,
    "FP16": np.float16, "FP32": np.float32, "FP64": np.float64, BYTES: np.object_,
}  # fmt: skip


def from_config(data_type: str) -> str:
    """Return the name that clients use for the `data_type` of a config.pbtxt (TYPE_STRING is BYTES)."""
    name = data_type.removeprefix("TYPE_")
    return BYTES if name == "STRING" else name


def of_array(array: np.ndarray[Any, Any]) -> str:
    """Return the name of an array's data type.

    Raises:
        TritonModelException: Triton has none for it.
    """
    if array.dtype == np.object_ or array.dtype.type is np.bytes_:
        return BYTES
    for name, dtype in _NUMPY.items():
        if array.dtype == dtype:
            return name
    raise TritonModelException("NumPy dtype is not supported.")


def to_numpy(name: str) -> Any:
    """Return NumPy's scalar type for the data type `name`."""
    return _NUMPY[name]
