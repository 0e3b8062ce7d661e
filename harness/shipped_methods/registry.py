"""Finds a method by its name and makes it from what the user said."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.abc
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path, PurePath
from types import CodeType, ModuleType
from typing import Any

from corpora.files.decode import open_regular
from corpora.model.entry import AnyEntry, Entry
from corpora.model.task import TASKS, TRANSLATION
from corpora.text.messages import near_names, one_of
from harness.core.calls import Calls
from harness.core.failures import ErrorClass, UsageError
from harness.endpoint.endpoints import KeySource, find_key
from harness.method.method import Method, MethodClass, Output, Setup
from harness.method.method_names import BUNDLE_SUFFIX, SHIPPED, SUBMITTED, installed
from harness.method.option_table import METHODS
from harness.method.options import MethodOptions, check_options, keys_in
from harness.shipped_methods.api import SERVICES, api
from harness.shipped_methods.baselines import Constant, CopySource, Glossary, human, replay
from harness.shipped_methods.chat import chat, refuse_translator
from harness.shipped_methods.local_model import LocalModel
from harness.shipped_methods.pipeline import pipeline

# ---- A plain function as a method: three lines in a file are enough ----

NAME = "translate"  # The function that a file without a named class or function is searched for

BATCH = frozenset({"texts", "sentences", "sources", "batch"})
"""Names of the parameter by which a function takes a list of texts and returns as many, as one that is annotated as a list does."""


class FunctionMethod:
    """Calls ``translate(text)``, or ``translate(texts)`` for a batch; an ``async`` function runs concurrently.

    Any other function runs in a thread, one call at a time, because most are not made for several.
    """

    endpoint = None

    def __init__(self, function: Callable[[Any], Any], options: MethodOptions) -> None:
        self._function = function
        parameters: Mapping[str, inspect.Parameter] = {}
        with suppress(ValueError):  # a function of C may tell none
            parameters = inspect.signature(function).parameters
        annotations = (str(parameter.annotation) for parameter in parameters.values())
        self._batch = not BATCH.isdisjoint(parameters) or any(map(_LIST.search, annotations))
        call = type(function).__call__
        self._concurrent = any(map(inspect.iscoroutinefunction, (function, call)))
        self._one_at_a_time = asyncio.Lock()
        own_name = getattr(function, "__name__", NAME)
        name = own_name if own_name != NAME else "function"
        self.setup = Setup(
            method=name,
            method_class=MethodClass.CUSTOM_PLUGIN,
            method_version="1",
            model_slug=name,
            condition=options.condition or "baseline",
            batch_size=options.batch_size if self._batch else 1,
        )

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        """Return one output for each entry; ValueError where a batch has another number of texts."""
        sources = [entry.source for entry in entries]
        if not self._batch:
            return [_output(await self._call(source)) for source in sources]
        texts = await self._call(sources)
        if not isinstance(texts, list | tuple) or len(texts) != len(sources):
            raise ValueError(f"the function must return a list of {len(sources)} texts")
        return [_output(text) for text in texts]

    async def _call(self, argument: str | list[str]) -> object:
        if self._concurrent:
            return await self._function(argument)
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._function, argument)


_LIST = re.compile(r"\b(?:list|List|Sequence|Iterable)\[")


def _output(text: object) -> Output:
    if isinstance(text, str):
        return Output(text)
    kind = "nothing" if text is None else f"a value of type {type(text).__name__}"
    return Output(None, ErrorClass.METHOD, f"The function returned {kind}, not a text.")


# ---- Methods of others: a class found by entry point, or a class or function in a Python file.


class Plugin:
    """A method of others, with what identifies it added to its setup.

    Two plug-ins must never share a setup: the hash of the code and the settings are written here,
    not left to the plug-in.
    """

    def __init__(self, method: Method, sha256: str, options: MethodOptions) -> None:
        self._method = method
        more: dict[str, Any] = {"settings": options.settings} if options.settings else {}
        if options.strip:
            more["strip"] = sorted(set(options.strip))
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


def _require_task(name: str, asked: str) -> None:
    """Raise UsageError where a method cannot do a task: chat asks some; replay, human and plug-ins do any."""
    if asked != TRANSLATION:
        translates = name.partition(":")[0] in {*_MAKERS, "api"} - {"chat", *_OF_OUTPUTS}
        if translates or (name == "chat" and not TASKS[asked].asks_models):
            refuse_translator(name, asked)


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
        members = (
            name
            for name, value in vars(module).items()
            if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__ == module.__name__
        )
        names = ", ".join(members) or "none"
        raise UsageError(f"Plug-in {where}: it has no class or function {member!r}. It has: {names}.")
    if not inspect.isclass(maker):
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
        raise UsageError(f"Plug-in {name!r} is not a method: its 'setup' is no harness.method.method.Setup.")
    if written := next(keys_in(setup.options), None):
        raise UsageError(
            f"Plug-in {name!r}: its setup holds {written!r}, which looks like a key, and is written on the "
            "run card. Leave it out of the setup."
        )
    if not inspect.iscoroutinefunction(method.translate):
        raise UsageError(f"Plug-in {name!r} is not a method: its 'translate' is not 'async def'.")
    made: Method = method
    return made


def _words(error: BaseException) -> str:
    """Return what went wrong in one line; a syntax error names its own line."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


_MAKERS: dict[str, Callable[[MethodOptions, Sequence[AnyEntry], KeySource], Method]] = {
    "copy-source": lambda options, _, __: CopySource(options),
    "constant": lambda options, _, __: Constant(options),
    "glossary": lambda options, _, __: Glossary(options),
    "ctranslate2": lambda options, _, __: LocalModel(options),
    "replay": lambda options, entries, _: replay(options, entries),
    "human": lambda options, entries, _: human(options, entries),
    "chat": lambda options, _, find_key: chat(options, find_key),
    "pipeline": lambda options, _, find_key: pipeline(options, find_key),
}


_OF_OUTPUTS = frozenset({"replay", "human"})
"""What these need depends on the records, which may bring outputs with them: they check their options themselves."""


def build(name: str, options: MethodOptions, corpus: Sequence[AnyEntry] = (), find_key: KeySource = find_key) -> Method:
    """Make the method of that name; UsageError says what is unknown, missing or does not apply.

    ``corpus``: all its entries in its order, before any filter (replay and human match
    their outputs with them). ``find_key`` is asked only by methods that call an endpoint; give
    ``no_key`` to describe a method without being able to run it.
    """
    _require_task(name, options.task)
    if name in _MAKERS:
        if name not in _OF_OUTPUTS:
            check_options(name, options, *METHODS[name])
        return _MAKERS[name](options, corpus, find_key)
    if name == "api" or name.startswith("api:"):
        service = name.removeprefix("api").removeprefix(":") or options.service or ""
        if service not in SERVICES:
            raise UsageError(f"Name the service: --method api:{'|'.join(SERVICES)}.")
        if options.service not in {None, service}:
            raise UsageError(f"--service {options.service} does not fit --method {name}: leave it out.")
        check_options(f"api:{service}", options, *METHODS[f"api:{service}"])
        return api(service, options, find_key)
    if name.endswith(".py") or PurePath(name.rpartition(":")[0]).suffix == ".py":
        return by_path(name, options)
    offered = installed()
    if name in offered:
        return by_entry_point(offered[name], options)
    if name == SUBMITTED or name.endswith(BUNDLE_SUFFIX):
        raise UsageError(
            "A submission is run with `rosetta submission run FILE`, from its beginning: a run of one is not gone on with."
        )
    known = [*SHIPPED, *offered]
    near = near_names(name, known)
    guess = f" Did you mean {one_of(map(repr, near))}?" if near else ""
    raise UsageError(
        f"Method {name!r} is not known.{guess} Known: {', '.join(known)}; "
        "your own is path/to/file.py, which has `def translate(text)`, or file.py:ClassName."
    )
