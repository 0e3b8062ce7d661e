"""Who was asked about a corpus in the making, what came back, and what is still out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rosetta_tui.project.facts import AskedReview, ProjectFacts
from rosetta_tui.report.project import withdrawn_words
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.section_page import Commands, Line, SectionPage
from scoring.core.messages import counted

_KINDS = {"translate": "translate", "agree": "look over"}
_AGAIN = {
    "translate": "Hand what is out to somebody else",
    "agree": "Hand what is out to another second speaker",
}

_COLUMNS = (
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
        about.append(list(_about(review, facts)))
        commands.append(_commands(review, folder))
    hand_out = {"Hand sentences to speakers, sealed": ("rosetta", "corpus", "translate", str(folder), "--passphrases", "-o", "STICK")}  # fmt: skip
    return SectionPage(
        list(_said(facts)), _COLUMNS, rows, about, commands or [hand_out],
        "No speaker has been asked yet. What to do (c) has the command that writes a file and a card for each of them.",
        waiting=sum(review.out > 0 for review in facts.reviews),
    )  # fmt: skip


def _said(facts: ProjectFacts) -> Iterator[Line]:
    segments = facts.progress.segments
    sources, done, agreed = (
        sum(getattr(segment, name) for segment in segments)
        for name in ("sources", "translated", "agreed")
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
        yield f"Left out: {withdrawn_words(withdrawn)}.", "warn"
    yield "Speakers are known by the letters of their review; no name is kept.", "quiet"


def _about(asked: AskedReview, facts: ProjectFacts) -> Iterator[Line]:
    what = "Translations" if asked.kind == "translate" else "Looked over"
    counts = ", ".join(f"{count} by {who or 'nobody'}" for who, count in asked.people.items())
    yield f"{asked.review} · {what}: {counts or 'none in the corpus yet'}", "plain"
    for working_time in facts.worked or ():
        if working_time.review == asked.review:
            yield (
                f"{working_time.hours:.1f} hours of work at sentences, by {counted(working_time.people, 'person', 'people')}",
                "quiet",
            )
    if asked.out:
        yield f"Of {counted(asked.out, 'sentence')} nothing came back that may be used.", "warn"


def _commands(asked: AskedReview, folder: Path) -> Commands:
    again = ("rosetta", "corpus", asked.kind, str(folder), "--again", "--passphrases", "-o", "STICK")  # fmt: skip
    return {
        "Take in what came back on a stick": ("rosetta", "review", "import", "STICK"),
        "Take it into this corpus": ("rosetta", "corpus", "gather", str(folder)),
        "See what came back of this review": ("rosetta", "review", "status", asked.review),
        **({_AGAIN[asked.kind]: again} if asked.out and asked.kind in _AGAIN else {}),
    }
