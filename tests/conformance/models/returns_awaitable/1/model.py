"""execute returns an object that can be awaited but is no coroutine."""


class Awaitable:
    def __await__(self):
        return iter(())


class TritonPythonModel:
    def execute(self, requests):
        return Awaitable()
