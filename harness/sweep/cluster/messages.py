"""What a run's process here and a worker elsewhere tell each other: JSON of fixed fields, read with limits.

The process here sends one ``JobSpec``, and from then on a ``CoordinatorMessage`` for each ``WorkerReport`` that comes back. No reference,
no key and no secret entry is in any of them. What a worker sends is data alone: whatever does not have this very form
is refused.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from corpora.model.corpus import entry_fields
from corpora.model.entry import AnyEntry, Entry, OpenEntry
from corpora.model.vocabularies import Transmission
from harness.core.calls import Reply, Usage
from harness.core.failures import ErrorClass, HarnessError, RunState
from harness.method.method import Attempt, Output, Result, Setup, sound
from harness.method.options import MethodOptions
from harness.setup.plan import RunOptions
from harness.store.replies import StoredReply

MOST_BYTES = 256 * 2**20  # Of one message
MOST_WORDS = 2000  # Characters of a reason
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, lt=2**53)]
Key = Annotated[bytes, Field(min_length=16, max_length=16)]


class MessageError(HarnessError):
    """A worker sent something that is no message of this program."""


class Message(BaseModel):
    """JSON of these fields and no others; bytes are written in base64."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")

    def packed(self) -> bytes:
        """Return the message as it travels; MessageError where it is too long."""
        data = self.model_dump_json().encode()
        if len(data) > MOST_BYTES:
            raise MessageError(
                f"What has to be told has {len(data) / 2**20:.0f} MiB, and {MOST_BYTES / 2**20:.0f} MiB at most go to or "
                "from a worker. Run it without --scheduler, or over fewer entries."
            )
        return data


SomeMessage = TypeVar("SomeMessage", bound=Message)


def unpacked(kind: type[SomeMessage], data: object) -> SomeMessage:
    """Read a message; MessageError where it is too long or has another form."""
    if not isinstance(data, bytes) or len(data) > MOST_BYTES:
        raise MessageError(f"A {kind.__name__} is not bytes, or longer than {MOST_BYTES:,}.")
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part)[:40] for part in first["loc"])
        raise MessageError(f"A {kind.__name__} has another form than this version knows (field {place!r}).") from None


class SentFile(Message):
    """A file that a method names, which is needed where it is made."""

    option: str
    """Name of the option."""
    name: Annotated[str, Field(pattern=r"^[^/\\\x00]{1,255}$")]
    data: bytes


class JobSpec(Message):
    """What a worker needs to make the method of a run; no text of the corpus is in it."""

    run_id: str
    method: str
    options: MethodOptions
    run: RunOptions
    files: tuple[SentFile, ...]
    begun_with: Count
    """Calls that may be under way at first."""
    spent: Amount
    """What the run paid before, in US dollars."""
    held: Amount | None
    """What it holds of the sweep's budget; None where there is none."""
    earlier: bool
    """Whether the run has outputs already."""
    transmission: Transmission
    """Where the texts may go, as home was cleared for it."""
    endpoints: tuple[str, ...]


class SentEntry(Message):
    """An entry as a method may see it: without its reference."""

    position: Count
    fields: dict[str, JsonValue]

    @classmethod
    def of(cls, position: int, entry: OpenEntry) -> SentEntry:
        """Return what is sent of an entry."""
        fields = entry_fields(entry.question())
        return cls(position=position, fields=json.loads(json.dumps(fields)))

    def entry(self, task: str) -> Entry:
        """Return the entry; its reference is empty."""
        entry = Entry.model_validate({"reference": "", **self.fields})
        return entry.model_copy(update={"of_task": task})


class SentReply(Message):
    """A reply that was kept, or is found again; see ``harness.store.replies``."""

    key: Key
    body: str
    """JSON of the request."""
    text: str
    usage: Usage | None
    model_id: str | None
    finish_reason: str | None
    reported_cost_usd: Amount | None
    tool_calls: str
    """JSON of a list."""
    latency_seconds: Amount
    cost_usd: Amount | None

    @classmethod
    def of(cls, stored: StoredReply) -> SentReply:
        """Return what is sent of a reply."""
        reply = stored.reply
        return cls(
            key=stored.key,
            body=json.dumps(stored.body),
            text=reply.text,
            usage=reply.usage,
            model_id=reply.model_id,
            finish_reason=reply.finish_reason,
            reported_cost_usd=reply.reported_cost_usd,
            tool_calls=json.dumps(list(reply.tool_calls)),
            latency_seconds=stored.latency_seconds,
            cost_usd=stored.cost_usd,
        )

    @property
    def stored(self) -> StoredReply:
        """The reply; MessageError where its request or its tool calls are none."""
        body, calls = _decoded(self.body), _decoded(self.tool_calls)
        if not isinstance(body, dict | list):
            raise MessageError("A reply's request is no object and no list.")
        if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
            raise MessageError("A reply's tool calls are no list of objects.")
        reply = Reply(self.text, self.usage, self.model_id, self.finish_reason, self.reported_cost_usd, tuple(calls))
        return StoredReply(reply, self.latency_seconds, self.cost_usd, self.key, body)


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise MessageError("A reply holds something that is no JSON.") from None


class SentRow(Message):
    """What a method made of an entry, and what it took; see ``harness.method.method.Result``."""

    position: Count
    output: str | None
    raw: str | None
    error_class: ErrorClass | None
    error: str | None
    trace: tuple[Attempt, ...]
    latency_seconds: Amount | None
    cached: bool
    batch_size: Annotated[int, Field(ge=1, le=500)]
    usage: Usage | None
    cost_usd: Amount | None
    spent_usd: Amount | None

    @classmethod
    def of(cls, result: Result) -> SentRow:
        """Return what is sent of a result."""
        fields = {name: getattr(result, name) for name in cls.model_fields}
        return cls.model_construct(**fields)

    def result(self, entry: AnyEntry, finished_at: float) -> Result:
        """Return the result of an entry; what the worker's clock said of it does not count."""
        sent = Output(self.output, self.error_class, self.error, raw=self.raw)
        [output] = sound([sent], 1)
        return Result(
            **{
                **dict(self),
                "entry_id": entry.id,
                "output": output.text,
                "raw": output.raw,
                "error_class": output.error_class,
                "error": output.error,
                "finished_at": finished_at,
            }
        )


class WorkerQuestion(Message):
    """What a worker must hear before it continues."""

    number: Count
    kind: Literal["secure", "take", "find"]
    """That the money committed by now is on the disk; more of the sweep's budget; an earlier reply."""
    wanted: Amount = 0.0
    spent: Amount | None = None
    """As in ``harness.endpoint.budget.CallBudget.take``."""
    key: Key | None = None


class CoordinatorAnswer(Message):
    """The answer to what a worker asked."""

    number: Count
    taken: bool | None = None
    held: Amount = 0.0
    budget: float = 0.0
    others: float = 0.0
    reply: SentReply | None = None


class WorkerBegin(Message):
    """The first thing that a worker says: where it is, and which method it would be."""

    address: str
    setup: Setup


class WorkerEnd(Message):
    """The last thing that a worker says."""

    reason: str | None = None
    """Why the run stopped on its own; None where it did not."""
    budget_reached: bool = False


class WorkerReport(Message):
    """What is new at a worker."""

    attempt: str
    """Other than before where Dask began the work again on another worker."""
    serial: Count
    begin: WorkerBegin | None = None
    rows: tuple[SentRow, ...] = ()
    replies: tuple[SentReply, ...] = ()
    committed: Amount = 0.0
    """What was spent since it began, and what calls under way may cost, in US dollars."""
    in_flight: tuple[Count, ...] = ()
    rate_limited: Count = 0
    retries: Count = 0
    limit: Count = 1
    told_to_wait: Amount | None = None
    """Seconds for which the endpoint asked for no calls, since the last report; None where it did not."""
    asks: tuple[WorkerQuestion, ...] = ()
    end: WorkerEnd | None = None


class StartWork(Message):
    """What a worker gets once it is known which it is: the entries to be translated, in order."""

    entries: tuple[SentEntry, ...]
    known: tuple[Key, ...]
    """Keys of the replies that the store here has."""


class CoordinatorMessage(Message):
    """What the process here says to a report."""

    attempt: str | None = None
    """Whom it is meant for: who began the work after a lost worker leaves it unheard. None: anyone who has the work."""
    heard: Count
    """Serial of the last report that was imported."""
    state: RunState
    most: int | None = None
    go: StartWork | None = None
    answers: tuple[CoordinatorAnswer, ...] = ()
