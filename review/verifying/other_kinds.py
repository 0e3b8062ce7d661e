"""Verifying what belongs to no run, review or vault alone: shares that were tried, weights, exports of a community, corpora, marks of folders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pydantic import ValidationError

from harness.card.checking.verdict import CardCheck
from harness.card.reading import block
from harness.consent.given import SignedConsent
from harness.exchange.manifest import ExchangeRecord
from harness.project.state import ProjectState
from harness.sealed.strict_records import formats
from harness.setup.scoring_options import SignedScoring, read_signed_scoring
from harness.vault.shares import SignedShareTried, read_tried
from review.calibration.proposal import FORMAT as PROPOSAL
from review.calibration.proposal import stated_proposal
from review.community.folder import ABOUT, SIGNATURE, SUMS, read_export
from review.community.folder import FORMAT as EXPORT
from review.verifying.kinds import (
    Signer,
    ToldOfFile,
    VerifiableKind,
    VerifiedAgainst,
    VerifiedFile,
    signature_check,
    unsigned_check,
)

_PROPOSAL: Final = f'format = "{PROPOSAL}"'.encode()


def _verify_tried(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    statement = read_tried(file.data)
    facts = (("vault", statement.vault), ("when", statement.when), ("share", f"right, {statement.check[:16]}…"))
    words = "that the share is right is what the keeper's program says"
    checks = [signature_check(), CardCheck("share", None, words)]
    return ToldOfFile(facts, [Signer("keeper", statement.by)], checks)


def _verify_scoring(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    signed_scoring = read_signed_scoring(file.data, file.path.name)
    facts = (("languages", signed_scoring.language_pair), ("rests on", f"{signed_scoring.items:,} rated entries"))
    return ToldOfFile(facts, [Signer("organisation", signed_scoring.by)], [signature_check()])


def _verify_proposal(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    stated = stated_proposal(file.data.decode("utf-8", "replace"), file.path.name)
    checks = [
        CardCheck("hash", True, "its hash is its own"),
        CardCheck("signature", None, "a proposal is not signed; the measure that scores are made with is"),
    ]
    return ToldOfFile((("made by", str(stated.get("made_by"))),), (), checks)


def _verify_export(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    """Check the whole export in whose folder the file lies."""
    export = read_export(file.path.parent)
    words = f"each of the {len(export.sums):,} files of the export is as it was signed"
    return ToldOfFile((), [Signer("organisation", export.signer)], [signature_check(words)])


def _verify_corpus(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    """Return what a corpus is, which nobody signs, and whether the consent in it is as it was signed."""
    dataset, entries = block(file.stated, "dataset"), file.stated.get("entries")
    count = len(entries) if isinstance(entries, list) else 0
    facts = (("corpus", str(dataset.get("id"))), ("entries", f"{count:,}"))
    words = "nobody signs a corpus; what it must meet, `rosetta corpus check` looks at"
    unsigned = unsigned_check(words)
    try:
        consent = SignedConsent.model_validate(dataset.get("consent"))
    except ValidationError:
        return ToldOfFile(facts, (), [unsigned])
    right = consent.is_signed_by(consent.signing_key)
    outcome = "as it was signed" if right else "changed after it was signed"
    check = CardCheck("record of consent", right, f"of {consent.date}, {outcome}")
    return ToldOfFile(facts, [Signer("consent", consent.signing_key)], [unsigned, check])


def _unsigned(words: str) -> Callable[[VerifiedFile, VerifiedAgainst], ToldOfFile]:
    """Return what says of a file that nobody signs, where it is examined."""
    return lambda *_: ToldOfFile(checks=[unsigned_check(words)])


_OWN: Final = "nobody signs it: the program keeps it for itself, and no other computer believes it"

KINDS: Final = (
    VerifiableKind("share-tried", "what a keeper says of their share", _verify_tried, formats(SignedShareTried)),
    VerifiableKind("scoring", "the weights and lines that an organisation signed", _verify_scoring, formats(SignedScoring)),
    VerifiableKind("scoring-proposal", "a proposal of weights and lines", _verify_proposal, fits=lambda file: _PROPOSAL in file.data[:4000]),
    VerifiableKind("community-export", "the export of a community", _verify_export, (EXPORT,), lambda file: file.path.name in {SUMS, SIGNATURE} and file.path.with_name(ABOUT).is_file()),
    VerifiableKind("exchange-folder", "the mark of an exchange folder", _unsigned("nobody signs it; `rosetta community stick` looks at the folder"), ("rosetta-exchange-folder/1",)),
    VerifiableKind("exchange-record", "what a computer remembers of exchange folders", _unsigned(_OWN), formats(ExchangeRecord)),
    VerifiableKind("corpus-project", "the state of a corpus in the making", _unsigned(_OWN), formats(ProjectState)),
)  # fmt: skip

# Looked for last: cards and reports have such fields, too
CORPUS: Final = VerifiableKind(
    "corpus", "a corpus", _verify_corpus, fits=lambda file: file.stated.keys() >= {"dataset", "entries"}
)
