"""What the command line, a sweep plan or the app can say about how a run is scored."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic import model_validator as validator

from corpora.model.task import TRANSLATION
from harness.annotators import ANNOTATORS
from harness.core.canonical import canonical_bytes, canonical_sha256
from harness.core.failures import KeyStoreError, UsageError
from harness.core.storage import private_folder, read_bytes, write_file
from harness.sealed.archive import SignedRecord, signed_record
from harness.sealed.keys import Identity, Role, key_phrase
from harness.sealed.strict_records import Count, Hex64, Short, StrictRecord
from harness.settings import read_settings
from harness.store.sqlite.database import home
from scoring.core.inventory import (
    metric_named,
    pack_called,
    read_by,
    row_of,
    task_metrics,
    task_packs,
    unknown_metric,
    without_packs,
)
from scoring.core.packs import SHIPPED, every_pack
from scoring.core.setup import CalibrationFacts
from scoring.core.specification import COMPOSITE, ROSETTA, Tier, specification
from scoring.packs.judge_replies import CONTRACTS

if TYPE_CHECKING:
    from corpora.model.entry import Entry
    from harness.annotators.annotator import AnyAnnotator, Find, Memo
    from harness.setup.scoring_tools import Steps
    from scoring.words.source_words import Resources


# ---- How a run finds the annotators that its metrics ask ----


def find_annotators(
    resources: Resources,
    entries: Sequence[Entry],
    options: ScoringOptions,
    memo: Memo,
    folders: Sequence[Path],
    *,
    offline: bool,
    folder: Path | None = None,
    prices: Path | None = None,
) -> tuple[Resources, tuple[AnyAnnotator, ...], tuple[Steps, ...]]:
    """Find the annotators that the wanted metrics ask, with what each of them tells for the setup.

    ``folder`` is that of the corpus's file. UsageError names what was asked for and cannot be had.
    """
    # a look at this computer reads the table alone, and starts without what a run is scored with
    from harness.annotators.annotator import Search
    from harness.setup.scoring_tools import Steps

    annotators: list[AnyAnnotator] = []
    heard: list[Steps] = []
    wanted = options.wanted
    for id_, row in ANNOTATORS.items():
        if not read_by(id_, wanted):
            continue
        steps = Steps(row.progress)
        search = Search(resources, entries, memo, dict(options), folders, offline, steps, folder, prices, id_)
        find: Find | None = import_module(row.module).find(search)
        if find is None:
            continue
        # Write down the facts of an annotator.
        setup = resources.setup
        changes: dict[str, Any] = {"off": {**setup.off, **find.off}}
        if find.facts is not None and row.field:
            changes[row.field] = find.facts
        elif find.facts is not None:
            changes["annotators"] = {**setup.annotators, id_: find.facts.model_dump(mode="json")}
        resources = resources.with_setup(setup.model_copy(update=changes))
        if find.annotator is not None:
            annotators.append(find.annotator)
            heard.extend([steps] if row.progress else [])
    return resources, tuple(annotators), tuple(heard)


# ---- Weights and tier lines that an organisation signed in place of the specification's:
# ``--scoring FILE``.
#
# Only a file whose signer is trusted here is taken: this data folder's own organisation, or a key
# of ``trusted_signers`` in settings.toml. The whole record goes into plan, set-up and card, so
# that a run continues without the file and anyone who has the card can check the signature; a
# copy is in the data folder, by its hash.

FOLDER: Final = "scoring"  # Of the data folder: each file that was taken, named by its hash

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
                raise ValueError(f"the weights of profile {name} are not of its metrics, with the sum 1")
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
    if canonical_bytes(signed_scoring.model_dump(mode="json")) != data.strip() or not signed_scoring.is_signed_by(
        signed_scoring.by
    ):
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
            if (row := row_of(id_)) and any(getattr(self, option, None) is not None for option in row.given_by)
        }
        return frozenset(named | task_metrics(set(self.metrics) - {ROSETTA}))

    @property
    def wanted(self) -> frozenset[str]:
        """The ids of all metrics that are wanted, whatever the task."""
        return task_metrics(self.metrics)

    @property
    def unread(self) -> str | None:
        """The option that names what no wanted metric asks; None where there is none such."""
        wanted = self.wanted
        for option, annotators in _ASKED_BY.items():
            asked = any(read_by(id_, wanted) for id_ in annotators)
            if getattr(self, option) is not None and not asked:
                return option
        return None

    def said_by(self, task: str) -> ScoringOptions:
        """Return these options with the metrics of a task where nobody named any."""
        if "metrics" in self.model_fields_set or task_packs(task) == self.metrics:
            return self
        return self.model_copy(update={"metrics": task_packs(task)})

    def for_task(self, task: str) -> ScoringOptions:
        """Return these options with the metrics of each named pack that are of use to a task in its place."""
        metrics = without_packs(self.metrics, task)
        return self if metrics == self.metrics else self.model_copy(update={"metrics": metrics})


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
