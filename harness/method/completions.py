"""The chat-completions shape that most model servers speak: what is sent, and how a reply is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from corpora.files.json_types import Json, JsonObject
from corpora.text.model_reply import answer_text
from harness.core.calls import Ending, Price, Reply, Request
from harness.core.failures import CallError, ErrorClass, NoCredit, RateLimited, Refused, Transient
from harness.core.storage import storable
from harness.endpoint.budget import bounded
from harness.endpoint.endpoints import Endpoint
from harness.endpoint.reply import error_words, reported_cost, stated_words, usage
from harness.method.method import Output

Message = JsonObject
"""A message of a chat, as the endpoint reads it."""


@dataclass(frozen=True, slots=True)
class Completions:
    """What all calls of a run have in common."""

    endpoint: Endpoint
    model: str
    temperature: float | None
    max_tokens: int | None
    body: JsonObject  # More parameters, from the user
    key: str | None = field(repr=False)
    price: Price | None
    replicate: int

    def request(
        self,
        messages: Sequence[Message],
        *,
        accept: Callable[[Reply], bool],
        tools: JsonObject | None = None,
    ) -> Request:
        """Make one call; the same messages always give the same bytes, so that the cache finds them.

        ``accept`` tells which replies answer the messages.
        """
        return Request(
            provider=self.endpoint.name,
            url=f"{self.endpoint.url}/chat/completions",
            body={**self._body(messages), **(tools or {})},
            read=read_completion,
            accept=accept,
            headers={"Authorization": f"Bearer {self.key}"} if self.key else {},
            price=self.price,
            most_completion_tokens=self.max_tokens,
            replicate=self.replicate,
        )

    def check_budget(self) -> None:
        bounded(self.price, self.max_tokens)

    def _body(self, messages: Sequence[Message]) -> dict[str, Json]:
        body: dict[str, Json] = {"model": self.model, "messages": list(messages)}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.max_tokens is not None:
            body[self.endpoint.output_limit] = self.max_tokens
        return {**body, **self.endpoint.body, **self.body}


def read_completion(reply: Any) -> Reply:
    """Convert a decoded 2xx reply into a Reply.

    Raises CallError for an error that comes with status 200, and Transient for any other shape or an answer
    that a fault of the server broke off.
    """
    if not isinstance(reply, Mapping):
        raise Transient(ErrorClass.MALFORMED, "The reply is no JSON object.")
    if reply.get("error"):
        raise provider_error(reply["error"])
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, Mapping) and choice.get("error"):
        raise provider_error(choice["error"])
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        if "choices" not in reply and stated_words(reply):
            raise provider_error(reply)
        raise Transient(ErrorClass.MALFORMED, "The reply holds no message.")
    model = reply.get("model")
    read = Reply(
        text=_content(message.get("content")),
        usage=usage(reply),
        model_id=model if isinstance(model, str) and model else None,
        finish_reason=_finish_reason(choice, message),
        reported_cost_usd=reported_cost(reply),
        tool_calls=_tool_calls(message.get("tool_calls")),
    )
    if read.ending is Ending.BROKEN:
        failure = Transient(ErrorClass.SERVER, "The endpoint broke the answer off")
        failure.said = f": finish reason {storable(read.finish_reason or '')[:40]!r}."
        raise failure
    return read


def _content(content: Any) -> str:
    """Read the text of a message: a text, null, or a list of parts of which some are text."""
    if content is None:
        return ""
    if isinstance(content, Mapping):
        content = [content]
    if isinstance(content, list):
        content = "".join(map(_part, content))
    if not isinstance(content, str):
        raise Transient(ErrorClass.MALFORMED, "The content of the reply's message is no text.")
    return storable(content)


_TEXT_PARTS: Final = ("", "text", "output_text")
"""Types of a part that belongs to the answer; every other is reasoning, a refusal, a call of a tool or media."""


def _part(part: Any) -> str:
    """Return the text of one part of a message's content, "" if it is no part of the answer."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or str(part.get("type") or "").lower() not in _TEXT_PARTS or part.get("thought"):
        return ""
    text = part.get("text", part.get("content"))
    text = text.get("value") if isinstance(text, Mapping) else text
    return text if isinstance(text, str) else ""


def _finish_reason(choice: JsonObject, message: JsonObject) -> str | None:
    """Read why the model stopped; a refusal in a field or its own part counts as filtered."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    refused = message.get("refusal") or any(
        isinstance(part, Mapping) and part.get("type") == "refusal" for part in parts
    )
    if refused and not (content if isinstance(content, str) else "".join(map(_part, parts))):
        return "content_filter"
    reason = choice.get("finish_reason")
    return reason if reason is None or isinstance(reason, str) else str(reason)[:100]


def _tool_calls(calls: Any) -> tuple[JsonObject, ...]:
    if calls is None:
        return ()
    well_formed = isinstance(calls, list) and all(
        isinstance(call, Mapping) and isinstance(call.get("id"), str) and isinstance(call.get("function"), Mapping)
        for call in calls
    )
    if not well_formed:
        raise Transient(ErrorClass.MALFORMED, "The reply's tool calls have another shape.")
    return tuple(calls)


_KINDS = {401: ErrorClass.AUTH, 403: ErrorClass.AUTH, 408: ErrorClass.TIMEOUT, 504: ErrorClass.TIMEOUT}


def provider_error(error: Any) -> CallError:
    """Convert an error object that came with status 200 into the failure that its code means.

    The code is no HTTP status: the endpoint answered, and may have charged.
    """
    fields = error if isinstance(error, Mapping) else {}
    code = _code(fields.get("code"))
    failure = _named(code, f"The provider answered with error {code or 'without a code'}", fields)
    failure.said = f": {storable(detail)}" if (detail := error_words(error)) else "."
    return failure


def _named(code: int | None, words: str, fields: Mapping[str, Any]) -> CallError:
    details = fields.get("metadata")
    if code == 403 and isinstance(details, Mapping) and details.get("reasons"):
        return Refused(ErrorClass.FILTERED, words)
    if code == 402:
        return NoCredit(ErrorClass.REQUEST, words)
    if code == 429:
        return RateLimited(words)
    kind = _KINDS.get(code or 500)
    if code is not None and 400 <= code < 500 and code != 408:
        return Refused(kind or ErrorClass.REQUEST, words)
    return Transient(kind or ErrorClass.SERVER, words)


def _code(code: Any) -> int | None:
    """Read an HTTP status from an error's code, which may be a number, its digits, or a word."""
    text = str(code)
    return int(text) if text.isascii() and text.isdigit() and len(text) == 3 else None


def output_of(reply: Reply, notes: tuple[str, ...] = ()) -> Output:
    """Convert a reply into an entry's output, or into the reason why it is none.

    A reply cut at a limit or stopped by a filter is a failure, however fluent its beginning; asking the same
    again would be cut again, so it is not retried.
    """
    error_class, error = _ENDINGS.get(reply.ending, (None, None))
    if error_class is not None:
        return Output(None, error_class, error, notes)
    text = answer_text(reply.text)
    if text is None:
        words = "The model's reasoning has no end, so that it gave no answer. Raise --max-tokens."
        return Output(None, ErrorClass.EMPTY, words, notes)
    if not text:
        return Output(None, ErrorClass.EMPTY, "The answer is empty.", notes)
    return Output(text, notes=notes)


_ENDINGS: Final = {
    Ending.CUT: (ErrorClass.TRUNCATED, "The answer was cut at the output limit. Raise --max-tokens."),
    Ending.FILTERED: (ErrorClass.FILTERED, "The provider's filter stopped the answer."),
    Ending.BROKEN: (ErrorClass.SERVER, "The endpoint broke the answer off."),
}
"""Why an answer that ended so is none."""


def answers_alone(reply: Reply) -> bool:
    """Return whether the reply holds one text's translation."""
    return reply.complete and output_of(reply).text is not None
