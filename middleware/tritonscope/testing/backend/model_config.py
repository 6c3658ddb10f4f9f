"""ModelConfig: what `auto_complete_config` gets, fills in and returns."""

from __future__ import annotations

import json
from typing import Any

Properties = dict[str, Any]

_INPUT_PROPERTIES = ("name", "data_type", "dims", "optional")
_OUTPUT_PROPERTIES = ("name", "data_type", "dims")
_NEEDED = ("name", "data_type", "dims")
_OTHER_SCHEDULERS = ("sequence_batching", "ensemble_scheduling")


class ModelConfig:
    """A model's configuration, of which batch size, inputs, outputs and scheduling may be completed.

    Everything that contradicts the config.pbtxt raises ValueError.
    """

    def __init__(self, model_config: str) -> None:
        self._model_config: Properties = json.loads(model_config)

    def as_dict(self) -> Properties:
        """Return the configuration; not for writing."""
        return self._model_config

    def set_max_batch_size(self, max_batch_size: int) -> None:
        """Set the largest batch, no smaller than the configured one."""
        configured = self._model_config["max_batch_size"]
        if configured > max_batch_size:
            raise ValueError(
                f"configuration specified max_batch_size {configured}, but in auto-complete-config function "
                f"for model '{self._name}' specified max_batch_size {max_batch_size}"
            )
        self._model_config["max_batch_size"] = max_batch_size

    def set_dynamic_batching(self) -> None:
        """Batch dynamically, unless another scheduler is configured."""
        other = next((scheduler for scheduler in _OTHER_SCHEDULERS if scheduler in self._model_config), None)
        if other is not None:
            raise ValueError(
                f"Configuration specified scheduling_choice as '{other}', but auto-complete-config function "
                f"for model '{self._name}' tries to set scheduling_choice as 'dynamic_batching'"
            )
        self._model_config.setdefault("dynamic_batching", {})

    def add_input(self, input: Properties) -> None:  # noqa: A002 - Triton's name
        """Add an input with `name`, `data_type`, `dims` and perhaps `optional`, or complete the configured one."""
        self._check("input", input, _INPUT_PROPERTIES, "'name', 'data_type', 'dims' and 'optional'")
        self._add("input", input)

    def add_output(self, output: Properties) -> None:
        """Add an output with `name`, `data_type` and `dims`, or complete the configured one."""
        self._check("output", output, _OUTPUT_PROPERTIES, "'name', 'data_type' and 'dims'")
        self._add("output", output)

    def set_model_transaction_policy(self, transaction_policy_dict: Properties) -> None:
        """Say with `decoupled` whether the model answers a request any number of times."""
        if set(transaction_policy_dict) - {"decoupled"}:
            raise ValueError(
                f"model transaction property in auto-complete-config function for model '{self._name}' "
                "contains property other than 'decoupled'."
            )
        policy = self._model_config.setdefault("model_transaction_policy", {})
        if "decoupled" not in transaction_policy_dict:
            return
        if policy.get("decoupled", transaction_policy_dict["decoupled"]) != transaction_policy_dict["decoupled"]:
            raise ValueError(
                f"trying to change decoupled property in auto-complete-config for model '{self._name}', "
                f"which is already set to '{policy['decoupled']}'."
            )
        policy["decoupled"] = transaction_policy_dict["decoupled"]

    @property
    def _name(self) -> str:
        return str(self._model_config["name"])

    def _check(self, kind: str, tensor: Properties, allowed: tuple[str, ...], listed: str) -> None:
        place = f"in auto-complete-config function for model '{self._name}'"
        if set(tensor) - set(allowed):
            raise ValueError(f"{kind} '{tensor['name']}' {place} contains property other than {listed}.")
        missing = next((name for name in _NEEDED if name not in tensor), None)
        if missing is not None:
            subject = kind if missing == "name" else f"{kind} '{tensor['name']}'"
            raise ValueError(f"{subject} {place} is missing '{missing}' property.")

    def _add(self, kind: str, tensor: Properties) -> None:
        tensors = self._model_config[kind]
        configured = next((each for each in tensors if each["name"] == tensor["name"]), None)
        if configured is None:
            tensors.append(tensor)
            return
        self._check_agreement(kind, configured, tensor)
        configured.update({name: tensor[name] for name in ("data_type", "dims", "optional") if name in tensor})

    def _check_agreement(self, kind: str, configured: Properties, tensor: Properties) -> None:
        if configured["data_type"] not in {"TYPE_INVALID", tensor["data_type"]}:
            raise ValueError(
                f"unable to load model '{self._name}', configuration expects datatype {configured['data_type']} "
                f"for {kind} '{tensor['name']}', model provides {tensor['data_type']}"
            )
        for name in ("dims", "optional"):
            told, given = configured.get(name), tensor.get(name)
            contradicts = (
                bool(told) and told != given if name == "dims" else None not in {told, given} and told != given
            )
            if contradicts:
                raise ValueError(
                    f"model '{self._name}', tensor '{tensor['name']}': the model expects {name} {given} "
                    f"but the model configuration specifies {name} {told}"
                )
