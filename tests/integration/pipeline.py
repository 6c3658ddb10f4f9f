"""Calling the example pipeline: one picture in, what came out, with or without a `traceparent`."""

from __future__ import annotations

import numpy as np
import tritonclient.grpc as triton

from tritonscope.server.examples import PIPELINE
from tritonscope.server.pictures import Picture

CLIENT_TRACE = "0af7651916cd43dd8448eb211c80319c"
CLIENT_SPAN = "b7ad6b7169203331"
TRACEPARENT = f"00-{CLIENT_TRACE}-{CLIENT_SPAN}-01"


def classify(client: triton.InferenceServerClient, picture: Picture, traceparent: str | None = None, **options):
    """Return the labels and the scores, as the bytes that came back, of one picture."""
    image = triton.InferInput("IMAGE", [1, 1], "BYTES")
    image.set_data_from_numpy(np.array([[picture.jpeg]], dtype=object))
    headers = {"traceparent": traceparent} if traceparent else None
    result = client.infer(PIPELINE, [image], headers=headers, **options)
    return tuple(result.as_numpy("LABEL").reshape(-1)), result.as_numpy("SCORE").tobytes()


def connect(url: str) -> triton.InferenceServerClient:
    """Return a client of the server at `url`."""
    return triton.InferenceServerClient(url)
