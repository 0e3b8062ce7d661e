"""Where am I: the way that led to this screen, and what it is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from rosetta_tui.toolkit.content import show


class Where(Static):
    """One line at the top of a screen; ``say`` adds what is to be known at once."""

    def __init__(self) -> None:
        super().__init__(id="where")
        self._facts = Content()

    def on_mount(self) -> None:
        """Show the way, before anything is read."""
        self.say(self._facts)

    def say(self, facts: Content) -> None:
        """Show the way, and these facts behind it."""
        self._facts = facts
        names = list(trail(self.screen))
        way = [show(name, "$quiet") for name in names[:-1]]
        here = show(names[-1], "bold $mark")
        gap = "   " if facts.plain else ""
        self.update(
            Content.assemble(Content.styled(" › ", "$quiet").join([*way, here]), gap, facts)
        )


def trail(screen: Screen[Any]) -> Iterator[str]:
    """Yield the program's name, then the titles of the screens that led to this one, and its own.

    The first screen is left out where others stand on it, and so are dialogs, which are no places.
    """
    app = screen.app
    stack = [each for each in app.screen_stack if each.title and not isinstance(each, ModalScreen)]
    below = stack[: stack.index(screen)] if screen in stack else []
    yield app.title
    yield from (each.title or "" for each in below[1:])
    yield screen.title or app.title
