"""Methods of others: a class found by entry point, or a class or function in a Python file."""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from corpora.files.decode import open_regular
from corpora.model.entry import Entry
from harness.core.calls import Calls
from harness.core.failures import UsageError
from harness.method.method import Method, Output, Setup
from harness.method.options import MethodOptions, keys_in
from harness.methods.function import NAME, FunctionMethod


class Plugin:
    """A method of others, with what identifies it added to its setup.

    Two plug-ins must never share a setup: the hash of the code and the settings are written here,
    not left to the plug-in.
    """

    def __init__(self, method: Method, sha256: str, options: MethodOptions) -> None:
        self._method = method
        more = {"settings": options.settings} if options.settings else {}
        self.setup: Setup = method.setup.model_copy(
            update={
                "method_name": options.method_name or method.setup.method_name,
                "method_sha256": sha256,
                "replicate": options.replicate,
                "options": method.setup.options | more,
            }
        )
        self.endpoint: str | None = method.endpoint

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Sequence[Output]:
        return await self._method.translate(entries, calls)


def by_path(name: str, options: MethodOptions) -> Plugin:
    """Load ``path/to/file.py:ClassName``, or a function; without a name, the file's ``translate``.

    The hash covers that one file, not what it imports.
    """
    where, _, member = (name, "", NAME) if name.endswith(".py") else name.rpartition(":")
    path = Path(where)
    try:
        with open_regular(path) as file:
            content = file.read()
    except OSError as error:
        raise UsageError(f"Plug-in {where}: the file cannot be read ({error.strerror}).") from error
    sha256 = hashlib.sha256(content).hexdigest()
    module = _module(path, content, sha256)
    maker = getattr(module, member, None)
    if not callable(maker):
        names = ", ".join(_members(module)) or "none"
        raise UsageError(
            f"Plug-in {where}: it has no class or function {member!r}. It has: {names}."
        )
    if inspect.isfunction(maker):
        maker = partial(FunctionMethod, maker)
    return Plugin(_made(name, maker, options), sha256, options)


def by_entry_point(point: EntryPoint, options: MethodOptions) -> Plugin:
    """Load a method of an installed package. The hash covers the module's file."""
    try:
        maker = point.load()
        source = inspect.getsourcefile(maker)
        with open_regular(Path(source or "")) as file:
            content = file.read()
    except Exception as error:  # a plug-in may fail in any way
        raise UsageError(f"Plug-in {point.name!r} cannot be loaded: {_words(error)}") from error
    return Plugin(_made(point.name, maker, options), hashlib.sha256(content).hexdigest(), options)


class _Loader(importlib.abc.InspectLoader):
    """Runs exactly the bytes that were hashed, never a stale compiled copy of the file."""

    def __init__(self, path: Path, content: bytes) -> None:
        self._path = path
        self._content = content

    def get_source(self, fullname: str) -> str:  # noqa: ARG002  the interface has it
        return importlib.util.decode_source(self._content)

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self.source_to_code(self._content, str(self._path))


def _module(path: Path, content: bytes, sha256: str) -> ModuleType:
    name = f"rosetta_plugin_{sha256[:16]}"
    spec = importlib.util.spec_from_loader(name, _Loader(path, content), origin=str(path))
    assert spec is not None  # noqa: S101  a loader was given
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses and pydantic look their module up there
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, Exception | SystemExit):
            raise UsageError(f"Plug-in {path}: it cannot be loaded: {_words(error)}") from error
        raise
    return module


def _made(name: str, maker: Callable[[MethodOptions], Any], options: MethodOptions) -> Method:
    """Make the method and see that it is one, before a run depends on it."""
    try:
        method = maker(options)
        lacking = [part for part in ("setup", "endpoint", "translate") if not hasattr(method, part)]
        setup = None if lacking else method.setup
    except UsageError:
        raise
    except Exception as error:  # a plug-in may fail in any way
        raise UsageError(f"Plug-in {name!r} cannot be made: {_words(error)}") from error
    if lacking:
        raise UsageError(f"Plug-in {name!r} is not a method: it has no {lacking[0]!r}.")
    if not isinstance(setup, Setup):
        raise UsageError(
            f"Plug-in {name!r} is not a method: its 'setup' is no harness.method.method.Setup."
        )
    if written := next(keys_in(setup.options), None):
        raise UsageError(
            f"Plug-in {name!r}: its setup holds {written!r}, which looks like a key, and is written on the "
            "run card. Leave it out of the setup."
        )
    if not inspect.iscoroutinefunction(method.translate):
        raise UsageError(f"Plug-in {name!r} is not a method: its 'translate' is not 'async def'.")
    made: Method = method
    return made


def _members(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    ]


def _words(error: BaseException) -> str:
    """Return what went wrong in one line; a syntax error names its own line."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
