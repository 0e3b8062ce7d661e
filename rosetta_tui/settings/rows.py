"""Settings as rows of a table: what each is called, what it is now, what it is for, and what takes it away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from harness.sealed.keys import key_phrase
from harness.settings import SPECS, Changes, Settings
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column, Rows
from rosetta_tui.show.key_names import key_name
from rosetta_tui.toolkit.customization import THEME_WORDS, Keyboard


class SettingsSection(StrEnum):
    """Parts of the settings, in the order in which they are offered."""

    COLOURS = "Colours"
    MODELS = "Models"
    ENDPOINTS = "Endpoints"
    SECRETS = "Service keys"
    FOLDERS = "Folders"
    SHARING = "Sharing"
    KEYBOARD = "Keyboard"


PARTS: Final = {
    SettingsSection.COLOURS: (
        "Move to see the colours at once; enter keeps them.",
        (Column("name", "colours", 20, share=1), Column("value", "", 8), Column("note", "name in the file", 16)),
    ),
    SettingsSection.MODELS: (
        "What runs take where they do not say it themselves. A run keeps what it took.",
        (Column("name", "setting", 16), Column("value", "now", 14, share=3), Column("note", "", 14, share=2, drop=1)),
    ),
    SettingsSection.ENDPOINTS: (
        "Short names for places that answer calls: a run can name them instead of a URL.",
        (Column("name", "name", 14), Column("value", "URL", 20, share=1), Column("note", "", 7)),
    ),
    SettingsSection.SECRETS: (
        "Kept by the operating system's keyring; never shown, never written to a file.",
        (Column("name", "service", 14, share=1), Column("value", "its key", 16, share=2), Column("note", "", 20, share=2)),
    ),
    SettingsSection.FOLDERS: (
        "Where language cards and analysers are looked for, and where exports go.",
        (Column("name", "what", 9), Column("value", "folder", 20, share=1), Column("note", "", 11)),
    ),
    SettingsSection.SHARING: (
        "Where cards are published, and whose signed weights of the composite are taken here.",
        (Column("name", "what", 13), Column("value", "now", 20, share=3), Column("note", "", 14, share=2, drop=1)),
    ),
    SettingsSection.KEYBOARD: (
        "enter asks for another key; del takes the shipped one back.",
        (Column("name", "what it does", 20, share=2), Column("value", "key", 8, share=1), Column("note", "where", 20, share=3)),
    ),
}  # fmt: skip
"""What a part is for, in a line, and the columns of name, value and note of its rows."""
ADDED: Final = {
    SettingsSection.FOLDERS: "language_folders",
    SettingsSection.SHARING: "trusted_signers",
    SettingsSection.ENDPOINTS: "endpoints",
}
"""The field of a part that takes one more item."""
_EMPTY: Final = {"exports": "where Rosetta was started"}
"""What holds where a field is empty."""
_ALWAYS: Final = {"trusted_signers": "the organisation of this data folder"}
"""What a list has besides."""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One line of a part."""

    id: str
    """By this the screen knows what to change."""
    name: str
    value: str
    note: str = ""
    tone: str = "plain"
    """Of the value."""
    setting: str = ""
    """Its field; empty where the line is in no file."""
    place: int | None = None
    """In the field's list."""
    removal: Changes | None = field(default=None, hash=False)
    """What takes it away; None where there is nothing to take away. A key of a service is in no file: nothing changes there."""


class SettingRows(Rows[SettingRow]):
    """The rows of one part that fit a search."""

    def __init__(self, rows: Sequence[SettingRow], search: str = "") -> None:
        words = search.casefold().split()
        super().__init__(
            [
                row
                for row in rows
                if all(word in f"{row.name} {row.value} {row.note} {row.id}".casefold() for word in words)
            ]
        )

    def find(self, id_: str) -> int | None:
        """Return the place of a row, None where it is not shown."""
        return next((at for at, row in enumerate(self.items) if row.id == id_), None)

    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row."""
        row = self.items[index]
        return (Cell(row.name), Cell(row.value, row.tone), Cell(row.note, "quiet"))


def short(value: str | Path) -> str:
    """Return a path with ~ for the person's home, anything else as it is."""
    if not isinstance(value, Path):
        return value
    try:
        return str("~" / value.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(value)


def colour_rows(settings: Settings) -> list[SettingRow]:
    """Return a row for each set of colours."""
    return [
        SettingRow(name, words, "● chosen" if name == settings.theme else "", name, "mark", "theme")
        for name, words in THEME_WORDS.items()
    ]


def file_rows(part: SettingsSection, settings: Settings, home: Path) -> Iterator[SettingRow]:
    """Yield a row for each field of a part as its metadata says, for each item of a list and for each name of a table."""
    for name, spec in SPECS.items():
        value = getattr(settings, name)
        if spec.part != part:
            continue
        if isinstance(value, Mapping):
            for entry, text in value.items():
                yield SettingRow(entry, entry, text, spec.note, setting=name, removal={name: {entry: None}})
        elif isinstance(value, tuple):
            always = _ALWAYS.get(name) or short(home / "languages")
            yield SettingRow(name, spec.title, always, "always", "quiet", name, len(value))
            for place, item in enumerate(value):
                rest = value[:place] + value[place + 1 :]
                yield _row(f"{name} {place}", name, item, place, {name: rest})
        elif value:
            yield _row(name, name, value, None, {name: getattr(Settings(), name)})
        else:
            yield SettingRow(name, spec.title, _EMPTY.get(name, figures.NONE), spec.note, "quiet", name)


def _row(id_: str, name: str, value: str | Path, place: int | None, removal: Changes) -> SettingRow:
    """Return the row of a value; a folder that is gone says so, and a public key is shown by its six words."""
    words, note, tone = short(value), SPECS[name].note, "plain"
    if name == "trusted_signers":
        words, note = key_phrase(str(value)), f"key {value}"
    elif isinstance(value, Path) and SPECS[name].files == ("/",) and not value.is_dir():
        note, tone = "✗ not there", "warn"
    return SettingRow(id_, SPECS[name].title, words, note, tone, name, place, removal)


def endpoint_rows(presets: Mapping[str, str]) -> list[SettingRow]:
    """Return the endpoints that are known from the start."""
    return [SettingRow(f"preset {name}", name, url, "shipped", "quiet") for name, url in presets.items()]


@dataclass(frozen=True, slots=True)
class SecretState:
    """Where the key of one service is; never the key."""

    name: str
    variable: str
    in_variable: bool
    in_keyring: bool


def secret_row(state: SecretState) -> SettingRow:
    """Return where the key of a service is."""
    value, note, tone = figures.NONE, f"or {state.variable}", "quiet"
    if state.in_variable:
        also = "; the keyring has one too" if state.in_keyring else ""
        value, note, tone = f"✓ in {state.variable}", f"goes before the keyring{also}", "good"
    elif state.in_keyring:
        value, note, tone = "✓ in the keyring", "", "good"
    return SettingRow(state.name, state.name, value, note, tone, removal={} if state.in_keyring else None)


def keyboard_rows(settings: Settings, board: Keyboard) -> list[SettingRow]:
    """Return every act with its keys now, and what is chosen in the file for acts that do not exist."""
    rows = []
    for act in board.acts.values():
        keys = " ".join(map(key_name, act.keys_now(settings.keys)))
        mine = act.id in settings.keys
        was = f"shipped: {' '.join(map(key_name, act.keys))} · " if mine else ""
        removal = {"keys": {act.id: None}} if mine else None
        rows.append(SettingRow(act.id, act.words, keys, f"{was}{', '.join(act.places)}", "mark" if mine else "plain", "keys", None, removal))  # fmt: skip
    return rows + [
        SettingRow(id_, id_, keys, "nothing has this id", "warn", "keys", None, {"keys": {id_: None}})
        for id_, keys in settings.keys.items()
        if id_ not in board.acts
    ]  # fmt: skip
