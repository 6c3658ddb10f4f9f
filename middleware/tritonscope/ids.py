"""Which slot of a batch's ids each span and trace takes; both ends derive the same ids from the records."""

from __future__ import annotations

_MASK = (1 << 64) - 1

# Slot 0 is the batch's span and 1 + i that of request i. Stages and root traces have ranges of their own.
_FIRST_REQUEST = 1
_STAGES = 1 << 19
_TRACES_HIGH = 1 << 18
_TRACES_LOW = _TRACES_HIGH + (1 << 17)
# The trace of a batch with several requests: as if of the last request that fits. No batch is that large.
_OWN_TRACE = (1 << 17) - 1

# Beyond all other slots; ids of so long a stream may repeat those of another batch, 2**20 slots on.
_RESPONSES = 1 << 20
# Beyond the number of any batch.
_LIFECYCLE = 1 << 43

COMPUTE = 0
"""The stage that is the user's `execute` itself."""


def derive_id(seed: int, sequence: int, slot: int) -> int:
    """Return the 64-bit id, never 0, of the `slot`-th span of batch `sequence` of the instance with `seed`.

    Whoever holds the records derives the same ids, so they cost no bytes and no time in the stub, and an agent
    that is restarted repeats none under another name. The mixer is splitmix64 (Steele et al., 2014).
    """
    value = (seed + 0x9E3779B97F4A7C15 * ((sequence << 20) + slot + 1)) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return (value ^ (value >> 31)) or 1


def batch_span_id(seed: int, sequence: int) -> bytes:
    """Return the 8-byte id of the span of batch `sequence`."""
    return _span_id(seed, sequence, 0)


def request_span_id(seed: int, sequence: int, index: int) -> bytes:
    """Return the 8-byte id of the span of request `index` of batch `sequence`."""
    return _span_id(seed, sequence, _FIRST_REQUEST + index)


def stage_span_id(seed: int, sequence: int, stage: int) -> bytes:
    """Return the 8-byte id of the span of stage `stage` of batch `sequence`."""
    return _span_id(seed, sequence, _STAGES + stage)


def response_span_id(seed: int, sequence: int, index: int, number: int) -> bytes:
    """Return the 8-byte id of the span of response `number`, from 1, to request `index` of batch `sequence`."""
    return _span_id(seed, sequence, _RESPONSES + (index << 12) + number)


def fate_span_id(seed: int, sequence: int, index: int) -> bytes:
    """Return the 8-byte id of the span of what request `index` of batch `sequence` came to after its batch."""
    return response_span_id(seed, sequence, index, 0)


def lifecycle_ids(seed: int, start_ns: int) -> tuple[bytes, bytes]:
    """Return the ids of the trace and the span of a call of a hook that began at `start_ns`."""
    sequence = _LIFECYCLE | start_ns & (_LIFECYCLE - 1)
    return request_trace_id(seed, sequence, 0), _span_id(seed, sequence, 0)


def request_trace_id(seed: int, sequence: int, index: int) -> bytes:
    """Return the 16-byte id of the trace that request `index` begins when it has no parent."""
    high = derive_id(seed, sequence, _TRACES_HIGH + index)
    low = derive_id(seed, sequence, _TRACES_LOW + index)
    return (high << 64 | low).to_bytes(16, "big")


def batch_trace_id(seed: int, sequence: int) -> bytes:
    """Return the 16-byte id of the trace of a batch that holds several requests."""
    return request_trace_id(seed, sequence, _OWN_TRACE)


def _span_id(seed: int, sequence: int, slot: int) -> bytes:
    return derive_id(seed, sequence, slot).to_bytes(8, "big")
