"""Candidate sources that a language model writes; each is marked as made by a model, with which and how it was asked.

Only the wish is sent, never a text of the project. A model on another machine has seen what it wrote, so its sentences can be no secret ones.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.resources import files
from itertools import islice, product
from typing import Final

from corpora.languages.tags import language_name
from corpora.model.entry import Segment
from corpora.text.model_reply import answer_text
from harness.core.calls import Reply, Request
from harness.core.failures import UsageError
from harness.endpoint.client import EndpointClient
from harness.endpoint.endpoints import KeySource, find_key
from harness.method.completions import answers_alone
from harness.method.options import MethodOptions
from harness.privacy import NO_CORPUS
from harness.project.candidates import Candidate, check_seen
from harness.project.state import Analysed, DraftTexts, Project, ProjectEntry, SourceOrigin, today, with_reference
from harness.setup.preparing import WordAnalyser, word_analyser
from harness.shipped_methods.chat import model_completions

PROMPT: Final = "sources-v1"
MOST_AT_ONCE: Final = 50
TIMEOUT_SECONDS: Final = 120.0

TIERS: Final[Mapping[int, str]] = {
    1: "single words, common greetings, numbers",
    2: "simple sentences in the present tense, a subject, a verb and perhaps an object",
    3: "past or future tense, possessives",
    4: "passive voice, relative clauses, somebody acting on somebody of somebody else",
    5: "several clauses, idioms, or a short paragraph whose tone fits the register",
}
"""What each tier asks of a sentence (benchmark-specification §2.4)."""

_NUMBERED = re.compile(r"^\s*(?:\d{1,3}[.)]|[-*•])\s+")


@dataclass(frozen=True)
class SourceWish:
    """What a model is asked to write."""

    count: int
    difficulty: int
    register: str
    context: str = ""
    phenomenon: str = ""
    """What of the language the sentences should show, in the asker's words."""
    segment: Segment | None = None
    """Where they are to go; the model is not told."""


def ask_model(
    project: Project, wish: SourceWish, endpoint: str, model: str, keys: KeySource = find_key
) -> list[Candidate]:
    """Request sources of a model once, and return what it wrote as candidates; CallError and UsageError in words.

    A model on another machine is not asked for a secret segment.
    """
    if not 1 <= wish.count <= MOST_AT_ONCE:
        raise UsageError(f"--count {wish.count}: between 1 and {MOST_AT_ONCE} at once. Ask again for more.")
    options = MethodOptions(
        source_language=project.state.dataset["source_language"],
        target_language=project.state.dataset["target_language"],
        model=model,
        endpoint=endpoint,
        temperature=None,
        max_tokens=4096,
    )
    completions = model_completions(options, keys)
    elsewhere = not completions.endpoint.local
    check_seen(f"--model {model[:60]}", wish.segment, elsewhere=elsewhere)
    text = prompt_text(project, wish)
    message = {"role": "user", "content": text}
    request = completions.request([message], accept=answers_alone)
    reply = asyncio.run(_sent(request))
    origin = SourceOrigin(
        model=(reply.model_id or model)[:200],
        endpoint=completions.endpoint.name[:200],
        prompt_sha256=sha256(text.encode()).hexdigest(),
        on=today(),
    )
    written = answer_text(reply.text) or ""
    lines = (_NUMBERED.sub("", line).strip() for line in written.splitlines())
    written_lines = [line for line in lines if line]
    if not written_lines:
        raise UsageError("The model wrote no sentence. Ask once more, or take another model.")
    return [
        Candidate(DraftTexts(line), origin, number, seen_elsewhere=elsewhere)
        for number, line in enumerate(written_lines[: wish.count], 1)
    ]


def prompt_text(project: Project, wish: SourceWish) -> str:
    """Return what the model is asked, word by word."""
    dataset = project.state.dataset
    more = f"Each is a {wish.context}. " if wish.context else ""
    more += f"Each shows this: {wish.phenomenon}. " if wish.phenomenon else ""
    shipped = files("harness.project").joinpath(f"{PROMPT}.txt").read_text("utf-8")
    return shipped.format(
        source_language=language_name(dataset["source_language"]),
        target_language=language_name(dataset["target_language"]),
        count=wish.count,
        difficulty=wish.difficulty,
        tier=TIERS[wish.difficulty],
        register=wish.register,
        more=more,
    )


async def _sent(request: Request) -> Reply:
    client = EndpointClient(NO_CORPUS, timeout_seconds=TIMEOUT_SECONDS)
    try:
        reply, _ = await client.send(request)
    finally:
        await client.close()
    return reply


# ---- Analyses of translations, proposed by the language's analyser and confirmed by a person.

MOST_PROPOSALS = 9
"""Whole readings that are offered of one sentence; a key chooses one."""


@dataclass(frozen=True)
class Proposal:
    """What an analyser says of one translation."""

    entry: ProjectEntry
    reference: str
    """Never to be logged of a secret entry."""
    readings: tuple[str, ...]
    """Each is one analysis for every word, separated by blanks."""
    unknown: tuple[str, ...]
    """Words that the analyser does not know; with one of them there is no reading."""


def analyser_for(project: Project) -> WordAnalyser:
    """Open the analyser of the project's language; UsageError says why there is none, and that the step may be left out."""
    tag = project.state.dataset["target_language"]
    analyser = word_analyser(tag, [])
    if isinstance(analyser, str):
        raise UsageError(
            f"Nothing can be proposed: {analyser}. Copy one (docs/fst.md), or leave this step out: analyses are worth having and no requirement."
        )
    return analyser


def waiting_for_analysis(project: Project, *, secret: bool) -> list[ProjectEntry]:
    """Return the entries with a translation and no confirmed analysis; secret ones only where they are asked for."""
    waiting = (entry for entry in with_reference(project.state.entries) if entry.analysed is None)
    return [entry for entry in waiting if secret or not entry.secret]


def proposals(project: Project, analyser: WordAnalyser, entries: Sequence[ProjectEntry]) -> Iterator[Proposal]:
    """Yield what the analyser says of each entry's translation, opened one after the other."""
    for entry in entries:
        texts = project.texts(entry)
        words = analyser.annotator.split(texts.reference)
        analyses = analyser.annotator.analyse_words(words)
        unknown = tuple(word.word for word in analyses if not word.analyses)
        choices = product(*(word.analyses for word in analyses))
        offered = [] if unknown or not analyses else islice(choices, MOST_PROPOSALS)
        readings = tuple(map(" ".join, offered))
        yield Proposal(entry, texts.reference, readings, unknown)


def confirm(project: Project, proposal: Proposal, reading: int, by: str, analyser: WordAnalyser) -> None:
    """Store the reading that a person confirmed in an entry, with who it was; ``reading`` is its place, from 0."""
    texts = replace(project.texts(proposal.entry), analysis=proposal.readings[reading])
    done = Analysed(by=by, on=today(), analyser=analyser.analyser.name[:200], analyser_sha256=analyser.analyser.sha256)
    project.put([project.with_texts(proposal.entry.model_copy(update={"analysed": done}), texts)])
