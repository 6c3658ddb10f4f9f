"""A list that holds a string instead of a response."""


class TritonPythonModel:
    def execute(self, requests):
        return ["not a response"]
