"""What objects of the backend's classes are like: no attributes, hashable, weakly referenceable."""

import weakref

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
    def execute(self, requests):
        request = requests[0]
        things = {
            "request": request,
            "tensor": request.inputs()[0],
            "sender": request.get_response_sender(),
            "response": pb_utils.InferenceResponse([]),
            "error": pb_utils.TritonError("message"),
            "trace": request.trace(),
        }
        lines = []
        for name, thing in things.items():
            has_dict = hasattr(thing, "__dict__")
            sets = attempt(lambda: setattr(thing, "mine", 1)).split(":")[0]
            weak = weakref.WeakKeyDictionary({thing: 1})
            kind = f"{type(thing).__module__}.{type(thing).__name__}"
            shown = repr(thing).split(" at ")[0]
            lines.append(f"{name} {kind} {has_dict} {sets} {thing in weak} {thing == thing} {shown}")
        bare = [type(things["sender"]), type(things["trace"]), pb_utils.Logger]
        return [text(*lines, *(attempt(each) for each in bare))]
