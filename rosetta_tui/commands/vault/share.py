"""``rosetta vault share``: Try whether your share is right, and print it."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import FILE, keeper, vault_at
from rosetta_tui.request.vault import TYPED
from rosetta_tui.show.text import plain

with when_used():
    from harness.core import written_files
    from harness.vault.shares import dealing, paper, split, tried


@click.command("share")
@click.argument("vault", type=FILE)
@click.option("--key", type=FILE, metavar="FILE", help="Look at the share of the keys in this file, such as the recovery key.")  # fmt: skip
@click.option("--print", "page", type=FILE, metavar="FILE.html", help="Write your share as a page to print; FILE.txt for plain text.")  # fmt: skip
@click.option("--check", is_flag=True, help="Type the words of a printed page, and see whether they are right.")  # fmt: skip
def share_(vault: Path, key: Path | None, page: Path | None, *, check: bool) -> None:
    """Try whether your share of the key of VAULT is here and right, and sign that for the other keepers. Nothing else is opened.

    A vault that was made with --threshold has one share for each keeper. Try yours once a year, and when you change
    computers; `rosetta vault check-up` shows who did. A printed share is for the day when a computer is lost. Anyone
    who finds it has that share: keep it as you keep a key.
    """
    made = vault_at(vault)
    state = made.read()
    if check:
        whose = dealing.whose(state, split.KeyShare.read(TYPED.words()))
        click.echo(plain(f"These words are right: the share of {whose.name}, as it is now."))
        return
    share, trouble = tried.try_share(state, keeper(key), made.memory, made.clock())
    name = dealing.whose(state, share).name
    if trouble:
        click.echo(plain(f"The other keepers do not see that you tried it, because the folder was not written: {trouble}"), err=True)  # fmt: skip
    if page is not None:
        form = paper.text_page if page.suffix == ".txt" else paper.html_page
        written_files.write_new_file(page, form(state, share).reveal().encode())
        click.echo(plain(f"Written: {page}, the share of {name}. Print it on a printer beside you, not over a network; then delete the file and empty the wastebasket."))  # fmt: skip
    else:
        click.echo(plain(f"The share of {name} is here and right, and the folder says so: {share.threshold} of the {len(state.keepers)} open together."))  # fmt: skip
