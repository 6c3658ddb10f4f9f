"""The passes: each takes the evidence and returns what it found, nothing where it has no say."""

from __future__ import annotations

from collections.abc import Callable

from tritonscope.analyze.evidence import Evidence
from tritonscope.analyze.findings import Finding
from tritonscope.analyze.passes.configuration import configuration
from tritonscope.analyze.passes.judging import cannot_judge
from tritonscope.analyze.passes.load import client_bound, no_throttle
from tritonscope.analyze.passes.throttle import co_limiting, single_instance_python_stage, throttle

Pass = Callable[[Evidence], list[Finding]]

PASSES: tuple[Pass, ...] = (
    throttle,
    single_instance_python_stage,
    co_limiting,
    no_throttle,
    client_bound,
    cannot_judge,
    configuration,
)
"""All of them; the tests take this list too."""
