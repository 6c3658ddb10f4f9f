"""initialize raises: the model does not load."""


class TritonPythonModel:
    def initialize(self, args):
        raise ValueError("no such luck")

    def execute(self, requests):
        return []
