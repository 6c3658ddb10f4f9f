"""Objects with the few methods that the runtime calls on requests and responses, and a view of the rings."""

from pathlib import Path

from tritonscope.records import BatchRecord
from tritonscope.ring.reader import RingReader


class Error:
    def __init__(self, text):
        self.text = text

    def message(self):
        return self.text


class Response:
    """Has the two methods of an InferenceResponse that say how it went."""

    def __init__(self, error=None):
        self._error = error

    def has_error(self):
        return self._error is not None

    def error(self):
        return Error(self._error)


class Request:
    """Has the methods of an InferenceRequest that are called before `execute`."""

    def __init__(self, request_id="", context=None, parameters="{}"):
        self._id, self._context, self._parameters = request_id, context, parameters

    def request_id(self):
        return self._id

    def trace(self):
        return self

    def get_context(self):
        return self._context

    def parameters(self):
        return self._parameters


ARGS = {
    "model_config": "{}", "model_instance_kind": "CPU", "model_instance_name": "decode_0_0",
    "model_instance_device_id": "0", "model_repository": "/models/decode", "model_version": "1",
    "model_name": "decode",
}  # fmt: skip


class Rings:
    def __init__(self, folder: Path):
        self.folder = folder

    def readers(self):
        return [RingReader(path) for path in sorted(self.folder.glob("*.ring"))]

    def events(self):
        readers = self.readers()
        events = [event for reader in readers for event in reader.read()]
        for reader in readers:
            reader.close()
        return events

    def batches(self):
        return [event for event in self.events() if isinstance(event, BatchRecord)]

    def scoreboard(self):
        (reader,) = self.readers()
        board = reader.scoreboard()
        reader.close()
        return board
