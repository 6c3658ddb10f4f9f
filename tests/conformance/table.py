"""Writes the table of docs/transparency.md from what the last runs of test_transparency.py saw.

TRITONSCOPE_WRITE_RESULTS=1 TRITONSCOPE_TEST_PYTHONS="3.10 3.11 3.12" pytest tests/conformance/test_transparency.py
python -m tests.conformance.table
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.conformance.cases import case_names, read_case

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[2] / "docs" / "transparency.md"
BEGIN, END = "<!-- results: written by tests/conformance/table.py -->", "<!-- end of results -->"
SAME = "same"

Results = Mapping[str, Mapping[str, str]]


def read_results() -> Results:
    """Return what was seen, by Python version and case: `same`, or why it was not compared."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def remember(seen: Results) -> None:
    """Put what was seen in place of what was seen before, version by version."""
    merged = {**read_results(), **seen}
    RESULTS.write_text(json.dumps(merged, indent=1, sort_keys=True) + "\n")


def render(results: Results) -> str:
    """Return the table in Markdown: a row a case, a column a Python version, and the reasons below."""
    versions = sorted(results, key=lambda version: tuple(map(int, version.split("."))))
    reasons = sorted({text for seen in results.values() for text in seen.values() if text != SAME})
    lines = [
        "| case | what the model does | " + " | ".join(versions) + " |",
        "|---|---|" + "---|" * len(versions),
    ]
    for name in case_names():
        cells = [_cell(results[version].get(name, "not run"), reasons) for version in versions]
        lines.append(f"| `{name}` | {read_case(name).about} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *(f"{number}. {reason}" for number, reason in enumerate(reasons, 1))])


def page_with(table: str, page: str) -> str:
    """Return the page with `table` between its two marks."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}"


def _cell(text: str, reasons: list[str]) -> str:
    return f"not compared ({reasons.index(text) + 1})" if text in reasons else text


if __name__ == "__main__":
    PAGE.write_text(page_with(render(read_results()), PAGE.read_text()))
