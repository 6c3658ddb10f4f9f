"""A mistake planted in any part of ours changes no answer of a model, and is counted."""

import pytest

from tests.conformance.cases import agrees, read_case, run_case
from tests.conformance.in_process import InProcessTarget
from tritonscope.probes.clocks import StageClock
from tritonscope.ring.writer import RingWriter
from tritonscope.runtime import (
    backend,
    calls,
    guard,
    lifecycle,
    model,
    otel_bridge,
    recorder,
    requests,
    senders,
)
from tritonscope.runtime.recorder import Recorder
from tritonscope.testing import InProcessServer

CASES = (
    "add_one", "batch_of_three", "error_response", "raises", "init_args", "sequence_direct", "own_execute",
    "bls_exec", "bls_async_exec", "bls_decoupled", "decoupled_many", "decoupled_thread", "iterative_sequence",
    "request_fields", "async_execute", "finalize_raises", "cancelled",
)  # fmt: skip

PARTS = (
    (model, "identify"), (model, "read_traits"), (model, "open_recorder"), (model, "read_settings"),
    (model, "patch_backend"), (recorder, "read_requests"), (recorder, "read_sequence_requests"),
    (recorder, "opened"), (recorder, "closed"), (recorder, "remember_requests"), (recorder, "_add_outcomes"),
    (recorder, "_errors"), (recorder, "_failures"), (recorder, "_encode"), (requests, "RequestRecord"),
    (senders, "addressee_of"), (senders, "ResponseRecord"), (calls, "OpenCall"), (calls, "CallRecord"),
    (calls, "_error"), (calls, "_follow"), (backend, "here"), (StageClock, "start"), (StageClock, "stop"),
    (RingWriter, "write"), (RingWriter, "show"), (RingWriter, "show_status"), (RingWriter, "show_batch"),
    (Recorder, "add"), (recorder, "_sizes"), (recorder, "bytes_of"), (senders, "bytes_of"), (senders, "FateRecord"),
    (lifecycle, "OpenHook"), (otel_bridge, "context_of"),
    (backend, "_request_behind"),
)  # fmt: skip


@pytest.mark.parametrize(("place", "name"), PARTS, ids=lambda part: getattr(part, "__name__", part))
def test_a_planted_mistake_changes_no_answer(place, name, overlay, rings, monkeypatch):
    def planted(*_args, **_kwargs):
        raise RuntimeError("planted")

    monkeypatch.setenv("TRITONSCOPE_SIZES", "1")
    monkeypatch.setattr(place, name, planted)
    backend.unpatch_backend()
    for case in map(read_case, CASES):
        with InProcessServer(overlay, models=[]) as server:
            seen = run_case(InProcessTarget(server), case)
        assert agrees(seen, case.seen), case.name
    assert [key for key in guard.counts if key.endswith("RuntimeError")]
