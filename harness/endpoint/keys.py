"""Keys of endpoints: in an environment variable, or in the operating system's keyring.

The keyring is imported only when it is asked, because a method that needs no key must work on a
machine that has none.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from harness.core.failures import KeyStoreError, UsageError
from harness.endpoint.endpoints import Endpoint, chat_endpoint, key_variable, presets

SERVICE = "rosetta-tui"
"""Under this name the keyring keeps our keys."""

_NAMES = "names of stored keys"
"""The keyring's entry that lists the others, because no keyring can be asked for all it holds."""

KeySource = Callable[[Endpoint], str | None]
"""Finds the key of an endpoint; None where there is none and none is needed."""

_Answer = TypeVar("_Answer")


def find_key(endpoint: Endpoint) -> str | None:
    """Find an endpoint's key: the variable first, then the keyring.

    None where there is none and none is needed; UsageError with both ways to give one where it is.
    A missing keyring matters only then, and for an endpoint on this machine it is not even asked:
    it could open a dialog, or start a service, for a key that nobody needs.
    """
    if secret_key := os.environ.get(endpoint.environment, "").strip():
        return checked_key(secret_key)
    if endpoint.local:
        return None
    try:
        stored = get_key(endpoint.name)
    except KeyStoreError as error:
        if endpoint.needs_key:
            raise UsageError(f"{endpoint.name} needs a key. {error}") from error
        return None
    if stored is None and endpoint.needs_key:
        raise UsageError(_missing(endpoint))
    return stored


def key_for(url: str) -> str | None:
    """Find the key of an address, for plug-ins: a host's variable, then the keyring; None where there is none.

    UsageError where the address is none, or carries a password or a query.
    """
    return find_key(chat_endpoint(url))


def no_key(_endpoint: Endpoint) -> str | None:
    """Find no key: for what only describes a method (estimates, plans), or asks nothing (offline)."""
    return None


def set_key(name: str, key: str) -> None:
    """Store a key under the endpoint's name; KeyStoreError where the keyring does not keep it."""
    name, key = checked_name(name), checked_key(key)
    _ask(name, lambda ring: ring.set_password(SERVICE, name, key))
    if get_key(name) != key:
        raise KeyStoreError(_unavailable(name, "it did not keep what was stored"))
    _write_names(_names() | {name})


def get_key(name: str) -> str | None:
    """Read a stored key; None where there is none, KeyStoreError where the keyring cannot be asked."""
    secret_key: str | None = _ask(name, lambda ring: ring.get_password(SERVICE, name))
    return secret_key or None


def delete_key(name: str) -> bool:
    """Delete a stored key; False where there was none."""
    name = checked_name(name)
    there = get_key(name) is not None
    if there:
        _ask(name, lambda ring: ring.delete_password(SERVICE, name))
    if name in (names := _names()):
        _write_names(names - {name})
    return there


def stored_names() -> list[str]:
    """List the names under which a key is stored; each is asked for, so the list cannot be stale."""
    return sorted(name for name in _names() | set(known_variables()) if get_key(name) is not None)


def known_variables() -> dict[str, str]:
    """Return the environment variable of each endpoint that is known by name."""
    every = presets("chat") | presets("service")
    return {name: endpoint.environment for name, endpoint in every.items()}


def variable_of(name: str) -> str:
    """Name the environment variable that may hold the key of an endpoint or host."""
    return known_variables().get(name) or key_variable(name)


def checked_name(name: str) -> str:
    """Return the name under which a key may be stored: a preset's, or a host's; else UsageError."""
    known = known_variables()
    if name in presets("chat") and presets("chat")[name].local:
        raise UsageError(
            f"{name} runs on this machine: if it wants a key, put it into the variable {known[name]}."
        )
    if name in known or "." in name.strip("."):
        return name
    raise UsageError(
        f"{name!r} is neither a known endpoint ({', '.join(known)}) nor a host such as llm.example.org."
    )


def checked_key(key: str) -> str:
    """Return the key as it goes into a header; UsageError (without the key) where it cannot go there."""
    key = key.strip()
    if not key:
        raise UsageError("The key is empty.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError("The key holds a space or a character that no key has. Copy it once more.")
    return key


def _names() -> set[str]:
    stored = _ask(_NAMES, lambda ring: ring.get_password(SERVICE, _NAMES))
    try:
        listed = json.loads(stored or "[]")
    except ValueError:
        return set()
    return {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()


def _write_names(names: set[str]) -> None:
    _ask(_NAMES, lambda ring: ring.set_password(SERVICE, _NAMES, json.dumps(sorted(names))))


def _ask(name: str, question: Callable[[Any], _Answer]) -> _Answer:
    """Query the keyring; whatever its backend raises becomes one error in words."""
    if sys.platform != "darwin":
        # elsewhere this one only searches the computer for Apple's libraries, be it with a compiler, and gives up
        sys.modules.setdefault("keyring.backends.macOS.api", None)  # type: ignore[arg-type]
    import keyring

    try:
        return question(keyring.get_keyring())
    except Exception as error:  # noqa: BLE001  backends are others' code and raise what they like
        raise KeyStoreError(_unavailable(name, type(error).__name__)) from None


def _unavailable(name: str, reason: str) -> str:
    variable = "of the endpoint" if name == _NAMES else variable_of(name)
    return (
        f"The operating system's keyring cannot be used here ({reason}). "
        f"Put the key into the environment variable {variable} instead."
    )


def _missing(endpoint: Endpoint) -> str:
    return (
        f"{endpoint.name} needs a key. Store one with: rosetta key set {endpoint.name} "
        f"or put it into the environment variable {endpoint.environment}."
    )
