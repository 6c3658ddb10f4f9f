"""The errors tritonscope raises, and the exit code each one ends the command with.

TritonscopeError                1  anything that stops a command
├── UsageError                  2  what the user gave cannot be used
│   ├── SettingError            2  an environment variable or option has a bad value
│   ├── RepositoryError         2  a model repository is missing or broken
│   │   └── ConfigError         2  a config.pbtxt does not parse (file, line, column)
│   ├── RunFileError            2  a run file is missing, foreign or damaged
│   ├── RingDirectoryError      2  the ring folder cannot be used
│   ├── MissingExtraError       2  a part of tritonscope is not installed
│   └── ServerUnreachableError  2  no Triton answers at the url
└── ServerError                 1  a tritonserver could not be run
    ├── UnsupportedHostError    1  this machine cannot run the packaged server
    └── ServerStartError        1  the server ended or never became ready

Messages say what happened, to which file and field, and the way out. Only the command line prints them.
"""


class TritonscopeError(Exception):
    """Anything that stops a command; `exit_code` is what the command returns."""

    exit_code = 1


class UsageError(TritonscopeError):
    """What the user gave cannot be used."""

    exit_code = 2


class SettingError(UsageError):
    """An environment variable or an option has a bad value."""


class RepositoryError(UsageError):
    """A model repository is missing or broken."""


class ConfigError(RepositoryError):
    """A config.pbtxt does not parse; the message names file, line and column."""


class RunFileError(UsageError):
    """A run file is missing, written by another program, or damaged."""


class RingDirectoryError(UsageError):
    """The folder for the rings cannot be created or written."""


class MissingExtraError(UsageError):
    """A part of tritonscope is not installed; the message names the extra."""


class ServerUnreachableError(UsageError):
    """No Triton answers at the url."""


class ServerError(TritonscopeError):
    """A tritonserver could not be run."""


class UnsupportedHostError(ServerError):
    """This machine cannot run the packaged server; the message names the fix."""


class ServerStartError(ServerError):
    """The server ended or never became ready; the message carries the end of its log."""
