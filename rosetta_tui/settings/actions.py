"""What can be done with one line of the settings: the questions that are asked, and what an answer changes.

Keys of services are stored and deleted in threads, for a keyring may ask back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar
from urllib.parse import urlsplit

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Button, Input, Static

from harness.core.failures import HarnessError, KeyStoreError, UsageError
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
from rosetta_tui.settings.rows import ADDED, SecretState, SettingRow, SettingsSection
from rosetta_tui.show.key_names import key_name
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import show, show_lines
from rosetta_tui.toolkit.customization import KEPT, Keyboard
from rosetta_tui.toolkit.dialogs.choose import answers, choose, confirm
from rosetta_tui.toolkit.form.file_choice import FileChoice

# ---- Dialogs of the settings: one text, path or secret, examined before it is taken, or another key ----

Check = Callable[[str], str | None]
"""Says what is wrong with what was typed and the fix; None where nothing is."""

Looked = TypeVar("Looked")


def trouble_with(look: Callable[[Looked], object], at: Looked) -> str | None:
    """Return the words of the UsageError that looking at something raises; None where it raises none."""
    try:
        look(at)
    except UsageError as error:
        return str(error)
    return None


class AskSettingScreen(ModalScreen[str | None]):
    """Gives what was typed, without spaces around it; None where nothing was changed."""

    CSS_PATH = "settings.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("ctrl+s", "save", "Save", priority=True),
    ]

    def __init__(
        self, title: str, about: str, check: Check, *, now: str = "", hidden: bool = False, files: Sequence[str] | None = None
    ) -> None:  # fmt: skip
        """Initialise with the question ``title``; ``hidden`` shows no letter, ``files`` lists files of these endings and folders."""
        super().__init__()
        self._title = title
        self._about = about
        self._check = check
        self._now = now
        self._hidden = hidden
        self._files = files

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -wide", id="asking"):
            yield Static(show(self._title, "bold"))
            if self._files is None:
                yield Input(self._now, password=self._hidden, id="asked")
            else:
                yield FileChoice("path", self._files, id="asked")
            yield Static(id="trouble")
            yield Static(show_lines(self._about, "$quiet"))
            yield from answers("Save (enter)", "save")

    def on_mount(self) -> None:
        self.query_one("#trouble").display = False
        self.field.value = self._now
        self.field.focus()

    @property
    def field(self) -> Input:
        """Where it is typed."""
        asked = self.query_one("#asked")
        return asked.input if isinstance(asked, FileChoice) else self.query_one("#asked", Input)

    @on(Input.Submitted)
    @on(Button.Pressed, "#save")
    def action_save(self) -> None:
        typed = self.field.value.strip()
        if (wrong := self._check(typed)) is None:
            self.dismiss(typed)
            return
        line = self.query_one("#trouble", Static)
        line.display = True
        line.update(show_lines(wrong, "$bad"))
        self.field.focus()

    @on(Button.Pressed, "#back")
    def action_leave(self) -> None:
        self.dismiss(None)


def ask_setting(screen: Screen[Any], title: str, about: str, check: Check, then: Callable[[str], object], **how: Any) -> None:  # fmt: skip
    """Prompt as ``AskSettingScreen`` does, and act where something was given."""

    def given(typed: str | None) -> None:
        if typed is not None:
            then(typed)

    screen.app.push_screen(AskSettingScreen(title, about, check, **how), given)


class PressKeyScreen(ModalScreen[str | None]):
    """Gives the name of the key that was pressed, None for escape; a key that is taken is refused."""

    def __init__(self, act: str, now: str, taken: Check) -> None:
        """Initialise with what ``taken`` says a key does already where it would be pressed."""
        super().__init__()
        self._act = act
        self._now = now
        self._taken = taken

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content.assemble(("Press the key for ", "bold"), show(self._act, "bold $mark")))
            yield Static(id="refused", classes="about")
            yield Static(show(f"now: {self._now} · esc goes back", "$quiet"))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss(None)
        elif event.key in KEPT:
            self._refuse(f"{key_name(event.key)} always keeps its meaning.")
        elif (what := self._taken(event.key)) is not None:
            self._refuse(f"{key_name(event.key)} is taken: {what}.")
        else:
            self.dismiss(event.key)

    def _refuse(self, why: str) -> None:
        self.query_one("#refused", Static).update(show(f"{why} Press another.", "$warn"))


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
