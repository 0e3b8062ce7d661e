"""pipeline: translate, check, and ask again with the rejected words named (§9.6).

While it translates, a model may ask a dictionary and the analyser of the target language.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora.files.json_types import Json, JsonObject
from corpora.languages.cards import FoundCard, find_card
from corpora.languages.tags import tag_script
from corpora.model.entry import Entry
from harness.core.calls import Calls, Reply
from harness.core.failures import UsageError
from harness.endpoint.endpoints import KeySource
from harness.fst.model import AnalyserError, find_analyser
from harness.inputs.dictionary import Dictionary, read_dictionary, read_word_list
from harness.inputs.prompt import load_prompt
from harness.method.completions import Completions, Message, answers_alone, output_of
from harness.method.method import MethodClass, Output, Setup
from harness.method.options import MethodOptions
from harness.shipped_methods.chat import Briefing, briefing, model_completions, model_setup
from harness.shipped_methods.checks import Check, Rejection, make_checks

if TYPE_CHECKING:
    from harness.annotators.fst import FstAnnotator
    from harness.fst.analyser import Analyser


MOST_CALLS = 32  # Tool calls answered in one reply; a model that loops must not fill the next call

MOST_ANALYSES = 32
"""Analyses of a word that are told; an ambiguous word must not fill the next call either."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function of one word that a model may call."""

    name: str
    description: str
    word: str  # What the word is, for the model
    answer: Callable[[str], JsonObject]  # Gives what is known of a word
    prompt: str  # Shipped prompt that tells the model of the tool
    said: str  # What the tool did with a number of words, for the entry screen

    @property
    def declaration(self) -> JsonObject:
        """The tool as the body of a call describes it."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": {
                    "type": "object",
                    "properties": {"word": {"type": "string", "description": self.word}},
                    "required": ["word"],
                },
            },
        }


def lookup_tool(dictionary: Dictionary) -> Tool:
    """Return the tool with which the model looks up words of the source language."""
    return Tool(
        name="lookup",
        description="Look up a word or phrase of the source language in the dictionary.",
        word="The word or phrase.",
        answer=lambda word: {"translations": list(dictionary.lookup(word))},
        prompt="tools-v1",
        said="looked up",
    )


def analyse_tool(annotator: FstAnnotator) -> Tool:
    """Return the tool with which the model checks whether a word of the target language exists, and what form it is."""

    def answer(word: str) -> JsonObject:
        try:
            [word_analysis] = annotator.analyse_words([word])
        except AnalyserError:
            return {"error": "the analyser cannot answer"}
        analyses = list(word_analysis.analyses[:MOST_ANALYSES])
        return {"accepted": word_analysis.accepted is not None, "analyses": analyses}

    return Tool(
        name="analyse",
        description="Ask the morphological analyser of the target language about one word: whether it "
        "exists, and its lemma and inflection.",
        word="The word in the form in which the translation would use it.",
        answer=answer,
        prompt="analyse-v1",
        said="analysed",
    )


def answers(calls: Sequence[JsonObject], tools: Sequence[Tool]) -> list[Message]:
    """Answer each tool call of a reply, also one that makes no sense: the answer says so."""
    return [
        {
            "role": "tool",
            "tool_call_id": call["id"],
            "content": json.dumps(
                _answer(_function(call), tools) if place < MOST_CALLS else {"error": "too many calls at once"},
                ensure_ascii=False,
            ),
        }
        for place, call in enumerate(calls)
    ]


def account(calls: Sequence[JsonObject], tools: Sequence[Tool]) -> str:
    """Return what the calls of a reply asked for, in a sentence for the entry screen."""
    asked = [_function(call).get("name") for call in calls]
    parts = [f"{tool.said} {asked.count(tool.name)} words" for tool in tools if tool.name in asked]
    return f"The model {' and '.join(parts) or 'called tools that do not exist'}."


def _function(call: JsonObject) -> JsonObject:
    """Return the function of a call, which a reply is refused without."""
    function = call.get("function")
    return function if isinstance(function, Mapping) else {}


def _answer(function: JsonObject, tools: Sequence[Tool]) -> JsonObject:
    tool = next((tool for tool in tools if tool.name == function.get("name")), None)
    if tool is None:
        known = " and ".join(repr(tool.name) for tool in tools)
        return {"error": f"there is only the tool {known}"}
    stated = function.get("arguments") or ""
    try:
        arguments = json.loads(stated if isinstance(stated, str) else "")
    except (ValueError, RecursionError):
        return {"error": "the arguments are not valid JSON"}
    word = arguments.get("word") if isinstance(arguments, dict) else None
    if not isinstance(word, str):
        return {"error": "the argument 'word' must be a text"}
    return tool.answer(word)


MOST_ROUNDS = 4
"""Times that a model may call tools before one answer; in the round after it must answer."""

DEFAULT_RETRIES = 2


@dataclass(frozen=True, slots=True)
class _Try:
    output: Output
    rejections: tuple[Rejection, ...] = ()


class Pipeline:
    """Asks a model until the checks accept its answer, and keeps the best answer if they never do."""

    def __init__(
        self,
        completions: Completions,
        brief: Briefing,
        setup: Setup,
        checks: Sequence[Check],
        tools: Sequence[Tool] = (),
    ) -> None:
        """``tools`` are those that the model may call."""
        self.setup = setup
        self.endpoint = completions.endpoint.url
        self._completions = completions
        self._briefing = brief
        self._checks = checks
        self._tools = tuple(tools)
        self._retry = load_prompt("retry-v1")

    def check_budget(self) -> None:
        self._completions.check_budget()

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> list[Output]:
        """Translate each entry on its own; see ``Method``."""
        return [await self._entry(entry, calls) for entry in entries]

    async def _entry(self, entry: Entry, calls: Calls) -> Output:
        """Try up to ``max_retries`` times more; stop where the model only repeats itself."""
        messages = self._briefing.single(entry.source)
        tries: list[_Try] = []
        notes: list[str] = []
        while len(tries) <= self.setup.max_retries:
            reply = await self._answer(messages, calls, notes)
            this = self._checked(entry, reply)
            repeated = any(this.output.text == earlier.output.text for earlier in tries)
            tries.append(this)
            outcome = "; ".join(map(str, this.rejections))
            note = f"rejected: {outcome}." if outcome else "accepted."
            note += " The answer is one that it gave before: not asked again." if repeated else ""
            notes.append(f"Try {len(tries)}: {this.output.error if this.output.text is None else note}")
            if this.output.text is None or not this.rejections or repeated:
                break
            findings = "\n".join(f"- {rejection}" for rejection in this.rejections)
            asked_again = [
                {"role": "assistant", "content": this.output.text},
                {"role": "user", "content": self._retry.fill({"findings": findings})},
            ]
            messages = [*messages, *asked_again]
        return _best(tries, tuple(notes))

    def _checked(self, entry: Entry, reply: Reply) -> _Try:
        output = output_of(reply)
        if output.text is None:
            return _Try(output)
        rejections = (check.rejections(entry.source, output.text) for check in self._checks)
        return _Try(output, tuple(rejection for some in rejections for rejection in some))

    async def _answer(self, messages: list[Message], calls: Calls, notes: list[str]) -> Reply:
        """Get one answer, letting the model look words up before it."""
        if not self._tools:
            request = self._completions.request(messages, accept=answers_alone)
            return await calls.send(request)
        declared = [tool.declaration for tool in self._tools]
        for left in range(MOST_ROUNDS, -1, -1):
            tools = {"tools": declared, "tool_choice": "auto" if left else "none"}
            request = self._completions.request(messages, accept=_goes_on if left else answers_alone, tools=tools)
            reply = await calls.send(request)
            if not reply.tool_calls:
                break
            notes.append(account(reply.tool_calls, self._tools))
            asked: Message = {"role": "assistant", "content": reply.text or None}
            messages = [
                *messages,
                {**asked, "tool_calls": reply.tool_calls},
                *answers(reply.tool_calls, self._tools),
            ]
        return reply


def _goes_on(reply: Reply) -> bool:
    """Return whether the reply answers, or asks for words to be looked up first."""
    return reply.complete and (bool(reply.tool_calls) or answers_alone(reply))


def _best(tries: list[_Try], notes: tuple[str, ...]) -> Output:
    """Return the try with the fewest rejections, the earliest of several; an error only if all are.

    The first answer is next to it where it is another: what the gate repaired is measured by it (§2.5).
    """
    with_text = [this for this in tries if this.output.text is not None]
    best = min(with_text, key=lambda this: len(this.rejections), default=tries[-1])
    first = tries[0].output.text
    raw = first if first is not None and first != best.output.text else None
    return Output(best.output.text, best.output.error_class, best.output.error, notes, raw=raw)


def pipeline(options: MethodOptions, find_key: KeySource) -> Pipeline:
    """Make the method; UsageError names what is missing or does not fit."""
    dictionary = read_dictionary(options.glossary) if options.glossary else None
    analyser, card = _analyser(options)
    annotator = None
    if analyser:
        from harness.annotators.fst import FstAnnotator

        writing = card.card.writing(tag_script(options.target_language)) if card else None
        annotator = FstAnnotator(analyser, writing)
    tools = _tools(options, dictionary, annotator)
    completions = model_completions(options, find_key)
    brief = briefing(options, *(tool.prompt for tool in tools))
    listed = read_word_list(options.word_list) if options.word_list else None
    # all target words that the user gave; coaching words only add to a list, they are none
    vocabulary = (dictionary.target_words() if dictionary else frozenset()) | (listed.words if listed else frozenset())
    if vocabulary and brief.coaching:
        vocabulary |= brief.coaching.dictionary.target_words()
    checks = make_checks(options.checks, vocabulary, options.target_language, annotator)
    setup = model_setup(options, completions, brief)
    more: dict[str, Json] = {"checks": [check.name for check in checks], "retry_prompt": "retry-v1"}
    if dictionary:
        more["glossary_sha256"] = dictionary.sha256
    if listed:
        more["word_list_sha256"] = listed.sha256
    changes: dict[str, Json] = {
        "method": "pipeline",
        "method_class": MethodClass.PIPELINE,
        "condition": options.condition or "pipeline",
        "tools_enabled": options.tools,
        "max_retries": DEFAULT_RETRIES if options.max_retries is None else options.max_retries,
    }
    used = {check.name for check in checks} | {tool.name for tool in tools}
    if analyser and used & {"fst", "analyse"}:
        # what decides which words are accepted: the analyser, and the card's spellings
        version = f"{analyser.engine} {analyser.engine_version} {analyser.name}"
        changes |= {"fst_version": version, "fst_sha256": analyser.sha256}
        if card:
            more["language_card_sha256"] = card.sha256
    setup = setup.model_copy(update=changes | {"options": setup.options | more})
    return Pipeline(completions, brief, setup, checks, tools)


def _analyser(options: MethodOptions) -> tuple[Analyser | None, FoundCard | None]:
    """Open the named analyser, else, where it is asked for, the one that scoring finds for the language.

    A run that asks for neither check nor tool stays the same experiment whichever analysers lie here.
    """
    asked = [
        *(["--check fst"] if "fst" in options.checks else []),
        *(["--tool analyse"] if "analyse" in options.tools else []),
    ]
    if options.analyser is None and not asked:
        return None, None
    from harness.fst.analyser import open_analyser
    from harness.setup.preparing import language_folders

    tag, folders = options.target_language, language_folders()
    card = find_card(tag, folders)
    path = options.analyser or find_analyser(card.card if card else None, tag, folders)
    if path is None:
        raise UsageError(
            f"{asked[0]} needs an analyser, and none for {tag!r} is on this machine. "
            f"`rosetta language check {tag}` says where to put one; or give --analyser FILE."
        )
    try:
        return open_analyser(path), card
    except AnalyserError as error:
        asking = "--analyser" if options.analyser else asked[0]
        raise UsageError(f"{asking}: {error}") from error


def _tools(options: MethodOptions, dictionary: Dictionary | None, annotator: FstAnnotator | None) -> list[Tool]:
    """Make the tools that were asked for, each once; UsageError names one that cannot be made."""
    tools: list[Tool] = []
    for name in dict.fromkeys(options.tools):
        if name == "lookup":
            if dictionary is None:
                raise UsageError("--tool lookup needs a dictionary: give --glossary FILE.")
            tools.append(lookup_tool(dictionary))
        elif name == "analyse":
            assert annotator is not None  # noqa: S101  _analyser raises where none is found
            tools.append(analyse_tool(annotator))
        else:
            raise UsageError(f"--tool: {name!r} is not known. There are: lookup, analyse.")
    return tools
