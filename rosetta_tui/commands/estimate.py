"""``rosetta estimate``: Say what a run would cost and how long it takes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from copy import copy
from typing import Any

import click
from click.core import ParameterSource

from harness.store.file.database import default_path
from rosetta_tui.commands.grouped_help import GroupedCommand
from rosetta_tui.commands.naming import when_used
from rosetta_tui.report.estimate import estimate_rows
from rosetta_tui.report.sweep import estimate_lines
from rosetta_tui.request.options import asked, make_request
from rosetta_tui.request.reading import load_corpus
from rosetta_tui.show.json_forms import form_text, print_form
from rosetta_tui.show.text import plain

with when_used():
    from harness import api
    from harness.sweep import estimating, expansion, plan


@click.command(cls=GroupedCommand)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def estimate(as_json: bool, **given: Any) -> None:
    """Show what a run over the corpus FILE would take: calls, tokens, money and time, each with its bounds.

    FILE may be the plan of a sweep (PLAN.toml): then each of its runs is estimated, and all of them together; no
    option goes with a plan.

    Earlier runs of the same method and model in the store are the best guide; where there are none, tokens are
    estimated from the very prompts that would be sent. Nothing is sent, and no key is needed.
    """
    if str(given["file"]).endswith(".toml"):
        _of_plan(given, as_json=as_json)
        return
    if given["method"] is None:
        raise click.UsageError("Missing option '--method' / '-m'.")
    asked_for = make_request(load_corpus(given, given["reference"], work="estimate"), given)
    run_estimate = api.estimate(default_path(), asked_for)
    _print(run_estimate, as_json=as_json)


def _of_plan(given: Mapping[str, Any], *, as_json: bool) -> None:
    """Estimate the runs of a sweep; its plan says all that options would."""
    context = click.get_current_context()
    for name in given:
        if name != "file" and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError("A plan says itself how its runs are made: leave options out.")
    plan_file = plan.read_plan(plan.plan_path(given["file"]))
    cells = expansion.expand(plan_file, expansion.open_plan_corpus(plan_file))
    estimate = estimating.estimate_sweep(default_path(), plan_file.plan, cells)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    lines = estimate_lines(estimate, width)
    print_form("sweep-estimate", estimate.model_dump(mode="json"), lines, as_json=as_json)


def _print(found: Any, *, as_json: bool) -> None:
    if as_json:
        click.echo(form_text("estimate", found.as_json()))
        return
    for label, words in estimate_rows(found):
        click.echo(plain(f"{label:<9}{words}"))


def _optional(parameter: click.Parameter) -> click.Parameter:
    """Return the option of ``rosetta run``; a plan names the method itself."""
    if parameter.name != "method":
        return parameter
    optional = copy(parameter)
    optional.required = False
    return optional


estimate.params = [
    *(_optional(param) for param in asked.params if param.name not in {"style", "grant"}),
    *estimate.params,
]
