"""The words in which reviewers judge (benchmark-specification §7.3); what is stored, never what is shown."""

from __future__ import annotations

from enum import StrEnum


class Rating(StrEnum):
    """How good a translation is, from the worst; the order is the rank."""

    REJECT = "reject"  # Wrong, or not the language
    GIST = "gist"  # The meaning is clear, the phrasing is wrong
    ACCEPTABLE = "acceptable"  # Correct with minor issues
    EXCELLENT = "excellent"  # As a good speaker would say it

    @property
    def rank(self) -> int:
        """Place from the worst, 0–3."""
        return list(Rating).index(self)


LEAST_ACCEPTABLE = Rating.ACCEPTABLE.rank  # From this rank on a translation counts as usable

# Number of ranks: statistics name the whole domain, because an unused rating still is a step of the
# scale
RANKS = len(Rating)


class Reason(StrEnum):
    """What is wrong with a translation; a person may name several."""

    WRONG_MEANING = "wrong_meaning"
    MISSING = "missing"
    ADDED = "added"
    GRAMMAR = "grammar"
    WORD_FORM = "word_form"
    SOURCE_LANGUAGE = "source_language"  # Words of the source language were left in
    SPELLING = "spelling"
    REGISTER = "register"  # Right words in the wrong tone or for the wrong people


class Relation(StrEnum):
    """What a person says of themselves and the method that is judged."""

    MADE = "made"  # Took part in making it
    KNOWS = "knows"  # Knows who made it
    NEITHER = "neither"


class CannotJudge(StrEnum):
    """Why a person does not judge an item."""

    OTHER_DIALECT = "other_dialect"
    UNCLEAR_SOURCE = "unclear_source"
    SUBJECT = "subject"  # It is about something this person knows too little of
    NOT_TO_SHARE = "not_to_share"  # It should not be shown around: a matter of culture
    UNSAID = "unsaid"
    # It cannot be read on this computer, which lacks letters or draws them wrongly; since batches
    # of version 3
    NOT_SHOWN = "not_shown"
