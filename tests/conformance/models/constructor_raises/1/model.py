"""The constructor of the model raises."""


class TritonPythonModel:
    def __init__(self):
        raise ValueError("no such luck")

    def execute(self, requests):
        return []
