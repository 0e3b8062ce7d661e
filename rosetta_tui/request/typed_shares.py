"""Keepers who bring their shares of a vault together on this computer: the options for it, and words that they type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from rosetta_tui.show.text import plain

Command = TypeVar("Command", bound=Callable[..., Any])


def together(command: Command) -> Command:
    """Add the options by which keepers bring their shares together on this computer."""
    for add in (
        click.option("--shares", is_flag=True, help="Ask for the words of printed shares until there are enough."),
        click.option("--with", "others", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="Keys of another keeper who is here, or the recovery key; repeat it for each. For vaults that several keepers open together."),
    ):  # fmt: skip
        command = add(command)
    return command


by_grant = click.option("--grant", type=click.Path(path_type=Path), metavar="NAME.rosetta-request", help="A request that enough keepers of the vault allowed. It opens the texts once, for the purpose that it states.")  # fmt: skip


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
