"""The arrows between the rooms, read from the imports themselves, and what a stub process may load."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tritonscope

PACKAGE = Path(tritonscope.__file__).parent

# Room -> the rooms it may import, besides itself. `tritonscope` is the package's own __init__ (its version).
ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "records": set(),
    "ids": set(),
    "trace_context": {"records"},
    "settings": set(),
    "evidence": set(),
    "probes": {"records"},
    "ring": {"records", "settings"},
    "runtime": {"records", "ids", "trace_context", "settings", "probes", "ring"},
    "runs": {"errors", "records", "evidence"},
    "agent": {"errors", "records", "ids", "trace_context", "settings", "ring", "runs"},
    "pipeline": set(),
    "repository": {"errors", "pipeline"},
    "sources": {"errors", "evidence", "records", "repository", "runs"},
    "analyze": {"errors", "records", "evidence", "repository", "runs"},
    "report": {"analyze", "evidence", "repository"},
    "server": {"errors", "evidence", "settings"},
    "testing": {"errors", "evidence"},
    "cli": {
        "errors", "settings", "records", "evidence", "runs", "agent", "repository", "sources", "analyze", "report",
        "server", "testing", "ring",
    },
    "__main__": {"cli"},
    "__init__": {"runtime"},
}  # fmt: skip

RUNTIME_HALF = ("errors", "records", "ids", "trace_context", "settings", "probes", "ring", "runtime", "pipeline")
# The stub's own module is there before any model's code is.
ALLOWED_IN_A_STUB = {"msgspec", "tritonscope", "triton_python_backend_utils"}
# msgspec imports it where it is installed.
MSGSPECS_OWN = {"typing_extensions"}


def room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


def imports(path: Path) -> set[str]:
    """Every module that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def rooms_imported(path: Path) -> set[str]:
    ours = {name for name in imports(path) if name.startswith("tritonscope.")}
    return {name.split(".")[1] for name in ours if (PACKAGE / name.split(".")[1]).exists()
            or (PACKAGE / f"{name.split('.')[1]}.py").exists()}  # fmt: skip


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_what_its_arrows_allow(path):
    here = room(path)
    assert here in ARROWS, f"{here} has no row in ARROWS and in docs/ARCHITECTURE.md"
    assert rooms_imported(path) - {here} <= ARROWS[here]


def test_the_arrows_form_no_cycle():
    done: set[str] = set()
    while len(done) < len(ARROWS):
        free = {name for name, needs in ARROWS.items() if name not in done and needs <= done}
        assert free, f"a cycle among {set(ARROWS) - done}"
        done |= free


@pytest.mark.parametrize("path", [path for path in FILES if room(path) in RUNTIME_HALF], ids=str)
def test_the_runtime_half_needs_only_msgspec(path):
    tops = {name.split(".")[0] for name in imports(path)}
    assert tops - set(sys.stdlib_module_names) <= ALLOWED_IN_A_STUB


LOADED = """
import sys
before = set(sys.modules)
import tritonscope.runtime.bootstrap, tritonscope.runtime.hook, tritonscope.runtime.model
print(*sorted(set(sys.modules) - before))
"""


def test_a_stub_process_loads_nothing_of_the_other_half():
    """Asked of a fresh interpreter, since this one has everything loaded."""
    loaded = subprocess.check_output([sys.executable, "-c", LOADED], text=True).split()
    tops = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert {name for name in tops if not name.startswith("_")} <= ALLOWED_IN_A_STUB | MSGSPECS_OWN
    rooms = {name.split(".")[1] for name in loaded if name.startswith("tritonscope.")}
    assert rooms <= set(RUNTIME_HALF)
    assert "asyncio" not in loaded
