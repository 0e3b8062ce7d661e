"""What speakers said about a corpus in the making, counted; and an entry of it with other words than before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.project.state import DraftTexts, Project, ProjectEntry


@dataclass
class Gathered:
    """What was taken into a project, in numbers and ids of entries; each id once."""

    translated: int = 0
    unshared: int = 0
    """Translations of people who did not say that theirs may be used."""
    beside: int = 0
    """Translations that came back although another review's translation of the sentence stands."""
    withheld: int = 0
    """Sentences that somebody called harmful or not to be shown around."""
    agreed: int = 0
    corrected: int = 0
    """By the wording that a second speaker wrote."""
    refused: list[int] = field(default_factory=list)
    """Entries whose translation a second speaker did not agree to, without a better one: to be translated again."""
    unjudged: list[int] = field(default_factory=list)
    """Entries that a second speaker examined and could not judge: another one is to be asked."""
    own: list[int] = field(default_factory=list)
    """Entries that somebody looked over on the laptop on which they were translated, which is no agreement."""
    objected: list[int] = field(default_factory=list)
    """Entries whose translation a second speaker called harmful, or not to be shown around: people decide."""
    taken_back: list[int] = field(default_factory=list)
    """Entries that lose words, or an agreement, because their person took them back or does not let them be used any more."""
    other_wording: list[int] = field(default_factory=list)
    """Entries of which second speakers answered about another wording than the one that is there now."""
    waiting: list[int] = field(default_factory=list)
    """Entries of which nothing came back yet."""

    def look_again(self) -> None:
        """Forget how things stand, before they are examined once more; what was changed stays."""
        for laptops in (self.unjudged, self.own, self.objected, self.other_wording, self.waiting):
            laptops.clear()


def note(entry: ProjectEntry, among: list[int]) -> None:
    """Name an entry, once."""
    if entry.id not in among:
        among.append(entry.id)


def without_words(project: Project, entry: ProjectEntry, found: Gathered) -> ProjectEntry:
    """Return an entry whose words were taken back, for others to translate."""
    note(entry, found.taken_back)
    return emptied(project, entry)


def emptied(
    project: Project, entry: ProjectEntry, came: Sequence[str] | None = None
) -> ProjectEntry:
    """Return an entry that is to be translated again, by anyone who, and examined again; nothing of what was there is kept.

    ``came``: wordings that came with the source and may come back; None for those that are kept already.
    """
    gone = {
        "translated": None,
        "agreed": None,
        "agreed_also": (),
        "objected": False,
        "refused": _done_with(project, entry),
    }
    before = project.texts(entry)
    kept = before.came if came is None else tuple(came)
    texts = replace(before, reference="", variants=(), offered=(), came=kept)
    return with_words(project, entry.model_copy(update=gone), texts)


def _done_with(project: Project, entry: ProjectEntry) -> tuple[str, ...]:
    """Return the reviews of an entry that are done with: that of its translation, and those that asked second speakers about it."""
    looked = [
        out.review
        for out in project.state.reviews
        if out.kind == "agree" and entry.id in out.entries
    ]
    own = [entry.translated.review] if entry.translated else []
    return tuple(dict.fromkeys((*entry.refused, *own, *looked)))


def with_words(project: Project, entry: ProjectEntry, texts: DraftTexts) -> ProjectEntry:
    """Return an entry with these texts; a confirmed analysis of another translation goes."""
    if texts.reference == project.texts(entry).reference:
        return project.with_texts(entry, texts)
    without = replace(texts, analysis="")
    return project.with_texts(entry.model_copy(update={"analysed": None}), without)
