"""Write a copy of a model repository whose Python stages are observed; ensembles and weights are as they were.

Serve the copy in place of the original. Files are linked, not copied, except the entry file of each Python stage,
which gets a few lines after its own; --copy makes the copy stand alone, for a container that sees nothing else.
TRITONSCOPE=0 in the server's environment switches the observing off.

Examples:
  tritonscope wrap /models -o /models-observed
  tritonscope wrap /models -o /models-observed --copy --force
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tritonscope.errors import RepositoryError
from tritonscope.repository.folder import read_repository
from tritonscope.repository.overlay import write_overlay


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("repository", type=Path, metavar="REPO", help="the model repository")
    parser.add_argument(
        "-o", "--out", type=Path, required=True, metavar="OUT", help="folder to write; must not exist"
    )
    parser.add_argument("--copy", action="store_true", help="copy files instead of linking to them")
    parser.add_argument("--force", action="store_true", help="replace an older overlay")


def run(args: argparse.Namespace) -> int:
    """Write the overlay, say what is in it, and return 0."""
    repository = read_repository(args.repository)
    for problem in repository.problems:
        print(f"tritonscope: left as it is: {problem}", file=sys.stderr)
    entries = {folder: stage.entry for folder, stage in repository.stages.items() if stage.is_python}
    if not entries:
        raise RepositoryError(f"{args.repository} holds no Python model: there is nothing to observe")
    overlay = write_overlay(args.repository, args.out, entries, copy=args.copy, force=args.force)
    print(f"{overlay.root}: observed {', '.join(overlay.observed)}", end="")
    print(f"; as it was: {', '.join(overlay.untouched)}" if overlay.untouched else "")
    print(f"serve it:  tritonserver --model-repository={overlay.root}   and run an agent:  tritonscope agent")
    return 0
