"""One model on an in-process server, as the `triton_model` fixture gives it to a test."""

from __future__ import annotations

from typing import Any, NamedTuple

from tritonscope.testing.result import Pending, Result
from tritonscope.testing.runtime import Arrays, InProcessServer


class ModelUnderTest(NamedTuple):
    """A loaded model; `server` is the server that it runs on."""

    server: InProcessServer
    name: str

    @property
    def instance(self) -> Any:
        """The object that the model's `TritonPythonModel` made; the first one, if there are several instances."""
        return self.server.instances(self.name)[0]

    def infer(self, inputs: Arrays, **options: Any) -> Result:
        """Send a request and wait for its responses; see `InProcessServer.infer`."""
        return self.server.infer(self.name, inputs, **options)

    def start(self, inputs: Arrays, **options: Any) -> Pending:
        """Send a request and return at once; see `InProcessServer.start`."""
        return self.server.start(self.name, inputs, **options)
