"""pytest fixtures for tests of Python models: `triton_model` and `triton_server`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tritonscope.testing.model_under_test import ModelUnderTest
    from tritonscope.testing.runtime import InProcessServer


@pytest.fixture
def triton_server() -> Iterator[Callable[..., InProcessServer]]:
    """Serve a model repository in this process until the test ends.

    `server = triton_server("model_repository")`; takes the arguments of `InProcessServer`. One runs at a time.
    """
    from tritonscope.testing.runtime import InProcessServer  # noqa: PLC0415 - every pytest run imports this plugin

    with ExitStack() as running:

        def serve(repository: Path | str, **options: Any) -> InProcessServer:
            return running.enter_context(InProcessServer(repository, **options))

        yield serve


@pytest.fixture
def triton_model(triton_server: Callable[..., InProcessServer]) -> Callable[..., ModelUnderTest]:
    """Load one model in this process until the test ends.

    `model = triton_model("model_repository/decode")`; options are those of `InProcessServer`.
    """

    def load(folder: Path | str, **options: Any) -> ModelUnderTest:
        from tritonscope.testing.model_under_test import ModelUnderTest  # noqa: PLC0415 - as above

        path = Path(folder).absolute()
        return ModelUnderTest(triton_server(path.parent, models=[path.name], **options), path.name)

    return load
