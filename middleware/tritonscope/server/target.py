"""Asks a server over gRPC what a model takes, so that requests can be made for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import grpc
from tritonclient.grpc import service_pb2, service_pb2_grpc

from tritonscope.errors import ServerUnreachableError, UsageError
from tritonscope.server.sample_inputs import InputSpec

_TIMEOUT_S = 10.0
_UNREACHABLE = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNIMPLEMENTED}


class Target(NamedTuple):
    """A loaded model: its inputs, and the largest batch it takes (0: it does not batch)."""

    model: str
    inputs: tuple[InputSpec, ...]
    max_batch_size: int


def describe(url: str, model: str, version: str = "") -> Target:
    """Return what the server at the gRPC address `url` says of `model`.

    Raises:
        ServerUnreachableError: no Triton answers at `url`.
        UsageError: the server has no such model, or the model cannot be driven with single requests.
    """
    with grpc.insecure_channel(url) as channel, _explained(url):
        server = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        server.ServerLive(service_pb2.ServerLiveRequest(), timeout=_TIMEOUT_S)
        _check_ready(server, url, model, version)
        named = {"name": model, "version": version}
        metadata = server.ModelMetadata(service_pb2.ModelMetadataRequest(**named), timeout=_TIMEOUT_S)
        config = server.ModelConfig(service_pb2.ModelConfigRequest(**named), timeout=_TIMEOUT_S).config
    if config.model_transaction_policy.decoupled:
        raise UsageError(f"{model} is decoupled: it answers on streams, which this client does not send")
    optional = {one.name for one in config.input if one.optional}
    inputs = tuple(
        InputSpec(one.name, one.datatype, tuple(one.shape), one.name in optional) for one in metadata.inputs
    )
    return Target(model, inputs, config.max_batch_size)


def _check_ready(server: Any, url: str, model: str, version: str) -> None:
    request = service_pb2.ModelReadyRequest(name=model, version=version)
    if server.ModelReady(request, timeout=_TIMEOUT_S).ready:
        return
    index = server.RepositoryIndex(service_pb2.RepositoryIndexRequest(ready=True), timeout=_TIMEOUT_S)
    ready = ", ".join(sorted({one.name for one in index.models})) or "none"
    what = f"{model} version {version}" if version else model
    raise UsageError(f"the server at {url} has no model {what} that is ready; ready are: {ready}")


@contextmanager
def _explained(url: str) -> Iterator[None]:
    try:
        yield
    except grpc.RpcError as error:
        if error.code() in _UNREACHABLE:
            raise ServerUnreachableError(
                f"no Triton answers gRPC at {url} ({error.code().name}): "
                "give its host and its gRPC port (8001 by default)"
            ) from None
        raise UsageError(f"the server at {url} says: {error.details()}") from None
