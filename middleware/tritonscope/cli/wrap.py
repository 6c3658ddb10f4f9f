"""Write a copy of a model repository whose Python stages are observed; ensembles and weights are as they were.

Serve the copy in place of the original. Files are linked, not copied, except the entry file of each Python stage,
which gets a few lines after its own; --copy makes the copy stand alone, for a container that sees nothing else.
TRITONSCOPE=0 in the server's environment switches the observing off.

With --pipeline NAME the ensemble NAME becomes a Python model of the same name and interface that runs its steps, so
that each step of a request is a span even where the step itself cannot be observed.

Examples:
  tritonscope wrap /models -o /models-observed
  tritonscope wrap /models -o /models-observed --copy --force
  tritonscope wrap /models -o /models-observed --pipeline ocr
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from tritonscope.errors import RepositoryError
from tritonscope.repository.folder import read_repository
from tritonscope.repository.overlay import Writer, write_overlay
from tritonscope.repository.pipeline_model import plan_of, write_pipeline_model
from tritonscope.repository.stages import Repository

_INSTANCES = 2


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("repository", type=Path, metavar="REPO", help="the model repository")
    parser.add_argument(
        "-o", "--out", type=Path, required=True, metavar="OUT", help="folder to write; must not exist"
    )
    parser.add_argument(
        "--pipeline", action="append", default=[], metavar="NAME", help="run this ensemble as a Python model"
    )
    parser.add_argument(
        "--pipeline-instances", type=_count, default=_INSTANCES, metavar="N",
        help=f"instances of such a model (default: {_INSTANCES})",
    )  # fmt: skip
    parser.add_argument("--copy", action="store_true", help="copy files instead of linking to them")
    parser.add_argument("--force", action="store_true", help="replace an older overlay")


def run(args: argparse.Namespace) -> int:
    """Write the overlay, say what is in it, and return 0."""
    repository = read_repository(args.repository)
    for problem in repository.problems:
        print(f"tritonscope: left as it is: {problem}", file=sys.stderr)
    entries = {folder: stage.entry for folder, stage in repository.stages.items() if stage.is_python}
    instead = {name: _writer(name, repository, args.pipeline_instances) for name in args.pipeline}
    if not entries and not instead:
        raise RepositoryError(f"{args.repository} holds no Python model: there is nothing to observe")
    overlay = write_overlay(args.repository, args.out, entries, instead=instead, copy=args.copy, force=args.force)
    print(f"{overlay.root}: observed {', '.join(overlay.observed)}", end="")
    print(f"; as it was: {', '.join(overlay.untouched)}" if overlay.untouched else "")
    print(f"serve it:  tritonserver --model-repository={overlay.root}   and run an agent:  tritonscope agent")
    return 0


def _writer(name: str, repository: Repository, instances: int) -> Writer:
    plan = plan_of(name, repository)
    return partial(write_pipeline_model, repository.stages[name], plan, instances)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of instances, 1 or more")
    return int(text)
