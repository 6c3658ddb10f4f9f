"""Responses that leave through a sender: from any thread, during `execute` or long after it."""

from __future__ import annotations

import time
import weakref
from typing import Any, NamedTuple

from tritonscope.records import FateRecord, ResponseRecord
from tritonscope.runtime.batch import OpenBatch, here
from tritonscope.runtime.guard import guarded
from tritonscope.runtime.sizes import UNKNOWN_BYTES, bytes_of

# TRITONSERVER_RESPONSE_COMPLETE_FINAL of tritonserver.h
_COMPLETE_FINAL = 1


class Addressee(NamedTuple):
    """The request that a sender answers."""

    batch: OpenBatch
    request: int


# Weak: a request or a sender that is held pins shared memory and delays the end of its request.
_requests: weakref.WeakKeyDictionary[Any, Addressee] = weakref.WeakKeyDictionary()
_senders: weakref.WeakKeyDictionary[Any, Addressee] = weakref.WeakKeyDictionary()


def addressee_of(request: Any) -> Addressee | None:
    """Return which request of which batch `request` is, during `execute` and, if decoupled, after it."""
    position = here()
    index = position.batch.index_of(request) if position is not None else None
    if position is not None and index is not None:
        return Addressee(position.batch, index)
    return _requests.get(request)


def remember_requests(batch: OpenBatch) -> None:
    """Keep track of a decoupled batch's requests for as long as the model keeps them."""
    for index, request in enumerate(batch.objects):
        _requests[request] = Addressee(batch, index)


@guarded
def note_sender(request: Any, sender: Any) -> None:
    """Note that `sender` answers `request`."""
    addressee = addressee_of(request)
    if addressee is not None:
        _senders[sender] = addressee


@guarded
def bytes_to_send(sender: Any, response: Any) -> int:
    """Return the size of a response's tensors. Sending takes those out that nobody requested: ask before."""
    addressee = _senders.get(sender)
    if addressee is None or response is None or not addressee.batch.recorder.sizes:
        return UNKNOWN_BYTES
    return bytes_of(response.output_tensors(), addressee.batch.recorder.traits.item_bytes)


@guarded
def note_sent(sender: Any, sent_ns: int, response: Any, flags: int, output_bytes: int | None) -> None:
    """Note that `response`, None for nothing, was sent at `sent_ns`."""
    addressee = _senders.get(sender)
    if addressee is None:
        return
    failed = response is not None and response.has_error()
    addressee.batch.recorder.add(
        addressee.batch,
        ResponseRecord(
            request=addressee.request,
            sent_ns=sent_ns,
            final=bool(flags & _COMPLETE_FINAL),
            empty=response is None,
            error=response.error().message() if failed else "",
            output_bytes=UNKNOWN_BYTES if output_bytes is None else output_bytes,
        ),
    )


@guarded
def note_fate(request: Any, fate: str) -> None:
    """Note that `request` was cancelled or rescheduled."""
    _note(addressee_of(request), fate)


@guarded
def note_sender_fate(sender: Any, fate: str) -> None:
    """Note that the request that `sender` answers was cancelled."""
    _note(_senders.get(sender), fate)


def _note(addressee: Addressee | None, fate: str) -> None:
    """Note a request's fate, once: models ask for it in loops."""
    if addressee is None or addressee.batch.fates.get(addressee.request) == fate:
        return
    batch = addressee.batch
    batch.fates[addressee.request] = fate
    if not batch.is_open:
        batch.recorder.add(batch, FateRecord(addressee.request, now_ns(), fate))


now_ns = time.monotonic_ns
