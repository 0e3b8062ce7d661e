"""Settings as rows of a table: what each is called, what it is now, and what it is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from harness.sealed.keys import key_phrase
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column, Rows
from rosetta_tui.show.key_names import key_name
from rosetta_tui.toolkit.customization import THEME_WORDS

if TYPE_CHECKING:
    from harness.settings import Settings
    from rosetta_tui.toolkit.customization import Keyboard


class SettingsSection(StrEnum):
    """Parts of the settings, in the order in which they are offered."""

    COLOURS = "Colours"
    MODELS = "Models"
    ENDPOINTS = "Endpoints"
    SECRETS = "Service keys"
    FOLDERS = "Folders"
    SHARING = "Sharing"
    KEYBOARD = "Keyboard"


ABOUT = {
    SettingsSection.COLOURS: "Move to see the colours at once; enter keeps them.",
    SettingsSection.MODELS: "What runs take where they do not say it themselves. A run keeps what it took.",
    SettingsSection.ENDPOINTS: "Short names for places that answer calls: a run can name them instead of a URL.",
    SettingsSection.SECRETS: "Kept by the operating system's keyring; never shown, never written to a file.",
    SettingsSection.FOLDERS: "Where language cards and analysers are looked for, and where exports go.",
    SettingsSection.SHARING: "Where cards are published, and whose signed weights of the composite are taken here.",
    SettingsSection.KEYBOARD: "enter asks for another key; del takes the shipped one back.",
}
"""What a part is for, in a line."""


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
    removable: bool = False
    """Whether there is something to take away."""


COLUMNS = {
    SettingsSection.COLOURS: (
        Column("name", "colours", 20, share=1),
        Column("value", "", 8),
        Column("note", "name in the file", 16),
    ),
    SettingsSection.MODELS: (
        Column("name", "setting", 16),
        Column("value", "now", 14, share=3),
        Column("note", "", 14, share=2, drop=1),
    ),
    SettingsSection.ENDPOINTS: (
        Column("name", "name", 14),
        Column("value", "URL", 20, share=1),
        Column("note", "", 7),
    ),
    SettingsSection.SECRETS: (
        Column("name", "service", 14, share=1),
        Column("value", "its key", 16, share=2),
        Column("note", "", 20, share=2),
    ),
    SettingsSection.FOLDERS: (
        Column("name", "what", 9),
        Column("value", "folder", 20, share=1),
        Column("note", "", 11),
    ),
    SettingsSection.SHARING: (
        Column("name", "what", 13),
        Column("value", "now", 20, share=3),
        Column("note", "", 14, share=2, drop=1),
    ),
    SettingsSection.KEYBOARD: (
        Column("name", "what it does", 20, share=2),
        Column("value", "key", 8, share=1),
        Column("note", "where", 20, share=3),
    ),
}
"""Columns of each part; cells are name, value and note of a SettingRow."""


class SettingRows(Rows[SettingRow]):
    """The rows of one part that fit a search."""

    def __init__(self, rows: Sequence[SettingRow], search: str = "") -> None:
        words = search.casefold().split()
        super().__init__([row for row in rows if all(word in _searched(row) for word in words)])

    def find(self, id_: str) -> int | None:
        """Return the place of a row, None where it is not shown."""
        return next((at for at, row in enumerate(self.items) if row.id == id_), None)

    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row."""
        row = self.items[index]
        return (Cell(row.name), Cell(row.value, row.tone), Cell(row.note, "quiet"))


def _searched(row: SettingRow) -> str:
    return f"{row.name} {row.value} {row.note} {row.id}".casefold()


def colour_rows(settings: Settings) -> list[SettingRow]:
    """Return a row for each set of colours."""
    return [
        SettingRow(name, words, "● chosen" if name == settings.theme else "", name, "mark")
        for name, words in THEME_WORDS.items()
    ]


def model_rows(settings: Settings) -> list[SettingRow]:
    """Return what runs take where they do not say it."""
    return [
        _row("endpoint", "Default endpoint", settings.endpoint, "for chat and pipeline"),
        _row("model", "Default model", settings.model, "asked for at the default endpoint"),
        _row("prices", "Own price table", settings.prices, "goes before the shipped table"),
    ]


def _row(id_: str, name: str, value: str | Path | None, note: str) -> SettingRow:
    if not value:
        return SettingRow(id_, name, figures.NONE, note, "quiet")
    return SettingRow(id_, name, short(value), note, removable=True)


def short(value: str | Path) -> str:
    """Return a path with ~ for the person's home, anything else as it is."""
    if not isinstance(value, Path):
        return value
    try:
        return str("~" / value.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(value)


def endpoint_rows(settings: Settings, presets: Mapping[str, str]) -> list[SettingRow]:
    """Return the person's own endpoints, then those that are known from the start."""
    own = [
        SettingRow(name, name, url, "yours", removable=True)
        for name, url in settings.endpoints.items()
    ]
    return own + [
        SettingRow(f"preset {name}", name, url, "shipped", "quiet") for name, url in presets.items()
    ]


@dataclass(frozen=True, slots=True)
class SecretState:
    """Where the key of one service is; never the key."""

    name: str
    variable: str
    in_variable: bool
    in_keyring: bool


def secret_rows(states: Sequence[SecretState]) -> list[SettingRow]:
    """Return for each service where its key is."""
    return [_secret_row(state) for state in states]


def _secret_row(state: SecretState) -> SettingRow:
    if state.in_variable:
        also = "; the keyring has one too" if state.in_keyring else ""
        note = f"goes before the keyring{also}"
        value = f"✓ in {state.variable}"
        return SettingRow(state.name, state.name, value, note, "good", state.in_keyring)
    if state.in_keyring:
        return SettingRow(state.name, state.name, "✓ in the keyring", "", "good", removable=True)
    return SettingRow(state.name, state.name, figures.NONE, f"or {state.variable}", "quiet")


def folder_rows(settings: Settings, home: Path) -> list[SettingRow]:
    """Return the folder of exports and those of languages; one that is gone says so."""
    exports = settings.exports
    first = _row("exports", "Exports", exports, "")
    if exports is None:
        first = SettingRow("exports", "Exports", "where Rosetta was started", "", "quiet")
    elif not exports.is_dir():
        first = SettingRow("exports", "Exports", short(exports), "✗ not there", "warn", True)
    shipped = SettingRow("languages", "Languages", short(home / "languages"), "always", "quiet")
    own = [_folder_row(number, path) for number, path in enumerate(settings.language_folders)]
    return [first, shipped, *own]


def _folder_row(number: int, path: Path) -> SettingRow:
    there = path.is_dir()
    note, tone = ("", "plain") if there else ("✗ not there", "warn")
    return SettingRow(f"folder {number}", "Languages", short(path), note, tone, removable=True)


def sharing_rows(settings: Settings) -> list[SettingRow]:
    """Return where cards are published, and the keys whose signed weights are taken, by their six words."""
    own = SettingRow(
        "signers", "Weights by", "the organisation of this data folder", "always", "quiet"
    )
    return [
        _row("publish", "Cards go to", settings.publish, "by rosetta publish and --submit"),
        own,
        *(
            SettingRow(
                f"signer {trusted_signer}",
                "Weights by",
                key_phrase(trusted_signer),
                f"key {trusted_signer}",
                removable=True,
            )
            for trusted_signer in settings.trusted_signers
        ),
    ]


def keyboard_rows(settings: Settings, board: Keyboard) -> list[SettingRow]:
    """Return every act with its keys now, and what is chosen in the file for acts that do not exist."""
    rows = []
    for act in board.acts.values():
        keys = " ".join(map(key_name, act.keys_now(settings.keys)))
        mine = act.id in settings.keys
        was = f"shipped: {' '.join(map(key_name, act.keys))} · " if mine else ""
        note = f"{was}{', '.join(act.places)}"
        rows.append(SettingRow(act.id, act.words, keys, note, "mark" if mine else "plain", mine))
    strange = [id_ for id_ in settings.keys if id_ not in board.acts]
    return rows + [
        SettingRow(id_, id_, settings.keys[id_], "nothing has this id", "warn", True)
        for id_ in strange
    ]
