"""``rosetta vault add``: Seal a corpus and put it into a vault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from corpora.files.problems import CorpusError
from harness.store.file.database import home
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
    from corpora.model import corpus as model_corpus
    from corpora.model import entry
    from harness.project import into_vault, making, state
    from harness.release import smallest
    from harness.sealed import keys
    from harness.vault import records
    from harness.vault import vault as vault_vault
    from harness.vault.grants import words
    from harness.vault.shares import split
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
    """Seal the corpus FILE, or the corpus in the making in the folder FILE, and put it into VAULT. Each of its entries says its segment.

    Says which difference of two methods its secret segments are large enough to tell, and the vault keeps that, openly. No message quotes
    anything of an entry.

    Where several keepers open VAULT together, the first corpus needs one of them, and each further one as many as open
    it: its texts are compared with those that are there. The file itself stays as it is, and so does what runs stored of it before: erase both once it is sealed.
    """
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    identity, opening = acting(made, key, others, cards=cards)
    if state.is_project(given["file"]):
        _add_project(made, given["file"], name, identity, opening)
        return
    corpus = read_corpus(given, reference, kept_here=True)
    print_problems(corpus.warnings)
    tells = _tells(corpus)
    stored = made.add(corpus, name or corpus.dataset.id, identity, opening, tells)
    _say(stored, vault)
    files = " and ".join(str(each) for each in corpus.files) or "the file that you have"
    click.echo(plain(f"These texts are still open elsewhere: in {files}, in copies of it, and in the store if a run used them. Erase them there (rosetta runs delete --now)."), err=True)  # fmt: skip


def _add_project(
    made: vault_vault.Vault,
    folder: Path,
    name: str | None,
    identity: keys.Identity,
    opening: split.OpeningKey | None,
) -> None:
    """Seal the corpus of a project; its secret texts are in the vault alone then, as far as this project goes."""
    with making.changing(folder, home()) as project:
        try:
            corpus = making.whole_corpus(project)
        except CorpusError as error:
            print_problems(error.problems)
            raise click.exceptions.Exit(2) from None
        print_problems(corpus.warnings)
        tells = _tells(corpus)
        stored = into_vault.move_into(
            project, made, corpus, name or corpus.dataset.id, identity, opening, tells
        )
        left = sum(bool(each.sealed) for each in project.state.entries)
    _say(stored, made.folder)
    click.echo(plain(f"The secret texts are out of {folder}, which is closed now; its open part stays in {folder / state.CORPUS}."))  # fmt: skip
    if left:
        click.echo(plain(f"Without a translation, and so not in the vault: {left} secret sentences, sealed in {folder}."), err=True)  # fmt: skip
    click.echo("What speakers wrote lies sealed in the reviews of this computer and on their laptops. The files that the sentences came from you erase yourself.", err=True)  # fmt: skip


def _tells(corpus: model_corpus.Corpus) -> dict[entry.Segment, records.SmallestTold]:
    """Return which difference the secret segments of a corpus are large enough to tell."""
    found = smallest.by_segment(corpus.entries)
    return {
        segment: records.SmallestTold(entries=count, points=records.tenth_upward(least))
        for segment, (count, least) in found.items()
    }


def _say(stored: records.StoredCorpus, vault: Path) -> None:
    """Say what was sealed, and what its secret segments can tell."""
    click.echo(plain(f"Sealed {stored.name!r} in {vault}: {words.counts(stored.entries)}."))
    for line in vault_words.telling(stored):
        click.echo(f"{line}: in four of five comparisons, p < 0.05; taken from these references, for methods with unrelated errors.")  # fmt: skip
