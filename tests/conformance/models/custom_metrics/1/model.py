"""A counter, a gauge and a histogram of the model's own, and what they refuse."""

import numpy as np
import triton_python_backend_utils as pb_utils


def text(*lines):
    array = np.array([str(line) for line in lines], dtype=object)
    return pb_utils.InferenceResponse([pb_utils.Tensor("T", array)])


def attempt(call):
    try:
        return f"returned {call()!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class TritonPythonModel:
    def initialize(self, args):
        family = pb_utils.MetricFamily
        self.requests = family("conformance_requests", "Requests", family.COUNTER)
        self.counter = self.requests.Metric(labels={"model": args["model_name"]})
        self.level = family(name="conformance_level", description="Level", kind=family.GAUGE)
        self.gauge = self.level.Metric()
        self.sizes = family("conformance_sizes", "Sizes", family.HISTOGRAM)
        self.histogram = self.sizes.Metric(labels={}, buckets=[1.0, 10.0])

    def execute(self, requests):
        self.counter.increment(2)
        self.gauge.set(7)
        self.gauge.increment(-2.5)
        self.histogram.observe(3)
        family = pb_utils.MetricFamily
        return [
            text(
                self.counter.value(),
                self.gauge.value(),
                attempt(self.histogram.value),
                attempt(lambda: self.histogram.set(1)),
                attempt(lambda: self.sizes.Metric(labels={"a": "b"})),
                attempt(lambda: self.sizes.Metric(labels={"a": "b"}, buckets=[2.0, 1.0])),
                attempt(lambda: self.sizes.Metric(labels={"a": "b"}, buckets=(1.0,))),
                attempt(lambda: self.level.Metric(buckets=[1.0])),
                attempt(lambda: self.level.Metric(labels="text")),
                attempt(lambda: family("not a name", "", family.GAUGE)),
                attempt(self.orphan),
            )
        ]

    def orphan(self):
        family = pb_utils.MetricFamily("conformance_orphan", "Gone", pb_utils.MetricFamily.GAUGE)
        metric = family.Metric()
        del family
        return metric.value()
