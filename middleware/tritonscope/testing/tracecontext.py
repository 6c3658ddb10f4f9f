"""W3C trace contexts as Triton hands them to models in OpenTelemetry mode."""

from __future__ import annotations

import json
import re
import secrets

_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


def child_context(parent: str) -> str:
    """Return the context of a new span: in the trace of `parent` (a `traceparent` or a context) or a new one."""
    found = _TRACEPARENT.search(parent)
    trace_id = found[1] if found else secrets.token_hex(16)
    return json.dumps({"traceparent": f"00-{trace_id}-{secrets.token_hex(8)}-01"}, separators=(",", ":"))
