"""Leaderboards as rows of a table: every field of benchmark-specification §9.7, ranked by composite first."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from corpora.model.task import TRANSLATION
from corpora.text.messages import counted, percent
from harness.card.reading import block, kept_inside, number
from harness.leaderboard.entrant import Entrant
from harness.leaderboard.ranking import Board, apart
from harness.store.run_list import LEAD
from rosetta_tui.show import card_fields, figures
from rosetta_tui.show.columns import WITHHELD, Cell, Column, Record, Rows, Value, widest
from rosetta_tui.show.figures import value
from rosetta_tui.show.run_facts import failed_told, iso, setup_words, stated_mark, when
from scoring.core.inventory import metric_named, row_of, short_title, title, typed_name
from scoring.core.specification import specification

if TYPE_CHECKING:
    from harness.leaderboard.official import OfficialList
    from harness.store.run_list import RunSummary

_FIRST = (
    Column("mark", "", 1),
    Column("rank", "rank", 4, right=True),
    Column("cluster", "group", 5, right=True, drop=2),
    Column("method", "method · model · condition", 16, share=1),
    Column("composite", "composite", 16),
    Column("chrf", "chrF++", 19, drop=1),
    Column("chrf_group", "its group", 9, right=True, drop=4),
    Column("tier", "may be called", 16, drop=3),
    Column("failed", "failed", 6, right=True, drop=4),
    Column("cost", "$/entry", 9, right=True, drop=5),
    Column("speed", "s/entry", 7, right=True, drop=7),
    Column("adjusted", "cost-adj.", 9, right=True, drop=6),
)
_LAST = (
    Column("verified", "validated by", 16, drop=8),
    Column("owner", "ownership", 16, drop=9),
    Column("class", "class", 11, drop=13),
    Column("when", "when", 16, drop=9),
)

SPREAD = "spread"  # column of mean ± standard deviation of what ranks other tasks' runs

_SOONER = ("exact_match_rate", "fst_acceptance_rate", "semantic_score")
"""Metrics that have a column where there is no room for one of each."""


def further_metrics() -> tuple[str, ...]:
    """Return the metrics of the table that have a column of their own, the most telling first."""
    return (*_SOONER, *(id_ for id_ in specification().metrics if id_ not in (*_SOONER, *LEAD)))


def columns(board: Board | None = None) -> tuple[Column, ...]:
    """Return what a row shows of a run; the key is what lists are sorted by."""

    def column(key: str, metric: str, drop: int) -> Column:
        return Column(key, short_title(metric), max(5, len(short_title(metric))), right=True, drop=drop)

    if board is not None and board.grounds.task != TRANSLATION:
        # of another task what ranks its runs, then what is next to it
        by = Column(board.by, title(board.by), max(19, len(title(board.by))))
        spread = [Column(SPREAD, "mean ± std", 14, drop=1)] if _has_spread(board) else []
        beside = (column(id_, id_, 10 + place) for place, id_ in enumerate(board.beside))
        return (*_FIRST[:4], by, *spread, *beside, *_FIRST[8:11], *_LAST)
    # the class of a method goes between those that go sooner and the others
    further = (
        column(typed_name(id_), id_, 10 + place + (place >= len(_SOONER)))
        for place, id_ in enumerate(further_metrics())
    )
    return (*_FIRST, *further, *_LAST)


@dataclass(frozen=True, slots=True)
class Dimension:
    words: str
    of: Callable[[Entrant], float | str | None]  # none: the run has no such value, and comes last
    high_first: bool  # true where the best is the highest


SORTS: Mapping[str, Dimension] = {
    "chrf": Dimension("chrF++", lambda e: e.value("chrf_plus_plus"), True),
    "composite": Dimension("composite", lambda e: e.composite, True),
    "exact": Dimension("exact", lambda e: e.value("exact_match_rate"), True),
    "fst": Dimension("FST", lambda e: e.value("fst_acceptance_rate"), True),
    "semantic": Dimension("semantic", lambda e: e.value("semantic_score"), True),
    "cost": Dimension("cost per entry", lambda e: e.cost_per_entry_usd, False),
    "speed": Dimension("seconds per entry", lambda e: e.avg_latency_seconds, False),
    "adjusted": Dimension("cost-adjusted score", lambda e: e.cost_adjusted, True),
    "failed": Dimension("failed entries", lambda e: sum(e.failures.values()), False),
    "method": Dimension("method", lambda e: setup_words(e.run).casefold(), False),
    "class": Dimension("method class", lambda e: e.method_class, False),
    "verified": Dimension("who validated it", lambda e: validation(e), False),  # noqa: PLW0108  it is defined below
    "when": Dimension("date", lambda e: e.run.created, True),
}
"""What lists can be sorted by besides further metrics; the rank is by chrF++, or by composite where that is chosen."""


def dimension(sort: str) -> Dimension:
    """Return what a typed name sorts by: one of ``SORTS`` or any metric; KeyError where it is neither."""
    if sort in SORTS:
        return SORTS[sort]
    metric = metric_named(sort)
    if metric is None:
        raise KeyError(sort)
    row = row_of(metric)
    better = "higher" if row is None else row.info.better
    if row is not None and row.info.one_is_ideal:

        def from_one(entrant: Entrant) -> float | None:
            value = entrant.value(metric)
            return None if value is None else abs(value - 1)

        return Dimension(short_title(metric), from_one, False)
    return Dimension(short_title(metric), lambda e: e.value(metric), better != "lower")


def dimensions(entrants: Sequence[Entrant]) -> dict[str, Dimension]:
    """Return what a list can be sorted by: the columns, then each further metric that one of its runs has."""
    has = [
        typed_name(id_)
        for id_ in card_fields.stated_metrics(entrant.scores for entrant in entrants)
        if any(entrant.value(id_) is not None for entrant in entrants)
    ]
    return {name: dimension(name) for name in (*SORTS, *has)}


def ranked_for(board: Board, sort: str) -> Board:
    """Return a list with the ranks that go with how it is sorted."""
    return board.ranked_by("chrf_plus_plus" if sort == "chrf" else "composite")


def sort_on(board: Board, sort: str) -> str:
    """Return what a list is sorted by where somebody wants the order of its ranks."""
    ranked = board.grounds.task != TRANSLATION and sort in {"chrf", "composite"}
    return board.by if ranked else sort


def ordered(board: Board, sort: str, *, turned: bool = False) -> list[Entrant]:
    """Return the runs by one dimension, best first unless ``turned``; without a value last, equal ones by rank."""
    sort = sort_on(board, sort)
    by = dimension(sort)
    known = [entrant for entrant in board.entrants if by.of(entrant) is not None]
    unknown = [entrant for entrant in board.entrants if by.of(entrant) is None]

    def key(entrant: Entrant) -> Any:
        return by.of(entrant)

    if sort in {"chrf", "composite", board.by} and not turned:
        return list(ranked_for(board, sort).entrants)
    return [*sorted(known, key=key, reverse=by.high_first is not turned), *unknown]


class LeaderboardRows(Rows["Entrant"]):
    def __init__(self, board: Board, entrants: Sequence[Entrant], marked: frozenset[str]) -> None:
        super().__init__(entrants)
        self._board, self._marked = board, marked

    def find(self, run_id: str) -> int | None:
        """Return the row of a run, None where it is not in the list."""
        return next((i for i, e in enumerate(self.items) if e.run.run_id == run_id), None)

    def key(self, index: int) -> Hashable:
        """Return what the row's look depends on; a sealed card never changes."""
        run = self.items[index].run
        beside = tuple(certificate.sha256 for certificate in run.certificates)
        placed = (self._board.ranks.get(run.run_id), self._board.clusters.get(run.run_id))
        signed = tuple((record.id, str(record.told.get("state"))) for record in run.checked.records)
        return (run.run_id, run.distinction, placed, run.run_id in self._marked, beside, signed)

    def cells(self, index: int) -> Sequence[Cell]:
        entrant = self.items[index]
        marked = entrant.run.run_id in self._marked
        return (Cell("●" if marked else "", "mark"), *entrant_cells(self._board, entrant))

    def record(self, index: int) -> Record:
        return entrant_record(self._board, self.items[index])

    def needs(self) -> Sequence[int]:
        """Return the cells that the widest text of each column takes."""
        texts = {"method": [setup_words(item.run) for item in self.items]}
        for id_ in further_metrics():
            there = (item.value(id_) for item in self.items)
            texts[typed_name(id_)] = [value(id_, number) for number in there if number is not None]
        spreads = (card_fields.spread_words(item.scores, self._board.by) for item in self.items)
        texts[SPREAD] = [spread.removeprefix("mean ") for spread in spreads]
        for id_ in self._board.beside:
            texts[id_] = [value(id_, item.value(id_)) for item in self.items]
        return widest(columns(self._board), texts)


def kept_here(entrant: Entrant) -> bool:
    """Return whether a run has secret entries, so that neither its numbers nor its place leave this computer."""
    return not entrant.run.imported and kept_inside(entrant.run.card)


PLACE_WITHHELD = (
    "A run with secret entries: its numbers, and its place in this list, leave as a released card only "
    "(rosetta runs export RUN --submitter NAME -o FILE)."
)


def entrant_record(board: Board, entrant: Entrant) -> dict[str, Value]:
    """Return everything that the list knows about a run and that may leave this computer."""
    run = entrant.run
    if kept_here(entrant):
        return {WITHHELD: PLACE_WITHHELD}
    claimed: dict[str, Value] = {}
    if board.grounds.task == TRANSLATION:
        card = run.card or {}
        tier = block(card, "scores").get("quality_tier")
        claimed = {
            "quality_tier": None if tier is None else str(tier),
            "claimable_tier": card_fields.claimable(card, card_fields.review_of(card, run.certificates)),
            "composite_coverage": number(block(card, "scores").get("composite_coverage")),
            "caveats": caveats_of(run) or None,
        }
    record: dict[str, Value] = {
        "rank": board.ranks.get(run.run_id),
        "group": board.clusters.get(run.run_id),
        "run_id": run.run_id,
        "in_place_of": " ".join(entrant.in_place_of) or None,
        "created": iso(run.created),
        "method_name": run.method_name or None,
        "method": run.method,
        "model": run.model_slug,
        "condition": run.condition,
        "method_class": entrant.method_class,
        **claimed,
        "validated_by": validation(entrant),
        "ownership": card_fields.owner_state(run) or None,
    }
    return {
        **record,
        **card_fields.score_record(entrant.scores),
        "failures": ", ".join(f"{name} {n}" for name, n in entrant.failures.items()) or None,
        "unranked": entrant.unranked or None,
        "cost_per_entry_usd": entrant.cost_per_entry_usd,
        "avg_latency_seconds": entrant.avg_latency_seconds,
        "cost_adjusted": entrant.cost_adjusted,
    }


def entrant_cells(board: Board, entrant: Entrant, *, all_metrics: bool = True) -> tuple[Cell, ...]:
    """Return in one row what a run reached, without the mark; ``all_metrics``: whether the cells of further ones are filled."""
    run = entrant.run
    rank, cluster = board.ranks.get(run.run_id), board.clusters.get(run.run_id)
    further: tuple[Cell, ...] = ()
    if board.grounds.task == TRANSLATION:
        claim = f"{signed_tier_of(run)}{stated_mark(run)}"
        scores = [
            Cell(card_fields.with_interval(entrant.scores, "composite")),
            Cell(card_fields.with_interval(entrant.scores, "chrf_plus_plus")),
            Cell(figures.count(board.chrf_clusters.get(run.run_id)), "quiet"),
            Cell(claim),
        ]
        ids = further_metrics()
        shown = [value(id_, entrant.value(id_)) for id_ in ids] if all_metrics else [""] * len(ids)
        metrics = (Cell(words, "quiet") for words in shown)
        further = (Cell(adjusted_words(entrant), "quiet"), *metrics)
    else:
        spread = card_fields.spread_words(entrant.scores, board.by).removeprefix("mean ")
        scores = [Cell(card_fields.with_interval(entrant.scores, board.by))]
        scores += [Cell(spread or figures.NONE, "quiet")] if _has_spread(board) else []
        scores += [Cell(value(id_, entrant.value(id_)), "quiet") for id_ in board.beside]
    return (
        Cell(figures.count(rank)),
        Cell(figures.count(cluster), "quiet"),
        Cell(setup_words(run)),
        *scores,
        Cell(figures.count(sum(entrant.failures.values())), "bad" if entrant.failures else "quiet"),
        Cell(figures.in_column(figures.money(entrant.cost_per_entry_usd)), "quiet"),
        Cell(figures.seconds(entrant.avg_latency_seconds), "quiet"),
        *further,
        Cell(validation(entrant), "warn" if entrant.unverified else "quiet"),
        Cell(card_fields.owner_state(run) or figures.NONE, "quiet"),
        Cell(entrant.method_class or figures.NONE, "quiet"),
        Cell(when(run.created), "quiet"),
    )


def signed_tier_of(run: RunSummary) -> str:
    """Return ``signed_tier`` of a run, from its line where the store keeps one."""
    if run.line is not None:
        return run.line.result
    card = run.card or {}
    return card_fields.signed_tier(card, card_fields.review_of(card, run.certificates))


def caveats_of(run: RunSummary) -> str:
    """Return ``caveats_in_words`` of a run, from its line where the store keeps one."""
    return card_fields.caveats_in_words(run.card or {}) if run.line is None else run.line.caveats


def _has_spread(board: Board) -> bool:
    """Return whether a run of a list states mean and deviation of what ranks it, as older cards do not."""
    return any(card_fields.spread_words(entrant.scores, board.by) for entrant in board.entrants)


def validation(entrant: Entrant) -> str:
    """Return who validated a run (§9.4)."""
    return "unverified" if entrant.unverified else card_fields.validated(entrant.run)[0]


def stated_tier_words(entrant: Entrant) -> str:
    """Return which verification tier a run's card states that nothing here shows; empty where there is none."""
    return card_fields.validated(entrant.run)[1]


def adjusted_words(entrant: Entrant) -> str:
    """Return the cost-adjusted score; where there is none because nothing was paid, say so (M6)."""
    if entrant.cost_per_entry_usd == 0:
        return "free"
    return figures.number(entrant.cost_adjusted, 2)


def entrant_words(board: Board, entrant: Entrant) -> tuple[str, str]:
    """Return everything about one run in two lines, for the place below the list."""
    run, card = entrant.run, entrant.run.card or {}
    review = card_fields.review_of(card, run.certificates)
    rank = board.ranks.get(run.run_id)
    why = entrant.unranked or f"it has no {title(board.by)}"
    place = f"no rank: {why}" if rank is None else f"rank {rank}"
    group = board.clusters.get(run.run_id)
    together = f", group {group}" if group is not None else ""
    translated = board.grounds.task == TRANSLATION
    shown = LEAD if translated else (board.by, *board.beside)
    # What an entry costs and how long it takes, or that nobody knows.
    cost, seconds = entrant.cost_per_entry_usd, entrant.avg_latency_seconds
    parts = [
        "cost unknown" if cost is None else f"{figures.money(cost)} an entry",
        "time unknown" if seconds is None else f"{figures.seconds(seconds)} s an entry",
    ]
    numbers = [
        *(f"{short_title(id_)} {card_fields.with_interval(entrant.scores, id_)}" for id_ in shown),
        *filter(None, [card_fields.spread_words(entrant.scores, board.by)]),
        " · ".join(parts),
        *([failed_told(sum(entrant.failures.values()), entrant.failures)] if entrant.failures else []),
        *([f"cost-adjusted {adjusted_words(entrant)}"] if translated else []),
    ]
    tier = f" · {card_fields.tier_words(card, review)}" if translated else ""
    head = f"{place}{together}{tier} · {validation(entrant)} · {run.run_id[:8]}"
    words = filter(None, (head, place_words(entrant), stated_tier_words(entrant), card_fields.owner_words(run)))
    return f"{setup_words(run)} · {' · '.join(words)}", " · ".join(numbers)


def place_words(entrant: Entrant) -> str:
    """Return in whose place a run is; empty where it is the first of its kind."""
    if not entrant.in_place_of:
        return ""
    how = "scored again" if entrant.run.rescore_of in entrant.in_place_of else "retried"
    earlier = ", ".join(run_id[:8] for run_id in entrant.in_place_of)
    return f"in place of {earlier} ({how})"


# ---- The words about a whole list: which it is, how small a difference it shows, which other
# lists there are.


def board_words(board: Board) -> tuple[str, str]:
    """Return which list this is, and what its composite is made of."""
    name = " ".join(part for part in (board.dataset_id, board.version) if part)
    segments = ", ".join(segment.replace("_", " ") for segment in board.segments)
    some = (
        counted(board.entries, "entry", "entries")
        if board.entries == board.corpus_entries
        else f"{board.entries:,} of {board.corpus_entries:,} entries"
    )
    official = "OFFICIAL · " if board.official else ""
    made = ", ".join(short_title(input_) for input_ in board.grounds.inputs)
    by = f", calibration {board.grounds.calibration[:8]}" if board.grounds.calibration else ""
    covered = {number(entrant.scores.get("composite_coverage")) for entrant in board.entrants} - {None, 1.0}
    share = f", {' or '.join(percent(part) for part in sorted(filter(None, covered)))} of its weight" if covered else ""
    mixed = f"composite of {made} (profile {board.grounds.profile}{by}{share})"
    if board.grounds.task != TRANSLATION:
        mixed = f"task {board.grounds.task}"
    return (
        f"{official}{name} · {board.language_pair} · {segments} · {some}",
        f"ranked by {title(board.by)} · {mixed} · sha-256 {board.grounds.sha256[:12]}",
    )


def disagreeing_words(board: Board | OfficialList) -> str:
    """Return how often chrF++ has two runs in the other order; empty where it never has."""
    otherwise, pairs = board.disagreeing if board.by == "composite" else (0, 0)
    return f"chrF++ has {otherwise:,} of {counted(pairs, 'pair')} in the other order" if otherwise else ""


def smallest_words(board: Board) -> str:
    """Return how small a difference the entries of a list show; empty where that is not known."""
    if board.smallest is None:
        return ""
    return (
        f"{counted(board.entries, 'entry shows', 'entries show')} differences of "
        f"{value(board.by, board.smallest)} {title(board.by)} or more (4 times of 5)"
    )


def others_words(boards: Sequence[Board], index: int) -> str:
    """Return how many runs of the same corpus are in other lists, and why the first of them are."""
    here = boards[index]
    others = [(apart(here, other), other) for other in boards if other is not here]
    elsewhere = [(why, other) for why, other in others if why]
    if not elsewhere:
        return ""
    runs = sum(len(other.entrants) for _, other in elsewhere)
    words = "1 run of this corpus is" if runs == 1 else f"{runs:,} runs of this corpus are"
    reasons = " | ".join(dict.fromkeys(why for why, _ in elsewhere))
    return f"{words} in other lists: {reasons}"


LONGEST_SIGNATURE = 200  # characters of a signature that are shown; sacreBLEU's are shorter


def signature_words(entrant: Entrant) -> str:
    """Return what ranks a run first, chrF++ of a translation, with its signature in sacreBLEU's form, whole or not at all; empty where the card states none."""
    headline = entrant.columns.headline
    signature, name = entrant.signature(headline), short_title(headline)
    if len(signature) > LONGEST_SIGNATURE:
        run_id = entrant.run.run_id[:8]
        return f"{name} signature of {len(signature):,} characters: rosetta runs show {run_id}"
    return signature and f"{name}|{signature}"
