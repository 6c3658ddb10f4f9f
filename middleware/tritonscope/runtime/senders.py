"""Responses that leave through a sender: from any thread, during `execute` or long after it."""

from __future__ import annotations

import time
import weakref
from typing import Any, NamedTuple

from tritonscope.records import ResponseRecord
from tritonscope.runtime.batch import OpenBatch, here
from tritonscope.runtime.guard import guarded

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
def note_sent(sender: Any, sent_ns: int, response: Any, flags: int) -> None:
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
        ),
    )


@guarded
def note_fate(request: Any, fate: str) -> None:
    """Note that `request` was cancelled or rescheduled."""
    addressee = addressee_of(request)
    if addressee is not None and addressee.batch.is_open:
        addressee.batch.fates[addressee.request] = fate


now_ns = time.monotonic_ns
