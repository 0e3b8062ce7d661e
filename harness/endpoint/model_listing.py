"""Which models an endpoint of this machine serves, asked of the endpoint itself; only when a person wishes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.core.failures import UsageError
from harness.endpoint.endpoints import chat_endpoint

MOST_BYTES = 4 * 2**20
MOST_MODELS = 1000
SECONDS = 5.0

_PLAIN = {"accept-encoding": "identity"}


def list_models(name_or_url: str) -> list[str]:
    """Ask a local endpoint for its models, in the shape that Ollama, vLLM and llama.cpp share (``/models``).

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
    return sorted({each for each in ids if isinstance(each, str) and each})[:MOST_MODELS]
