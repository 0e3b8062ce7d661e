"""``rosetta consent withdraw``: Take back a corpus, entries of it, a method or a key."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from corpora.text.messages import counted
from harness.core.failures import UsageError
from rosetta_tui.commands.consent.sharing import (
    BY,
    FILE,
    REASON,
    own_register,
    say_what_is_left,
    write_out,
)
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.reading import read_corpus, reading_options
from rosetta_tui.request.vault import out_of_vault
from rosetta_tui.show.text import plain

with when_used():
    from corpora.model import corpus as model_corpus
    from harness.consent import notice, register
    from harness.project import authoring, state
    from harness.sealed import keys
    from harness.store import runs
    from harness.store.corpora import listing
    from harness.store.file import database
    from harness.vault import request

_KEY = re.compile(r"[0-9a-f]{64}")


@click.command("withdraw")
@click.option("--corpus", "file", metavar="FILE", help="The corpus FILE, the folder of one in the making, or store:HASH, whole or with one of the next two.")  # fmt: skip
@click.option("--entries", metavar="ID,ID…", help="Only these entries of it.")
@click.option("--given-by", metavar="FIELD=NAME", help="Only entries whose FIELD says NAME, such as speaker=Ana: all that one person gave. The name is kept nowhere.")  # fmt: skip
@click.option("--method", "run", metavar="RUN", help="The method of RUN, in every run.")
@click.option("--signing-key", metavar="KEY", help="A public signing key, 64 hexadecimal digits, or `own`: that of this computer's organisation.")  # fmt: skip
@REASON
@BY
@click.option("-o", "--output", type=FILE, help="Write the signed notice to a file, to be carried to others.")  # fmt: skip
@out_of_vault
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
        raise UsageError("Say one of --corpus, --method and --signing-key: a notice is about one thing.")  # fmt: skip
    if request.VaultRequest.read(given, "check") is not None and file is None:
        raise UsageError("--vault goes with --corpus: the name of the corpus in the vault.")
    own = own_register()
    about: notice.Subject
    openings: list[request.VaultNoting] = []
    number = ""
    if file is not None:
        corpus = _corpus(file, given, openings.append)
        number = (corpus.dataset.opened_from or "").split("/")[1] if openings else ""
        about = _of_corpus(corpus, file, entries, given_by, given)
    elif run is not None:
        about = _of_method(run)
    else:
        about = notice.KeyWithdrawal(signing_key=_key(signing_key or "", own))
    if openings and isinstance(about, notice.WholeCorpusWithdrawal):
        openings[0].note_withdrawal(number, by, reason)
        click.echo(
            plain(f"The log of the vault says so: no keeper's computer opens {file} any more.")
        )
    elif openings:
        click.echo("Other keepers' computers leave these entries out once they have the notice (-o FILE; there: rosetta consent take).", err=True)  # fmt: skip
    signed_notice = own.say(about, reason, by)
    click.echo(plain(f"Withdrawn: {signed_notice.said}."))
    say_what_is_left()
    if signing_key == "own" and (keeper := _keeper_key()) is not None:
        click.echo(f"This computer's keeper signs released cards and the log of vaults with another key. If that was lost too: rosetta consent withdraw --signing-key {keeper}", err=True)  # fmt: skip
    if output is not None:
        write_out(signed_notice, output)


def _of_corpus(
    found: model_corpus.Corpus,
    file: str,
    entries: str | None,
    given_by: str | None,
    given: dict[str, Any],
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
    if closed and given["vault"] is None:
        raise UsageError(f"--given-by: who gave the texts of this corpus is sealed. Name {_WHERE}, or the entries by their ids (--entries).")  # fmt: skip
    if closed:
        click.echo(f"warning: {counted(closed, 'entry', 'entries')} of held_out stayed closed, so who gave them is not known. Run this again once they have been moved out of it (rosetta vault rotate).", err=True)  # fmt: skip
    ids = [entry.id for entry in found.entries if _gave(entry, given_by or "")]
    if not ids:
        raise UsageError(f"--given-by: no entry of {file} says {given_by!r}. Name a field and its value as the file has them.")  # fmt: skip
    return notice.entries_of(whole, ids, of_a_person=True)


_WHERE = (
    "its vault (--vault FOLDER and --purpose WORDS, with the corpus's name there after --corpus)"
)


def _corpus(
    file: str, given: dict[str, Any], opened: Callable[[request.VaultNoting], None]
) -> model_corpus.Corpus:
    """Read the corpus that is named, or one in the making by its folder; of one that the store keeps, what is sealed may stay closed."""
    if given["vault"] is None and state.is_project(Path(file)):
        return authoring.every_entry(state.read_project(Path(file), database.home()))
    if given["vault"] is not None or not listing.names_stored(file):
        return read_corpus({**given, "file": file}, None, opened=opened)
    envelope = {name: given[name] for name in ("source_language", "target_language")}
    with database.opened() as connection:
        number = listing.find_stored(connection, file, {**envelope, "id": given["corpus_id"]})
        return listing.read_corpus_of_run(connection, number, to_show=True)


def _gave(entry: Any, told: str) -> bool:
    name, equals, value = told.partition("=")
    if not (name and equals and value):
        raise UsageError("--given-by takes FIELD=NAME, such as speaker=Ana.")
    value_there = model_corpus.entry_fields(entry).get(name)
    return (
        value in map(str, value_there)
        if isinstance(value_there, list)
        else str(value_there) == value
    )


def _of_method(run: str) -> notice.MethodWithdrawal:
    with database.opened() as connection:
        stored_run = runs.find_run(connection, run, withdrawn=True)
    return notice.method_of(stored_run.setup.model_dump(mode="json"))


def _keeper_key() -> str | None:
    """Return the signing key of this computer's keeper; None where there is none."""
    home = database.home()
    if not keys.Identity.known(home, keys.Role.KEEPER):
        return None
    return keys.Identity.load(home, keys.Role.KEEPER).public.signing_key


def _key(told: str, own: register.Register) -> str:
    key = own.own if told == "own" else told.strip().lower()
    if not _KEY.fullmatch(key):
        raise UsageError("--signing-key: a public key has 64 hexadecimal digits. Correct it, or say `own`.")  # fmt: skip
    return key
