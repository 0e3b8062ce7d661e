"""chat: a language model behind an OpenAI-compatible endpoint, as it is or coached (§9.6)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from corpora.model.entry import Entry
from corpora.tasks.task import json_text
from harness.core.calls import Calls, Reply, Request
from harness.core.failures import CallError, ErrorClass, UsageError
from harness.endpoint.endpoints import NEWER_LIMIT, chat_endpoint
from harness.endpoint.keys import KeySource
from harness.endpoint.prices import LOCAL, Prices
from harness.method.completions import Completions, Message, answers_alone, output_of
from harness.method.method import MethodClass, Output, Setup
from harness.method.options import MethodOptions, check_options
from harness.method.shipped import METHODS
from harness.methods.asking import message, prompt_of, turns
from harness.methods.briefing import Briefing, briefing, by_number

_OURS = {"model", "messages", "temperature", "max_tokens"}
_NOT_OURS = {"stream", "n", "tools", "tool_choice", "api_key", "key"}


class Chat:
    """Asks a model, one text a call or several keyed by number; a conversation turn by turn."""

    def __init__(self, completions: Completions, brief: Briefing, setup: Setup) -> None:
        self.setup = setup
        self.endpoint = completions.endpoint.url
        self._completions = completions
        self._briefing = brief

    def check_budget(self) -> None:
        self._completions.check_budget()

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> list[Output]:
        """Request the entries' translations; see ``Method``."""
        if self.setup.batch_size == 1:
            return [await self._single(entry, calls) for entry in entries]
        first = await self._batch(entries, calls)
        return [
            output or await self._again(entry, calls, len(entries))
            for entry, output in zip(entries, first, strict=True)
        ]

    async def _single(self, entry: Entry, calls: Calls) -> Output:
        user_turns = turns(entry)
        if user_turns is not None:
            return await self._conversation(entry, user_turns, calls)
        return await self._answer(self._briefing.single(message(entry)), entry, calls)

    async def _answer(self, messages: Sequence[Message], entry: Entry, calls: Calls) -> Output:
        request = self._completions.request(messages, secret=entry.secret, accept=answers_alone)
        return output_of(await calls.send(request))

    async def _conversation(self, entry: Entry, said: Sequence[str], calls: Calls) -> Output:
        """Request one turn after the other, each with the turns before; the answers become one JSON list of texts."""
        messages: list[Message] = []
        answers: list[str] = []
        for number, text in enumerate(said, 1):
            messages += (
                [{"role": "user", "content": text}] if messages else self._briefing.single(text)
            )
            output = await self._answer(messages, entry, calls)
            if output.text is None:
                words = f"Turn {number} of {len(said)}: {output.error}"
                return Output(None, output.error_class, words)
            answers.append(output.text)
            messages.append({"role": "assistant", "content": output.text})
        return Output(json_text(answers))

    async def _batch(self, entries: Sequence[Entry], calls: Calls) -> list[Output | None]:
        """Request several; None for an entry whose number the reply does not answer reliably."""
        reply = await calls.send(self._numbered(entries))
        if not reply.complete:
            return [None] * len(entries)
        return [_answer(text) for text in by_number(reply.text, len(entries))]

    async def _again(self, entry: Entry, calls: Calls, size: int) -> Output:
        """Request an entry again whose number went wrong: alone, in the same form."""
        note = f"Its number went wrong in a batch of {size}: asked again alone."
        try:
            reply = await calls.send(self._numbered([entry]))
        except CallError as error:
            return Output(None, error.error_class, str(error), (note,))
        if not reply.complete:
            return output_of(reply, (note,))
        [text] = by_number(reply.text, 1)
        output = _answer(text)
        if output is None:
            error_text = "The reply did not answer the entry's number, twice."
            return Output(None, ErrorClass.NUMBERING, error_text, (note,))
        return Output(output.text, output.error_class, output.error, (note,))

    def _numbered(self, entries: Sequence[Entry]) -> Request:
        return self._completions.request(
            self._briefing.batch([entry.source for entry in entries]),
            secret=any(entry.secret for entry in entries),
            accept=partial(_answers_all, count=len(entries)),
        )


def _answers_all(reply: Reply, count: int) -> bool:
    """Return whether the reply holds a translation for each number."""
    return reply.complete and all(by_number(reply.text, count))


def _answer(text: str | None) -> Output | None:
    if text is None:
        return None
    return Output(text) if text else Output(None, ErrorClass.EMPTY, "The answer is empty.")


def chat(options: MethodOptions, find_key: KeySource) -> Chat:
    """Make the method; UsageError names what is missing or does not fit."""
    check_options("chat", options, *METHODS["chat"])
    completions = model_completions(options, find_key)
    options = options.model_copy(update={"prompt": prompt_of(options) or options.prompt})
    brief = briefing(options, *(["batch-v1"] if options.batch_size > 1 else []))
    setup = model_setup(options, completions, brief).model_copy(
        update={"batch_size": options.batch_size}
    )
    return Chat(completions, brief, setup)


def model_completions(options: MethodOptions, find_key: KeySource) -> Completions:
    """Find endpoint, key and price of the model that was asked for."""
    endpoint = chat_endpoint(options.endpoint or "")
    model = options.model or ""
    if wrong := sorted(options.body.keys() & (_OURS | _NOT_OURS)):
        mend = "use its own option" if wrong[0] in _OURS else "leave it out"
        raise UsageError(f"--body: {wrong[0]!r} cannot be given there: {mend}.")
    max_tokens = options.max_tokens
    if NEWER_LIMIT in options.body:
        max_tokens = _stated_limit(options)
        endpoint = endpoint.model_copy(update={"output_limit": NEWER_LIMIT})
    price = Prices(options.prices).price(endpoint.name, model)
    return Completions(
        endpoint=endpoint,
        model=model,
        temperature=options.temperature,
        max_tokens=max_tokens,
        body=options.body,
        key=find_key(endpoint),
        price=LOCAL if price is None and endpoint.local else price,
        replicate=options.replicate,
    )


def _stated_limit(options: MethodOptions) -> int:
    """Return the output limit that the body states under its newer name; UsageError if it is none, or one of two."""
    limit = options.body[NEWER_LIMIT]
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise UsageError(f"--body: {NEWER_LIMIT!r} must be a whole number from 1 up.")
    if options.max_tokens not in {limit, None, MethodOptions.model_fields["max_tokens"].default}:
        raise UsageError(f"--max-tokens and --body {NEWER_LIMIT} state two limits: leave one out.")
    return limit


def model_setup(options: MethodOptions, completions: Completions, brief: Briefing) -> Setup:
    """Describe a run that asks a model, as the run card needs it."""
    coached = brief.coaching is not None
    return Setup(
        method="chat",
        method_name=options.method_name,
        method_class=MethodClass.COACHED_LLM if coached else MethodClass.RAW_LLM,
        method_version="1",
        provider=completions.endpoint.name,
        model_slug=completions.model,
        condition=options.condition or ("coached" if coached else "baseline"),
        temperature=options.temperature,
        max_tokens=completions.max_tokens,
        system_prompt_used=brief.system,
        system_prompt_sha256=brief.sha256,
        prompt_version=brief.version,
        coaching_data_sha256=brief.coaching.sha256 if brief.coaching else None,
        replicate=options.replicate,
        options={"body": options.body} if options.body else {},
    )
