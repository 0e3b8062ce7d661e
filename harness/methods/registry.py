"""Finds a method by its name and makes it from what the user said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath

from corpora.model.entry import Entry
from corpora.tasks.task import TRANSLATION, task
from corpora.text.near_names import near_names, one_of
from harness.core.failures import UsageError
from harness.endpoint.keys import KeySource, find_key
from harness.method.method import Method
from harness.method.options import MethodOptions
from harness.method.shipped import BUNDLE_SUFFIX, SHIPPED, SUBMITTED, installed
from harness.methods import plugin
from harness.methods.api import SERVICES, api
from harness.methods.asking import refuse_translator
from harness.methods.baselines import Constant, CopySource
from harness.methods.chat import chat
from harness.methods.glossary import Glossary
from harness.methods.local_model import LocalModel
from harness.methods.pipeline import pipeline
from harness.methods.replay import human, replay

_WITHOUT_NETWORK: dict[str, Callable[[MethodOptions], Method]] = {
    "copy-source": CopySource,
    "constant": Constant,
    "glossary": Glossary,
    "ctranslate2": LocalModel,
}
_FROM_FILES: dict[str, Callable[[MethodOptions, Sequence[Entry]], Method]] = {
    "replay": replay,
    "human": human,
}
_MODELS: dict[str, Callable[[MethodOptions, KeySource], Method]] = {
    "chat": chat,
    "pipeline": pipeline,
}


def build(
    name: str,
    options: MethodOptions,
    entries: Sequence[Entry] = (),
    find_key: KeySource = find_key,
) -> Method:
    """Make the method of that name; UsageError says what is unknown, missing or does not apply.

    ``entries`` are all entries of the corpus in its order, before any filter (replay and human match
    their outputs with them). ``find_key`` is asked only by methods that call an endpoint; give
    ``no_key`` to describe a method without being able to run it.
    """
    if options.task != TRANSLATION and not _fits_task(name, options.task):
        refuse_translator(name, options.task)
    if name in _WITHOUT_NETWORK:
        return _WITHOUT_NETWORK[name](options)
    if name in _FROM_FILES:
        return _FROM_FILES[name](options, entries)
    if name in _MODELS:
        return _MODELS[name](options, find_key)
    if name == "api" or name.startswith("api:"):
        return api(_service(name, options), options, find_key)
    return _plugin(name, options)


def _fits_task(name: str, other: str) -> bool:
    """Return whether a method can be asked for a task other than translation; a plug-in may do anything."""
    if name == "chat":
        return task(other).asks_models
    ours = {*_WITHOUT_NETWORK, *_MODELS, "api"}
    return name.partition(":")[0] not in ours


def _service(name: str, options: MethodOptions) -> str:
    service = name.removeprefix("api").removeprefix(":") or options.service or ""
    if service not in SERVICES:
        raise UsageError(f"Name the service: --method api:{'|'.join(SERVICES)}.")
    if options.service not in {None, service}:
        raise UsageError(f"--service {options.service} does not fit --method {name}: leave it out.")
    return service


def _plugin(name: str, options: MethodOptions) -> Method:
    if name.endswith(".py") or PurePath(name.rpartition(":")[0]).suffix == ".py":
        return plugin.by_path(name, options)
    offered = installed()
    if name in offered:
        return plugin.by_entry_point(offered[name], options)
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
