"""Makes a model observable by replacing methods on its class. Class, objects and results stay the user's.

Only hooks that the user defined are replaced: Triton asks for them by `hasattr`, and a hook that it finds
changes what it does.
"""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from types import CoroutineType, FunctionType
from typing import Any, TypeVar

from tritonscope.ring.layout import State
from tritonscope.runtime.backend import patch_backend
from tritonscope.runtime.batch import OpenBatch, Position
from tritonscope.runtime.guard import guarded, log, report
from tritonscope.runtime.identity import identify
from tritonscope.runtime.lifecycle import asked, begin_hook, lived
from tritonscope.runtime.logs import correlate_logs
from tritonscope.runtime.positions import enter, leave
from tritonscope.runtime.recorder import Recorder, open_recorder
from tritonscope.runtime.traits import read_traits
from tritonscope.settings import TRITONSCOPE, read_settings

Model = TypeVar("Model")
Method = Callable[..., Any]

# Class -> the attributes that it had of its own before; a missing one was inherited.
_originals: weakref.WeakKeyDictionary[type, dict[str, Any]] = weakref.WeakKeyDictionary()
# Objects of the user's may be unhashable and must not get attributes of ours: they are known by id, for as long
# as they live.
_recorders: dict[int, Recorder | None] = {}
_lives: dict[int, Any] = {}


def instrument(model: Model) -> Model:
    """Observe every call of `execute` of `model`, a class (or a factory of objects) that Triton will use.

    Use it as a decorator of `TritonPythonModel`. Returns the same class. A second call warns and does nothing;
    TRITONSCOPE=0 in the environment switches it off.
    """
    if os.environ.get(TRITONSCOPE) == "0":
        return model
    if not isinstance(model, type):
        return _observed_factory(model) if callable(model) else model
    if model in _originals:
        log.warning("%s is already instrumented: nothing done", model.__qualname__)
    else:
        _patch(model)
    return model


def uninstrument(model: type) -> None:
    """Give `model` back the methods that it had before `instrument`."""
    for name, original in _originals.pop(model, {}).items():
        if original is None:
            delattr(model, name)
        else:
            setattr(model, name, original)


def is_instrumented(model: type) -> bool:
    """Whether `model` itself, not a base of it, is instrumented."""
    return model in _originals


def _patch(model: type) -> None:
    _observe_backend()
    makers = {
        "initialize": _observed_initialize, "execute": _observed_execute, "finalize": _observed_finalize,
        "is_ready": _observed_is_ready,
    }  # fmt: skip
    originals: dict[str, Any] = {}
    for name, make in makers.items():
        current = _defined(model, name)
        if current is not None:
            originals[name] = vars(model).get(name)
            setattr(model, name, make(current))
    _originals[model] = originals


@guarded
def _observe_backend() -> None:
    """Observe Triton's classes too, in a process that has them."""
    try:
        patch_backend(import_module("c_python_backend_utils"))
    except ModuleNotFoundError:
        log.debug("not in a stub: no classes of Triton's to observe")


def _observed_factory(factory: Any) -> Any:
    @functools.wraps(factory)
    def make(*args: Any, **kwargs: Any) -> Any:
        model = factory(*args, **kwargs)
        if type(model) not in _originals:
            _patch(type(model))
        return model

    return make


def _observed_initialize(original: Any) -> Method:
    @_like(original)
    def initialize(self: Any, *args: Any, **kwargs: Any) -> Any:
        hook = begin_hook(_open(self, args[0] if args else None), "initialize", State.IDLE)
        result = lived(hook, functools.partial(_bind(original, self), *args, **kwargs))
        _observe_own_execute(self)
        return result

    return initialize


def _observed_execute(original: Any) -> Method:
    # A plain function takes the object as its first argument: binding it for each batch would cost.
    plain = isinstance(original, FunctionType)

    @_like(original)
    def execute(self: Any, *args: Any, **kwargs: Any) -> Any:
        recorder = _recorders[id(self)] if id(self) in _recorders else _open(self, None)
        if recorder is None:
            return _bind(original, self)(*args, **kwargs)
        if plain:
            return _recorded(recorder, original, args[0] if args else (), (self, *args), kwargs)
        return _recorded(recorder, _bind(original, self), args[0] if args else (), args, kwargs)

    return execute


def _observed_finalize(original: Any) -> Method:
    @_like(original)
    def finalize(self: Any, *args: Any, **kwargs: Any) -> Any:
        hook = begin_hook(_recorders.get(id(self)), "finalize", State.FINALIZED)
        return lived(hook, functools.partial(_bind(original, self), *args, **kwargs))

    return finalize


def _observed_is_ready(original: Any) -> Method:
    @_like(original)
    def is_ready(self: Any, *args: Any, **kwargs: Any) -> Any:
        hook = begin_hook(_recorders.get(id(self)), "is_ready")
        return asked(hook, functools.partial(_bind(original, self), *args, **kwargs))

    return is_ready


@guarded
def _observe_own_execute(model: Any) -> None:
    """An `execute` that `initialize` set on the object hides the one of the class: observe that one."""
    own = getattr(model, "__dict__", {}).get("execute")
    recorder = _recorders.get(id(model))
    if own is None or recorder is None:
        return

    @_like(own)
    def execute(*args: Any, **kwargs: Any) -> Any:
        return _recorded(recorder, own, args[0] if args else (), args, kwargs)

    model.execute = execute


def _recorded(
    recorder: Recorder, execute: Method, requests: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call the user's `execute`; its result and its exceptions pass through as they are."""
    batch = recorder.begin(requests)
    entered = enter(None if batch is None else Position(batch))
    try:
        result = execute(*args, **kwargs)
    except BaseException as error:
        recorder.finish(batch, None, error)
        raise
    finally:
        leave(entered)
    # Triton decides by the value that came back, and only a real coroutine will do.
    if isinstance(result, CoroutineType):
        return _followed(recorder, batch, result)
    recorder.finish(batch, result, None)
    return result


async def _followed(recorder: Recorder, batch: OpenBatch | None, coroutine: Coroutine[Any, Any, Any]) -> Any:
    # A task has a context of its own: nothing to leave.
    enter(None if batch is None else Position(batch))
    try:
        result = await coroutine
    except BaseException as error:
        recorder.finish(batch, None, error)
        raise
    recorder.finish(batch, result, None)
    return result


def _open(model: Any, args: Any) -> Recorder | None:
    """Open the recorder of a model object that was just seen for the first time; None when that fails."""
    recorder: Recorder | None = None
    try:
        settings = read_settings()
        recorder = open_recorder(identify(args, _file_of(model)), read_traits(args), settings)
        if settings.log_correlation:
            correlate_logs()
    except Exception as error:  # noqa: BLE001 - nothing of ours may reach the model
        report("ring", error)
    _recorders[id(model)] = recorder
    _lives[id(model)] = _life_of(model)
    return recorder


def _life_of(model: Any) -> Any:
    """Return what ends the recorder together with its model; for one without weak references, the model itself."""
    try:
        return weakref.ref(model, functools.partial(_ended, id(model)))
    except TypeError:
        return model


def _ended(key: int, _reference: Any) -> None:
    _lives.pop(key, None)
    _recorders.pop(key, None)


def _defined(model: type, name: str) -> Any:
    """Return what `name` is on the class or a base of it, unbound; None where nobody defines it."""
    return next((vars(base)[name] for base in model.__mro__ if name in vars(base)), None)


def _file_of(model: Any) -> str | None:
    """Return the file that the model's code is from; its module's name, as in "1.model", may be another's too."""
    code = _defined(type(model), "execute")
    names = getattr(getattr(code, "__wrapped__", code), "__globals__", {})
    file: str | None = names.get("__file__")
    return file


def _bind(original: Any, model: Any) -> Method:
    """Return the user's method bound as attribute access would bind it (function, static or class method)."""
    bind = getattr(type(original), "__get__", None)
    bound: Method = original if bind is None else bind(original, model, type(model))
    return bound


def _like(original: Any) -> Callable[[Method], Method]:
    function = getattr(original, "__func__", original)
    return functools.wraps(function)
