"""What was taken into a corpus in the making, in words for anyone who makes it: counts and entries, never a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rosetta_tui.review.organiser.words.imported import HOW_TO_ALLOW
from scoring.core.messages import counted

if TYPE_CHECKING:
    from review.office.results.gathered import Gathered


def taken_words(found: Gathered) -> str:
    """Return what was imported."""
    return f"Taken in: {counted(found.translated, 'translation')}, {found.agreed} agreed to, {found.corrected} corrected."


def left_lines(found: Gathered) -> Iterator[str]:
    """Yield what was left out, taken back or not agreed to, and what to do about it."""
    if found.waiting:
        yield f"{counted(len(found.waiting), 'sentence')} with speakers, of which there is no answer so far that may be used."
    if found.unshared:
        yield f"Left out: {counted(found.unshared, 'translation')} of people who did not say that theirs may be used. {HOW_TO_ALLOW}"
    if found.beside:
        yield f"Left out: {counted(found.beside, 'translation')} of sentences that another review translated. If that one is taken back or refused, gather takes these."
    if found.withheld or found.objected:
        many = counted(found.withheld + len(found.objected), "sentence")
        named = f" ({_named(found.objected)})" if found.objected else ""
        yield f"Left out: {many} that somebody called harmful or not to be shown around{named}. Talk with them; `rosetta review adjudicate` clears a flag."
    if found.unjudged:
        yield f"A second speaker could not judge: {_named(found.unjudged)}. To be examined by another one (rosetta corpus agree --again)."
    if found.own:
        yield f"No agreement: {_named(found.own)}, looked over on the laptop of the translation. Give it to another speaker (rosetta corpus agree --again), or if that was another person: rosetta corpus gather --shared-laptop REVIEW."
    if found.other_wording:
        yield f"Answers about another wording than the one that is there now: {_named(found.other_wording)}. Give it to a second speaker (rosetta corpus agree --again)."
    if found.taken_back:
        yield f"Taken back by who said it, and out of the corpus: {_named(found.taken_back)}."
    if found.refused:
        yield f"A second speaker did not agree, and wrote no better one: {_named(found.refused)}. What is left without a translation waits for another one (rosetta corpus translate)."


def _named(entries: list[int]) -> str:
    numbers = ", ".join(map(str, sorted(entries)))
    return f"{'entry' if len(entries) == 1 else 'entries'} {numbers}"
