"""``rosetta consent lift``: Say that a notice no longer holds; both stay on record."""

from __future__ import annotations

from pathlib import Path

import click

from harness.core.failures import UsageError
from rosetta_tui.commands.consent.sharing import BY, FILE, REASON, own_register, write_out
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.consent import notice, register, withdrawals_in_force
    from harness.store.file import database
    from harness.vault import log, opening


@click.command("lift")
@click.argument("number", metavar="NOTICE")
@REASON
@BY
@click.option("-o", "--output", type=FILE, help="Write the notice that lifts it to a file, for others.")  # fmt: skip
@click.option("--vault", type=FILE, metavar="FOLDER", help="The vault whose log says that its corpus was withdrawn; it says then that consent was given again.")  # fmt: skip
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
        write_out(signed_notice, output)


def _give_again(folder: Path, about: notice.Subject, reason: str, by: str) -> None:
    """Write into the log of a vault that consent for the corpus of a notice was given again."""
    home = database.home()
    vault = opening.vault_at(folder, home)
    state = vault.read()
    for number in log.withdrawals_of(state.lines):
        facts = withdrawals_in_force.opened_before(home, state.head.vault, number)
        if (
            facts is not None
            and isinstance(about, notice.WholeCorpusWithdrawal)
            and about.is_corpus(*facts)
        ):
            identity = opening.keeper_here(home, None)
            vault.change_consent(number, by, reason, identity, withdrawn=False)
            return
    raise UsageError(f"The log of the vault in {folder} has no withdrawal that this notice is about. Leave --vault out.")  # fmt: skip
