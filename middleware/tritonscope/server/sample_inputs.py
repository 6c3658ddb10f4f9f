"""Makes requests for any model from what the model says of its inputs: random values, or the content of files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tritonclient.utils import triton_to_np_dtype

from tritonscope.errors import UsageError
from tritonscope.server.payloads import Array, InputTensor

_INT_LIMIT = 100  # small enough for any table of tokens or classes, and for INT8


class InputSpec(NamedTuple):
    """What a model says of one input; the shape includes the batch dimension, -1 means any size."""

    name: str
    datatype: str
    shape: tuple[int, ...]
    optional: bool = False


def random_payloads(
    specs: Iterable[InputSpec],
    count: int = 4,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    files: Mapping[str, Path] | None = None,
    batch: int | None = None,
    seed: int = 0,
) -> list[list[InputTensor]]:
    """Return `count` payloads for a model with the inputs `specs`.

    Values are random (floats in [0, 1), integers in [0, 100), strings of 16 letters) unless `files` names a file
    for an input. Optional inputs are left out unless `shapes` or `files` names them. `batch` is the size of the
    first dimension where the model leaves it open; None if the model does not batch.

    Raises:
        UsageError: a dimension is open, or a name, shape or file does not fit the model.
    """
    shapes, files = shapes or {}, files or {}
    known = list(specs)
    _check_names({*shapes, *files}, known)
    rng = np.random.default_rng(seed)
    wanted = [spec for spec in known if not spec.optional or spec.name in shapes or spec.name in files]
    fixed = {name: _from_file(spec, files[name], shapes.get(name), batch)
             for spec in wanted if (name := spec.name) in files}  # fmt: skip
    return [
        [fixed.get(spec.name) or _random(spec, _shape(spec, shapes.get(spec.name), batch), rng) for spec in wanted]
        for _ in range(count)
    ]


def _check_names(names: set[str], specs: Sequence[InputSpec]) -> None:
    unknown = names - {spec.name for spec in specs}
    if unknown:
        has = ", ".join(spec.name for spec in specs)
        raise UsageError(f"the model has no input {', '.join(sorted(unknown))}; its inputs are: {has}")


def _shape(spec: InputSpec, given: Sequence[int] | None, batch: int | None) -> tuple[int, ...]:
    shape = tuple(given) if given is not None else spec.shape
    if given is None and batch is not None:
        shape = (batch, *shape[1:])
    fits = len(shape) == len(spec.shape) and all(
        ours == theirs or -1 in {ours, theirs} for ours, theirs in zip(shape, spec.shape, strict=True)
    )
    declared = _text(spec.shape)
    if not fits:
        raise UsageError(f"the shape {_text(shape)} does not fit input {spec.name}, which is {declared}")
    if -1 in shape:
        raise UsageError(
            f"input {spec.name} has the shape {declared}, where -1 is any size: give one, for example "
            f"--shape {spec.name}:{_text([max(size, 1) for size in shape])}"
        )
    return shape


def _random(spec: InputSpec, shape: tuple[int, ...], rng: np.random.Generator) -> InputTensor:
    if spec.datatype == "BYTES":
        letters = rng.integers(ord("a"), ord("z") + 1, size=(*shape, 16), dtype=np.uint8)
        flat = [row.tobytes() for row in letters.reshape(-1, 16)]
        return InputTensor(spec.name, spec.datatype, np.array(flat, dtype=np.object_).reshape(shape))
    dtype = _dtype(spec)
    if dtype.kind == "f":
        return InputTensor(spec.name, spec.datatype, rng.random(shape).astype(dtype))
    limit = 2 if dtype.kind == "b" else _INT_LIMIT
    return InputTensor(spec.name, spec.datatype, rng.integers(0, limit, size=shape).astype(dtype))


def _dtype(spec: InputSpec) -> np.dtype[Any]:
    # BF16 is held as FP32 until it is encoded.
    dtype = np.float32 if spec.datatype == "BF16" else triton_to_np_dtype(spec.datatype)
    if dtype is None:
        raise UsageError(f"input {spec.name} has the datatype {spec.datatype}, which this client cannot make")
    found: np.dtype[Any] = np.dtype(dtype)
    return found


def _from_file(spec: InputSpec, path: Path, given: Sequence[int] | None, batch: int | None) -> InputTensor:
    """A .npy file is an array; any other file is one string for BYTES, raw values for the rest."""
    try:
        content = np.load(path, allow_pickle=False) if path.suffix == ".npy" else path.read_bytes()
    except (OSError, ValueError) as error:
        raise UsageError(f"the file {path} for input {spec.name} cannot be read: {error}") from None
    if isinstance(content, bytes):
        return InputTensor(spec.name, spec.datatype, _from_bytes(spec, path, content, given, batch))
    if spec.datatype != "BYTES" and content.dtype != _dtype(spec):
        raise UsageError(f"the file {path} holds {content.dtype}, but input {spec.name} is {spec.datatype}")
    return InputTensor(spec.name, spec.datatype, content)


def _from_bytes(
    spec: InputSpec, path: Path, content: bytes, given: Sequence[int] | None, batch: int | None
) -> Array:
    if spec.datatype == "BYTES":
        return np.array([content], dtype=np.object_).reshape([1] * len(spec.shape))
    shape, dtype = _shape(spec, given, batch), _dtype(spec)
    needed = dtype.itemsize * math.prod(shape)
    if len(content) != needed:
        raise UsageError(
            f"the file {path} has {len(content)} bytes, but input {spec.name} ({spec.datatype}, shape "
            f"{_text(shape)}) takes {needed}"
        )
    return np.frombuffer(content, dtype=dtype).reshape(shape)


def _text(shape: Sequence[int]) -> str:
    return ",".join(map(str, shape))
