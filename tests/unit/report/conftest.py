"""An analysis to render: a throttle with a change in its file, and a note."""

import pytest

from tritonscope.analyze.analysis import Analysis, StageRow, Traffic
from tritonscope.analyze.findings import Effect, Fact, Finding, Quality, Severity

DIFF = "--- a/decode/config.pbtxt\n+++ b/decode/config.pbtxt\n@@ -1 +1 @@\n-count: 1\n+count: 2\n"


@pytest.fixture
def analysis() -> Analysis:
    effect = Effect("count: 2", 100.0, 150.0, 120.0, 160.0, "the CPU (2 cores)", "8 requests in flight")
    finding = Finding(
        "single-instance-python-stage", "decode", Severity.CRITICAL, "decode is one [process]",
        (Fact("busy", 0.98, "share", "batch_stats ns / window", "/v2/models/stats"),
         Fact("capacity of decode", float("inf"), "requests/s", "", "", Quality.LOWER_BOUND)),
        "Give decode count: 2.", DIFF, effect,
    )  # fmt: skip
    return Analysis(
        pipeline="pipeline", level="statistics", verdict="decode throttles pipeline; count: 2 would buy +50%",
        layers=(("decode",), ("left", "right")),
        stages=(
            StageRow("decode", "python", 1, role="throttle", busy=0.98, queue_share=0.83, execution_ns=9.16e6,
                     capacity_per_s=109.0),
            StageRow("left", "onnxruntime", 2, at_least=True, note="1 per GPU", busy=0.1, queue_share=0.0,
                     execution_ns=1e6, capacity_per_s=2000.0),
            StageRow("right", "python", 1, role="not judged", note="0 completions"),
        ),
        findings=(finding,),
        traffic=Traffic(6_000_000_000, 653, 2, 108.8, 8.0, 72.9e6, 73.5e6, 1.35, 2),
        notes=("line 7 is damaged",),
    )  # fmt: skip
