"""The event loop of one model instance: a thread of its own, started when a coroutine first needs it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

from tritonscope.testing.backend.host import StubState, marked


class EventLoop:
    """Runs the coroutines that `execute` returns."""

    def __init__(self, stub: StubState) -> None:
        self._stub = stub
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run to the end and return the result, or raise what it raises."""
        return self._submit(coroutine).result()

    def start(self, coroutine: Coroutine[Any, Any, Any], on_error: Callable[[BaseException], None]) -> None:
        """Let it run in the background; `on_error` gets what it raises."""
        self._submit(coroutine).add_done_callback(lambda future: _report(future, on_error))

    def stop(self) -> None:
        """Stop the loop; coroutines that still run are cancelled."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(_finish())
        self._loop.close()
        self._loop = self._thread = None

    def _submit(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            target = marked(self._stub, self._loop.run_forever)
            self._thread = threading.Thread(target=target, name=f"{self._stub.instance} coroutines", daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


async def _finish() -> None:
    """Cancel what still runs on the loop, and end its executor's threads."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_default_executor()


def _report(future: Future[Any], on_error: Callable[[BaseException], None]) -> None:
    if not future.cancelled():
        error = future.exception()
        if error is not None:
            on_error(error)
