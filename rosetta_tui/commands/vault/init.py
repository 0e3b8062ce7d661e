"""``rosetta vault init``: Make a vault for secret texts.
``rosetta vault card``: Write your card, with which a vault can be made for you.
``rosetta vault add``: Seal a corpus and put it into a vault.
``rosetta vault export``: Make a sealed copy of a vault, or bring one up to date.
``rosetta vault enrol``: Let one more person open a vault.
``rosetta vault revoke``: Remove a keeper, and seal the texts again.
``rosetta vault share``: Try whether your share is right, and print it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from corpora.files.problems import CorpusError
from corpora.text.messages import counted
from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.notices import own_register, write_notice
from rosetta_tui.commands.vault.sharing import (
    FILE,
    acting,
    changing,
    dealt_anew,
    keeper,
    purpose,
    seal_stored,
    threshold,
    vault_at,
)
from rosetta_tui.front import on_terminal
from rosetta_tui.request.reading import print_problems, read_corpus, reading
from rosetta_tui.request.vault import TYPED, together
from rosetta_tui.show.text import plain

with when_used():
    from corpora.model import corpus as model_corpus
    from corpora.model import entry
    from harness.consent import notice, withdrawals_in_force
    from harness.core import storage
    from harness.project import authoring, state
    from harness.release import budget
    from harness.sealed import keys
    from harness.store.sqlite import database
    from harness.vault import keepers, key_shares, shares, vault_records
    from harness.vault import vault as vault_vault
    from harness.vault.grants import files as grant_messages
    from rosetta_tui.show import released_words
    from rosetta_tui.vault import messages as vault_words
    from scoring.card import smallest


@click.command("init")
@click.argument("vault", type=FILE)
@click.option("--name", required=True, help="Name of the vault, such as whose words it holds.")
@click.option("--as", "own_name", required=True, metavar="NAME", help="What you, the first keeper, are called in its log.")  # fmt: skip
@click.option("--recovery", required=True, type=FILE, metavar="FILE", help="Where the recovery key is written, such as on a stick that you lock away.")  # fmt: skip
@click.option("--keeper", "cards", multiple=True, type=FILE, metavar="NAME.rosetta-keeper", help="Card of somebody else who can open it; repeat it for each keeper.")  # fmt: skip
@click.option("--threshold", type=click.IntRange(1), default=1, metavar="M", help="How many keepers it takes to open it. From 2 on, nobody can open it alone; with 1, the default, each can.")  # fmt: skip
def init_(vault: Path, name: str, own_name: str, recovery: Path, cards: tuple[Path, ...], threshold: int) -> None:
    """Make a vault in a new folder, VAULT, which each of its keepers can open alone, or --threshold of them together.

    Its keepers are you, everybody whose card you name, and the recovery key. Each can open everything with their
    keys; what is sealed is lost for good once all of them have lost their keys.
    """
    others = [keepers.read_card(storage.read_bytes(card, "the card of a keeper")) for card in cards]
    if threshold != 1:
        key_shares.check_threshold(threshold, len(others) + 2)  # before a recovery key is written
    identity = keys.Identity.load(storage.private_folder(database.home()), keys.Role.KEEPER)
    spare = keepers.recovery_identity(recovery)
    everybody = [
        keepers.keeper_of(identity, own_name),
        *others,
        keepers.keeper_of(spare, keepers.RECOVERY_NAME, recovery=True),
    ]
    state = vault_at(vault).found(name, everybody, identity, threshold)
    how = "each alone" if threshold == 1 else f"any {threshold} of them together and none alone"
    click.echo(plain(f"Made the vault {name!r} in {vault}. {len(everybody)} keys open it, {how}:"))
    for holder in everybody:
        words = "" if holder.recovery else f"   {keys.key_phrase(holder.signing_key)}"
        click.echo(plain(f"  {holder.name}{words}"))
    click.echo(plain(f"The recovery key is in {recovery}. Put it where no thief and no fire gets both it and this computer."))  # fmt: skip
    if others:
        click.echo("Compare the six words of each keeper with those on their own computer, before you put anything in.")
    if threshold == 1:
        click.echo(f"If all {len(everybody)} keys are lost, nobody can ever open the texts again.")
    else:
        click.echo(vault_words.losing(len(everybody), threshold))
        click.echo("The recovery key is one share like the others. Have each keeper try and print theirs (rosetta vault share --print); rosetta vault check-up says who did not.")  # fmt: skip
    click.echo(plain(f"What leaves of its texts is decided by a policy, {released_words.policy_words(budget.Policy())} Others: rosetta vault budget --policy."))  # fmt: skip
    click.echo(f"The vault's own number: {state.head.vault[:16]}")


# ---- Write your card, with which a vault can be made for you ----


@click.command("card")
@click.argument("file", type=FILE, metavar="NAME.rosetta-keeper")
@click.option("--name", help="What you are called in the log of the vault. Default: the file's name.")
def card_(file: Path, name: str | None) -> None:
    """Write NAME.rosetta-keeper for anyone who makes the vault, and show the six words of your key.

    The first time, your secret keys are made here. They stay on this computer, in the keyring of the operating system
    if it has one.
    """
    identity = keys.Identity.load(storage.private_folder(database.home()), keys.Role.KEEPER)
    card = keepers.write_card(identity, name or file.stem)
    storage.write_new_file(file, card, mode=storage.PUBLISHED)
    click.echo(plain(f"Written: {file}. Hand it to anyone who makes the vault; it holds no secret."))
    click.echo(f"Your six words, to compare by telephone: {identity.public.phrase}")


# ---- Seal a corpus and put it into a vault ----


@click.command("add")
@changing
@together
@reading
@click.option("--name", help="Name of the corpus in the vault, by which it is opened. Default: its id.")
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
    identity, opening = acting(made, key, others)
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
    opening: key_shares.OpeningKey | None,
    *,
    as_it_is: bool,
) -> None:
    """Seal the corpus of a project; its secret texts are in the vault alone then, as far as this project goes."""
    with authoring.changing(folder, database.home()) as project:
        try:
            corpus = authoring.whole_corpus(project)
        except CorpusError as error:
            print_problems(error.problems)
            raise click.exceptions.Exit(2) from None
        _say_lacking(authoring.lacking(project), folder, as_it_is=as_it_is)
        print_problems(corpus.warnings)
        tells = _tells(corpus)
        stored = authoring.move_into(project, made, corpus, name or corpus.dataset.id, identity, opening, tells)
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
        raise UsageError("Nothing was sealed. Add what is missing, or give --as-it-is.")
    click.confirm("Seal it as it is?", abort=True, err=True)


def _tells(corpus: model_corpus.Corpus) -> dict[entry.Segment, vault_records.SmallestTold]:
    """Return which difference the secret segments of a corpus are large enough to tell."""
    smallest_by_segment = smallest.by_segment(corpus.reveal_here())
    return {
        segment: vault_records.SmallestTold(entries=count, points=vault_records.tenth_upward(least))
        for segment, (count, least) in smallest_by_segment.items()
    }


def _say(stored: vault_records.StoredCorpus, corpus: model_corpus.Corpus, vault: Path) -> None:
    """Show what was sealed, what its secret segments can tell, and which of it is no secret."""
    click.echo(plain(f"Sealed {stored.name!r} in {vault}: {grant_messages.counts(stored.entries)}."))
    for line in vault_words.telling(stored):
        click.echo(f"{line}: in four of five comparisons, p < 0.05; taken from these references, for methods with unrelated errors.")  # fmt: skip
    for line in vault_words.told_outside(stored):
        click.echo(f"{line}.")
    for segment, few in sorted(stored.entries.items()):
        if segment.secret and 0 < few < smallest.FEWEST:
            click.echo(f"{segment}: {counted(few, 'entry is', 'entries are')} too few to tell two methods apart.")
    if known := authoring.secrets_of_the_demo(corpus):
        named = ", ".join(map(str, known[:10])) + (" …" if len(known) > 10 else "")
        click.echo(plain(f"warning: {counted(len(known), 'secret entry has', 'secret entries have')} the source of a sentence of the demo, which everybody has who has this program: {named}. It is no secret, and where a run stored it as one, rehearsals of submissions over the demo are refused. Write another sentence."), err=True)  # fmt: skip


# ---- Make a sealed copy of a vault, or bring one up to date ----


@click.command("export")
@changing
@click.argument("target", type=FILE, metavar="FOLDER")
@purpose
def export_(vault: Path, key: Path | None, target: Path, purpose: str, *, clock_was_wrong: bool) -> None:
    """Copy VAULT, sealed as it is, to FOLDER: a new one, or an older copy of the same vault.

    The copy opens for the same keepers, and holds the whole log. No text is opened.
    """
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    state = made.export(target, purpose, keeper(key))
    click.echo(plain(f"{target} is a sealed copy of {vault} now, with {counted(state.head.lines, 'line')} of log. Use one of them only: a copy that is used on its own can no longer be brought together with the other."))  # fmt: skip


# ---- Let one more person open a vault ----


@click.command("enrol")
@changing
@together
@threshold
@click.argument("card", type=FILE, metavar="NAME.rosetta-keeper")
@click.option("--words", prompt="Their six words, as they read them to you by telephone", metavar="SIX WORDS", help="What they read to you by telephone from their own computer; asked for if you leave it out.")  # fmt: skip
@purpose
def enrol_(
    vault: Path,
    key: Path | None,
    others: tuple[Path, ...],
    threshold: int | None,
    card: Path,
    words: str,
    purpose: str,
    *,
    clock_was_wrong: bool,
) -> None:
    """Make the person whose card this is a keeper of VAULT: from now on they can open all of it, alone. No text is opened.

    Where several keepers open VAULT together, that many have to come together for this too, and all keepers get new
    shares, and every text is sealed again.

    The new keeper reads you the six words of their key by telephone, from their own computer. If those are not the
    words of the card, it is not theirs, and nothing is done.
    """
    new = keepers.read_card(storage.read_bytes(card, "the card of a keeper"))
    keepers.check_words(new, words)
    if (signed_notice := withdrawals_in_force.standing(database.home()).of_key(new.signing_key)) is not None:
        raise withdrawals_in_force.Withdrawn(f"The card of {new.name}", signed_notice)
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    identity, opening = acting(made, key, others)
    before = made.read()
    state = made.enrol(new, purpose, identity, opening, threshold)
    seal_stored(before, state, identity, opening)
    if state.split is not None:
        dealt_anew(state)
        return
    click.echo(plain(f"{new.name} can open this vault now."))


# ---- Remove a keeper, and seal the texts again ----


@click.command("revoke")
@changing
@together
@threshold
@click.option("--notice", "notice_file", type=FILE, metavar="FILE", help="Write a signed notice of this, for those who have older copies (rosetta community take).")  # fmt: skip
@click.argument("name", metavar="KEEPER")
@purpose
def revoke_(
    vault: Path,
    key: Path | None,
    others: tuple[Path, ...],
    threshold: int | None,
    name: str,
    purpose: str,
    *,
    notice_file: Path | None,
    clock_was_wrong: bool,
) -> None:
    """Remove KEEPER (a name as the list shows it) from VAULT: every text is sealed again, under keys that they do not have.

    An earlier copy of the vault still opens for them; nothing can undo that. Where several keepers open VAULT
    together, that many have to come together for this too, and those who stay get new shares.
    """
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    identity, opening = acting(made, key, others)
    before = made.read()
    state = made.revoke(name, purpose, identity, opening, threshold)
    if notice_file is not None:
        [gone] = [keeper for key_, keeper in before.keepers.items() if key_ not in state.keepers]
        about = notice.KeeperWithdrawal(vault=state.head.vault, signing_key=gone.signing_key, name=gone.name)
        by = state.keepers.get(identity.public.signing_key)
        write_notice(own_register().say(about, purpose, by.name if by else "a keeper"), notice_file)
    seal_stored(before, state, identity, opening)
    if state.split is not None:
        click.echo(plain(f"{name} has no share of this vault any more."))
        dealt_anew(state)
        return
    left = ", ".join(keeper.name for keeper in state.keepers.values())
    click.echo(plain(f"{name} cannot open this vault any more. It opens for: {left}."))
    click.echo("Copies from before still open for them: bring copies up to date (rosetta vault export).", err=True)


# ---- Try whether your share is right, and print it ----


@click.command("share")
@click.argument("vault", type=FILE)
@click.option("--key", type=FILE, metavar="FILE", help="Look at the share of the keys in this file, such as the recovery key.")  # fmt: skip
@click.option("--print", "page", type=FILE, metavar="FILE.html", help="Write your share as a page to print; FILE.txt for plain text.")  # fmt: skip
@click.option("--check", is_flag=True, help="Type the words of a printed page, and see whether they are right.")
def share_(vault: Path, key: Path | None, page: Path | None, *, check: bool) -> None:
    """Try whether your share of the key of VAULT is here and right, and sign that for the other keepers. Nothing else is opened.

    A vault that was made with --threshold has one share for each keeper. Try yours once a year, and when you change
    computers; `rosetta vault check-up` shows who did. A printed share is for the day when a computer is lost. Anyone
    who finds it has that share: keep it as you keep a key.
    """
    made = vault_at(vault)
    state = made.read()
    if check:
        whose = shares.whose(state, key_shares.KeyShare.read(TYPED.words()))
        click.echo(plain(f"These words are right: the share of {whose.name}, as it is now."))
        return
    share, trouble = shares.try_share(state, keeper(key), made.memory, made.clock())
    name = shares.whose(state, share).name
    if trouble:
        click.echo(plain(f"The other keepers do not see that you tried it, because the folder was not written: {trouble}"), err=True)  # fmt: skip
    if page is not None:
        form = shares.text_page if page.suffix == ".txt" else shares.html_page
        storage.write_new_file(page, form(state, share).reveal().encode())
        click.echo(plain(f"Written: {page}, the share of {name}. Print it on a printer beside you, not over a network; then delete the file and empty the wastebasket."))  # fmt: skip
    else:
        click.echo(plain(f"The share of {name} is here and right, and the folder says so: {share.threshold} of the {len(state.keepers)} open together."))  # fmt: skip
