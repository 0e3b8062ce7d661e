"""Which laptops speak for whom: what an organiser sees, and what the organisation decides."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from operator import attrgetter
from typing import Final

from harness.core.failures import UsageError
from harness.sealed.keys import key_phrase
from harness.sealed.strict_records import FileProblem
from review.files.identities import printed
from review.files.manifests import BatchManifest
from review.log.event import Event, WildClock, reach
from review.log.merge import FAR, OWN_WORDS, AssignedLaptops, Objection, Remark, far_ahead, heard, may_go_on_with
from review.log.payloads import (
    AssignLaptop,
    ItemPayload,
    Kind,
    LaptopWord,
    Rate,
    ReviewerPayload,
    Train,
    Translate,
    Withdraw,
)
from review.log.table import latest_time, people_of, read_person
from review.office.store.review import KnownLaptop
from review.office.store.store import Office, Review, utc_now


@dataclass(frozen=True, slots=True)
class Speaker:
    """One laptop that decides something in people's names."""

    name: str  # What the organisation calls it
    phrase: str  # Its six words
    signing_key: str
    people: Sequence[str]  # Codes of those in whose name it speaks
    far_ahead: bool = False  # Whether its log has a time that no honest laptop comes to
    removed: str | None = None  # Why it is not heard any more; None where it is


@dataclass(frozen=True, slots=True)
class DuplicateLaptops:
    """A person for whom several laptops speak that did not come instead of one another."""

    code: str
    laptops: Sequence[str]  # Names
    # Names of those that the organisation said speak for this person; none while it has not said
    counted: Sequence[str] = ()

    @property
    def waits(self) -> bool:
        """Return whether nobody's ratings of this person count until the organisation says who speaks."""
        return not self.counted


@dataclass(frozen=True, slots=True)
class Assignments:
    """Who speaks for whom in one review."""

    laptops: Sequence[Speaker]
    several: Sequence[DuplicateLaptops]

    @property
    def shared(self) -> list[Speaker]:
        """Laptops that speak for several people: fine for a shared computer, and for nothing else."""
        return [laptop for laptop in self.laptops if len(laptop.people) > 1]


def speaking(office: Office, review: Review) -> Assignments:
    """Return which laptops speak for whom, by name."""
    events, keys = office.events(review, shut=True), office.devices()
    _, voices = heard(events, keys, office.own_devices, set(review.manifests))
    far = {keys.get(device) for device in far_ahead(events, office.own_devices)}
    return _by_name(office, review, voices, delivered(office, review), far)


def speaking_of(office: Office, review: Review, signing_key: str, people: Iterable[str]) -> Assignments:
    """Return the same for one laptop, and of whom several speak among its people and some others, as the log names them.

    Only events of these people are read. The laptop handed something in for the review.
    """
    keys, log = office.devices(), office.connection
    devices = [device for device, key in keys.items() if key == signing_key]
    persons = {*people, *(who for device in devices for who in people_of(log, device))}
    persons_read = (read_person(log, person) for person in sorted(persons))
    events = [*office.own_words(Kind.LAPTOP), *chain.from_iterable(persons_read)]
    _, voices = heard(events, keys, office.own_devices, set(review.manifests))
    far = set()
    if any(latest_time(log, device) > FAR for device in devices):  # as no honest laptop's are
        wild = far_ahead(office.events(review, shut=True), office.own_devices)
        far = {keys.get(device) for device in wild}
    every = _by_name(office, review, voices, {signing_key}, far)
    own = [laptop for laptop in every.laptops if laptop.signing_key == signing_key]
    return Assignments(own, every.several)


def _by_name(
    office: Office, review: Review, voices: AssignedLaptops, laptops: Collection[str], far: Collection[str | None]
) -> Assignments:
    """Resolve the names of laptops and people; ``laptops`` are listed even where they speak for nobody, ``far`` are far ahead."""
    known = {laptop.signing_key: laptop for laptop in office.laptops()}
    people: dict[str, set[str]] = {key: set() for key in laptops}
    for (_, person), speakers in voices.speakers.items():
        for key in speakers:
            people.setdefault(key, set()).add(review.code(person))
    named = []
    for key, codes in people.items():
        laptop = known.get(key)
        removed = None if laptop is None or laptop.removed is None else laptop.reason
        name = _name(key, laptop)
        named.append(Speaker(name, key_phrase(key), key, sorted(codes), key in far, removed))
    several = [
        DuplicateLaptops(review.code(p), _names(voices.speakers[batch, p], known), _names(c, known))
        for (batch, p), c in voices.several.items()
    ]
    by_name = sorted(named, key=attrgetter("name", "phrase"))
    return Assignments(by_name, sorted(several, key=attrgetter("code")))


def _name(key: str, laptop: KnownLaptop | None) -> str:
    return f"the laptop {key_phrase(key)}" if laptop is None else laptop.name


def _names(keys: Iterable[str], known: Mapping[str, KnownLaptop]) -> list[str]:
    return sorted(_name(key, known.get(key)) for key in keys)


def delivered(office: Office, review: Review) -> set[str]:
    """Return the keys of the laptops that handed something in for a review."""
    rows = office.connection.execute(
        "SELECT DISTINCT d.signing_key FROM delivery d JOIN batch b ON b.batch = d.batch WHERE b.review = ?",
        (review.number,),
    )
    return {row[0] for row in rows}


def note_laptops(office: Office, review: Review) -> int:
    """Record in the log of a review what the organisation holds of its laptops, where that is not recorded there yet.

    Gives how many words were written. Of a laptop that is heard and came instead of no other nothing needs saying.
    """
    laptop_words = {
        event.payload.laptop: event.payload
        for event in office.own_words(Kind.LAPTOP)
        if isinstance(event.payload, LaptopWord) and event.payload.batch in review.manifests
    }
    here = delivered(office, review)
    written = 0
    for laptop in office.laptops():
        before = laptop_words.get(laptop.signing_key)
        word = LaptopWord(
            wall=utc_now(),
            batch=review.key.batches[0],
            laptop=laptop.signing_key,
            heard=laptop.removed is None,
            instead_of=laptop.instead_of,
            reason=laptop.reason,
        )
        facts = attrgetter("heard", "instead_of", "reason")
        stated = (True, None, "") if before is None else facts(before)
        if facts(word) != stated and here & {laptop.signing_key, laptop.instead_of}:
            office.append(review, word)
            written += 1
    return written


def take_out(office: Office, laptop: KnownLaptop, reason: str) -> list[str]:
    """Exclude a laptop from every review: return the names of the reviews whose ratings change by it.

    What was taken back on it stays taken back. UsageError where it is out already.
    """
    if laptop.removed is not None:
        raise UsageError(
            f"{laptop.name} is taken out already, since {laptop.removed[:10]}. To say another reason, put it back first: "
            "rosetta review enrol --remove --undo"
        )
    return _set_heard(office, laptop, heard=False, reason=reason)


def put_back(office: Office, laptop: KnownLaptop) -> list[str]:
    """Include a laptop again that was taken out; return the names of the reviews whose ratings change by it."""
    if laptop.removed is None:
        raise UsageError(f"{laptop.name} is not taken out: there is nothing to undo.")
    return _set_heard(office, laptop, heard=True, reason="")


def _set_heard(office: Office, laptop: KnownLaptop, *, heard: bool, reason: str) -> list[str]:
    with office.transaction():
        office.set_heard(laptop.signing_key, heard=heard, reason=reason)
        return [review.name for review in office.reviews() if note_laptops(office, review)]


def let_speak(office: Office, review: Review, person: str, laptops: Sequence[KnownLaptop]) -> None:
    """Show which laptops speak for a person of a review; what the others said in this name counts no more.

    UsageError for a laptop that handed nothing in for the review, is taken out, or has no answer of this person.
    """
    here, batches = delivered(office, review), review.batches_of(person)
    events, own = office.events(review, shut=True), office.own_devices
    _, voices = heard(events, office.devices(), own, set(review.manifests))
    spoke = voices.speak_for(person, batches)
    for laptop in laptops:
        if laptop.signing_key not in here:
            raise UsageError(
                f"{laptop.name} handed nothing in for review {review.name}. Import its files first, or name another "
                f"laptop: rosetta review status {review.name} lists them."
            )
        if laptop.removed is not None:
            raise UsageError(f"{laptop.name} is taken out. Put it back first: rosetta review enrol --remove --undo")
        if voices.name_of(laptop.signing_key) not in spoke:
            # That a laptop never spoke for a person, and which did.
            code = review.code(person)
            names = _names(spoke, {laptop.signing_key: laptop for laptop in office.laptops()})
            have = "have" if len(names) > 1 else "has"
            others = f"{' and '.join(names)} {have}" if names else "no laptop has one yet"
            raise UsageError(f"{laptop.name} has no answer of {printed(code)}; {others}. Nothing is changed.")
    keys = tuple(sorted({laptop.signing_key for laptop in laptops}))
    with office.transaction():
        for batch in batches:
            assign_laptop = AssignLaptop(wall=utc_now(), batch=batch, reviewer=person, laptops=keys)
            office.append(review, assign_laptop)


# ---- What became of one file of ratings, in numbers and words for the organiser ----
#
# What a laptop may not say in a file of one batch, and whose logs it adds nothing to.

FORGED: Final = "is written in the organisation's name, and the organisation did not write it"
OTHER_LAPTOPS: Final = "is of another laptop's log, and this laptop did not come instead of it"


def closed_devices(office: Office, signing_key: str) -> dict[str, str]:
    """Return device → why a laptop adds nothing to its chain: the organisation's, or another laptop's."""
    before = {laptop.signing_key: laptop.instead_of for laptop in office.laptops()}
    keys = may_go_on_with(signing_key, before)
    others = {device for device, key in office.devices().items() if key not in keys}
    return dict.fromkeys(others, OTHER_LAPTOPS) | dict.fromkeys(office.own_devices, FORGED)


def objection(review: Review, batch: str) -> Objection:
    """Return what a laptop may not say in a file of one batch."""
    manifest = BatchManifest.model_validate_json(review.manifests[batch])
    other_task = Rate if manifest.task == "translate" else Translate

    def why_not(event: Event) -> str | None:
        if event.kind in OWN_WORDS:
            return "decides what only the organisation decides"
        everywhere = isinstance(event.payload, Withdraw) and reach(event.payload) is None
        if not everywhere and getattr(event.payload, "batch", None) != batch:
            return "belongs to another batch than the file"
        if isinstance(event.payload, other_task):
            return f"is an answer to something else: this batch asks people to {manifest.task}"
        # That a batch does not know the reviewer of an event, or did not ask this person about its
        # item.
        payload = event.payload
        if isinstance(payload, ReviewerPayload | Withdraw) and not manifest.order(payload.reviewer):
            return "is of a reviewer whom this batch does not know"
        if not isinstance(payload, ItemPayload) or isinstance(payload, Train):
            return None
        asked = payload.item in manifest.order(payload.reviewer)
        return None if asked else "is about an item that this reviewer was not asked"

    return why_not


class FileOutcome(StrEnum):
    """What became of a file."""

    TAKEN = "taken"
    SET_ASIDE = "set aside"  # Its laptop is unknown; it waits until somebody vouches for it
    REFUSED = "refused"
    # It was found in a folder by its first bytes alone, and it is for somebody else's keys
    PASSED_OVER = "passed over"


@dataclass(frozen=True)
class FileReport:
    """One file, in numbers and words for the organiser; no text of a reviewer."""

    name: str
    outcome: FileOutcome
    why: str = ""  # Why it was refused or passed over
    problem: FileProblem | None = None  # Kind of the fault of a file that could not be opened
    review: str = ""
    phrase: str = ""  # Six words of its content, as the laptop showed them
    signing_key: str = ""
    laptop_phrase: str = ""  # Six words of its laptop's key
    added: int = 0
    # New events whose content was taken back before: of them the head alone is kept
    erased: int = 0
    already_here: int = 0
    aside: Sequence[Remark] = ()  # Events that this laptop may not say
    damaged: Sequence[Remark] = ()  # Lines that are no sound events
    # Codes of the reviewers in it of whom another laptop handed something in before
    elsewhere: Sequence[str] = ()
    # Codes of those for whom its laptop speaks in this review, where they are several
    speaks_for: Sequence[str] = ()
    # Of the people in it those for whom several laptops speak
    several: Sequence[DuplicateLaptops] = ()
    far_ahead: bool = False  # Its laptop's log has a time that no honest laptop comes to
    copied: bool = False  # Its data was copied to a second laptop, and both continued
    gaps: int = 0  # Events that are missing in its chains, or do not fit the one before
    clocks: Sequence[WildClock] = ()
    withdrawn: Sequence[str] = ()  # Codes of the reviewers whose withdrawals were new
    recompute: int = 0  # Certificates that rest on what was taken back
    dropped: int = 0  # Files that waited and held what was taken back: they are gone
    # Files that wait and that none of the keys available opens, so they may hold it too
    unopened: int = 0
    # What was taken back is erased, but the disk had no room to rewrite the file without it
    unclean: bool = False
