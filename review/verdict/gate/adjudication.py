"""The blind queue: items that were flagged or that split the panel, without system and without names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Final

from harness.core.failures import UsageError
from harness.core.storage import storable
from review.log.fold import Adjudication, ReviewerState, State
from review.log.payloads import MOST_TEXT, Adjudicate
from review.rating import RANKS, CannotJudge, Rating, Reason
from review.verdict.gate.gate import is_split
from review.verdict.gate.key import AnswerKey, counted

MOST_GROUNDS: Final = 200  # Characters of a reason, and of a name
_QUOTATION: Final = 3  # Words in a row from which on a text is quoted


@dataclass(frozen=True, slots=True)
class ItemComment:
    """What one person wrote about an item beside their rating; nothing tells who."""

    rating: Rating | None  # None where this person could not judge it
    reasons: tuple[Reason, ...]
    comment: str
    suggestion: str  # A better wording


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What people said of an item when they were asked once more; it counts in no verdict."""

    counts: tuple[int, int, int, int]  # How many gave each rating, from reject to excellent
    cannot_judge: int
    both: int  # People who rated it in both rounds
    changed: int  # Those of them who gave another rating than before
    flags: int  # People who called it harmful then
    voices: tuple[ItemComment, ...]

    @property
    def anything(self) -> bool:
        """Return whether anything came back."""
        return bool(any(self.counts) or self.cannot_judge or self.flags or self.voices)


@dataclass(frozen=True, slots=True)
class Case:
    """One item to decide about."""

    item: str
    batch: str  # Where it was rated
    # People who call it harmful or culturally wrong; without a verdict also who says that it should
    # not be shown around
    flags: int
    counts: tuple[int, int, int, int]  # How many people gave each rating, from reject to excellent
    cannot_judge: int
    decided: Adjudication | None  # The last word so far
    # What people wrote about it, in its own order, so that nobody can be followed from item to item
    voices: tuple[ItemComment, ...] = ()
    # What was said in a second look; None where there was none, or nothing came back
    second: SecondLook | None = None

    @property
    def is_split(self) -> bool:
        """Return whether ratings lie two steps apart or more."""
        return is_split(self.counts)

    @property
    def harmful(self) -> bool | None:
        """Return the last decision: upheld, cleared, or None."""
        return None if self.decided is None else self.decided.harmful

    @property
    def may_be_decided(self) -> bool:
        """Return whether there is something to uphold or to clear: a flag, or a decision to change."""
        return self.all_flags > 0 or self.harmful is not None

    @property
    def all_flags(self) -> int:
        """Flags of both rounds; somebody who flagged it in both counts twice."""
        return self.flags + (0 if self.second is None else self.second.flags)

    def takes_back(self, harmful: bool | None) -> bool:
        """Return whether deciding so once more takes the decision back."""
        return harmful is not None and harmful is self.harmful

    @property
    def is_open(self) -> bool:
        """Return whether a flag waits for a decision."""
        return self.all_flags > 0 and self.harmful is None


def queue(state: State, key: AnswerKey, seconds: Mapping[str, SecondLook] = MappingProxyType({})) -> list[Case]:
    """Return the cases of all runs of a review: flagged ones first, in an order that tells nothing of the run.

    Controls are left out: they were spoilt on purpose, or are a person's. A flag on a second showing counts for
    the first one. ``seconds`` is item → what was said of it in a second look.
    """
    cases, heard = [], counted(state, key)
    for item, about in key.items.items():
        if about.control is not None:
            continue
        counts, flags, unjudged, batch = [0] * RANKS, 0, 0, key.batches[0]
        for _, place, reviewer_state in heard:
            judged = reviewer_state.judgements.get(item)
            kept = judged is not None and judged.why_not is CannotJudge.NOT_TO_SHARE and not key.runs
            flags += kept or item in {key.first_showing(flagged) for flagged in reviewer_state.harmful}
            if judged is None:
                continue
            batch = place
            if judged.rating is None:
                unjudged += 1
            else:
                counts[judged.rating.rank] += 1
        four = (counts[0], counts[1], counts[2], counts[3])
        words = voices(((who, comment) for who, _, comment in heard), item, key)
        case = Case(item, batch, flags, four, unjudged, state.adjudications.get(item), tuple(words), seconds.get(item))
        if case.flags or case.is_split or case.decided:
            cases.append(case)
    return sorted(cases, key=lambda case: (not case.all_flags, sha256(case.item.encode()).digest()))


def voices(heard: Iterable[tuple[str, ReviewerState]], item: str, key: AnswerKey) -> list[ItemComment]:
    """Return what people (person, what was said) wrote about an item, a second showing of it included."""
    shown = [showing for showing in key.items if key.first_showing(showing) == item]
    by_digest: dict[bytes, ItemComment] = {}
    for who, reviewer in heard:
        for showing in shown:
            reasons = reviewer.reasons.get(showing, ())
            comment, suggestion = reviewer.comments.get(showing, ""), reviewer.suggestions.get(showing, "")
            if reasons or comment or suggestion:
                judged = reviewer.judgements.get(showing)
                rating = None if judged is None else judged.rating
                digest = sha256(f"{item} {showing} {who}".encode()).digest()
                by_digest[digest] = ItemComment(rating, reasons, comment, suggestion)
    return [voice for _, voice in sorted(by_digest.items())]


@dataclass(frozen=True, slots=True)
class Grounds:
    """Why a flag was upheld or cleared, and who decided; both are on certificates."""

    reason: str
    by: str


def grounds(reason: str, by: str, texts: Iterable[str]) -> Grounds:
    """Return the grounds of a decision; UsageError where one lacks, is too long, or quotes one of the item's texts.

    They are published, and the texts may be secret: three words of a text in a row, or all of a shorter one, are
    a quotation.
    """
    given = Grounds(*(" ".join(storable(typed).split()) for typed in (reason, by)))
    for name, text in (("reason", given.reason), ("name of who decides", given.by)):
        if not text:
            raise UsageError(f"A decision needs a {name}: it is on the certificate.")
        if len(text) > MOST_GROUNDS:
            raise UsageError(f"The {name} has {len(text)} characters; {MOST_GROUNDS} are kept. Shorten it.")
        if any(_quotes(text, text_of_sentence) for text_of_sentence in texts):
            raise UsageError(f"The {name} repeats words of the sentence, and it is published. Say it without quoting.")
    return given


def _quotes(said: str, text: str) -> bool:
    words, quoted = _words(said), _words(text)
    size = min(_QUOTATION, len(quoted))
    parts = {tuple(words[place : place + size]) for place in range(len(words) - size + 1)}
    return size > 0 and any(tuple(quoted[place : place + size]) in parts for place in range(len(quoted) - size + 1))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFC", text).casefold())


def decisions(case: Case, harmful: bool | None, note: str, wall: str, why: Grounds | None = None) -> list[Adjudicate]:
    """Return the events of a decision; the same one again takes it back, None leaves it and only adds a note.

    Note and decision are two events, because evidence of a verdict must hold the decision and no text. The
    decision comes last, for the last word counts. UsageError where nobody flagged the item, for a decision
    without grounds, or for a note that is too long.
    """
    if harmful is not None and not case.may_be_decided:
        raise UsageError("Nobody flagged this one, so there is nothing to uphold or clear.")
    text = storable(note).strip()
    if len(text) > MOST_TEXT:
        raise UsageError(f"The note has {len(text):,} characters; {MOST_TEXT:,} are kept. Shorten it.")
    about = {"wall": wall, "batch": case.batch, "item": case.item}
    adjudicates = [Adjudicate(**about, harmful=None, note=text)] if text else []
    if case.takes_back(harmful):
        return [*adjudicates, Adjudicate(**about, harmful=None, note="")]
    if harmful is not None:
        if why is None:
            raise UsageError("A decision needs a reason and the name of who decides.")
        return [*adjudicates, Adjudicate(**about, harmful=harmful, note="", reason=why.reason, by=why.by)]
    decided = case.decided
    if adjudicates and decided is not None and decided.harmful is not None:
        # The decision once more; grounds that were never given are not made up
        words = {"reason": decided.reason, "by": decided.by} if decided.reason else {}
        adjudicates.append(Adjudicate(**about, harmful=decided.harmful, note="", **words))
    return adjudicates
