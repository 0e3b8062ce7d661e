"""``rosetta review enrol --witness``: a second person signs that a laptop is a speaker's; the organisation keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from review.files.witness import Statement


def write_witness(laptop: Sequence[str], organisation: str, *, as_json: bool) -> None:
    """Write, on the witness's own laptop, the statement about a laptop beside where one is."""
    from harness.core.failures import UsageError
    from harness.store.file.database import home, private_folder
    from review.files.stick import READABLE, write_file
    from review.files.witness import WITNESS_SUFFIX, write_statement
    from review.sealed.keys import Identity, Role, key_phrase

    if len(laptop) != 1:
        raise UsageError("Name the laptop that you saw: its file NAME.rosetta-laptop, or its key.")
    key, name = _laptop(laptop[0])
    identity = Identity.load(private_folder(home()), Role.LAPTOP)
    content = write_statement(identity, key, _organisation(organisation))
    path = Path(f"{name}{WITNESS_SUFFIX}")
    if path.exists() and path.read_bytes() != content:
        raise UsageError(f"{path} is there already, and says something else. Move it away.")
    write_file(path, content, READABLE)
    told = {"file": str(path), "laptop": key_phrase(key), "witness": identity.public.phrase}
    if as_json:
        click.echo(form_text("review-enrol-statement", told))
        return
    click.echo(plain(f"Written: {path}. You say by it that you saw the laptop {told['laptop']}"))
    click.echo("with a person who was asked. Hand it to the organisation.")
    click.echo(f"Your own six words, by which others can ask you: {identity.public.phrase}")


def keep_witness(path: Path, *, as_json: bool) -> None:
    """Take a witness's statement in, at the organisation's desk."""
    from harness.store.file.database import home
    from review.files.stick import read_file
    from review.office.store.store import Office
    from review.sealed.keys import Identity, Role, key_phrase

    own = Identity.load(home(), Role.ORGANISATION).public.signing_key
    with Office.open(home()) as office:
        said = office.keep_statement(read_file(path), own)
        names = {each.signing_key: each.name for each in office.laptops()}
    _told(said, names[said.laptop], key_phrase(said.witness), as_json=as_json)


def _told(said: Statement, name: str, phrase: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(
            form_text(
                "review-enrol-witness", {"laptop": said.laptop, "name": name, "witness": phrase}
            )
        )
        return
    click.echo(plain(f"Witnessed: {name}, by the person whose key has the words {phrase}."))
    click.echo("Certificates that are issued from now on count it.")


def _laptop(named: str) -> tuple[str, str]:
    """Return the key of a laptop and a name for the file, by its card or its key."""
    from harness.core.failures import UsageError
    from review.files.laptop_card import read_laptop_card
    from review.files.stick import read_file
    from rosetta_tui.commands.review.trust import as_key

    if key := as_key(named):
        return key, key[:8]
    if not Path(named).is_file():
        raise UsageError(
            f"{named}: neither a laptop's file nor its key (64 hexadecimal digits). Name one."
        )
    return read_laptop_card(read_file(Path(named))).public.signing_key, Path(named).stem


def _organisation(named: str) -> str:
    """Return the organisation's key: as it is, or as a batch of it has it."""
    from harness.core.failures import UsageError
    from rosetta_tui.commands.review.trust import as_key
    from rosetta_tui.commands.review.verify import kept_batch

    if key := as_key(named):
        return key
    if not Path(named).is_file():
        raise UsageError(
            f"--witness {named}: name the organisation by its key (64 hexadecimal digits) or by a batch file of it."
        )
    return kept_batch(Path(named)).manifest.organisation.signing_key
