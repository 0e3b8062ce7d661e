"""What a run is scored with: language card, analyser, dictionaries and models, found once at its beginning.

``prepare`` looks everything up and says why what is off is off; ``stored_scorer`` gives the scorer of a run
whose statistics are only read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from corpora.files.json_types import JsonObject
from corpora.model.entry import AnyEntry, reveal_here
from harness.core.failures import AskingStopped, BudgetReached, HarnessError
from harness.core.storage import usage_errors
from harness.store.runs import Run
from harness.store.sqlite.openings import Floor, RunOpening
from scoring.card.claim import FLOORS_VERSION, FloorScores
from scoring.card.floors import FloorWork, Share
from scoring.core.inventory import composite_metrics, read_by, reported_metrics
from scoring.core.scorer import RunningTotals, Scorer
from scoring.core.setup import ScoringSetup, Translation
from scoring.metrics.inventory import make_scorer, surface_setup
from scoring.words.source_words import Resources

if TYPE_CHECKING:
    from harness.annotators.annotator import AnyAnnotator, Ask, AskingAnnotator


class Steps:
    """Passes on how far a slow annotator is; to nobody until someone listens."""

    def __init__(self, what: str) -> None:
        self._what = what
        self.listener: Callable[[str], None] = lambda _: None

    def __call__(self, done: int, total: int) -> None:
        """Show how many texts are done."""
        self.listener(f"{self._what}: {done:,} of {total:,}")


@dataclass(frozen=True, slots=True)
class ScoringTools:
    """A run's scorer with the annotators that fill in what its metrics read."""

    resources: Resources
    scorer: Scorer
    annotators: tuple[AnyAnnotator, ...] = ()
    steps: tuple[Steps, ...] = ()  # Of the slow annotators

    @property
    def setup(self) -> ScoringSetup:
        """The facts that are written down."""
        return self.resources.setup

    def annotated(self, translations: Sequence[Translation]) -> Sequence[Translation]:
        """Fill in what the quick annotators find."""
        for annotator in self.annotators:
            if not annotator.slow:
                translations = filled(annotator, translations)
        return translations

    def annotated_for_corpus(self, translations: Sequence[Translation]) -> Sequence[Translation]:
        """Fill in the same where a metric of the whole corpus reads it: renderings of terms are found by lemma."""
        ids = [metric.info.id for metric in self.scorer.corpus_metrics]
        read = self.setup.terms or any(read_by(annotator.id, ids) for annotator in self.annotators)
        return self.annotated(translations) if read else translations

    def annotated_for_floors(self, ask: Ask, translations: Sequence[Translation]) -> Sequence[Translation]:
        """Fill in what the annotators find whose metrics enter the composite."""
        for annotator in self.annotators:
            if read_by(annotator.id, composite_metrics()):
                translations = filled(annotator, translations, ask)
        return translations

    def check_budget(self) -> None:
        """Raise UsageError where annotators are paid for, and nobody knows what a call of theirs costs."""
        from harness.annotators.annotator import AskingAnnotator

        for annotator in self.annotators:
            if isinstance(annotator, AskingAnnotator):
                annotator.check_budget()

    @property
    def slow(self) -> bool:
        """True where some annotators are asked only when all outputs are in."""
        return any(annotator.slow for annotator in self.annotators)

    def corpus_values(self, translations: Sequence[Translation]) -> dict[str, float | None]:
        """Return the values of the metrics that only a whole corpus has."""
        alike = self.scorer.alike(translations)
        return {metric.info.id: metric.corpus_value(alike) for metric in self.scorer.corpus_metrics}

    def missing(self) -> dict[str, str]:
        """Return which metrics can have no value for the run's entries → why; perfect outputs show it."""
        totals = RunningTotals(self.scorer)
        entries = self.resources.covered
        for tried in (entries[:1], entries[1:_TRIED]):  # the first may show it of all
            perfect = [Translation(entry, entry.reference or _ANY_ANSWER) for entry in tried]
            totals.add(self.scorer.statistics(self.annotated(perfect)))
            if None not in totals.values().values():
                break
        whole = {metric.info.id: LATER for metric in self.scorer.corpus_metrics}
        return self.scorer.reasons(totals.values()) | whole

    def listen(self, listener: Callable[[str], None]) -> None:
        """Set the listener that hears how far slow annotators are."""
        for steps in self.steps:
            steps.listener = listener

    def close(self) -> None:
        """Close the annotators, which store what is new."""
        for annotator in self.annotators:
            annotator.close()

    def forget(self) -> None:
        """Free the caches of texts, without which a card is computed."""
        for keeper in (self.resources, *self.annotators):
            if (forget := getattr(keeper, "forget", None)) is not None:
                forget()


_ANY_ANSWER = "yes"
_TRIED = 200
"""Entries, from the first, that are examined for a metric that has something to look at."""
LATER = "worked out when all outputs are in"
"""Why a metric of the whole corpus has no value while a run is under way."""


class AnnotatorError(HarnessError):
    """A slow annotator could not be asked; what it reads is off, the rest is scored all the same."""

    def __init__(self, annotator: AnyAnnotator, error: HarnessError) -> None:
        self.annotator = annotator
        super().__init__(str(error))


def ask_nobody(annotator: AskingAnnotator, _translations: Sequence[Translation]) -> list[Any]:
    """Refuse: no call goes out from here."""
    raise HarnessError(f"{annotator.id} can be asked only when all outputs are in.")


def filled(annotator: AnyAnnotator, translations: Sequence[Translation], ask: Ask = ask_nobody) -> list[Translation]:
    """Fill in what one annotator finds; AnnotatorError where a slow one cannot be asked.

    A budget that is reached, and a person who stops, end the scoring: BudgetReached and AskingStopped pass.
    """
    from harness.annotators.annotator import AskingAnnotator

    try:
        if isinstance(annotator, AskingAnnotator):
            values = ask(annotator, translations)
        else:
            values = annotator.annotate(translations)
    except (AskingStopped, BudgetReached):
        raise
    except HarnessError as error:
        if annotator.slow:
            raise AnnotatorError(annotator, error) from error
        raise
    return [
        translation
        if annotation is None
        else replace(translation, annotations={**translation.annotations, annotator.id: annotation})
        for translation, annotation in zip(translations, values, strict=True)
    ]


def without(tools: ScoringTools, annotator: AnyAnnotator, reason: str) -> ScoringTools:
    """Return tools without a slow annotator that failed: what asks it has no value, with the reason.

    The metric keeps its place among the others, so that statistics stored before still fit. A model that gave
    no score is not named as one that the run was scored with.
    """
    setup = tools.setup
    asking = read_by(annotator.id, reported_metrics(setup.metrics, setup.off))
    off = {**setup.off, **dict.fromkeys(asking, reason)}
    kept = {id_: facts for id_, facts in setup.annotators.items() if id_ != annotator.id}
    gone = {"comet": None} if annotator.id == "comet" else {"annotators": kept}
    left = setup.model_copy(update={"off": off, **gone})
    resources = tools.resources.with_setup(left)
    others = tuple(other for other in tools.annotators if other is not annotator)
    return ScoringTools(resources, make_scorer(resources), others, tools.steps)


def stored_setup(run: Run, target_language: str, entries: Iterable[AnyEntry]) -> ScoringSetup:
    """Return what a run of the store is scored with; an imported one may know nothing but its texts."""
    return stated_setup(run.opening.scoring) or surface_setup("und", target_language, reveal_here(entries))


def stated_setup(stated: JsonObject | None) -> ScoringSetup | None:
    """Read the setup that a run or a card states; None where it states none."""
    if stated is None:
        return None
    with usage_errors("`scoring`"):
        return ScoringSetup.model_validate(stated)


def stored_scorer(run: Run, target_language: str, entries: Iterable[AnyEntry]) -> Scorer:
    """Return the scorer by which a run's stored statistics are read; it cannot take new ones."""
    return make_scorer(Resources(stored_setup(run, target_language, entries)), run.opening.packed)


def comparable(setup: ScoringSetup) -> ScoringSetup:
    """Return what decides the values: all engines agree, and a model may fail today and answer tomorrow.

    The order of words decides what may be claimed, and no value.
    """
    analyser = setup.analyser
    if analyser is not None:
        analyser = analyser.model_copy(update={"engine": "", "engine_version": ""})
    return setup.model_copy(update={"analyser": analyser, "off": {}, "free_word_order": False})


def require_same(stored: ScoringSetup, now: ScoringSetup) -> None:
    """Raise HarnessError where a run would continue with other tools than it began with."""
    if changed := changes(stored, now):
        raise HarnessError(
            "What the run is scored with is no longer what it was when it began: "
            f"{', '.join(changed)} changed. Put it back, or begin a new run."
        )


def changes(stored: ScoringSetup, now: ScoringSetup) -> list[str]:
    """Name the facts that are no longer the same and would make other values."""
    then, today = comparable(stored), comparable(now)
    names = ScoringSetup.model_fields
    return [name for name in names if getattr(then, name) != getattr(today, name)]


# ---- Floors as the store and the events hold them; runs of before know less of each ----

EARLIER = 1
"""Version of floors that do not name theirs: four of them, the constant one of eight candidates."""


def floor_work(tools: ScoringTools, share: Share | None = None) -> FloorWork:
    """Return the work of finding the floors of a run, without the annotators that are asked at its end."""
    entries, scorer = tools.resources.entries, tools.scorer
    return FloorWork(entries, scorer.metrics, annotate=tools.annotated, weighing=scorer.weighing, share=share)


def stored_floors(scores: Mapping[str, FloorScores]) -> tuple[Floor, ...]:
    """Return floors as the store and the events hold them."""
    return tuple(
        Floor(name, floor.composite, floor.chrf_plus_plus, floor.inputs, floor.entries, floor.searched)
        for name, floor in scores.items()
    )


def floor_fields(scores: Mapping[str, FloorScores]) -> dict[str, tuple[Floor, ...] | int]:
    """Return the fields of a run's opening that tell its floors."""
    return {"floors": stored_floors(scores), "floors_version": FLOORS_VERSION}


def floors_version(opening: RunOpening) -> int:
    """Return the version of the floors that a run's opening tells; of floors yet to be worked out, this one's."""
    return opening.floors_version or (FLOORS_VERSION if opening.floors is None else EARLIER)


def floor_scores(opening: RunOpening) -> dict[str, FloorScores] | None:
    """Return the floors of a run by name; None where they are yet to be worked out."""
    return None if opening.floors is None else scores_of(opening.floors)


def scores_of(floors: Sequence[Floor]) -> dict[str, FloorScores]:
    """Return stored floors by name."""
    return {
        floor.name: FloorScores(floor.composite, floor.chrf, floor.inputs, floor.entries, floor.searched)
        for floor in floors
    }
