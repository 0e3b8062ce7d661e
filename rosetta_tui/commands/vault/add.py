"""``rosetta vault add``: Seal a corpus and put it into a vault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import (
    acting,
    changing,
    vault_at,
)
from rosetta_tui.request.reading import print_problems, read_corpus, reading
from rosetta_tui.request.typed_shares import together
from rosetta_tui.show.text import plain

with when_used():
    from harness.release import smallest
    from harness.vault import records
    from harness.vault.grants import words
    from rosetta_tui.vault import words as vault_words


@click.command("add")
@changing
@together
@reading
@click.option("--name", help="Of the corpus in the vault, by which it is opened. Default: its id.")
def add_(
    vault: Path,
    key: Path | None,
    others: tuple[Path, ...],
    reference: Path | None,
    name: str | None,
    *,
    cards: bool,
    clock_was_wrong: bool,
    **given: Any,
) -> None:
    """Seal the corpus FILE and put it into VAULT. Each of its entries says which segment it belongs to.

    Says which difference of two methods its secret segments are large enough to tell, and the vault keeps that, openly. No message quotes
    anything of an entry.

    Where several keepers open VAULT together, the first corpus needs one of them, and each further one as many as open
    it: its texts are compared with those that are there. The file itself stays as it is, and so does what runs stored of it before: erase both once it is sealed.
    """
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    identity, opening = acting(made, key, others, cards=cards)
    corpus = read_corpus(given, reference, kept_here=True)
    print_problems(corpus.warnings)
    found = smallest.by_segment(corpus.entries)
    tells = {
        segment: records.SmallestTold(entries=count, points=records.tenth_upward(least))
        for segment, (count, least) in found.items()
    }
    stored = made.add(corpus, name or corpus.dataset.id, identity, opening, tells)
    click.echo(plain(f"Sealed {stored.name!r} in {vault}: {words.counts(stored.entries)}."))
    for line in vault_words.telling(stored):
        click.echo(f"{line}: in four of five comparisons, p < 0.05; taken from these references, for methods with unrelated errors.")  # fmt: skip
    files = " and ".join(str(each) for each in corpus.files) or "the file that you have"
    click.echo(plain(f"These texts are still open elsewhere: in {files}, in copies of it, and in the store if a run used them. Erase them there (rosetta runs delete --now)."), err=True)  # fmt: skip
