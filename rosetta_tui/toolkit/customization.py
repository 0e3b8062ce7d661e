"""Every key of the program that can be chosen again: what it does, where, and which keys would clash.

The list is read from the screens themselves, so that it cannot be wrong. Reading it imports all of them: it
is for a thread, and only for a person who looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.theme import Theme

import rosetta_tui

KEPT = frozenset({"escape", "tab", "shift+tab", "ctrl+c", "ctrl+p", "ctrl+q"})
"""Keys that always mean what they mean, because a person in trouble needs them."""

EVERYWHERE = "everywhere"
_PACKAGE = __name__.partition(".")[0]
_APP = f"{_PACKAGE}.app.app"  # the reviewers' app has its own keys


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """One screen, or one thing on screens, with the keys that work there."""

    name: str
    kind: type[DOMNode]  # app, Screen or Widget, whichever it is
    bindings: tuple[Binding, ...]

    def meets(self, other: KeyPlace) -> bool:
        """Return whether the keys of both can work at once: those of two screens never do, nor of two widgets."""
        if self.kind is other.kind:
            return self is other
        if ModalScreen in {self.kind, other.kind}:
            return DOMNode in {self.kind, other.kind}  # a dialog shields what is below it
        return True


@dataclass(frozen=True, slots=True)
class Action:
    """Something a person can do by a key, wherever it is offered under this id."""

    id: str
    words: str
    places: tuple[str, ...]
    keys: tuple[str, ...]  # as shipped

    def keys_now(self, chosen: Mapping[str, str]) -> tuple[str, ...]:
        """Return the keys that lead to it, as a person may have chosen them."""
        mine = chosen.get(self.id)
        return self.keys if mine is None else tuple(key.strip() for key in mine.split(","))


class Keyboard:
    """All places and acts of the program."""

    def __init__(self, places: Iterable[KeyPlace]) -> None:
        self.places = tuple(places)
        places_of_keys: dict[str, list[tuple[KeyPlace, Binding]]] = {}
        for place in self.places:
            for binding in place.bindings:
                if binding.id:
                    places_of_keys.setdefault(binding.id, []).append((place, binding))
        self.acts = {id_: _act(id_, uses) for id_, uses in places_of_keys.items()}

    def taken(self, act: Action, key: str, chosen: Mapping[str, str]) -> str | None:
        """Return what else a key does where this act is offered; None where it is free, or the act's own as shipped."""
        here = [place for place in self.places if any(b.id == act.id for b in place.bindings)]
        for place in self.places:
            if any(place.meets(key_place) for key_place in here):
                for binding in place.bindings:
                    ours = key in act.keys and binding.id not in chosen
                    if binding.id != act.id and not ours and key in _keys_now(binding, chosen):
                        return f"{binding.description or binding.action} ({place.name})"
        return None


def _keys_now(binding: Binding, chosen: Mapping[str, str]) -> Sequence[str]:
    mine = chosen.get(binding.id or "")
    return [binding.key] if mine is None else [key.strip() for key in mine.split(",")]


def _act(id_: str, uses: Sequence[tuple[KeyPlace, Binding]]) -> Action:
    places = tuple(dict.fromkeys(place.name for place, _ in uses))
    return Action(
        id=id_,
        words=" / ".join(dict.fromkeys(binding.description for _, binding in uses)),
        places=(EVERYWHERE,) if EVERYWHERE in places else places,
        keys=tuple(dict.fromkeys(binding.key for _, binding in uses)),
    )


@cache
def keyboard() -> Keyboard:
    """Read the keys of every screen of the program."""
    key_places: dict[type[DOMNode], KeyPlace] = {}
    for module in walk_packages(rosetta_tui.__path__, f"{_PACKAGE}."):
        if not module.name.startswith(f"{_PACKAGE}.commands") and not module.ispkg:
            for kind in _nodes(module.name):
                key_places[kind] = _place(kind)
    return Keyboard(sorted(key_places.values(), key=lambda place: (_ORDER[place.kind], place.name)))


def _nodes(module: str) -> Iterator[type[DOMNode]]:
    for value in vars(import_module(module)).values():
        if not isinstance(value, type) or not issubclass(value, DOMNode):
            continue
        if value.__module__ == module and (module == _APP or not issubclass(value, App)):
            yield value


def _place(node: type[DOMNode]) -> KeyPlace:
    kind = next(kind for kind in _ORDER if issubclass(node, kind))
    bindings: list[Binding] = []
    for base in node.__mro__:
        if base.__module__.startswith(f"{_PACKAGE}."):
            nearer = {binding.key for binding in bindings}  # a key has the meaning of the nearest class
            stated = Binding.make_bindings(vars(base).get("BINDINGS", ()))
            bindings += [binding for binding in stated if binding.key not in nearer]
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", node.__name__.removesuffix("Screen"))
    name = EVERYWHERE if kind is App else getattr(node, "TITLE", None) or words.capitalize()
    return KeyPlace(name, kind, tuple(bindings))


_ORDER: dict[type[Any], int] = {App: 0, ModalScreen: 3, Screen: 1, DOMNode: 2}


# ---- Colours: three themes of our own, and the terminal's own sixteen for those who chose
# theirs.
#
# A colour here only repeats what a word or a shape says already. Every text colour reaches a
# contrast of 4.5 on every background it is used on (WCAG 2, level AA).

ANSI_COLOURS = {
    "quiet": "ansi_default",
    "good": "ansi_green",
    "warn": "ansi_yellow",
    "bad": "ansi_red",
    "mark": "ansi_cyan",
    "cursor": "ansi_blue",
    "on-cursor": "ansi_bright_white",
}
"""Stand-ins for our own colours in a theme that leaves colours to the terminal."""


_ROLES = {
    "border": "quiet",
    "border-blurred": "quiet",
    "block-cursor-background": "cursor",
    "block-cursor-foreground": "on-cursor",
    "block-cursor-blurred-background": "cursor",
    "block-cursor-blurred-foreground": "on-cursor",
    "footer-background": "panel",
    "footer-item-background": "panel",
    "footer-foreground": "foreground",
    "footer-description-foreground": "foreground",
    "footer-description-background": "panel",
    "footer-key-foreground": "mark",
    "footer-key-background": "panel",
    "input-selection-background": "cursor",
    "screen-selection-background": "cursor",
    "screen-selection-foreground": "on-cursor",
    "scrollbar": "quiet",
    "scrollbar-background": "panel",
    "scrollbar-corner-color": "panel",
}
"""Parts of Textual's own widgets, and the colour that each of them takes."""


_COLOURS = {
    "background": ("#14171c", "#fbfaf7", "#000000"),
    "surface": ("#1a1e24", "#f3f1ec", "#000000"),
    "panel": ("#222830", "#e9e6df", "#101010"),
    "foreground": ("#e6e6e3", "#1d2126", "#ffffff"),
    "quiet": ("#9ca6b2", "#555c65", "#d6d6d6"),
    "good": ("#86d392", "#1b632d", "#7dff9b"),
    "warn": ("#e8bb70", "#744b00", "#ffd066"),
    "bad": ("#f49a92", "#a01f19", "#ffaaa2"),
    "mark": ("#79bcff", "#0a549f", "#ffe14d"),
    "cursor": ("#2b4d74", "#c4dcf7", "#ffe14d"),
    "on-cursor": ("#ffffff", "#0d141b", "#000000"),
}
"""Name of each colour → what it is in the dark theme, in the light one, and in that of high contrast."""


def _theme(name: str, column: int, *, dark: bool) -> Theme:
    """Make the theme whose colours are in a column of _COLOURS."""
    named = {colour: values[column] for colour, values in _COLOURS.items()}
    return Theme(
        name=name,
        dark=dark,
        primary=named["mark"],
        secondary=named["quiet"],
        accent=named["mark"],
        success=named["good"],
        warning=named["warn"],
        error=named["bad"],
        foreground=named["foreground"],
        background=named["background"],
        surface=named["surface"],
        panel=named["panel"],
        variables={name: named[name] for name in ANSI_COLOURS}
        | {part: named[colour] for part, colour in _ROLES.items()},
    )


DARK = _theme("rosetta-dark", 0, dark=True)
LIGHT = _theme("rosetta-light", 1, dark=False)
CONTRAST = _theme("rosetta-contrast", 2, dark=True)
THEMES = (DARK, LIGHT, CONTRAST)

THEME_WORDS = {
    DARK.name: "dark",
    LIGHT.name: "light",
    CONTRAST.name: "high contrast",
    "ansi-dark": "the terminal's own, on dark",
    "ansi-light": "the terminal's own, on light",
}
"""Name of every theme → in words, in the order in which they are offered."""
