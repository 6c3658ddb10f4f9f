"""What a wheel holds beside the package: tritonscope.pth at the root of site-packages, and the example models."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PTH = {"middleware/tritonscope/runtime/tritonscope.pth": "tritonscope.pth"}
EXAMPLES = {"model_repository": "tritonscope/model_repository"}


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Hatch has no key for a file that belongs beside the package in editable installs too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to whichever of the two kinds of wheel is built."""
        if version == "editable":
            build_data.setdefault("force_include_editable", {}).update(PTH)
        else:
            build_data.setdefault("force_include", {}).update(PTH | EXAMPLES)
