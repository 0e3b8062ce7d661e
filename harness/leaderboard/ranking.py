"""Leaderboards of local runs: one list for each set of runs that may be ranked together (T3).

Runs share a list, ranked by composite (scoring specification §6.3) or as asked by chrF++, where they translated the same entries of the same
corpus file, and their composites weigh the same inputs, scored alike. Runs of another task, which have no composite,
share one where the metric that they are shown by first is the same, scored alike; it ranks them. All else is another
list, never a lower place.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right, insort
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING

from corpora.model.task import TRANSLATION
from corpora.model.vocabularies import Segment
from harness.card.comparability import NO_SEGMENT, ScoredTerms, card_id, ids_sha256, terms_remedy
from harness.card.reading import block, number
from harness.leaderboard.entrant import CHRF, Entrant, better, counts
from harness.store.run_list import RunSummary, list_runs
from harness.store.sqlite.trouble import stored_object, unpack_positions
from scoring.core.inventory import profile_for, short_title
from scoring.core.specification import COMPOSITE, TRANSLATIONS, specified, stated_columns, stated_weighing

if TYPE_CHECKING:
    from corpora.model.entry import EntryId


@dataclass(frozen=True)
class BoardGrounds:
    """What runs must share to be in one list."""

    sha256: str
    """Of the corpus file."""
    entries: str
    """Hash of the ids of the entries that were translated."""
    profile: str
    inputs: tuple[str, ...]
    """Metrics that the composite weighs, in the order of its profile."""
    signatures: tuple[str, ...]
    """What the value of each of them depends on."""
    task: str = TRANSLATION
    """What the corpus asks for; of other tasks than translation the only input is what the list is ranked by."""
    calibration: str = ""
    """SHA-256 of the signed weights and tier lines; empty for the specification's."""


@dataclass(frozen=True)
class Board:
    """Runs that may be ranked together."""

    grounds: BoardGrounds
    dataset_id: str
    version: str
    language_pair: str
    segments: tuple[str, ...]
    """Of the entries that were translated, in order; NO_SEGMENT stands for those without one."""
    entries: int
    """How many entries were translated."""
    corpus_entries: int
    """How many the corpus has."""
    entrants: tuple[Entrant, ...]
    """Best first by what the list is ranked by; those without a rank last."""
    by: str = COMPOSITE
    """The metric that it is ranked by: ``composite`` or chrF++; of other tasks the headline."""
    clusters: Mapping[str, int] = field(default_factory=dict)
    """Run id → rank of its significance cluster: inside a cluster the order may be chance."""
    chrf_clusters: Mapping[str, int] = field(default_factory=dict)
    """The same by chrF++, where the list is ranked by the composite."""
    unclustered: str = ""
    """Why some or all runs have no cluster; empty where all have one, or nobody asked yet."""
    smallest: float | None = None
    """The smallest difference in ``by`` that its entries show between two such runs (``scoring.statistics.clusters``);
    None where no two runs have a cluster, or nobody asked yet."""

    @property
    def official(self) -> bool:
        """Return whether official scores come from it: gold_standard alone (benchmark-specification §6.4)."""
        return self.segments == (Segment.GOLD_STANDARD.value,)

    @cached_property
    def ranks(self) -> Mapping[str, int]:
        """Run id → place from 1, runs of equal values sharing one; those of no value or no rank have none."""
        ranks: dict[str, int] = {}
        ranked = [entrant for entrant in self.entrants if self.may_rank(entrant)]
        for place, entrant in enumerate(ranked):
            tied = place and entrant.value(self.by) == ranked[place - 1].value(self.by)
            ranks[entrant.run.run_id] = ranks[ranked[place - 1].run.run_id] if tied else place + 1
        return ranks

    def may_rank(self, entrant: Entrant) -> bool:
        """Return whether one of its runs gets a rank."""
        ordered = better(self.by) in {"higher", "lower"}
        return ordered and not entrant.unranked and entrant.value(self.by) is not None

    @property
    def beside(self) -> tuple[str, ...]:
        """The other metrics that runs of the task are shown by; none of translations, which have their own."""
        if self.grounds.task == TRANSLATION:
            return ()
        ids = dict.fromkeys(id_ for entrant in self.entrants for id_ in entrant.columns.ids)
        return tuple(id_ for id_ in ids if id_ != self.by)

    @property
    def disagreeing(self) -> tuple[int, int]:
        """How many pairs of ranked runs chrF++ has in the other order than what ranks the list, and of how many."""
        values = [entrant.value(CHRF) for entrant in self.entrants if self.may_rank(entrant)]
        later, disagreeing = list[float](), 0  # values of the runs that stand below, in order
        for value in reversed([value for value in values if value is not None]):
            disagreeing += len(later) - bisect_right(later, value)
            insort(later, value)
        return disagreeing, comb(len(values), 2)

    def ranked_by(self, by: str) -> Board:
        """Return the same list ranked by chrF++ or by ``composite``; its clusters are to be worked out again.

        A list of another task stays as it is.
        """
        if self.grounds.task != TRANSLATION:
            return self
        entrants = tuple(sorted(self.entrants, key=_rank_key(by)))
        other = replace(self, by=by, entrants=entrants, clusters={}, chrf_clusters={}, unclustered="", smallest=None)
        return self if by == self.by else other

    def is_same(self, other: Board) -> bool:
        """Return whether it is the same list, whichever runs it has by now."""
        return (self.grounds, self.language_pair) == (other.grounds, other.language_pair)

    @property
    def best_of_setups(self) -> Board:
        """Return the same list with the best run of each set-up only."""
        best: dict[str, Entrant] = {}
        for entrant in self.entrants:
            best.setdefault(entrant.setup_hash, entrant)
        return replace(self, entrants=tuple(best.values()))


def leaderboards(
    connection: sqlite3.Connection, dataset: str | None = None, *, made_by: str | None = None
) -> list[Board]:
    """Return all lists, of all corpora or of those with this id; those with official scores first.

    Runs without a sealed card, or without what their task is ranked by, are in none, nor are those that were retried or scored
    again where the newer run is in the same list. ``harness.leaderboard.board_clusters`` adds the
    clusters, which take longer. ``made_by``: runs without a review come with what the store keeps of them for lists.
    """
    facts = _Facts(connection)
    lists: dict[tuple[BoardGrounds, str], list[Entrant]] = {}
    for listed in list_runs(connection, brief=True, made_by=made_by, with_cards=True):
        if listed.card is None or dataset not in (None, listed.dataset_id):
            continue
        # what is kept is of the card alone
        run = listed._replace(line=None) if listed.certificates or listed.checked.reproduced else listed
        entrant = facts.entrant(run)
        grounds = facts.grounds(run, entrant)
        if grounds is not None:
            lists.setdefault((grounds, run.language_pair), []).append(entrant)
    boards = [
        _board(grounds, _last_tries(entrants, facts.has_outputs_of), facts.scope(entrants[0].run))
        for (grounds, _), entrants in lists.items()
    ]
    newest = {id(board): max(entrant.run.created for entrant in board.entrants) for board in boards}
    return sorted(boards, key=lambda b: (not b.official, -len(b.entrants), -newest[id(b)]))


def _last_tries(entrants: Sequence[Entrant], has_outputs_of: Callable[[RunSummary, RunSummary], bool]) -> list[Entrant]:
    """Replace a run by the one that retried it or scored it again.

    A card from elsewhere may name any run: it takes the place of one that may have a rank only where it may have one
    itself and has all that did not fail there, and never that of a later one, so that two cannot name each other.
    """
    there = {entrant.run.run_id: entrant for entrant in entrants}
    before: dict[str, set[str]] = {}
    for entrant in sorted(entrants, key=lambda e: e.run.created):
        named = {entrant.run.retry_of, entrant.run.rescore_of} & before.keys()
        named = {
            id_
            for id_ in named
            if bool(entrant.unranked) <= bool(there[id_].unranked)
            and (not entrant.run.imported or has_outputs_of(entrant.run, there[id_].run))
        }
        before[entrant.run.run_id] = named.union(*(before[id_] for id_ in named))
    gone = set[str]().union(*before.values())
    return [
        replace(entrant, in_place_of=tuple(sorted(before[entrant.run.run_id])))
        for entrant in entrants
        if entrant.run.run_id not in gone
    ]


def apart(board: Board, other: Board) -> str:
    """Return why the runs of another list of the same corpus are not in this one; empty for another corpus."""
    one, two = board.grounds, other.grounds
    if one.sha256 != two.sha256:
        return ""
    reasons = []
    if one.entries != two.entries:
        reasons.append(f"other entries ({other.entries:,} of {other.corpus_entries:,})")
    if one.task != two.task or (one.task != TRANSLATION and one.inputs != two.inputs):
        reasons.append(f"task {two.task}, ranked by {', '.join(map(short_title, two.inputs))}")
    elif one.calibration != two.calibration:
        by = f"of calibration {two.calibration[:8]}" if two.calibration else "of the specification"
        reasons.append(f"a composite by the weights {by}")
    elif (one.profile, one.inputs) != (two.profile, two.inputs):
        more = [*_only("there", two.inputs, one.inputs), *_only("here", one.inputs, two.inputs)]
        inputs = ", ".join(more) or f"profile {two.profile}"
        remedy = terms_remedy(_terms(board), _terms(other))
        reasons.append(f"a composite of other inputs ({inputs}){remedy}")
    elif one.signatures != two.signatures:
        pairs = zip(one.inputs, one.signatures, two.signatures, strict=True)
        changed = (short_title(id_) for id_, a, b in pairs if a != b)
        reasons.append(f"scored otherwise ({', '.join(changed)})")
    return "; ".join(reasons)


def _terms(board: Board) -> ScoredTerms:
    """Return the terms of the first run of a list."""
    run = board.entrants[0].run
    stated = block(run.card or {}, "scoring").get("terms_sha256")
    return ScoredTerms(run.run_id[:8], stated if isinstance(stated, str) else None)


def _only(where: str, ids: Iterable[str], others: Iterable[str]) -> list[str]:
    lacking = sorted(map(short_title, set(ids) - set(others)), key=str.casefold)
    return [f"only {where}: {', '.join(lacking)}"] if lacking else []


def _board(grounds: BoardGrounds, entrants: Sequence[Entrant], scope: _Scope) -> Board:
    by = COMPOSITE if grounds.task == TRANSLATION else grounds.inputs[0]
    run = entrants[0].run
    dataset = (run.card or {}).get("dataset")
    version = dataset.get("version") if isinstance(dataset, Mapping) else None
    return Board(
        grounds=grounds,
        dataset_id=run.dataset_id,
        version=version if isinstance(version, str) and version != "0" else "",
        language_pair=run.language_pair,
        segments=scope.segments,
        entries=scope.entries,
        corpus_entries=scope.corpus_entries,
        entrants=tuple(sorted(entrants, key=_rank_key(by))),
        by=by,
    )


def _rank_key(by: str) -> Callable[[Entrant], tuple[bool, float, float]]:
    """Return the order of a list: those without a rank last, the best first, of equal ones the earlier."""
    way = 1 if better(by) == "lower" else -1

    def key(entrant: Entrant) -> tuple[bool, float, float]:
        value = entrant.value(by)
        return bool(entrant.unranked) or value is None, way * (value or 0.0), entrant.run.created

    return key


@dataclass(frozen=True, slots=True)
class _Scope:
    """What a run translated."""

    sha256: str
    ids: str
    segments: tuple[str, ...]
    entries: int
    corpus_entries: int


class _Facts:
    """What the list of runs does not say of them, each thing read once for all runs that share it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._scopes: dict[tuple[int, bytes], _Scope] = {}
        self._signatures: dict[str, Mapping[str, str]] = {}
        self._rows = {
            row[0]: row[1:]
            for row in connection.execute(
                "SELECT u.id, u.corpus, u.positions, u.setup_hash,"
                " json_extract(u.setup, '$.method_class'), json_extract(u.opening, '$.scoring'),"
                " c.sha256 FROM runs u JOIN corpora c ON c.id = u.corpus"
                " WHERE u.run_card IS NOT NULL"
            )
        }

    def entrant(self, run: RunSummary) -> Entrant:
        """Read the fields of §9.7 out of a run's card."""
        card = run.card or {}
        _, _, setup_hash, method_class, _, _ = self._rows[run.number]
        return Entrant(
            run=run,
            setup_hash=setup_hash,
            method_class=str(method_class or ""),
            scores=block(card, "scores"),
            cost_per_entry_usd=number(block(card, "cost").get("cost_per_entry_usd")),
            avg_latency_seconds=number(block(card, "speed").get("avg_latency_seconds")),
            unverified="unverified" in card,
            columns=stated_columns(card.get("scoring")),
            failures=run.failures or counts(block(card, "scores").get("errors_by_class")),
        )

    def grounds(self, run: RunSummary, entrant: Entrant) -> BoardGrounds | None:
        """Return what a run must share with others; None where it has nothing that ranks its task."""
        if entrant.columns != TRANSLATIONS:
            return self._headline_grounds(run, entrant)
        if entrant.composite is None:
            return None
        scope = self.scope(run)
        profile = profile_for(entrant.scores)
        weighing = stated_weighing((run.card or {}).get("scoring")) or specified()
        known = weighing.profiles[profile]
        weighed = [id_ for id_ in known if entrant.value(id_) is not None]
        parts = entrant.scores.get("composite_inputs")
        parts = parts if isinstance(parts, list) else []
        named = {str(part.get("metric")) for part in parts if isinstance(part, Mapping)}
        inputs = (*weighed, *sorted(named - set(known)))
        signatures = self._signatures_of(run, entrant)
        return BoardGrounds(
            scope.sha256,
            scope.ids,
            profile,
            inputs,
            tuple(signatures.get(id_, "") for id_ in inputs),
            calibration=weighing.calibration,
        )

    def _headline_grounds(self, run: RunSummary, entrant: Entrant) -> BoardGrounds | None:
        by = entrant.columns.headline
        if entrant.value(by) is None:
            return None
        scope, task = self.scope(run), block(run.card or {}, "scoring").get("task")
        signature = self._signatures_of(run, entrant).get(by) or entrant.signature(by)
        return BoardGrounds(scope.sha256, scope.ids, "", (by,), (signature,), str(task))

    def _signatures_of(self, run: RunSummary, entrant: Entrant) -> Mapping[str, str]:
        """Return by metric all that its values depend on.

        The card of a run that was made here has them. A card from elsewhere may state any, so they are worked
        out of its set-up: once for set-ups that are stated alike, and with libraries that no list needs else.
        """
        if not run.imported and (sealed := block(entrant.scores, "signatures")):
            return {id_: str(signature) for id_, signature in sealed.items()}
        from harness.compare.rows import run_signatures, setup_signatures  # loads the metrics

        stated: str | None = self._rows[run.number][4]
        if stated is None:
            return run_signatures(self._connection, run.run_id)
        if stated not in self._signatures:
            self._signatures[stated] = setup_signatures(stored_object(stated))
        return self._signatures[stated]

    def has_outputs_of(self, run: RunSummary, other: RunSummary) -> bool:
        """Return whether a run has every output of another that did not fail there, by the same set-up; False where texts are sealed or held back."""
        if self._rows[run.number][2] != self._rows[other.number][2]:
            return False
        before = self._outputs(other)
        return None not in before.values() and before.items() <= self._outputs(run).items()

    def _outputs(self, run: RunSummary) -> Mapping[EntryId, str | None]:
        """Return by entry what came out where nothing failed; None for a text that is not available."""
        from harness.store.results import shown_results  # loads what opens sealed texts

        query = "SELECT position, entry_id FROM entries WHERE corpus = ?"
        ids = dict(self._connection.execute(query, (self._rows[run.number][0],)))
        results = shown_results(self._connection, run.number)
        return {ids[result.position]: result.output for result in results if result.error_class is None}

    def scope(self, run: RunSummary) -> _Scope:
        """Return which entries of which corpus a run translated."""
        corpus, positions, _, _, _, sha256 = self._rows[run.number]
        if run.imported and (withheld := block(run.card or {}, "withheld")):
            # Read which entries a card is about that has no rows.
            dataset = block(run.card or {}, "dataset")
            segments = withheld.get("segments")
            return _Scope(
                sha256=sha256,
                ids=str(withheld.get("ids_sha256")),
                segments=_ordered(segments if isinstance(segments, Mapping) else ()),
                entries=int(number(withheld.get("entries")) or 0),
                corpus_entries=int(number(dataset.get("corpus_entry_count")) or 0),
            )
        if (corpus, positions) not in self._scopes:
            places = unpack_positions(positions)
            entries = {
                row[0]: row[1:]
                for row in self._connection.execute(
                    "SELECT position, entry_id, segment FROM entries WHERE corpus = ?", (corpus,)
                )
            }
            chosen = [entries[place] for place in places if place in entries]
            self._scopes[corpus, positions] = _Scope(
                sha256=sha256,
                ids=ids_sha256(card_id(id_) for id_, _ in chosen),
                segments=_ordered({segment or NO_SEGMENT for _, segment in chosen}),
                entries=len(chosen),
                corpus_entries=len(entries),
            )
        return self._scopes[corpus, positions]


def _ordered(names: Collection[str]) -> tuple[str, ...]:
    """Return names of segments in the order of the specification; those that are none are left out."""
    return tuple(name for name in (*(s.value for s in Segment), NO_SEGMENT) if name in names)
