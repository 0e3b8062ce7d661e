"""Where calls go: endpoints known by name (endpoints.toml) or by URL, their keys, and the models of local ones."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from corpora.text.messages import near_names, one_of
from harness.core.failures import KeyStoreError, UsageError
from harness.core.keyring import Answer, NoKeyringError, ask_keyring

if TYPE_CHECKING:
    from pydantic import JsonValue

Kind = Literal["chat", "service"]

NEWER_LIMIT = "max_completion_tokens"
"""The field for output tokens that newer models want instead of ``max_tokens``, which they refuse."""


class Endpoint(NamedTuple):
    """One place that answers calls. The fields are explained at the head of endpoints.toml."""

    name: str
    """Name of the preset, or the host of a URL; also the name of its key."""
    url: str
    environment: str
    needs_key: bool
    output_limit: str = "max_tokens"
    body: Mapping[str, JsonValue] = MappingProxyType({})
    note: str = ""

    @property
    def local(self) -> bool:
        """Return whether it is this machine itself: no key needed, nothing charged, offline allowed."""
        return is_loopback(self.url)


@cache
def presets(kind: Kind) -> dict[str, Endpoint]:
    """Return the endpoints known by name, as endpoints.toml lists them."""
    return {name: Endpoint(name=name, **row) for name, row in _preset_rows()[kind].items()}


@cache
def _preset_rows() -> dict[str, dict[str, dict[str, Any]]]:
    return tomllib.loads(Path(__file__).with_name("endpoints.toml").read_text("utf-8"))


def chat_endpoint(name_or_url: str) -> Endpoint:
    """Return a chat endpoint by preset name or base URL; UsageError lists the names."""
    known = presets("chat")
    if name_or_url in known:
        return known[name_or_url]
    if "://" not in name_or_url:
        near = near_names(name_or_url, known)
        guess = f"Did you mean {one_of(near)}? " if near else ""
        raise UsageError(
            f"Endpoint {name_or_url!r} is not known. {guess}Use one of {', '.join(known)}, "
            "or a URL such as http://localhost:8000/v1."
        )
    url = checked_url(name_or_url).removesuffix("/chat/completions")
    for preset in known.values():
        if preset.url == url:
            return preset
    host = urlsplit(url).hostname or ""
    return Endpoint(name=host, url=url, environment=key_variable(host), needs_key=False)


def service_endpoint(name: str, url: str | None) -> Endpoint:
    """Return a translation service, at its own URL or at the given one."""
    preset = presets("service")[name]
    return preset if url is None else preset._replace(url=checked_url(url))


def checked_url(url: str) -> str:
    """Return the URL without its last slash; UsageError where it is none, or carries a password or query."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"The endpoint's URL cannot be read: {error}.") from error
    if parts.scheme not in {"http", "https"} or not host:
        raise UsageError("The endpoint's URL must begin with http:// or https:// and name a host.")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError(
            "The endpoint's URL must not carry a password, a query or a fragment, because it is "
            f"written down. Store a key with: rosetta key set {host}"
        )
    return url.rstrip("/")


def key_variable(host: str) -> str:
    """Return the environment variable of a host's key: one per host, so that no key goes to another's."""
    return re.sub(r"[^A-Z0-9]+", "_", host.upper()).strip("_") + "_API_KEY"


def is_loopback(url: str) -> bool:
    """Return whether a URL stays on this machine; a name that only resembles localhost does not."""
    return is_this_machine(urlsplit(url).hostname or "")


def is_this_machine(host: str) -> bool:
    """Return whether a host's name or address, with a zone or not, is this machine's own."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


MOST_BYTES = 4 * 2**20
MOST_MODELS = 1000
SECONDS = 5.0

_PLAIN = {"accept-encoding": "identity"}


def list_models(name_or_url: str) -> list[str]:
    """Return the models of a local endpoint, in the shape that Ollama, vLLM and llama.cpp share (``/models``).

    UsageError where it is on another machine, does not answer within seconds, or answers something else.
    """
    import httpx

    endpoint = chat_endpoint(name_or_url)
    if not endpoint.local:
        raise UsageError(f"{endpoint.name} is not on this machine, so it is not asked unbidden.")
    hint = endpoint.note or "Is it running?"
    try:
        with (
            httpx.Client(trust_env=False, timeout=SECONDS) as client,
            client.stream("GET", f"{endpoint.url}/models", headers=_PLAIN) as reply,
        ):
            content = b""
            for part in reply.iter_raw():  # what is packed all the same is no list
                content += part
                if len(content) > MOST_BYTES:
                    words = f"{endpoint.url} answers with too much to be a list of models."
                    raise UsageError(words)
            status = reply.status_code
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        words = f"{endpoint.url} does not answer ({type(error).__name__}). {hint}"
        raise UsageError(words) from None
    if status != 200:
        raise UsageError(f"{endpoint.url} lists no models (HTTP status {status}). {hint}")
    try:
        stated: Any = json.loads(content)
    except (ValueError, RecursionError):
        stated = None
    rows = stated.get("data") if isinstance(stated, Mapping) else None
    if not isinstance(rows, list):
        raise UsageError(f"{endpoint.url} answers, but with no list of models.")
    ids = (row.get("id") for row in rows if isinstance(row, Mapping))
    return sorted({model for model in ids if isinstance(model, str) and model})[:MOST_MODELS]


# ---- Keys of endpoints: in an environment variable, or in the operating system's keyring ----

SERVICE = "rosetta-tui"
"""Under this name the keyring keeps our keys."""

_NAMES = "names of stored keys"
"""The keyring's entry that lists the others, because no keyring can be asked for all it holds."""

KeySource = Callable[[Endpoint], str | None]
"""Finds the key of an endpoint; None where there is none and none is needed."""


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
        raise UsageError(
            f"{endpoint.name} needs a key. Store one with: rosetta key set {endpoint.name} "
            f"or put it into the environment variable {endpoint.environment}."
        )
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
    _write_names(_keys_names() | {name})


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
    if name in (names := _keys_names()):
        _write_names(names - {name})
    return there


def stored_names() -> list[str]:
    """List the names under which a key is stored; each is asked for, so the list cannot be stale."""
    names = _keys_names() | set(known_variables())
    return sorted(name for name in names if get_key(name) is not None)


def keyring_name() -> str:
    """Return what the operating system's keyring calls itself; KeyStoreError where it cannot be asked."""
    return _ask(_NAMES, lambda ring: str(ring.name))


def known_variables() -> dict[str, str]:
    every = presets("chat") | presets("service")
    return {name: endpoint.environment for name, endpoint in every.items()}


def variable_of(name: str) -> str:
    """Name the environment variable that may hold the key of an endpoint or host."""
    return known_variables().get(name) or key_variable(name)


def checked_name(name: str) -> str:
    """Return the name under which a key may be stored: a preset's, or a host's; else UsageError."""
    known = known_variables()
    if name in presets("chat") and presets("chat")[name].local:
        raise UsageError(f"{name} runs on this machine: if it wants a key, put it into the variable {known[name]}.")
    if name in known or "." in name.strip("."):
        return name
    raise UsageError(f"{name!r} is neither a known endpoint ({', '.join(known)}) nor a host such as llm.example.org.")


def checked_key(key: str) -> str:
    """Return the key as it goes into a header; UsageError (without the key) where it cannot go there."""
    key = key.strip()
    if not key:
        raise UsageError("The key is empty.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError("The key holds a space or a character that no key has. Copy it once more.")
    return key


def _keys_names() -> set[str]:
    stored = _ask(_NAMES, lambda ring: ring.get_password(SERVICE, _NAMES))
    try:
        listed = json.loads(stored or "[]")
    except ValueError:
        return set()
    return {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()


def _write_names(names: set[str]) -> None:
    _ask(_NAMES, lambda ring: ring.set_password(SERVICE, _NAMES, json.dumps(sorted(names))))


def _ask(name: str, question: Callable[[Any], Answer]) -> Answer:
    """Query the keyring; KeyStoreError names the variable that can hold the key instead."""
    try:
        return ask_keyring(question)
    except NoKeyringError as error:
        raise KeyStoreError(_unavailable(name, error.reason)) from None


def _unavailable(name: str, reason: str) -> str:
    variable = "of the endpoint" if name == _NAMES else variable_of(name)
    return (
        f"The operating system's keyring cannot be used here ({reason}). "
        f"Put the key into the environment variable {variable} instead."
    )
