"""What a corpus in the making still needs: the minimum requirements as progress, and the next step (§11.1).

What the screens show is read in a thread; no text of a corpus is in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from corpora.checks.requirements import Requirement
from corpora.files.problems import CorpusError
from corpora.model.entry import REGISTERS, Segment
from corpora.text.messages import counted, percent
from harness.core.failures import HarnessError
from harness.core.storage import file_stamp
from harness.estimate.framework import WorkedFramework, read_framework, work_out
from harness.project.authoring import ProjectProgress, SegmentProgress, progress_of, still_out
from harness.project.candidates import TIERS, WEIGHTS
from harness.project.state import CORPUS, FILE, HandedOut, ProjectState, known_folders, read_project
from review.office.results.progress import WorkingTime, worked_until_now
from rosetta_tui.report import project
from rosetta_tui.report.cost import amount
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.content import Commands, Line, SectionPage

# ---- What is read of a corpus in the making: counts, and names of reviews.

_CONSENT = "consent.jsonl"  # what was withdrawn, in the data folder


@dataclass(frozen=True)
class AskedReview:
    """A review in which speakers were asked, and what came of it."""

    review: str
    kind: str  # `translate` or `agree`
    on: str
    sentences: int
    out: int  # sentences of which nothing came back yet that may be used
    people: Mapping[str, int]  # letters of those who answered, such as `A, B` → sentences


@dataclass(frozen=True)
class ProjectFacts:
    title: str
    progress: ProjectProgress
    reviews: Sequence[AskedReview]
    came_translated: int  # sentences whose translation came with the source
    corrected: int  # sentences with a second speaker's wording instead of the translation
    refused: int  # sentences that wait for another translation: not agreed to, or taken back
    costs: WorkedFramework
    worked: Sequence[WorkingTime] | None  # None where their reviews are in another data folder
    can_undo: bool  # true where sentences were added that are with no speaker


@dataclass(frozen=True)
class ProjectReading:
    folder: Path
    mark: Hashable  # changes where a file does on which the facts depend
    facts: ProjectFacts | None = None  # none where they cannot be shown; `trouble` says why
    trouble: str = ""

    @property
    def name(self) -> str:
        """Title of the corpus; where it cannot be read, the name of its folder."""
        return self.facts.title if self.facts else self.folder.name


def read_facts(
    folder: Path, home: Path, before: ProjectReading | None = None, *, anyway: bool = True
) -> ProjectReading:
    """Read a project; gives ``before`` back where nothing changed since, unless it is to be read ``anyway``."""
    mark = tuple(map(file_stamp, (folder / FILE, folder / CORPUS, home / _CONSENT)))
    if before is not None and not anyway and before.mark == mark:
        return before
    try:
        project = read_project(folder, home)
        state, progress = project.state, progress_of(project)
        facts = ProjectFacts(
            title=(progress.dataset.model_extra or {}).get("title") or progress.dataset.id,
            progress=progress,
            reviews=[_asked(out, state) for out in state.reviews],
            came_translated=sum(e.has_reference and e.translated is None for e in state.entries),
            corrected=sum(entry.agreed is not None and entry.agreed.outcome == "corrected" for entry in state.entries),
            refused=sum(bool(entry.refused) and not entry.has_reference for entry in state.entries),
            costs=work_out(read_framework(None)),
            worked=worked_until_now(project),
            can_undo=bool(state.undoable),
        )
    except (CorpusError, HarnessError, OSError) as error:
        return ProjectReading(folder, mark, trouble=str(error))
    return ProjectReading(folder, mark, facts)


def read_known(home: Path, before: Sequence[ProjectReading] | None, *, anyway: bool) -> Sequence[ProjectReading]:
    """Read every known project that changed since ``before``, or all with ``anyway``, by name; ``before`` if none did."""
    known = {project_reading.folder: project_reading for project_reading in before or ()}
    folders = known_folders(home)
    readings = [read_facts(folder, home, known.get(folder), anyway=anyway) for folder in folders]
    readings.sort(key=lambda reading: (reading.name.casefold(), str(reading.folder)))
    if before is not None and list(map(id, before)) == list(map(id, readings)):
        return before
    return readings


def _asked(out: HandedOut, state: ProjectState) -> AskedReview:
    """Count what came of a review; who it was is known by the letters that the project keeps."""
    own = [entry for entry in state.entries if entry.id in out.entries]
    spokens = [spoken for project_entry in own for spoken in project_entry.said if spoken.review == out.review]
    return AskedReview(
        review=out.review,
        kind=out.kind,
        on=out.on,
        sentences=len(own),
        out=len(still_out(state, out)),
        people=Counter(", ".join(spoken.people) for spoken in spokens),
    )


# ---- The sections of such a corpus, as lines.

BAR = 16  # cells of a bar

SEGMENTS: Final[Mapping[str, tuple[str, str]]] = {
    Segment.GOLD_STANDARD: (
        "secret sentences to judge with",
        "Methods are judged with them, so nobody may see them before. They are stored encrypted here, and in a vault at the end.",
    ),
    Segment.DEVELOPMENT: (
        "open sentences to practise with",
        "Anyone who makes a method sees these, with their translations.",
    ),
    Segment.DIAGNOSTIC: (
        "open sentences that test one thing",
        "Each shows one thing of the language, such as a possessive; its variant class says which.",
    ),
    Segment.HELD_OUT: (
        "secret sentences for later",
        "They replace sentences to judge with once too much is known of those. Sealed like them.",
    ),
}
"""Segment → what it is in plain words, and what it is for."""

_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    **{f"{name} entries": words for name, words in SEGMENTS.items()},
    "entries with provenance": (
        "each translation says its origin",
        "Asked of speakers, out of a textbook, or looked over by a second speaker: each translation says which.",
    ),
    "difficulty tiers": (
        "levels of difficulty",
        "From 1, single words, to 5, several clauses. Most sentences should be of 2 to 4.",
    ),
    "registers": (
        "kinds of speech",
        "Such as conversational, formal or educational, so that a method is not judged by one alone.",
    ),
    "community consent": (
        "the community agreed",
        "Who said so for the community, on which day and to what, signed with the key of this computer's organisation.",
    ),
}  # fmt: skip
"""Requirement → the same in plain words, and what it means."""

_HERE: Final = {"sources": "press s", "gather": "then press t"}
"""Command about a corpus → what is said behind its step, where a key of the screen does the same."""

_COLUMNS = (
    Column("sign", "", 1),
    Column("what", "what a benchmark needs", 36),
    Column("bar", "", BAR, drop=2),
    Column("found", "there", 8, right=True),
    Column("short", "missing", 7, right=True, drop=1),
)


def needs(facts: ProjectFacts, folder: Path) -> SectionPage:
    """Return how much there is of each minimum requirement, and what comes next."""
    progress, step = facts.progress, project.next_step(facts.progress, folder)
    by_name = {f"{segment.segment} entries": segment for segment in progress.segments}
    rows, about = [], []
    for row in progress.requirements:
        segment = by_name.get(row.name)
        sign = Cell("✓", "good") if row.met else Cell("○", "warn")
        rows.append(
            (
                sign if row.needed else Cell("–", "quiet"),
                Cell(_WORDS.get(row.name, (row.name, ""))[0]),
                Cell(bar(row.found, row.needed, segment.sources if segment else 0), "good" if row.met else "mark"),
                Cell(f"{row.found} of {row.needed}"),
                Cell("" if row.met else str(row.short_by), "warn"),
            )
        )  # fmt: skip
        about.append(list(_about(row, segment)))
    commands = [commands_of(step, folder, in_vault=progress.in_vault)] * len(rows)
    here = next((_HERE[command[2]] for command in step.commands if command[2] in _HERE), "")
    lead: list[Line] = [(f"Next: {step.words}{f' ({here})' if here else ''}", "plain")]
    lead += [(f"  {command_line(command)}", "mark") for command in step.commands]
    if progress.warnings:
        lead.append((f"The check of the corpus has {counted(progress.warnings, 'warning')}.", "warn"))
    return SectionPage(lead, _COLUMNS, rows, about, commands)


def bar(found: int, needed: int, coming: int = 0) -> str:
    """Draw how much of what is needed is there, with a thin line for what is on its way."""
    whole = max(1, needed)
    full, ahead = (min(BAR, BAR * amount // whole) for amount in (found, max(found, coming)))
    return "━" * full + "╌" * (ahead - full) + "·" * (BAR - ahead)


def met(facts: ProjectFacts) -> str:
    """Return how many requirements are met."""
    rows = facts.progress.requirements
    return f"{sum(row.met for row in rows)} of {len(rows)} met"


def _about(row: Requirement, segment: SegmentProgress | None) -> Iterator[Line]:
    plain, meaning = _WORDS.get(row.name, (row.name, ""))
    yield f"{plain} ({row.name})", "plain"
    if meaning:
        yield meaning, "quiet"
    if segment is not None:
        back = f"{segment.translated} translated · {segment.agreed} looked over by a second speaker"
        yield f"{segment.needed} needed · {segment.sources} collected · {back}", "quiet"
    if row.note:
        yield row.note, "quiet"


def commands_of(step: project.NextStep, folder: Path, *, in_vault: bool) -> Commands:
    """Return what can be done with a project, what comes next first."""
    corpus, here = ("rosetta", "corpus"), str(folder)
    sealed = ("--passphrases", "-o", "STICK")
    every: dict[str, project.Command] = {
        "Add sentences from a file": (*corpus, "sources", here, "FILE"),
        "Let a model on this machine write sentences": (*corpus, "sources", here, "--model", "NAME", "--difficulty", "3", "--register", "formal"),
        "Hand sentences to speakers, sealed": (*corpus, "ask", "translate", here, *sealed),
        "Take in what came back on a stick": ("rosetta", "review", "import", "STICK"),
        "Take it into this corpus": (*corpus, "gather", here),
        "Hand translations to a second speaker": (*corpus, "ask", "agree", here, *sealed),
        "Confirm what an analyser proposes": (*corpus, "analyse", here, "--by", "NAME"),
        "Record that the community agreed": project.consent_command(folder),
        "Make a vault": project.VAULT_INIT,
        "Seal all of it in a vault": ("rosetta", "vault", "add", "VAULT", here),
    }  # fmt: skip
    if in_vault:
        every = {"Check the corpus in its vault": (*corpus, "check", "CORPUS", "--vault", "VAULT", "--purpose", "WORDS")}  # fmt: skip
    names = {command[:3]: words for words, command in every.items()}
    first = {f"Next: {names.get(command[:3], step.words)}": command for command in step.commands}
    done = {command[:3] for command in step.commands}
    return {**first, **{words: arguments for words, arguments in every.items() if arguments[:3] not in done}}


# ---- What is worth having beside the minimum (§11.2), and the hours and money of a language
# (§10.3).

_ADVICE = (Column("name", "worth having", 46), Column("bar", "", BAR, drop=2), Column("found", "there", 10, right=True))


def worth_having(facts: ProjectFacts, folder: Path) -> SectionPage:
    """Return what is no requirement and helps, and how much of it there is."""
    done = sum(segment.translated for segment in facts.progress.segments)
    rows, about, commands = [], [], []
    for advice_item in project.advice(facts.progress, folder):
        counted = advice_item.found is not None
        rows.append(
            (
                Cell(advice_item.name),
                Cell(bar(advice_item.found, done) if advice_item.found is not None else "", "mark"),
                Cell(f"{advice_item.found} of {done}" if counted else "–", "plain" if counted else "quiet"),
            )
        )  # fmt: skip
        about.append([(f"{advice_item.name}: {advice_item.words}", "plain")])
        commands.append(advice_item.commands)
    lead: list[Line] = [("No requirement, and worth having (benchmark-specification §11.2).", "plain")]
    return SectionPage(lead, _ADVICE, rows, about, commands)


_COSTS = (
    Column("name", "what a language takes", 30, share=1),
    Column("usd", "US dollars", 14, right=True),
    Column("notes", "", 20, share=1, drop=1),
)


def costs(facts: ProjectFacts) -> SectionPage:
    """Return what a language costs until it is established, and the hours of its speakers."""
    worked = facts.costs
    total = () if worked.establishment_total is None else (worked.establishment_total,)
    rows = [
        (Cell(cost_row.name), Cell(amount(cost_row.usd)), Cell(project.cost_notes(cost_row), "quiet"))
        for cost_row in (*worked.establishment, *total)
    ]
    lead: list[Line] = [(line, "warn" if line.startswith("!") else "plain") for line in project.cost_words(worked)]
    lead.append((f"Speakers until now: {next(project.total_words(facts.worked))}", "plain"))
    lead.append((f"Numbers of {worked.source}.", "quiet"))
    mine = {
        "Write these numbers to a file, to change them": ("rosetta", "cost", "--write", "FILE.toml"),
        "Work out what your own numbers come to": ("rosetta", "cost", "FILE.toml"),
    }  # fmt: skip
    about: list[list[Line]] = [[(f"{row[0].text}: {row[1].text}", "plain"), (row[2].text, "quiet")] for row in rows]
    return SectionPage(lead, _COSTS, rows, about, [mine] * len(rows))


# ---- The sentences of a corpus in the making: by difficulty, register and where they came from;
# none of them is shown.

_SENTENCES_COLUMNS = (
    Column("side", "sorted by", 10),
    Column("which", "which", 36, share=1),
    Column("bar", "", BAR, drop=2),
    Column("count", "sentences", 9, right=True),
    Column("part", "part", 6, right=True, drop=3),
)


def sentences(facts: ProjectFacts, folder: Path) -> SectionPage:
    """Return how many sentences there are of each kind."""
    progress = facts.progress
    total = sum(segment.sources for segment in progress.segments)
    kinds = list(_kinds(facts)) if total else []
    commands = {
        "Add sentences from a file": ("rosetta", "corpus", "sources", str(folder), "FILE"),
        "Take out those that were added last": ("rosetta", "corpus", "sources", str(folder), "--undo"),
    }  # fmt: skip
    rows = [
        (
            Cell(side if number == 0 or kinds[number - 1][0] != side else "", "quiet"),
            Cell(which),
            Cell(bar(count, total), "mark"),
            Cell(f"{count:,}", "plain" if count else "quiet"),
            Cell(percent(count / total), "quiet"),
        )
        for number, (side, which, count, _) in enumerate(kinds)
    ]
    about: list[list[Line]] = [[(meaning, "quiet")] for *_, meaning in kinds]
    lead: list[Line] = []
    if total:
        lead += [
            (f"{counted(total, 'sentence')} collected; {project.middle_words(progress.by_difficulty)}.", "plain"),
            ("What they say is not shown here: some of them are secret.", "quiet"),
        ]
    return SectionPage(
        lead, _SENTENCES_COLUMNS, rows, about, [commands] * max(1, len(rows)),
        "There are no sentences yet. Press s to add them from a file: a table, or a text with one on each line.",
    )  # fmt: skip


def _kinds(facts: ProjectFacts) -> Iterator[tuple[str, str, int, str]]:
    """Yield each kind: by what it is sorted, its name, how many there are, and what it means."""
    progress = facts.progress
    for segment in progress.segments:
        plain, meaning = SEGMENTS[segment.segment]
        yield "use", plain, segment.sources, f"{segment.segment}: {meaning}"
    for tier, words in TIERS.items():
        share = percent(WEIGHTS[tier])
        meaning = f"Difficulty {tier} is {words}. About {share} of all sentences should be of it."
        yield "difficulty", f"{tier}  {words}", progress.by_difficulty.get(str(tier), 0), meaning
    registers: Mapping[str, int] = dict.fromkeys(REGISTERS, 0) | progress.by_register
    for name, count in registers.items():
        yield "register", name, count, "Sentences of two registers or more are needed."
    for name, count in progress.by_origin.items():
        yield "origin", name, count, "The corpus says of each sentence where it came from."


# ---- Who was asked about a corpus in the making, what came back, and what is still out ----

_KINDS = {"translate": "translate", "agree": "look over"}
_AGAIN = {"translate": "Hand what is out to somebody else", "agree": "Hand what is out to another second speaker"}

_SPEAKERS_COLUMNS = (
    Column("review", "review", 16, share=1),
    Column("kind", "asked to", 9),
    Column("on", "handed out", 10, drop=2),
    Column("sentences", "sentences", 9, right=True, drop=1),
    Column("back", "back", 6, right=True),
    Column("out", "still out", 9, right=True),
)


def speakers(facts: ProjectFacts, folder: Path) -> SectionPage:
    """Return the reviews in which speakers were asked, the newest first."""
    rows, about, commands = [], [], []
    for review in reversed(facts.reviews):
        rows.append(
            (
                Cell(review.review),
                Cell(_KINDS.get(review.kind, review.kind)),
                Cell(review.on, "quiet"),
                Cell(f"{review.sentences:,}"),
                Cell(f"{review.sentences - review.out:,}"),
                Cell(f"{review.out:,}" if review.out else "–", "warn" if review.out else "quiet"),
            )
        )
        about.append(list(_speakers_about(review, facts)))
        own: dict[str, project.Command] = {
            "Take in what came back on a stick": ("rosetta", "review", "import", "STICK"),
            "Take it into this corpus": ("rosetta", "corpus", "gather", str(folder)),
            "See what came back of this review": ("rosetta", "review", "status", review.review),
        }
        if review.out and review.kind in _AGAIN:
            own[_AGAIN[review.kind]] = ("rosetta", "corpus", "ask", review.kind, str(folder), "--again", "--passphrases", "-o", "STICK")  # fmt: skip
        commands.append(own)
    hand_out = {"Hand sentences to speakers, sealed": ("rosetta", "corpus", "ask", "translate", str(folder), "--passphrases", "-o", "STICK")}  # fmt: skip
    return SectionPage(
        list(_speakers_said(facts)), _SPEAKERS_COLUMNS, rows, about, commands or [hand_out],
        "No speaker has been asked yet. What to do (c) has the command that writes a file and a card for each of them.",
        waiting=sum(review.out > 0 for review in facts.reviews),
    )  # fmt: skip


def _speakers_said(facts: ProjectFacts) -> Iterator[Line]:
    segments = facts.progress.segments
    sources, done, agreed = (
        sum(getattr(segment, name) for segment in segments) for name in ("sources", "translated", "agreed")
    )
    if not sources:
        return
    came = f" ({facts.came_translated} came with the sentence)" if facts.came_translated else ""
    yield f"{done} of {counted(sources, 'sentence')} translated{came}; {agreed} looked over by a second speaker, who corrected {facts.corrected}.", "plain"  # fmt: skip
    if facts.refused:
        yield f"{counted(facts.refused, 'sentence')} without the translation that was there, to which a second speaker did not agree or which its writer took back: to be translated again.", "warn"  # fmt: skip
    if objected := facts.progress.objected:
        yield f"{counted(objected, 'translation')} to which somebody objects: in no corpus until people decide (rosetta review adjudicate).", "warn"  # fmt: skip
    if withdrawn := facts.progress.withdrawn:
        yield f"Left out: {project.withdrawn_words(withdrawn)}.", "warn"
    yield "Speakers are known by the letters of their review; no name is kept.", "quiet"


def _speakers_about(asked: AskedReview, facts: ProjectFacts) -> Iterator[Line]:
    what = "Translations" if asked.kind == "translate" else "Looked over"
    counts = ", ".join(f"{count} by {who or 'nobody'}" for who, count in asked.people.items())
    yield f"{asked.review} · {what}: {counts or 'none in the corpus yet'}", "plain"
    for work in facts.worked or ():
        if work.review == asked.review:
            yield (
                f"{work.hours:.1f} hours of work at sentences, by {counted(work.people, 'person', 'people')}",
                "quiet",
            )
    if asked.out:
        yield f"Of {counted(asked.out, 'sentence')} nothing came back that may be used.", "warn"
