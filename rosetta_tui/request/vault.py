"""The options about a vault: whose keys open it, what its log keeps, and how keepers who are elsewhere are asked.

A command that opens a vault of several keepers goes as far as the opening. There it writes the request, and waits for the
answers on a terminal; elsewhere it ends, and the same command continues with them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from harness.core.failures import UsageError
from rosetta_tui.front import WAITING, on_terminal
from rosetta_tui.request.click_options import adding
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from harness.vault.request import VaultRequest

OF_VAULT = ("purpose", "clock_was_wrong", "despite_network", "others")
"""Options that go with ``--vault``."""

together = adding("others")
"""The options by which keepers bring their shares together on this computer."""
out_of_vault = adding("vault", "purpose", "others", "clock_was_wrong", "despite_network")
"""The options by which FILE is the name of a corpus of a vault, or a run's texts are opened with one."""
without_method = adding("vault", "purpose", "others", "clock_was_wrong")
"""The same for work in which no code of others runs next to the texts."""

DetailLine = Callable[[Sequence[str]], None]
"""Shows lines in words."""


def tell(lines: Sequence[str]) -> None:
    """Show what keepers allow on standard error."""
    for line in lines:
        click.echo(plain(line), err=True)


class _TypedShares:
    """Asks at the terminal, and says there what came."""

    def words(self) -> str:
        """Prompt for the words of one printed share; what is typed is not shown."""
        asked = "The 33 words of a printed share (they are not shown)"
        return str(click.prompt(asked, hide_input=True, err=True))

    def say(self, words: str) -> None:
        """Print it on standard error."""
        click.echo(plain(words), err=True)


TYPED: Final = _TypedShares()


WAIT_SECONDS: Final = 1.0


def wait(request: Path) -> None:
    """Pause before the answers to a request are looked for again; where nobody is at a terminal, end the command."""
    then = f"The same command continues once the answers are next to {plain(str(request))}."
    if not on_terminal():
        click.echo(f"Waiting for the keepers. {then}", err=True)
        raise click.exceptions.Exit(WAITING)
    try:
        time.sleep(WAIT_SECONDS)
    except KeyboardInterrupt:
        click.echo(f"\nThe request stays. {then}", err=True)
        raise


def vault_request(
    given: Mapping[str, Any], work: str = "run", tell: DetailLine = tell, *, asks: bool = True
) -> VaultRequest | None:
    """Read the options about a vault, as ``VaultRequest.read`` does; words of shares are typed at the terminal.

    ``asks``: keepers who are elsewhere are asked, in the file ``given["request"]`` where it is there.
    """
    from harness.vault.request import VaultRequest

    return VaultRequest.read(given, work, TYPED, tell, wait if asks else None)


def refuse_existing(path: Path) -> None:
    """Raise UsageError where a file is there already, or its folder is not, before anything is done."""
    if path.exists():
        raise UsageError(f"{path.name} is there already. Choose another name with --to.")
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder {path.parent}. Put the stick back, or name another one.")
