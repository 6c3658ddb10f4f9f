"""The model has no execute, which is noticed by the first request."""


class TritonPythonModel:
    pass
