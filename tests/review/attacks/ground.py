"""The ground on which attacks are played: a real review, its laptops, its office, and a certificate of it.

An attack is a named case. It ends *detected*, with the place that says so, or *possible*, with the sentence of
docs/internals/gate.md that says so: a case of neither kind is a hole.
"""

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any

from harness.sealed.keys import Identity, Signed
from review.log.event import Event, make_event
from review.log.payloads import AnyPayload
from review.office.results.certifying import issue, record_look, review_evidence
from review.office.store.store import Office
from review.rating import Rating
from review.verdict.certificate.certificate import Certificate, Issuer, read_certificate
from review.verdict.certificate.certify import certified_again, certify
from review.verdict.certificate.evidence import Evidence, EvidenceFile
from review.verdict.certificate.verifying import Verification, verify
from review.verdict.gate.key import ControlKind
from tests.review.office.made import Desk, Person, desk, take_vouched
from tests.review.verdict.certified import asked_alone, changed, packed

GATE = (Path(__file__).parents[3] / "docs" / "internals" / "gate.md").read_text("utf-8")
ISSUED = "2026-12-01T10:00:00Z"


@dataclass(frozen=True)
class Ground:
    """A review of five people, two of them strict, each at a laptop, that was issued as *discuss*."""

    desk: Desk
    people: tuple[Person, ...]
    file: EvidenceFile
    words: tuple[str, ...]
    """The six words of each hand-over, as the people wrote them down."""

    @property
    def evidence(self) -> Evidence:
        return self.file.evidence

    @property
    def organiser(self) -> Identity:
        return self.desk.identity

    @property
    def strict(self) -> tuple[str, ...]:
        return tuple(self.desk.codes[:2])

    def office(self, folder: Path) -> Office:
        """Return a copy of the office, for attacks on its tables."""
        shutil.copy(self.desk.folder / "reviews.sqlite", folder)
        return Office.open(folder)


@cache
def ground() -> Ground:
    folder = Path(mkdtemp(prefix="rosetta-attacks-"))
    made = desk(folder / "home", items=60)
    rng, people, words = Random(5), [], []
    for number, code in enumerate(made.codes):
        person = Person(folder / f"laptop{number}", made.batch, code)
        marks = [_rating(made, item, rng, strict=number < 2) for item in person.order]
        half = len(marks) // 2
        for start, part in ((0, marks[:half]), (half, marks[half:])):
            person.rate(part, start)
            report = take_vouched(made.office, made.identity, person.handed_over())
            words.append(report.phrase)
        people.append(person)
    run, own = made.review.key.runs[0].run_id, made.identity.public.signing_key
    seen = record_look(made.office, made.review, run, review_evidence(made.office, made.review, own))
    file = issue(made.office, made.review, run, seen, made.identity)
    return Ground(made, tuple(people), file, tuple(words))


def _rating(made: Desk, item: str, rng: Random, *, strict: bool) -> Rating:
    if made.review.key.items[item].control is ControlKind.BAD:
        return Rating.REJECT
    fine = [Rating.EXCELLENT] * 3 + [Rating.ACCEPTABLE] * 3 + [Rating.GIST]
    return rng.choice([Rating.GIST, Rating.GIST, Rating.ACCEPTABLE] if strict else fine)


def forged(evidence: Evidence, played: Ground) -> EvidenceFile:
    """Let the organiser certify and sign whatever the evidence now says."""
    public = played.organiser.public.signing_key
    run = evidence.key.runs[0].run_id
    certificate = certify(evidence, run, Issuer(name="The council", signing_key=public), ISSUED)
    data = certificate.as_bytes()
    return EvidenceFile(data, played.organiser.sign(data), evidence)


def verified(file: EvidenceFile) -> Verification:
    return verify(file.certificate, file.signature, file.evidence)


def second_says(file: EvidenceFile, folder: Path) -> tuple[int, str]:
    return asked_alone(packed(file, folder / "forged.rosetta-evidence"))


def wrong(done: Verification) -> set[str]:
    return {check.name for check in done.checks if check.ok is False}


def refused(file: EvidenceFile, folder: Path, *words: str) -> set[str]:
    """Return the checks of the first program that fail; the second one refuses too, and says these words."""
    code, said = second_says(file, folder)
    assert (code, said.startswith("Does not hold: ")) == (1, True), said
    assert all(each in said for each in words), said
    done = verified(file)
    assert done.broken, done.checks
    return wrong(done)


def accepted(file: EvidenceFile, folder: Path) -> Certificate:
    done = verified(file)
    assert done.ok, done.checks
    code, said = second_says(file, folder)
    assert (code, said.startswith("Holds: ")) == (0, True), said
    return done.certificate


Change = Callable[[Event], AnyPayload | None]
"""What an event says now; None: it is left out."""


def rewritten(events: Iterable[Event], change: Change) -> tuple[Event, ...]:
    """Write events anew with other contents, each chain linked again from its first event on."""
    chains: dict[str, list[Event]] = {}
    for event in sorted(events, key=lambda each: (each.device, each.seq)):
        said = None if event.payload is None else change(event)
        if said is None and event.payload is not None:
            continue
        chain = chains.setdefault(event.device, [])
        place = {"seq": len(chain), "prev": chain[-1].id if chain else ""}
        if said is None or said == event.payload:
            chain.append(replace(event, **place))  # type: ignore[arg-type]
        else:
            about = {"device": event.device, "lamport": event.lamport, "salt": bytes(16)}
            chain.append(make_event(said, **about, **place))  # type: ignore[arg-type]
    made = (event for chain in chains.values() for event in chain)
    return tuple(sorted(made, key=lambda each: each.order))


def without_laptops(evidence: Evidence, codes: Iterable[str]) -> Evidence:
    """Leave out the laptops at which some people sat, with all that they signed."""
    gone = {
        e.device for e in evidence.events if getattr(e.payload, "reviewer", None) in set(codes)
    } - evidence.own_devices
    return replace(
        evidence,
        events=tuple(e for e in evidence.events if e.device not in gone),
        handed_over=tuple(each for each in evidence.handed_over if not _is_of(each, gone)),
    )


def _is_of(each: Signed, devices: Iterable[str]) -> bool:
    return any(device.encode() in each.content for device in devices)


def last_of(evidence: Evidence, code: str) -> Event:
    said = next(e for e in evidence.events if getattr(e.payload, "reviewer", None) == code)
    return max((e for e in evidence.events if e.device == said.device), key=lambda e: e.seq)


def stripped(evidence: Evidence, kind: str, codes: Iterable[str]) -> Evidence:
    """Take the contents of some people's events out, as a withdrawal does."""
    gone = {e for e in evidence.events if e.kind == kind and getattr(e.payload, "reviewer", None) in set(codes)}
    return replace(evidence, events=tuple(e.erased() if e in gone else e for e in evidence.events))


def added(evidence: Evidence, *said: AnyPayload) -> Evidence:
    chain = [e for e in evidence.events if e.device in evidence.own_devices]
    last, late = max(chain, key=lambda e: e.seq), max(e.lamport for e in evidence.events)
    events = list(evidence.events)
    for later, each in enumerate(said, late + 1):
        place = {"seq": last.seq + 1, "prev": last.id, "lamport": later}
        last = make_event(each, device=last.device, salt=bytes(16), **place)  # type: ignore[arg-type]
        events.append(last)
    return replace(evidence, events=tuple(events))


def of_the_first_version(evidence: Evidence, played: Ground) -> EvidenceFile:
    """Return evidence as if an earlier version had written it, whose files commit to nothing."""
    bare = replace(evidence, batches={}, handed_over=())
    return as_first_form(forged(bare, played), played.organiser)


def as_first_form(file: EvidenceFile, by: Identity) -> EvidenceFile:
    old = changed(file, as_of_the_first_version, by)
    again = certified_again(file.evidence, read_certificate(old.certificate, "x")).as_bytes()
    return EvidenceFile(again, by.sign(again), file.evidence)


GOLDEN = Path(__file__).parents[1] / "golden_1"


def as_of_the_first_version(certificate: dict[str, Any]) -> None:
    """Leave out what certificates of that version do not have."""
    first = json.loads((GOLDEN / "golden.certificate.json").read_bytes())
    for part, known in ((certificate, first), (certificate["panel"], first["panel"])):
        for name in set(part) - set(known):
            del part[name]
    certificate["format"] = first["format"]
