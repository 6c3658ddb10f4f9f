"""What the spans of an instance have in common: OpenTelemetry's resource."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from opentelemetry.sdk.resources import OTELResourceDetector, Resource

from tritonscope.agent import attributes as names
from tritonscope.agent.attributes import Pair
from tritonscope.records import InstanceRecord

_DEFAULT_SERVICE = "triton"
# The SDK describes its own process, which is the agent; the spans come from stubs.
_OF_THE_AGENT = ("process.", names.SERVICE_INSTANCE_ID, names.SERVICE_NAME)


def host_resource() -> dict[str, str | int]:
    """Return what all instances of this host share: the SDK's resource and what OTEL_* variables add to it."""
    detected = _plain(Resource.create().attributes)
    kept = {key: value for key, value in detected.items() if not key.startswith(_OF_THE_AGENT)}
    defaults: dict[str, str | int] = {names.SERVICE_NAME: _DEFAULT_SERVICE, names.HOST_NAME: socket.gethostname()}
    return {**defaults, **kept, **_plain(OTELResourceDetector().detect().attributes)}


def instance_resource(host: Mapping[str, str | int], instance: InstanceRecord) -> tuple[Pair, ...]:
    """Return the resource of one instance. What the user set in OTEL_RESOURCE_ATTRIBUTES wins."""
    own: dict[str, str | int] = {
        names.SERVICE_INSTANCE_ID: f"{host[names.HOST_NAME]}/{instance.instance}/{instance.pid}",
        names.PROCESS_PID: instance.pid,
    }
    return tuple({**own, **host}.items())


def _plain(attributes: Mapping[str, object]) -> dict[str, str | int]:
    """Leave out what is no text and no number: no detector that we know of sets such a value."""
    return {key: value for key, value in attributes.items() if isinstance(value, str | int)}
