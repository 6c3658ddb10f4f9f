"""The model that Triton loads: `model.py` of a pipeline's folder takes its class from here."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tritonscope import for_request
from tritonscope.pipeline.plan import read_plan
from tritonscope.pipeline.request import answer

# As many as the backend itself serves at once for one instance; asyncio's own pool is smaller on few cores.
_CALLS_AT_ONCE = 32


class TritonPythonModel:
    """Runs the plan beside it for each request of a batch, all of them at once."""

    def initialize(self, args: dict[str, str]) -> None:
        """Read the plan."""
        self._plan = read_plan(Path(args["model_repository"], args["model_version"]))
        self._pool = ThreadPoolExecutor(_CALLS_AT_ONCE, "tritonscope-pipeline")

    async def execute(self, requests: list[Any]) -> list[Any]:
        """Return the response to each request."""
        asyncio.get_running_loop().set_default_executor(self._pool)
        return await asyncio.gather(*map(self._answer, requests))

    def finalize(self) -> None:
        """Let the threads go."""
        self._pool.shutdown()

    async def _answer(self, request: Any) -> Any:
        with for_request(request):
            return await answer(self._plan, request)
