"""From the options of ``rosetta run`` to what the door is asked for (``harness.api``)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.core.failures import UsageError
from rosetta_tui.request.reading import selection

if TYPE_CHECKING:
    from corpora.model.corpus import Corpus
    from harness.api import RunRequest
    from harness.setup.plan import Plan


def make_request(corpus: Corpus, given: Mapping[str, Any]) -> RunRequest:
    """Hand the options of a command line to the door; raises UsageError, CorpusError."""
    from harness.api import ask

    note, tags = given.get("note") or "", given.get("tags") or ()
    return ask(corpus, given["method"], told(given), selection(given), note=note, tags=tags)


def make_plan(corpus: Corpus, given: Mapping[str, Any]) -> Plan:
    """Return the plan alone, whatever entries take part."""
    from harness.api import plan_of

    return plan_of(corpus, given["method"], told(given))


def told(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a command line tells of a run, by the names that the door takes."""
    from harness.api import LIMITS
    from harness.method.options import MethodOptions
    from harness.setup.scoring_options import ScoringOptions

    known = {*MethodOptions.model_fields, *ScoringOptions.model_fields, *LIMITS, "concurrency"}
    known -= {"source_language", "target_language"}  # as the corpus has them
    found = {
        name: value
        for name, value in given.items()
        if name in known and value is not None and value != ()
    }
    if found.get("temperature") == "none":
        found["temperature"] = None
    switches = ("offline", "trust_local_server", "keep_failed")
    return {
        **found,
        **{name: pairs(name, given.get(name, ())) for name in ("body", "settings")},
        **{name: bool(given.get(name)) for name in switches},
        "use_cache": not given.get("no_cache"),
    }


def pairs(name: str, given: Sequence[str]) -> dict[str, Any]:
    """Read NAME=JSON as it was given once or several times; what is no JSON is text."""
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
