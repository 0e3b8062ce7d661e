"""What the app itself does with a corpus in the making, by the same functions as the commands; it shows counts, and no sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpora.model.entry import REGISTERS
from harness.core.failures import UsageError
from harness.project.authoring import changing
from harness.project.candidates import (
    CandidateDefaults,
    read_candidates,
    take_candidates,
    undo_last,
)
from review.office.making.reviews_made import known_reviews
from review.office.results.into_project import gather
from review.office.store.store import Office
from rosetta_tui.report.project import added_words, erase_words, left_out_lines, taken_out_words
from rosetta_tui.review.organiser.words.gathered import left_lines, taken_words
from rosetta_tui.toolkit.section_page import Line

TIERS = ("1", "2", "3", "4", "5")


@dataclass(frozen=True)
class WantedSentences:
    """Which sentences are to be added."""

    file: Path
    difficulty: str = ""
    """1 to 5, of those that name none; empty: each names its own."""
    register: str = ""
    most: str = ""
    """How many at most; empty: all of them."""


def checked(wanted: WantedSentences) -> tuple[CandidateDefaults, int | None]:
    """Return what holds of sentences that do not say it themselves, and how many are taken; UsageError names the field."""
    if wanted.difficulty and wanted.difficulty not in TIERS:
        raise UsageError(f"Difficulty {wanted.difficulty[:20]!r}: write a number from 1, basic, to 5, advanced, or leave it empty.")  # fmt: skip
    if wanted.register and wanted.register not in REGISTERS:
        raise UsageError(f"Register {wanted.register[:20]!r}: permitted are {', '.join(REGISTERS)}. Or leave it empty.")  # fmt: skip
    whole = wanted.most.isascii() and wanted.most.isdigit() and int(wanted.most) > 0
    if wanted.most and not whole:
        raise UsageError(f"At most {wanted.most[:20]!r}: write how many sentences, such as 104, or leave it empty.")  # fmt: skip
    tier = int(wanted.difficulty) if wanted.difficulty else None
    return CandidateDefaults(difficulty=tier, register=wanted.register or None), int(
        wanted.most or 0
    ) or None


def add_sentences(folder: Path, home: Path, wanted: WantedSentences) -> Sequence[Line]:
    """Add the sentences of a file, and say what became of them; UsageError and CorpusError in words, and then nothing is changed."""
    usual, most = checked(wanted)
    with changing(folder, home) as project:
        taken = take_candidates(project, read_candidates(project, wanted.file), usual, most)
    lines: list[Line] = [(added_words(taken), "good" if taken.entries else "warn")]
    lines += [(line, "quiet") for line in left_out_lines(taken)]
    if taken.secret:
        lines.append((erase_words(folder, wanted.file), "warn"))
    return lines


def take_out_last(folder: Path, home: Path) -> Sequence[Line]:
    """Remove the sentences that were added last, and say how many they were; UsageError where speakers have some of them."""
    with changing(folder, home) as project:
        gone = undo_last(project)
    return [(taken_out_words(gone), "plain")]


def gather_here(folder: Path, home: Path) -> Sequence[Line]:
    """Import what came back from speakers, and return what was left out; HarnessError in words. Once more changes nothing."""
    with changing(folder, home) as project:
        known_reviews(project)
        with Office.open(home) as office:
            gathered = gather(project, office)
    return [(taken_words(gathered), "plain"), *((line, "warn") for line in left_lines(gathered))]
