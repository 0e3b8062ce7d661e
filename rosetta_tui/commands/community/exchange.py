"""``rosetta community out``: Put files, or a sealed copy of a vault, on a stick for other computers.
``rosetta community in``: Take from a stick what other computers put there, and is new here.
``rosetta community stick``: Show what is on a stick, whose it is, and who took it.
``rosetta community export``: Write everything that belongs to a community into a folder of open files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import keeper, vault_at
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

with when_used():
    from harness.card import signing
    from harness.exchange import folder, import_, manifest
    from harness.sealed import keys, phrase
    from harness.store.sqlite import database
    from harness.vault import keepers, opening
    from review.community import export as community
    from review.office.store import database as office_file
    from review.office.store import store
    from review.records import exchanged

_FILE = click.Path(path_type=Path)
_STICK = click.argument("stick", type=click.Path(path_type=Path))
_AS = click.option("--as", "name", metavar="NAME", help="What this computer is called on the stick; remembered once it was said.")  # fmt: skip


def every_kind() -> tuple[manifest.FileKind, ...]:
    """Return every kind of file that computers hand to each other."""
    return (*manifest.KINDS, *exchanged.KINDS)


def _memory() -> Path:
    """Return the folder in which this computer keeps what it saw of vaults."""
    return database.home() / "vaults"


@click.command("out")
@_STICK
@click.argument("files", nargs=-1, type=_FILE, metavar="[FILE]...")
@_AS
@click.option("--vault", type=_FILE, metavar="FOLDER", help="Export a sealed copy of this vault, or bring the one there up to date.")  # fmt: skip
@click.option("--purpose", metavar="WORDS", help="Why the vault is copied. Its log keeps these words.")
@click.option("--key", type=_FILE, metavar="FILE", help="Use the keys in this file, such as the recovery key.")
@click.option("--clock-was-wrong", is_flag=True, help="The clock is right now, and was wrong when the last line of the vault's log was written.")  # fmt: skip
def out_(
    stick: Path,
    files: tuple[Path, ...],
    name: str | None,
    vault: Path | None,
    purpose: str | None,
    key: Path | None,
    *,
    clock_was_wrong: bool,
) -> None:
    """Export FILEs to the exchange folder on STICK, and sign for everything that this computer has put there.

    Each file is checked first. Putting the same file again changes nothing; if the stick was pulled out too early,
    run the same command again. Without a FILE, this computer signs again for what it put there and took.
    """
    if (vault is None) is not (purpose is None):
        raise click.UsageError("--vault FOLDER goes with --purpose WORDS: the vault's log has the copy.")
    copy = None
    if vault is not None and purpose is not None:
        made = vault_at(vault, clock_was_wrong=clock_was_wrong)
        copy = folder.VaultToCopy(made, purpose, keeper(key))
    with manifest.desk(database.home()) as desk:
        if name is not None:
            folder.name_computer(desk, name)
        done = folder.put_out(desk, stick, files, every_kind(), _memory(), copy)
        words = desk.identity.public.phrase
    click.echo(plain(f"{done.folder}: {counted(len(done.new), 'new file')}, {counted(len(done.files), 'file')} of this computer in all."))  # fmt: skip
    for item in done.new:
        click.echo(plain(f"  {item}"))
    for number, seen in done.vaults.items():
        click.echo(plain(f"  vault {number[:16]}, with {counted(seen.lines, 'line')} of log"))
    for item in done.lost:
        click.echo(plain(f"warning: {item} is gone from the stick, so it is no longer on the list. Put it out again if somebody still needs it."), err=True)  # fmt: skip
    click.echo(f"This computer's six words, to be compared by telephone the first time: {words}")
    click.echo("Eject the stick before you pull it.")


@click.command("in")
@_STICK
@click.option("--into", required=True, type=click.Path(path_type=Path), metavar="FOLDER", help="Where on this computer the files are put.")  # fmt: skip
@click.option("--words", multiple=True, metavar="SIX WORDS", help="The words of a computer that is new here, as somebody there reads them to you by telephone; asked for if you leave them out.")  # fmt: skip
@_AS
def in_(stick: Path, into: Path, words: tuple[str, ...], name: str | None) -> None:
    """Import what others put into the exchange folder on STICK, as far as it is new here, into FOLDER.

    Everything is checked before it counts. What is refused is named, and the rest is taken. Nothing is taken twice,
    so if the stick was pulled out too early, run the same command again. The exit code is 1 if something was refused.
    """
    read = [phrase.read_words(word) for word in words]

    def known(computer: manifest.ExchangeList) -> bool:
        if any(keys.says_key(phrase_words, computer.by) for phrase_words in read):
            return True
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        typed = click.prompt(
            plain(f"{computer.machine!r} is new here. Its six words, as they read them to you by telephone (Enter: take nothing of it)"),
            default="", show_default=False, err=True,
        )  # fmt: skip
        return bool(typed) and keys.says_key(phrase.read_words(typed), computer.by)

    with manifest.desk(database.home()) as desk:
        if name is not None:
            folder.name_computer(desk, name)
        import_result = import_.take_in(desk, stick, into, every_kind(), _memory(), known)
    click.echo(plain(f"{import_result.folder}: {counted(len(import_result.new), 'new thing')}, {import_result.before:,} taken before, {len(import_result.refused):,} refused."))  # fmt: skip
    for arrived in import_result.new:
        then = arrived.then.replace("FILE", command_line([str(arrived.place)]))
        click.echo(plain(f"  {arrived.place}: {arrived.what}, from {arrived.machine}. Next: {then}"))
    for what, why in import_result.refused:
        click.echo(plain(f"refused: {what}: {why}"), err=True)
    for note in import_result.notes:
        click.echo(plain(f"note: {note}"), err=True)
    if import_result.refused:
        raise click.exceptions.Exit(1)


@click.command("stick")
@_STICK
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def stick_(stick: Path, *, as_json: bool) -> None:
    """Show what is in the exchange folder on STICK. Nothing is taken, and nothing is written there."""
    with manifest.desk(database.home()) as desk:
        folder_look = import_.read_exchange_folder(desk, stick, every_kind())
    document: JsonObject = {
        "path": str(folder_look.path),
        "folder": folder_look.folder,
        "computers": [{**asdict(machine), "words": keys.key_phrase(machine.key)} for machine in folder_look.machines],
        "refused": [{"stick": name, "why": why} for name, why in folder_look.refused],
        "unnamed": folder_look.unnamed,
    }
    print_form("exchange-list", document, _lines(folder_look), as_json=as_json)


def _lines(found: import_.FolderLook) -> Iterator[str]:
    yield f"{found.path}:"
    for machine in found.machines:
        whose = "this computer" if machine.own else "known here" if machine.known else "NOT known here"
        yield f"{machine.name} ({whose}), state {machine.state:,}   {keys.key_phrase(machine.key)}"
        for one in machine.lying:
            took = f"taken by {', '.join(one.taken_by)}" if one.taken_by else "taken by nobody yet"
            yield f"  {one.name}: {one.what}, {took}" + ("" if one.there else "; GONE from the stick")
    for name, why in found.refused:
        yield f"refused: {name}: {why}"
    if found.unnamed:
        yield f"{counted(found.unnamed, 'file')} that no list names, from an interrupted write or another program"
    if not found.machines:
        yield "Nothing has been put here yet."


# ---- All that belongs to a community, as open files ----


@click.command("export")
@click.argument("folder", type=_FILE)
@click.option("--corpus", "corpora", multiple=True, required=True, metavar="CORPUS", help="A corpus of the community: a file, an id, or store:HASH. May be repeated.")  # fmt: skip
@click.option("--vault", type=_FILE, metavar="FOLDER", help="The community's vault; it is copied, sealed as it is.")
@click.option("--method", "methods", multiple=True, type=click.Path(path_type=Path, exists=True), metavar="PATH", help="A method that was submitted: a file or folder, copied as it is.")  # fmt: skip
@click.option("--review", "reviews", multiple=True, metavar="REVIEW", help="A review besides those of its runs, such as one that asked for translations.")  # fmt: skip
@click.option("--open-secrets", is_flag=True, help="Write secret texts too, readable by anyone who has the folder; the vault's log records that first.")  # fmt: skip
@click.option("--purpose", default="", metavar="WORDS", help="Why it is done; needed with --open-secrets. The vault's log keeps these words.")  # fmt: skip
@click.option("--key", type=_FILE, metavar="FILE", help="A file with a keeper's keys, such as the recovery key.")
def export_(
    folder: Path,
    corpora: tuple[str, ...],
    vault: Path | None,
    methods: tuple[Path, ...],
    reviews: tuple[str, ...],
    purpose: str,
    key: Path | None,
    *,
    open_secrets: bool,
) -> None:
    """Write everything that belongs to some corpora to FOLDER: corpora, runs, methods, reviews, logs, consent, public keys.

    All files are JSON, tables or text; README.txt and index.html say what each is. Run it again to bring FOLDER up to
    date. Nothing of other corpora is in it. Secret texts are left out, and named as left out, unless you say
    --open-secrets.
    """
    home = database.home()
    keeper = keepers.own_identity(home, key) if key or keys.Identity.known(home, keys.Role.KEEPER) else None
    wanted = community.Wanted(
        corpora=corpora,
        methods=methods,
        reviews=reviews,
        vault=None if vault is None else opening.vault_at(vault, home),
        keeper=keeper,
        purpose=purpose,
        open_secrets=open_secrets,
    )
    with ExitStack() as stack:
        connection = stack.enter_context(database.opened())
        there = (home / office_file.FILE).exists()
        office = stack.enter_context(store.Office.open(home)) if there else None
        done = community.export_community(folder, wanted, connection, office, home, signing.own_signer(home))
    for reason in done.left_out:
        click.echo(plain(f"Left out: {reason}"), err=True)
    files = counted(done.files, "file")
    outcome = "had all of this already" if done.unchanged else f"holds {files}; begin with README.txt"
    click.echo(plain(f"{folder} {outcome}."), err=True)
