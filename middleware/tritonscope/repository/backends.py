"""Which backend runs a model: as its configuration says, else by its files as Triton's core goes by them."""

from __future__ import annotations

from typing import Any

ENSEMBLE = "ensemble"
PYTHON = "python"
PYTHON_FILE = "model.py"

_PLATFORM_BACKENDS = {
    "tensorrt_plan": "tensorrt", "onnxruntime_onnx": "onnxruntime", "pytorch_libtorch": "pytorch",
    "libtorch": "pytorch", "torch_aoti": "pytorch", "tensorflow_savedmodel": "tensorflow",
    "tensorflow_graphdef": "tensorflow",
}  # fmt: skip
# In this order (AutoCompleteBackendFields of Triton's core).
_FILE_BACKENDS = {
    "model.savedmodel": "tensorflow", "model.graphdef": "tensorflow", "model.plan": "tensorrt",
    "model.onnx": "onnxruntime", "model.xml": "openvino", "model.pt": "pytorch", "model.pt2": "pytorch",
    PYTHON_FILE: PYTHON,
}  # fmt: skip


def contradiction(backend: str, entry: str, files: frozenset[str]) -> str:
    """Return what is odd about the `files` of a version: Python code, and nothing of its `backend`."""
    own = [entry] if entry else [file for file, its in _FILE_BACKENDS.items() if its == backend]
    if backend == PYTHON or PYTHON_FILE not in files or not own or files & set(own):
        return ""
    return f"its backend is {backend}, but its version holds {PYTHON_FILE} and no {' or '.join(own)}"


def backend_of(message: Any, name: str, files: frozenset[str]) -> str:
    """Return the backend of a ModelConfig, "" if nothing tells it.

    `files` are those of the first version: they count only where neither backend, platform nor a file's name is
    given. Last of all a model named `model.X` belongs to the backend X.
    """
    if message.HasField("ensemble_scheduling") or message.platform == ENSEMBLE:
        return ENSEMBLE
    if message.backend or message.platform:
        return str(message.backend or _PLATFORM_BACKENDS.get(message.platform, message.platform))
    if message.default_model_filename:
        return _FILE_BACKENDS.get(message.default_model_filename, "")
    found = next((backend for file, backend in _FILE_BACKENDS.items() if file in files), "")
    return found or name.partition(".")[2]
