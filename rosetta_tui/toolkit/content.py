"""What screens are made of: harmless text and values, labelled fields, where one is."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from rich.highlighter import Highlighter
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from rosetta_tui.show.columns import Cell, Column, Rows, widest
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.textual_inside import forget_size


class PageLine(NamedTuple):
    label: str
    text: Content


class DetailLine(Static):
    """Repaints only where its text changed, and lays out only where its height did: a layout costs more than all else."""

    def tell(self, content: Content, title: str | None = None) -> None:
        """Show this text, under this border title."""
        if title != self.border_title:
            self.border_title = title
        before = self.content if isinstance(self.content, Content) else Content(str(self.content))
        if content.is_same(before):
            return
        width = max(1, self.content_size.width)
        higher = content.get_height({}, width) != before.get_height({}, width)
        if higher:
            forget_size(self)
        self.update(content, layout=higher)


def show(text: str, style: str = "") -> Content:
    """Return harmless text as Content, which Textual never reads as markup; line breaks become ␤."""
    return Content.styled(plain(text), style)


def show_lines(text: str, style: str = "") -> Content:
    """Return harmless text as Content with its line breaks, for places that have room."""
    lines = text.replace("\r\n", "\n").split("\n")
    return Content("\n").join([show(line, style) for line in lines])


def shown_value(metric: str, number: float | None, references: float | None) -> Content:
    """Return a value as on a screen; FST acceptance always with ``references``, the share of the references it accepts."""
    from rosetta_tui.show.figures import (  # the specification costs start-up time
        beside_value,
        value,
    )

    beside = beside_value(metric, references)
    return Content.assemble(value(metric, number), (f" ({beside})" if beside else "", "$quiet"))


INSTEAD = "¤"  # stands for a character that shows nothing of its own, or would act


class Harmless(Highlighter):
    """Shows one cell for each character that would act, so that the cursor stays where it belongs."""

    def __call__(self, text: str | Text) -> Text:
        typed = text if isinstance(text, str) else text.plain
        return Text("".join(map(_shown_character, typed)), no_wrap=True, overflow="ignore", end="")

    def highlight(self, text: Text) -> None:
        """Colour nothing."""


@cache
def _shown_character(character: str) -> str:
    if plain(f"x{character}") == f"x{character}":
        return character
    symbol = plain(character)
    return symbol if len(symbol) == 1 else INSTEAD


class Field(Horizontal):
    """One line of a page about one thing; the text wraps beside its label."""

    def __init__(
        self,
        label: str,
        text: Content,
        *,
        id: str | None = None,  # noqa: A002  Textual's own name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.label = label  # what stands at the left
        self._label = DetailLine(Content.styled(label, "$quiet"), classes="label")
        self._text = DetailLine(text, classes="text")

    def compose(self) -> ComposeResult:
        yield self._label
        yield self._text

    def tell(self, label: str, text: Content) -> None:
        """Show another label and text, in a tenth of the time that a new field takes."""
        self.label = label
        self._label.tell(Content.styled(label, "$quiet"))
        self._text.tell(text)


async def show_fields(page: Widget, lines: Iterable[tuple[str, Content]]) -> None:
    """Show lines as the fields of a page: those that are there take the first of them, the rest come or go."""
    lines_shown, fields = list(lines), list(page.query(Field))
    async with page.batch():
        for field, line in zip(fields, lines_shown, strict=False):
            field.tell(*line)
        for field in fields[len(lines_shown) :]:
            await field.remove()
        await page.mount_all([Field(*line) for line in lines_shown[len(fields) :]])


class EmptyState(Static):
    """Is instead of an empty list."""

    def __init__(self, title: str, words: str | Content = "") -> None:
        """Initialise with ``title``, what does not exist, and ``words``, what to do about it."""
        super().__init__()
        self.say(title, words)

    def say(self, title: str, words: str | Content = "") -> None:
        """Show something else; text from outside comes as what ``rosetta_tui.show.text.show`` gives."""
        content = words if isinstance(words, Content) else Content(words)
        self.update(Content.assemble((f"{title}\n\n", "bold"), content))


class StatusBar(Static):
    """One line at the top of a screen; ``say`` adds what is to be known at once."""

    def __init__(self) -> None:
        super().__init__(id="where")
        self._facts = Content()

    def on_mount(self) -> None:
        self.say(self._facts)

    def say(self, facts: Content) -> None:
        """Show the way, and these facts behind it."""
        self._facts = facts
        self.remove_class("-bad")
        names = list(trail(self.screen))
        way = [show(name, "$quiet") for name in names[:-1]]
        here = show(names[-1], "bold $mark")
        gap = "   " if facts.plain else ""
        self.update(Content.assemble(Content.styled(" › ", "$quiet").join([*way, here]), gap, facts))

    def cannot(self, why: str) -> None:
        """Show the way, and behind it what is wrong."""
        self.say(show(why, "$bad"))
        self.add_class("-bad")


def trail(screen: Screen[Any]) -> Iterator[str]:
    """Yield the program's name and the titles of the screens that led here, except the lowest and dialogs."""
    app = screen.app
    stack = [screen for screen in app.screen_stack if screen.title and not isinstance(screen, ModalScreen)]
    below = stack[: stack.index(screen)] if screen in stack else []
    yield app.title
    yield from (screen.title or "" for screen in below[1:])
    yield screen.title or app.title


# ---- The form of a section of a screen: a few sentences, rows, and for each row all that has no
# room in it.

Line = tuple[str, str]  # a sentence, and the tone it is said in

Commands = Mapping[str, Sequence[str]]  # what is to be done → its command, word by word


class PageRows(Rows[Sequence[Cell]]):
    """The rows of a page, which are few and quiet; columns become as wide as what is in them."""

    def __init__(self, columns: Sequence[Column], items: Sequence[Sequence[Cell]]) -> None:
        super().__init__(items)
        self._columns = columns

    def needs(self) -> Sequence[int]:
        """Return the cells that the widest text of each column takes."""
        texts = zip(*([cell.text for cell in row] for row in self.items), strict=True)
        keys = [column.key for column in self._columns]
        return widest(self._columns, dict(zip(keys, texts, strict=False)))

    def key(self, index: int) -> Hashable:
        return self.items[index]

    def cells(self, index: int) -> Sequence[Cell]:
        return self.items[index]


@dataclass(frozen=True)
class SectionPage:
    said: Sequence[Line]
    columns: Sequence[Column]
    rows: Sequence[tuple[Cell, ...]]
    about: Sequence[Sequence[Line]]  # for each row what stands below the table
    commands: Sequence[Commands]  # for each row, or one for a page without rows
    empty: str = ""  # what is said instead of rows where there are none
    waiting: int = 0  # how many things of it ask for a person
    answerable: Sequence[str] = ()  # for each request its number if it can be answered
    first: int = 0  # the row at which a person begins, and stays as long as they have not left it
