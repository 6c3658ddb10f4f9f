"""execute comes from a base class in another file, and calls super()."""

from base import Base


class TritonPythonModel(Base):
    def initialize(self, args):
        super().initialize(args)
        self.step += 1
