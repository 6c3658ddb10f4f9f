"""A decoupled model raises before it has sent anything."""


class TritonPythonModel:
    def execute(self, requests):
        raise ValueError("no such luck")
