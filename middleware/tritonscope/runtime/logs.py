"""Log correlation: which trace and span a line of Python's `logging` belongs to."""

from __future__ import annotations

import logging
from typing import Any

from tritonscope.runtime.context import current_context

_NONE = "0"


def correlate_logs() -> None:
    """Give each log record of this process a `trace_id` and a `span_id`, `0` outside of any batch; once."""
    make = logging.getLogRecordFactory()
    if isinstance(make, _CorrelatedFactory):
        return
    logging.setLogRecordFactory(_CorrelatedFactory(make))


class _CorrelatedFactory:
    def __init__(self, make: Any) -> None:
        self._make = make

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record: logging.LogRecord = self._make(*args, **kwargs)
        context = current_context()
        record.trace_id = context.trace_id if context else _NONE
        record.span_id = context.span_id if context else _NONE
        return record
