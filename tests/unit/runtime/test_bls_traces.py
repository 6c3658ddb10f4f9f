"""Which request's trace a BLS call joins, in a batch of several."""

import json

import tritonscope
from tests.unit.runtime.fakes import ARGS, Request, Response
from tritonscope.runtime import guard
from tritonscope.runtime.backend import _parents_trace

CONTEXT = json.dumps({"traceparent": "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"})


def joined(rings, requests, *, request_id="", mark=None):
    """Return the fake trace (the request itself) that a call made in `execute` joins."""
    found = []

    class TritonPythonModel:
        def initialize(self, args):
            pass

        def execute(self, requests):
            if mark is None:
                found.append(_parents_trace((), {"request_id": request_id}))
            else:
                with tritonscope.for_request(requests[mark]):
                    found.append(_parents_trace((), {"request_id": request_id}))
            return [Response() for _ in requests]

    model = tritonscope.instrument(TritonPythonModel)()
    model.initialize(ARGS)
    model.execute(requests)
    assert not guard.counts
    return found[0]


def test_the_request_that_is_marked_comes_first(rings):
    requests = [Request("a", CONTEXT), Request("b", CONTEXT)]
    assert joined(rings, requests, request_id="a", mark=1) is requests[1]


def test_else_the_one_whose_id_is_passed_on(rings):
    requests = [Request("a", CONTEXT), Request("b", CONTEXT)]
    assert joined(rings, requests, request_id="b") is requests[1]


def test_an_id_of_two_requests_says_nothing(rings):
    requests = [Request("a", CONTEXT), Request("b", CONTEXT), Request("b", CONTEXT)]
    assert joined(rings, requests, request_id="b") is requests[0]


def test_a_request_that_is_not_traced_has_none_to_join(rings):
    assert joined(rings, [Request("a", CONTEXT), Request("b")], mark=1) is None
