"""Candidate sources: read from a file, held against what is there, chosen over difficulties and registers, and put into segments.

Nothing of a secret sentence is in a message; a near copy is named by the entry that it resembles.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib.resources import files
from itertools import islice, product
from pathlib import Path
from typing import Final

from rapidfuzz.distance import Levenshtein

from corpora.checks.requirements import LEAST
from corpora.formats.columns import Columns
from corpora.formats.load import load
from corpora.languages.tags import language_name
from corpora.model.corpus import Dataset
from corpora.model.entry import PROVENANCES, REGISTERS, Segment
from corpora.text.comparison import normalised
from corpora.text.messages import counted
from corpora.text.model_reply import answer_text
from harness.card.checking.linting import LEAST_LETTERS, NEAR
from harness.core.calls import Reply, Request
from harness.core.failures import UsageError
from harness.core.storage import usage_errors
from harness.endpoint.client import EndpointClient
from harness.endpoint.endpoints import KeySource, find_key
from harness.inputs.table import check_length, read_lines
from harness.method.completions import answers_alone
from harness.method.options import MethodOptions
from harness.privacy import NO_CORPUS
from harness.project.authoring import known_of_the_demo
from harness.project.state import Analysed, DraftTexts, Project, ProjectEntry, SourceOrigin, today, with_reference
from harness.setup.preparing import WordAnalyser, word_analyser
from harness.shipped_methods.chat import model_completions

WEIGHTS: Final[Mapping[int, float]] = {1: 0.10, 2: 0.25, 3: 0.30, 4: 0.25, 5: 0.10}
"""Share of each tier among chosen sources: all five are there, most are of the middle ones (benchmark-specification §2.4)."""

MOST_SOURCE: Final = 4_000
"""Characters of a source; a batch for speakers takes no longer one."""

_WITHOUT_REFERENCE: Final = "response"
"""Task whose records are complete without a reference, as sources are before somebody translated them."""

_NAMED: Final = 5
"""Places of copies that a line names."""

_SPOKEN: Final = "elicited"
"""Provenance of what speakers are asked to translate (§2.5)."""


@dataclass(frozen=True)
class Candidate:
    """A source that may become an entry."""

    texts: DraftTexts
    origin: SourceOrigin
    line: int | None = None
    segment: Segment | None = None
    difficulty: int | None = None
    register: str | None = None
    context: str | None = None
    provenance: str | None = None
    seen_elsewhere: bool = False
    """True where another machine made it, so that it cannot be secret."""


@dataclass(frozen=True)
class CandidateDefaults:
    """What holds of candidates that do not say it themselves."""

    segment: Segment | None = None
    difficulty: int | None = None
    register: str | None = None
    context: str | None = None
    variant_class: str = ""

    def of(self, candidate: Candidate) -> Candidate:
        """Return a candidate with what it lacks."""
        texts = candidate.texts
        kind = texts.variant_class or self.variant_class
        names = ("segment", "difficulty", "register", "context")
        facts = {name: getattr(candidate, name) or getattr(self, name) for name in names}
        return replace(candidate, **facts, texts=replace(texts, variant_class=kind))


@dataclass(frozen=True)
class TakenSources:
    """What became of candidates."""

    entries: tuple[ProjectEntry, ...]
    """New in the project."""
    copies: tuple[str, ...]
    """In words, what was left out because it is there already."""
    left: int = field(default=0)
    """Candidates beyond the number that was asked for."""

    @property
    def secret(self) -> bool:
        """True where one of the new entries is of a secret segment."""
        return any(entry.secret for entry in self.entries)


def read_candidates(project: Project, path: Path) -> list[Candidate]:
    """Read sources from a file of lines (``.txt``), or of any form that a corpus may have; UsageError, CorpusError in words.

    Tags and translations that are in it are taken along. A table has a header, and no column that is not known.
    """
    origin = SourceOrigin(file=path.name[:200], on=today())
    if path.suffix.lower() == ".txt":
        lines = read_lines(path, MOST_SOURCE)
        return [Candidate(DraftTexts(line), origin, number) for number, line in lines.items()]
    facts = {name: project.state.dataset[name] for name in ("source_language", "target_language")}
    corpus = load(
        path,
        dataset={**facts, "task": _WITHOUT_REFERENCE},
        columns=Columns(**facts, optional="reference", known_only=True),
        kept_here=True,
    )
    entries = corpus.reveal_here()
    for entry in entries:
        check_length(entry.source, f"{path}: entry {entry.id}, field 'source'", MOST_SOURCE)
    # Refuse sentences that may not leave here by their own terms, for a corpus that lets them
    # leave.
    own = Dataset.model_validate(project.state.dataset).terms
    if corpus.dataset.terms.local_only and not own.local_only:
        raise UsageError(
            f"{path}: {corpus.dataset.terms.words}, and the corpus in the making lets its open texts go further. Ask who holds "
            "these sentences, or begin the corpus with --transmission local-only."
        )
    lines_of = corpus.lines or (None,) * len(entries)
    return [
        Candidate(
            DraftTexts(
                entry.source, entry.reference, entry.variants, entry.morphological_analysis or "",
                entry.variant_class or "", entry.notes or "",
            ),
            origin, line, entry.segment, entry.difficulty, entry.register_, entry.context, entry.provenance,
        )
        for entry, line in zip(entries, lines_of, strict=True)
    ]  # fmt: skip


def take_candidates(
    project: Project, candidates: Sequence[Candidate], usual: CandidateDefaults, most: int | None = None
) -> TakenSources:
    """Add candidates to a project, those that are no near copies, ``most`` of them; UsageError names what one lacks.

    Chosen are those that bring the tiers nearest to ``WEIGHTS`` and the registers nearest to each other. Those
    that name no segment go where most is lacking, a like mix of tiers and registers into each; into ``diagnostic`` only
    what has a class of phenomenon.
    """
    complete = [usual.of(candidate) for candidate in candidates]
    for candidate in complete:
        where = candidate.origin.file or f"the model {candidate.origin.model}"
        where += f", line {candidate.line}" if candidate.line else ""
        for name, options in (("difficulty", "1 to 5"), ("register", ", ".join(REGISTERS))):
            if getattr(candidate, name) is None:
                raise UsageError(
                    f"{where}, field '{name}': a source has none. Write it there, or say --{name} for all: {options}."
                )
        check_seen(where, candidate.segment, elsewhere=candidate.seen_elsewhere)
        if candidate.register not in REGISTERS:
            raise UsageError(f"{where}, field 'register': permitted are {', '.join(REGISTERS)}. Correct it.")
        if candidate.provenance is not None and candidate.provenance not in PROVENANCES:
            raise UsageError(f"{where}, field 'provenance': permitted are {', '.join(PROVENANCES)}. Correct it.")
    new, copies = _without_copies(project, complete)
    chosen = new if most is None else _balanced(project, new, most)
    placed = _placed(project, chosen)
    entries = tuple(_entry(project, number, candidate) for number, candidate in enumerate(placed))
    state = project.state
    project.change(
        entries=(*state.entries, *entries),
        next_id=state.next_id + len(entries),
        next_round=state.next_round + bool(entries),
    )
    return TakenSources(entries, tuple(copies), len(new) - len(chosen))


def undo_last(project: Project) -> int:
    """Remove the sources of the last adding, and return how many they were; UsageError where speakers have some of them."""
    if not project.state.entries:
        raise UsageError("There is nothing to undo: no source was added.")
    gone = project.state.undoable
    if not gone:
        raise UsageError(
            "The sources that were added last are with speakers or in a vault already: they cannot be undone."
        )
    project.change(entries=tuple(entry for entry in project.state.entries if entry.id not in gone))
    return len(gone)


def check_seen(where: str, segment: Segment | None, *, elsewhere: bool) -> None:
    """Refuse what another machine writes for a secret segment; UsageError begins with ``where``."""
    if elsewhere and segment is not None and segment.secret:
        raise UsageError(
            f"{where}: a model on another machine writes it, so others see it and it can be no sentence of {segment}. Take a "
            "model on this machine, or write those sentences yourselves."
        )


def _without_copies(project: Project, candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[str]]:
    """Split candidates into new ones and words about those that are near copies of an entry or of each other."""
    known = {
        normalised(project.texts(entry).source): f"entry {entry.id}"
        for entry in project.state.entries
        if entry.texts is not None or entry.sealed
    }
    of_demo = known_of_the_demo(candidate.texts.source for candidate in candidates)
    new: list[Candidate] = []
    messages: list[str] = []
    same: list[str] = []
    for number, candidate in enumerate(candidates, 1):
        form = normalised(candidate.texts.source)
        near = known.items() if len(form) >= LEAST_LETTERS else ()
        similar = (name for other, name in near if Levenshtein.normalized_similarity(form, other, score_cutoff=NEAR))
        like = next(similar, None)
        where = f"line {candidate.line}" if candidate.line else f"candidate {number}"
        if not any(map(str.isalnum, form)):
            messages.append(f"{where}: it has no letters")
        elif candidate.texts.source in of_demo:
            messages.append(f"{where}: the demo has it, and so has everybody with this program")
        elif form in known:
            same.append(where)
        elif like is not None:
            messages.append(f"{where}: a near copy of {like}")
        else:
            known[form] = where
            new.append(candidate)
    if same:
        are, more = "is" if len(same) == 1 else "are", ", …" if len(same) > _NAMED else ""
        named = ", ".join(same[:_NAMED]) + more
        messages.insert(0, f"{counted(len(same), 'sentence')} that {are} there already, word for word ({named})")
    return new, messages


def _balanced(project: Project, candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """Choose one after the other of the tier that lacks most, and in it of the register that has least."""
    tiers = Counter(entry.difficulty for entry in project.state.entries)
    registers = Counter((entry.difficulty, entry.register_) for entry in project.state.entries)
    waiting: dict[tuple[int, str], deque[int]] = {}
    for place, candidate in enumerate(candidates):
        group = candidate.difficulty or 0, candidate.register or ""
        waiting.setdefault(group, deque()).append(place)

    def rank(group: tuple[int, str]) -> tuple[float, int, int]:
        tier = group[0]
        return tiers[tier] / WEIGHTS[tier or 3], registers[group], waiting[group][0]  # type: ignore[index]

    chosen: list[Candidate] = []
    while waiting and len(chosen) < most:
        group = min(waiting, key=rank)
        chosen.append(candidates[waiting[group].popleft()])
        tiers[group[0]] += 1
        registers[group] += 1  # type: ignore[index]
        if not waiting[group]:
            del waiting[group]
    return chosen


def _placed(project: Project, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, each with a segment: in the order of tiers and registers, so that each segment gets a like mix."""
    counts = Counter(entry.segment for entry in project.state.entries)
    counts += Counter(candidate.segment for candidate in candidates if candidate.segment is not None)
    placed: dict[int, Segment] = {}
    order = sorted(enumerate(candidates), key=lambda row: (row[1].difficulty, row[1].register))
    for at, candidate in order:
        # The segment that has the smallest part of what it needs; an open one where others have seen the sentence.
        others = [segment for segment in LEAST if segment is not Segment.DIAGNOSTIC]
        segment = candidate.segment or min(others, key=lambda segment: counts[segment] / LEAST[segment])
        if candidate.segment is None:
            if candidate.texts.variant_class and counts[Segment.DIAGNOSTIC] < LEAST[Segment.DIAGNOSTIC]:
                segment = Segment.DIAGNOSTIC
            elif candidate.seen_elsewhere:
                segment = Segment.DEVELOPMENT
            counts[segment] += 1
        placed[at] = segment
    return [replace(candidate, segment=placed[at]) for at, candidate in enumerate(candidates)]


def _entry(project: Project, number: int, candidate: Candidate) -> ProjectEntry:
    with usage_errors(f"{candidate.origin.file or candidate.origin.model}"):
        entry = ProjectEntry.model_validate(
            {
                **{name: getattr(candidate, name) for name in ("segment", "difficulty", "context", "origin")},
                "id": project.state.next_id + number,
                "register_": candidate.register,
                "provenance": candidate.provenance or _SPOKEN,
                "round": project.state.next_round,
            }
        )
    return project.with_texts(entry, candidate.texts)


# ---- Candidate sources that a language model writes; each is marked as made by a model, with which and how it was asked.
# Only the wish is sent, never a text of the project. A model on another machine has seen what it wrote, so its sentences can
# be no secret ones.

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
