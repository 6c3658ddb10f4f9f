"""MetricFamily and Metric: counters, gauges and histograms that models add to the server's metrics."""

from __future__ import annotations

import bisect
import enum
import math
import re
import threading
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from tritonscope.testing.backend.arguments import MODULE, Parameter, Signature, is_a, is_anything, is_number, is_text
from tritonscope.testing.backend.errors import TritonModelException
from tritonscope.testing.backend.host import StubState, current_stub

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_GONE = (
    "Invalid metric operation as the corresponding 'MetricFamily' has been deleted. The 'MetricFamily' object "
    "should be deleted AFTER its corresponding 'Metric' objects have been deleted."
)


class MetricKind(enum.Enum):
    """Kinds of metrics."""

    COUNTER = 0
    GAUGE = 1
    HISTOGRAM = 2

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__


Labels = tuple[tuple[str, str], ...]


class Series:
    """One time series: a number, or the sums and counts of a histogram."""

    def __init__(self, kind: MetricKind, buckets: tuple[float, ...]) -> None:
        self.kind = kind
        self.value = 0.0
        self.bounds = (*buckets, math.inf)
        self.counts = [0] * len(self.bounds)


class MetricKey(NamedTuple):
    """What tells a time series from others."""

    family: str
    labels: Labels


class MetricRegistry:
    """All custom metrics of a server."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.families: dict[str, MetricKind] = {}
        self.series: dict[MetricKey, Series] = {}

    def value(self, family: str, **labels: str) -> float:
        """Return a metric's value; of a histogram, the sum of what it observed.

        Raises:
            KeyError: no model has made this metric.
        """
        with self.lock:
            return self.series[MetricKey(family, tuple(sorted(labels.items())))].value


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
        bounds = self._checked_buckets(buckets)
        key = MetricKey(self._name, _checked_labels(labels))
        registry = self._stub.host.metrics
        with registry.lock:
            series = registry.series.setdefault(key, Series(self._kind, bounds))
        metric = Metric.__new__(Metric)
        metric._set(self._stub, key, series)  # noqa: SLF001 - its constructor
        self._metrics.append(metric)
        return metric

    def _checked_buckets(self, buckets: Any) -> tuple[float, ...]:
        if self._kind is not MetricKind.HISTOGRAM:
            if buckets is not None:
                raise TritonModelException("Unexpected buckets found.")
            return ()
        if buckets is None:
            raise TritonModelException("Histogram metric requires buckets")
        if not isinstance(buckets, list | tuple) or not all(map(is_number, buckets)):
            raise TritonModelException("Buckets must be a list of floats")
        if list(buckets) != sorted(set(buckets)):
            raise _refused(
                self._stub, "Error when creating Metric", "Bucket Boundaries must be strictly sorted"
            )
        return tuple(map(float, buckets))


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
        registry = self._stub.host.metrics
        with registry.lock:
            registry.series.pop(self._key, None)
        self._series = None

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

    def set(self, *args: Any) -> None:  # noqa: A003 - Triton's name
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


def _checked_labels(labels: Any) -> Labels:
    if labels is None:
        return ()
    if not isinstance(labels, dict):
        raise TritonModelException(f"Expect N8pybind114dictE, got {type(labels)}")
    for key, value in labels.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TritonModelException(
                f"Expect labels keys and values to have type str, found type {type(key)}, {type(value)}"
            )
    return tuple(sorted(labels.items()))
