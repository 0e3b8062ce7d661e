"""``rosetta community withdraw``: Take back a corpus, entries of it, a method or a key, with effect.
``rosetta community lift``: Say that a notice no longer holds; both stay on record.
``rosetta community notices``: Show what was withdrawn, by whom, and why it is believed here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corpora.text.messages import counted
from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.notices import own_register, write_notice
from rosetta_tui.request.reading import read_corpus, reading_options
from rosetta_tui.request.vault import without_method
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from corpora.files.json_types import JsonObject
    from corpora.model.entry import Entry

with when_used():
    from corpora.model import corpus as model_corpus
    from harness.consent import notice, register, withdrawals_in_force
    from harness.core import storage
    from harness.project import authoring, state
    from harness.sealed import keys
    from harness.store import runs, withdrawn
    from harness.store.corpora import listing
    from harness.store.sqlite import database
    from harness.vault import log, opening, request
    from review.office.results import results
    from review.office.store import database as office_database
    from review.office.store import store as office_store

_FILE = click.Path(path_type=Path)
REASON = click.option("--reason", required=True, metavar="WORDS", help="Why. The notice repeats these words, so name nobody and quote no text.")  # fmt: skip
BY = click.option("--by", required=True, metavar="NAME", help="Who says so, as others know them, such as the council.")
_KEY = re.compile(r"[0-9a-f]{64}")


def say_what_is_left() -> None:
    """Show which runs and corpora in the making cannot be used any more, and how their texts are erased."""
    for folder in map(_closed, state.known_folders(database.home())):
        if folder is not None:
            click.echo(plain(f"No command continues with the corpus in the making in {folder}. Its texts are still there: erase the folder."), err=True)  # fmt: skip
    if database.default_path().exists():
        with database.opened() as connection:
            names = withdrawn.withdrawn_names(connection)
        if names:
            click.echo(plain(f"{counted(len(names), 'run')} can no longer be used. Their texts are still in the store; to erase them: rosetta runs delete --now {' '.join(names)}"), err=True)  # fmt: skip
    if (database.home() / office_database.FILE).exists():
        with office_store.Office.open(database.home()) as office:
            names = [review.name for review in office.reviews() if results.withdrawn_notice(review)]
        for name in names:
            click.echo(plain(f"Review {name} asks about them: what speakers have of it on laptops and sticks stays readable there. Ask for it back; ratings that still come in can be imported, but no verdict is read and no corpus written."), err=True)  # fmt: skip
    click.echo("Copies elsewhere, cards and exports that went out cannot be called back: carry the notice to anyone who has them.", err=True)  # fmt: skip


def _closed(folder: Path) -> Path | None:
    """Return a folder whose corpus was taken back; of one that lost entries, the open part is written without them."""
    if not state.is_project(folder):
        return None
    try:
        with authoring.changing(folder, database.home()):
            return None
    except withdrawals_in_force.Withdrawn:
        return folder
    except UsageError:  # damaged, closed, or at work elsewhere: seen when it is opened
        return None


@click.command("withdraw")
@click.option("--corpus", "file", metavar="FILE", help="The corpus FILE, the folder of one in the making, or store:HASH, whole or with one of the next two.")  # fmt: skip
@click.option("--entries", metavar="ID,ID…", help="Only these entries of it.")
@click.option("--given-by", metavar="FIELD=NAME", help="Only entries whose FIELD says NAME, such as speaker=Ana: all that one person gave. The name is kept nowhere.")  # fmt: skip
@click.option("--method", "run", metavar="RUN", help="The method of RUN, in every run.")
@click.option("--signing-key", metavar="KEY", help="A public signing key, 64 hexadecimal digits, or `own`: that of this computer's organisation.")  # fmt: skip
@REASON
@BY
@click.option("-o", "--output", type=_FILE, help="Write the signed notice to a file, to be carried to others.")
@without_method
@reading_options
def withdraw_(
    file: str | None,
    entries: str | None,
    given_by: str | None,
    run: str | None,
    signing_key: str | None,
    reason: str,
    by: str,
    output: Path | None,
    **given: Any,
) -> None:
    """Withdraw consent. From this moment, whatever it covers is not opened, listed, exported or claimed here.

    Name one thing: a corpus or entries of it, a method, or a key. A run that used a withdrawn entry is withdrawn as a
    whole; run it again, and the entry is left out. To take back what one person gave in a review: rosetta review
    withdraw. To take back what a vault's keeper could open: rosetta vault revoke.
    """
    if sum(choice is not None for choice in (file, run, signing_key)) != 1:
        raise UsageError("Say one of --corpus, --method and --signing-key: a notice is about one thing.")
    if request.VaultRequest.read(given, "check") is not None and file is None:
        raise UsageError("--vault goes with --corpus: the name of the corpus in the vault.")
    own = own_register()
    about: notice.Subject
    openings: list[request.VaultNoting] = []
    number = ""
    if file is not None:
        corpus = _corpus(file, given, openings.append)
        number = (corpus.dataset.opened_from or "").split("/")[1] if openings else ""
        about = _of_corpus(corpus, file, entries, given_by, in_vault=given["vault"] is not None)
    elif run is not None:
        with database.opened() as connection:
            stored_run = runs.find_run(connection, run, withdrawn=True)
        about = notice.method_of(stored_run.setup.model_dump(mode="json"))
    else:
        about = notice.KeyWithdrawal(signing_key=_key(signing_key or "", own))
    if openings and isinstance(about, notice.WholeCorpusWithdrawal):
        openings[0].note_withdrawal(number, by, reason)
        click.echo(plain(f"The log of the vault says so: no keeper's computer opens {file} any more."))
    elif openings:
        click.echo("Other keepers' computers leave these entries out once they have the notice (-o FILE; there: rosetta community take).", err=True)  # fmt: skip
    signed_notice = own.say(about, reason, by)
    click.echo(plain(f"Withdrawn: {signed_notice.said}."))
    say_what_is_left()
    if signing_key == "own" and (keeper := _keeper_key()) is not None:
        click.echo(f"This computer's keeper signs released cards and the log of vaults with another key. If that was lost too: rosetta community withdraw --signing-key {keeper}", err=True)  # fmt: skip
    if output is not None:
        write_notice(signed_notice, output)


def _of_corpus(
    found: model_corpus.Corpus, file: str, entries: str | None, given_by: str | None, *, in_vault: bool
) -> notice.WholeCorpusWithdrawal | notice.EntriesWithdrawal:
    whole = notice.WholeCorpusWithdrawal(
        sha256=found.sha256,
        id=found.dataset.id[:200],
        source_language=found.dataset.source_language,
        target_language=found.dataset.target_language,
        language_pair=found.dataset.language_pair[:200],
    )
    if entries is None and given_by is None:
        return whole
    if entries is not None and given_by is not None:
        raise UsageError("Say --entries or --given-by, not both.")
    if entries is not None:
        chosen = model_corpus.Selection(entry_ids=tuple(entries.split(","))).apply(found)
        return notice.entries_of(whole, (found.entries[place].id for place in chosen))
    closed = sum(entry.not_stored for entry in found.entries)
    if closed and not in_vault:
        raise UsageError(f"--given-by: who gave the texts of this corpus is sealed. Name {_WHERE}, or the entries by their ids (--entries).")  # fmt: skip
    if closed:
        click.echo(f"warning: {counted(closed, 'entry', 'entries')} of held_out stayed closed, so who gave them is not known. Run this again once they have been moved out of it (rosetta vault check-up --do rotate).", err=True)  # fmt: skip
    ids = [entry.id for entry in found.reveal_here() if _gave(entry, given_by or "")]
    if not ids:
        raise UsageError(f"--given-by: no entry of {file} says {given_by!r}. Name a field and its value as the file has them.")  # fmt: skip
    return notice.entries_of(whole, ids, of_a_person=True)


_WHERE = "its vault (--vault FOLDER and --purpose WORDS, with the corpus's name there after --corpus)"


def _corpus(file: str, given: dict[str, Any], opened: Callable[[request.VaultNoting], None]) -> model_corpus.Corpus:
    """Read the corpus that is named, or one in the making by its folder; of one that the store keeps, what is sealed may stay closed."""
    if given["vault"] is None and state.is_project(Path(file)):
        return authoring.every_entry(state.read_project(Path(file), database.home()))
    if given["vault"] is not None or not listing.names_stored(file):
        return read_corpus({**given, "file": file}, None, opened=opened)
    envelope = {name: given[name] for name in ("source_language", "target_language")}
    with database.opened() as connection:
        number = listing.find_stored(connection, file, {**envelope, "id": given["corpus_id"]})
        return listing.shown_corpus(connection, number)


def _gave(entry: Entry, told: str) -> bool:
    name, equals, value = told.partition("=")
    if not (name and equals and value):
        raise UsageError("--given-by takes FIELD=NAME, such as speaker=Ana.")
    value_there = model_corpus.entry_fields(entry).get(name)
    return value in map(str, value_there) if isinstance(value_there, list) else str(value_there) == value


def _keeper_key() -> str | None:
    """Return the signing key of this computer's keeper; None where there is none."""
    home = database.home()
    if not keys.Identity.known(home, keys.Role.KEEPER):
        return None
    return keys.Identity.load(home, keys.Role.KEEPER).public.signing_key


def _key(told: str, own: register.Register) -> str:
    key = own.own if told == "own" else told.strip().lower()
    if not _KEY.fullmatch(key):
        raise UsageError("--signing-key: a public key has 64 hexadecimal digits. Correct it, or say `own`.")
    return key


@click.command("lift")
@click.argument("number", metavar="NOTICE")
@REASON
@BY
@click.option("-o", "--output", type=_FILE, help="Write the notice that lifts it to a file, for others.")
@click.option("--vault", type=_FILE, metavar="FOLDER", help="The vault whose log says that its corpus was withdrawn; it says then that consent was given again.")  # fmt: skip
def lift_(number: str, reason: str, by: str, output: Path | None, vault: Path | None) -> None:
    """Lift the notice whose number begins with NOTICE. It stays in the list, with who lifted it and why; `verify` says both.

    Elsewhere only the signer of a notice can lift it. A notice that somebody else signed is set aside on this
    computer alone. In the log of a vault the keeper who withdrew a corpus says that consent was given again.
    """
    own = own_register()
    if vault is not None:
        held = register.find_held(register.lines_of(database.home()), number)
        _give_again(vault, held.notice.about, reason, by)
    signed_notice = own.lift(number, reason, by)
    click.echo(plain(f"Lifted: {signed_notice.about.words} ({signed_notice.number[:12]})."))
    if output is not None:
        write_notice(signed_notice, output)


def _give_again(folder: Path, about: notice.Subject, reason: str, by: str) -> None:
    """Write into the log of a vault that consent for the corpus of a notice was given again."""
    home = database.home()
    vault = opening.vault_at(folder, home)
    state = vault.read()
    for number in log.withdrawals_of(state.lines):
        facts = withdrawals_in_force.opened_before(home, state.head.vault, number)
        if facts is not None and isinstance(about, notice.WholeCorpusWithdrawal) and about.is_corpus(*facts):
            identity = opening.keeper_here(home, None)
            vault.change_consent(number, by, reason, identity, withdrawn=False)
            return
    raise UsageError(f"The log of the vault in {folder} has no withdrawal that this notice is about. Leave --vault out.")  # fmt: skip


@click.command("notices")
@click.argument("number", required=False, metavar="[NOTICE]")
@click.option("-o", "--output", type=_FILE, metavar="FOLDER", help="Write the notices to a folder too, each as NUMBER.rosetta-notice, to be carried to others.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def notices_(number: str | None, output: Path | None, *, as_json: bool) -> None:
    """Show every notice that is believed here, including those that were lifted, or the one whose number begins with NOTICE.

    Nothing is ever removed from this list. In FOLDER, whatever lifted a notice is written next to it, and files that
    are there already stay. Others take them in with: rosetta community take
    """
    lines_of = register.lines_of(database.home())
    helds = register.held(lines_of) if number is None else (register.find_held(lines_of, number),)
    if output is not None:
        if not helds:
            raise UsageError("Nothing was withdrawn here, so there is no notice to write.")
        storage.private_folder(output)
        for signed_notice in (part for held in helds for part in (held.notice, held.lifted) if part is not None):
            path = output / f"{signed_notice.number[:12]}{notice.SUFFIX}"
            if not path.exists():
                write_notice(signed_notice, path)
    lines = [line for held in helds for line in _lines(held)]
    document = {"notices": [_json(held) for held in helds]}
    print_form("consent-list", document, lines or ["Nothing was withdrawn."], as_json=as_json)


def _lines(held: register.Held) -> Iterator[str]:
    signed_notice = held.notice
    yield f"{signed_notice.number[:12]}  {signed_notice.when[:10]}  {signed_notice.about.words}"
    yield f"    {signed_notice.by}: “{signed_notice.reason}”"
    yield f"    {register.signer_words(signed_notice, held.ground)}; here since {held.since[:10]}"
    if held.lifted is not None:
        own = held.lifted.signing_key == signed_notice.signing_key
        whose = "" if own else ", on this computer only, not by anyone who withdrew it"
        yield f"    LIFTED{whose}: {held.lifted.by}, {held.lifted.when[:10]}: “{held.lifted.reason}”"


def _json(held: register.Held) -> JsonObject:
    signed_notice = held.notice
    return {
        "notice": signed_notice.number,
        "when": signed_notice.when,
        "by": signed_notice.by,
        "signing_key": signed_notice.signing_key,
        "reason": signed_notice.reason,
        "about": signed_notice.about.words,
        "what": signed_notice.about.what,
        "ground": held.ground.value,
        "since": held.since,
        "lifted": None
        if held.lifted is None
        else {
            "notice": held.lifted.number,
            "when": held.lifted.when,
            "by": held.lifted.by,
            "reason": held.lifted.reason,
            "by_the_signer": held.lifted.signing_key == signed_notice.signing_key,
        },
    }
