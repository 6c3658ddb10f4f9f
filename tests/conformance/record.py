"""Writes what a real tritonserver does with each case into its seen.json.

    python -m tests.conformance.record localhost:8001 [CASE ...]

The server must serve tests/conformance/models with `--model-control-mode=explicit`.
"""

from __future__ import annotations

import json
import sys

from tests.conformance.cases import MODELS, case_names, read_case, run_case
from tests.conformance.real_server import RealServerTarget


def main(url: str, *names: str) -> None:
    """Record the named cases, all by default."""
    target = RealServerTarget(url)
    for name in names or case_names():
        seen = run_case(target, read_case(name))
        (MODELS / name / "seen.json").write_text(json.dumps(seen, indent=1) + "\n")
        print(name)
    target.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
