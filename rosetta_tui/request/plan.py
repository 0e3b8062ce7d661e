"""From the options of ``rosetta run`` to the plan that a run keeps."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosetta_tui.request.scoring import read_scoring_options

if TYPE_CHECKING:
    from corpora.model.corpus import Corpus
    from harness.setup.plan import Plan


def make_plan(corpus: Corpus, given: dict[str, Any]) -> Plan:
    """Put the options of the command line into the plan that the run keeps."""
    from pydantic import ValidationError

    from harness.core.failures import UsageError
    from harness.core.problems import first_problem
    from harness.method.options import MethodOptions, refuse_told_keys, refuse_written_keys
    from harness.settings import read_settings
    from harness.setup.plan import Plan, RunOptions
    from harness.store.file.database import home

    of_corpus = {
        "source_language": corpus.dataset.source_language,
        "target_language": corpus.dataset.target_language,
        "file_lines": corpus.dataset.file_lines,
    }
    told = _method_options(given, MethodOptions.model_fields) | of_corpus
    if given["method"] != "pipeline":
        told.pop("analyser", None)  # a metric's, not the method's
    told = read_settings(home()).completed(given["method"], told)
    refuse_told_keys(told)
    try:
        plan = Plan(
            method=given["method"],
            options=MethodOptions.model_validate(told),
            run=RunOptions.model_validate(_run_options(given)),
            scoring=read_scoring_options(given),
        )
    except ValidationError as error:
        raise UsageError(f"Options: {first_problem(error)}") from error
    refuse_written_keys(plan.options)
    return plan


def _method_options(given: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    told = {
        name: _absolute(value)
        for name, value in given.items()
        if name in known and value not in (None, ())
    }
    if told.get("temperature") == "none":
        told["temperature"] = None
    return told | {name: pairs(name, given.get(name, ())) for name in ("body", "settings")}


def _run_options(given: dict[str, Any]) -> dict[str, Any]:
    limits = {
        "concurrency": given.get("concurrency"),
        "budget_usd": given.get("budget"),
        "timeout_seconds": given.get("timeout"),
        "most_attempts": given.get("attempts"),
    }
    chosen = {name: value for name, value in limits.items() if value is not None}
    switches = {
        "use_cache": not given.get("no_cache"),
        "offline": bool(given.get("offline")),
        "trust_local_server": bool(given.get("trust_local_server")),
        "keep_failed": bool(given.get("keep_failed")),
    }
    return chosen | switches


def _absolute(value: Any) -> Any:
    """Make paths independent of the folder in which resume will be called."""
    return value.expanduser().absolute() if isinstance(value, Path) else value


def pairs(name: str, given: Sequence[str]) -> dict[str, Any]:
    """Read NAME=JSON as it was given once or several times; what is no JSON is text."""
    from harness.core.failures import UsageError

    found: dict[str, Any] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        try:
            found[key] = json.loads(value)
        except (ValueError, RecursionError):
            found[key] = value
        if not equals or not key:
            option = "--set" if name == "settings" else f"--{name}"
            raise UsageError(f"{option} takes NAME=JSON, such as {option} top_p=0.9.")
    return found
