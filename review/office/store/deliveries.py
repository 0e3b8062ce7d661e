"""What came back from which laptop, and what of it an organiser should look into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from review.log.chain import Chain, check_chain
from review.log.clocks import WildClock, wild_clocks
from review.office.store.review import Import
from review.office.store.store import Office, Review
from review.sealed.keys import key_phrase


@dataclass(frozen=True, slots=True)
class Delivery:
    """One laptop that handed something over for a review."""

    name: str
    """What the organisation calls it."""
    phrase: str
    """Its six words."""
    files: Sequence[Import]
    """What was taken in from it, oldest first; a file that came again is there again."""
    copied: bool
    """Its data was copied to a second laptop, and both went on."""
    gaps: int
    """Events that are missing in its chains, or do not fit the one before."""
    clocks: Sequence[WildClock]

    @property
    def different_files(self) -> int:
        """How many files came, each counted once."""
        return len({each.sha256 for each in self.files})


def deliveries(office: Office, review: Review, now: datetime | None = None) -> list[Delivery]:
    """Return the laptops of a review by name; what is found follows from the events that are kept."""
    devices = _devices(office, review)
    events = office.events(review)
    chains = {chain.device: chain for chain in check_chain(events).chains}
    since = datetime.fromisoformat(review.manifest.created)
    clocks = wild_clocks(events, now or datetime.now(UTC), since)
    names = {laptop.signing_key: laptop.name for laptop in office.laptops()}
    imports = office.imports(review)
    found = [
        _delivery(
            names.get(key, "a laptop without a name"),
            key,
            [each for each in imports if each.signing_key == key],
            [chains[device] for device in devices.get(key, ()) if device in chains],
            [clock for clock in clocks if clock.device in devices.get(key, ())],
        )
        for key in {*devices, *(each.signing_key for each in imports)}
    ]
    return sorted(found, key=lambda each: (each.name, each.phrase))


def _delivery(
    name: str,
    signing_key: str,
    files: Sequence[Import],
    chains: Sequence[Chain],
    clocks: Sequence[WildClock],
) -> Delivery:
    return Delivery(
        name,
        key_phrase(signing_key),
        files,
        copied=any(chain.forked for chain in chains),
        gaps=sum(chain.missing + len(chain.broken) for chain in chains),
        clocks=clocks,
    )


def _devices(office: Office, review: Review) -> dict[str, set[str]]:
    """Return signing key → the devices that it answered for in this review."""
    rows = office.connection.execute(
        "SELECT d.signing_key, d.device FROM delivery d JOIN batch b ON b.batch = d.batch"
        " WHERE b.review = ?",
        (review.number,),
    )
    found: dict[str, set[str]] = {}
    for key, device in rows:
        found.setdefault(key, set()).add(device)
    return found
