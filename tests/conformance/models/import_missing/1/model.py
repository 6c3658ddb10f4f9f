"""The model's file imports a module that does not exist."""

from no_such_module_anywhere import execute


class TritonPythonModel:
    def execute(self, requests):
        return execute(requests)
