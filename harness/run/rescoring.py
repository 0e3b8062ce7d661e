"""Scoring a finished run again, with more metrics or other tools; no method is called.

A sealed card never changes (DESIGN C4): the result is its own record that names the run it is of.
What it would give can be told before it is done. A single translation is examined again to say in words why it
has the values it has.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from corpora.files.json_types import Json
from corpora.files.packed_list import PackedList, PlaceMap, in_blocks, packed
from corpora.files.places import without_gaps
from corpora.model.entry import Entry
from corpora.model.task import TRANSLATION
from corpora.text.comparison import is_blank
from harness.card.assembling import store_card
from harness.card.checking.verify_card import sealed_card
from harness.card.material import in_memory, row_words, stored_material
from harness.card.rows import BLOCK
from harness.core.failures import AskingStopped, HarnessError, UsageError
from harness.method.method import Result
from harness.privacy import clear_scoring
from harness.run.asking import asking_again
from harness.run.beginning import begin_like, new_identity, tools_of, tools_with
from harness.run.final_scores import Scored, Tell, score_outputs, translation
from harness.run.scoring import LEAST_APART, LOST, ScoringPool, beside
from harness.setup.plan import RunOptions, run_options_of, scored_with, scoring_of, was_scored_here
from harness.setup.scoring_options import ScoringOptions, refuse_unread
from harness.setup.scoring_tools import ScoringTools, changes, floors_version, stored_setup
from harness.store.annotations import AnnotationRow, keep_annotations, read_annotations
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.live_runs import copy_stretches
from harness.store.results import (
    RowWords,
    copy_results,
    keep_row_words,
    read_all_attempts,
    read_results,
    read_row_words,
    replace_scores,
)
from harness.store.runs import Run, read_card, read_run
from harness.store.sqlite.database import store_path
from harness.store.sqlite.openings import Origin
from harness.store.sqlite.trouble import transaction, undone
from scoring.core.inventory import in_order, task_metrics
from scoring.core.metric import Compared, EntryStatistics, StatisticsError
from scoring.core.scorer import PackedStatistics, RunningTotals, Scorer
from scoring.core.setup import FstAnnotation, ScoringSetup
from scoring.core.specification import SortValues
from scoring.metrics.inventory import make_scorer, maker
from scoring.words.source_words import Resources


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is known of one translation beyond its numbers. Its words may quote the output: hostile text."""

    sentences: Mapping[str, tuple[str, ...]]
    """By metric id, in the order of the inventory; metrics that say nothing are left out."""
    words: FstAnnotation | None
    """The analyser's verdicts; None where none is here."""
    compared: tuple[Compared, ...] = ()
    """What the first metric compares that compares more than the two texts as they stand."""


_NO_SOURCE = "The corpus has no source text for this entry, and this compares with the source."


class Explainer:
    """Explains the entries of one run; costs what the run's tools cost, so it is made in a thread."""

    def __init__(self, connection: sqlite3.Connection, run: Run) -> None:
        # What judges said of each output, by place in the corpus.
        answers_by_place: dict[int, dict[str, Json]] = {}
        for row in read_annotations(connection, run.id):
            if row.position is not None and row.value is not None:
                answers_by_place.setdefault(row.position, {})[row.annotator] = row.value
        self._answers = answers_by_place
        self._tools, self.why_not = _tools(connection, run)
        """``why_not`` says why nothing can be explained, None where it can."""

    def explain(self, entry: Entry, result: Result) -> Explanation:
        """Explain one stored output."""
        if self._tools is None or result.failed:
            return Explanation({}, None)
        given = [translation(entry, result)]
        (annotated,) = self._tools.annotated(given)
        answers = self._answers.get(result.position, {})
        annotated = replace(annotated, annotations={**annotated.annotations, **answers})
        (annotated,) = self._tools.scorer.alike([annotated])
        explanations = {
            metric.info.id: (_NO_SOURCE,)
            if metric.reads_source and is_blank(entry.source)
            else metric.explain(annotated)
            for metric in self._tools.scorer.metrics
        }
        compared = (metric.compared(annotated) for metric in self._tools.scorer.metrics)
        return Explanation(
            {id_: sentences for id_, sentences in explanations.items() if sentences},
            annotated.fst,
            next(filter(None, compared), ()),
        )

    def close(self) -> None:
        if self._tools is not None:
            self._tools.close()


def _tools(connection: sqlite3.Connection, run: Run) -> tuple[ScoringTools | None, str | None]:
    """Find what the run was scored with; another analyser or card would explain other numbers."""
    if not was_scored_here(run):
        return None, "the run was imported; only its numbers are here"
    try:
        scoring_tools = tools_of(connection, run)
    except HarnessError as error:
        return None, str(error)
    setup = stored_setup(run, scoring_tools.setup.target_language, scoring_tools.resources.covered)
    if changed := changes(setup, scoring_tools.setup):
        return None, f"the run was scored with something else: {', '.join(changed)} changed since"
    return scoring_tools, None


def rescore(
    connection: sqlite3.Connection,
    run: Run,
    options: ScoringOptions,
    tell: Tell,
    note: Tell = lambda _: None,
    *,
    calls: RunOptions | None = None,
    prices: Path | None = None,
) -> str:
    """Score a run's outputs with its own metrics and the wanted ones; gives the id of the new run.

    ``tell`` hears what is being done, ``note`` what the person should know of the new run. UsageError where
    the run is not complete, has outputs without texts, or names what cannot be had; HarnessError, and no new
    run, where no metric has a value that the run did not have. ``calls`` says how judges and other
    endpoints are asked, None: as the run asked its own; where its budget is reached, BudgetReached is raised, and
    what was answered is used by the next scoring.
    """
    card = read_card(connection, run.id)
    if card is None:
        raise UsageError(f"Run {run.run_id[:8]} is not complete. `{run.goes_on_with}` continues with it.")
    results = packed(read_results(connection, run.id))
    deque(read_all_attempts(connection, run.id), maxlen=0)  # the new card tells of them: what is damaged stops here
    covered = read_entries(connection, run.corpus, run.positions)
    had = stored_setup(run, "und", covered.in_order)
    chosen = chosen_options(run, had, options)
    asked = calls or run_options_of(run).model_copy(update={"budget_usd": None})
    clearance = clear_scoring(read_dataset(connection, run.corpus), covered, asked, chosen)
    del covered  # the tools have their own
    tools = tools_with(connection, run, chosen, prices)
    entries = tools.resources.entries
    if any(entry.withheld for entry in entries):
        raise UsageError(
            f"Run {run.run_id[:8]} was imported without the texts of its secret entries; only who "
            "has them can score it again."
        )
    by_place = PlaceMap(run.positions, entries)
    asking = asking_again(connection, run, tools, by_place, tell, asked, clearance)
    pool = _pool(store_path(connection), run._replace(plan=scored_with(run, chosen)), tools, asked, tell)
    try:
        fresh = score_outputs(tools, by_place, results, tell, asking, pool)
        again = _words_again(tools, by_place, results, fresh)
    except AskingStopped:
        raise KeyboardInterrupt from None
    finally:
        pool.close()
        tools.close()
    now = ScoringSetup.model_validate(fresh.opening["scoring"])
    # the caches of texts are freed before the card is computed
    fresh = replace(fresh, scorer=make_scorer(Resources(now), fresh.opening["packed"]))
    tools.forget()
    del tools, by_place, entries
    kept = had.not_in(now)
    stored = make_scorer(Resources(had), run.opening.packed)
    before = stored_statistics(stored, packed(result.statistics for result in results))
    del results
    scored = _with_stated(fresh, now, kept, had, run, before) if kept else fresh
    same = had.calibration == now.calibration
    if same and _same_values(scored, Scored(stored, (), before, {"corpus_values": run.opening.corpus_values})):
        raise HarnessError(_nothing_new(scored, options))
    if kept:
        reasons = "".join(f"\n{id_}: {now.off.get(id_, 'not known here')}" for id_ in kept)
        lost = sum(not numbers for numbers in before)
        less = f" {lost:,} entries whose statistics are damaged have no value." if lost else ""
        note(f"These metrics stay as they were, for they cannot be taken again here.{less}{reasons}")
    source = Origin(run_id=run.run_id, run_card_hash=card.get("run_card_hash"))
    opening = run.opening.changed(**scored.opening, rescore_of=source)
    new = run._replace(**new_identity(), plan=scored_with(run, chosen), opening=opening)
    words = again or read_row_words(connection, run.id)
    _NewRun(run, new, packed(scored.rows), words, asking.all_rows).store(connection)
    return new.run_id


def _pool(store: Path, run: Run, tools: ScoringTools, calls: RunOptions, tell: Tell) -> ScoringPool:
    opening = run.opening.changed(scoring=tools.setup.model_dump(mode="json"), packed=tuple(tools.scorer.packed))
    pool = ScoringPool(lambda: tell(LOST))
    for _ in range(beside(tools, calls.workers, len(run.positions), LEAST_APART)):
        pool.start(store, run._replace(opening=opening))
    return pool


def _words_again(
    tools: ScoringTools, entries: Mapping[int, Entry], results: Sequence[Result], fresh: Scored
) -> Mapping[int, RowWords]:
    """Return what rows say of the results as the new scoring judges them."""
    places, words = array("L"), PackedList[RowWords]()
    judged = (result.with_kept(kept) for result, (_, _, kept) in zip(results, fresh.rows, strict=True))
    while block := list(islice(judged, BLOCK)):
        for place, own in row_words(tools, entries, block).items():
            places.append(place)
            words.append(own)
    return PlaceMap(without_gaps(places), words)


def chosen_options(run: Run, had: ScoringSetup, options: ScoringOptions) -> ScoringOptions:
    """Add what is wanted to what the run was scored with.

    Where no metrics are named they are those that the run was begun with, or of translations all. Of the two ways
    to a semantic score the one that is named now takes the place of the other.
    """
    before = scoring_of(run)
    calibrations = {"scoring": had.calibration}
    calibrations |= {name: getattr(options, name) for name in options.model_fields_set}
    if options.gloss_dictionary is not None and options.embeddings is None:
        calibrations |= {"embeddings": None, "embeddings_model": None}
    elif options.embeddings is not None and options.gloss_dictionary is None:
        calibrations |= {"gloss_dictionary": None}
    known = [id_ for id_ in had.metrics if maker(id_)]
    own = had.task != TRANSLATION and "metrics" not in options.model_fields_set
    wanted = in_order(task_metrics((before if own else options).metrics, had.task))
    metrics = tuple(dict.fromkeys([*known, *(id_ for id_ in wanted if not own or maker(id_))]))
    chosen = before.model_copy(update={**calibrations, "metrics": metrics})
    if chosen.unread in calibrations:
        refuse_unread(chosen)
    return chosen


def _with_stated(
    fresh: Scored, now: ScoringSetup, kept: Sequence[str], had: ScoringSetup, run: Run, old: Sequence[EntryStatistics]
) -> Scored:
    """Copy the metrics of the run that cannot be computed again here, with their statistics and facts.

    Their analyser or dictionary may be gone, or the run came from elsewhere; the floors stay the run's too,
    for they rest on the same.
    """
    if now.calibration != had.calibration:
        raise HarnessError(
            f"The floors cannot be worked out by other weights here, for {', '.join(kept)} cannot be taken again. Score the "
            "run where it was made, or leave the weights as they are."
        )
    setup = now.model_copy(
        update={
            **{name: value for name, value in had if getattr(now, name) in _NOTHING},
            "metrics": (*in_order([*now.metrics, *kept]),),
            "packs": {**had.packs_of(kept), **now.packs},
            "off": {id_: why for id_, why in now.off.items() if id_ not in kept},
        }
    )
    statistics = packed(
        {**{id_: before.get(id_) for id_ in kept}, **taken} for before, taken in zip(old, fresh.statistics, strict=True)
    )
    values = {**run.opening.corpus_values, **fresh.opening["corpus_values"]}
    opening = {
        **fresh.opening,
        "scoring": setup.model_dump(mode="json"),
        "corpus_values": {id_: value for id_, value in values.items() if id_ in setup.metrics},
    }
    if run.opening.floors is not None:
        version = floors_version(run.opening)
        opening |= {"floors": run.opening.floors, "floors_version": version}
    scorer = make_scorer(Resources(setup))
    opening["packed"] = tuple(scorer.packed)
    return Scored(scorer, fresh.places, statistics, opening)


_NOTHING = (None, 0, False, "")

_Scores = Sequence[tuple[int, bytes, SortValues]]
"""Place, packed statistics and kept values of each entry."""


def _same_values(scored: Scored, other: Scored) -> bool:
    """Return whether two scorings have values of the same metrics, which found the same in each entry."""
    values = _signed_values(scored)
    if values != _signed_values(other):
        return False
    pairs = zip(scored.statistics, other.statistics, strict=True)
    return all(taken.get(id_) == had.get(id_) for taken, had in pairs for id_ in values)


def _signed_values(scored: Scored) -> dict[str, tuple[str, float | None]]:
    """Return signature and value of each metric that has one."""
    totals = _totals(scored)
    metrics = {metric.info.id: metric for metric in scored.scorer.all_metrics}
    return {id_: (metric.signature, totals[id_]) for id_, metric in metrics.items() if totals.get(id_) is not None}


def stored_statistics(scorer: Scorer, rows: Sequence[bytes]) -> Sequence[EntryStatistics]:
    """Return what outputs were scored with before; nothing where that is damaged, for it is scored again."""
    try:
        scorer.unpack_table(rows, small=True)  # also sees whether they are numbers
        return PackedStatistics(scorer, rows)
    except StatisticsError:
        if len(rows) == 1:
            return [{}]
        return [stored_statistics(scorer, [row])[0] for row in rows]


def _nothing_new(scored: Scored, options: ScoringOptions) -> str:
    """Return why a run was not scored again: which wanted metric cannot be had, and which it had already."""
    off = lacking(scored.scorer.reasons(_totals(scored)), options)
    why = "".join(f"\n{id_}: {reason}" for id_, reason in off.items())
    words = (
        "the requested metrics cannot be computed now, and all others"
        if off
        else "all metrics that can be computed here"
    )
    return f"Nothing new comes of it, so no new run was made: {words} the run has already, with the same values.{why}"


def _totals(scored: Scored) -> dict[str, float | None]:
    totals = RunningTotals(scored.scorer)
    for statistics in in_blocks(scored.statistics, BLOCK):
        totals.add(statistics)
    return {**totals.values(), **scored.opening.get("corpus_values", {})}


def lacking(reasons: Mapping[str, str], options: ScoringOptions) -> dict[str, str]:
    """Pick from the reasons of missing metrics those of metrics that someone asked for."""
    return {id_: reason for id_, reason in reasons.items() if id_ in options.asked_for}


@dataclass(frozen=True, slots=True)
class _NewRun:
    """What a scoring adds to the store: the outputs of a run with other scores."""

    of: Run  # Whose outputs they are
    run: Run
    scores: _Scores
    words: Mapping[int, RowWords]
    answers: Sequence[AnnotationRow]

    def copied(self, connection: sqlite3.Connection) -> int:
        """Store it without its card; gives its number."""
        read_run(connection, self.of.id)  # it may have been deleted meanwhile
        number = begin_like(connection, self.run)
        copy_stretches(connection, self.of.id, number)
        copy_results(connection, self.of.id, number)
        replace_scores(connection, number, self.scores)
        keep_row_words(connection, number, self.words)
        keep_annotations(connection, number, self.answers)
        return number

    def store(self, connection: sqlite3.Connection) -> None:
        """Store it with its card, or nothing.

        The card of a large run takes a minute, in which a run that is under way must be able to write: it is
        computed outside the transaction, from rows that are taken back before.
        """
        with undone(connection):
            material = in_memory(stored_material(connection, self.copied(connection)))
        card = sealed_card(material).as_json()
        with transaction(connection):
            store_card(connection, self.copied(connection), card)


@dataclass(frozen=True, slots=True)
class RescorePreview:
    """Metrics by what becomes of them, in the specification's order."""

    new: tuple[str, ...]  # Those that the run was not scored with
    again: tuple[str, ...]  # Those that it was scored with, and is again
    kept: Mapping[str, str]  # Those that stay as they are, and why they cannot be taken again here
    off: Mapping[str, str]  # Those that are wanted and cannot be had here, and why


def prospect(connection: sqlite3.Connection, run: Run, options: ScoringOptions) -> RescorePreview:
    """Return what the metrics need; no text is scored, no model asked.

    Raises UsageError for what was named and cannot be had, as ``rescore`` does.
    """
    covered = read_entries(connection, run.corpus, run.positions).in_order
    had = stored_setup(run, "und", covered)
    tools = tools_with(connection, run, chosen_options(run, had, options))
    tools.close()
    now = tools.setup
    can = in_order(now.metrics)
    return RescorePreview(
        new=tuple(id_ for id_ in can if id_ not in had.metrics),
        again=tuple(id_ for id_ in can if id_ in had.metrics),
        kept={id_: why for id_, why in now.off.items() if id_ in had.metrics},
        off={id_: why for id_, why in now.off.items() if id_ not in had.metrics},
    )
