"""``rosetta estimate``: Say what a run would cost and how long it takes."""

from __future__ import annotations

from typing import Any

import click

from rosetta_tui.request.options import asked
from rosetta_tui.request.plan import make_plan
from rosetta_tui.request.reading import load_corpus, selection


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def estimate(as_json: bool, **given: Any) -> None:
    """Say what a run over the corpus FILE would take: calls, tokens, money and time, each with its bounds.

    Earlier runs of the same method and model in the store know best; where there are none, tokens are
    guessed from the very prompts that would be sent. Nothing is sent, and no key is needed.
    """

    from harness.endpoint.keys import no_key
    from harness.estimate.estimate import estimate as estimated
    from harness.methods.registry import build
    from harness.privacy import keep_here, shut_door
    from harness.store.file.database import opened

    corpus = load_corpus(given, given["reference"])
    entries = [corpus.entries[place] for place in selection(given).apply(corpus)]
    plan = make_plan(corpus, given)
    shut_door(entries, plan)
    method = build(plan.method, plan.options, corpus.entries, no_key)
    plan = keep_here(entries, method, plan)
    with opened() as connection:
        found = estimated(connection, entries, method, plan)
    _print(found, as_json=as_json)


def _print(found: Any, *, as_json: bool) -> None:
    from rosetta_tui.report.estimate import estimate_rows
    from rosetta_tui.show.json_forms import form_text
    from rosetta_tui.show.text import plain

    if as_json:
        click.echo(form_text("estimate", found.as_json()))
        return
    for label, words in estimate_rows(found):
        click.echo(plain(f"{label:<9}{words}"))


estimate.params = [
    *(parameter for parameter in asked.params if parameter.name != "style"),
    *estimate.params,
]
