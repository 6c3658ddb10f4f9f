"""An analysis as a JSON document with a versioned schema."""

from __future__ import annotations

import msgspec

from tritonscope.analyze.analysis import Analysis

FORMAT = "tritonscope-analysis"
VERSION = 1
"""Rises when a field changes its meaning or goes away; fields may be added without."""


def to_json(analysis: Analysis) -> str:
    """Return `analysis` as indented JSON. Numbers that have no bound (infinity) are null."""
    document = {"format": FORMAT, "version": VERSION, **msgspec.to_builtins(analysis)}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
