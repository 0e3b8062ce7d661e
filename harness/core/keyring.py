"""The operating system's keyring, asked in one way for every key that it may hold.

It is imported only when it is asked, because what needs no key must work on a machine that has none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from corpora.files.installed import files_naming
from harness.core.failures import KeyStoreError

Answer = TypeVar("Answer")


class NoKeyringError(KeyStoreError):
    """The keyring gave no answer. ``reason`` says why, in a word or the name of its error alone."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the operating system's keyring cannot be used ({reason})")
        self.reason = reason


def ask_keyring(question: Callable[[Any], Answer]) -> Answer:
    """Query the keyring; NoKeyringError where there is none, and for whatever its backend raises."""
    if sys.platform != "darwin":
        # elsewhere this one only searches the computer for Apple's libraries, be it with a compiler, and gives up
        sys.modules.setdefault("keyring.backends.macOS.api", None)  # type: ignore[arg-type]
    if _no_keyring_here():
        raise NoKeyringError("none is running")
    import keyring

    try:
        return question(keyring.get_keyring())
    except Exception as error:  # noqa: BLE001  backends are others' code and raise what they like
        raise NoKeyringError(type(error).__name__) from None


def _no_keyring_here() -> bool:
    """Return whether there can be no keyring: Linux without a message bus of a session, and nobody chose another kind.

    Asking would load all that can be spoken to, which takes more than a whole ``rosetta doctor`` without it.
    """
    if sys.platform != "linux" or "keyring" in sys.modules:
        return False
    bus = Path(os.environ.get("XDG_RUNTIME_DIR") or "/nowhere", "bus")
    chosen = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "python_keyring", "keyringrc.cfg")
    variables = ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "PYTHON_KEYRING_BACKEND")
    if any(map(os.environ.get, variables)) or bus.exists() or chosen.exists():
        return False
    return all(file.parent.name.startswith("keyring-") for file in files_naming("keyring.backends"))
