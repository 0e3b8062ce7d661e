"""Proposals and signed weights for tests, on a small corpus whose scores numpy works out."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from harness.core.canonical import canonical_sha256
from harness.sealed.keys import Identity, Role
from harness.setup.scoring_options import CalibratedScoring, sign_scoring, specification_sha256
from review.calibration.proposal import FORMAT, HASH_FIELD, toml_text
from scoring.core.specification import Tier, specification

WEIGHTS = {"chrf_plus_plus": 0.8, "equivalent_match_rate": 0.2, "exact_match_rate": 0.0}
"""As a proposal has them: of the metrics that had values, with the sum 1."""

LINE = 0.6
"""Proposed line of ``deployable``."""

PAIRS = (
    ("The dog runs.", "La hundo kuras."),
    ("A cat sees me.", "Kato vidas min."),
    ("I drink water.", "Mi trinkas akvon."),
)
OUTPUTS = ("La hundo kuras.", "Kato min vidis.", "Mi trinkas la akvon.")


def proposal(**changed: Any) -> dict[str, Any]:
    """Return the values of a proposal with its hash; ``changed``: parts at its top that are other."""
    body: dict[str, Any] = {
        "format": FORMAT, "status": "proposal", "specification_sha256": specification_sha256(),
        "evidence": {"items": 200, "runs": [{"language_pair": "EN→EO"}]},
        "weights": {"proposed": True, "profile": "B", "proposal": WEIGHTS},
        "threshold": {"proposed": True, "composite": {"value": 0.66}},
        "threshold_of_weights": {"proposed": True, "composite": {"value": LINE}}, **changed,
    }  # fmt: skip
    return {HASH_FIELD: canonical_sha256(body), **body}


def written(folder: Path, values: dict[str, Any]) -> Path:
    path = folder / "proposal.toml"
    path.write_text(toml_text(values), "utf-8")
    return path


def organisation(home: Path) -> Identity:
    """Return the organisation of a data folder, which is made where there is none."""
    return Identity.load(home, Role.ORGANISATION)


def record(identity: Identity, **changed: Any) -> CalibratedScoring:
    """Return a record to sign; the weights of profile B are those of WEIGHTS, with all others as they are."""
    profiles = {name: dict(given) for name, given in specification().profiles.items()}
    whole = sum(profiles["B"][id_] for id_ in WEIGHTS)
    profiles["B"] |= {id_: whole * weight for id_, weight in WEIGHTS.items()}
    tiers = {Tier(name): least for least, name in specification().tiers}
    return CalibratedScoring(**{
        "language_pair": "EN→EO",
        "specification": specification_sha256(),
        "proposal": "0" * 64,
        "items": 200,
        "weights": profiles,
        "tiers": {**tiers, Tier.DEPLOYABLE: LINE},
        "by": identity.public.signing_key,
        **changed,
    })  # fmt: skip


def signed_file(folder: Path, identity: Identity, **changed: Any) -> Path:
    path = folder / "signed.json"
    path.write_bytes(sign_scoring(record(identity, **changed), identity))
    return path


def corpus_files(folder: Path) -> tuple[Path, Path]:
    """Write the corpus and the outputs; gives both paths."""
    corpus, outputs = folder / "corpus.jsonl", folder / "outputs.txt"
    rows = [{"id": f"e{n}", "source": s, "reference": r} for n, (s, r) in enumerate(PAIRS)]
    corpus.write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    outputs.write_text("\n".join(OUTPUTS) + "\n", "utf-8")
    return corpus, outputs


def call(command: Any, *arguments: object) -> Any:
    """Run a command; what it raised is raised again."""
    result = CliRunner().invoke(command, [*map(str, arguments)])
    if result.exception is not None:
        raise result.exception
    return result
