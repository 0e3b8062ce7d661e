"""Where texts may go: the words that say it, from the strictest to the freest, and addresses in one form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from corpora.text.near_names import fold


class Transmission(StrEnum):
    """What may be done with the texts of a corpus, the strictest first."""

    NOWHERE = "nowhere"
    """As local-only, and no server on this machine is given them either."""
    LOCAL_ONLY = "local-only"
    """No text leaves this machine: every entry is handled as one of a secret segment."""
    NAMED = "named"
    """Texts of entries that are not secret may be sent to the endpoints that the term names."""
    ASK = "ask"
    """A person says of each run whether they may be sent."""
    OPEN = "open"
    """Texts of entries that are not secret may be sent to the endpoint of a method."""

    @property
    def rank(self) -> int:
        """Its place, the strictest 0."""
        return list(Transmission).index(self)

    @property
    def kept_here(self) -> bool:
        """True where no text may leave this machine."""
        return self.rank <= Transmission.LOCAL_ONLY.rank


@dataclass(frozen=True, slots=True)
class Sending:
    """Where the texts of some entries may go."""

    transmission: Transmission
    endpoints: tuple[str, ...] = ()
    """Addresses, where the term names some."""

    @property
    def words(self) -> str:
        """Return it in one line."""
        if self.transmission is Transmission.NAMED:
            return f"open texts may be sent to {', '.join(self.endpoints)} only"
        return _WORDS[self.transmission]

    def strictest(self, other: Sending) -> Sending:
        """Return what holds where both do; two lists of endpoints leave what is in both."""
        if self.transmission is other.transmission is Transmission.NAMED:
            both = tuple(endpoint for endpoint in self.endpoints if endpoint in other.endpoints)
            return Sending(Transmission.NAMED, both) if both else LOCAL_ONLY
        return min(self, other, key=lambda sending: sending.transmission.rank)


LOCAL_ONLY = Sending(Transmission.LOCAL_ONLY)
_WORDS = {
    Transmission.NOWHERE: "no text leaves this machine, nor goes to a server on it",
    Transmission.LOCAL_ONLY: "no text leaves this machine",
    Transmission.ASK: "a person says of each run whether open texts may be sent",
    Transmission.OPEN: "open texts may be sent",
}


def sending_of(value: Any) -> Sending | None:
    """Read a word of ``Transmission``, or one or more addresses; None: not understood."""
    if isinstance(value, str):
        folded = fold(value)
        for transmission in Transmission:
            if fold(transmission) == folded and transmission is not Transmission.NAMED:
                return Sending(transmission)
        value = value.replace(",", " ").split()
    if not isinstance(value, list | tuple) or not value:
        return None
    addresses = [
        address_of(address_text) if isinstance(address_text, str) else None
        for address_text in value
    ]
    found = tuple(address for address in addresses if address is not None)
    return Sending(Transmission.NAMED, found) if len(found) == len(value) else None


def address_of(url: str) -> str | None:
    """Return an address in the one form in which two are compared; None where it is none, or could be read as another.

    Scheme, host in lower case, port where it is not the scheme's own, and path. What carries a name or password before
    the host, a query, a step back in its path or other letters than ASCII in its host has no such form.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return None
    host, path = (parts.hostname or "").removesuffix("."), parts.path.rstrip("/")
    odd = parts.username is not None or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme not in _PORTS or odd or not _HOST.fullmatch(host) or _STEPS.search(path):
        return None
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}{'' if port in (None, _PORTS[parts.scheme]) else f':{port}'}{path}"


_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[0-9a-z]([0-9a-z.-]*[0-9a-z])?|[0-9a-f:]+")
_STEPS = re.compile(r"%|\\|//|/\.{1,2}(/|$)")
"""What may lead elsewhere in a path."""


def is_within(url: str, named: Iterable[str]) -> bool:
    """Return whether an address is one of those that are named, or lies below one."""
    address = address_of(url)
    return address is not None and any(
        address == named_address or address.startswith(f"{named_address}/")
        for named_address in named
    )
