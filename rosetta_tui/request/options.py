"""What a run is asked with: from the options of ``rosetta run`` to the request that the API takes (``harness.api``)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from harness.core.failures import UsageError
from harness.method.option_table import METHOD, METHODS, OPTIONS, RUN, SCORING, OptionKind, plan_fields
from rosetta_tui.request.click_options import adding
from rosetta_tui.request.reading import selection

if TYPE_CHECKING:
    from pathlib import Path

    from corpora.files.json_types import Json
    from corpora.model.corpus import Corpus, Selection
    from harness.api import RunRequest
    from harness.setup.plan import Plan
    from harness.setup.scoring_options import ScoringOptions
    from harness.vault.vault_records import RunTerms

    OptionValue = Json | Path | Sequence[Path]

CONFIRM = click.option(
    "--confirm",
    is_flag=True,
    help="Only secret entries over which no scores were released, 50 at least: claims rest on such a run.",
)


def read_scoring_options(given: Mapping[str, Any]) -> ScoringOptions:
    """Read these options; paths become independent of the folder in which resume will be called."""
    from harness.api import scoring_of

    return scoring_of({name: value for name, value in given.items() if value is not None})


def make_request(corpus: Corpus, given: Mapping[str, Any], chosen: Selection | None = None) -> RunRequest:
    """Pass the options of a command line to the API; raises UsageError, CorpusError.

    ``chosen``: the entries, in place of those that the options choose.
    """
    from harness.api import ask

    note, tags = given.get("note") or "", given.get("tags") or ()
    chosen = chosen or selection(given)
    return ask(corpus, given["method"], typed_options(given), chosen, note=note, tags=tags)


def nameless(request: RunRequest) -> dict[str, str]:
    """Return option → tag of each language that the run's prompt would call by its tag."""
    takes = METHODS.get(request.plan.method)
    named = takes is not None and "target_name" in takes.takes
    return request.plan.options.nameless if named else {}


def granted_terms(given: Mapping[str, Any]) -> RunTerms | None:
    """Return what the options ask for as a grant names it; None where no vault is opened for it. Raises UsageError."""
    if not given.get("vault"):
        return None
    from harness.run.vault_opening import run_terms

    options = typed_options(given)
    return run_terms(given["method"], options, read_scoring_options(options), selection(given))


def make_plan(corpus: Corpus, given: Mapping[str, Any]) -> Plan:
    """Return the plan alone, whatever entries take part."""
    from harness.api import plan_of

    return plan_of(corpus, given["method"], typed_options(given))


def typed_options(given: Mapping[str, Any]) -> dict[str, OptionValue]:
    """Return a command line's options of a run, by the names of the API."""
    options: dict[str, OptionValue] = {
        name: pairs(name, value) if OPTIONS[name].kind is OptionKind.PAIRS else value
        for name, value in given.items()
        if name in _TOLD and value is not None and value is not False and value != ()
    }
    if options.get("temperature") == "none":
        options["temperature"] = None
    return options


def run_changes(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a run is to go about its calls from now on, as far as it is given, by field of ``RunOptions``."""
    return plan_fields({name: value for name, value in typed_options(given).items() if name in RUN.names})


_TOLD = frozenset((*METHOD.names, *RUN.names, *SCORING.names)) - {"method", "tags", "note", "repeats"}
"""Options of which the API is told by their names."""


def pairs(name: str, given: Sequence[str]) -> dict[str, Json]:
    """Read NAME=JSON as it was given once or several times; what is no JSON is text."""
    pairs_found: dict[str, Json] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        try:
            pairs_found[key] = json.loads(value)
        except (ValueError, RecursionError):
            pairs_found[key] = value
        if not equals or not key:
            option = OPTIONS[name].opt
            raise UsageError(f"{option} takes NAME=JSON, such as {option} top_p=0.9.")
    return pairs_found


@click.command("run")
@adding(*OPTIONS)
def asked(**given: Any) -> None:
    """Every option that makes a run what it is, for the command and for the parser of its form."""
