"""InstanceSpec: which instance of which model, and what `initialize` is told about it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tritonscope.testing.config import Config, to_json


class InstanceSpec(NamedTuple):
    """Which instance of which model this is."""

    config: Config
    model_dir: Path
    version: int
    name: str
    kind: str = "CPU"
    device_id: int = 0

    @property
    def file(self) -> Path:
        """The model's Python file."""
        return self.model_dir / str(self.version) / (self.config.get("default_model_filename") or "model.py")

    @property
    def decoupled(self) -> bool:
        """Whether the model answers a request any number of times."""
        return bool(self.config.get("model_transaction_policy", {}).get("decoupled"))

    def arguments(self) -> dict[str, str]:
        """Return what `initialize` gets."""
        return {
            "model_config": to_json(self.config),
            "model_instance_kind": self.kind,
            "model_instance_name": self.name,
            "model_instance_device_id": str(self.device_id),
            "model_repository": str(self.model_dir),
            "model_version": str(self.version),
            "model_name": str(self.config["name"]),
        }
