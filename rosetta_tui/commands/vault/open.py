"""``rosetta vault open``: Try whether your keys open a corpus; no text is shown or written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.grant.answering import grants_at
from rosetta_tui.commands.vault.sharing import (
    acting,
    changing,
    keeper,
    vault_at,
)
from rosetta_tui.request.reading import SEGMENTS
from rosetta_tui.request.vault import asked, by_grant, refuse_existing, together
from rosetta_tui.show.text import plain
from scoring.core.messages import counted

with when_used():
    from corpora.model import entry
    from harness.consent import opening as consent
    from harness.consent import withdrawals_in_force
    from harness.store.file import database
    from harness.vault import ledger, sealed_corpus
    from harness.vault import opening as vault_opening
    from harness.vault.grants import using


@click.command("open")
@changing
@together
@click.argument("corpus", required=False)
@click.option(
    "--purpose",
    metavar="WORDS",
    help="Why it is done. The log keeps these words, so name nobody and quote no text.",
)
@by_grant
@click.option("--segment", "chosen", multiple=True, type=click.Choice(SEGMENTS), help="Only entries of this segment. Default: all but held_out, which is never opened.")  # fmt: skip
def open_(
    vault: Path,
    key: Path | None,
    others: tuple[Path, ...],
    corpus: str | None,
    purpose: str | None,
    grant: Path | None,
    ask: Path | None,
    chosen: tuple[str, ...],
    *,
    shares: bool,
    clock_was_wrong: bool,
) -> None:
    """Open every text of CORPUS in memory and check it, so that you know that your keys work and nothing is damaged.

    The log of VAULT records the opening and its purpose first. Nothing is shown, and nothing is kept. Where several
    keepers open it together, either they are here (--with, --shares), or they are asked before (--ask), and --grant uses
    up what they allowed.
    """
    if grant is not None:
        if corpus or purpose or chosen or others or shares or ask:
            raise click.UsageError(
                "--grant states itself which texts to open, and why. Leave the rest out."
            )
        granted = grants_at(vault, clock_was_wrong=clock_was_wrong)
        request = vault_opening.request_in(grant)
        given = granted.opening(ledger.request_id(request), keeper(key))
        opened = vault_opening.unsealed(given.state, given.sealed, given.key)
        corpus = request.name
    elif corpus and purpose:
        made = vault_at(vault, clock_was_wrong=clock_was_wrong)
        segments = [entry.Segment(segment_name) for segment_name in chosen]
        if ask is not None:
            refuse_existing(ask)
            ahead = using.GrantAhead(grants_at(vault, clock_was_wrong=clock_was_wrong), None, ask, asked)  # fmt: skip
            ahead.ask(corpus, keeper(key), segments, purpose)
        identity, opening = acting(made, key, others, shares=shares)
        opened = vault_opening.unsealed(*made.trial(corpus, purpose, identity, segments, opening))
    else:
        raise click.UsageError(
            "Name the corpus and say why (--purpose), or name the request that the keepers allowed (--grant)."
        )
    count = counted(len(opened.entries), "entry", "entries")
    click.echo(plain(f"{corpus}: {count} opened with your keys, each text is whole. The log records it."))  # fmt: skip
    for words in _taken_back(opened):
        click.echo(plain(words))


def _taken_back(opened: sealed_corpus.UnsealedCorpus) -> Iterator[str]:
    """Yield what of the opened entries no run is given, because consent for it was withdrawn."""
    corpus = vault_opening.corpus_of(opened)
    try:
        kept = consent.with_consent(corpus, withdrawals_in_force.standing(database.home()))
    except withdrawals_in_force.Withdrawn as error:
        yield f"None of it is opened for a run: consent was withdrawn for {error.notice.said}."
        return
    warned = {warning.message for warning in corpus.warnings}
    new = (warning.message for warning in kept.warnings if warning.message not in warned)
    yield from (f"For a run, {message}" for message in new)
