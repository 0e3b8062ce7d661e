"""What can be done with one line of the settings: the questions that are asked, and what an answer changes.

Keys of services are stored and deleted in threads, for a keyring may ask back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from textual.content import Content
from textual.screen import Screen

from harness.core.failures import HarnessError, KeyStoreError
from harness.endpoint.budget import Prices
from harness.endpoint.endpoints import (
    checked_key,
    checked_name,
    checked_url,
    delete_key,
    is_this_machine,
    presets,
    set_key,
    stored_names,
    variable_of,
)
from harness.sealed.keys import key_phrase
from harness.settings import SPECS, Changes, FieldError, Settings, checked
from rosetta_tui.settings.ask_setting import PressKeyScreen, ask_setting, trouble_with
from rosetta_tui.settings.rows import ADDED, SecretState, SettingRow, SettingsSection
from rosetta_tui.show.key_names import key_name
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.customization import Keyboard
from rosetta_tui.toolkit.dialogs.choose import choose, confirm

# Keys of services


def secret_states(settings: Settings) -> tuple[list[SecretState], str]:
    """Return for each service that may want a key where it is, and what hinders the keyring, if anything.

    The keyring is asked, which may open a dialog of the operating system: for a thread.
    """
    trouble, stored = "", list[str]()
    try:
        stored = stored_names()
    except KeyStoreError as error:
        trouble = str(error)
    known = {**presets("chat"), **presets("service")}
    hosts = [urlsplit(url).hostname or "" for url in settings.endpoints.values()]
    names = dict.fromkeys([
        *(name for name, endpoint in known.items() if not endpoint.local),
        *(host for host in hosts if not is_this_machine(host) and trouble_with(checked_name, host) is None),
        *stored,
    ])  # fmt: skip
    variables = {name: variable_of(name) for name in names}
    return [
        SecretState(name, variable, bool(os.environ.get(variable, "").strip()), name in stored)
        for name, variable in variables.items()
    ], trouble


class SecretActions:
    """Asks for a key, and hands it to the keyring; it is kept nowhere else."""

    def __init__(self, screen: Screen[Any], changed: Callable[[], None]) -> None:
        self._screen = screen
        self._changed = changed
        """Called when the keyring holds another set of keys."""

    def ask_host(self) -> None:
        """Prompt for the host of a service, then for its key."""
        about = "The host of a service that is not listed, such as llm.example.org."
        ask_setting(self._screen, "Key of another host", about, partial(trouble_with, checked_name), self.ask)

    def ask(self, name: str) -> None:
        """Prompt for the key of a service, and store it."""
        about = "It is shown nowhere and written to no file. One that is stored already is replaced."
        given = lambda key: self._work(partial(set_key, name, key), f"The key of {name} is stored.")  # noqa: E731
        ask_setting(self._screen, f"Key of {name}", about, partial(trouble_with, checked_key), given, hidden=True)

    def ask_to_delete(self, name: str) -> None:
        """Delete the key of a service, after a question: nothing here could bring it back."""
        question = Content.assemble(
            ("Delete the key of ", "bold"), show(name, "bold"), ("?\n\n", "bold"),
            "Rosetta cannot bring it back: have it available, or get a new one from the service.",
        )  # fmt: skip
        done = f"The key of {name} is deleted."
        confirm(self._screen.app, question, "Delete", partial(self._work, partial(delete_key, name), done))

    def _work(self, act: Callable[[], object], done: str) -> None:
        app = self._screen.app

        def work() -> None:
            try:
                act()
                app.notify(plain(done), markup=False)
            except HarnessError as error:
                app.notify(plain(str(error)), severity="error", timeout=15, markup=False)
            bring(app, self._changed)

        app.run_worker(work, thread=True, group="keyring")


# Fields of the file


def _folder_trouble(path: Path) -> str | None:
    return None if path.is_dir() else "There is no such folder. Choose one from the list, or make it first."


def _exports_trouble(path: Path) -> str | None:
    unwritable = None if os.access(path, os.W_OK) else "You may not write into this folder. Choose another."
    return _folder_trouble(path) or unwritable


_LOOKS: Final[Mapping[str, Callable[[Path], str | None]]] = {
    "prices": partial(trouble_with, Prices),
    "exports": _exports_trouble,
    "language_folders": _folder_trouble,
}
"""What else is wrong with the file or folder that was typed for a field."""


class SettingActions:
    """Asks on behalf of a screen and hands it changes; keys of services are not its business."""

    def __init__(self, screen: Screen[Any], take: Callable[[Changes], None]) -> None:
        self._screen = screen
        self._take = take
        """Makes changes hold, and writes them."""
        self.settings = Settings()
        self.presets: Mapping[str, str] = {}
        """Name → URL of the endpoints that are known from the start."""
        self.board: Keyboard | None = None

    def change(self, row: SettingRow) -> None:
        """Prompt for a line's new value, or set it where it says so itself."""
        match row.setting:
            case "theme":
                self._take({"theme": row.id})
            case "endpoint":
                self._choose_endpoint()
            case "endpoints":
                self._ask_url(row.id)
            case "keys":
                self._press(row)
            case "":
                self._screen.notify("Endpoints that are shipped stay as they are.", markup=False)
            case name:
                self._ask(name, row.place)

    def add(self, section: SettingsSection) -> None:
        """Prompt for one more line of a part."""
        if (field := ADDED[section]) != "endpoints":
            self._ask(field, len(getattr(self.settings, field)))
            return

        def check(name: str) -> str | None:
            if name in self.presets or name in self.settings.endpoints:
                return "There is an endpoint of this name. Take another name."
            return problem(field, {name: "https://x.example"})

        about = "A short name for runs: small letters, digits and -, such as our-server."
        ask_setting(self._screen, "Name of the endpoint", about, check, self._ask_url)

    def reset(self, section: SettingsSection) -> None:
        """Reset a whole part to the program's own."""
        names = [name for name, spec in SPECS.items() if spec.part == section]
        tables = {name: dict.fromkeys(table) for name in names if isinstance(table := getattr(self.settings, name), Mapping)}  # fmt: skip
        self._take({name: tables.get(name, getattr(Settings(), name)) for name in names})

    def _ask(self, field: str, place: int | None) -> None:
        """Prompt for the value of a field, or for the item at a place of its list."""
        spec, held = SPECS[field], getattr(self.settings, field)
        now = (*held, "")[place] if isinstance(held, tuple) and place is not None else held

        def text(typed: str) -> str:
            if field == "trusted_signers":
                return typed.lower()
            return typed if spec.files is None or "://" in typed else str(absolute(typed))

        def stated(typed: str) -> str | list[str]:
            return text(typed) if place is None else [text(typed)]

        def check(typed: str) -> str | None:
            look = _LOOKS.get(field)
            return (look and look(Path(text(typed)))) or problem(field, stated(typed))

        def given(typed: str) -> None:
            value = checked(field, stated(typed))
            if place is not None:
                value = tuple(dict.fromkeys([*held[:place], *value, *held[place + 1 :]]))
            take = partial(self._take, {field: value})
            if field != "trusted_signers":
                take()
                return
            question = Content.assemble(
                ("Take weights that this key signed?\n\n", "bold"), f"Its six words are: {key_phrase(text(typed))}\n\n",
                "Ask the organisation for theirs, by telephone or in person: only if they are the same it is their key.",
            )  # fmt: skip
            confirm(self._screen.app, question, "Take", take)

        ask_setting(self._screen, spec.title, spec.about, check, given, now=str(now or ""), files=spec.files)

    def _choose_endpoint(self) -> None:
        now = self.settings.endpoint
        own = {name: plain(f"{name}  {url}") for name, url in self.settings.endpoints.items()}
        shipped = {name: f"{name}  {url}" for name, url in self.presets.items()}
        choices = {"": "none: each run names its own", **own, **shipped}
        choices.setdefault(now, plain(now))
        choose(self._screen.app, SPECS["endpoint"].title, choices, now, lambda name: self._take({"endpoint": name}))

    def _ask_url(self, name: str) -> None:
        """Prompt for the URL of an own endpoint."""
        spec, now = SPECS["endpoints"], self.settings.endpoints.get(name, "")

        def check(url: str) -> str | None:
            return trouble_with(checked_url, url) or problem("endpoints", {name: url})

        take = lambda url: self._take({"endpoints": {name: url}})  # noqa: E731
        ask_setting(self._screen, f"{spec.title} {name}", spec.about, check, take, now=now)

    def _press(self, row: SettingRow) -> None:
        """Prompt for another key by its being pressed."""
        if (board := self.board) is None or (act := board.acts.get(row.id)) is None:
            return
        chosen = self.settings.keys

        def pressed(key: str | None) -> None:
            if key is not None:
                self._take({"keys": {act.id: None if (key,) == act.keys else key}})

        now = " ".join(map(key_name, act.keys_now(chosen)))
        self._screen.app.push_screen(PressKeyScreen(act.words, now, lambda key: board.taken(act, key, chosen)), pressed)


def problem(field: str, value: object) -> str | None:
    """Return what is wrong with a value of a field, None where nothing is."""
    try:
        checked(field, value)
    except FieldError as error:
        return f"This {error.words}."
    return None


def absolute(typed: str) -> Path:
    """Return the path that was typed, from the root; ~ is the person's home."""
    try:
        return Path(typed).expanduser().absolute()
    except RuntimeError:
        return Path(typed).absolute()
