"""Whom a model calls: its code, its parameters and the repository taken together."""

from pathlib import Path

import pytest

from tritonscope.repository.callees import callees
from tritonscope.repository.code.facts import Call, CalleeName, Code, Origin, Waiting
from tritonscope.repository.stages import Placeholder, Repository, Stage

ENCODER = Stage("encoder", "onnxruntime", 8, ())


def caller(*names, **fields):
    call = Call(names, "model.py", 3, "execute", Waiting.BLOCKING)
    return Stage("bls", "python", 0, (), code=Code(Path("model.py"), calls=(call,)), **fields)


def found(stage):
    return [
        (callee.model, callee.stage) for callee in callees(stage, Repository({"encoder": ENCODER, "bls": stage}))
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (CalleeName(Origin.LITERAL, "encoder"), ("encoder", ENCODER)),
        (CalleeName(Origin.LITERAL, "gone"), ("gone", None)),
        (CalleeName(Origin.PARAMETER, "which"), ("encoder", ENCODER)),
        (CalleeName(Origin.PARAMETER, "unset"), ("", None)),
        (CalleeName(Origin.PARAMETER, "unset", "encoder"), ("encoder", ENCODER)),
        (CalleeName(Origin.PARAMETER, "open"), ("", None)),
        (CalleeName(Origin.ENVIRONMENT, "MODEL"), ("", None)),
        (CalleeName(Origin.UNKNOWN, "name.as_numpy()"), ("", None)),
    ],
)
def test_a_callee_is_known_as_far_as_the_configuration_tells(name, expected):
    parameters = {"which": "encoder", "open": "${model}"}
    hole = Placeholder("${model}", "parameters.value.string_value", 1)
    assert found(caller(name, parameters=parameters, placeholders=(hole,))) == [expected]


def test_every_name_of_a_call_is_a_callee():
    assert len(found(caller(CalleeName(Origin.LITERAL, "a"), CalleeName(Origin.LITERAL, "b")))) == 2


def test_a_model_without_code_calls_nobody():
    assert found(ENCODER) == []
