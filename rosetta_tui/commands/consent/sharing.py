"""What the commands about consent share: the register of the data folder, and who acts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from corpora.text.messages import counted
from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.consent import notice, register, withdrawals_in_force
    from harness.core import storage
    from harness.project import authoring, state
    from harness.sealed import keys
    from harness.store import withdrawn
    from harness.store.file import database
    from review.office.results import results
    from review.office.store import database as office_database
    from review.office.store import store as office_store

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)
REASON = click.option("--reason", required=True, metavar="WORDS", help="Why. The notice repeats these words, so name nobody and quote no text.")  # fmt: skip
BY = click.option("--by", required=True, metavar="NAME", help="Who says so, as others know them, such as the council.")  # fmt: skip


def own_register() -> register.Register:
    """Return the register of the data folder, with the keys of this computer's organisation."""
    home = storage.private_folder(database.home())
    return register.Register(home, keys.Identity.load(home, keys.Role.ORGANISATION))


def write_out(said: notice.SignedNotice, path: Path) -> None:
    """Write a notice to a file that others may have, and say by which words its signer is known."""
    data = notice.as_bytes(said)
    storage.write_new_file(path, data, mode=storage.PUBLISHED)
    click.echo(plain(f"Written: {path}. Carry it to everybody who has a copy; it holds no text."), err=True)  # fmt: skip
    click.echo(f"Its signer's six words, to be read to them by telephone: {keys.key_phrase(said.signing_key)}", err=True)  # fmt: skip


def _reviews() -> list[str]:
    """Return the names of the reviews that are about something withdrawn."""
    if not (database.home() / office_database.FILE).exists():
        return []
    with office_store.Office.open(database.home()) as office:
        return [review.name for review in office.reviews() if results.withdrawn_notice(review)]


def say_what_is_left() -> None:
    """Show which runs and corpora in the making cannot be used any more, and how their texts are erased."""
    for folder in map(_closed, state.known_folders(database.home())):
        if folder is not None:
            click.echo(plain(f"No command continues with the corpus in the making in {folder}. Its texts are still there: erase the folder."), err=True)  # fmt: skip
    if database.default_path().exists():
        _say_of_runs()
    for name in _reviews():
        click.echo(plain(f"Review {name} asks about them: what speakers have of it on laptops and sticks stays readable there. Ask for it back; ratings that still come in can be imported, but no verdict is read and no corpus written."), err=True)  # fmt: skip
    click.echo("Copies elsewhere, cards and exports that went out cannot be called back: carry the notice to anyone who has them.", err=True)  # fmt: skip


def _say_of_runs() -> None:
    with database.opened() as connection:
        names = withdrawn.withdrawn_names(connection)
    if names:
        click.echo(plain(f"{counted(len(names), 'run')} can no longer be used. Their texts are still in the store; to erase them: rosetta runs delete --now {' '.join(names)}"), err=True)  # fmt: skip


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
