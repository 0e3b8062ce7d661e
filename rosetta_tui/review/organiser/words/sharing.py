"""Whose translations and better wordings may be used, in words for the organiser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from review.office.results.progress import ReviewerProgress, ReviewProgress

HOW_TO_ALLOW = "Ask them: they can change their answer in the program at any time, and then hand over once more."


def may_be_used(person: ReviewerProgress) -> str:
    """Return a person's last word; nothing where nothing came yet."""
    if not person.consented:
        return ""
    return "yes" if person.shares else "no"


def kept_back_words(found: ReviewProgress) -> Iterator[str]:
    """Say how many translations are here and may not be used, and what can be done."""
    people = [each for each in found.reviewers if each.kept_back]
    if not people:
        return
    count = sum(each.kept_back for each in people)
    who = "1 person" if len(people) == 1 else f"{len(people)} people"
    what = "translation" if count == 1 else "translations"
    yield f"NOT TO BE USED: {count} {what} of {who} who did not say that theirs may be used. {HOW_TO_ALLOW}"
