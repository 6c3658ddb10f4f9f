"""The requests of a load in flight, and what is noted of each: one integer when it succeeds."""

from __future__ import annotations

import asyncio
import random
import time
from array import array
from collections.abc import Coroutine
from itertools import cycle
from typing import Any

import grpc
import grpc.aio

from tritonscope.server.load_plan import ClosedLoop, LoadPlan, OpenLoop
from tritonscope.server.payloads import encode

_INFER = "/inference.GRPCInferenceService/ModelInfer"
_DRAIN_S = 5.0
# A server that refuses at once would otherwise turn the client into a busy loop.
_PAUSE_AFTER_FAILURE_S = 0.01


class Meter:
    """What was seen since the current phase began; only the phase "measuring" is counted."""

    def __init__(self, wanted: int | None) -> None:
        self._wanted = wanted
        self._started_ns = time.monotonic_ns()
        self._recording = False
        self.phase = "warm-up"
        self.total_s: float | None = None
        self.latencies_ns = array("q")
        self.failures = 0
        self.first_error = ""
        self.window_ns = 0
        self.enough = asyncio.Event()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the phase began."""
        return (time.monotonic_ns() - self._started_ns) / 1e9

    def begin(self, phase: str, total_s: float | None, *, recording: bool) -> None:
        """Begin a phase that is to last `total_s` seconds."""
        self.phase, self.total_s, self._recording = phase, total_s, recording
        self._started_ns = time.monotonic_ns()

    def end(self) -> None:
        """End the measured window now, if it has not ended."""
        if self._recording:
            self.window_ns = time.monotonic_ns() - self._started_ns
            self._recording = False

    def succeeded(self, due_ns: int) -> None:
        """Note a reply to the request that was due at `due_ns` (CLOCK_MONOTONIC)."""
        if self._recording:
            self.latencies_ns.append(time.monotonic_ns() - due_ns)
            self._count()

    def failed(self, error: grpc.aio.AioRpcError) -> None:
        """Note a request that failed."""
        if self._recording:
            self.failures += 1
            self.first_error = self.first_error or f"{error.code().name}: {error.details()}"
            self._count()

    def _count(self) -> None:
        if self._wanted is not None and len(self.latencies_ns) + self.failures >= self._wanted:
            # Here and not in whoever waits: a later reply would be counted before it wakes.
            self.end()
            self.enough.set()


class Traffic:
    """Requests flowing as the plan says, from construction (inside a running event loop) to `stop()`."""

    def __init__(self, plan: LoadPlan, channel: grpc.aio.Channel) -> None:
        self.meter = Meter(plan.requests)
        self._plan = plan
        # Bytes out, bytes in: requests are encoded once, replies are not decoded.
        self._call = channel.unary_unary(_INFER)
        self._encoded = cycle([encode(plan.model, payload, plan.version) for payload in plan.payloads])
        self._stopping = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._sources = self._start(plan.loop)

    async def run_for(self, seconds: float | None) -> None:
        """Let requests flow for `seconds`, or until there are enough; None waits for enough only."""
        enough = asyncio.ensure_future(self.meter.enough.wait())
        try:
            timeout = None if seconds is None else max(seconds, 0)
            await asyncio.wait({enough, *self._sources}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            enough.cancel()
        for source in self._sources:
            if source.done():
                source.result()

    async def stop(self) -> None:
        """Send nothing more, and wait a little for the replies that are due."""
        self._stopping = True
        if isinstance(self._plan.loop, OpenLoop):
            for source in self._sources:
                source.cancel()
        waiting = {*self._sources, *self._tasks}
        _, late = await asyncio.wait(waiting, timeout=_DRAIN_S)
        for task in late:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    def _start(self, loop: ClosedLoop | OpenLoop) -> list[asyncio.Task[None]]:
        if isinstance(loop, OpenLoop):
            return [asyncio.create_task(self._pace(loop))]
        return [asyncio.create_task(self._keep_sending()) for _ in range(loop.concurrency)]

    async def _keep_sending(self) -> None:
        while not self._stopping:
            await self._send(time.monotonic_ns())

    async def _pace(self, loop: OpenLoop) -> None:
        chance = random.Random(loop.seed)  # noqa: S311 - arrival times, no secrets
        slots = asyncio.Semaphore(loop.max_in_flight)
        due_s = time.monotonic()
        while True:
            due_s += chance.expovariate(loop.rate_per_s) if loop.poisson else 1 / loop.rate_per_s
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))
            await slots.acquire()
            task = self._spawn(self._send(int(due_s * 1e9)))
            task.add_done_callback(lambda _: slots.release())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _send(self, due_ns: int) -> None:
        headers = self._plan.headers
        metadata = None if headers is None else tuple(headers().items())
        try:
            await self._call(next(self._encoded), timeout=self._plan.request_timeout_s, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            self.meter.failed(error)
            await asyncio.sleep(_PAUSE_AFTER_FAILURE_S)
        else:
            self.meter.succeeded(due_ns)
