"""chat: a language model behind an OpenAI-compatible endpoint, as it is or coached (§9.6)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from corpora.model.entry import Entry
from corpora.model.task import TASKS, TRANSLATION, json_text
from corpora.text.model_reply import answer_text, mended_json
from harness.core.calls import Calls, Reply, Request
from harness.core.failures import CallError, ErrorClass, UsageError
from harness.core.storage import storable
from harness.endpoint.budget import LOCAL, Prices
from harness.endpoint.endpoints import NEWER_LIMIT, KeySource, chat_endpoint
from harness.inputs.dictionary import Coaching, read_coaching
from harness.inputs.prompt import load_prompt
from harness.method.completions import Completions, Message, answers_alone, output_of
from harness.method.method import MethodClass, Output, Setup
from harness.method.options import MethodOptions, flag

# ---- The briefing of a model: the system prompt of the run, and the message for one or several
# texts.
#
# Several texts in one call, keyed by number, so that no entry can receive another's translation.
#
# Both ways the texts go as a JSON object keyed by number. Line forms cannot tell a skipped number
# from a text of several lines; in JSON a missing, doubled or invented key is plain to see.


def numbered(texts: Sequence[str]) -> str:
    """Write the texts as a JSON object with the keys 1 … n."""
    return json.dumps({str(number): text for number, text in enumerate(texts, 1)}, ensure_ascii=False, indent=0)


def by_number(reply: str, count: int) -> list[str | None]:
    """Read the texts 1 … count out of a reply; None where a number cannot be trusted.

    Order does not matter, the number does. A number that is missing between others, doubled, or has
    no text costs only its own entry. But an invented number, or a last number that is missing, is how
    it looks when the model split or joined texts and shifted the rest: then none is trusted.
    """
    pairs = _pairs(reply)
    times = Counter(number for number, _ in pairs)
    if times.keys() - set(range(1, count + 1)) or count not in times:
        return [None] * count
    texts: list[str | None] = [None] * count
    for number, text in pairs:
        if times[number] == 1 and isinstance(text, str):
            texts[number - 1] = storable(text).strip()
    return texts


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, doubled keys included."""


def _pairs(reply: str) -> list[tuple[int, Any]]:
    """Read the outermost JSON object, with words before and after it or not; [] where there is none.

    A key that is not a number becomes 0, which no text has: it counts as invented.
    """
    text = answer_text(reply) or ""
    first, last = text.find("{"), text.rfind("}")
    decode = partial(json.loads, strict=False, object_pairs_hook=_Pairs)
    try:
        try:
            members = decode(text[first : last + 1])
        except ValueError:
            members = decode(mended_json(text[first : last + 1]))  # comments, commas at the end
    except (ValueError, RecursionError):
        return []
    if not isinstance(members, _Pairs):
        return []
    numbers = (int(k) if k.isascii() and k.isdigit() and len(k) < 6 else 0 for k, _ in members)
    return [(number, value) for number, (_, value) in zip(numbers, members, strict=True)]


@dataclass(frozen=True, slots=True)
class Briefing:
    """The system prompt, the same for all calls of a run, and what goes into each message."""

    system: str
    version: str  # Versions of all the prompts it was put together from
    coaching: Coaching | None = None

    @property
    def sha256(self) -> str:
        """Hash of the system prompt as it is sent, in UTF-8."""
        return hashlib.sha256(self.system.encode()).hexdigest()

    def single(self, source: str) -> list[Message]:
        """Start a conversation about one text, which stands alone in its message where it can."""
        return self._conversation(source + self._hints([source]))

    def batch(self, sources: Sequence[str]) -> list[Message]:
        """Start a conversation about several texts, keyed by number."""
        return self._conversation(numbered(sources) + self._hints(sources))

    def _hints(self, sources: Sequence[str]) -> str:
        return self.coaching.hints(sources) if self.coaching else ""

    def _conversation(self, message: str) -> list[Message]:
        return [{"role": "system", "content": self.system}, {"role": "user", "content": message}]


def briefing(options: MethodOptions, *additions: str) -> Briefing:
    """Assemble a briefing from prompt, coaching file and additional shipped prompts.

    UsageError where the coaching data would go nowhere, or the prompt waits for some in vain.
    """
    coaching = read_coaching(options.coaching) if options.coaching else None
    values = options.languages | (coaching.slots() if coaching else {})
    main = load_prompt(options.prompt or ("coached-v1" if coaching else "plain-v1"))
    # what the run card calls coached is coached, and nothing else is
    if coaching is None and main.slots & {"notes", "examples"}:
        raise UsageError(f"Prompt {main.version!r} has slots for coaching. Give --coaching FILE.")
    for name in ("notes", "examples") if coaching else ():
        if getattr(coaching, name) and name not in main.slots:
            raise UsageError(
                f"{options.coaching}: the {name} would not be used: prompt {main.version!r} has no slot "
                f"{{{name}}}. Put it there, or leave --prompt out."
            )
    prompts = [main, *map(load_prompt, additions)]
    return Briefing(
        system="\n\n".join(prompt.fill(values) for prompt in prompts),
        version="+".join(prompt.version for prompt in prompts),
        coaching=coaching,
    )


# ---- How a model is asked for tasks that are no translations: the prompt of each, and the
# message of a record.
#
# What is in a message comes from ``Entry.question``, so no answer can.


def prompt_of(options: MethodOptions) -> str | None:
    """Return the version of the prompt that a task other than translation is asked with, else None.

    UsageError for an option that means nothing for the task.
    """
    if options.task == TRANSLATION:
        return None
    given = [name for name in ("coaching", "source_name") if getattr(options, name) is not None]
    if options.batch_size > 1:
        given.append("batch_size")
    if given:
        raise UsageError(
            f"{flag(given[0])} is for translation, and the task of the corpus is {options.task}. Leave it out."
        )
    return options.prompt or f"{options.task}-v1"


def refuse_translator(method: str, name: str) -> None:
    """Raise UsageError: a method that translates cannot be asked for another task."""
    asked = TASKS[name]
    other = "ask a model with --method chat, or " if asked.asks_models else ""
    raise UsageError(
        f"Method {method!r} does not do what the corpus asks for ({name}: {asked.title}). Instead, {other}"
        "score outputs that were made elsewhere: `rosetta score FILE OUTPUTS`."
    )


def message(entry: Entry) -> str:
    """Return what a model is asked about an entry, in one message; a chat's turns are asked one by one."""
    seen = entry.model_extra or {}
    match entry.of_task:
        case "qa" if evidence := seen.get("evidence"):
            passages = [": ".join(str(passage[k]) for k in ("title", "text") if passage.get(k)) for passage in evidence]
            listed = "\n".join(f"{number}. {text}" for number, text in enumerate(passages, 1))
            return f"Evidence:\n{listed}\n\nQuestion: {entry.source}"
        case "function_call":
            tools = json.dumps(seen.get("tools", []), ensure_ascii=False)
            return f"Functions:\n{tools}\n\nRequest: {entry.source}"
        case "text2sql" if schema := seen.get("database_schema"):
            return f"Schema:\n{schema}\n\nQuestion: {entry.source}"
        case "multiple_choice" if choices := seen.get("choices"):
            lettered = (f"{chr(ord('A') + at)}. {choice}" for at, choice in enumerate(choices))
            return "\n".join([entry.source, "", *lettered])
        case _:
            return entry.source


_OURS = {"model", "messages", "temperature", "max_tokens"}
_NOT_OURS = {"stream", "n", "tools", "tool_choice", "api_key", "key"}


@dataclass(frozen=True, slots=True)
class Chat:
    """Asks a model, one text a call or several keyed by number; a conversation turn by turn."""

    completions: Completions
    brief: Briefing
    setup: Setup
    endpoint: str

    def check_budget(self) -> None:
        self.completions.check_budget()

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
        if entry.of_task == "chat":
            turns = (entry.model_extra or {}).get("turns", [])
            user_turns = [turn["user"] for turn in turns if "user" in turn]
            return await self._conversation(user_turns, calls)
        return await self._answer(self.brief.single(message(entry)), calls)

    async def _answer(self, messages: Sequence[Message], calls: Calls) -> Output:
        request = self.completions.request(messages, accept=answers_alone)
        return output_of(await calls.send(request))

    async def _conversation(self, said: Sequence[str], calls: Calls) -> Output:
        """Request one turn after the other, each with the turns before; the answers become one JSON list of texts."""
        messages: list[Message] = []
        answers: list[str] = []
        for number, text in enumerate(said, 1):
            messages += [{"role": "user", "content": text}] if messages else self.brief.single(text)
            output = await self._answer(messages, calls)
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
        return self.completions.request(
            self.brief.batch([entry.source for entry in entries]),
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
    completions = model_completions(options, find_key)
    options = options.model_copy(update={"prompt": prompt_of(options) or options.prompt})
    brief = briefing(options, *(["batch-v1"] if options.batch_size > 1 else []))
    setup = model_setup(options, completions, brief).model_copy(update={"batch_size": options.batch_size})
    return Chat(completions, brief, setup, completions.endpoint.url)


def model_completions(options: MethodOptions, find_key: KeySource) -> Completions:
    """Find endpoint, key and price of the model that was asked for."""
    endpoint = chat_endpoint(options.endpoint or "")
    model = options.model or ""
    if wrong := sorted(options.body.keys() & (_OURS | _NOT_OURS)):
        mend = "use its own option" if wrong[0] in _OURS else "leave it out"
        raise UsageError(f"--body: {wrong[0]!r} cannot be given there: {mend}.")
    max_tokens = options.max_tokens
    if NEWER_LIMIT in options.body:
        # Output limit that the body states under its newer name; UsageError if it is none, or one
        # of two.
        limit = options.body[NEWER_LIMIT]
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise UsageError(f"--body: {NEWER_LIMIT!r} must be a whole number from 1 up.")
        if options.max_tokens not in {limit, None, MethodOptions.model_fields["max_tokens"].default}:
            raise UsageError(f"--max-tokens and --body {NEWER_LIMIT} state two limits: leave one out.")
        max_tokens = limit
        endpoint = endpoint._replace(output_limit=NEWER_LIMIT)
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


def model_setup(options: MethodOptions, completions: Completions, brief: Briefing) -> Setup:
    """Describe a run that asks a model, as the run card needs it."""
    coached = brief.coaching is not None
    return options.setup(
        "chat",
        MethodClass.COACHED_LLM if coached else MethodClass.RAW_LLM,
        "coached" if coached else "baseline",
        provider=completions.endpoint.name,
        model_slug=completions.model,
        temperature=options.temperature,
        max_tokens=completions.max_tokens,
        system_prompt_used=brief.system,
        system_prompt_sha256=brief.sha256,
        prompt_version=brief.version,
        coaching_data_sha256=brief.coaching.sha256 if brief.coaching else None,
        options={"body": options.body} if options.body else {},
    )
