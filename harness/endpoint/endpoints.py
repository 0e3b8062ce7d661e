"""Where calls go: endpoints known by name (endpoints.toml), and any other by its URL.

Which models an endpoint of this machine serves, asked of the endpoint itself; only when a person wishes it.
"""

from __future__ import annotations

import ipaddress
import json
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from corpora.text.near_names import near_names, one_of
from harness.core.failures import UsageError

Kind = Literal["chat", "service"]

NEWER_LIMIT = "max_completion_tokens"
"""The field for output tokens that newer models want instead of ``max_tokens``, which they refuse."""


class Endpoint(BaseModel):
    """One place that answers calls. The fields are explained at the head of endpoints.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Name of the preset, or the host of a URL; also the name of its key."""
    url: str
    environment: str
    needs_key: bool
    output_limit: str = "max_tokens"
    body: dict[str, Any] = {}
    note: str = ""

    @property
    def local(self) -> bool:
        """True for this machine itself: no key needed, nothing charged, offline allowed."""
        return is_loopback(self.url)


@cache
def presets(kind: Kind) -> dict[str, Endpoint]:
    """Return the endpoints known by name, as endpoints.toml lists them."""
    text = (
        resources.files("harness.endpoint").joinpath("endpoints.toml").read_text(encoding="utf-8")
    )
    rows = tomllib.loads(text)[kind]
    return {name: Endpoint(name=name, **row) for name, row in rows.items()}


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
    return preset if url is None else preset.model_copy(update={"url": checked_url(url)})


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
                    raise UsageError(
                        f"{endpoint.url} answers with too much to be a list of models."
                    )
            status = reply.status_code
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise UsageError(
            f"{endpoint.url} does not answer ({type(error).__name__}). {hint}"
        ) from None
    if status != 200:
        raise UsageError(f"{endpoint.url} lists no models (HTTP status {status}). {hint}")
    return _names(content, endpoint.url)


def _names(content: bytes, url: str) -> list[str]:
    try:
        stated: Any = json.loads(content)
    except (ValueError, RecursionError):
        stated = None
    rows = stated.get("data") if isinstance(stated, Mapping) else None
    if not isinstance(rows, list):
        raise UsageError(f"{url} answers, but with no list of models.")
    ids = (row.get("id") for row in rows if isinstance(row, Mapping))
    return sorted({model for model in ids if isinstance(model, str) and model})[:MOST_MODELS]
