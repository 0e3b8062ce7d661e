"""Storing and deleting keys of services on behalf of a screen, in threads, because a keyring may ask back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.content import Content
from textual.screen import Screen

from harness.core.failures import HarnessError
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import show


class SecretActs:
    """Asks for a key, and hands it to the keyring; it is kept nowhere else."""

    def __init__(self, screen: Screen[Any], changed: Callable[[], None]) -> None:
        self._screen = screen
        self._changed = changed
        """Called when the keyring holds another set of keys."""

    def ask_host(self) -> None:
        """Ask for the host of a service, then for its key."""
        from rosetta_tui.settings.ask_setting import AskSettingScreen
        from rosetta_tui.settings.secret_states import host_problem

        def named(name: str | None) -> None:
            if name:
                self.ask(name)

        about = "The host of a service that is not listed, such as llm.example.org."
        asked = AskSettingScreen("Key of another host", about, host_problem)
        self._screen.app.push_screen(asked, named)

    def ask(self, name: str) -> None:
        """Ask for the key of a service, and store it."""
        from rosetta_tui.settings.ask_setting import AskSettingScreen
        from rosetta_tui.settings.secret_states import secret_problem

        def given(key: str | None) -> None:
            if key:
                self._work(lambda: _store(name, key))

        about = (
            "It is shown nowhere and written to no file. One that is stored already is replaced."
        )
        asked = AskSettingScreen(f"Key of {name}", about, secret_problem, hidden=True)
        self._screen.app.push_screen(asked, given)

    def ask_to_delete(self, name: str) -> None:
        """Delete the key of a service, after a question: nothing here could bring it back."""
        from rosetta_tui.toolkit.dialogs.confirm import ConfirmScreen

        def answered(agreed: bool | None) -> None:
            if agreed:
                self._work(lambda: _delete(name))

        question = Content.assemble(
            ("Delete the key of ", "bold"), show(name, "bold"), ("?\n\n", "bold"),
            "Rosetta cannot bring it back: have it at hand, or get a new one from the service.",
        )  # fmt: skip
        self._screen.app.push_screen(ConfirmScreen(question, "Delete"), answered)

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
    from harness.endpoint.keys import set_key

    set_key(name, key)
    return f"The key of {name} is stored."


def _delete(name: str) -> str:
    from harness.endpoint.keys import delete_key

    delete_key(name)
    return f"The key of {name} is deleted."
