"""Telling what people said of a run over secret entries: a coarse certificate leaves once the ledger has it.

Ratings come in one after the other, so two certificates of one run differ by what came between them. What a certificate
tells of an entry hangs on the ratings that the entry had then: an entry with other ratings counts as another one, and the
atoms of all that was told (``parts``) have five of these or more. So no combination of certificates tells of fewer. A
certificate for which too little is new is not told, and each one that is told counts, with a pause after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Final

from harness.card.withholding import LEAST
from harness.release.budget import CERTIFICATES, MOMENT, History, NotReleased, Part, set_id
from harness.release.confirmation import confirmation_of
from harness.release.ledger import ReleaseLedger
from harness.release.parts import tellable
from harness.release.records import CertificateTold, Confirmation, InLedger

STRATUM: Final = "difficulty"
"""The breakdown of a certificate."""


@dataclass(frozen=True)
class CertificateQuestion:
    """A certificate that is to leave."""

    run: str
    corpus: str
    entries: frozenset[str]
    """Digests, each of a rated entry with its ratings and with how many were rated of its difficulty."""
    entries_of: Mapping[Part, frozenset[str]] = field(default_factory=dict)
    """Those of each difficulty."""

    @property
    def submitter(self) -> str:
        """The name under which all certificates of the run are counted."""
        return f"certificates of run {self.run}"


def certificate_question(
    run: str,
    corpus: str,
    ratings: Mapping[str, Mapping[str, int]],
    strata: Mapping[str, int],
    digest: Callable[[str], str],
) -> CertificateQuestion:
    """Ask for a certificate of some ratings: person who counts → item → rank.

    An item is known by its ratings, and by how many were rated of its difficulty (``strata``): that is the weight with
    which it counts in the share of all.
    """
    rated: dict[str, list[tuple[str, int]]] = {}
    for who in sorted(ratings):
        for item, rank in ratings[who].items():
            rated.setdefault(item, []).append((who, rank))
    sizes = Counter(strata[item] for item in rated)
    parts: dict[Part, set[str]] = {}
    for item, said in rated.items():
        known = digest(f"{item} of {sizes[strata[item]]} rated {said}")
        parts.setdefault((STRATUM, str(strata[item])), set()).add(known)
    return CertificateQuestion(
        run=run,
        corpus=corpus,
        entries=frozenset().union(*parts.values()),
        entries_of={name: frozenset(part) for name, part in parts.items()},
    )


@dataclass(frozen=True)
class CertificateAnswer:
    """What may be told of it."""

    parts: frozenset[Part]
    number: int
    """Which certificate of the run it is."""
    of: int
    issued: str
    supersedes: str | None
    """The certificate of the run that was told before it."""
    atoms: Mapping[str, int] | None


Written = tuple[str, str]
"""A certificate and its signature, as they are kept."""


def tell_certificate(
    ledger: ReleaseLedger,
    asked: CertificateQuestion,
    make: Callable[[CertificateAnswer, InLedger, Confirmation], Written],
    same: Callable[[CertificateTold], bool],
) -> CertificateTold:
    """Return the coarse certificate of a run as the ledger has it; ``make`` writes and signs it.

    Where ``same`` finds that the last one says it all, that one is given again and counts once. Raises NotReleased in
    words where nothing may be told.
    """
    with ledger.changing() as change:
        last = last_certificate(change.history, asked.run)
        if last is not None and last.entries == set_id(asked.entries) and same(last):
            return last
        confirmation = confirmation_of(change.history, asked.run)
        if confirmation is None:
            raise NotReleased(_SCORES_FIRST.format(asked.run[:8]))
        answer = certificate_answer(change.history, asked, change.now)
        certificate, signature = make(answer, change.place, confirmation)
        certificate_told = CertificateTold(
            submitter=asked.submitter,
            run=asked.run,
            corpus=asked.corpus,
            entries=set_id(asked.entries),
            atoms=None if answer.atoms is None else dict(answer.atoms),
            certificate=certificate,
            signature=signature,
        )
        change.write(certificate_told)
    return certificate_told


def certificate_answer(
    found: History, asked: CertificateQuestion, now: datetime
) -> CertificateAnswer:
    """Decide what is told of a certificate; NotReleased where nothing is."""
    number, count = found.require_answers(
        asked.submitter, asked.corpus, asked.entries, now, numbers=CERTIFICATES
    )
    chosen = tellable(found.partition, asked.entries, asked.entries_of)
    if chosen is None:
        raise NotReleased(_TOO_FEW)
    parts, after = chosen
    last = last_certificate(found, asked.run)
    return CertificateAnswer(
        parts=parts,
        number=number,
        of=count,
        issued=now.strftime(MOMENT),
        supersedes=None if last is None else sha256(last.certificate.encode()).hexdigest(),
        atoms=found.new_atoms(asked.entries, after),
    )


_SCORES_FIRST: Final = (
    "Nobody was told the scores of run {0}, so the ledger does not know about which entries its certificate would tell. "
    "First: rosetta runs export {0} --submitter NAME -o FILE"
)


_TOO_FEW: Final = (
    f"With what was told before, this certificate would tell of the ratings of fewer than {LEAST} entries: too little is new since "
    "the last one, or too few entries of a difficulty were rated. What was told stands. Certify again when more ratings came "
    "in, or were taken back."
)


def last_certificate(found: History, run: str) -> CertificateTold | None:
    """Return the certificate of a run that was told last; None where none was."""
    certificate_tolds = [
        act for _, act in found.answers if isinstance(act, CertificateTold) and act.run == run
    ]
    return certificate_tolds[-1] if certificate_tolds else None
