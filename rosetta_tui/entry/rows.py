"""The entries of a run as rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from rich.cells import cell_len

from corpora.model.entry import Entry, open_entry
from harness.method.method import Result
from harness.store.columns import entry_field
from rosetta_tui.entry.record import answers_in_row
from rosetta_tui.session.picture import EntryState, LiveRun
from rosetta_tui.show import figures
from rosetta_tui.show.columns import LEFT_OUT, Cell, Column, OrderedRows, Record, Value
from rosetta_tui.show.figures import of_entries, value
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.pages import UNREADABLE, Pages
from scoring.core.inventory import reported_metrics, short_title
from scoring.core.scorer import EntryValues, verdict_field
from scoring.core.specification import TRANSLATIONS, KeptColumns

_TEXTS = (
    Column("symbol", "", 1),
    Column("state", "state", 8, drop=10),
    Column("id", "id", 6, drop=8),
    Column("source", "source", 18, share=1),
    Column("output", "output", 18, share=1),
)
_SCORED = (
    Column("chrf", "chrF++", 6, right=True),
    Column("match", "match", 7, drop=5),
    Column("tier", "tier", 16, drop=1),
)
_TAKEN = (
    Column("tokens", "tokens", 7, right=True, drop=6),
    Column("cost", "cost", 9, right=True, drop=2),
    Column("seconds", "s", 6, right=True, drop=9),
)

KEPT = frozenset({"chrf_plus_plus", "exact_match_rate", "equivalent_match_rate"})
"""Metrics that have a place of their own beside an entry."""


def further_metrics(scores: Iterable[str] = ()) -> list[str]:
    """Return the other metrics of one entry: the specification's, and those of packs among ``scores``."""
    packed = (id_ for id_ in scores if "." in id_)
    return [id_ for id_ in reported_metrics((), packed) if of_entries(id_) and id_ not in KEPT]


def columns(
    further: Sequence[str] = (), kept: KeptColumns = TRANSLATIONS, verdicts: Collection[str] = ()
) -> tuple[Column, ...]:
    """Return what a row shows, with a column for each further metric (its verdict for ``verdicts``); keys are fields of the filter."""
    scored: tuple[Column, ...] = _SCORED
    if kept != TRANSLATIONS:
        scored = tuple(
            Column(
                entry_field(id_), short_title(id_), max(6, len(short_title(id_))), right=True, drop=_KEPT_DROPS[place]
            )
            for place, id_ in kept_places(kept).items()
        )
    return (*_TEXTS, *scored, *(metric_column(id_, verdicts) for id_ in further), *_TAKEN)


_KEPT_DROPS = {"headline": 0, "exact": 3, "second": 4, "third": 7}  # sort value → how soon it goes


def kept_places(kept: KeptColumns) -> dict[str, str]:
    """Return what the store sorts by of a task that is no translation, with the metric that it is."""
    shown = {"headline": kept.headline, "second": kept.second, "third": kept.third}
    exact = {"exact": kept.right} if kept.right not in shown.values() else {}
    places = {"headline": kept.headline, **exact, **shown}
    return {place: id_ for place, id_ in places.items() if id_}


def metric_column(metric: str, verdicts: Collection[str] = ()) -> Column:
    """Return the column of one further metric; those of ``verdicts`` show their verdict before the value."""
    name = short_title(metric)
    width = VERDICT_WIDTH if metric in verdicts else 5
    return Column(entry_field(metric), name, max(width, len(name)), right=True)


VERDICT_WIDTH = 16  # cells of the longest verdict with its value: EXACT_MATCH 1.00


SYMBOLS = {
    EntryState.QUEUED: Cell("…", "quiet"),
    EntryState.ASKED: Cell("●", "mark"),
    EntryState.RETRYING: Cell("↻", "warn"),
    EntryState.DONE: Cell("✓", "good"),
    EntryState.FAILED: Cell("✗", "bad"),
}

WORDS = {
    EntryState.QUEUED: "waiting",
    EntryState.ASKED: "asked",
    EntryState.RETRYING: "retrying",
    EntryState.DONE: "done",
    EntryState.FAILED: "failed",
}

_EMPTY = Cell("")

Values = Callable[[Result], EntryValues | None]  # an entry's values and verdicts; None if unknown


class EntryRows(OrderedRows):
    """Rows in the order that a person chose, read from the picture of the run and from the store."""

    def __init__(
        self,
        live: LiveRun,
        entries: Pages[Entry],
        results: Pages[Result],
        values: Values,
        order: Iterable[int],
        further: Sequence[str] = (),
        kept: KeptColumns = TRANSLATIONS,
    ) -> None:
        """``further``: metrics that have a column of their own."""
        super().__init__(order)
        self._kept, self.further, self._values, self._live = kept, further, values, live
        self.entries, self._results = entries, results

    def key(self, index: int) -> Hashable:
        position = self.order[index]
        return (position, self._live.state(position), self._live.waiting(position))

    def prepare(self, first: int, last: int) -> None:
        positions = self.order[first:last].tolist()
        recent, state = self._live.recent, self._live.state
        stored = [p for p in positions if p not in recent and state(p) >= EntryState.DONE]
        self.entries.load(positions)
        self._results.load(stored)

    def cells(self, index: int) -> Sequence[Cell]:
        position = self.order[index]
        state = self._live.state(position)
        entry = self.entries.get(position)
        how = (SYMBOLS[state], Cell(WORDS[state], SYMBOLS[state].tone))
        if entry is None:
            return (*how, Cell(""), Cell(UNREADABLE, "bad"), *self._empty)
        source = Cell(SEALED, "quiet") if entry.not_stored else Cell(entry.source)
        head = (*how, Cell(str(entry.id), "quiet"), source)
        if state < EntryState.DONE:
            return (*head, Cell(self._next_try(position), "warn"), *self._empty[1:])
        result = self._result(position)
        if result is None:
            return (*head, Cell(UNREADABLE, "bad"), *self._empty[1:])
        own = None if result.failed or not self.further else self._values(result)
        # an entry's value in a further metric, behind the verdict that it stands for
        scores = (
            value(id_, None)
            if own is None
            else " ".join(filter(None, [own.verdicts.get(id_), value(id_, own.values.get(id_))]))
            for id_ in self.further
        )
        outcome = (
            *_scored(result, self._kept),
            *(Cell(score, "quiet") for score in scores),
            Cell(figures.count(result.total_tokens), "quiet"),
            Cell(figures.in_column(figures.charged(result.cost_usd, failed=result.failed)), "quiet"),
            Cell("cached" if result.cached else figures.seconds(result.latency_seconds), "quiet"),
        )
        return (*head, _output(result, entry), *outcome)

    @property
    def _empty(self) -> Sequence[Cell]:
        """Cells of what comes out of an entry."""
        return [_EMPTY] * (len(columns(self.further, self._kept)) - 4)

    def record(self, index: int) -> Record:
        """Return the values of one row; of a secret entry no text and no number."""
        position = self.order[index]
        state = self._live.state(position)
        entry, done = self.entries.get(position), state >= EntryState.DONE
        result = self._result(position) if done else None
        if entry is None:
            return {"id": None, "state": WORDS[state], LEFT_OUT: UNREADABLE}
        scores = self._values(result) if result is not None and not result.failed else None
        values = {} if scores is None else scores.values
        verdicts = {} if scores is None else scores.verdicts
        record = entry_record(entry, WORDS[state], result, values, self._kept, verdicts)
        return {**record, LEFT_OUT: f"result: {UNREADABLE}"} if done and not result else record

    def _result(self, position: int) -> Result | None:
        return self._live.recent.get(position) or self._results.get(position)

    def _next_try(self, position: int) -> str:
        waiting = self._live.waiting(position)
        if waiting is None:
            return ""
        wait = f" in {waiting.seconds:.0f} s" if waiting.seconds >= 1 else ""
        return f"{waiting.reason} · try {waiting.attempt} of {waiting.attempts_allowed}{wait}"


def _scored(result: Result, kept: KeptColumns) -> Iterator[Cell]:
    if kept == TRANSLATIONS:
        tier = kept.tier(result.second)
        yield Cell(figures.number(result.headline, 1))
        word = "exact" if result.exact else "variant" if result.third else "no"
        yield Cell(word, "quiet" if word == "no" else "good")
        yield Cell(f"{figures.meter(tier)} {tier}", "quiet" if tier in {"baseline", "unscored"} else "plain")
        return
    values = kept.told(result.kept)
    for place, id_ in kept_places(kept).items():
        right = result.exact and id_ == kept.right
        tone = "good" if right else "plain" if place == "headline" else "quiet"
        yield Cell(value(id_, values.get(id_)), tone)


SEALED = "(sealed)"  # in the place of a text that the store keeps sealed and no key available opens


def _output(result: Result, entry: Entry) -> Cell:
    if result.error_class is not None:
        return Cell(f"{result.error_class.value.replace('_', ' ')}: {result.error or ''}", "bad")
    if entry.not_stored:
        return Cell(SEALED, "quiet")
    if not (result.output or "").strip():
        return Cell("(empty)", "warn")
    return Cell(answers_in_row(entry, result.output or ""))


def entry_record(
    entry: Entry,
    state: str,
    result: Result | None,
    scores: Mapping[str, float | None],
    kept: KeptColumns = TRANSLATIONS,
    verdicts: Mapping[str, str | None] = MappingProxyType({}),
) -> dict[str, Value]:
    """Return an entry's outcome by every metric; of a secret one no text and no number, but a word on it."""
    shown = open_entry(entry)
    record: dict[str, Value] = {
        "id": entry.id,
        "state": state,
        "segment": entry.segment,
        "difficulty": shown.difficulty if shown else None,
        "source": shown.source if shown else None,
        "reference": shown.reference if shown else None,
        "output": result.output if shown and result else None,
    }
    if result is not None:
        values = _values(result, kept) | {"error": result.error}
        further = further_metrics(scores) if kept == TRANSLATIONS else scores
        values |= {id_: scores.get(id_) for id_ in further if id_ not in values}
        values |= {verdict_field(id_): verdict for id_, verdict in verdicts.items()}
        record |= values if shown else dict.fromkeys(values)
    return record if shown else {**record, LEFT_OUT: LEFT_OUT_WORDS}


LEFT_OUT_WORDS = "texts and numbers: the entry is secret"  # what a record of a secret entry says


def _values(result: Result, kept: KeptColumns) -> dict[str, Value]:
    scores: dict[str, Value] = {
        "chrf_plus_plus": result.headline,
        "exact_match": result.exact,
        "equivalent_match": None if result.third is None else bool(result.third),
        "composite": result.second,
        "quality_tier": kept.tier(result.second),
    }
    return {
        **(scores if kept == TRANSLATIONS else kept.told(result.kept)),
        "prompt_tokens": result.prompt_tokens,
        "completion_tokens": result.completion_tokens,
        "cost_usd": result.cost_usd,
        "latency_seconds": result.latency_seconds,
        "cached": result.cached,
        "attempts": result.attempts,
        "error_class": result.error_class,
    }


LEAST_ID, MOST_ID = 4, 16  # cells that ids take at least and at most


def id_width(rows: EntryRows | None) -> int:
    """Return how wide the ids are, by the first rows and the last."""
    if rows is None:
        return LEAST_ID
    sample = [*rows.order[:50], *rows.order[-50:]]
    rows.entries.load(sample)
    entries = filter(None, map(rows.entries.get, sample))
    widest = max((cell_len(plain(str(entry.id))) for entry in entries), default=0)
    return max(LEAST_ID, min(MOST_ID, widest))
