"""What the commands about vaults share: their options, the vault of a folder, and whose keys act."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from corpora.text.messages import counted
from harness.core.failures import HarnessError, StoreError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request import vault as vault_options
from rosetta_tui.request.vault import vault_request
from rosetta_tui.show.text import plain

with when_used():
    from harness.core import storage
    from harness.release import ledger as ledgers
    from harness.run import vault_opening
    from harness.sealed import keys, stick
    from harness.store.sqlite import database, sealing
    from harness.vault import folder as folders
    from harness.vault import keepers, key_shares, opening, request, sealed_corpus, vault
    from harness.vault import shares as dealing
    from harness.vault.grants import files, grants
    from rosetta_tui.vault import messages

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)


def changing(command: Command) -> Command:
    """Add the vault, and the options of every command that writes into its log."""
    for add in (
        click.option("--clock-was-wrong", is_flag=True, help="The clock is right now, and was wrong when the last line of the log was written; that is noted."),
        click.option("--key", type=FILE, metavar="FILE", help="Use the keys in this file, such as the recovery key."),
        click.argument("vault", type=FILE),
    ):  # fmt: skip
        command = add(command)
    return command


threshold = click.option("--threshold", type=click.IntRange(2), metavar="M", help="How many keepers it takes to open it from now on. Default: as many as before.")  # fmt: skip
purpose = click.option("--purpose", required=True, metavar="WORDS", help="Why it is done. The log keeps these words, so name nobody and quote no text.")  # fmt: skip


def vault_at(folder: Path, *, clock_was_wrong: bool = False) -> vault.Vault:
    """Return the vault of a folder, as this computer sees it."""
    return opening.vault_at(folder, database.home(), clock_was_wrong=clock_was_wrong)


def keeper(file: Path | None) -> keys.Identity:
    """Return the keys of this computer's keeper, or those of a file."""
    return keepers.own_identity(database.home(), file)


def ledger() -> ledgers.ReleaseLedger:
    """Return the release ledger of secret entries, as this computer's keeper has it."""
    return ledgers.own_ledger(database.home())


def telling_ledger(given: Mapping[str, Any]) -> tuple[request.VaultRequest | None, ledgers.ReleaseLedger]:
    """Return the vault that the options name and the ledger; ``--clock-was-wrong`` is said to both, and needs no vault."""
    wrong = bool(given["clock_was_wrong"])
    asked = vault_request(given if given["vault"] else {**given, "clock_was_wrong": False})
    return asked, ledgers.own_ledger(database.home(), clock_was_wrong=wrong)


def acting(
    made: vault.Vault, key: Path | None, others: Sequence[Path]
) -> tuple[keys.Identity, key_shares.OpeningKey | None]:
    """Return who writes into the log, and what the keepers who are here open together; None where nobody came beside them.

    On a computer without a keeper's keys those whose shares are here write together. HarnessError says who is missing,
    and which share is not right.
    """
    if not others:
        own = keeper(key)
        vault_opening.refuse_taken_out(made, [own])
        return own, None
    files = [path for path in others if path != request.PAPER]
    vault_opening.refuse_taken_out(made, map(keeper, files))
    typed = None if len(files) == len(others) else vault_options.TYPED
    return opening.keepers_here(made, database.home(), key, files, typed)


def seal_stored(
    before: folders.VaultState, state: folders.VaultState, identity: keys.Identity, opener: key_shares.OpeningKey | None
) -> None:
    """Seal what runs stored here of a vault for those who open it now, and say so; ``opener`` is what they had together before."""
    if not database.default_path().exists():
        return
    known = () if opener is None else (opener, *dealing.former_keys(before, opener))
    identities = [opening_key.age for opening_key in known] or [identity.age]
    try:
        with database.opened() as connection:
            done, closed = sealing.seal_for_keepers(
                connection, state.head.vault, identities, sealed_corpus.recipients_of(state)
            )
    except HarnessError as error:
        names = ", ".join(keeper.name for keeper in state.keepers.values())
        raise StoreError(
            f"The vault is changed, and its log says so: it opens for {names} now. What runs stored on this computer is not "
            f"sealed for them yet: {error} Do not repeat the change. The next time such a run is opened here it is sealed for them."
        ) from error
    if done:
        click.echo(f"What runs over {counted(done, 'corpus', 'corpora')} of this vault stored here is sealed for those who open it now. On other computers that happens the next time such a run is opened there.")  # fmt: skip
    if closed:
        click.echo(f"What runs over {counted(closed, 'corpus', 'corpora')} of this vault stored here stays as it was: these keys do not open it. When somebody whose keys do opens such a run, it is sealed for the present keepers too.", err=True)  # fmt: skip


def dealt_anew(state: folders.VaultState) -> None:
    """Show what it means that shares were dealt again."""
    dealt, names = dealing.dealt(state), [keeper.name for keeper in state.keepers.values()]
    click.echo(plain(f"Every keeper has a new share now. Any {dealt.threshold} together open the vault: {', '.join(names)}."))  # fmt: skip
    click.echo(messages.losing(len(names), dealt.threshold))
    click.echo("Shares printed earlier do not work together with the new ones: print new ones (rosetta vault share --print), and burn the old.")  # fmt: skip
    click.echo("All texts are sealed again. Earlier copies of the vault still open with earlier shares.", err=True)


# ---- What the commands about grants share: their files, and this computer's grants of a vault.

REQUEST = click.argument("request", type=FILE, metavar="NAME.rosetta-request")
KEY = click.option("--key", type=FILE, metavar="FILE", help="Answer with the keys in this file, such as those on your stick.")  # fmt: skip
ANSWER = click.option("--to", "answer", type=FILE, metavar="NAME.rosetta-answer", help="Where the answer goes. Default: next to the request.")  # fmt: skip


def grants_at(vault: Path, *, clock_was_wrong: bool = False) -> grants.Grants:
    """Return the grants of a vault, as this computer has them; its own keys are made the first time."""
    return opening.grants_of(vault_at(vault, clock_was_wrong=clock_was_wrong), database.home())


def read_file(path: Path) -> bytes:
    """Read a request or an answer; UsageError in words where it is not there, or larger than any is."""
    return stick.read_named(path, files.MOST_BYTES)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that goes to others, and read it back; HarnessError in words where the stick is full or pulled."""
    stick.write_file(path, content, storage.PUBLISHED)
