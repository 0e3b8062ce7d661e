"""``rosetta score``: Score outputs that were made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from harness.core.failures import UsageError
from harness.store.file.database import opened
from harness.store.runs import find_run
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.publish import SUBMIT, submitter
from rosetta_tui.request import options as of_run
from rosetta_tui.request.options import (
    granted_terms,
    make_request,
    read_scoring_options,
    scoring_options,
)
from rosetta_tui.request.reading import load_corpus, reading_options, selecting
from rosetta_tui.request.vault import OF_VAULT, by_grant, out_of_vault, vault_request
from rosetta_tui.show.text import plain

with when_used():
    from harness.card import exporting
    from harness.inputs import outputs as made_elsewhere
    from harness.run import rescoring, vault_opening
    from harness.setup import plan
    from harness.setup import scoring_options as setup_scoring_options
    from rosetta_tui.app import display


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.argument("outputs", required=False, type=click.Path(path_type=Path))
@click.option("--rescore", metavar="RUN", help="Score a finished run again; needs no files.")
@click.option("--reference", type=click.Path(path_type=Path), help="Second file of aligned texts.")
@reading_options
@by_grant
@out_of_vault
@selecting
@scoring_options
@of_run.BUDGET
@of_run.CONCURRENCY
@of_run.TIMEOUT
@of_run.PRICES
@of_run.TRUST_LOCAL_SERVER
@of_run.MAY_SEND
@click.option("--model", help="Name of the system that made the outputs.")
@of_run.CONDITION
@of_run.METHOD_NAME
@of_run.METHOD_CLASS
@SUBMIT
@click.option("--json", "as_json", is_flag=True, help="Print the run card.")
def score(
    reference: Path | None, as_json: bool, rescore: str | None, *, submit: bool, **given: Any
) -> None:
    """Score OUTPUTS against the corpus FILE; the result is kept as a run.

    OUTPUTS is a text file with one output on each line, in the order of the corpus, or JSONL, TSV or CSV with the
    entry's id. If it is left out, the outputs that the records bring with them are scored (predicted …). With
    --rescore RUN the outputs of a finished run are scored again, with its own metrics and those of --metrics; no
    method is called, and the result is a new run that names the old one. A run from a vault needs --vault and
    --purpose again.
    """
    if rescore is not None:
        _rescore(rescore, given, as_json=as_json)
        return
    if given["file"] is None:
        raise click.UsageError("FILE and OUTPUTS are wanted, or --rescore RUN.")
    given["method"] = "replay"
    corpus = load_corpus(given, reference, work="score", terms=granted_terms(given))
    if given["outputs"] is None and made_elsewhere.own_outputs(corpus.entries) is None:
        raise click.UsageError(
            "FILE and OUTPUTS are wanted, or --rescore RUN. OUTPUTS may be left out where records bring theirs "
            "with them (predicted, predicted_calls, predicted_state)."
        )
    request = make_request(corpus, given)
    at_end = submitter(request) if submit else None
    display.start_and_show(request, "card" if as_json else "summary", at_end)


_OF_CALLS = ("budget", "concurrency", "timeout", "prices", "trust_local_server", "may_send")
"""Options about judges and other endpoints that are asked about outputs."""


def _rescore(name: str, given: dict[str, Any], *, as_json: bool) -> None:

    if given["file"] is not None:
        raise UsageError("--rescore takes no files: the outputs are those of the run.")
    _refuse_stray()
    options = read_scoring_options(given)
    with opened() as connection:
        run = find_run(connection, name)
        if as_json:
            exporting.refuse_to_leave(connection, [run])
        vault_opening.open_again(connection, run, vault_request(given), "rescore", dict(options))
        calls = plan.run_options_of(run).model_copy(update=_calls(given))
        prices = None if given["prices"] is None else given["prices"].absolute()
        run_id = rescoring.rescore(
            connection, run, options, _say, _note, calls=calls, prices=prices
        )
        display.print_card(connection, run_id, as_json=as_json)
        display.say_lacking(connection, run_id)


def _calls(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of judges that are given now; the run's own budget was for its outputs."""
    options = {"concurrency": given["concurrency"], "timeout_seconds": given["timeout"]}
    return {
        "budget_usd": given["budget"],
        **{name: value for name, value in options.items() if value is not None},
        **({"trust_local_server": True} if given["trust_local_server"] else {}),
        **({"may_send": given["may_send"]} if given["may_send"] else {}),
    }


def _refuse_stray() -> None:
    """Refuse what says how files are read, entries chosen or outputs named: the run has all of that."""
    context = click.get_current_context()
    allowed = {*setup_scoring_options.ScoringOptions.model_fields, "rescore", "as_json", *_OF_CALLS}
    allowed |= {"vault", "grant", "ask", *OF_VAULT}
    for param in context.command.params:
        name = param.name or ""
        if (
            name not in allowed
            and context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        ):
            raise UsageError(
                f"{param.opts[0]} does not go with --rescore: languages, entries and outputs are those of "
                "the run. Leave it out."
            )


def _say(words: str) -> None:
    click.echo(f"{words} …", err=True)


def _note(words: str) -> None:
    for line in words.splitlines():
        click.echo(plain(line), err=True)
