"""A proposal as a file: what might be changed, on what evidence, with its own hash. Nothing reads it on its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.core.canonical import canonical_sha256
from harness.setup.calibrated import specification_sha256

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


def proposal(found: Calibration, evidence: CalibrationEvidence, version: str) -> dict[str, Any]:
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
    """Return whether there is anything to propose."""
    return found.weights.proposed or found.threshold.proposed


def evidence_facts(evidence: CalibrationEvidence) -> dict[str, Any]:
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


def weight_facts(found: Calibration) -> dict[str, Any]:
    """Return the facts about the weights."""
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


def threshold_facts(threshold: ThresholdProposal) -> dict[str, Any]:
    """Return the facts about a threshold."""
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


def estimate_facts(found: Estimate) -> dict[str, Any] | None:
    """Return a number with its interval, None without a number."""
    if found.value is None:
        return None
    if found.interval is None:
        return {"value": found.value, "interval": None}
    return {"value": found.value, "interval": asdict(found.interval)}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def toml_text(value: Mapping[str, Any]) -> str:
    """Write a proposal as TOML; reading it back gives the same values."""
    return _HEAD + "\n" + "\n".join(_table(value, ())) + "\n"


def _table(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    inner = {key: item for key, item in value.items() if _is_table(item)}
    for key, item in value.items():
        if key not in inner:
            yield f"{_quoted(key)} = {_written(item)}"
    for key, item in inner.items():
        name = ".".join(map(_quoted, (*path, key)))
        for table in item if isinstance(item, list) else [item]:
            yield f"\n[[{name}]]" if isinstance(item, list) else f"\n[{name}]"
            yield from _table(table, (*path, key))


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and bool(value))


def _quoted(key: str) -> str:
    return (
        key if key.replace("_", "").isascii() and key.replace("_", "").isalnum() else _string(key)
    )


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _string(value) if isinstance(value, str) else repr(value)


def _string(text: str) -> str:
    """Write a basic string: JSON's escapes are TOML's, save that TOML wants DEL escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
