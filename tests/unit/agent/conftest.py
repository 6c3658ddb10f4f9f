"""What the agent's tests share: an instance, records, rings on disk, and receivers."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.agent.otlp_receivers import GrpcReceiver, HttpReceiver
from tritonscope.records import InstanceRecord
from tritonscope.ring.writer import RingWriter


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    """Whoever runs the tests may have a receiver of their own configured."""
    for name in [*os.environ]:
        if name.startswith(("OTEL_", "TRITONSCOPE")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def instance() -> InstanceRecord:
    return InstanceRecord("decode", "3", "decode_0_0", pid=42, span_seed=7)


@pytest.fixture
def ring_writer(tmp_path: Path, instance: InstanceRecord) -> Iterator[RingWriter]:
    writer = RingWriter(tmp_path / "decode.ring", instance)
    yield writer
    writer.close()


@pytest.fixture
def http_receiver() -> Iterator[HttpReceiver]:
    receiver = HttpReceiver()
    yield receiver
    receiver.close()


@pytest.fixture
def grpc_receiver() -> Iterator[GrpcReceiver]:
    receiver = GrpcReceiver()
    yield receiver
    receiver.close()
