"""The record of who owns a method that speakers found good (benchmark-specification §8.3, §9.5), signed by both sides.

It is one file, which travels by stick: the terms, and what each side said to them. Every word of a side is signed over the
hash of the terms, so nobody changes these afterwards. Words are only ever added, and whatever order copies come back in, the
same follows from them: a copy of before takes nothing back that is known here.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from corpora.files.json_types import JsonObject
from corpora.files.toml_text import first_problem
from harness.consent.notice import Words, one_line
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.storage import usage_errors
from harness.sealed.archive import SignedRecord, signed_record
from harness.sealed.keys import Identity
from harness.sealed.strict_records import FileError, FileProblem, Hex64, Short, StrictRecord
from harness.vault.log import moment
from harness.vault.vault_records import Moment

SUFFIX: Final = ".rosetta-ownership"
MOST_BYTES: Final = 64 * 1024
MOST_CLAUSE: Final = 2_000  # Characters of what both add to the terms

# What the developer keeps (§8.3)
KEEPS: Final = (
    "attribution and credit: their name stays on the leaderboard",
    "the right to publish about the method",
    "the right to use the method for other language pairs",
)

# What the organisation gains (§8.3)
GAINS: Final = (
    "the right to use, modify, distribute and monetize the method for its language",
    "the right to sublicense",
    "physical possession of the method's code, which it holds already where that was submitted",
)

# Percent of what the method earns that the organisation gets unless both agree otherwise (§8.5:
# 90/10)
ORGANISATION_SHARE: Final = 90


class Side(StrEnum):
    """Who speaks."""

    ORGANISATION = "organisation"
    DEVELOPER = "developer"


class Party(StrictRecord):
    """One side: what it calls itself, and its key. Only the key shows who it is."""

    name: Words
    signing_key: Hex64


class OwnershipTerms(StrictRecord):
    """What is agreed on."""

    format: Literal["rosetta-ownership-terms/1"] = "rosetta-ownership-terms/1"
    salt: Hex64  # Random, so that no two proposals are the same
    proposed: Moment
    run_id: Short
    card: Hex64  # The card's `run_card_hash`
    # SHA-256 of the certificate of the passed gate; over secret entries of the coarse one, which
    # both can see
    certificate: Hex64
    segment: Literal["gold_standard"] = "gold_standard"
    # The line that the run reached; how far it is above, the record does not tell
    composite_at_least: Annotated[str, Field(pattern=r"^0\.[0-9]{2}$")]
    method: Words
    language_pair: Short
    organisation: Party
    developer: Party
    developer_keeps: Annotated[tuple[Words, ...], Field(min_length=1, max_length=20)] = KEEPS
    organisation_gains: Annotated[tuple[Words, ...], Field(min_length=1, max_length=20)] = GAINS
    # Percent of what the method earns; the developer gets the rest
    organisation_share: Annotated[int, Field(ge=0, le=100)] = ORGANISATION_SHARE
    more: Annotated[str, Field(max_length=MOST_CLAUSE)] = ""  # What else both agree on

    @cached_property
    def id(self) -> str:
        """SHA-256 over the terms, hexadecimal: what each side signs, and the number of the record."""
        return sha256(canonical_bytes(self.model_dump(mode="json"))).hexdigest()

    @property
    def developer_share(self) -> int:
        """Percent."""
        return 100 - self.organisation_share

    def party(self, side: Side) -> Party:
        return self.organisation if side is Side.ORGANISATION else self.developer

    def side_of(self, signing_key: str) -> Side | None:
        """Return whose key it is; None where it is neither's."""
        return next((side for side in Side if self.party(side).signing_key == signing_key), None)


class OwnershipAction(StrEnum):
    """What a side did."""

    PROPOSED = "proposed"
    SIGNED = "signed"
    REFUSED = "refused"
    REVOKED = "revoked"  # Took its own signature back


class OwnershipAct(StrictRecord):
    """One thing that one side said to the terms."""

    format: Literal["rosetta-ownership-act/1"] = "rosetta-ownership-act/1"
    terms: Hex64  # The terms' id
    what: OwnershipAction
    by: Hex64
    when: Moment  # By the clock of anyone who signed; nothing shows that it was right
    reason: Annotated[str, Field(max_length=200)] = ""  # Of a refusal or a revocation


class SignedOwnershipAct(OwnershipAct, SignedRecord):
    """It with its signature."""


class OwnershipState(StrEnum):
    """What follows from all that was said; a word that ends it is stronger than every signature."""

    PROPOSED = "proposed"
    BY_ORGANISATION = "signed by the organisation"
    BY_DEVELOPER = "signed by the developer"
    BY_BOTH = "signed by both"
    REFUSED = "refused"
    REVOKED = "revoked"


class OwnershipRecord(StrictRecord):
    """The file."""

    format: Literal["rosetta-ownership/1"] = "rosetta-ownership/1"
    terms: OwnershipTerms
    # In order of side and deed, each at most once
    acts: Annotated[tuple[SignedOwnershipAct, ...], Field(min_length=1, max_length=8)]

    def data(self) -> bytes:
        return canonical_bytes(self.model_dump(mode="json")) + b"\n"

    def said(self, what: OwnershipAction) -> dict[Side, SignedOwnershipAct]:
        acts_by_side = ((self.terms.side_of(act.by), act) for act in self.acts if act.what is what)
        return {side: act for side, act in acts_by_side if side is not None}

    @property
    def state(self) -> OwnershipState:
        if self.said(OwnershipAction.REVOKED):
            return OwnershipState.REVOKED
        if self.said(OwnershipAction.REFUSED):
            return OwnershipState.REFUSED
        signed = self.said(OwnershipAction.SIGNED)
        if len(signed) == len(Side):
            return OwnershipState.BY_BOTH
        if Side.ORGANISATION in signed:
            return OwnershipState.BY_ORGANISATION
        return OwnershipState.BY_DEVELOPER if signed else OwnershipState.PROPOSED

    @property
    def ended(self) -> bool:
        """Return whether a side refused it, or took its signature back."""
        return self.state in {OwnershipState.REFUSED, OwnershipState.REVOKED}


def propose(terms: OwnershipTerms, identity: Identity) -> OwnershipRecord:
    """Return the record of a proposal, which binds nobody yet; UsageError where the organisation's key does not propose it."""
    if terms.organisation.signing_key != identity.public.signing_key:
        raise UsageError("Only the organisation that ran the method proposes who is to own it.")
    if terms.organisation.signing_key == terms.developer.signing_key:
        raise UsageError(
            "Both sides would sign with one key: nobody agrees with themselves. Name the developer's own key."
        )
    proposed = _act(terms, OwnershipAction.PROPOSED, identity)
    return _checked(OwnershipRecord(terms=terms, acts=(proposed,)))


def new_terms(**fields: object) -> OwnershipTerms:
    """Return terms of now from their fields; UsageError names the field that cannot be so."""
    usual = {"salt": secrets.token_hex(32), "proposed": moment(datetime.now(UTC))}
    with usage_errors("These terms are not possible"):
        return OwnershipTerms.model_validate(usual | fields)


def say(record: OwnershipRecord, what: OwnershipAction, identity: Identity, reason: str = "") -> OwnershipRecord:
    """Return the record with one more word of one side; UsageError where the side cannot say it."""
    if (side := record.terms.side_of(identity.public.signing_key)) is None:
        raise UsageError(
            f"The key that would sign is neither side's. It is an agreement of {record.terms.organisation.name} and "
            f"{record.terms.developer.name}: each signs on the computer that has their key."
        )
    if side in record.said(what):
        raise UsageError(f"The {side} {what} this already.")
    signed = side in record.said(OwnershipAction.SIGNED)
    if what is OwnershipAction.SIGNED and record.ended:
        raise UsageError(f"This was {record.state}, which stays so. Propose it again.")
    if what is OwnershipAction.REFUSED and signed:
        raise UsageError("You signed this. To take that back: rosetta community answer --revoke")
    if what is OwnershipAction.REVOKED and not signed:
        raise UsageError("You did not sign this. To say no: rosetta community answer --refuse")
    ends = what in {OwnershipAction.REFUSED, OwnershipAction.REVOKED}
    reason = one_line(reason, "The reason") if ends else ""
    act = _act(record.terms, what, identity, reason)
    return merged(record, record.model_copy(update={"acts": (act,)}))


def merged(one: OwnershipRecord, other: OwnershipRecord) -> OwnershipRecord:
    """Return all that is said in either of two copies of a record; of one deed of one side the earlier word."""
    if one.terms != other.terms:
        raise UsageError("These are records of other terms: each stands for itself.")

    def latest_first(act: SignedOwnershipAct) -> tuple[int, str]:
        """Order so that the earlier of two words comes last, and which of two of one second does not hang on the copy."""
        return -int(act.when.translate(_DIGITS)), act.signature

    acts = {(act.by, act.what): act for act in sorted((*one.acts, *other.acts), key=latest_first)}
    ordered = sorted(acts.values(), key=lambda act: _place(one.terms, act))
    return _checked(OwnershipRecord(terms=one.terms, acts=tuple(ordered)))


def read_ownership(data: bytes) -> OwnershipRecord:
    """Read a record and check all that it says of itself; raises FileError in words.

    Its bytes are canonical, two keys are its sides, the organisation proposed it, and each word is signed over these terms
    by the side that it is of.
    """
    try:
        record = OwnershipRecord.model_validate_json(data[: MOST_BYTES + 1], strict=True)
    except ValidationError as error:
        words = f"This is no record of ownership, or it is damaged: {first_problem(error)}"
        raise FileError(FileProblem.NOT_OURS, words) from None
    if record.data() != data:
        raise FileError(FileProblem.DAMAGED, f"The record was changed after it was written. {_ASK}")
    return _checked(record)


_ASK: Final = "Nothing follows from it: ask for the file once more."


def _checked(record: OwnershipRecord) -> OwnershipRecord:
    if wrong := next(_contradictions(record), ""):
        raise FileError(FileProblem.DAMAGED, f"{wrong}. {_ASK}")
    return record


def _contradictions(record: OwnershipRecord) -> Iterator[str]:
    """Yield what is wrong in a record."""
    terms = record.terms
    if terms.organisation.signing_key == terms.developer.signing_key:
        yield "Both sides of the record are one key: nobody agrees with themselves"
    for act in record.acts:
        if terms.side_of(act.by) is None:
            yield f"A word of it is signed by a key that is neither side's ({act.by[:16]}…)"
        elif act.terms != terms.id:
            yield f"A word of it ({act.what}) is about other terms: it was taken from another record, or the terms were changed"
        elif not act.is_signed_by(act.by):
            yield f"A word of it ({act.what}) was changed after it was signed"
    if record.said(OwnershipAction.PROPOSED).keys() != {Side.ORGANISATION}:
        yield "It was not the organisation that proposed it"
    if record.said(OwnershipAction.REVOKED).keys() - record.said(OwnershipAction.SIGNED).keys():
        yield "A side takes a signature back that it never gave"
    if list(record.acts) != sorted(record.acts, key=lambda act: _place(terms, act)):
        yield "Its words are not in their order"
    if len({(act.by, act.what) for act in record.acts}) < len(record.acts):
        yield "A side says the same twice"


def _place(terms: OwnershipTerms, act: OwnershipAct) -> tuple[int, int]:
    sides, deeds = [*Side, None], [*OwnershipAction]
    return deeds.index(act.what), sides.index(terms.side_of(act.by))


_DIGITS: Final = {ord(sign): None for sign in "-:TZ"}


def _act(terms: OwnershipTerms, what: OwnershipAction, identity: Identity, reason: str = "") -> SignedOwnershipAct:
    by, when = identity.public.signing_key, moment(datetime.now(UTC))
    act = OwnershipAct(terms=terms.id, what=what, by=by, when=when, reason=reason)
    return SignedOwnershipAct.model_validate_json(signed_record(act, identity))


def listed_fields(record: OwnershipRecord) -> JsonObject:
    """Return what lists show of a record."""
    terms = record.terms
    return {
        "state": str(record.state),
        "organisation": terms.organisation.name,
        "developer": terms.developer.name,
        "organisation_share": terms.organisation_share,
        "proposed": terms.proposed,
        "keys": [terms.organisation.signing_key, terms.developer.signing_key],
    }
