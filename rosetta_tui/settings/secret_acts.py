"""Keys of services: where they are, storing and deleting them in threads, for a keyring may ask back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from textual.content import Content
from textual.screen import Screen

from harness.core.failures import HarnessError, KeyStoreError
from harness.endpoint.endpoints import is_this_machine, presets
from harness.endpoint.keys import (
    checked_key,
    checked_name,
    delete_key,
    set_key,
    stored_names,
    variable_of,
)
from rosetta_tui.settings.ask_setting import ask_setting, trouble_with
from rosetta_tui.settings.rows import SecretState
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.choose import confirm

if TYPE_CHECKING:
    from harness.settings import Settings


def secret_states(settings: Settings) -> tuple[list[SecretState], str]:
    """Say for each service that may want a key where it is, and what hinders the keyring, if anything.

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
    """Say why no key can be kept under a name; None where one can."""
    return trouble_with(checked_name, name)


def secret_problem(key: str) -> str | None:
    """Say why a text is no key, without quoting it; None where it may be one."""
    return trouble_with(checked_key, key)


class SecretActs:
    """Asks for a key, and hands it to the keyring; it is kept nowhere else."""

    def __init__(self, screen: Screen[Any], changed: Callable[[], None]) -> None:
        self._screen = screen
        self._changed = changed
        """Called when the keyring holds another set of keys."""

    def ask_host(self) -> None:
        """Ask for the host of a service, then for its key."""

        about = "The host of a service that is not listed, such as llm.example.org."
        ask_setting(self._screen, "Key of another host", about, host_problem, self.ask)

    def ask(self, name: str) -> None:
        """Ask for the key of a service, and store it."""

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
            "Rosetta cannot bring it back: have it at hand, or get a new one from the service.",
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
