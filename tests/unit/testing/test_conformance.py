"""The in-process server does with every case what the real server was seen to do with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.cases import MODELS, Case, agrees, case_names, read_case, run_case
from tests.conformance.in_process import InProcessTarget
from tritonscope.testing import InProcessServer


@pytest.fixture
def target() -> Iterator[InProcessTarget]:
    with InProcessServer(MODELS, models=[]) as server:
        yield InProcessTarget(server)


@pytest.mark.parametrize("case", [read_case(name) for name in case_names()], ids=lambda case: case.name)
def test_case_ends_as_on_the_real_server(target: InProcessTarget, case: Case) -> None:
    told = run_case(target, case)

    # `agrees` only decides about error codes that one side does not tell; the second line shows a difference.
    assert agrees(told, case.seen) or told == case.seen


def test_a_different_answer_does_not_agree() -> None:
    seen = read_case("add_one").seen
    other = {**seen, "calls": [{**seen["calls"][0], "final": False}]}

    assert agrees(seen, seen)
    assert not agrees(other, seen)


def test_a_code_counts_where_both_tell_one() -> None:
    told = {"responses": [{"error": "no", "code": "INTERNAL"}]}

    assert agrees(told, {"responses": [{"error": "no"}]})
    assert not agrees(told, {"responses": [{"error": "no", "code": "NOT_FOUND"}]})
