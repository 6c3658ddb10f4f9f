"""Puts tritonscope.pth at the root of site-packages, in wheels and in editable installs alike."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PTH = "middleware/tritonscope/runtime/tritonscope.pth"


class PthHook(BuildHookInterface):  # type: ignore[type-arg]
    """Hatch has no key for a file beside the package that editable installs keep too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file to whichever of the two kinds of wheel is built."""
        key = "force_include_editable" if version == "editable" else "force_include"
        build_data.setdefault(key, {})[PTH] = "tritonscope.pth"
