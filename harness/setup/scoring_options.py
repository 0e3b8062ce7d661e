"""What the command line, a sweep plan or the app can say about how a run is scored."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, field_validator

from scoring.core.specification import (
    COMPOSITE,
    ROSETTA,
    metric_named,
    specification,
    unknown_metric,
)


class ScoringOptions(BaseModel):
    """Where metrics find what they need; nothing of it changes what a method is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    metrics: tuple[str, ...] = (ROSETTA,)
    """Metric ids, or ``rosetta`` for all that can be computed; any name of a metric is turned into its id."""
    language_card: Path | None = None
    """The user's own card of the target language."""
    analyser: Path | None = None
    """Morphological analyser of the target language; None: looked for where languages are kept."""
    terms: Path | None = None
    """Prescribed terms: a dictionary, or coaching data with one. None: that of the run's coaching."""
    gloss_dictionary: Path | None = None
    """Target lemmas with their meanings (Plains Cree)."""
    embeddings: str | None = None
    """Endpoint (preset or URL) or folder of the embedding model."""
    embeddings_model: str | None = None
    """Model asked for at the endpoint."""
    judge: str | None = None
    """Endpoint (preset or URL) of the model that judges outputs."""
    judge_model: str | None = None
    """Model asked for there."""
    comet: Path | None = None
    """Checkpoint of COMET, or a file of its scores."""
    multi_ref: bool = False
    """Whether chrF++, BLEU and TER take an entry's variants as further references."""

    @field_validator("metrics")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Turn names into ids, each once; refuse what is no metric of the inventory."""
        return tuple(dict.fromkeys(map(_id, value)))

    @property
    def asked_for(self) -> frozenset[str]:
        """The metrics that someone asked for by name, or by naming what they need."""
        named = {
            id_
            for id_, row in specification().metrics.items()
            if any(getattr(self, option) is not None for option in row.given_by)
        }
        return frozenset(named & self.wanted | set(self.metrics) - {ROSETTA})

    @property
    def wanted(self) -> frozenset[str]:
        """The ids of all metrics that are wanted."""
        all_ids = frozenset(specification().metrics) if ROSETTA in self.metrics else frozenset()
        return all_ids | frozenset(self.metrics) - {ROSETTA}


def _id(name: str) -> str:
    if name.strip().casefold() == ROSETTA:
        return ROSETTA
    found = metric_named(name)
    if found == COMPOSITE:
        raise ValueError("the composite is made of other metrics: name those, or rosetta for all")
    if found is None:
        raise ValueError(unknown_metric(name))
    return found
