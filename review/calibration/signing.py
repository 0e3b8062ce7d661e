"""From a proposal to the weights and tier lines that an organisation signs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from corpora.files.toml_text import parse_toml
from harness.core.canonical import canonical_sha256
from harness.core.failures import UsageError
from harness.core.problems import first_problem
from harness.core.user_file import read_text
from harness.sealed.keys import Identity
from harness.setup.calibrated import CalibratedScoring, sign_scoring, specification_sha256
from review.calibration.proposal import FORMAT, HASH_FIELD
from scoring.core.specification import Tier, specification

MOST_BYTES = 2**20


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class _Value(_Part):
    value: float


class _Line(_Part):
    proposed: bool
    composite: _Value | None = None


class _Weights(_Part):
    proposed: bool
    profile: str | None = None
    proposal: dict[str, float] | None = None


class _Rated(_Part):
    language_pair: str


class _Evidence(_Part):
    items: int
    runs: list[_Rated]


class _Proposal(_Part):
    """What is read of a proposal."""

    specification_sha256: str
    evidence: _Evidence
    weights: _Weights
    threshold: _Line
    threshold_of_weights: _Line | None = None

    @property
    def line(self) -> float | None:
        """The composite from which outputs are proposed to be called deployable, on the weights that are signed."""
        line = self.threshold_of_weights if self.weights.proposed else self.threshold
        proposed = line is not None and line.proposed and line.composite is not None
        return line.composite.value if proposed else None  # type: ignore[union-attr]


def signed_scoring(path: Path, identity: Identity) -> bytes:
    """Sign what the proposal of a file changes, together with all that it leaves; gives the bytes of the signed file.

    UsageError where the file is no proposal, was changed, is of another version of the specification, rests on runs of
    several pairs of languages, or proposes a line out of the order of the tiers.
    """
    text, _ = read_text(path, "the proposal", MOST_BYTES)
    stated = stated_proposal(text, path.name)
    proposal = _read(stated, path.name)
    if proposal.specification_sha256 != specification_sha256():
        raise UsageError(
            f"{path.name} was made for another version of the specification. Calibrate again with this version."
        )
    pairs = sorted({run.language_pair for run in proposal.evidence.runs})
    if len(pairs) != 1:
        raise UsageError(
            f"{path.name} rests on runs of several pairs of languages ({', '.join(pairs)}). Calibrate each on its own."
        )
    made = CalibratedScoring(
        language_pair=pairs[0],
        specification=proposal.specification_sha256,
        proposal=stated[HASH_FIELD],
        items=proposal.evidence.items,
        weights=_weights(proposal.weights, path.name),
        tiers=_lines(proposal.line, path.name),
        by=identity.public.signing_key,
    )
    return sign_scoring(made, identity)


def stated_proposal(text: str, name: str) -> dict[str, Any]:
    """Read the values of a proposal and check its hash; UsageError in words."""
    try:
        stated = dict(parse_toml(text))
    except ValueError as error:
        raise UsageError(f"{name}: not valid TOML: {error}. Calibrate again.") from None
    if stated.get("format") != FORMAT:
        raise UsageError(
            f"{name} is no proposal of this version ({FORMAT}). Make one with: rosetta calibrate … -o FILE"
        )
    body = {key: field_value for key, field_value in stated.items() if key != HASH_FIELD}
    if stated.get(HASH_FIELD) != canonical_sha256(body):
        raise UsageError(
            f"{name} was changed after it was made: {HASH_FIELD} is not its hash. Calibrate again."
        )
    return stated


def _read(stated: Mapping[str, Any], name: str) -> _Proposal:
    try:
        return _Proposal.model_validate(stated)
    except ValidationError as error:
        raise UsageError(f"{name}: {first_problem(error)} Calibrate again.") from None


def _weights(proposed: _Weights, name: str) -> dict[str, dict[str, float]]:
    """Return the weights of all profiles: metrics that were weighed again share what they had together before."""
    profiles = {name: dict(weights) for name, weights in specification().profiles.items()}
    if not proposed.proposed or proposed.proposal is None:
        return profiles
    target = profiles.get(proposed.profile or "", {})
    if not proposed.proposal or not proposed.proposal.keys() <= target.keys():
        raise UsageError(
            f"{name}: weights of metrics that the profile does not have. Calibrate again."
        )
    whole = sum(target[id_] for id_ in proposed.proposal)
    target |= {id_: whole * weight for id_, weight in proposed.proposal.items()}
    return profiles


def _lines(line: float | None, name: str) -> dict[Tier, float]:
    """Return the least composite of each tier, that of ``deployable`` as proposed."""
    lines = {Tier(tier): least for least, tier in specification().tiers}
    if line is None:
        return lines
    lower, upper = lines[Tier.FUNCTIONAL], lines[Tier.FLUENT]
    if not lower < line < upper:
        raise UsageError(
            f"{name} puts the line of deployable at {line:.3f}, and the lines next to it are {lower:g} and {upper:g}: the "
            "tiers would change their order. It cannot be signed; choose another --level, and calibrate again."
        )
    return {**lines, Tier.DEPLOYABLE: line}
