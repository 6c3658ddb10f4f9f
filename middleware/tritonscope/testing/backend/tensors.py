"""Tensor: a named array that passes between models, convertible by NumPy and by DLPack."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tritonscope.testing.backend import datatypes
from tritonscope.testing.backend.arguments import MODULE, Parameter, Signature, is_array, is_text
from tritonscope.testing.backend.errors import TritonModelException

Array = np.ndarray[Any, Any]

_CPU, _CUDA_HOST = 1, 3  # DLDeviceType of the DLPack protocol
_INIT = Signature(
    "__init__",
    f"{MODULE}.Tensor(arg0: str, arg1: numpy.ndarray)",
    (Parameter("arg0", is_text), Parameter("arg1", is_array)),
)
_NOT_DLPACK = (
    "Provided tensor is not supported. Tensor must be a DLPack capsule         "
    "or have `__dlpack__` and `__dlpack_device__` attributes"
)
_NOT_CONTIGUOUS = (
    "DLPack tensor is not contiguous. Only contiguous DLPack tensors that are stored in C-Order are supported."
)


class Tensor:
    """A named array. Elements of a BYTES tensor are the objects of an array of dtype `object`.

    What is sent on and what DLPack shows is the tensor's memory. For a tensor that a model makes, its array is that
    memory; for one that it gets, the array is a copy: writing to it changes nothing else.
    """

    __module__ = MODULE
    __slots__ = ("__weakref__", "_array", "_data_type", "_memory", "_name")
    _memory: Array | bytes

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name, array = _INIT.bind(args, kwargs)
        _check_name(name)
        contiguous = array if array.flags.c_contiguous else np.ascontiguousarray(array)
        self._set(name, datatypes.of_array(array), contiguous)
        self._memory = _serialize(self._array) if self._data_type == datatypes.BYTES else self._array

    def _set(self, name: str, data_type: str, array: Array) -> None:
        self._name = name
        self._data_type = data_type
        self._array = array

    def name(self) -> str:
        """Return the tensor's name."""
        return self._name

    def as_numpy(self) -> Array:
        """Return the array; for an input, a view that the model may write to."""
        return self._array

    def shape(self) -> list[int]:
        """Return the dimensions."""
        return list(self._array.shape)

    def triton_dtype(self) -> int:
        """Raise as 2.51 does: its data types have no Python counterpart.

        Raises:
            TypeError: always.
        """
        raise TypeError(
            "Unable to convert function return value to a Python type! The signature was\n"
            f"\t(self: {MODULE}.Tensor) -> TRITONSERVER_datatype_enum"
        )

    def is_cpu(self) -> bool:
        """Whether the data is in the CPU's memory: always."""
        return True

    def to_dlpack(self) -> Any:
        """Return a DLPack capsule of the data.

        Raises:
            TritonModelException: it is a BYTES tensor.
        """
        if isinstance(self._memory, bytes):
            raise TritonModelException("DLPack does not have support for string tensors.")
        return self._memory.__dlpack__()

    def __dlpack__(self, stream: Any = None, **_kwargs: Any) -> Any:
        return self.to_dlpack()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_CPU, 0)

    @staticmethod
    def from_dlpack(name: str, tensor: Any) -> Tensor:
        """Return a Tensor on the data of a DLPack capsule or of an object that offers one.

        Raises:
            TritonModelException: it offers none, or its data is not on the CPU or not in C order.
        """
        _check_name(name)
        memory = np.from_dlpack(_dlpack_source(tensor))
        if not memory.flags.c_contiguous:
            raise TritonModelException(_NOT_CONTIGUOUS)
        return _tensor_on(name, memory, memory)


def received_tensor(name: str, array: Array) -> Tensor:
    """Return a tensor as a model gets it: made without a call of `Tensor.__init__`, on memory of its own."""
    if datatypes.of_array(array) == datatypes.BYTES:
        encoded = _serialize(array)
        return _tensor_on(name, _deserialize(encoded).reshape(array.shape), encoded)
    return _tensor_on(name, array, array.copy())


def sent_array(tensor: Tensor) -> Array:
    """Return a copy of the tensor's memory, as its receiver gets it: elements of BYTES tensors are `bytes`."""
    memory = tensor._memory  # noqa: SLF001 - the backend's side of Tensor
    return _deserialize(memory).reshape(tensor.shape()) if isinstance(memory, bytes) else memory.copy()


def _tensor_on(name: str, array: Array, memory: Array | bytes) -> Tensor:
    tensor = Tensor.__new__(Tensor)
    tensor._set(name, datatypes.of_array(array), array.copy()[...])  # noqa: SLF001 - Tensor's other constructor
    tensor._memory = memory  # noqa: SLF001
    return tensor


def _check_name(name: str) -> None:
    if name == "":
        raise TritonModelException("Tensor name cannot be an empty string.")


def _serialize(array: Array) -> bytes:
    # Looked up for every call, as the real constructor does: a test or a tracer may have replaced it.
    utils = sys.modules["triton_python_backend_utils"]
    return bytes(utils.serialize_byte_tensor(array) or b"")


def _deserialize(encoded: bytes) -> Array:
    utils = sys.modules["triton_python_backend_utils"]
    decoded: Array = utils.deserialize_bytes_tensor(np.frombuffer(encoded, np.uint8))
    return decoded


class _Capsule:
    """A bare capsule as an object that NumPy accepts."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_kwargs: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_CPU, 0)


def _dlpack_source(tensor: Any) -> Any:
    if type(tensor).__name__ == "PyCapsule":
        return _Capsule(tensor)
    if not hasattr(tensor, "__dlpack__") or not hasattr(tensor, "__dlpack_device__"):
        raise TritonModelException(_NOT_DLPACK)
    device = tensor.__dlpack_device__()[0]
    if device not in {_CPU, _CUDA_HOST}:
        raise TritonModelException(f"DLDevice type {int(device)} is not support by Python backend.")
    return tensor
