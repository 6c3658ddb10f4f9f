"""An analysis on a terminal: the verdict, a table of stages, and each finding with evidence and change."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tritonscope.analyze.analysis import Analysis, StageRow, Traffic
from tritonscope.analyze.findings import Fact, Finding, Quality, Severity
from tritonscope.analyze.verdict import describe
from tritonscope.report.values import bar, milliseconds, show

_BAR_WIDTH = 8
_STYLES = {Severity.CRITICAL: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_ROLE_STYLES = {"throttle": "bold red", "co-limiting": "red", "not judged": "dim"}
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def print_analysis(analysis: Analysis, console: Console) -> None:
    """Print `analysis`; plain text where `console` is no terminal."""
    ascii_only = console.options.ascii_only
    # A pipe wants the verdict in one line; a terminal wants words kept whole.
    console.print(Text(analysis.verdict, style="bold"), soft_wrap=not console.is_terminal)
    console.print()
    console.print(_heading(analysis, ascii_only=ascii_only))
    console.print(_table(analysis, ascii_only=ascii_only))
    for row in analysis.stages:
        if row.note:
            console.print(Text(f"{row.model}: {row.note}\n", style="dim"))
    for number, finding in enumerate(analysis.findings, 1):
        console.print(_finding(number, finding))
    for note in analysis.notes:
        console.print(Text(f"note: {note}", style="dim"))


def _heading(analysis: Analysis, *, ascii_only: bool) -> Text:
    arrow = " -> " if ascii_only else " → "
    path = arrow.join(" | ".join(layer) for layer in analysis.layers)
    measured = _traffic(analysis.traffic) if analysis.traffic else "nothing was measured"
    return Text(f"{analysis.pipeline}: {path}\n{measured}", style="dim")


def _traffic(traffic: Traffic) -> str:
    parts = [
        f"{traffic.requests_per_s:.1f} requests/s over {traffic.window_ns / 1e9:.1f} s"
        + (f" ({traffic.failures} failed)" if traffic.failures else ""),
        f"{traffic.in_flight:.1f} in flight",
        f"{milliseconds(traffic.request_ns)} a request",
    ]
    if traffic.client_latency_ns is not None:
        parts.append(f"{milliseconds(traffic.client_latency_ns)} for the client")
    if traffic.busy_cores is not None:
        parts.append(f"{traffic.busy_cores:.2f} of {traffic.cores} cores busy")
    return ", ".join(parts)


def _table(analysis: Analysis, *, ascii_only: bool) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("stage", overflow="fold")
    measured = ("busy", "queue share", "execution", "capacity") if analysis.traffic else ()
    for name in ("instances", *measured):
        table.add_column(name, justify="right", no_wrap=True)
    for row in analysis.stages:
        cells = _measured_cells(row, ascii_only=ascii_only) if analysis.traffic else ()
        table.add_row(_name(row, ascii_only=ascii_only), _instances(row), *cells)
    return Padding(table, (1, 0), expand=False)


def _name(row: StageRow, *, ascii_only: bool) -> Text:
    style = _ROLE_STYLES.get(row.role, "")
    marker = f"\n{'^' if ascii_only else '▲'} {row.role}" if row.role else ""
    return Text(f"{row.model}{marker}", style=style)


def _instances(row: StageRow) -> str:
    return f"{row.instances}{'+' if row.at_least else ''}"


def _measured_cells(row: StageRow, *, ascii_only: bool) -> Iterator[Text | str]:
    for share in (row.busy, row.queue_share):
        text = "-" if share is None else f"{bar(share, _BAR_WIDTH, ascii_only=ascii_only)} {share:4.0%}"
        yield Text(text, style=_ROLE_STYLES.get(row.role, ""))
    yield "-" if row.execution_ns is None else milliseconds(row.execution_ns)
    yield "-" if row.capacity_per_s is None else show(row.capacity_per_s, "requests/s")


def _finding(number: int, finding: Finding) -> RenderableType:
    title = Text.assemble(
        (f"{number}. {finding.rule}", _STYLES[finding.severity]), f" ({finding.severity.value}) ", finding.title
    )
    body: list[RenderableType] = []
    if finding.evidence:
        body.append(_evidence(finding.evidence))
    if finding.advice:
        body.append(Text(finding.advice))
    if finding.diff:
        body.append(_diff(finding.diff))
    if finding.effect:
        body.append(Text(f"Predicted: {describe(finding.effect)}.", style="bold"))
        body.append(Text(finding.effect.assumption, style="dim"))
    return Group(title, *(Padding(part, (0, 0, 0, 3), expand=False) for part in body), Text())


def _evidence(facts: tuple[Fact, ...]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    for fact in facts:
        origin = fact.formula if fact.quality is Quality.EXACT else f"{fact.formula} ({_in_words(fact.quality)})"
        table.add_row(fact.name, show(fact.value, fact.unit), Text(origin.strip(), style="dim"))
    return table


def _in_words(quality: Quality) -> str:
    return quality.value.replace("_", " ")


def _diff(diff: str) -> Text:
    text = Text()
    for line in diff.splitlines():
        text.append(f"{line}\n", style=_DIFF_STYLES.get(line[:1], "dim"))
    return text
