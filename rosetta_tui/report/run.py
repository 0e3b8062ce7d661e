"""A run as plain lines: for pipes, logs and screen readers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Final, TypeVar

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted, percent
from harness.core.calls import Usage
from harness.core.failures import ErrorClass, RunState
from harness.method.method import Result
from harness.method.method_names import submission_number
from harness.run.events import EntryScored, Event, Failed, Finished, Progress, Started
from harness.run.following import Follower
from harness.store.run_list import LEAD, failures_by_run
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from harness.store.sqlite.openings import Floor
from rosetta_tui.report.paragraphs import line
from rosetta_tui.session.run_sources import resume_call
from rosetta_tui.show import figures
from rosetta_tui.show.figures import value
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.run_facts import failed_words
from rosetta_tui.show.text import plain
from scoring.core.inventory import short_title
from scoring.core.specification import TRANSLATIONS, KeptColumns, quality_tier

Print = Callable[[str], None]

EventT = TypeVar("EventT", bound=Event)

EVERY_SECONDS = 5.0  # time from one line of progress to the next
WIDEST_ID = 24  # cells that ids share at most; a longer one pushes its own line to the right


class PlainLines:
    """Prints one line per entry and a line of progress now and then.

    Texts are not printed: a log outlives the run, and an entry may be secret. Of a secret entry no number is printed
    either, nor the score so far where one is among them: the steps of that would reveal each. Why a run stopped is
    no result either: anyone who shows the run says it on standard error.
    """

    def __init__(self, write: Print, secret: Collection[int] = ()) -> None:
        self._write, self._secret = write, secret
        self._told = 0.0
        self._doing: str | None = None
        self._failure: tuple[ErrorClass | None, str | None] = (None, None)
        self._columns = TRANSLATIONS
        self._id_width = 0  # cells of the longest id so far; at first of the number of entries

    def __call__(self, event: Event) -> None:
        match event:
            case Started():
                self._columns = event.columns
                self._id_width = len(str(len(event.positions)))
                setup, dataset = event.setup, event.dataset
                names = (setup.method_name or setup.method, setup.model_slug, setup.condition)
                parts = (dataset.id, dataset.language_pair, *dict.fromkeys(names))  # equal ones once
                self._write(f"run {event.run_id}")
                self._write(plain(" · ".join(parts)) + f" · {counted(len(event.positions), 'entry', 'entries')}")
                if event.done:
                    stored = counted(event.done, "entry is", "entries are")
                    self._write(f"{stored} stored already and not asked for again")
            case EntryScored():
                self._scored(event.result)
            case Progress():
                self._progress(event)
            case Finished() if event.state is RunState.COMPLETE:
                self._write(finished_line(event))

    def _scored(self, result: Result) -> None:
        needed = min(WIDEST_ID, len(plain(str(result.entry_id))))
        self._id_width = max(self._id_width, needed)
        if result.position in self._secret:
            state = "done    " if result.error_class is None else "failed  "
            self._write(f"{state}{plain(str(result.entry_id)).rjust(self._id_width)}  secret")
            return
        failure = (result.error_class, result.error)
        if result.error_class is not None and failure == self._failure:
            result = replace(result, error="as the one before")
        self._failure = failure
        self._write(entry_line(result, self._id_width, self._columns))

    def _progress(self, event: Progress) -> None:
        if event.doing != self._doing:
            self._doing = event.doing
            if event.doing is not None:
                self._write(f"-- {plain(event.doing)}")
            return
        if event.elapsed_seconds - self._told < EVERY_SECONDS or event.state is RunState.COMPLETE:
            return
        self._told = event.elapsed_seconds
        hidden = replace(event, values={}, spread=None, answered={}, against=None)
        shown = hidden if self._secret else event
        self._write(progress_line(shown, self._columns))


def entry_line(result: Result, id_width: int = 0, columns: KeptColumns = TRANSLATIONS) -> str:
    """Return how one entry went, without its texts, in columns that stand below each other."""
    name = plain(str(result.entry_id)).rjust(id_width)
    if result.error_class is not None:
        return f"failed  {name}  {result.error_class}: {plain(result.error or '')}"
    parts = [f"done    {name}", *_scored(result, columns)]
    if result.total_tokens is not None:
        parts.append(f"{result.total_tokens:>6} tokens")
    parts.append(f"cost {figures.money(result.cost_usd):<7}")
    if result.cached:
        parts.append("from the cache")
    elif result.latency_seconds is not None:
        parts.append(f"{result.latency_seconds:6.2f} s")
    return "  ".join(parts).rstrip()


def _scored(result: Result, columns: KeptColumns) -> list[str]:
    """Return what the task shows of an entry; of translations the match and the tier in words."""
    if columns == TRANSLATIONS:
        chrf = f"chrF++ {figures.number(result.headline, 1):>5}"
        match = "exact" if result.exact else "variant" if result.third else "not exact"
        return [chrf, f"{match:<9}", f"{columns.tier(result.second):<10}"]
    values = columns.told(result.kept)
    return [f"{short_title(id_)} {value(id_, values[id_]):>5}" for id_ in columns.ids if id_ in values]


def progress_line(event: Progress, columns: KeptColumns = TRANSLATIONS) -> str:
    parts = [f"{event.done} of {event.total}"]
    if event.failed:
        parts.append(f"{event.failed} failed")
    if event.waiting:
        parts.append(f"{len(event.waiting)} waiting to be tried again")
    if (headline := event.values.get(columns.headline)) is not None:
        without = event.answered.get(columns.headline)
        answered = f" ({value(columns.headline, without)} without failed)" if without is not None else ""
        parts.append(f"{short_title(columns.headline)} {value(columns.headline, headline)}{answered}")
    if event.against is not None and (so_far := event.against.so_far) is not None:
        digits = figures.digits(event.against.metric)
        mean, lower, upper = (figures.signed(n, digits) for n in (so_far.mean, so_far.lower, so_far.upper))
        parts.append(f"against {event.against.run_id[:8]} {mean} ({lower} … {upper})")
    if event.spread is not None:
        mean, std = (value(columns.headline, n) for n in (event.spread.mean, event.spread.std))
        parts.append(f"mean {mean} ± {std}")
    parts.append(f"cost {figures.cost(event.cost_usd, event.known_cost_usd)}")
    if event.eta_seconds is not None:
        parts.append(f"{event.eta_seconds:.0f} s to go")
    return "-- " + ", ".join(parts)


def finished_line(event: Finished, submission: str = "") -> str:
    """Return how the run ended and what to do next; ``submission``: the number of that which was run."""
    failed = f", {event.failed} failed" if event.failed else ""
    if event.state is RunState.COMPLETE:
        return f"complete: {counted(event.total, 'entry', 'entries')}{failed} in {event.elapsed_seconds:.1f} s"
    why = f" {sentence(plain(event.reason))}" if event.reason else ""
    return (
        f"stopped: {event.done} of {event.total} entries are stored{failed}.{why} "
        f"`{resume_call(event.run_id, event.failed, submission, more_money=event.budget_reached)}` continues."
    )


def sentence(words: str) -> str:
    """End words of others with a full stop, so that ours can follow."""
    return words if words.endswith((".", "!", "?", "…")) else f"{words}."


class JsonLines:
    """Prints each event as one JSON object; texts and numbers of secret entries are withheld, and scores over them."""

    def __init__(self, write: Print, secret: Collection[int]) -> None:
        self._write, self._secret = write, secret
        self._columns = TRANSLATIONS
        self._floors: tuple[Floor, ...] = ()  # those told last; told again only when changed

    def __call__(self, event: Event) -> None:
        if isinstance(event, Started):
            self._columns, self._floors = event.columns, event.floors
        if isinstance(event, Progress):
            earlier, self._floors = self._floors, event.floors
            event = replace(event, floors=() if earlier == event.floors else event.floors)
        if isinstance(event, EntryScored):
            fields: JsonObject = {"run_id": event.run_id, **self._result(event.result)}
        else:
            fields = _as_json(without_secrets(event, self._secret))
        document: JsonObject = {"event": type(event).__name__, **fields}
        self._write(form_text("event", document, indent=None, default=_plain_value))

    def _result(self, result: Result) -> JsonObject:
        """Return the fields of a result under the names of a line, ``values`` where it is no translation."""
        own = asdict(replace(result, trace=()))
        own |= own["usage"] or {field.name: None for field in dataclass_fields(Usage)}
        fields = {_TOLD.get(name, name): own[name] for name in own if name not in _UNPRINTED}
        if self._columns == TRANSLATIONS:
            fields["equivalent"] = None if result.third is None else bool(result.third)
            fields["quality_tier"] = self._columns.tier(result.second)
        else:
            fields |= dict.fromkeys(_TOLD.values())
            fields |= {"quality_tier": quality_tier(None), "values": self._columns.told(result.kept)}
        if result.position not in self._secret:
            return fields
        fields = {name: f if name in _OF_SECRETS else None for name, f in fields.items()}
        fields |= {"quality_tier": quality_tier(None), "withheld": True}
        return fields | {"values": {}} if "values" in fields else fields


_OF_SECRETS = ("position", "entry_id", "cached", "batch_size", "attempts")
"""Fields of a result that say nothing of its outcome; when it was finished a method can choose, and speak by it."""


def without_secrets(event: EventT, secret: Collection[int]) -> EventT:
    """Return an event as it may leave: with any ``secret`` places no scores, and of a secret entry place and id alone."""
    if not secret:
        return event
    if isinstance(event, Progress):
        return replace(
            event, values={}, intervals={}, spread=None, claim=None, quality_tier="unscored",
            tokens=None, cost_usd=None, expected_cost_usd=None, p50_seconds=None, p95_seconds=None, floors=(),
            answered={}, against=None,
        )  # fmt: skip
    if isinstance(event, Started):
        return replace(event, floors=())
    if isinstance(event, EntryScored) and event.result.position in secret:
        kept = {name: getattr(event.result, name) for name in _OF_SECRETS}
        blank = Result(**kept, output=None, statistics=b"", headline=None, exact=False, second=None)
        return replace(event, result=blank)
    return event


_UNPRINTED = frozenset({"statistics", "usage", "trace"})  # fields of a result that no line has
_TOLD = {"headline": "chrf", "second": "composite", "third": "equivalent"}
"""What a line calls the kept values of a translation; null in lines about other tasks."""


_MAY_LACK = ("spread", "scoring", "floors", "answered", "against")  # parts of a line of progress that may be left out


def _as_json(event: Started | Progress | Finished | Failed) -> JsonObject:
    if not isinstance(event, Started):
        fields = asdict(event)
        if isinstance(event, Progress):
            asked = None if event.scoring is None else event.scoring.model_dump(mode="json")
            fields["scoring"] = asked
            fields["claim"] = None if event.claim is None else event.claim.record()
            fields = {name: field for name, field in fields.items() if field or name not in _MAY_LACK}
        return fields
    fields = {name: getattr(event, name) for name in ("run_id", "positions", "done", "missing")}
    return {
        **fields,
        "setup": event.setup.model_dump(mode="json"),
        "dataset": event.dataset.model_dump(mode="json"),
        "floors": [asdict(floor) for floor in event.floors],
        "budget_usd": event.budget_usd,
        "started_at": event.started_at,
        **({} if event.columns == TRANSLATIONS else {"columns": event.columns.names()}),
    }


def _plain_value(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


# ---- A run that has no card yet, as one page or as JSON: how far it is, its score so far, and how it continues ----


@dataclass(frozen=True, slots=True)
class UnfinishedRun:
    """All that the store knows of a run before its seal."""

    started: Started
    progress: Progress
    finished: Finished | None  # none while a process is at work on it
    failures: Mapping[str, int]  # class of failure → entries that failed so

    @property
    def goes_on_with(self) -> str | None:
        """The command that continues with it; None while it continues on its own."""
        if self.finished is None:
            return None
        more_money = self.finished.budget_reached
        setup, now = self.started.setup, self.progress
        number = submission_number(setup.method, setup.method_sha256)
        return resume_call(now.run_id, now.failed, number, more_money=more_money)


def read_unfinished(path: Path, run_id: str) -> UnfinishedRun:
    """Read where a run of a store stands now, in one look; nothing of it is changed."""
    with closing(Follower(path, run_id)) as follower:
        events = follower.drain()
    with opened(path) as connection:
        number = find_run(connection, run_id).id
        failures = failures_by_run(connection, [number]).get(number, {})
    [started] = [event for event in events if isinstance(event, Started)]
    [progress] = [event for event in events if isinstance(event, Progress)]
    ended = [event for event in events if isinstance(event, Finished)]
    return UnfinishedRun(started, progress, ended[0] if ended else None, failures)


def unfinished_lines(run: UnfinishedRun) -> Iterator[str]:
    """Yield the page: what it is, how far it is, the score so far, and what continues or would."""
    now, setup, dataset = run.progress, run.started.setup, run.started.dataset
    names = dict.fromkeys((setup.method_name or setup.method, setup.model_slug, setup.condition))
    yield line("run", now.run_id)
    yield line("corpus", dataset.id, dataset.language_pair)
    yield line("method", *names)
    share = f" ({percent(now.done / now.total)})" if now.total else ""
    parts = [f"{figures.count(now.done)} of {counted(now.total, 'entry', 'entries')}{share}"]
    if now.failed:
        parts.append(f"failed {failed_words(now.failed, run.failures)}")
    state = "stopped" if run.finished is not None else str(now.state)
    yield line("state", state, *parts)
    if run.finished is None:
        parts = [f"{len(now.in_flight)} under way", f"{len(now.waiting)} waiting to be tried again"]
        parts = [now.doing] if now.doing else parts
        yield line("continues", "on its own, in the process that began it", *parts)
    else:
        if run.finished.reason:
            yield line("why", sentence(run.finished.reason))
        yield line("continues with", str(run.goes_on_with))
    yield ""
    yield from _scores(now, run.started.columns)
    yield ""
    budget = "" if now.budget_usd is None else f"of {figures.money(now.budget_usd)} budget"
    yield line("cost so far", figures.cost(now.cost_usd, now.known_cost_usd), budget)
    yield line("time so far", figures.clock(now.elapsed_seconds))


def _scores(now: Progress, kept: KeptColumns) -> Iterator[str]:
    """Yield the scores so far: first what runs of the task are shown by, with its interval, then all others."""
    if not now.done:
        yield line("score so far", "no entry is in yet")
        return
    yield line("score so far", "of the entries that are in; it changes until the last one is")
    there = {name: number for name, number in now.values.items() if number is not None}
    first = [id_ for id_ in (LEAD if kept == TRANSLATIONS else (kept.headline,)) if id_ in there]
    for name in dict.fromkeys([*first, *there]):
        low, high = now.intervals.get(name, (None, None)) if name in first else (None, None)
        between = "" if low is None else f" ({value(name, low)}–{value(name, high)})"
        spread = now.spread if name == kept.headline else None
        spread_words = None if spread is None else f"mean {value(name, spread.mean)} ± {value(name, spread.std)}"
        without = now.answered.get(name) if name in first else None
        answered = None if without is None else f"without failed {value(name, without)}"
        yield line(f"  {short_title(name)}", f"{value(name, there[name])}{between}", spread_words, answered)


def unfinished_json(run: UnfinishedRun, *, inside: bool = False) -> JsonObject:
    """Return the same for programs, null where a metric has no value; ``inside``: nothing of how entries came out."""
    now, setup = run.progress, run.started.setup
    document: JsonObject = {
        "run_id": now.run_id,
        "complete": False,
        "state": "stopped" if run.finished is not None else str(now.state),
        "dataset_id": run.started.dataset.id,
        "language_pair": run.started.dataset.language_pair,
        "method": setup.method,
        "model_slug": setup.model_slug,
        "condition": setup.condition,
        "total": now.total,
        "done": now.done,
        "failed": now.failed,
        "failures": dict(run.failures),
        "under_way": len(now.in_flight),
        "waiting": len(now.waiting),
        "scores_so_far": dict(now.values),
        "intervals_so_far": {name: list(pair) for name, pair in now.intervals.items()},
        "cost_usd": now.cost_usd,
        "elapsed_seconds": now.elapsed_seconds,
        "reason": None if run.finished is None else run.finished.reason,
        "goes_on_with": run.goes_on_with,
    }
    return {**document, **_OF_INSIDE} if inside else document


_OF_INSIDE: Final[JsonObject] = {
    "failed": 0, "failures": {}, "scores_so_far": {}, "intervals_so_far": {}, "cost_usd": None, "elapsed_seconds": None,
}  # fmt: skip
"""What a run whose numbers stay inside tells in place of its outcome."""
