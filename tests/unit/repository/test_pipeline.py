"""Pipelines by tensor name: order, who feeds whom, nesting, and circles."""

import pytest

from tritonscope.errors import RepositoryError
from tritonscope.repository.pipeline import build_pipeline
from tritonscope.repository.stages import Repository, Stage, Step


def model(name: str) -> Stage:
    return Stage(name, "python", 0, ())


def ensemble(name: str, *steps: tuple[str, str, str]) -> Stage:
    """Steps as (model, the tensors it takes, the tensors it makes)."""
    return Stage(
        name, "ensemble", 0, (),
        steps=tuple(
            Step(step, -1, {f"I{number}": tensor for number, tensor in enumerate(takes.split())},
                 {f"O{number}": tensor for number, tensor in enumerate(makes.split())})
            for step, takes, makes in steps
        ),
    )  # fmt: skip


def build(name: str, *stages: Stage):
    return build_pipeline(name, Repository({stage.name: stage for stage in stages}))


def names(pipeline):
    return [[node.stage.name for node in layer] for layer in pipeline.layers]


DIAMOND = ensemble("e", ("join", "b c", "OUT"), ("left", "a", "b"), ("first", "IN", "a"), ("right", "a", "c"))
MODELS = [model(name) for name in ("first", "left", "right", "join")]


def test_the_order_is_that_of_the_tensors_not_of_the_file():
    pipeline = build("e", DIAMOND, *MODELS)
    assert names(pipeline) == [["first"], ["left", "right"], ["join"]]
    numbers = {node.stage.name: number for number, node in enumerate(pipeline.nodes)}
    assert sorted(pipeline.feeds(numbers["first"])) == sorted([numbers["left"], numbers["right"]])
    assert pipeline.nodes[numbers["join"]].after == {numbers["left"], numbers["right"]}


def test_the_longest_path_takes_the_slower_branch():
    pipeline = build("e", DIAMOND, *MODELS)
    weights = {"first": 1.0, "left": 5.0, "right": 2.0, "join": 1.0}
    assert pipeline.longest(lambda node: weights[node.stage.name]) == 7.0


def test_a_model_that_is_used_twice_is_one_stage_and_two_nodes():
    pipeline = build("e", ensemble("e", ("m", "IN", "a"), ("m", "a", "OUT")), model("m"))
    assert [stage.name for stage in pipeline.stages] == ["m"]
    assert pipeline.in_series("m") == 2
    parallel = build("e", ensemble("e", ("m", "IN", "a"), ("m", "IN", "b")), model("m"))
    assert (len(parallel.nodes), parallel.in_series("m")) == (2, 1)


def test_a_nested_ensemble_is_taken_apart_and_its_tensors_followed():
    """What comes before it feeds its first stage, and its last stage feeds what comes after."""
    inner = ensemble("inner", ("x", "in", "mid"), ("y", "mid", "out"))
    inner = inner._replace(
        steps=(inner.steps[0]._replace(inputs={"I0": "I0"}), inner.steps[1]._replace(outputs={"O0": "O0"}))
    )
    outer = ensemble("outer", ("before", "IN", "a"), ("inner", "a", "b"), ("after", "b", "OUT"))
    pipeline = build("outer", outer, inner, *(model(name) for name in ("before", "x", "y", "after")))
    assert names(pipeline) == [["before"], ["x"], ["y"], ["after"]]
    assert [node.after for node in pipeline.nodes] == [set(), {0}, {1}, {2}]


def test_a_model_that_is_no_ensemble_is_a_pipeline_of_one():
    assert names(build("m", model("m"))) == [["m"]]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([ensemble("e", ("e", "IN", "OUT"))], "ensemble 'e' contains itself: e -> e"),
        ([ensemble("e", ("f", "IN", "OUT")), ensemble("f", ("e", "IN", "OUT"))], "contains itself: e -> f -> e"),
        ([ensemble("e", ("m", "a", "b"), ("m", "b", "a")), model("m")], "steps 1, 2 wait for each other's tensors"),
        ([model("m")], "there is no model 'e'; found: 'm'"),
        ([ensemble("e", ("m", "IN", "OUT"))], "step 1: model 'm' is not in the repository; found: none"),
    ],
)
def test_circles_and_holes_are_errors(stages, message):
    with pytest.raises(RepositoryError, match=message):
        build("e", *stages)


def test_an_ensemble_without_steps_has_no_stages():
    assert build("e", ensemble("e")).layers == []


def test_ensembles_that_grow_without_end_are_errors():
    """Each uses the next one twice: the powers of two."""
    steps = [ensemble(f"e{n}", (f"e{n + 1}", "IN", "a"), (f"e{n + 1}", "a", "OUT")) for n in range(40)]
    with pytest.raises(RepositoryError, match="'e0' has more than 10000 steps"):
        build("e0", *steps, model("e40"))


def test_ensembles_that_nest_too_deeply_are_errors():
    steps = [ensemble(f"e{n}", (f"e{n + 1}", "IN", "OUT")) for n in range(300)]
    with pytest.raises(RepositoryError, match="'e0' nests more than 100 ensembles"):
        build("e0", *steps, model("e300"))
