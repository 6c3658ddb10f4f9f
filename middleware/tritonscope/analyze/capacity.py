"""The capacity model: every formula by which a pipeline's throughput is explained and predicted, in one place.

Counters are Triton's, over one window. Capacities are in pipeline requests a second. What is predicted is the
throughput with as many requests in flight as now.
"""

from __future__ import annotations

import math

from tritonscope.evidence import BatchStatistics, ModelStatistics

NS_PER_S = 1e9
_MOST_IN_FLIGHT = 10_000
_OFTEN = 20
"""Executions of a batch size from which its mean time is worth something."""


def busy_instances(counters: ModelStatistics, window_ns: int) -> float:
    """Return how many instances were executing, on average.

    Sum over `batch_stats` of (input + infer + output) ns / window ns. `inference_stats` would count a batch's time
    once for each of its requests. An execution counts whole in the window in which it ends.
    """
    return sum(map(_total_ns, counters.batches)) / window_ns


def implied_instances(busy: float, execution_ns: float, window_ns: int) -> int:
    """Return the least number of instances that can have been `busy` that much.

    ceil(busy / (1 + t)), where t = max(2 %, execution ns / window ns) is what an execution that began before the
    window may add.
    """
    return max(1, math.ceil(busy / (1 + max(0.02, execution_ns / window_ns))))


def execution_ns(counters: ModelStatistics) -> float:
    """Return the mean time of one execution: sum over `batch_stats` of all its ns / its executions."""
    executions = sum(batch.executions for batch in counters.batches)
    return sum(map(_total_ns, counters.batches)) / executions if executions else 0.0


def execution_by_batch(counters: ModelStatistics) -> tuple[float, float] | None:
    """Return (a, b) of execution ns = a + b * batch size, None where too few sizes were seen often enough.

    Least squares over the mean of each size in `batch_stats`, weighted by its executions. Neither the fixed part
    nor that of each element is ever negative: such a fit is noise.
    """
    seen = [batch for batch in counters.batches if batch.executions >= _OFTEN]
    weight = sum(batch.executions for batch in seen)
    if len(seen) < 2:  # noqa: PLR2004 - a line needs two points
        return None
    mean_size = sum(batch.batch_size * batch.executions for batch in seen) / weight
    mean_ns = sum(_total_ns(batch) for batch in seen) / weight
    spread = sum(batch.executions * (batch.batch_size - mean_size) ** 2 for batch in seen)
    joint = sum((batch.batch_size - mean_size) * (_total_ns(batch) - batch.executions * mean_ns) for batch in seen)
    each = joint / spread
    fixed = mean_ns - each * mean_size
    return (fixed, each) if fixed >= 0 and each >= 0 else None


def visits(stage: ModelStatistics, pipeline: ModelStatistics) -> float:
    """Return how many batch elements of a stage one pipeline request makes: inferences / pipeline requests."""
    return stage.inferences / pipeline.requests if pipeline.requests else 0.0


def capacity_per_s(instances: int, batch: float, execution: float, visited: float) -> float:
    """Return the pipeline requests a second that a stage can serve at the batch size `batch`.

    instances * batch / execution s / visits. `execution` is in ns.
    """
    return instances * batch * NS_PER_S / execution / visited if execution and visited else math.inf


def cpu_ceiling_per_s(cores: int, busy_cores: float, requests_per_s: float) -> float:
    """Return the pipeline requests a second at which all cores are busy.

    cores / (CPU seconds per request) = cores * requests/s / busy cores. All that the host did is charged to the
    requests, and a request is taken to cost as much CPU time at any load.
    """
    return cores * requests_per_s / busy_cores if busy_cores else math.inf


def in_flight(request_total_ns: int, window_ns: int) -> float:
    """Return the mean number of requests in the pipeline: the sum of their times / window (Little's law)."""
    return request_total_ns / window_ns


def closed_loop_per_s(requests_in_flight: float, unqueued_ns: float, ceiling_per_s: float) -> float:
    """Return the throughput that `requests_in_flight` make: exact mean value analysis of one queue and a delay.

    The queue serves 1 / ceiling s each, the delay is the rest of `unqueued_ns`, a request's time when nobody else
    is there. Several instances count as one fast one behind a delay (Seidmann et al., 1987).
    With R(n) = S * (1 + Q(n-1)), X(n) = n / (R(n) + Z), Q(n) = X(n) * R(n) (Reiser and Lavenberg, 1980).
    """
    if math.isinf(ceiling_per_s):
        return requests_in_flight * NS_PER_S / unqueued_ns
    service_s = 1 / ceiling_per_s
    delay_s = max(unqueued_ns / NS_PER_S - service_s, 0.0)
    below = queue = 0.0
    for number in range(1, min(math.ceil(requests_in_flight), _MOST_IN_FLIGHT) + 1):
        residence_s = service_s * (1 + queue)
        throughput = number / (residence_s + delay_s)
        queue = throughput * residence_s
        if number >= requests_in_flight:
            # Between two whole numbers of requests, on the line.
            return below + (throughput - below) * (requests_in_flight - number + 1)
        below = throughput
    return below


def least_per_s(requests_in_flight: float, unqueued_ns: float, ceiling_per_s: float) -> float:
    """Return the throughput below which a closed loop with this ceiling cannot fall.

    n / (R0 + (n - 1) / ceiling): each request waits once for each other one (Denning and Buzen, 1978).
    """
    others_s = max(requests_in_flight - 1, 0.0) / ceiling_per_s
    return requests_in_flight / (unqueued_ns / NS_PER_S + others_s)


def in_flight_ceiling_per_s(requests_in_flight: float, unqueued_ns: float) -> float:
    """Return the throughput that a closed loop cannot pass: n / R0, with no queue anywhere (Little's law)."""
    return requests_in_flight * NS_PER_S / unqueued_ns if unqueued_ns else math.inf


def _total_ns(batch: BatchStatistics) -> int:
    return batch.input_ns + batch.infer_ns + batch.output_ns
