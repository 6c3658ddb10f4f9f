"""Which traces are kept: OTEL_TRACES_SAMPLER, with the decisions that OpenTelemetry's own samplers take."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from tritonscope.settings import log
from tritonscope.trace_context import ParentContext

OTEL_TRACES_SAMPLER = "OTEL_TRACES_SAMPLER"
"""`always_on`, `always_off`, `traceidratio`, or one as `parentbased_…`. Default: `parentbased_always_on`."""

OTEL_TRACES_SAMPLER_ARG = "OTEL_TRACES_SAMPLER_ARG"
"""The share of traces that a `traceidratio` sampler keeps, from 0 to 1. Default: 1."""

_ALL = 1 << 64
_PARENT_BASED = "parentbased_"
_DEFAULT = "parentbased_always_on"


class Sampler(NamedTuple):
    """Keeps a trace whose id's low 64 bits are below `bound`, unless it follows a parent's decision."""

    bound: int
    follows_parent: bool

    def keeps(self, trace_id: bytes, parent: ParentContext | None) -> bool:
        """Whether a span of this trace, under this parent, is kept."""
        if parent is not None and self.follows_parent:
            return parent.sampled
        return int.from_bytes(trace_id[8:], "big") < self.bound


def read_sampler(environ: Mapping[str, str] = os.environ) -> Sampler:
    """Return the sampler that `environ` names. An unknown one warns and means the default."""
    name = environ.get(OTEL_TRACES_SAMPLER, "").strip().lower() or _DEFAULT
    bounds = {"always_on": _ALL, "always_off": 0, "traceidratio": None}
    kind = name.removeprefix(_PARENT_BASED)
    if kind not in bounds:
        log.warning("%s=%r is not supported: using %s", OTEL_TRACES_SAMPLER, name, _DEFAULT)
        return Sampler(_ALL, follows_parent=True)
    bound = bounds[kind]
    if bound is None:
        bound = round(_ratio(environ.get(OTEL_TRACES_SAMPLER_ARG, "")) * _ALL)
    return Sampler(bound, follows_parent=name.startswith(_PARENT_BASED))


def _ratio(text: str) -> float:
    if not text.strip():
        return 1.0
    try:
        ratio = float(text)
    except ValueError:
        ratio = -1.0
    if 0.0 <= ratio <= 1.0:
        return ratio
    log.warning("%s=%r is not a number from 0 to 1: using 1", OTEL_TRACES_SAMPLER_ARG, text)
    return 1.0
