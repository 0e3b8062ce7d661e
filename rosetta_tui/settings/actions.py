"""What can be done with one line of the settings: the questions that are asked, and what an answer changes.

Keys of services are stored and deleted in threads, for a keyring may ask back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
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
from harness.settings import Changes, FieldError, Settings, checked
from rosetta_tui.settings.ask_setting import PressKeyScreen, ask_setting, trouble_with
from rosetta_tui.settings.rows import SecretState, SettingRow, SettingsSection
from rosetta_tui.show.key_names import key_name
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.customization import Keyboard
from rosetta_tui.toolkit.dialogs.choose import choose, confirm


def secret_states(settings: Settings) -> tuple[list[SecretState], str]:
    """Return for each service that may want a key where it is, and what hinders the keyring, if anything.

    The keyring is asked, which may open a dialog of the operating system: for a thread.
    """
    trouble, stored = "", list[str]()
    try:
        stored = stored_names()
    except KeyStoreError as error:
        trouble = str(error)
    names = dict.fromkeys([*_services(), *_hosts(settings), *stored])
    states = [_state(name, variable_of(name), name in stored) for name in names]
    return states, trouble


def _state(name: str, variable: str, stored: bool) -> SecretState:
    return SecretState(name, variable, bool(os.environ.get(variable, "").strip()), stored)


def _services() -> Iterator[str]:
    for known in (presets("chat"), presets("service")):
        yield from (name for name, endpoint in known.items() if not endpoint.local)


def _hosts(settings: Settings) -> Iterator[str]:
    for url in settings.endpoints.values():
        host = urlsplit(url).hostname or ""
        if not is_this_machine(host) and host_problem(host) is None:
            yield host


def host_problem(name: str) -> str | None:
    """Return why no key can be kept under a name; None where one can."""
    return trouble_with(checked_name, name)


def secret_problem(key: str) -> str | None:
    """Return why a text is no key, without quoting it; None where it may be one."""
    return trouble_with(checked_key, key)


class SecretActions:
    """Asks for a key, and hands it to the keyring; it is kept nowhere else."""

    def __init__(self, screen: Screen[Any], changed: Callable[[], None]) -> None:
        self._screen = screen
        self._changed = changed
        """Called when the keyring holds another set of keys."""

    def ask_host(self) -> None:
        """Prompt for the host of a service, then for its key."""

        about = "The host of a service that is not listed, such as llm.example.org."
        ask_setting(self._screen, "Key of another host", about, host_problem, self.ask)

    def ask(self, name: str) -> None:
        """Prompt for the key of a service, and store it."""

        def given(key: str) -> None:
            self._work(partial(_store, name, key))

        about = (
            "It is shown nowhere and written to no file. One that is stored already is replaced."
        )
        ask_setting(self._screen, f"Key of {name}", about, secret_problem, given, hidden=True)

    def ask_to_delete(self, name: str) -> None:
        """Delete the key of a service, after a question: nothing here could bring it back."""
        question = Content.assemble(
            ("Delete the key of ", "bold"), show(name, "bold"), ("?\n\n", "bold"),
            "Rosetta cannot bring it back: have it available, or get a new one from the service.",
        )  # fmt: skip
        delete = partial(self._work, partial(_delete, name))
        confirm(self._screen.app, question, "Delete", delete)

    def _work(self, act: Callable[[], str]) -> None:
        app = self._screen.app

        def work() -> None:

            try:
                app.notify(plain(act()), markup=False)
            except HarnessError as error:
                app.notify(plain(str(error)), severity="error", timeout=15, markup=False)
            bring(app, self._changed)

        app.run_worker(work, thread=True, group="keyring")


def _store(name: str, key: str) -> str:
    set_key(name, key)
    return f"The key of {name} is stored."


def _delete(name: str) -> str:
    delete_key(name)
    return f"The key of {name} is deleted."


Take = Callable[[Changes], None]
"""Makes changes hold, and writes them."""


class SettingActions:
    """Asks on behalf of a screen and hands it changes; keys of services are not its business."""

    def __init__(self, screen: Screen[Any], take: Take) -> None:
        self._screen = screen
        self._take = take
        self._ask = partial(ask_setting, screen)
        self.settings = Settings()
        self.presets: Mapping[str, str] = {}
        """Name → URL of the endpoints that are known from the start."""
        self.board: Keyboard | None = None

    def change(self, row: SettingRow) -> None:
        """Prompt for a line's new value, or set it where it says so itself."""
        match row.id:
            case "endpoint":
                self._ask_endpoint()
            case "model":
                self._ask_model()
            case "prices":
                self._ask_prices()
            case "exports":
                self._ask_folder("Folder for exports", self.settings.exports, self._set_exports)
            case "languages":
                self.add(SettingsSection.FOLDERS)
            case "publish":
                self._ask_publish()
            case "signers":
                self.add(SettingsSection.SHARING)
            case name if name.startswith("folder "):
                number = int(name.removeprefix("folder "))
                now = self.settings.language_folders[number]
                self._ask_folder("Folder of languages", now, lambda path: self._put(number, path))

    def add(self, section: SettingsSection) -> None:
        """Prompt for one more line of a part."""
        if section is SettingsSection.FOLDERS:
            end = len(self.settings.language_folders)
            self._ask_folder("Folder of languages", None, lambda path: self._put(end, path))
        elif section is SettingsSection.ENDPOINTS:
            self._ask_name()
        elif section is SettingsSection.SHARING:
            self._ask_signer()

    def remove(self, section: SettingsSection, row: SettingRow) -> None:
        """Remove what a line says; the program's own holds again."""
        now = self.settings
        if section is SettingsSection.MODELS or row.id in ("exports", "publish"):
            self._take({row.id: getattr(Settings(), row.id)})
        elif section is SettingsSection.FOLDERS:
            kept = list(now.language_folders)
            del kept[int(row.id.removeprefix("folder "))]
            self._take({"language_folders": tuple(kept)})
        elif section is SettingsSection.ENDPOINTS:
            self._take({"endpoints": {row.id: None}})
        elif section is SettingsSection.SHARING:
            gone = row.id.removeprefix("signer ")
            self._take(
                {
                    "trusted_signers": tuple(
                        trusted_signer
                        for trusted_signer in now.trusted_signers
                        if trusted_signer != gone
                    )
                }
            )
        elif section is SettingsSection.KEYBOARD:
            self._take({"keys": {row.id: None}})

    def reset(self, section: SettingsSection) -> None:
        """Reset a whole part to the program's own."""
        now = self.settings
        fields: dict[SettingsSection, Changes] = {
            SettingsSection.COLOURS: {"theme": ""},
            SettingsSection.MODELS: {"endpoint": "", "model": "", "prices": None},
            SettingsSection.ENDPOINTS: {"endpoints": dict.fromkeys(now.endpoints)},
            SettingsSection.FOLDERS: {"exports": None, "language_folders": ()},
            SettingsSection.SHARING: {"publish": "", "trusted_signers": ()},
            SettingsSection.KEYBOARD: {"keys": dict.fromkeys(now.keys)},
        }
        self._take(fields[section])

    # Models

    def _ask_endpoint(self) -> None:
        now = self.settings.endpoint
        own = {name: plain(f"{name}  {url}") for name, url in self.settings.endpoints.items()}
        shipped = {name: f"{name}  {url}" for name, url in self.presets.items()}
        choices = {"": "none: each run names its own", **own, **shipped}
        choices.setdefault(now, plain(now))

        def chosen(name: str) -> None:
            self._take({"endpoint": name})

        choose(self._screen.app, "Default endpoint", choices, now, chosen)

    def _ask_model(self) -> None:
        def given(typed: str) -> None:
            self._take({"model": typed})

        about = "Its exact id at the default endpoint, such as qwen2.5:7b."
        now = self.settings.model
        self._ask("Default model", about, lambda typed: problem("model", typed), given, now=now)

    def _ask_prices(self) -> None:
        def check(typed: str) -> str | None:
            return trouble_with(Prices, absolute(typed))

        def given(typed: str) -> None:
            self._take({"prices": absolute(typed)})

        about = "A file of yours with prices in US dollars; docs/prices.md shows one."
        now = self.settings.prices
        self._ask("Own price table", about, check, given, now=_shown(now), files=(".toml",))

    # Endpoints

    def _ask_name(self) -> None:
        def check(name: str) -> str | None:
            if name in self.presets or name in self.settings.endpoints:
                return "There is an endpoint of this name. Take another name."
            return problem("endpoints", {name: "https://x.example"})

        about = "A short name for runs: small letters, digits and -, such as our-server."
        self._ask("Name of the endpoint", about, check, self.ask_url)

    def ask_url(self, name: str) -> None:
        """Prompt for the URL of an own endpoint."""

        def given(url: str) -> None:
            self._take({"endpoints": {name: url}})

        now = self.settings.endpoints.get(name, "")
        about = (
            "Its base URL, such as https://llm.example.org/v1. A key of it goes under Service keys."
        )
        self._ask(f"URL of {name}", about, lambda url: _url_problem(name, url), given, now=now)

    # Folders

    def _set_exports(self, path: Path) -> None:
        self._take({"exports": path})

    def _put(self, number: int, path: Path) -> None:
        folders = list(self.settings.language_folders)
        folders[number : number + 1] = [path]
        self._take({"language_folders": tuple(dict.fromkeys(folders))})

    def _ask_folder(self, title: str, now: Path | None, then: Callable[[Path], None]) -> None:
        writes = then == self._set_exports

        def check(typed: str) -> str | None:
            path = absolute(typed)
            if not path.is_dir():
                return "There is no such folder. Choose one from the list, or make it first."
            if writes and not os.access(path, os.W_OK):
                return "You may not write into this folder. Choose another."
            return problem("exports", str(path))

        about, given = "Type, or choose from the list.", _on_path(then)
        self._ask(title, about, check, given, now=_shown(now), files=("/",))

    # Sharing

    def _ask_publish(self) -> None:
        def check(typed: str) -> str | None:
            return problem("publish", _place(typed))

        def given(typed: str) -> None:
            self._take({"publish": _place(typed)})

        about = "postgresql://USER@HOST/NAME without a password (rosetta key set HOST keeps that), or a folder."
        now = self.settings.publish
        self._ask("Where cards are published", about, check, given, now=now, files=("/",))

    def _ask_signer(self) -> None:
        def check(typed: str) -> str | None:
            return problem("trusted_signers", [typed.lower()])

        def given(typed: str) -> None:
            self._confirm_signer(typed.lower())

        about = "The organisation's public key, 64 hexadecimal digits; `rosetta run --scoring` names it where it is wanted."
        self._ask("Whose signed weights are taken", about, check, given)

    def _confirm_signer(self, key: str) -> None:
        question = Content.assemble(
            ("Take weights that this key signed?\n\n", "bold"), f"Its six words are: {key_phrase(key)}\n\n",
            "Ask the organisation for theirs, by telephone or in person: only if they are the same it is their key.",
        )  # fmt: skip
        kept = tuple(dict.fromkeys([*self.settings.trusted_signers, key]))
        confirm(self._screen.app, question, "Take", lambda: self._take({"trusted_signers": kept}))

    # Keyboard

    def press(self, row: SettingRow) -> None:
        """Prompt for another key by its being pressed."""
        act = None if self.board is None else self.board.acts.get(row.id)
        if self.board is None or act is None:
            return
        board, chosen = self.board, self.settings.keys

        def pressed(key: str | None) -> None:
            if key is not None:
                as_shipped = (key,) == act.keys
                self._take({"keys": {act.id: None if as_shipped else key}})

        now = " ".join(map(key_name, act.keys_now(chosen)))
        taken = lambda key: board.taken(act, key, chosen)  # noqa: E731  one line is all of it
        self._screen.app.push_screen(PressKeyScreen(act.words, now, taken), pressed)


def problem(field: str, value: object) -> str | None:
    """Return what is wrong with a value of a field, None where nothing is."""
    try:
        checked(field, value)
    except FieldError as error:
        return f"This {error.words}."
    return None


def _url_problem(name: str, url: str) -> str | None:
    return trouble_with(checked_url, url) or problem("endpoints", {name: url})


def _place(typed: str) -> str:
    """Return a URL as it was typed, and a folder from the root."""
    return typed if "://" in typed else str(absolute(typed))


def _shown(path: Path | None) -> str:
    return "" if path is None else str(path)


def absolute(typed: str) -> Path:
    """Return the path that was typed, from the root; ~ is the person's home."""
    try:
        return Path(typed).expanduser().absolute()
    except RuntimeError:
        return Path(typed).absolute()


def _on_path(then: Callable[[Path], None]) -> Callable[[str], None]:
    return lambda typed: then(absolute(typed))
