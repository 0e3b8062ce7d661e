"""``rosetta estimate``: Say what a run would cost and how long it takes."""

from __future__ import annotations

from typing import Any

import click

from harness.store.file.database import default_path
from rosetta_tui.report.estimate import estimate_rows
from rosetta_tui.request.options import asked, make_request
from rosetta_tui.request.reading import load_corpus
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def estimate(as_json: bool, **given: Any) -> None:
    """Say what a run over the corpus FILE would take: calls, tokens, money and time, each with its bounds.

    Earlier runs of the same method and model in the store know best; where there are none, tokens are
    guessed from the very prompts that would be sent. Nothing is sent, and no key is needed.
    """
    from harness import api

    asked_for = make_request(load_corpus(given, given["reference"], work="estimate"), given)
    found = api.estimate(default_path(), asked_for)
    _print(found, as_json=as_json)


def _print(found: Any, *, as_json: bool) -> None:
    if as_json:
        click.echo(form_text("estimate", found.as_json()))
        return
    for label, words in estimate_rows(found):
        click.echo(plain(f"{label:<9}{words}"))


estimate.params = [
    *(parameter for parameter in asked.params if parameter.name not in {"style", "grant"}),
    *estimate.params,
]
