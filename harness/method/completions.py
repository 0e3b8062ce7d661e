"""The chat-completions shape that most model servers speak: what is sent, and how a reply is read.

Takes off a reply only what is provably wrapping, so that no method is flattered or hurt by it.

Quotation marks, introductions (“Here is the translation:”) and everything else stay and are scored:
whether they belong to the translation cannot be told from outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from harness.core.calls import Price, Reply, Request
from harness.core.failures import CallError, ErrorClass, NoCredit, RateLimited, Refused, Transient
from harness.core.storage_problems import storable
from harness.endpoint.budget import bounded
from harness.endpoint.endpoints import Endpoint
from harness.endpoint.usage import reported_cost, usage
from harness.method.method import Output

_THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
_FENCE = re.compile(r"\A```[^\n`]*\n(?P<inside>.*?)\n?```\Z", re.DOTALL)


def cleaned(reply: str) -> str:
    """Return the reply without reasoning at its head, one code fence around all of it, outer white space.

    Reasoning is a leading ``<think>…</think>``, also where a chat template has already opened it.
    Reasoning that never ends leaves nothing: the answer was not reached.
    """
    text = _THOUGHT.sub("", reply)
    head, closed, tail = text.partition("</think>")
    if closed and "<think>" not in head:
        text = tail
    text = text.strip()
    fenced = _FENCE.match(text)
    if fenced and "```" not in fenced["inside"]:
        return fenced["inside"].strip()
    return text


Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Completions:
    """What all calls of a run have in common."""

    endpoint: Endpoint
    model: str
    temperature: float | None
    max_tokens: int | None
    body: Mapping[str, Any]
    """More parameters, from the user."""
    key: str | None = field(repr=False)
    price: Price | None
    replicate: int

    def request(
        self,
        messages: Sequence[Message],
        *,
        secret: bool,
        accept: Callable[[Reply], bool],
        tools: Mapping[str, Any] | None = None,
    ) -> Request:
        """Make one call; the same messages always give the same bytes, so that the cache finds them.

        ``accept`` tells which replies answer the messages. A secret entry's call is not cached, and the
        provider's words about it are not repeated.
        """
        return Request(
            provider=self.endpoint.name,
            url=f"{self.endpoint.url}/chat/completions",
            body=self._body(messages) | dict(tools or {}),
            read=partial(read_completion, quote=not secret),
            accept=accept,
            headers={"Authorization": f"Bearer {self.key}"} if self.key else {},
            price=self.price,
            most_completion_tokens=self.max_tokens,
            replicate=self.replicate,
            cacheable=not secret,
        )

    def check_budget(self) -> None:
        """See ``Priced``."""
        bounded(self.price, self.max_tokens)

    def _body(self, messages: Sequence[Message]) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model, "messages": list(messages)}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.max_tokens is not None:
            body[self.endpoint.output_limit] = self.max_tokens
        return body | self.endpoint.body | dict(self.body)


def read_completion(reply: Any, *, quote: bool = True) -> Reply:
    """Turn a decoded 2xx reply into a Reply.

    Raises CallError for an error that comes with status 200, and Transient for any other shape.
    ``quote`` False keeps the provider's own words, which may repeat the text, out of the message.
    """
    if not isinstance(reply, Mapping):
        raise Transient(ErrorClass.MALFORMED, "The reply is no JSON object.")
    if reply.get("error"):
        raise provider_error(reply["error"], quote=quote)
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, Mapping) and choice.get("error"):
        raise provider_error(choice["error"], quote=quote)
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise Transient(ErrorClass.MALFORMED, "The reply holds no message.")
    model = reply.get("model")
    return Reply(
        text=_content(message.get("content")),
        usage=usage(reply),
        model_id=model if isinstance(model, str) and model else None,
        finish_reason=_finish_reason(choice, message),
        reported_cost_usd=reported_cost(reply),
        tool_calls=_tool_calls(message.get("tool_calls")),
    )


def _content(content: Any) -> str:
    """Read the text of a message: a text, null, or a list of parts of which some are text."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        content = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str):
        raise Transient(ErrorClass.MALFORMED, "The content of the reply's message is no text.")
    return storable(content)


def _finish_reason(choice: Mapping[str, Any], message: Mapping[str, Any]) -> str | None:
    """Read why the model stopped; a refusal in a field of its own counts as filtered."""
    if message.get("refusal") and not message.get("content"):
        return "content_filter"
    reason = choice.get("finish_reason")
    return reason if isinstance(reason, str) else None


def _tool_calls(calls: Any) -> tuple[Mapping[str, Any], ...]:
    if calls is None:
        return ()
    well_formed = isinstance(calls, list) and all(
        isinstance(call, Mapping)
        and isinstance(call.get("id"), str)
        and isinstance(call.get("function"), Mapping)
        for call in calls
    )
    if not well_formed:
        raise Transient(ErrorClass.MALFORMED, "The reply's tool calls have another shape.")
    return tuple(calls)


_KINDS = {
    401: ErrorClass.AUTH,
    403: ErrorClass.AUTH,
    408: ErrorClass.TIMEOUT,
    504: ErrorClass.TIMEOUT,
}


def provider_error(error: Any, *, quote: bool) -> CallError:
    """Turn an error object that came with status 200 into the failure that its code stands for.

    The code is no HTTP status: the endpoint answered, and may have charged.
    """
    fields = error if isinstance(error, Mapping) else {"message": error}
    code = _code(fields.get("code"))
    said = fields.get("message") if quote else None
    words = f"The provider answered with error {code or 'without a code'}"
    words += f": {storable(said)}" if isinstance(said, str) else "."
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
    """Turn a reply into an entry's output, or into the reason why it is none.

    A reply cut at the output limit or stopped by a filter is a failure, however fluent its beginning;
    asking the same again would be cut again, so it is not retried.
    """
    if reply.finish_reason == "length":
        return Output(
            None,
            ErrorClass.TRUNCATED,
            "The answer was cut at the output limit. Raise --max-tokens.",
            notes,
        )
    if reply.finish_reason == "content_filter":
        return Output(None, ErrorClass.FILTERED, "The provider's filter stopped the answer.", notes)
    text = cleaned(reply.text)
    if not text:
        return Output(None, ErrorClass.EMPTY, "The answer is empty.", notes)
    return Output(text, notes=notes)


def answers_alone(reply: Reply) -> bool:
    """Tell whether the reply holds one text's translation."""
    return reply.complete and output_of(reply).text is not None
