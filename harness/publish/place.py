"""Where cards are published: a PostgreSQL database by its URL, or a folder; a password is shown nowhere."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from corpora.text.visible import plain
from harness.core.failures import HarnessError, KeyStoreError, UsageError
from harness.endpoint import offline
from harness.endpoint.endpoints import get_key, is_this_machine

SCHEMES: Final = ("postgresql", "postgres")
OPTIONS: Final = ("host", "sslmode", "sslrootcert", "connect_timeout")
"""What a URL may say behind ``?``; ``host`` is a folder with a socket."""

_CONNECT_SECONDS: Final = "15"


class PublishError(HarnessError):
    """The place cannot be used now: not reached, lost, of a newer version, not allowed."""


@dataclass(frozen=True, slots=True)
class DatabasePlace:
    """A PostgreSQL database."""

    parameters: Mapping[str, str]  # Of the connection, by libpq's names, without the password
    password: str | None = field(default=None, repr=False)  # As it was in the URL

    @property
    def host(self) -> str:
        """Name or address of the server, or the folder of its socket."""
        return self.parameters.get("host", "")

    @property
    def is_here(self) -> bool:
        """Return whether the server is this machine."""
        return not self.host or self.host.startswith("/") or is_this_machine(self.host)

    def __str__(self) -> str:
        """Return the URL without the password, as it is shown."""
        parameters = self.parameters
        user = f"{parameters['user']}@" if "user" in parameters else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = f":{parameters['port']}" if "port" in parameters else ""
        where = f"/{parameters.get('dbname', '')}"
        socket = f"?host={host}" if host.startswith("/") else ""
        return plain(f"postgresql://{user}{'' if socket else host}{'' if socket else port}{where}{socket}")

    def found_password(self) -> str | None:
        """Return the password of the URL, else that of the keyring under the host's name, where PGPASSWORD has none.

        None leaves it to libpq, which looks into PGPASSWORD and pgpass. The keyring is not asked about this machine.
        """
        if self.password is not None or "PGPASSWORD" in os.environ or self.is_here:
            return self.password
        with suppress(KeyStoreError):
            return get_key(self.host)
        return None

    def hidden(self, words: str) -> str:
        """Return words of a server or library with the password taken out, and nothing that acts on a terminal."""
        known = {self.password, self.found_password(), os.environ.get("PGPASSWORD")} - {None, ""}
        for secret in known:
            for form in (str(secret), quote(str(secret), safe="")):
                words = words.replace(form, "…")
        return " ".join(plain(line.strip()) for line in words.splitlines() if line.strip())

    def require_open_door(self) -> None:
        """Raise PublishError where this process may not connect to another machine (``harness.endpoint.offline``).

        The library of the database opens its connections past Python, so it is asked here.
        """
        if not self.is_here and (why := offline.why()):
            raise PublishError(
                f"{why}, so nothing is published to {self} from this program until it is closed. Close it, and say: rosetta publish."
            )


Place = DatabasePlace | Path


def place_of(text: str) -> Place:
    """Return the place that somebody named: a URL of a database, or the path of a folder; UsageError for another URL."""
    if "://" not in text:
        return Path(text).expanduser()
    scheme, rest = text.split("://", 1)
    if scheme not in SCHEMES:
        raise UsageError(
            f"Cards are published to a PostgreSQL database (postgresql://USER@HOST/NAME) or into a folder, not to {plain(scheme[:20])}://…"
        )
    try:
        return _database(f"postgresql://{rest}")
    except ValueError:
        raise UsageError(
            "This is no URL of a database. Write postgresql://USER@HOST:PORT/NAME, with signs such as @ / : of a name as %40 %2F %3A."
        ) from None  # the words of the error may hold a part of the password


def _database(url: str) -> DatabasePlace:
    parts = urlsplit(url)
    if parts.fragment or "@" in parts.path or not url.isprintable() or " " in url:
        raise ValueError("a sign that belongs to a password, perhaps")
    parameters = {
        "user": unquote(parts.username or ""),
        "host": parts.hostname or "",
        "port": "" if parts.port is None else str(parts.port),
        "dbname": unquote(parts.path.removeprefix("/")),
    }
    for name, value in parse_qsl(parts.query, strict_parsing=True) if parts.query else ():
        if name not in OPTIONS or (name == "host" and (parameters["host"] or not value.startswith("/"))):
            raise UsageError(
                f"The URL of a database may say no {plain(name[:20])!r} here. Behind the question mark there may be: "
                f"{', '.join(OPTIONS)} (host: the folder of a socket)."
            )
        parameters[name] = value
    filled = {name: value for name, value in parameters.items() if value}
    password = None if parts.password is None else unquote(parts.password)
    return _guarded(DatabasePlace(filled, password))


def _guarded(place: DatabasePlace) -> DatabasePlace:
    """Require a certificate of a server on another machine, unless the URL or PGSSLMODE says otherwise."""
    parameters = {"connect_timeout": _CONNECT_SECONDS, **place.parameters}
    if not (place.is_here or "sslmode" in parameters or "PGSSLMODE" in os.environ):
        parameters["sslmode"] = "verify-full"
        # File of the makers of certificates whom this computer trusts, as Python finds it; else
        # `system`, which leaves it to the library.
        default_verify_paths = ssl.get_default_verify_paths()
        files = [
            default_verify_paths.cafile,
            None if default_verify_paths.capath is None else f"{default_verify_paths.capath}/ca-certificates.crt",
        ]
        trusted = next((file for file in files if file and Path(file).is_file()), "system")
        parameters.setdefault("sslrootcert", trusted)
    return DatabasePlace(parameters, place.password)
