"""What the analyzer judges by: counters of models, of the host, and what a client saw.

All are plain frozen records that round-trip through a run file. Times are integers in nanoseconds.
"""

from __future__ import annotations

import msgspec


class BatchStatistics(msgspec.Struct, frozen=True):
    """Executions of one batch size, each counted once, whatever number of requests it held.

    Source: `batch_stats` of Triton's statistics. This is where busy time comes from.
    """

    batch_size: int
    executions: int
    input_ns: int
    infer_ns: int
    output_ns: int


class ModelStatistics(msgspec.Struct, frozen=True):
    """One model's counters since it was loaded.

    `requests`, `failures` and the `*_ns` totals come from `inference_stats`, which adds a batch's time once
    for every request in it; `inferences` counts batch elements, `executions` calls of the model.
    """

    model: str
    version: str
    inferences: int
    executions: int
    requests: int
    failures: int
    request_ns: int
    queue_ns: int
    compute_input_ns: int
    compute_infer_ns: int
    compute_output_ns: int
    cache_hits: int = 0
    batches: tuple[BatchStatistics, ...] = ()


class StatisticsSample(msgspec.Struct, frozen=True, tag="statistics"):
    """All models' counters at one moment (CLOCK_MONOTONIC of the host that asked)."""

    taken_ns: int
    models: tuple[ModelStatistics, ...]
    origin: str = ""


class HostSample(msgspec.Struct, frozen=True, tag="host"):
    """CPU time that a host has spent since it booted, low-priority work left out. Source: /proc/stat."""

    taken_ns: int
    cores: int
    cpu_busy_ns: int


class LoadReport(msgspec.Struct, frozen=True, tag="load"):
    """What a client saw of a load that it made.

    `concurrency` is the number of requests kept in flight (0 for an open loop), `rate_per_s` the offered rate
    (0 for a closed loop). Latencies are of successful requests inside the measured window, the warm-up left out.
    """

    model: str
    window_ns: int
    requests: int
    failures: int
    latency_mean_ns: int
    latency_p50_ns: int
    latency_p90_ns: int
    latency_p95_ns: int
    latency_p99_ns: int
    latency_max_ns: int
    concurrency: int = 0
    rate_per_s: float = 0.0
    first_error: str = ""
    client: str = "tritonscope"

    @property
    def throughput_per_s(self) -> float:
        """Successful requests a second."""
        return self.requests * 1e9 / self.window_ns if self.window_ns else 0.0
