"""A counter, a gauge and a histogram of the model's own.

What they refuse is left out: server 2.51 may abort when a metric's operation fails, bare as it is.
"""

import numpy as np
import triton_python_backend_utils as pb_utils


def text(*lines):
    array = np.array([str(line) for line in lines], dtype=object)
    return pb_utils.InferenceResponse([pb_utils.Tensor("T", array)])


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
        return [text(self.counter.value(), self.gauge.value())]
