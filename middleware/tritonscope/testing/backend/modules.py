"""The two modules as models import them, and their place in `sys.modules` while a server runs."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import numpy as np

from tritonscope.testing.backend import (
    control,
    errors,
    logger,
    memory,
    metric_registry,
    metrics,
    model_config,
    requests,
    responses,
    senders,
    tensors,
    trace,
    utils,
)

C_MODULE = "c_python_backend_utils"
PYTHON_MODULE = "triton_python_backend_utils"

_CLASSES = (
    errors.TritonError, errors.TritonModelException, logger.Logger, memory.MemoryType, memory.PreferredMemory,
    metric_registry.MetricKind, metrics.Metric, metrics.MetricFamily, requests.InferenceRequest,
    responses.InferenceResponse, responses.ResponseIterator, senders.InferenceResponseSender, tensors.Tensor,
    trace.InferenceTrace, control.load_model, control.unload_model, control.is_model_ready,
    control.async_event_future_done_callback,
)  # fmt: skip
_FUNCTIONS = (
    "TRITON_STRING_TO_NUMPY", "TRITONSERVER_REQUEST_FLAG_SEQUENCE_START", "TRITONSERVER_REQUEST_FLAG_SEQUENCE_END",
    "TRITONSERVER_RESPONSE_COMPLETE_FINAL", "TRITONSERVER_REQUEST_RELEASE_ALL",
    "TRITONSERVER_REQUEST_RELEASE_RESCHEDULE", "deserialize_bytes_tensor", "serialize_byte_tensor",
    "get_input_config_by_name", "get_output_config_by_name", "get_input_tensor_by_name",
    "get_output_tensor_by_name", "numpy_to_triton_type", "triton_string_to_numpy", "triton_to_numpy_type",
    "using_decoupled_model_transaction_policy",
)  # fmt: skip
_LATE = (
    "InferenceRequest", "InferenceResponse", "Logger", "MetricFamily", "PreferredMemory", "Tensor", "TritonError",
    "TritonModelException", "TRITONSERVER_MEMORY_CPU", "TRITONSERVER_MEMORY_GPU", "load_model", "unload_model",
    "is_model_ready",
)  # fmt: skip


def c_module() -> ModuleType:
    """Return a new `c_python_backend_utils`."""
    module = ModuleType(C_MODULE)
    for each in _CLASSES:
        setattr(module, each.__name__, each)
    for enumeration in (memory.MemoryType, metric_registry.MetricKind):
        vars(module).update(enumeration.__members__)
    return module


def python_module() -> ModuleType:
    """Return a new `triton_python_backend_utils`, without the names that appear only once a model is imported."""
    module = ModuleType(PYTHON_MODULE)
    vars(module).update({name: getattr(utils, name) for name in _FUNCTIONS})
    vars(module).update(ModelConfig=model_config.ModelConfig, json=json, np=np, struct=struct)
    return module


def renew() -> ModuleType:
    """Put a new `triton_python_backend_utils` into `sys.modules` for the next model."""
    sys.modules[PYTHON_MODULE] = module = python_module()
    return module


def current() -> ModuleType:
    """Return the `triton_python_backend_utils` of the model that is being loaded."""
    return sys.modules[PYTHON_MODULE]


def complete(target: ModuleType) -> None:
    """Put the classes of `c_python_backend_utils`, as they are now, on a model's `triton_python_backend_utils`.

    Triton does so after it has imported a model: while `model.py` is being imported they are not there.
    """
    source = sys.modules[C_MODULE]
    for name in _LATE:
        setattr(target, name, getattr(source, name))
    target.get_model_dir = control.get_model_dir  # type: ignore[attr-defined]


@contextmanager
def installed() -> Iterator[None]:
    """Put both modules into `sys.modules`, and what was there before back at the end."""
    before = {name: sys.modules.get(name) for name in (C_MODULE, PYTHON_MODULE)}
    sys.modules[C_MODULE], sys.modules[PYTHON_MODULE] = c_module(), python_module()
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
