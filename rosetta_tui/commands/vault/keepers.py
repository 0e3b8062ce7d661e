"""``rosetta vault enrol``: Let one more person open a vault.
``rosetta vault revoke``: Remove a keeper, and seal the texts again.
``rosetta vault share``: Try whether your share is right, and print it.
"""

from __future__ import annotations

from pathlib import Path

import click

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
from rosetta_tui.request.vault import TYPED, together
from rosetta_tui.show.text import plain

with when_used():
    from harness.consent import notice, withdrawals_in_force
    from harness.core import storage, user_file
    from harness.store.sqlite import database
    from harness.vault import keepers, key_shares, shares


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
    new = keepers.read_card(user_file.read_bytes(card, "the card of a keeper"))
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
