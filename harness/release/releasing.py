"""Telling the scores of a run over secret entries: a signed, coarse card, once the ledger has it."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from corpora.model.entry import Entry
from corpora.text.visible import plain
from harness.card.checking.claimed import stated_caveats
from harness.card.load import load_card
from harness.card.material import stored_material
from harness.card.reading import block, number
from harness.card.withholding import LEAST
from harness.compare.comparing import compare_runs, require_named_once, require_two
from harness.compare.comparison import Comparison
from harness.core.version import VERSION
from harness.release.budget import (
    History,
    NotReleased,
    Part,
    ScoreAnswer,
    ScoreQuestion,
    set_id,
    too_few_words,
)
from harness.release.ledger import ReleaseLedger
from harness.release.records import (
    DifferenceTold,
    InLedger,
    ReleasedCard,
    ReleasedCorpus,
    ReleasedDifference,
    ReleasedMethod,
    ReleasedTest,
    Scores,
    ScoresTold,
)
from harness.release.rounding import Range, by_chance, says_something
from harness.release.smallest import smallest_difference
from harness.sealed.signed_archive import signed_record
from harness.setup.plan import told_of
from harness.store.corpora.listing import count_secret
from harness.store.runs import Run, find_run, read_run
from harness.vault.records import tenth_upward
from scoring.card.caveats import CaveatKind
from scoring.core.columns import stated_columns
from scoring.core.metric_rows import direction, row_of
from scoring.core.specification import COMPOSITE, stated_weighing
from scoring.statistics.breakdown import DIMENSIONS
from scoring.statistics.significance import Difference

P_STEPS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
"""A p is told as the smallest of these that is not below it."""


def release_run(
    connection: sqlite3.Connection, run: int, submitter: str, ledger: ReleaseLedger
) -> bytes:
    """Return the released card of a sealed run with secret entries, for one submitter; the ledger has it first.

    The same run gives the same submitter the same bytes again, and counts once. Raises NotReleased in words where
    nothing is told.
    """
    name = _submitter(submitter)
    asked = _question(connection, read_run(connection, run), name, ledger)
    with ledger.changing() as change:
        told = change.history.told_of(asked.run, name)
        if told is None:
            answer = change.history.answer(asked, change.now)
            issued = change.now.date().isoformat()

            def act(place: InLedger) -> ScoresTold:
                card = _card(asked, answer, place, issued, ledger)
                return ScoresTold(
                    submitter=name,
                    run=asked.run,
                    corpus=asked.corpus.id,
                    entries=set_id(asked.entries),
                    atoms=None if answer.atoms is None else dict(answer.atoms),
                    value=asked.value,
                    card=card,
                )

            change.write(act)
            told = change.history.told_of(asked.run, name)
            assert told is not None  # noqa: S101  it was written just now
    return signed_record(told.card, ledger.identity)


def require_answer_left(
    connection: sqlite3.Connection, run: int, submitter: str, ledger: ReleaseLedger
) -> None:
    """Raise NotReleased where count, pause or too few entries keep back the answer of ``release_run``; no text is needed for it.

    So a grant to open the texts is not used up in vain. Answers about other corpora that share entries with this one are
    known by texts alone: they count in ``release_run``.
    """
    name, found = _submitter(submitter), read_run(connection, run)
    if words := too_few_words(count_secret(connection, found.corpus, found.positions)):
        raise NotReleased(words)
    corpus = _corpus(block(load_card(connection, run).as_json(), "dataset"), 0).id
    with ledger.changing() as change:
        if change.history.told_of(found.run_id, name) is None:
            change.history.require_answers(name, corpus, frozenset(), change.now)


def require_difference_left(runs: Sequence[Run], ledger: ReleaseLedger) -> None:
    """Raise NotReleased where ``release_difference`` would tell nothing of these runs, as far as the ledger shows it without a text.

    Both must have been told, and each submitter must have an answer left, as ``require_answer_left`` says. UsageError where
    they are one run.
    """
    require_named_once(runs)
    with ledger.changing() as change:
        for told in [_told_card(change.history, run) for run in runs]:
            change.history.require_answers(told.submitter, told.corpus, frozenset(), change.now)


def release_difference(
    connection: sqlite3.Connection,
    names: Sequence[str],
    ledger: ReleaseLedger,
) -> bytes:
    """Compare two runs inside, and return how they differ by the headline: coarse, signed, and counted in the budgets of both submitters.

    Only runs whose own scores were told are compared: a difference from one of them would tell the scores of a run
    that the Ladder kept back. Raises NotReleased in words.
    """
    runs = [find_run(connection, each) for each in names]
    first, card = runs[0], load_card(connection, runs[0].id).as_json()
    headline = stated_columns(card.get("scoring")).headline
    found = compare_runs(connection, [run.run_id for run in runs], metrics=[headline])
    require_two(found)
    [pair] = found.pairs
    entries_of = {run.run_id: _secret_entries(connection, run) for run in runs}
    secret = {
        run: frozenset(ledger.digest(each.source) for each in entries)
        for run, entries in entries_of.items()
    }
    least = _smallest(entries_of[first.run_id])
    corpus = _corpus(block(card, "dataset"), len(found.entries.ids))
    draw = ledger.draw("difference", headline, *(run.run_id for run in runs))
    tests = {
        id_: test
        for id_, each in pair.by_metric.items()
        if id_ == headline and (test := _test(each, id_, corpus.entries, draw))
    }
    with ledger.changing() as change:
        cards = [_told_card(change.history, run) for run in runs]
        [entries] = (
            {set_id(each) for each in secret.values()} if len({*secret.values()}) == 1 else [""]
        )
        if not entries or entries not in change.history.sets:
            raise NotReleased(
                "These runs are not over the same secret entries, so their difference would tell of those that only one has."
            )
        if (apart := _apart(found)) < LEAST:
            raise NotReleased(
                f"These runs differ on {apart:,} secret entries only, so their difference would tell of single ones. Differences are told "
                f"where {LEAST} or more entries differ."
            )
        submitters = tuple(sorted({each.submitter for each in cards}))
        for submitter in submitters:
            change.history.require_answers(submitter, corpus.id, secret[first.run_id], change.now)
        made: list[ReleasedDifference] = []

        def act(place: InLedger) -> DifferenceTold:
            made.append(
                ReleasedDifference(
                    first=runs[0].run_id,
                    second=runs[1].run_id,
                    submitters=submitters,
                    corpus=corpus,
                    tests=tests,
                    smallest_difference=least,
                    rosetta=VERSION,
                    issued=change.now.date().isoformat(),
                    place=place,
                    by=ledger.identity.public.signing_key,
                )
            )
            return DifferenceTold(card=made[0], corpus=corpus.id, entries=entries)

        change.write(act)
    return signed_record(made[0], ledger.identity)


def _apart(found: Comparison) -> int:
    """Count the secret entries on which two runs differ by any statistic."""
    one, other = (side.table.matrix for side in found.sides)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return int((~same.all(axis=1) & found.entries.secret).sum())


def _told_card(history: History, run: Run) -> ScoresTold:
    told = [
        act for _, act in history.answers if isinstance(act, ScoresTold) and act.run == run.run_id
    ]
    if not any(act.card.scores_of == run.run_id for act in told):
        raise NotReleased(
            f"The scores of run {run.run_id[:8]} were not told, so how it differs from others is not told either. Release it "
            "first (rosetta runs export RUN --submitter NAME); where it does not beat the best run told so far, it "
            "is compared with nothing."
        )
    return next(act for act in told if act.card.scores_of == run.run_id)


def _submitter(name: str) -> str:
    said = " ".join(name.split())
    if not 0 < len(said) <= 200:
        raise NotReleased("Name the submitter in 1 to 200 characters.")
    return said


def _question(
    connection: sqlite3.Connection, run: Run, submitter: str, ledger: ReleaseLedger
) -> ScoreQuestion:
    card = load_card(connection, run.id).as_json()
    scores = block(card, "scores")
    entries = _secret_entries(connection, run)
    known = [ledger.digest(each.source) for each in entries]
    count = int(number(scores.get("total")) or 0)
    headline, whole = stated_columns(card.get("scoring")).headline, set_id(known)
    told = _told(scores, headline, count, partial(ledger.draw, "steps", whole, headline))
    value = number(scores.get(headline))
    if value is None or headline not in told:
        raise NotReleased(
            f"Run {run.run_id[:8]} has no {headline} with an interval, by which runs are told to be better. Nothing is told of it."
        )
    return ScoreQuestion(
        submitter=submitter,
        run=run.run_id,
        run_card_hash=str(card.get("run_card_hash")),
        method=_method(card, run),
        corpus=_corpus(block(card, "dataset"), count),
        entries=frozenset(known),
        headline=headline,
        higher=direction(headline) == "higher",
        value=value,
        scores=told,
        draw=ledger.draw(submitter, whole, headline, repr(value)),
        smallest_difference=_smallest(entries),
        caveats=_caveats(card),
        signatures={
            id_: str(each)[:1000] for id_, each in _signatures(card, scores) if id_ in told
        },
        **_parts(scores, headline, entries, known, ledger),
    )


def _smallest(entries: Sequence[Entry]) -> float | None:
    """Return what these entries tell, to a tenth of a point and upward."""
    least = smallest_difference(entries)
    return None if least is None else tenth_upward(least)


def _caveats(card: Mapping[str, Any]) -> dict[Any, bool] | None:
    """Return which caveats hold; None where the card's task has none, or it comes from before they were looked for."""
    claim = block(card, "scores").get("claim")
    if not isinstance(claim, Mapping) or block(card, "dataset").get("task") is not None:
        return None
    found = {each.kind for each in stated_caveats(claim)}
    return {kind.value: kind in found for kind in CaveatKind}


def _signatures(card: Mapping[str, Any], scores: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield by what each value depends; of the composite by whose weights, where they are not the specification's."""
    yield from block(scores, "signatures").items()
    if (weighing := stated_weighing(card.get("scoring"))) is not None:
        yield COMPOSITE, f"calibration:{weighing.calibration}"


def _parts(
    scores: Mapping[str, Any],
    headline: str,
    entries: Sequence[Entry],
    known: Sequence[str],
    ledger: ReleaseLedger,
) -> dict[str, Any]:
    """Return the parts that have a score in steps, their entries, and breakdowns that lack one already."""
    parts: dict[Part, Scores] = {}
    members: dict[Part, set[str]] = defaultdict(set)
    for dimension, field in DIMENSIONS.items():
        for entry, key in zip(entries, known, strict=True):
            if (tag := entry.open_tag(field)) is not None:
                members[dimension, str(tag)].add(key)
        for tag, group in block(scores, f"by_{dimension}").items():
            count, its = int(number(group.get("n")) or 0), set_id(members[dimension, tag])
            told = _told(group, headline, count, partial(ledger.draw, "steps", its, headline))
            if told and says_something(told[headline], _range(headline)):
                parts[dimension, tag] = told
    lacking = {name for name, _ in members.keys() - parts.keys() if f"by_{name}" in scores}
    return {
        "parts": parts,
        "entries_of": {name: frozenset(members.get(name, ())) for name in parts},
        "left_out": frozenset(lacking),
    }


def _told(
    scores: Mapping[str, Any], headline: str, entries: int, draw: Callable[[str], float]
) -> Scores:
    """Return the headline in steps, where it has a value and an interval: with each further metric the steps would say where the value lies in one."""
    interval, value = (
        block(scores, "confidence_intervals").get(headline),
        number(scores.get(headline)),
    )
    found = (number((interval or {}).get(name)) for name in ("ci_lower", "ci_upper"))
    ends = [each for each in found if each is not None]
    if value is None or len(ends) < 2 or (row_of(headline) is None and headline != COMPOSITE):
        return {}
    told = by_chance(value, *ends, entries=entries, ends=_range(headline), draw=draw(repr(value)))
    return {} if told is None else {headline: told}


def _range(id_: str) -> Range:
    """Return the lowest and highest value of a metric; those of the composite where no table has it."""
    row = row_of(id_)
    return (0.0, 1.0) if row is None else (row.info.low, row.info.high)


def _test(found: Difference, headline: str, entries: int, draw: float) -> ReleasedTest | None:
    """Return a test in steps; None where the runs do not differ on any entry."""
    ends = _range(headline)
    told = by_chance(
        found.difference,
        found.lower,
        found.upper,
        entries=entries,
        ends=ends,
        draw=draw,
        difference=True,
    )
    if told is None:
        return None
    p = max(found.p_randomisation, found.p_bootstrap)
    return ReleasedTest(
        difference=told.value,
        lower=told.lower,
        upper=told.upper,
        step=told.step,
        p_below=next(each for each in P_STEPS if p <= each),
    )


def _method(card: Mapping[str, Any], run: Run) -> ReleasedMethod:
    """Return which method it was. Its name is what a person asked for with the run: what code calls itself is no name here."""
    method = block(card, "method")
    told = plain(" ".join((told_of(run).method_name or "").split()))[:100]
    named = {"method_name": told} if told else {}
    version = method.get("method_version")
    return ReleasedMethod(
        method=str(method.get("method"))[:1000],
        method_class=str(method.get("method_class"))[:1000],
        method_version=None if version is None else str(version)[:1000],
        model_slug=str(card.get("model_slug"))[:1000],
        condition=str(card.get("condition"))[:1000],
        setup_hash=str(block(card, "fingerprint").get("setup_hash"))[:1000],
        **named,
    )


def _corpus(dataset: Mapping[str, Any], entries: int) -> ReleasedCorpus:
    version = dataset.get("version")
    return ReleasedCorpus(
        id=str(dataset.get("id"))[:1000],
        version=None if version is None else str(version)[:1000],
        language_pair=str(dataset.get("language_pair"))[:1000],
        entries=entries,
    )


def _secret_entries(connection: sqlite3.Connection, run: Run) -> list[Entry]:
    return [each for each in stored_material(connection, run.id).entries if each.secret]


def _card(
    asked: ScoreQuestion, answer: ScoreAnswer, place: InLedger, issued: str, ledger: ReleaseLedger
) -> ReleasedCard:
    parts: dict[str, dict[str, Scores]] = {}
    for (dimension, tag), scores in sorted(answer.parts.items()):
        parts.setdefault(dimension, {})[tag] = scores
    return ReleasedCard(
        run=asked.run,
        run_card_hash=asked.run_card_hash,
        scores_of=answer.scores_of,
        submitter=asked.submitter,
        method=asked.method,
        corpus=asked.corpus,
        headline=asked.headline,
        beat_by=answer.beat_by,
        scores=answer.scores,
        parts=parts,
        parts_left_out=tuple(sorted(answer.left_out)),
        signatures=dict(asked.signatures),
        smallest_difference=asked.smallest_difference,
        caveats=answer.caveats,
        answer=answer.number,
        of=answer.of,
        rosetta=VERSION,
        issued=issued,
        place=place,
        by=ledger.identity.public.signing_key,
    )
