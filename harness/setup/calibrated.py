"""Weights and tier lines that an organisation signed in place of the specification's: ``--scoring FILE``.

Only a file whose signer is trusted here is taken: this data folder's own organisation, or a key of ``trusted_signers``
in settings.toml. The whole record goes into plan, set-up and card, so that a run continues without the file and anyone who
has the card can check the signature; a copy is in the data folder, by its hash.
"""

from __future__ import annotations

from itertools import pairwise
from math import isclose
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, ValidationError
from pydantic import model_validator as validator

from corpora.tasks.task import TRANSLATION
from harness.core.canonical import canonical_bytes, canonical_sha256
from harness.core.failures import KeyStoreError, UsageError
from harness.core.user_file import read_bytes
from harness.core.written_files import private_folder, write_file
from harness.sealed.keys import Identity, Role, key_phrase
from harness.sealed.signed_archive import SignedRecord, signed_record
from harness.sealed.strict_records import Count, Hex64, Short, StrictRecord
from harness.settings import read_settings
from scoring.core.setup import CalibrationFacts
from scoring.core.specification import Tier, specification

FOLDER: Final = "scoring"
"""Of the data folder: each file that was taken, named by its hash."""

SPECIFICATION: Final = "specification"
"""What ``--scoring`` says to go back to the specification's weights."""

MOST_BYTES: Final = 64 * 1024

Share = Annotated[float, Field(ge=0, le=1)]


class CalibratedScoring(StrictRecord):
    """What is signed: all weights and lines, for one pair of languages and one state of the specification."""

    format: Literal["rosetta-scoring/1"] = "rosetta-scoring/1"
    language_pair: Short
    specification: Hex64
    """``specification_sha256`` of the tables that they are in for."""
    proposal: Hex64
    """``proposal_sha256`` of the proposal that was signed."""
    items: Count
    """Rated entries that the proposal rests on."""
    weights: dict[Short, dict[Short, Share]]
    """Target weights by profile and metric id; each profile's sum is 1."""
    tiers: dict[Tier, Share]
    """Least composite of each tier."""
    by: Hex64
    """Public signing key of the organisation."""

    @validator(mode="after")
    def _whole(self) -> Self:
        known = specification().profiles
        if self.weights.keys() != known.keys():
            raise ValueError(f"weights of the profiles {', '.join(known)} are wanted")
        for name, given in self.weights.items():
            if given.keys() != known[name].keys() or not isclose(sum(given.values()), 1):
                raise ValueError(
                    f"the weights of profile {name} are not of its metrics, with the sum 1"
                )
        lines = [self.tiers.get(Tier(name)) for _, name in specification().tiers]
        if None in lines or len(self.tiers) != len(lines) or lines[-1] != 0:
            raise ValueError("lines of all tiers are wanted, the lowest 0")
        if any(higher <= lower for higher, lower in pairwise(lines)):  # type: ignore[operator]
            raise ValueError("the lines of the tiers do not rise from tier to tier")
        return self


class SignedScoring(CalibratedScoring, SignedRecord):
    """The record with its signature."""

    @property
    def facts(self) -> CalibrationFacts:
        """The same as plan, set-up and card hold it."""
        signed = self.model_dump(mode="json")
        return CalibrationFacts(
            sha256=canonical_sha256({k: v for k, v in signed.items() if k != "signature"}),
            signer=self.by,
            weights=signed["weights"],
            tiers=signed["tiers"],
            signed=signed,
        )


def specification_sha256() -> str:
    """Return the hash of what a calibration is in for: weights, tier lines, and how metrics become 0 to 1."""
    tables = specification()
    inputs = {id_ for weights in tables.profiles.values() for id_ in weights}
    return canonical_sha256(
        {
            "normalization": {id_: tables.metrics[id_].normalization for id_ in inputs},
            "profiles": tables.profiles,
            "tiers": {name: least for least, name in tables.tiers},
        }
    )


def sign_scoring(made: CalibratedScoring, identity: Identity) -> bytes:
    """Sign a record; gives the bytes of its file."""
    return signed_record(made, identity) + b"\n"


def read_scoring(path: Path, home: Path) -> CalibrationFacts:
    """Read a signed file whose signer is trusted in a data folder, and keep a copy of it there.

    UsageError names what is wrong and the fix.
    """
    data = read_bytes(path, "the calibrated scoring", MOST_BYTES)
    signed_scoring = read_signed_scoring(data, path.name)
    if signed_scoring.by not in trusted_signers(home):
        raise UsageError(
            f"--scoring: {path.name} is signed by a key that is not trusted here. Its six words are: "
            f"{key_phrase(signed_scoring.by)}. Ask the organisation for theirs, by telephone or in person; if they are the same, add "
            f'to settings.toml: trusted_signers = ["{signed_scoring.by}"]'
        )
    if signed_scoring.specification != specification_sha256():
        raise UsageError(
            f"--scoring: {path.name} was made for another version of the specification. Calibrate again with this version, "
            "and let the organisation sign that."
        )
    facts = signed_scoring.facts
    kept = kept_file(home, facts)
    if not kept.exists():
        private_folder(kept.parent)
        write_file(kept, data, overwrite=True)
    return facts


def read_signed_scoring(data: bytes, name: str) -> SignedScoring:
    """Read the bytes of a file and check its form and signature; UsageError names what is wrong and the fix."""
    if b'"rosetta-scoring/' not in data:
        proposal = b"rosetta-calibration-proposal/" in data
        what = "a proposal that nobody signed" if proposal else "no signed scoring"
        raise UsageError(
            f"--scoring: {name} is {what}. The organisation signs a proposal with: rosetta calibrate --sign PROPOSAL -o FILE"
        )
    try:
        signed_scoring = SignedScoring.model_validate_json(data)
    except ValidationError as error:
        error_details = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, error_details["loc"])) or "the record"
        raise UsageError(
            f"--scoring: {name}: {where}: {error_details['msg'].removeprefix('Value error, ')}. Ask the organisation for the file once more."
        ) from None
    if canonical_bytes(
        signed_scoring.model_dump(mode="json")
    ) != data.strip() or not signed_scoring.is_signed_by(signed_scoring.by):
        raise UsageError(
            f"--scoring: {name} was changed after it was signed, or it is damaged. Ask the organisation for the file once more."
        )
    return signed_scoring


def kept_file(home: Path, facts: CalibrationFacts) -> Path:
    """Return where the copy of a file that was taken lies."""
    return home / FOLDER / f"{facts.sha256}.json"


def trusted_signers(home: Path) -> frozenset[str]:
    """Return the public keys by which signed weights are taken here: the organisation's own, and those of the settings."""
    named = frozenset(read_settings(home).trusted_signers)
    try:
        known = Identity.known(home, Role.ORGANISATION)
        own = {Identity.load(home, Role.ORGANISATION).public.signing_key} if known else set()
    except KeyStoreError:
        own = set()
    return named | own


def require_weighed(facts: CalibrationFacts, task: str, language_pair: str) -> None:
    """Raise UsageError where signed weights are of another pair of languages than a corpus, or its task has no composite."""
    if task != TRANSLATION:
        raise UsageError(
            f"--scoring: weights are of the composite, which translations alone have, and the corpus asks for {task}. Leave "
            "--scoring away."
        )
    signed = facts.signed["language_pair"]
    if signed != language_pair:
        raise UsageError(
            f"--scoring: these weights were calibrated for {signed}, and the corpus is {language_pair}. Leave --scoring out, "
            f"or name a file that was signed for {language_pair}."
        )


def check_stated(stated: Any, home: Path) -> tuple[bool | None, str]:
    """Judge the calibration that a card states: whether it is what was signed, None where the signer is not trusted here.

    Gives the words too.
    """
    try:
        facts = CalibrationFacts.model_validate(stated)
        signed_scoring = SignedScoring.model_validate(facts.signed)
    except ValidationError:
        return False, "weights and tier lines are of no form that anybody could have signed"
    if signed_scoring.facts != facts or not signed_scoring.is_signed_by(signed_scoring.by):
        return False, "weights or tier lines are not those that were signed"
    whose = f"signed by the key whose six words are: {key_phrase(signed_scoring.by)}"
    if signed_scoring.by in trusted_signers(home):
        return True, f"{whose}, which is trusted here"
    return None, f"{whose}; it is not trusted here (trusted_signers in settings.toml)"
