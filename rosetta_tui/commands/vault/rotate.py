"""``rosetta vault rotate``: Move entries of a corpus from one segment to another."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import changing, keeper, purpose, vault_at
from rosetta_tui.request.reading import SEGMENTS
from rosetta_tui.show.text import plain
from scoring.core.messages import counted

with when_used():
    from corpora.model import entry
    from harness.vault.grants import messages


@click.command("rotate")
@changing
@click.argument("corpus")
@click.option("--from", "source", required=True, type=click.Choice(SEGMENTS))
@click.option("--to", "target", required=True, type=click.Choice(SEGMENTS))
@click.option("--count", required=True, type=click.IntRange(1), help="How many entries; they are drawn at random.")  # fmt: skip
@purpose
def rotate_(
    vault: Path,
    key: Path | None,
    corpus: str,
    source: str,
    target: str,
    count: int,
    purpose: str,
    *,
    clock_was_wrong: bool,
) -> None:
    """Move entries of CORPUS to another segment; the log of VAULT records which, and why.

    Entries of held_out are not used until they have been moved out of it in this way. What was open once cannot
    become secret again. No text is opened.
    """
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    gone, to = entry.Segment(source), entry.Segment(target)
    state = made.rotate(corpus, gone, to, count, purpose, keeper(key))
    [stored] = [
        stored_corpus
        for n, stored_corpus in state.head.corpora.items()
        if corpus in {n, stored_corpus.name}
    ]
    click.echo(plain(f"{corpus}: {counted(count, 'entry', 'entries')} moved from {source} to {target}. Now: {messages.counts(stored.entries)}."))  # fmt: skip
