"""What Triton's core refuses in an ensemble, each with the step and what is wrong."""

import pytest

from tritonscope.repository.checks import check_ensemble
from tritonscope.repository.stages import InstanceGroup, Placeholder, Repository, Stage, Step, Tensor


def tensors(*names, data_type="FP32", optional=()):
    return tuple(Tensor(name, data_type, (4,), name in optional) for name in names)


def model(name, takes="X", makes="Y", **fields):
    return Stage(name, "python", fields.pop("max_batch_size", 0), (),
                 inputs=tensors(*takes.split()), outputs=tensors(*makes.split()))._replace(**fields)  # fmt: skip


A = model("a")
B = model("b")
GOOD = Stage(
    "e", "ensemble", 0, (), inputs=tensors("IN"), outputs=tensors("OUT"),
    steps=(Step("a", -1, {"X": "IN"}, {"Y": "t"}), Step("b", -1, {"X": "t"}, {"Y": "OUT"})),
)  # fmt: skip


def told(ensemble=GOOD, *models):
    stages = {stage.name: stage for stage in (ensemble, *(models or (A, B)))}
    return [str(problem) for problem in check_ensemble(ensemble, Repository(stages))]


def test_a_good_ensemble_has_no_problems():
    assert told() == []


def test_a_model_that_names_no_tensors_is_not_judged():
    """Its backend, or its `auto_complete_config`, names them when it is loaded."""
    assert told(GOOD, model("a", "", ""), model("b", "", "")) == []


@pytest.mark.parametrize(
    ("ensemble", "models", "problem"),
    [
        (GOOD._replace(groups=(InstanceGroup("CPU", 1),)), (), "instance_group: an ensemble has no instances"),
        (GOOD._replace(steps=()), (), "ensemble_scheduling: there is no step"),
        (GOOD, (A, model("b", "X MORE")), "step 2: input 'MORE' of model 'b' gets nothing"),
        (GOOD, (A, model("b", "OTHER")), "step 2: model 'b' has no input 'X'"),
        (GOOD, (A, model("b", makes="OTHER")), "step 2: model 'b' has no output 'Y'"),
        (
            GOOD,
            (A, model("b", inputs=tensors("X", data_type="INT8"))),
            "step 2: tensor 't' is FP32 of 'a' and INT8 of 'b'",
        ),
        (
            GOOD._replace(max_batch_size=8),
            (A, model("b", max_batch_size=4)),
            "step 2: model 'b' takes batches of 4",
        ),
        (GOOD._replace(inputs=tensors("IN", "MORE")), (), "tensor 'MORE': no step takes it"),
        (GOOD._replace(outputs=tensors("OUT", "MORE")), (), "tensor 'MORE': no step makes it"),
        (GOOD._replace(steps=(GOOD.steps[0], *GOOD.steps)), (), "tensor 't': two steps make it"),
        (GOOD._replace(steps=(GOOD.steps[0]._replace(version=3), GOOD.steps[1])), (model("a", versions=(1, 2)), B),
         "step 1: model 'a' has no version 3; found: 1, 2"),
        (GOOD._replace(steps=(Step("", -1, {}, {}), *GOOD.steps)), (), "step 1: there is no model_name"),
        (GOOD._replace(steps=(Step("a", -1, {}, {"Y": "t"}), *GOOD.steps)), (), "step 1: there is no input_map"),
        (GOOD._replace(steps=(Step("a", -1, {"X": "IN"}, {}), *GOOD.steps)), (), "step 1: there is no output_map"),
    ],
)  # fmt: skip
def test_what_triton_refuses_is_told(ensemble, models, problem):
    assert any(text.startswith(f"ensemble 'e', {problem}") for text in told(ensemble, *models))


def test_an_optional_input_may_get_nothing():
    assert told(GOOD, A, model("b", inputs=tensors("X", "MORE", optional={"MORE"}))) == []


def test_a_batch_size_that_a_template_leaves_open_is_not_judged():
    hole = Placeholder("${n}", "max_batch_size", 1)
    assert told(GOOD._replace(max_batch_size=8), A, model("b", max_batch_size=4, placeholders=(hole,))) == []


FORK = (Step("a", -1, {"X": "IN"}, {"Y": "t"}), Step("b", -1, {"X": "IN"}, {"Y": "u"}))
JOIN = Step("c", -1, {"X": "t", "Z": "u"}, {"Y": "OUT"})
MANY = [A._replace(decoupled=True), B._replace(decoupled=True), model("c", "X Z")]


@pytest.mark.parametrize(("decoupled", "refused"), [((), False), (("a",), True), (("a", "b"), True)])
def test_answers_of_different_decoupled_models_cannot_be_joined(decoupled, refused):
    models = [each._replace(decoupled=each.name in decoupled) for each in MANY]
    problems = told(GOOD._replace(steps=(JOIN, *FORK)), *models)
    assert problems == (
        ["ensemble 'e', step 1: 'c' joins answers of different decoupled models"] if refused else []
    )


def test_one_decoupled_model_may_fork_and_join():
    steps = (Step("a", -1, {"X": "IN"}, {"Y": "s"}), Step("b", -1, {"X": "s"}, {"Y": "t"}),
             Step("d", -1, {"X": "s"}, {"Y": "u"}), JOIN)  # fmt: skip
    assert told(GOOD._replace(steps=steps), MANY[0], B, model("d"), MANY[2]) == []


def test_outputs_of_different_decoupled_models_cannot_be_joined():
    ensemble = GOOD._replace(steps=FORK, outputs=tensors("t", "u"))
    assert told(ensemble, *MANY) == ["ensemble 'e', output: the tensors are of different decoupled models"]


def test_a_nested_ensemble_is_decoupled_if_one_of_its_models_is():
    inner = GOOD._replace(name="inner", inputs=tensors("X"), outputs=tensors("Y"),
                          steps=(Step("a", -1, {"X": "X"}, {"Y": "Y"}),))  # fmt: skip
    steps = (Step("inner", -1, {"X": "IN"}, {"Y": "t"}), FORK[1], JOIN)
    assert len(told(GOOD._replace(steps=steps), inner, MANY[0], B, MANY[2])) == 1
    assert told(GOOD._replace(steps=steps), inner, A, B, MANY[2]) == []
