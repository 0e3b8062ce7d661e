"""What earlier runs of this store, and the method's own requests, tell about a run that is planned.

Earlier runs tell tokens, money and seconds an entry. Where nobody has counted the tokens of a text they are
guessed, with bounds: every model parts text in its own way. A token is about four letters of English, two to
three of other Latin writing, and a letter of a script that is rare in training data may be several tokens, one a
byte at worst.

What a method will send is seen before anything is sent, for previews and estimates: the method itself writes its
requests, and they are caught on their way out. So what is shown is what will go over the wire, and no second
copy of the prompt's rules can drift from the first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from math import ceil
from typing import Any, cast

from corpora.model.entry import Entry, open_entry, reveal_here
from harness.annotators.judges import JUDGES, make_judge
from harness.core.calls import Price, Reply, Request, Usage
from harness.core.failures import CallError
from harness.endpoint.endpoints import no_key
from harness.method.method import Method, Output, Setup
from harness.setup.plan import Plan, plan_of
from harness.shipped_methods.api import Api
from harness.shipped_methods.baselines import Constant, CopySource, Glossary, Replay
from harness.shipped_methods.chat import Chat
from harness.shipped_methods.pipeline import Pipeline
from harness.store.corpora.entries import read_entries
from harness.store.live_runs import elapsed_seconds
from harness.store.replies import find_reply, request_key
from harness.store.runs import Run, read_run
from harness.store.sqlite.sealing import StoreSealed
from harness.store.sqlite.trouble import unpacks
from scoring.core.inventory import read_by
from scoring.core.setup import Translation


class _Caught(Exception):  # noqa: N818  no error: the way by which a request comes back out of a method
    def __init__(self, request: Request) -> None:
        self.request = request


class _Catching:
    """Is instead of whatever carries calls, and carries none."""

    async def send(self, request: Request) -> Reply:
        raise _Caught(request)


def shows_requests(method: Method) -> bool:
    """Return whether a method's requests can be seen ahead; a plug-in might do anything on the way to one."""
    return isinstance(method, Chat | Pipeline | Api)


def first_request(method: Method, entries: Sequence[Entry]) -> Request | None:
    """Return the first request that a method makes for entries of one call; None where it makes none.

    ``entries`` are at most ``setup.batch_size``. Nothing is sent, and nothing is awaited.
    """
    if not shows_requests(method):
        return None
    coroutine = cast("Coroutine[Any, Any, object]", method.translate(entries, _Catching()))
    try:
        coroutine.send(None)
    except _Caught as caught:
        return caught.request
    except StopIteration:
        return None
    coroutine.close()
    return None


class _FromStore:
    """Answers calls from the store, and breaks off where the answer is not there."""

    def __init__(self, connection: sqlite3.Connection, entries: Sequence[Entry], method: str) -> None:
        self._connection = connection
        self._entries = entries
        self._method = method

    async def send(self, request: Request) -> Reply:
        reply = stored_reply(self._connection, request, self._entries, self._method)
        if reply is None:
            raise _Caught(request)
        return reply


def stored_reply(
    connection: sqlite3.Connection, request: Request, entries: Sequence[Entry], method: str
) -> Reply | None:
    """Return the reply that a run would take from the store instead of asking; None where it would ask.

    ``method`` is that of a run, or the id of a question about its outputs.
    """
    if not request.cacheable or not all(map(open_entry, entries)):
        return None
    reply = find_reply(connection, request_key(request, method))
    return reply.reply if reply is not None and request.accept(reply.reply) else None


def outputs_ahead(connection: sqlite3.Connection, method: Method, entries: Sequence[Entry]) -> Sequence[Output] | None:
    """Return what a method will answer to entries of one call, where that is known before it is asked.

    It is of outputs made elsewhere, of baselines, and of calls whose answers are in the store; None otherwise.
    """
    known = isinstance(method, Replay | CopySource | Constant | Glossary)
    if not known and not shows_requests(method):
        return None
    coroutine = method.translate(entries, _FromStore(connection, entries, method.setup.method))
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast("Sequence[Output]", done.value)
    except (_Caught, CallError):
        return None
    coroutine.close()
    return None


def groups(entries: Sequence[Entry], size: int) -> list[Sequence[Entry]]:
    """Split entries into those that go in one call, as a run does."""
    return [entries[start : start + size] for start in range(0, len(entries), size)]


MOST_RUNS = 5  # Earlier runs that are examined, the newest first
MOST_ENTRIES = 400  # Entries of one earlier run that are examined


@dataclass(frozen=True, slots=True)
class PastEntry:
    """One entry of an earlier run: what was measured, beside what would have been guessed."""

    prompt: int
    completion: int
    cost: float | None
    guessed_prompt: float
    guessed_completion: float


@dataclass(frozen=True, slots=True)
class EarlierPace:
    """How fast an earlier run was."""

    seconds: float
    """Wall-clock time over the entries that were not answered from the store."""
    answering: float
    """Seconds an entry that the endpoint alone took, calls shared by several entries separated among them."""
    entries: int
    at_once: int
    """Most calls that it could have under way."""


@dataclass(slots=True)
class Earlier:
    """What is known from earlier runs."""

    same: bool
    """True where they had the very setup of the planned run; else only method and model are the same."""
    runs: int = 0
    entries: list[PastEntry] = field(default_factory=list)
    paces: list[EarlierPace] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)
    """Of each run: calls an entry."""


def look_back(connection: sqlite3.Connection, method: Method) -> Earlier | None:
    """Find what earlier runs with the same setup tell, else those of the same method and model.

    None where there is none. Runs imported as cards tell nothing of their pace and are left out.
    """
    setup = method.setup

    def asked(setup: Setup) -> Setup:
        """Omit what labels an experiment and changes nothing of what is sent."""
        return setup.model_copy(update={"condition": "", "replicate": 0})

    rows = connection.execute(
        "SELECT id, setup FROM runs WHERE model_slug = ? AND imported IS NULL AND put_away IS NULL"
        " AND json_extract(setup, '$.method') = ? AND json_extract(setup, '$.provider') IS ?"
        " AND EXISTS (SELECT 1 FROM results r WHERE r.run = runs.id AND r.error_class IS NULL)"
        " ORDER BY created DESC, id DESC",
        (setup.model_slug, setup.method, setup.provider),
    ).fetchall()
    read = unpacks(Setup.model_validate_json)
    same = [number for number, stated in rows if asked(read(stated)) == asked(setup)]
    chosen = (same or [number for number, _ in rows])[:MOST_RUNS]
    if not chosen:
        return None
    earlier = Earlier(same=bool(same))
    for number in chosen:
        run = read_run(connection, number)
        earlier.runs += 1
        with suppress(StoreSealed):  # a vault is not opened for an estimate of another run
            earlier.entries += [*_seen(connection, run, method, same=earlier.same)]
        fresh, calls, answering = connection.execute(
            "SELECT count(*), coalesce(sum(attempts), 0), coalesce(sum(latency_seconds / batch_size), 0)"
            " FROM results WHERE run = ? AND NOT cached",
            (run.id,),
        ).fetchone()
        if fresh:
            plan = plan_of(run)
            pace = elapsed_seconds(connection, run.id) / fresh
            earlier.paces.append(EarlierPace(pace, answering / fresh, fresh, plan.run.concurrency))
            earlier.calls.append(calls / fresh / run.setup.batch_size)
    return earlier


def _seen(connection: sqlite3.Connection, run: Run, method: Method, *, same: bool) -> Iterator[PastEntry]:
    rows = connection.execute(
        "SELECT position, prompt_tokens, completion_tokens, cost_usd FROM results"
        " WHERE run = ? AND prompt_tokens IS NOT NULL AND error_class IS NULL"
        " ORDER BY position LIMIT ?",
        (run.id, MOST_ENTRIES),
    ).fetchall()
    read = read_entries(connection, run.corpus, [row[0] for row in rows])
    entries = reveal_here(read[row[0]] for row in rows)
    prompts = _guessed(run, entries, method if same else None)
    for (_, prompt, completion, cost), entry, guessed in zip(rows, entries, prompts, strict=True):
        expected = guess(entry.reference).expected
        yield PastEntry(prompt, completion or 0, cost, guessed, expected)


def _guessed(run: Run, entries: Sequence[Entry], method: Method | None) -> list[float]:
    """Guess the prompt of each entry as it would be guessed now, or from what the run keeps of it."""
    if method is not None:
        guessed: list[float] = []
        for group in groups(entries, run.setup.batch_size):
            request = first_request(method, group)
            whole = 0.0 if request is None else guess_request(request).expected
            guessed += [whole / len(group)] * len(group)
        return guessed
    around = guess(run.setup.system_prompt_used or "").expected / run.setup.batch_size
    return [around + guess(entry.source).expected for entry in entries]


@dataclass(frozen=True, slots=True)
class Range:
    """An amount that is not known exactly: at least, most likely, at most."""

    low: float
    expected: float
    high: float

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def times(self, factor: float) -> Range:
        """Multiply by what is known exactly."""
        return Range(self.low * factor, self.expected * factor, self.high * factor)

    def by(self, other: Range) -> Range:
        """Multiply by what is not known exactly either."""
        return Range(self.low * other.low, self.expected * other.expected, self.high * other.high)


NOTHING = Range(0.0, 0.0, 0.0)
_ASCII = (1 / 5, 1 / 3.6, 1 / 2)  # Tokens of a letter of ASCII
_OTHER = (0.3, 0.5, 1.0)  # Tokens of a byte of any other letter
_AROUND = 5  # Tokens that a chat template puts around a message


def guess(text: str) -> Range:
    """Guess the tokens of a text."""
    content = text.encode("utf-8", "surrogatepass")
    ascii_ = sum(byte < 128 for byte in content) if len(content) > len(text) else len(content)
    other = len(content) - ascii_
    low, expected, high = (a * ascii_ + o * other for a, o in zip(_ASCII, _OTHER, strict=True))
    return Range(low, expected, high)


def guess_request(request: Request) -> Range:
    """Guess the prompt tokens of a request to a model: its messages, and the tools that it declares."""
    body = request.body
    if not isinstance(body, Mapping):
        return NOTHING
    total = NOTHING
    for message in body.get("messages", ()):
        content = message.get("content")
        words = content if isinstance(content, str) else ""
        total = total + guess(words) + Range(_AROUND, _AROUND, _AROUND)
    return total + guess(repr(body["tools"])) if body.get("tools") else total


def priced(price: Price, read: Range, written: Range, characters: int = 0) -> Range:
    """Return what a number of tokens costs at a price."""
    ends = zip(astuple(read), astuple(written), strict=True)
    costs = [price.cost(Usage(round(a), round(b)), characters) for a, b in ends]
    return Range(*costs)


# ---- What judges will take for a run's outputs: their prompts with the outputs that are known,
# else with the references.

MOST_LOOKED_AT = 200
"""Entries whose prompts are written out; of more, that many spread evenly stand for all."""

WRITTEN = Range(20, 80, 400)  # Tokens of a judgement


@dataclass(frozen=True, slots=True)
class JudgeEstimate:
    """What judges will take; what was judged before costs nothing."""

    model: str
    calls: Range
    cost_usd: Range | None  # US dollars; None: the price is unknown
    judged: int = 0  # Judgements that are in the store already and are not asked for again


def estimate_judges(
    connection: sqlite3.Connection, entries: Sequence[Entry], method: Method, plan: Plan
) -> JudgeEstimate | None:
    """Estimate what judging the outputs of these entries takes; None where no judge is asked.

    Of an output that is not known yet a judgement may be there already, or not be asked for: its calls are the most
    that there can be.
    """
    scoring = plan.scoring
    asked = [id_ for id_ in JUDGES if read_by(id_, scoring.wanted)]
    if scoring.judge is None or not asked or not entries:
        return None
    looked = list(_looked_at(connection, entries, method, use_cache=plan.run.use_cache))
    scale = len(entries) / len(looked)
    sure: list[Request] = []
    perhaps: list[Request] = []
    judged = 0
    for id_ in asked:
        judge = make_judge(id_, scoring.judge, scoring.judge_model, key=no_key, prices=plan.options.prices)
        for translation, known in looked:
            for request in judge.requests(translation):
                if not known:
                    perhaps.append(request)
                elif plan.run.use_cache and stored_reply(connection, request, [translation.entry], id_):
                    judged += 1
                else:
                    sure.append(request)
    every = [*sure, *perhaps]
    least, most = (sum(map(guess_request, asked), NOTHING) for asked in (sure, every))
    read = Range(least.low, most.expected, most.high).times(scale)
    calls = Range(len(sure) * scale, len(every) * scale, len(every) * scale)
    cost: Range | None = NOTHING
    if every:
        price = every[0].price
        cost = None if price is None else priced(price, read, WRITTEN.by(calls))
    return JudgeEstimate(scoring.judge_model or "", calls, cost, round(judged * scale))


def _looked_at(
    connection: sqlite3.Connection, entries: Sequence[Entry], method: Method, *, use_cache: bool
) -> Iterator[tuple[Translation, bool]]:
    """Yield outputs of entries spread evenly, and whether each is known; in place of others stand references."""
    every = groups(entries, method.setup.batch_size)
    for group in every[:: max(1, ceil(len(entries) / MOST_LOOKED_AT))]:
        outputs = outputs_ahead(connection, method, group) if use_cache or not method.endpoint else None
        nothing: list[Output | None] = [None] * len(group)
        for entry, output in zip(group, outputs or nothing, strict=True):
            text = (entry.reference or "-") if output is None else (output.text or "")
            yield Translation(entry, text), output is not None
