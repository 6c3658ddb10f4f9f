"""Plans: which calls lead to what is wanted; files that hold them."""

from tritonscope.pipeline.plan import Plan, PlannedCall, read_plan, write_plan

A = PlannedCall("a", -1, {"X": "in"}, {"Y": "t"}, step=0)
B = PlannedCall("b", 3, {"X": "t"}, {"Y": "out"}, step=1, within=("inner",))
C = PlannedCall("c", -1, {"X": "t"}, {"Y": "other"}, step=1, within=("inner",))
D = PlannedCall("d", -1, {"X": "in"}, {"Y": "third"}, step=2)
PLAN = Plan("p", ("in",), ("out", "other", "third"), (A, B, C, D))


def test_a_call_is_needed_for_what_it_makes_and_a_nested_ensemble_as_a_whole():
    assert PLAN.needed(["third"]) == [D]
    assert PLAN.needed(["out"]) == [A, B, C]
    assert PLAN.needed(["out", "third"]) == [A, B, C, D]
    assert PLAN.needed([]) == []


def test_a_plan_that_was_written_is_read_as_it_was(tmp_path):
    write_plan(PLAN, tmp_path)
    assert read_plan(tmp_path) == PLAN
