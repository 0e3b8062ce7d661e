"""What leaves of a verdict on secret entries: a coarse certificate, counted in the release ledger.

Ratings come in one after the other, so two certificates of one run differ by what came between them. What a certificate
says about an entry hangs on the ratings that the entry had then: an entry with other ratings counts as another one, and the
atoms of all that was released (``harness.release``) have five of these or more. So no combination of certificates reveals
fewer. A certificate for which too little is new is not released, and each one that is counts, with a pause after it.

The certificate itself, and the evidence with every single rating, stay in the office. Both leave only by a command that
says so (``rosetta review export --inside``), and no exchange folder takes them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from harness.card.withholding import LEAST, Part, set_id, tellable
from harness.core.failures import HarnessError
from harness.release.budget import ACTIVATE, CERTIFICATES, MOMENT, REASONS, History, NotReleased, shortfall_of
from harness.release.ledger import own_ledger, told_so_far
from harness.release.ledger_records import CertificateTold, Confirmation
from harness.sealed.keys import Identity, Signed
from review.office.store.store import IssuedCertificate, Office, Review
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.certify import read_verdict
from review.verdict.certificate.coarse import CoarseCertificate, coarse_of, read_coarse, same_numbers
from review.verdict.certificate.evidence import EvidenceFile

STRATUM: Final = "difficulty"  # The breakdown of a certificate
_TOO_FEW: Final = (
    f"Together with the last certificate, this one would reveal the ratings of fewer than {LEAST} entries: too little is new since "
    "then, or too few entries of a difficulty were rated. The last one stays valid. Certify again when more ratings came "
    "in, or were taken back."
)


@dataclass(frozen=True)
class CertificateQuestion:
    """A certificate that is to leave."""

    run: str
    corpus: str
    # Of each difficulty the digests, each of a rated entry with its ratings and with how many were
    # rated of its difficulty
    entries_of: Mapping[Part, frozenset[str]]

    @property
    def entries(self) -> frozenset[str]:
        return frozenset().union(*self.entries_of.values())

    @property
    def submitter(self) -> str:
        """The name under which all certificates of the run are counted."""
        return f"certificates of run {self.run}"


@dataclass(frozen=True)
class CertificateAnswer:
    """What may be told of it."""

    parts: frozenset[Part]
    number: int  # Which certificate of the run it is
    of: int
    issued: str
    supersedes: str | None  # The certificate of the run that was told before it
    atoms: Mapping[str, int] | None


def certificate_question(
    run: str,
    corpus: str,
    ratings: Mapping[str, Mapping[str, int]],
    strata: Mapping[str, int],
    digest: Callable[[str], str],
) -> CertificateQuestion:
    """Return the question for a certificate of some ratings: person who counts → item → rank.

    An item is known by its ratings, and by how many were rated of its difficulty (``strata``): that is the weight with
    which it counts in the share of all.
    """
    rated: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for who in sorted(ratings):
        for item, rank in ratings[who].items():
            rated[item].append((who, rank))
    sizes = Counter(strata[item] for item in rated)
    parts: dict[Part, set[str]] = defaultdict(set)
    for item, given in rated.items():
        known = digest(f"{item} of {sizes[strata[item]]} rated {given}")
        parts[STRATUM, str(strata[item])].add(known)
    return CertificateQuestion(run, corpus, {name: frozenset(part) for name, part in parts.items()})


def certificate_answer(history: History, asked: CertificateQuestion, now: datetime) -> CertificateAnswer:
    number, count = history.require_answers(asked.submitter, asked.corpus, asked.entries, now, numbers=CERTIFICATES)
    if (chosen := tellable(history.atoms, asked.entries, asked.entries_of)) is None:
        raise NotReleased(_TOO_FEW)
    parts, after = chosen
    last = last_certificate(history, asked.run)
    return CertificateAnswer(
        parts=parts,
        number=number,
        of=count,
        issued=now.strftime(MOMENT),
        supersedes=None if last is None else sha256(last.certificate.encode()).hexdigest(),
        atoms=history.new_atoms(asked.entries, after),
    )


def require_scores_told(history: History, run: str) -> Confirmation:
    """Return whether a run is confirmed; NotReleased where nobody has its scores.

    Without them the ledger does not know about which entries its certificate tells, and a later run over them would be confirmed.
    """
    if (shortfall := shortfall_of(history, run)) is None:
        raise NotReleased(
            f"The scores of run {run[:8]} were not released, so the ledger does not know which entries its certificate would reveal. "
            f"First: rosetta runs export {run[:8]} --submitter NAME -o FILE"
        )
    return "not_confirmed" if shortfall else "confirmed"


def last_certificate(history: History, run: str) -> CertificateTold | None:
    """Return the certificate of a run that was released last; None where none was."""
    answers = history.told(CertificateTold, run=run)
    return answers[-1] if answers else None


def release_certificate(office: Office, made: EvidenceFile, identity: Identity) -> Signed:
    """Return the coarse certificate of one that was just issued; NotReleased in words where nothing may be told.

    Where the last released one says it all, that one is given again and counts once.
    """
    exact = read_certificate(made.certificate, "the certificate")
    ledger, run = own_ledger(office.path.parent), exact.run.run_id
    reading = read_verdict(made.evidence, run)
    counted = {who: reading.panel.ratings.get(who, {}) for who in reading.verdict.numbers.reviewers}
    asked = certificate_question(run, exact.run.dataset_id, counted, reading.panel.strata, ledger.digest)
    with ledger.changing() as change:
        last = last_certificate(change.history, run)
        if last is not None and last.entries == set_id(asked.entries) and same_numbers(read_coarse(last.certificate.encode(), "the certificate in the ledger"), exact):  # fmt: skip
            return _signed(last)
        confirmation = require_scores_told(change.history, run)
        answer = certificate_answer(change.history, asked, change.now)
        coarse = coarse_of(
            exact,
            [tag for _, tag in answer.parts],
            issued=answer.issued,
            supersedes=answer.supersedes,
            answer=answer.number,
            of=answer.of,
            place=change.place,
            confirmation=confirmation,
        ).as_bytes()
        told = CertificateTold(
            submitter=asked.submitter,
            run=run,
            corpus=asked.corpus,
            entries=set_id(asked.entries),
            atoms=None if answer.atoms is None else dict(answer.atoms),
            certificate=coarse.decode(),
            signature=identity.sign(coarse).hex(),
        )
        change.write(told)
    return _signed(told)


def released_certificate(office: Office, run_id: str) -> Signed | None:
    """Return the coarse certificate of a run that was released last; None where none was."""
    last = last_certificate(own_ledger(office.path.parent).read(), run_id)
    return None if last is None else _signed(last)


def require_confirmed(run_id: str, home: Path) -> None:
    """Raise HarnessError if by this computer's ledger no claim may rest on a run over secret entries; it says what to do."""
    if (why := shortfall_of(told_so_far(home), run_id)) != "":
        raise HarnessError(f"Nothing is claimed by run {run_id[:8]}: it is not confirmed, because {REASONS[why]}. {ACTIVATE}")  # fmt: skip


def told_elsewhere(run_id: str, home: Path) -> bool:
    """Return whether this computer's ledger has nothing of a run, so that it cannot say whether the run is confirmed."""
    return shortfall_of(told_so_far(home), run_id) is None


def told_instead(office: Office, issued: IssuedCertificate) -> Signed | None:
    """Return the coarse certificate that says of a run what one that stays inside says; None where it was not told."""
    signed = released_certificate(office, issued.run_id)
    exact = read_certificate(issued.certificate, "the certificate")
    if signed is None or not same_numbers(read_coarse(signed.content, "it"), exact):
        return None
    return signed


def exact_of(office: Office, review: Review, coarse: CoarseCertificate) -> Signed | None:
    """Return the certificate that stayed inside, of which a coarse one is; None where this office has not issued it."""
    every = (Signed(c.certificate, c.signature) for c in office.certificates(review))
    return next((signed for signed in every if signed.sha256 == coarse.exact), None)


def _signed(told: CertificateTold) -> Signed:
    return Signed(told.certificate.encode(), bytes.fromhex(told.signature))
