"""The options about a vault: whose keys open it, what its log keeps, and the request by which keepers are asked first.

Every command that uses a grant (``--grant``) can ask for it (``--ask``) with the very same options: it goes as far as
the opening, and there the request is written in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import click

from harness.core.failures import UsageError
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from harness.vault.request import VaultRequest

Command = TypeVar("Command", bound=Callable[..., Any])
_FILE = click.Path(path_type=Path)

OF_VAULT = ("purpose", "vault_key", "clock_was_wrong", "despite_network", "others", "shares")
"""Options that go with ``--vault``."""

_VAULT = click.option("--vault", type=_FILE, metavar="FOLDER", help="The vault that holds the corpus. Where a command takes FILE, give the corpus's name there instead.")  # fmt: skip
_PURPOSE = click.option("--purpose", metavar="WORDS", help="Why the vault is opened. Its log keeps these words, so name nobody and quote no text.")  # fmt: skip
_VAULT_KEY = click.option("--vault-key", type=_FILE, metavar="FILE", help="Open it with the keys in this file, such as the recovery key.")  # fmt: skip
_CLOCK_WAS_WRONG = click.option("--clock-was-wrong", is_flag=True, help="The clock is right now, and was wrong when the last line of the vault's log was written.")  # fmt: skip
_DESPITE_NETWORK = click.option("--despite-network", metavar="WHY", help="Open the vault even though this computer can reach others; the log and the card keep WHY.")  # fmt: skip
_WITH = click.option("--with", "others", multiple=True, type=_FILE, metavar="FILE", help="Keys of another keeper who is here, or the recovery key; repeat it for each. For vaults that several keepers open together.")  # fmt: skip
_SHARES = click.option("--shares", is_flag=True, help="Ask for the words of printed shares until there are enough.")  # fmt: skip
ASK = click.option("--ask", type=_FILE, metavar="NAME.rosetta-request", help="Open nothing: write the request that asks the keepers to allow exactly this, once. It says --purpose.")  # fmt: skip
GRANT = click.option("--grant", type=_FILE, metavar="NAME.rosetta-request", help="The request, once enough keepers allowed it. It opens the texts once, for the purpose that it states.")  # fmt: skip


def _adding(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


together = _adding(_WITH, _SHARES)
"""The options by which keepers bring their shares together on this computer."""
by_grant = _adding(GRANT, ASK)
out_of_vault = _adding(_VAULT, _PURPOSE, _VAULT_KEY, _CLOCK_WAS_WRONG, _DESPITE_NETWORK, together)
"""The options by which FILE is the name of a corpus of a vault, or a run's texts are opened with one."""
without_method = _adding(_VAULT, _PURPOSE, _VAULT_KEY, _CLOCK_WAS_WRONG, by_grant, together)
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


def vault_request(
    given: Mapping[str, Any], work: str = "run", tell: DetailLine = tell
) -> VaultRequest | None:
    """Read the options about a vault, as ``VaultRequest.read`` does; words of shares are typed at the terminal."""
    from harness.vault.request import VaultRequest

    if (file := given.get("ask")) is not None:
        refuse_existing(file)
    return VaultRequest.read(given, work, TYPED, tell, asked)


def asked(lines: Sequence[str]) -> NoReturn:
    """Show what the keepers are asked for, and end the command."""
    for line in lines:
        click.echo(plain(line))
    raise click.exceptions.Exit(0)


def refuse_existing(path: Path) -> None:
    """Raise UsageError where a file is there already, or its folder is not, before anything is done."""
    if path.exists():
        raise UsageError(f"{path.name} is there already. Choose another name.")
    if not path.parent.is_dir():
        raise UsageError(
            f"There is no folder {path.parent}. Put the stick back, or name another one."
        )
