"""execute returns None and nothing is ever sent: the client waits."""


class TritonPythonModel:
    def execute(self, requests):
        return None
