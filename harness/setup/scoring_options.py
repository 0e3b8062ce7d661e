"""What the command line, a sweep plan or the app can say about how a run is scored."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from harness.core.failures import UsageError
from harness.setup.calibrated import SPECIFICATION, read_scoring
from harness.store.file.database import home
from scoring.core.inventory import (
    in_order,
    metric_named,
    pack_called,
    read_by,
    task_metrics,
    task_packs,
    unknown_metric,
)
from scoring.core.metric_rows import row_of
from scoring.core.packs import SHIPPED, every_pack
from scoring.core.setup import CalibrationFacts
from scoring.core.specification import COMPOSITE, ROSETTA
from scoring.packs.judge_replies import CONTRACTS


class ScoringOptions(BaseModel):
    """Where metrics find what they need; nothing of it changes what a method is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    metrics: tuple[str, ...] = (ROSETTA,)
    """Metric ids, or names of packs for all of theirs that can be computed, ``rosetta`` for the specification's.

    Any name of a metric is turned into its id.
    """
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
    bertscore: Path | None = None
    """Folder of the model of BERTScore, or a file of its scores."""
    multi_ref: bool = False
    """Whether chrF++, BLEU and TER take an entry's variants as further references."""
    scoring: CalibrationFacts | None = None
    """Signed weights and tier lines in place of the specification's; asked for by the name of their file."""

    @field_validator("scoring", mode="before")
    @classmethod
    def _signed(cls, value: object) -> object:
        """Read the file that is named; UsageError says why it is not taken."""
        if not isinstance(value, str | Path):
            return value
        return None if value == SPECIFICATION else read_scoring(Path(value).expanduser(), home())

    @field_validator("metrics")
    @classmethod
    def _known(cls, value: tuple[str, ...], told: ValidationInfo) -> tuple[str, ...]:
        """Convert names into ids, each once; refuse what is no metric of the inventory.

        A run's option stays as it is where its pack is not here any more.
        """
        kept = told.context == STORED
        return tuple(dict.fromkeys(name if kept else _id(name) for name in value))

    @property
    def asked_for(self) -> frozenset[str]:
        """The metrics that someone asked for by name, or by naming what they need."""
        named = {
            id_
            for id_ in self.wanted
            if (row := row_of(id_))
            and any(getattr(self, option, None) is not None for option in row.given_by)
        }
        return frozenset(named | task_metrics(set(self.metrics) - {ROSETTA}))

    @property
    def wanted(self) -> frozenset[str]:
        """The ids of all metrics that are wanted, whatever the task."""
        return task_metrics(self.metrics)

    @property
    def unread(self) -> str | None:
        """The option that names what no wanted metric asks; None where there is none such."""
        return next(
            (
                option
                for option, annotators in _ASKED_BY.items()
                if getattr(self, option) is not None
                and not any(read_by(id_, self.wanted) for id_ in annotators)
            ),
            None,
        )

    def said_by(self, task: str) -> ScoringOptions:
        """Return these options with the metrics of a task where nobody named any."""
        if "metrics" in self.model_fields_set or task_packs(task) == self.metrics:
            return self
        return self.model_copy(update={"metrics": task_packs(task)})

    def for_task(self, task: str) -> ScoringOptions:
        """Return these options with the metrics of each named pack that are of use to a task in its place."""
        packs = set(self.metrics) - {ROSETTA} - task_metrics(set(self.metrics) - {ROSETTA})
        if not packs:
            return self
        ids = (
            id_
            for name in self.metrics
            for id_ in (in_order(task_metrics([name], task)) if name in packs else [name])
        )
        return self.model_copy(update={"metrics": tuple(dict.fromkeys(ids))})


_ASKED_BY = {"judge": tuple(CONTRACTS), "bertscore": ("bertscore",)}
"""Option → the annotators that are asked for its sake."""


def refuse_unread(options: ScoringOptions) -> None:
    """Raise UsageError where an option would do nothing, for lack of a metric that asks what it names."""
    if option := options.unread:
        asking = sorted(
            id_
            for id_ in task_metrics(pack.name for pack in every_pack())
            if any(read_by(metric_option, [id_]) for metric_option in _ASKED_BY[option])
        )
        raise UsageError(
            f"--{option} would do nothing: no metric of this run asks for it. Add one with --metrics: "
            f"{', '.join(asking)}."
        )


STORED = {"stored": True}
"""Context in which options are read that a run of the store was begun with."""


def _id(name: str) -> str:
    words = name.strip().casefold()
    if words in {ROSETTA, *SHIPPED}:
        return words
    metric_id = metric_named(name)
    if metric_id is None and (pack := pack_called(name)):
        return pack
    if metric_id == COMPOSITE:
        raise ValueError("the composite is made of other metrics: name those, or rosetta for all")
    if metric_id is None:
        raise ValueError(unknown_metric(name, [ROSETTA, *(pack.name for pack in every_pack())]))
    return metric_id
