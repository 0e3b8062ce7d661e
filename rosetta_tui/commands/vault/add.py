"""``rosetta vault add``: Seal a corpus and put it into a vault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from corpora.files.problems import CorpusError
from harness.core.failures import UsageError
from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.review.adjudicate import on_terminal
from rosetta_tui.commands.vault.sharing import (
    acting,
    changing,
    vault_at,
)
from rosetta_tui.request.reading import print_problems, read_corpus, reading
from rosetta_tui.request.vault import together
from rosetta_tui.show.text import plain
from scoring.core.messages import counted

with when_used():
    from corpora.model import corpus as model_corpus
    from corpora.model import entry
    from harness.project import authoring, into_vault, lacking, state
    from harness.sealed import keys
    from harness.vault import demo_texts, records
    from harness.vault import vault as vault_vault
    from harness.vault.grants import messages as grant_messages
    from harness.vault.shares import split
    from rosetta_tui.vault import messages as vault_words
    from scoring.card import smallest


@click.command("add")
@changing
@together
@reading
@click.option(
    "--name", help="Name of the corpus in the vault, by which it is opened. Default: its id."
)
@click.option(
    "--as-it-is",
    is_flag=True,
    help="Seal a corpus in the making and close its folder without asking, even if something is lacking.",
)
def add_(
    vault: Path,
    key: Path | None,
    others: tuple[Path, ...],
    reference: Path | None,
    name: str | None,
    *,
    as_it_is: bool,
    shares: bool,
    clock_was_wrong: bool,
    **given: Any,
) -> None:
    """Seal the corpus FILE, or the corpus in the making in the folder FILE, and put it into VAULT. Each of its entries says its segment.

    What a corpus in the making still lacks is said first, and asked about, because its folder is closed afterwards.

    The smallest difference between two methods that its secret segments can show is printed, and kept unsealed in the
    vault. No message quotes anything of an entry.

    Where several keepers open VAULT together, the first corpus needs one of them, and each further one as many as it
    takes to open VAULT: its texts are compared with those that are there. The file itself stays as it is, and so does
    what earlier runs stored of it: erase both once it is sealed.
    """
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    identity, opening = acting(made, key, others, shares=shares)
    if state.is_project(given["file"]):
        _add_project(made, given["file"], name, identity, opening, as_it_is=as_it_is)
        return
    if as_it_is:
        raise UsageError(
            f"--as-it-is is for the folder of a corpus in the making, and {given['file']} is not one. Leave it out."
        )
    corpus = read_corpus(given, reference, kept_here=True)
    print_problems(corpus.warnings)
    tells = _tells(corpus)
    stored = made.add(corpus, name or corpus.dataset.id, identity, opening, tells)
    _say(stored, corpus, vault)
    files = " and ".join(str(file) for file in corpus.files) or "the file that you have"
    click.echo(plain(f"These texts are still open elsewhere: in {files}, in copies of it, and in the store if a run used them. Erase them there (rosetta runs delete --now)."), err=True)  # fmt: skip


def _add_project(
    made: vault_vault.Vault,
    folder: Path,
    name: str | None,
    identity: keys.Identity,
    opening: split.OpeningKey | None,
    *,
    as_it_is: bool,
) -> None:
    """Seal the corpus of a project; its secret texts are in the vault alone then, as far as this project goes."""
    with authoring.changing(folder, home()) as project:
        try:
            corpus = authoring.whole_corpus(project)
        except CorpusError as error:
            print_problems(error.problems)
            raise click.exceptions.Exit(2) from None
        _say_lacking(lacking.lacking(project), folder, as_it_is=as_it_is)
        print_problems(corpus.warnings)
        tells = _tells(corpus)
        stored = into_vault.move_into(
            project, made, corpus, name or corpus.dataset.id, identity, opening, tells
        )
        kept = [entry for entry in project.state.entries if entry.sealed]
    _say(stored, corpus, made.folder)
    click.echo(plain(f"The secret texts are out of {folder}, which is closed now; its open part stays in {folder / state.CORPUS}."))  # fmt: skip
    if left := sum(project_entry.untranslated for project_entry in kept):
        click.echo(plain(f"Without a translation, and so not in the vault: {counted(left, 'secret sentence')}, sealed in {folder}."), err=True)  # fmt: skip
    if held := sum(not project_entry.untranslated for project_entry in kept):
        click.echo(plain(f"Not in the vault either, since somebody objects or consent was withdrawn: {counted(held, 'sentence')}, sealed in {folder}."), err=True)  # fmt: skip
    click.echo("What speakers wrote is stored encrypted in the reviews of this computer and on their laptops. The files that the sentences came from you erase yourself.", err=True)  # fmt: skip


def _say_lacking(lacks: tuple[str, ...], folder: Path, *, as_it_is: bool) -> None:
    """Show what a corpus lacks before its folder is closed, and ask; without a terminal UsageError unless ``as_it_is``."""
    if not lacks:
        return
    click.echo(plain(f"The corpus in {folder} is not complete, and once it is in a vault its folder is closed. It lacks:"), err=True)  # fmt: skip
    for lack in lacks:
        click.echo(plain(f"  {lack}"), err=True)
    if as_it_is:
        return
    if not on_terminal():
        raise UsageError("Nothing was sealed. Mend what is lacking, or add --as-it-is.")
    click.confirm("Seal it as it is?", abort=True, err=True)


def _tells(corpus: model_corpus.Corpus) -> dict[entry.Segment, records.SmallestTold]:
    """Return which difference the secret segments of a corpus are large enough to tell."""
    smallest_by_segment = smallest.by_segment(corpus.entries)
    return {
        segment: records.SmallestTold(entries=count, points=records.tenth_upward(least))
        for segment, (count, least) in smallest_by_segment.items()
    }


def _say(stored: records.StoredCorpus, corpus: model_corpus.Corpus, vault: Path) -> None:
    """Show what was sealed, what its secret segments can tell, and which of it is no secret."""
    click.echo(
        plain(f"Sealed {stored.name!r} in {vault}: {grant_messages.counts(stored.entries)}.")
    )
    for line in vault_words.telling(stored):
        click.echo(f"{line}: in four of five comparisons, p < 0.05; taken from these references, for methods with unrelated errors.")  # fmt: skip
    for line in vault_words.told_outside(stored):
        click.echo(f"{line}.")
    for segment, few in sorted(stored.entries.items()):
        if segment.secret and 0 < few < smallest.FEWEST:
            click.echo(f"{segment}: {counted(few, 'entry is', 'entries are')} too few to tell two methods apart.")  # fmt: skip
    if known := demo_texts.secrets_of_the_demo(corpus):
        named = ", ".join(map(str, known[:10])) + (" …" if len(known) > 10 else "")
        click.echo(plain(f"warning: {counted(len(known), 'secret entry has', 'secret entries have')} the source of a sentence of the demo, which everybody has who has this program: {named}. It is no secret, and where a run stored it as one, rehearsals of submissions over the demo are refused. Write another sentence."), err=True)  # fmt: skip
