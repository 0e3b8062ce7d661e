"""``rosetta community propose``: Propose who owns the method of a run that speakers found good.
``rosetta community answer``: Sign, refuse or revoke a record of ownership, as the side whose key this computer has.
``rosetta community owners``: Show a record of ownership, or all that are kept here, and this computer's key.
``rosetta community profile``: Show what an organisation must meet and what shows it, state that, or sign it for others.
``rosetta community take``: Take in notices and records of ownership that came from elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from corpora.files.json_types import JsonObject
from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.notices import own_register
from rosetta_tui.commands.review.certificates import read_key
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

with when_used():
    from harness.card import signing
    from harness.consent import notice, register
    from harness.core import storage
    from harness.sealed import keys, strict_records
    from harness.store import attachments
    from harness.store.sqlite import database, trouble
    from review.records import agreeing, ownership
    from review.records import profile as profiles
    from rosetta_tui.commands.community import consent
    from rosetta_tui.report import paragraphs

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("run")
@click.option("--developer", required=True, metavar="NAME", help="What the developer is called.")
@click.option("--key", required=True, metavar="KEY", help="The developer's public key, 64 hexadecimal digits; their `rosetta community owners` has it.")  # fmt: skip
@click.option("--share", type=click.IntRange(0, 100), help="Percent of what the method earns that the organisation gets; 90 unless you say otherwise.")  # fmt: skip
@click.option("--more", default="", metavar="WORDS", help="What else both agree on, in up to 2,000 characters.")
@click.option("-o", "--output", type=_FILE, required=True, metavar="NAME.rosetta-ownership")
def propose(run: str, developer: str, key: str, share: int | None, more: str, output: Path) -> None:
    """Propose who owns the method of RUN, on the organisation's computer; it binds nobody yet.

    RUN must be over gold_standard alone, with a composite of 0.70 or more and a gate that the community passed.
    """
    named = ownership.Party(name=notice.one_line(developer, "The developer's name"), signing_key=read_key(key, "--key"))
    changed = {} if share is None else {"organisation_share": share}
    with database.opened() as connection, trouble.transaction(connection):
        made = agreeing.propose_for(connection, run, named, database.home(), more=more, **changed)
        storage.write_new_file(output, made.data())
    for line in paragraphs.ownership_lines(made):
        click.echo(plain(line))
    click.echo(plain(f"Written to {output}. Compare the developer's six words by telephone before you sign."))


@click.command()
@click.argument("record", type=_FILE, metavar="NAME.rosetta-ownership")
@click.option("--sign", is_flag=True, help="Sign it; read it first with `rosetta community owners`.")
@click.option("--refuse", metavar="WHY", help="Say no. It stays refused, with WHY in up to 200 characters; another record can be proposed.")  # fmt: skip
@click.option("--revoke", metavar="WHY", help="Take this computer's signature back. It stays revoked, and lists say so.")  # fmt: skip
@click.option("-o", "--output", type=_FILE, metavar="FILE", help="Write the record to this file instead of changing the one that is given.")  # fmt: skip
def answer(record: Path, refuse: str | None, revoke: str | None, output: Path | None, *, sign: bool) -> None:
    """Answer a record of ownership as the side whose key this computer has: --sign, --refuse WHY or --revoke WHY."""
    if sign + (refuse is not None) + (revoke is not None) != 1:
        raise click.UsageError("Say one of --sign, --refuse WHY and --revoke WHY.")
    action = ownership.OwnershipAction("signed" if sign else "refused" if refuse is not None else "revoked")
    with strict_records.about_file(record), database.opened() as connection:
        made = agreeing.answer(connection, _read(record), action, database.home(), refuse or revoke or "")
    storage.write_file(output or record, made.data(), overwrite=True)
    for line in paragraphs.ownership_lines(made):
        click.echo(plain(line))
    click.echo(
        plain(f"Written to {output or record}. Hand it to the other side, who takes it in: rosetta community take")
    )


def _read(path: Path) -> bytes:
    """Return the bytes of a record's file; UsageError in words where it cannot be read."""
    return storage.read_bytes(path, "a record of ownership", ownership.MOST_BYTES)


@click.command()
@click.argument("record", type=_FILE, metavar="[NAME.rosetta-ownership]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def owners(record: Path | None, *, as_json: bool) -> None:
    """Show what a record says, with everything known of it here; without one, all that are kept, and this computer's key."""
    with database.opened() as connection:
        if record is not None:
            with strict_records.about_file(record):
                stated = ownership.read_ownership(_read(record))
            ownership_records = [agreeing.with_kept(connection, stated)]
        else:
            kept = attachments.signed_files(connection, attachments.RecordKind.OWNERSHIP)
            ownership_records = [ownership.read_ownership(data) for _, data in kept]
    own = signing.own_signer(database.home()).public.signing_key
    lines = [
        line for ownership_record in ownership_records for line in (*paragraphs.ownership_lines(ownership_record), "")
    ]
    lines += [f"This computer signs with the key {own}", f"Its six words are: {keys.key_phrase(own)}"]
    document: JsonObject = {
        "key": own,
        "records": [paragraphs.ownership_json(ownership_record) for ownership_record in ownership_records],
    }
    print_form("ownership-show", document, lines, as_json=as_json)


@click.command()
@click.argument("item", required=False)
@click.argument("words", default="")
@click.option("--by", metavar="NAME", help="With ITEM: who states it.")
@click.option("--name", metavar="NAME", help="With -o: what the organisation is called.")
@click.option("-o", "--output", type=_FILE, metavar="NAME.rosetta-profile", help="Sign the profile as it is now and write it, for others.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def profile(
    item: str | None, words: str, by: str | None, name: str | None, output: Path | None, *, as_json: bool
) -> None:
    """Show what §8.4 and §8.5 ask of this computer's organisation, what this computer has seen of it, and what a person stated.

    With ITEM, state in WORDS how the organisation meets it, signed with its key. It replaces what was stated about
    ITEM before; without WORDS that statement is taken back.
    """
    if (item is None) is not (by is None):
        raise UsageError("ITEM and --by NAME go together: a statement says who states it.")
    if (name is None) is not (output is None):
        raise UsageError("--name NAME and -o FILE go together: a profile for others carries the name.")
    with database.opened() as connection:
        if item is not None:
            made_statement = profiles.state(connection, item, words, by or "", database.home())
            done = "Stated" if made_statement.words else "Taken back"
            click.echo(plain(f"{done}: {made_statement.item}, by {made_statement.person}, {made_statement.when}."), err=True)  # fmt: skip
        there, signed_profile_statements = (
            profiles.seen(connection, database.home()),
            profiles.stated(connection, database.home()),
        )
        items = profiles.profile_items(there, signed_profile_statements)
        if name is not None and output is not None:
            made = profiles.make_profile(connection, name, database.home())
            storage.write_new_file(output, made.data())
    document: JsonObject = {"items": [item._asdict() for item in items]}
    print_form("organisation-profile", document, paragraphs.profile_lines(items), as_json=as_json)
    if output is not None:
        click.echo(plain(f"Signed and written to {output}."), err=True)


# ---- Take in notices and records of ownership that came from elsewhere ----


@click.command("take")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--words", metavar="SIX WORDS", help="Of notices: the words of the signer's key, as they read them to you by telephone; a terminal asks for them.")  # fmt: skip
@click.option("--trust", metavar="KEY", help="Of records of ownership: the organisation's public key, where this computer is neither side.")  # fmt: skip
def take_(files: Sequence[Path], words: str | None, trust: str | None) -> None:
    """Import notices (.rosetta-notice) and records of ownership (.rosetta-ownership).

    From now on, whatever a notice withdraws is not opened, listed, exported or claimed here. Anybody can write such a
    file in any name. So the six words of the signer's key are compared, once for each corpus, method, review or
    vault; without them a notice is shown and NOT taken. A record of ownership has what the other side signed, refused or
    revoked; what this computer knows of it is kept, and the leaderboard shows it beside a run with a certificate of the
    same organisation.
    """
    owned = [path for path in files if path.suffix == ownership.SUFFIX]
    for path in owned:
        key = None if trust is None else read_key(trust)
        data = storage.read_bytes(path, "a record of ownership", ownership.MOST_BYTES)
        with strict_records.about_file(path), database.opened() as connection:
            record = agreeing.take(connection, data, database.home(), key)
        for line in paragraphs.ownership_lines(record):
            click.echo(plain(line))
    notices = [path for path in files if path not in owned]
    read = [(path, storage.read_bytes(path, "a notice", notice.MOST_BYTES)) for path in notices]
    for path, data in sorted(read, key=lambda item: notice.lifts(item[1])):
        click.echo(plain(_take_notice(path, data, words)))
    if read:
        consent.say_what_is_left()


def _take_notice(path: Path, data: bytes, words: str | None) -> str:
    own = own_register()
    try:
        signed_notice, new = own.take(data, words)
    except register.NobodyKnowsSigner as unknown:
        if words is not None or not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        click.echo(plain(f"{path}: {unknown}"), err=True)
        typed = click.prompt("Their six words, as they read them to you by telephone", err=True)
        signed_notice, new = own.take(data, typed)
    if not new:
        return f"{path}: was imported before; nothing changed: {signed_notice.said}"
    return f"Imported: {signed_notice.said}"
