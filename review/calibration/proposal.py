"""A proposal as a file with its own hash, and from it the weights and tier lines that an organisation signs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from corpora.files.json_types import Json, JsonObject
from corpora.files.toml_text import parse_toml
from harness.core.canonical import canonical_sha256
from harness.core.failures import UsageError
from harness.core.storage import read_text, usage_errors
from harness.sealed.keys import Identity
from harness.setup.scoring_options import CalibratedScoring, sign_scoring, specification_sha256
from scoring.core.specification import Tier, specification

if TYPE_CHECKING:
    from review.calibration.evidence import CalibrationEvidence
    from scoring.calibration.calibration import Calibration
    from scoring.calibration.judgements import Estimate
    from scoring.calibration.threshold import ThresholdProposal


FORMAT = "rosetta-calibration-proposal/2"
HASH_FIELD = "proposal_sha256"

_HEAD = """\
# A PROPOSAL, made from people's ratings. Nothing is scored by it until the governance organisation signs it
# (rosetta calibrate --sign FILE -o SIGNED): weights and thresholds are its own. proposal_sha256 is the SHA-256 of the RFC 8785 form of
# everything else in this file.
"""


def proposal(found: Calibration, evidence: CalibrationEvidence, version: str) -> JsonObject:
    """Return a proposal as plain values without nulls, with its hash.

    ``version`` is the program's. The same ratings, runs and seed give the same bytes.
    """
    body = _without_nulls(
        {
            "format": FORMAT,
            "status": "proposal",
            "made_by": f"rosetta {version}",
            "specification_sha256": specification_sha256(),
            "evidence": {**evidence_facts(evidence), "draws": found.draws, "seed": found.seed},
            "weights": weight_facts(found),
            "threshold": threshold_facts(found.threshold),
            "threshold_of_weights": None
            if found.threshold_of_weights is None
            else threshold_facts(found.threshold_of_weights),
        }
    )
    return {HASH_FIELD: canonical_sha256(body), **body}


def proposes(found: Calibration) -> bool:
    return found.weights.proposed or found.threshold.proposed


def evidence_facts(evidence: CalibrationEvidence) -> JsonObject:
    """Return the evidence for the numbers, in plain values."""
    return {
        "items": evidence.judgements.item_count,
        "outputs": len(evidence.judgements),
        "ratings": evidence.ratings,
        "raters": evidence.raters,
        "least_ratings_of_an_output": evidence.least_ratings,
        "most_ratings_of_an_output": evidence.most_ratings,
        "left_out": dict(evidence.left_out),
        "source": dict(evidence.source),
        "runs": [asdict(run) for run in evidence.runs],
    }


def weight_facts(found: Calibration) -> JsonObject:
    weights = found.weights
    return {
        "proposed": weights.proposed,
        "reason": weights.reason,
        "profile": weights.profile,
        "items": weights.items,
        "strength": weights.strength,
        "tau_b_specification": weights.tau_specification,
        "tau_b_held_out": weights.tau_held_out,
        "gain": estimate_facts(weights.gain),
        "specification": dict(weights.specification),
        "proposal": None if weights.weights is None else dict(weights.weights),
    }


def threshold_facts(threshold: ThresholdProposal) -> JsonObject:
    return {
        "proposed": threshold.proposed,
        "reason": threshold.reason,
        "level": threshold.level,
        "items": threshold.items,
        "specification": threshold.specification,
        "composite": estimate_facts(threshold.threshold),
        "isotonic": threshold.shape,
        "isotonic_agrees": threshold.shape_agrees,
    }


def estimate_facts(found: Estimate) -> JsonObject | None:
    """Return a number with its interval, None without a number."""
    if found.value is None:
        return None
    if found.interval is None:
        return {"value": found.value, "interval": None}
    return {"value": found.value, "interval": asdict(found.interval)}


def _without_nulls(value: JsonObject) -> JsonObject:
    def plain(item: Json) -> Json:
        if isinstance(item, list):
            return [plain(part) for part in item]
        return _without_nulls(item) if isinstance(item, Mapping) else item

    return {key: plain(item) for key, item in value.items() if item is not None}


def toml_text(value: JsonObject) -> str:
    """Write a proposal as TOML; reading it back gives the same values."""
    return _HEAD + "\n" + "\n".join(_table(value, ())) + "\n"


def _table(value: JsonObject, path: tuple[str, ...]) -> Iterator[str]:
    inner = {
        key: item
        for key, item in value.items()
        if (isinstance(item, Mapping) or (isinstance(item, list) and bool(item)))
    }
    for key, item in value.items():
        if key not in inner:
            written = str(item).lower() if isinstance(item, bool) else repr(item)
            yield f"{_quoted(key)} = {_string(item) if isinstance(item, str) else written}"
    for key, item in inner.items():
        name = ".".join(map(_quoted, (*path, key)))
        for table in item if isinstance(item, list) else [item]:
            yield f"\n[[{name}]]" if isinstance(item, list) else f"\n[{name}]"
            yield from _table(table, (*path, key))


def _quoted(key: str) -> str:
    return key if key.replace("_", "").isascii() and key.replace("_", "").isalnum() else _string(key)


def _string(text: str) -> str:
    """Write a basic string: JSON's escapes are TOML's, save that TOML wants DEL escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# ---- From a proposal to the weights and tier lines that an organisation signs ----

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
    with usage_errors(path.name, fix="Calibrate again."):
        proposal = _Proposal.model_validate(stated)
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


def stated_proposal(text: str, name: str) -> JsonObject:
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
        raise UsageError(f"{name} was changed after it was made: {HASH_FIELD} is not its hash. Calibrate again.")
    return stated


def _weights(proposed: _Weights, name: str) -> dict[str, dict[str, float]]:
    """Return the weights of all profiles: metrics that were weighed again share what they had together before."""
    profiles = {name: dict(weights) for name, weights in specification().profiles.items()}
    if not proposed.proposed or proposed.proposal is None:
        return profiles
    target = profiles.get(proposed.profile or "", {})
    if not proposed.proposal or not proposed.proposal.keys() <= target.keys():
        raise UsageError(f"{name}: weights of metrics that the profile does not have. Calibrate again.")
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
