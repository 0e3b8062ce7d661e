"""``rosetta vault grant request``: Ask the keepers to open a corpus once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from corpora.model.entry import Segment
from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.grant.answering import (
    REQUEST,
    grants_at,
    refuse_existing,
    write_new,
)
from rosetta_tui.commands.vault.sharing import changing, keeper, purpose
from rosetta_tui.request.options import asked, told
from rosetta_tui.request.reading import selecting, selection
from rosetta_tui.show.text import plain

with when_used():
    from harness import api
    from harness.run import run_terms
    from harness.store import runs
    from harness.store.corpora import listing
    from harness.store.file import database
    from harness.vault import records
    from harness.vault.grants import files, messages
    from review.files import statements

_NOT_OF_A_GRANT = {
    "reference", "file", "form", "corpus_id", "method", "note", "tags",
    "grant", "vault_key", "others", "shares", "despite_network",
}  # fmt: skip


def _of_a_run(command: click.Command) -> click.Command:
    """Add the options of a run; the corpus is in the vault, and a note changes nothing."""
    here = {param.name for param in command.params}
    command.params += [
        param
        for param in asked.params
        if param.name not in {*here, *_NOT_OF_A_GRANT} and isinstance(param, click.Option)
    ]
    return command


@_of_a_run
@click.command("request")
@changing
@click.argument("corpus")
@REQUEST
@purpose
@click.option("--days", type=click.IntRange(1), default=14, show_default=True, help="How long it can be used.")  # fmt: skip
@click.option("--method", "-m", help="What is to be run over the texts, with its options as `rosetta run` takes them. Default: nothing; they are only checked.")  # fmt: skip
@click.option("--resume", metavar="RUN", help="Continue this run, which was interrupted, instead of a new one.")  # fmt: skip
@click.option("--seal", metavar="RUN", help="Sign or release the card of this finished run: rosetta runs export, or sign.")  # fmt: skip
@click.option(
    "--look", metavar="RUN", help="Read the texts of this run on the screen: rosetta watch."
)
@click.option("--review", metavar="RUN", help="Hand sentences and outputs of this run to speakers, sealed for --for: rosetta review create, or second.")  # fmt: skip
@click.option("--adjudicate", metavar="RUN", help="Decide on what speakers flagged in a review of this run: rosetta review adjudicate.")  # fmt: skip
@click.option("--for", "laptops", multiple=True, type=click.Path(path_type=Path), metavar="LAPTOP-FILE", help="With --review: a laptop that it is sealed for; repeat it for each.")  # fmt: skip
@selecting
def request_(
    vault: Path,
    key: Path | None,
    corpus: str,
    request: Path,
    purpose: str,
    days: int,
    method: str | None,
    resume: str | None,
    seal: str | None,
    look: str | None,
    review: str | None,
    adjudicate: str | None,
    laptops: Sequence[Path],
    *,
    clock_was_wrong: bool,
    **given: Any,
) -> None:
    """Request of the keepers of VAULT to open CORPUS once, and write the request that goes to them.

    It is valid for this corpus as it is now, this method with these options, this version of Rosetta and this
    computer, for as many days as you say. The log of VAULT records it.
    """
    refuse_existing(request)
    chosen = selection(given)
    run, segments = None, chosen.segments
    again = {
        "resume": resume,
        "seal": seal,
        "look": look,
        "review": review,
        "adjudicate": adjudicate,
    }
    works = [(work, name) for work, name in again.items() if name is not None]
    if len(works) + (method is not None) > 1:
        raise UsageError(
            "--method, --resume, --seal, --look, --review and --adjudicate cannot go together: ask for each on its own."
        )
    if bool(laptops) != (review is not None):
        raise UsageError(
            "--review RUN and --for LAPTOP-FILE go together: who allows it sees for whose laptops sentences are sealed."
        )
    if method is not None:
        options = told({**given, "method": method})
        run = run_terms.run_terms(method, options, api.scoring_of(options), chosen)
    for work, name in works:
        run, segments = _again(work, name, laptops)
    made = grants_at(vault, clock_was_wrong=clock_was_wrong)
    content = made.ask(corpus, purpose, days, keeper(key), segments, run)
    write_new(request, content)
    state = made.vault.read()
    for line in messages.request_lines(files.read_request(content), state):
        click.echo(plain(line))
    needed = "One keeper" if state.split is None else f"{state.threshold} keepers"
    click.echo(plain(f"Written: {request}. {needed} must allow it; you are one of them too, and answer in the same way: rosetta vault grant allow."))  # fmt: skip


def _again(
    work: str, name: str, laptops: Sequence[Path]
) -> tuple[records.RunTerms, tuple[Segment, ...]]:
    """Return the questions about a run of the store, and the segments of its entries."""
    named = [statements.laptop_card_in(laptop).public for laptop in laptops]
    with database.opened() as connection:
        run = runs.find_run(connection, name)
        segments = listing.segments_of(connection, run.corpus, run.positions)
    return run_terms.terms_again(work, run.run_id, laptops=named), tuple(segments)
