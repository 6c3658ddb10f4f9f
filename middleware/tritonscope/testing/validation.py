"""What Triton's core checks of a request before a model sees it, with its texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tritonscope.testing.backend import datatypes
from tritonscope.testing.backend.errors import ErrorCode
from tritonscope.testing.config import Config
from tritonscope.testing.traffic import Call, CallFailedError

_SHAPE_NOTE = (
    "NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be prepended to "
    "each input shape. If you want to specify the full shape including the batch dim in your input dims config, "
    "try setting max_batch_size to zero. See the model configuration docs for more info on max_batch_size."
)


def check_call(call: Call, config: Config) -> None:
    """Check a request against a model's configuration, and fill in the outputs if it requests none.

    Raises:
        CallFailedError: the model would not get it.
    """
    place = f"for model '{call.model}'"
    inputs = {each["name"]: each for each in config["input"]}
    outputs = [each["name"] for each in config["output"]]
    for name in call.requested:
        if name not in outputs:
            raise _invalid(f"unexpected inference output '{name}' {place}")
    _check_presence(call, inputs)
    for name in call.inputs:
        if name not in inputs:
            raise _invalid(f"unexpected inference input '{name}' {place}")
    _check_batch(call, config)
    for name, array in call.inputs.items():
        _check_input(call, array, inputs[name], config)
    call.requested = call.requested or tuple(outputs)


def _check_presence(call: Call, inputs: Mapping[str, Any]) -> None:
    needed = [name for name, each in inputs.items() if not each.get("optional")]
    if len(needed) <= len(call.inputs) <= len(inputs):
        return
    expected = f"number of inputs between {len(needed)} and {len(inputs)}"
    if len(needed) == len(inputs):
        expected = f"{len(inputs)} inputs"
    missing = ",".join(f"'{name}'" for name in needed if name not in call.inputs)
    got = ",".join(f"'{name}'" for name in reversed(call.inputs))
    raise _invalid(
        f"{_prefix(call)}expected {expected} but got {len(call.inputs)} inputs for model '{call.model}'. "
        f"Got input(s) [{got}], but missing required input(s) {'[' if missing else ''}{missing}]. "
        "Please provide all required input(s)."
    )


def _check_batch(call: Call, config: Config) -> None:
    largest = config.get("max_batch_size", 0)
    if not largest:
        return
    sizes = [array.shape[0] for array in call.inputs.values() if array.ndim]
    if sizes and sizes[0] > largest:
        raise _invalid(f"{_prefix(call)}inference request batch-size must be <= {largest} for '{call.model}'")
    if len(set(sizes)) > 1:
        first = next(iter(call.inputs))
        raise _invalid(f"{_prefix(call)}input '{first}' batch size does not match other inputs for '{call.model}'")


def _check_input(call: Call, array: np.ndarray[Any, Any], wanted: Config, config: Config) -> None:
    name, expected = wanted["name"], datatypes.from_config(wanted["data_type"])
    given = datatypes.of_array(array)
    if given != expected:
        raise _invalid(
            f"{_prefix(call)}inference input '{name}' data-type is '{given}', "
            f"but model '{call.model}' expects '{expected}'"
        )
    batched = bool(config.get("max_batch_size", 0))
    dims = [-1] * batched + list(wanted["dims"])
    if len(dims) == array.ndim and all(dim in {-1, size} for dim, size in zip(dims, array.shape, strict=True)):
        return
    note = f" {_SHAPE_NOTE}" if batched else ""
    raise _invalid(
        f"{_prefix(call)}unexpected shape for input '{name}' for model '{call.model}'. "
        f"Expected {_shown(dims)}, got {_shown(array.shape)}.{note}"
    )


def _shown(dims: Any) -> str:
    return "[" + ",".join(map(str, dims)) + "]"


def _prefix(call: Call) -> str:
    return f"[request id: {call.request_id or '<id_unknown>'}] "


def _invalid(message: str) -> CallFailedError:
    return CallFailedError(message, ErrorCode.INVALID_ARG)
