"""Where texts may go and which of them nobody is shown, decided once while a run is prepared (DESIGN V1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Never, SupportsIndex, final

from corpora.model.entry import AnyEntry, Entry, SecretEntry
from corpora.model.vocabularies import LOCAL_ONLY, Sending, Transmission, is_within


@final
@dataclass(frozen=True, slots=True)
class Clearance:
    """What may be done with the texts of some entries; all code that sends them, or keeps what is answered, needs one.

    ``harness.privacy`` alone makes it, once this process refuses connections where it has to. It holds for this process.
    """

    secret: frozenset[int] = frozenset()
    """Places in the corpus of the entries that no log, cache, message or card may quote."""
    sending: Sending = LOCAL_ONLY
    """The strictest of what holds for the entries."""
    marks: frozenset[int] = frozenset()
    """Of the sealed entries that it reveals."""

    @property
    def kept_here(self) -> bool:
        """True where no text may leave this machine."""
        return self.sending.transmission.kept_here

    def allows(self, url: str, *, local: bool) -> bool:
        """Return whether texts may be sent to an address; ``local``: it is one of this machine."""
        if self.sending.transmission is Transmission.NOWHERE:
            return False
        if local or self.sending.transmission is not Transmission.NAMED:
            return local or not self.kept_here
        return is_within(url, self.sending.endpoints)

    def covers(self, entries: Mapping[int, AnyEntry]) -> bool:
        """Return whether it was made for these entries, by place: it knows each that is secret."""
        return all(place in self.secret for place, entry in entries.items() if entry.secret)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Never:
        raise TypeError("A clearance holds for the process that made it: make another.")


def reveal(entry: AnyEntry, clearance: Clearance) -> Entry:
    """Return an entry with its texts; raises ValueError where it is sealed and the clearance was not made for it."""
    if not isinstance(entry, SecretEntry):
        return entry
    if entry.mark in clearance.marks:
        return entry._entry  # noqa: SLF001  the only door to it
    raise ValueError("the clearance is that of another run")
