"""In the model's folder, above model.py."""

import triton_python_backend_utils as pb_utils


def answer(request, amount):
    """Return a response with the amount added."""
    x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
    return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + amount)])
