"""The JSON document: its version, its fields, and that everything in it can be read back."""

import json

import msgspec

from tritonscope.analyze.analysis import Analysis
from tritonscope.report.json import to_json


def test_it_says_what_it_is_and_round_trips(analysis):
    document = json.loads(to_json(analysis))
    assert (document.pop("format"), document.pop("version")) == ("tritonscope-analysis", 1)
    document["findings"][0]["evidence"][1]["value"] = float("inf")
    assert msgspec.convert(document, Analysis) == analysis


def test_the_names_of_its_fields_are_stable(analysis):
    """Programs read them: a field may be added, but none may be renamed without a new version."""
    document = json.loads(to_json(analysis))
    assert document.keys() >= {"pipeline", "level", "verdict", "layers", "stages", "findings", "traffic", "notes"}
    assert document["stages"][0].keys() >= {
        "model", "backend", "instances", "at_least", "role", "note", "busy", "queue_share", "queue_ns",
        "execution_ns", "batch", "visits", "capacity_per_s",
    }  # fmt: skip
    (finding,) = document["findings"]
    assert finding.keys() >= {"rule", "model", "severity", "title", "evidence", "advice", "diff", "effect"}
    assert finding["evidence"][0].keys() >= {"name", "value", "unit", "formula", "source", "quality"}
    assert finding["effect"].keys() >= {
        "change", "now_per_s", "per_s", "lower_per_s", "upper_per_s", "binds_next", "assumption",
    }  # fmt: skip


def test_what_has_no_bound_is_null(analysis):
    assert json.loads(to_json(analysis))["findings"][0]["evidence"][1]["value"] is None
