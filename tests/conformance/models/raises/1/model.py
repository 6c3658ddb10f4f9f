"""execute raises: the whole batch fails."""


class TritonPythonModel:
    def execute(self, requests):
        raise ValueError("no such luck")
