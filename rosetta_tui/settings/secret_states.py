"""Where keys of services are on this computer; the keys themselves are not read here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from harness.core.failures import KeyStoreError, UsageError
from rosetta_tui.settings.rows import SecretState

if TYPE_CHECKING:
    from harness.settings import Settings


def secret_states(settings: Settings) -> tuple[list[SecretState], str]:
    """Say for each service that may want a key where it is, and what hinders the keyring, if anything.

    The keyring is asked, which may open a dialog of the operating system: for a thread.
    """
    from harness.endpoint.keys import stored_names, variable_of

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
    from harness.endpoint.endpoints import presets

    for known in (presets("chat"), presets("service")):
        yield from (name for name, endpoint in known.items() if not endpoint.local)


def _hosts(settings: Settings) -> Iterator[str]:
    from harness.endpoint.endpoints import is_this_machine

    for url in settings.endpoints.values():
        host = urlsplit(url).hostname or ""
        if not is_this_machine(host) and host_problem(host) is None:
            yield host


def host_problem(name: str) -> str | None:
    """Say why no key can be kept under a name; None where one can."""
    from harness.endpoint.keys import checked_name

    try:
        checked_name(name)
    except UsageError as error:
        return str(error)
    return None


def secret_problem(key: str) -> str | None:
    """Say why a text is no key, without quoting it; None where it may be one."""
    from harness.endpoint.keys import checked_key

    try:
        checked_key(key)
    except UsageError as error:
        return str(error)
    return None
