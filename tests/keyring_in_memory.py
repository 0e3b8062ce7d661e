"""A keyring that lives as long as a test, or none, so that nobody asks that of the machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring


class MemoryKeyring(KeyringBackend):
    """Keeps what it is given."""

    priority = -2  # the library takes none below its own

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@contextmanager
def memory_keyring() -> Iterator[MemoryKeyring]:
    """Let a new one stand for the machine's."""
    before, ring = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(ring)
    try:
        yield ring
    finally:
        keyring.set_keyring(before)


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the machine have no keyring, for every test of the module that imports this."""
    monkeypatch.setattr(keyring, "get_keyring", Keyring)
