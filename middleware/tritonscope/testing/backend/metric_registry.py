"""The custom metrics that models have made: names, labels and values."""

from __future__ import annotations

import enum
import math
import threading
from typing import NamedTuple


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
        self.holders = 0


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

    def hold(self, key: MetricKey, kind: MetricKind, buckets: tuple[float, ...]) -> Series:
        """Return the series of this key, made now if it is the first Metric object of the key."""
        with self.lock:
            series = self.series.setdefault(key, Series(kind, buckets))
            series.holders += 1
            return series

    def release(self, key: MetricKey) -> None:
        """Forget the series of this key with its last Metric object."""
        with self.lock:
            self.series[key].holders -= 1
            if not self.series[key].holders:
                del self.series[key]

    def value(self, family: str, **labels: str) -> float:
        """Return a metric's value; of a histogram, the sum of what it observed.

        Raises:
            KeyError: no model has made this metric.
        """
        with self.lock:
            return self.series[MetricKey(family, tuple(sorted(labels.items())))].value
