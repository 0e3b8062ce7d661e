"""The keys of the screen below, written from its bindings so that they cannot be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

_NAMES = {
    "slash": "/",
    "question_mark": "?",
    "escape": "esc",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "pageup": "page up",
    "pagedown": "page down",
}


_FOREIGN = frozenset(
    {
        "scroll_left",
        "scroll_right",
        "page_left",
        "page_right",
        "app.focus_next",
        "app.focus_previous",
    }
)
"""Actions that a scrolling or focusable thing brings with it and nobody needs to know."""


class HelpScreen(ModalScreen[None]):
    """Every key that works on a screen, and what the symbols on it mean."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss(None)", "Back"),
    ]

    def __init__(self, title: str, about: str, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._title = title
        self._about = about
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Lay out the keys."""
        width = max((len(key) for key, _ in self._keys), default=0)
        lines = [
            Content.assemble((f"{key:>{width}}", "bold $mark"), f"  {words}")
            for key, words in self._keys
        ]
        with VerticalScroll(classes="dialog -wide"):
            yield Static(Content.styled(self._title, "bold"))
            yield Static(Content(self._about), classes="about")
            yield Static(Content("\n").join(lines))
            yield Static(Content.styled("\nesc goes back", "$quiet"))


def keys_of(screen: Screen[object]) -> list[tuple[str, str]]:
    """Give key and meaning of the bindings of a screen, each meaning once, movements last."""
    shown: dict[str, list[str]] = {}
    moves: dict[str, list[str]] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.description and not binding.system and binding.action not in _FOREIGN:
            meanings = shown if binding.show else moves
            meanings.setdefault(binding.description, []).append(_name(binding.key))
    return [
        (" ".join([*shown.get(words, []), *moves.get(words, [])]), words)
        for words in {**shown, **moves}
    ]


def _name(key: str) -> str:
    name = _NAMES.get(key, key)
    return name.replace("ctrl+", "^")
