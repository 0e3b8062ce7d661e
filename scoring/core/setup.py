"""What the scores of a run depend on besides its texts: written on the run card as ``scoring``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer, model_validator

from corpora.model.entry import Entry
from corpora.model.task import TRANSLATION
from corpora.text.comparison import EARLIER_FORM, alike
from scoring.core.specification import KeptColumns, Weighing, columns_of, specified, stated_weighing


class AnalyserFacts(BaseModel):
    """Which morphological analyser was asked, and what it makes of the references."""

    model_config = ConfigDict(frozen=True)
    name: str
    """File name, without its folder."""
    sha256: str
    engine: str
    """``builtin``, ``hfst``, ``hfst-optimized-lookup`` or ``pyhfst``."""
    engine_version: str
    acceptor: bool
    """True where it only says yes or no: a spell-checker."""
    reference_words: int
    reference_accepted: int
    """Over all entries of the run: how much of human writing the analyser knows."""

    @property
    def reference_acceptance(self) -> float | None:
        """Share of reference words that are accepted, 0–1; None without a word."""
        return self.reference_accepted / self.reference_words if self.reference_words else None


class EmbeddingFacts(BaseModel):
    """Which model gave the embeddings."""

    model_config = ConfigDict(frozen=True)
    model: str
    endpoint: str | None
    """Host of the endpoint; None for a local folder."""
    sha256: str | None
    """Hash of the local model's files; None where an endpoint has it."""


class CometFacts(BaseModel):
    """Which checkpoint gave the COMET scores."""

    model_config = ConfigDict(frozen=True)
    model: str
    sha256: str | None
    imported: bool
    """True where the scores came from a file."""


class CalibrationFacts(BaseModel):
    """Other weights and tier lines than the specification's, as an organisation signed them.

    ``signed`` is the whole record, so that anyone who has the card can check the signature.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    sha256: str
    """Over the canonical bytes of what was signed."""
    signer: str
    """Public key of the organisation, hexadecimal."""
    weights: dict[str, dict[str, float]]
    """Target weights by profile and metric id, each profile's sum 1."""
    tiers: dict[str, float]
    """Least composite of each tier."""
    signed: dict[str, Any]
    """The record with its signature (``harness.setup.scoring_options.SignedScoring``)."""

    @model_validator(mode="after")
    def _weighs(self) -> Self:
        if self._stated is None:
            raise ValueError("weights or tier lines are not of the expected form")
        return self

    @property
    def _stated(self) -> Weighing | None:
        return stated_weighing({"calibration": self.model_dump()})

    @property
    def weighing(self) -> Weighing:
        """The same for the composite."""
        return self._stated or specified()


def weighing_words(found: CalibrationFacts | None) -> str:
    """Return by which weights and lines composites are made, in few words."""
    if found is None:
        return "the specification's weights"
    return f"calibration {found.sha256[:8]}, signed by {found.signer[:8]}"


class ScoringSetup(BaseModel):
    """Everything that decides what a value means; two runs compare where these agree.

    It holds no text of an entry, no key and no local path.
    """

    model_config = ConfigDict(frozen=True)
    task: str = TRANSLATION
    """What the corpus asks for (``dataset.task``); written only where it is no translation."""
    metrics: tuple[str, ...]
    """Ids that are computed, in the order of the inventory."""
    off: dict[str, str] = {}
    """Id → why the metric is off in this run (DESIGN M1)."""
    source_language: str
    target_language: str
    script: str | None = None
    """ISO 15924 code of the target's writing, from the tag, else the references, else the card."""
    language_card: str | None = None
    """Tag of the card; None: the language has none."""
    language_card_sha256: str | None = None
    variant_rules: bool = False
    """Whether the card says which differences between sentences do not count."""
    free_word_order: bool = False
    """Whether the card says that the same words in another order mean the same; written only where it does."""
    bleu_tokenizer: str = "13a"
    has_variants: bool = False
    """Whether an entry lists ``variants[]``."""
    multi_ref: bool = False
    """Whether chrF++, BLEU and TER take ``variants[]`` as references beside the one (METRICS §1)."""
    analyser: AnalyserFacts | None = None
    terms: int = 0
    """How many source terms the coaching dictionary prescribes."""
    terms_sha256: str | None = None
    word_list: str | None = None
    """Name, version and size of the list of source words."""
    alignment: str | None = None
    """Name and size of the word-alignment model."""
    gloss_dictionary: int = 0
    """How many target lemmas the meaning dictionary explains (Plains Cree)."""
    gloss_dictionary_sha256: str | None = None
    embeddings: EmbeddingFacts | None = None
    comet: CometFacts | None = None
    annotators: dict[str, dict[str, Any]] = {}
    """What is told of further annotators, by id; written only where there are such."""
    packs: dict[str, str] = {}
    """Packs of which metrics are computed, with their versions; written only where there are such."""
    calibration: CalibrationFacts | None = None
    """Signed weights and tier lines in place of the specification's; written only where there are such."""
    text_form: str = ""
    """Form in which metrics read texts (one of ``corpora.text.comparison.FORMS``); empty, and not written, for NFC alone as before."""

    @model_serializer(mode="wrap")
    def _without_empty(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = write(self)
        for name in ("free_word_order", "annotators", "packs", "calibration", "text_form"):
            if not getattr(self, name):
                fields.pop(name, None)
        if self.task == TRANSLATION:
            fields.pop("task", None)
        return fields

    @property
    def columns(self) -> KeptColumns:
        """Return what is stored beside each entry, to sort by and to show first."""
        return columns_of(self.task, self.metrics).weighed(self.weighing)

    @property
    def weighing(self) -> Weighing:
        """Weights of the composite and lines of the tiers."""
        return specified() if self.calibration is None else self.calibration.weighing

    def not_in(self, now: ScoringSetup) -> list[str]:
        """Return the metrics that another set-up has not; none of a pack that it has in another version."""
        other = {name for name, version in now.packs.items() if self.packs.get(name) != version}
        left = (id_ for id_ in self.metrics if id_ not in now.metrics)
        return [id_ for id_ in left if id_.partition(".")[0] not in other]

    def packs_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the packs of some metrics with their versions, by name."""
        names = {id_.partition(".")[0] for id_ in ids}
        return {name: version for name, version in self.packs.items() if name in names}


# ---- What a metric looks at: one entry with what a method made of it, and what annotators found
# in that.
#
# The ``fst`` annotation is what a morphological analyser says of the words of both texts.


class Acceptance(StrEnum):
    """The form of a word in which the analyser accepted it (METRICS §2)."""

    AS_WRITTEN = "as written"
    LOWER_CASED = "lower-cased"
    NORMALISED = "normalised"
    """After the language card's replacements (macron → circumflex)."""


@dataclass(frozen=True, slots=True)
class WordAnalysis:
    """One word and its verdict."""

    word: str
    """As it is in the text."""
    accepted: Acceptance | None
    """None: rejected in every form."""
    analyses: tuple[str, ...] = ()
    """Analyser strings such as ``wâpamêw+V+TA+Ind+1Sg+3SgO``, sorted, each once, without flag diacritics;
    empty for a rejected word and for an acceptor, which has no analyses."""


@dataclass(frozen=True, slots=True)
class FstAnnotation:
    """The words of an output and of its reference, in order; numbers and placeholders are none."""

    output: tuple[WordAnalysis, ...]
    reference: tuple[WordAnalysis, ...]


@dataclass(frozen=True, slots=True)
class Translation:
    """An entry and its output. A failed entry has the empty output and stays in every denominator (M2)."""

    entry: Entry
    output: str
    annotations: Mapping[str, Any] = field(default_factory=dict)
    """What annotators found, by annotator id: ``fst`` an FstAnnotation, ``embeddings`` the cosine of
    −1–1, ``comet`` the score; a missing id means that there is nothing for this translation."""
    raw: str | None = None
    """The method's first answer, before its own gates and repairs; None where it is the output."""

    def alike(self, source_language: str, target_language: str, form: str) -> Translation:
        """Return it with all its texts in the one form that metrics read (``corpora.text.comparison``).

        Languages are shortest tags. Where no text changes it is the same object.
        """
        entry = alike_entry(self.entry, source_language, target_language, form)
        output = alike(self.output, target_language, form)
        raw = None if self.raw is None else alike(self.raw, target_language, form)
        if entry is self.entry and output == self.output and raw == self.raw:
            return self
        return replace(self, entry=entry, output=output, raw=raw)

    @property
    def fst(self) -> FstAnnotation | None:
        """The analyses of the words; None where no analyser was asked."""
        words = self.annotations.get("fst")
        return words if isinstance(words, FstAnnotation) else None

    def given(self, field: str) -> Any:
        """Return a field of the entry's record that only its task knows; None where it has none."""
        return (self.entry.model_extra or {}).get(field)


def alike_entry(entry: Entry, source_language: str, target_language: str, form: str) -> Entry:
    """Return an entry with all that is compared with an answer in the form of ``corpora.text.comparison``.

    Source, reference, variants and gold analysis, and of a record of another task the fields of ``COMPARED``.
    """
    read = {
        "source": alike(entry.source, source_language, form),
        "reference": alike(entry.reference, target_language, form),
        "variants": tuple(alike(variant, target_language, form) for variant in entry.variants),
    }
    if entry.morphological_analysis is not None:
        read["morphological_analysis"] = alike(entry.morphological_analysis, target_language, form)
    changed: dict[str, Any] = {name: text for name, text in read.items() if text != getattr(entry, name)}
    for name, value in (entry.model_extra or {}).items():
        if name in COMPARED and form != EARLIER_FORM and (own := _alike_value(value, target_language)) != value:
            changed[name] = own
    return entry.model_copy(update=changed) if changed else entry


COMPARED = frozenset({"reference_state", "reference_calls", "tools", "instructions"})
"""Fields of a record in which an answer's texts are looked for, besides the reference."""
_DEEPEST = 32
"""Levels of a record, as corpora are read."""


def _alike_value(value: Any, language: str, depth: int = _DEEPEST) -> Any:
    if isinstance(value, str):
        return alike(value, language)
    if isinstance(value, list) and depth:
        return [_alike_value(item, language, depth - 1) for item in value]
    if isinstance(value, dict) and depth:
        return {alike(name, language): _alike_value(item, language, depth - 1) for name, item in value.items()}
    return value
