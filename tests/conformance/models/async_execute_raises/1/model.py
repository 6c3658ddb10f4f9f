"""A coroutine of execute raises."""


class TritonPythonModel:
    async def execute(self, requests):
        raise ValueError("no such luck")
