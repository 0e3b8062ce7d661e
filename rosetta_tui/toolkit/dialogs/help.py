"""Finding one's way by keys: those of the screen below, and letters on everything that can have the focus.

The keys are written from the bindings, so that they cannot be wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from rosetta_tui.show.key_names import FOREIGN, key_name

LETTERS = "asdfghjklqwertyuiopzxcvbnm"  # the nearest to the fingers first


class Letter(Static):
    """One letter, at the upper left corner of what it leads to."""

    def __init__(self, letter: str, target: Widget) -> None:
        super().__init__(Content(f" {letter} "))
        self.letter, self.target = letter, target


class JumpScreen(ModalScreen[Widget | None]):
    """Gives the widget whose letter was typed or clicked, None for any other key."""

    TITLE = "Jump"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, targets: Sequence[Widget]) -> None:
        super().__init__()
        self._targets = targets[: len(LETTERS)]

    def compose(self) -> ComposeResult:
        for letter, target in zip(LETTERS, self._targets, strict=False):
            label = Letter(letter, target)
            label.styles.offset = (target.region.x, target.region.y)
            yield label

    def on_key(self, event: events.Key) -> None:
        event.stop()
        for label in self.query(Letter):
            if event.key == label.letter:
                self.dismiss(label.target)
                return
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.dismiss(event.widget.target if isinstance(event.widget, Letter) else None)


def targets_of(screen: Screen[Any]) -> list[Widget]:
    """Return what can have the focus and is seen, from the top to the bottom."""
    seen = [widget for widget in screen.focus_chain if widget.region and widget.is_on_screen]
    return sorted(seen, key=lambda widget: (widget.region.y, widget.region.x))


Keys = Mapping[str, str]  # meaning → the keys that have it

HERE, FOCUSED, EVERYWHERE = "on this screen", "where the cursor is", "everywhere"


class HelpScreen(ModalScreen[None]):
    """Every key that works on a screen, and what the symbols on it mean."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012  Textual's own form

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "dismiss(None)", "Back")]

    def __init__(self, title: str, about: str, groups: Mapping[str, Keys]) -> None:
        super().__init__()
        self._title, self._about, self._groups = title, about, groups

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog -wide"):
            yield Static(Content.styled(self._title, "bold"))
            yield Static(Content(self._about), classes="about")
            with Horizontal(classes="keys"):
                yield Static(_group(HERE, self._groups.get(HERE, {})))
                with Vertical():
                    for name in (FOCUSED, EVERYWHERE):
                        yield Static(_group(name, self._groups.get(name, {})))
            yield Static(Content.styled("esc goes back", "$quiet"))


def _group(name: str, keys: Keys) -> Content:
    """Write one group, with its name above it; nothing where it has no keys."""
    width = max(map(len, keys.values()), default=0)
    lines = [Content.assemble((f"{key:>{width}}", "bold $mark"), f"  {words}") for words, key in keys.items()]
    title = [Content.styled(name, "$quiet")] if lines else []
    return Content("\n").join([*title, *lines, Content()])


def keys_of(screen: Screen[Any]) -> dict[str, dict[str, str]]:
    """Return a screen's keys by group (own, focused, app), each meaning once; those not in the footer last."""
    groups: dict[str, dict[str, list[str]]] = {HERE: {}, FOCUSED: {}, EVERYWHERE: {}}
    taken: set[str] = set()
    for active in sorted(screen.active_bindings.values(), key=lambda active: not active.binding.show):
        binding, node = active.binding, active.node
        if not binding.description or binding.system or binding.action in FOREIGN:
            continue
        group = HERE if node is screen else EVERYWHERE if node is screen.app else FOCUSED
        words = binding.tooltip or binding.description
        if words not in groups[group] and words in taken:
            continue
        taken.add(words)
        groups[group].setdefault(words, []).append(key_name(binding.key))
    return {group: {w: " ".join(ks) for w, ks in keys.items()} for group, keys in groups.items()}
