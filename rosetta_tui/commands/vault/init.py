"""``rosetta vault init``: Make a vault for secret texts."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import FILE, vault_at
from rosetta_tui.show.text import plain

with when_used():
    from harness.core import user_file, written_files
    from harness.release import budget
    from harness.sealed import keys
    from harness.store.file import database
    from harness.vault import keepers
    from harness.vault.shares import split
    from rosetta_tui.show import released_words
    from rosetta_tui.vault import messages as vault_words


@click.command("init")
@click.argument("vault", type=FILE)
@click.option("--name", required=True, help="Name of the vault, such as whose words it holds.")
@click.option("--as", "own_name", required=True, metavar="NAME", help="What you, the first keeper, are called in its log.")  # fmt: skip
@click.option("--recovery", required=True, type=FILE, metavar="FILE", help="Where the recovery key is written, such as on a stick that you lock away.")  # fmt: skip
@click.option("--keeper", "cards", multiple=True, type=FILE, metavar="NAME.rosetta-keeper", help="Card of somebody else who can open it; repeat it for each keeper.")  # fmt: skip
@click.option("--threshold", type=click.IntRange(1), default=1, metavar="M", help="How many keepers it takes to open it. From 2 on, nobody can open it alone; with 1, the default, each can.")  # fmt: skip
def init_(
    vault: Path, name: str, own_name: str, recovery: Path, cards: tuple[Path, ...], threshold: int
) -> None:
    """Make a vault in a new folder, VAULT, which each of its keepers can open alone, or --threshold of them together.

    Its keepers are you, everybody whose card you name, and the recovery key. Each can open everything with their
    keys; what is sealed is lost for good once all of them have lost their keys.
    """
    others = [
        keepers.read_card(user_file.read_bytes(card, "the card of a keeper")) for card in cards
    ]
    if threshold != 1:
        split.check_threshold(threshold, len(others) + 2)  # before a recovery key is written
    identity = keys.Identity.load(written_files.private_folder(database.home()), keys.Role.KEEPER)
    spare = keepers.recovery_identity(recovery)
    everybody = [
        keepers.keeper_of(identity, own_name),
        *others,
        keepers.keeper_of(spare, keepers.RECOVERY_NAME, recovery=True),
    ]
    state = vault_at(vault).found(name, everybody, identity, threshold)
    how = "each alone" if threshold == 1 else f"any {threshold} of them together and none alone"
    click.echo(plain(f"Made the vault {name!r} in {vault}. {len(everybody)} keys open it, {how}:"))
    for keeper in everybody:
        words = "" if keeper.recovery else f"   {keys.key_phrase(keeper.signing_key)}"
        click.echo(plain(f"  {keeper.name}{words}"))
    click.echo(plain(f"The recovery key is in {recovery}. Put it where no thief and no fire gets both it and this computer."))  # fmt: skip
    if others:
        click.echo(
            "Compare the six words of each keeper with those on their own computer, before you put anything in."
        )
    if threshold == 1:
        click.echo(f"If all {len(everybody)} keys are lost, nobody can ever open the texts again.")
    else:
        click.echo(vault_words.losing(len(everybody), threshold))
        click.echo("The recovery key is one share like the others. Have each keeper try and print theirs (rosetta vault share --print); rosetta vault check-up says who did not.")  # fmt: skip
    click.echo(plain(f"What leaves of its texts is decided by a policy, {released_words.policy_words(budget.Policy())} Others: rosetta vault budget --policy."))  # fmt: skip
    click.echo(f"The vault's own number: {state.head.vault[:16]}")
