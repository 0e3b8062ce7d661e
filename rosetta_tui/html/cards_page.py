"""The cards of a review as one page to print and cut: two on each sheet of A4 or Letter, in two languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.sealed.stick import START_HERE
from rosetta_tui.html.page import render
from scoring.core.messages import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from review.office.making.publishing import CardSheet, ReviewerCard

ON_A_SHEET = 2
_MOST_LETTERS = 70
"""Characters of a title or a name of an organisation that a card has room for."""


@dataclass(frozen=True, slots=True)
class CardFact:
    """One line of a card."""

    kind: str
    """``code``, ``file``, ``phrase`` or ``words``: how it is set."""
    name: str
    """In each language of the card."""
    value: str


@dataclass(frozen=True, slots=True)
class PrintedCard:
    """One card as the template shows it."""

    number: int
    facts: tuple[CardFact, ...]


def cards_page(sheet: CardSheet) -> str:
    """Return the page. It holds the code of every person: it is for the organiser alone."""
    printed = [
        PrintedCard(number, tuple(_facts(sheet, card)))
        for number, card in enumerate(sheet.cards, 1)
    ]
    sheets = [printed[at : at + ON_A_SHEET] for at in range(0, len(printed), ON_A_SHEET)]
    return render(
        "cards.html.j2",
        {
            "title": _cut(sheet.title),
            "organisation": _cut(sheet.organisation),
            "texts": sheet.texts,
            "page": START_HERE,
            "sheets": sheets,
            "count": len(printed),
            "amount": f"{counted(len(printed), 'card')} on {counted(len(sheets), 'sheet')}",
            "sealed": any(card.words for card in sheet.cards),
        },
        style_file="cards.css",
    )


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def _facts(sheet: CardSheet, card: ReviewerCard) -> Iterator[CardFact]:
    values = {"code": card.code, "file": card.file, "phrase": sheet.phrase, "words": card.words}
    for kind, value in values.items():
        if value is not None:
            names = dict.fromkeys(getattr(texts, kind) for texts in sheet.texts)
            yield CardFact(kind, " · ".join(names), value)
