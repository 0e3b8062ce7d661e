"""Servers on this machine that were given secret texts, and what a person was told of them before.

A server on this machine is not this machine: Ollama sends texts to its cloud for models of a cloud, and
any program that listens here may forward what it gets. Nobody can see that from outside, so it is said
once for each server, a person answers for it, and the answer is kept in the data folder.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from corpora.model.entry import Entry
from harness.core.failures import UsageError
from harness.core.written_files import write_file
from harness.endpoint.endpoints import is_loopback
from harness.method.method import Method
from harness.setup.plan import Plan
from harness.store.file.database import home, private_folder

FILE = "local-servers.json"
"""In the data folder: address of a server → when a person answered for it (ISO 8601, UTC)."""

OPTION = "--trust-local-server"


class NobodyAnswersForServer(UsageError):  # noqa: N818  said of the server
    """No person has said yet that a server on this machine keeps what it gets."""

    def __init__(self, url: str) -> None:
        self.url = url
        super().__init__(
            f"The server at {url} is on this machine, but it may forward what it gets to another one, "
            "and Rosetta cannot see that. These entries are secret. If you know that it keeps texts here, "
            f"say so once with {OPTION}."
        )


def require_answer(entries: Iterable[Entry], method: Method, plan: Plan) -> None:
    """Raise NobodyAnswersForServer before the first secret run against a server that nobody answered for."""
    if method.endpoint is None or not any(entry.secret for entry in entries):
        return
    if plan.run.trust_local_server:
        remember(method.endpoint)
    elif method.endpoint not in answered():
        raise NobodyAnswersForServer(method.endpoint)


def answered() -> dict[str, str]:
    """Return the servers that a person answered for; a file that cannot be read answers for none."""
    try:
        found = json.loads(_file().read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    pairs = found.items() if isinstance(found, dict) else ()
    return {url: when for url, when in pairs if isinstance(when, str)}


def remember(url: str) -> None:
    """Keep that a person answered for a server."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    private_folder(home())
    text = json.dumps(answered() | {url: now}, ensure_ascii=False, indent=2)
    write_file(_file(), f"{text}\n".encode(), overwrite=True)


LISTENING_SECONDS = 0.5
"""A port of this machine answers at once; one that takes longer is taken for one where something listens."""


def nobody_listens(url: str) -> bool:
    """Tell whether a port of this machine refuses connections now; nothing is sent, and False for other hosts."""
    parts = urlsplit(url)
    if not is_loopback(url) or parts.hostname is None:
        return False
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname, port), LISTENING_SECONDS):
            return False
    except ConnectionRefusedError:
        return True
    except (OSError, ValueError):
        return False


def _file() -> Path:
    return home() / FILE
