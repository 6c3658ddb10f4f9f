"""MetricFamily and Metric: counters, gauges and histograms that models add to the server's metrics."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar

from tritonscope.testing.backend.arguments import (
    MODULE,
    Parameter,
    Signature,
    is_a,
    is_anything,
    is_number,
    is_text,
)
from tritonscope.testing.backend.errors import TritonModelException
from tritonscope.testing.backend.host import StubState, current_stub
from tritonscope.testing.backend.metric_registry import Labels, MetricKey, MetricKind, Series

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_GONE = (
    "Invalid metric operation as the corresponding 'MetricFamily' has been deleted. The 'MetricFamily' object "
    "should be deleted AFTER its corresponding 'Metric' objects have been deleted."
)


_FAMILY = Signature(
    "__init__",
    f"{MODULE}.MetricFamily(name: str, description: str, kind: {MODULE}.MetricKind)",
    (Parameter("name", is_text), Parameter("description", is_text), Parameter("kind", is_a(MetricKind))),
)
_METRIC = Signature(
    "Metric",
    f"(self: {MODULE}.MetricFamily, labels: object = None, buckets: object = None) -> {MODULE}.Metric",
    (Parameter("labels", is_anything, None), Parameter("buckets", is_anything, None)),
)


class MetricFamily:
    """Metrics of one name that differ in their labels. Keep it as long as its metrics."""

    __module__ = MODULE
    __slots__ = ("__weakref__", "_kind", "_metrics", "_name", "_stub")

    COUNTER: ClassVar = MetricKind.COUNTER
    GAUGE: ClassVar = MetricKind.GAUGE
    HISTOGRAM: ClassVar = MetricKind.HISTOGRAM

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name, _description, kind = _FAMILY.bind(args, kwargs)
        self._metrics: list[Metric] = []
        self._stub = current_stub()
        self._name: str = name
        self._kind: MetricKind = kind
        registry = self._stub.host.metrics
        with registry.lock:
            if not _NAME.fullmatch(name):
                raise _refused(self._stub, "Error when creating MetricFamily", "Invalid metric name")
            if registry.families.setdefault(name, kind) is not kind:
                raise _refused(
                    self._stub, "Error when creating MetricFamily", "Metric name already exists with different type"
                )

    def __del__(self) -> None:
        for metric in getattr(self, "_metrics", ()):
            metric._delete()  # noqa: SLF001 - a family ends its metrics

    def Metric(self, *args: Any, **kwargs: Any) -> Metric:  # noqa: N802 - Triton's name
        """Return the metric of this family with these labels; a histogram needs `buckets`, its upper bounds.

        Raises:
            TritonModelException: labels or buckets are not what the kind of metric needs.
        """
        labels, buckets = _METRIC.bind(args, kwargs, self)
        key = MetricKey(self._name, self._checked_labels(labels))
        series = self._stub.host.metrics.hold(key, self._kind, self._checked_buckets(buckets))
        metric = Metric.__new__(Metric)
        metric._set(self._stub, key, series)  # noqa: SLF001 - its constructor
        self._metrics.append(metric)
        return metric

    def _checked_labels(self, labels: Any) -> Labels:
        if labels is None:
            return ()
        if not isinstance(labels, dict):
            raise TritonModelException("Failed to create metric. Labels must be a dictionary.")
        return tuple(sorted((str(key), str(value)) for key, value in labels.items()))

    def _checked_buckets(self, buckets: Any) -> tuple[float, ...]:
        is_histogram = self._kind is MetricKind.HISTOGRAM
        reason = ""
        if buckets is None:
            reason = "Missing required buckets." if is_histogram else ""
        elif not isinstance(buckets, list):
            reason = "Buckets must be a list."
        elif not is_histogram:
            reason = "Unexpected buckets found."
        if reason:
            raise TritonModelException(f"Failed to create metric. {reason}")
        if any(low >= high for low, high in pairwise(buckets or ())):
            raise _refused(self._stub, "Error when creating Metric", "Bucket Boundaries must be strictly sorted")
        return tuple(map(float, buckets or ()))


class Metric:
    """One metric; made by `MetricFamily.Metric`."""

    __module__ = MODULE
    __slots__ = ("__weakref__", "_key", "_series", "_stub")
    _series: Series | None

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        raise TypeError(f"{MODULE}.Metric: No constructor defined!")

    def _set(self, stub: StubState, key: MetricKey, series: Series) -> None:
        self._stub, self._key, self._series = stub, key, series

    def _delete(self) -> None:
        if self._series is not None:
            self._series = None
            self._stub.host.metrics.release(self._key)

    def increment(self, *args: Any) -> None:
        """Add to a counter or a gauge."""
        amount = self._number("increment", args)

        def add(series: Series) -> None:
            if series.kind is MetricKind.COUNTER and amount < 0:
                raise self._unable("increment", "TRITONSERVER_METRIC_KIND_COUNTER can only be incremented "
                                                "monotonically by non-negative values")  # fmt: skip
            self._allow("increment", "Increment", series, MetricKind.COUNTER, MetricKind.GAUGE)
            series.value += amount

        self._change("increment", add)

    def set(self, *args: Any) -> None:
        """Set a gauge."""
        value = self._number("set", args)

        def put(series: Series) -> None:
            self._allow("set", "Set", series, MetricKind.GAUGE)
            series.value = value

        self._change("set", put)

    def observe(self, *args: Any) -> None:
        """Add an observation to a histogram."""
        value = self._number("observe", args)

        def add(series: Series) -> None:
            self._allow("observe", "Observe", series, MetricKind.HISTOGRAM)
            series.value += value
            series.counts[bisect.bisect_left(series.bounds, value)] += 1

        self._change("observe", add)

    def value(self) -> float:
        """Return the value of a counter or a gauge."""
        values: list[float] = []

        def read(series: Series) -> None:
            self._allow("get", "Value", series, MetricKind.COUNTER, MetricKind.GAUGE)
            values.append(series.value)

        self._change("get", read)
        return values[0]

    def _number(self, function: str, args: tuple[Any, ...]) -> float:
        shown = f"(self: {MODULE}.Metric, arg0: float) -> None"
        (number,) = Signature(function, shown, (Parameter("arg0", is_number),)).bind(args, {}, self)
        return float(number)

    def _change(self, verb: str, change: Callable[[Series], None]) -> None:
        if self._series is None:
            raise TritonModelException(f"Failed to {verb} metric value: {_GONE}")
        with self._stub.host.metrics.lock:
            change(self._series)

    def _allow(self, verb: str, operation: str, series: Series, *kinds: MetricKind) -> None:
        if series.kind not in kinds:
            raise self._unable(verb, f"TRITONSERVER_METRIC_KIND_{series.kind.name} does not support {operation}")

    def _unable(self, verb: str, reason: str) -> TritonModelException:
        return _refused(self._stub, f"Failed to {verb} metric value", reason)


def _refused(stub: StubState, what: str, reason: str) -> TritonModelException:
    return TritonModelException(
        f"{what}: Failed to process the request for model '{stub.instance}', message: {reason}"
    )
