"""Puts load on one model over gRPC and measures it from outside, as light on the machine as a client can be.

A closed loop keeps a number of requests in flight; an open loop sends at a rate, whatever comes back. Latency in
the open loop counts from the moment a request was *due*, so a server that stalls cannot slow down its own measure
(coordinated omission).
"""

from __future__ import annotations

import asyncio
import inspect
import selectors
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import grpc.aio

from tritonscope.evidence import LoadReport
from tritonscope.server.latency import summarize
from tritonscope.server.load_plan import ClosedLoop, LoadPlan, OpenLoop
from tritonscope.server.traffic import Meter, Traffic

_CHANNEL = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))
_PROGRESS_PERIOD_S = 0.2

Hook = Callable[[], Awaitable[None] | None]
"""Called at an edge of the measured window; a plain function runs in a thread, so that the load goes on."""


class LoadProgress(NamedTuple):
    """How far a load is; `elapsed_s` counts from the start of the phase, `total_s` is None if only counted."""

    phase: str
    elapsed_s: float
    total_s: float | None
    requests: int
    failures: int


def run_load(
    plan: LoadPlan,
    *,
    on_progress: Callable[[LoadProgress], None] | None = None,
    on_window_start: Hook | None = None,
    on_window_end: Hook | None = None,
) -> LoadReport:
    """Carry out `plan` in an event loop of its own and return what was seen; see `drive`."""
    # select() waits to the microsecond; the default epoll rounds up to the
    # millisecond and sends late: at 200 requests/s of a 1 ms model it made the mean latency 1.5 ms.
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
    try:
        return loop.run_until_complete(
            drive(plan, on_progress=on_progress, on_window_start=on_window_start, on_window_end=on_window_end)
        )
    finally:
        # Ctrl-C leaves tasks behind.
        loop.run_until_complete(_cancel_all())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


async def _cancel_all() -> None:
    leftover = asyncio.all_tasks() - {asyncio.current_task()}
    for task in leftover:
        task.cancel()
    await asyncio.gather(*leftover, return_exceptions=True)


async def drive(
    plan: LoadPlan,
    *,
    on_progress: Callable[[LoadProgress], None] | None = None,
    on_window_start: Hook | None = None,
    on_window_end: Hook | None = None,
) -> LoadReport:
    """Carry out `plan` and return what was seen in the window; failed requests are counted, not raised.

    Counted are requests that *completed* in the window. The load goes on while the hooks run: the one before the
    window and the one after it, so that what they sample encloses it.

    Raises:
        UsageError: the plan cannot be carried out.
    """
    plan.check()
    async with grpc.aio.insecure_channel(plan.url, options=_CHANNEL) as channel:
        traffic = Traffic(plan, channel)
        ticker = asyncio.ensure_future(_tick(traffic.meter, on_progress))
        try:
            await _measure(plan, traffic, on_window_start, on_window_end)
        finally:
            ticker.cancel()
            await traffic.stop()
    return _report(plan, traffic.meter)


async def _measure(plan: LoadPlan, traffic: Traffic, before: Hook | None, after: Hook | None) -> None:
    meter = traffic.meter
    meter.begin("warm-up", plan.warmup_s, recording=False)
    await traffic.run_for(plan.warmup_s)
    await _call(before)
    meter.begin("measuring", plan.duration_s, recording=True)
    await traffic.run_for(plan.duration_s)
    meter.end()
    await _call(after)


async def _call(hook: Hook | None) -> None:
    if hook is None:
        return
    if inspect.iscoroutinefunction(hook):
        await hook()
        return
    result = await asyncio.to_thread(hook)
    if result is not None:
        await result


async def _tick(meter: Meter, on_progress: Callable[[LoadProgress], None] | None) -> None:
    while on_progress is not None:
        on_progress(
            LoadProgress(meter.phase, meter.elapsed_s, meter.total_s, len(meter.latencies_ns), meter.failures)
        )
        await asyncio.sleep(_PROGRESS_PERIOD_S)


def _report(plan: LoadPlan, meter: Meter) -> LoadReport:
    return summarize(
        plan.model, meter.window_ns, meter.latencies_ns, meter.failures,
        concurrency=plan.loop.concurrency if isinstance(plan.loop, ClosedLoop) else 0,
        rate_per_s=plan.loop.rate_per_s if isinstance(plan.loop, OpenLoop) else 0.0,
        first_error=meter.first_error,
    )  # fmt: skip
