"""The page on a stick that a speaker opens first: what to do on which computer, in English and French.

Its texts are ours and hold marks of HTML; nothing from outside is on it but the code and the words of a sample.
Links and codes are drawn here, too, as QR codes for a page of cards and for a terminal.
"""

from __future__ import annotations

import tomllib
from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple, TypedDict
from urllib.parse import quote

import segno
from markupsafe import Markup

from corpora.text.messages import counted
from harness.sealed.stick import START_HERE
from rosetta_tui.html.page import render

if TYPE_CHECKING:
    from review.office.making.publishing import CardSheet


class SampleFacts(NamedTuple):
    """What a sample on the stick asks for; no secret."""

    code: str
    phrase: str  # its six words


class StepPicture(NamedTuple):
    words: str  # what it shows
    png: bytes


class Article(NamedTuple):
    """The page in one language; marks of HTML in its texts are ours."""

    tag: str
    texts: object  # by name
    programs: list[object]  # name and steps of those on the stick
    missing: str  # which are not on it
    drawn: list[tuple[str, str]]  # what each picture shows, and the picture as an address


def start_here_page(
    systems: Collection[str],
    sample: SampleFacts | None = None,
    pictures: Mapping[str, Sequence[StepPicture]] | None = None,
    *,
    pages: Sequence[str] = (),
) -> str:
    """Return the page. ``systems`` are those whose program is on the stick, ``pictures`` are by language, ``pages`` names of files."""
    drawn = pictures or {}
    facts = {"code": "", "phrase": ""} if sample is None else sample._asdict()
    articles = []
    for tag, texts in start_here_texts().items():
        programs = texts["systems"]
        missing = texts["missing_beside_page" if pages else "missing"]
        lacking = [program["name"] for system, program in programs.items() if system not in systems]
        articles.append(
            Article(
                tag,
                _filled(
                    {name: text for name, text in texts.items() if not name.startswith(("systems", "missing"))}, facts
                ),
                [_filled(programs[system], facts) for system in programs if system in systems],
                missing.format(systems=", ".join(lacking)) if lacking else "",
                [(p.words, f"data:image/png;base64,{b64encode(p.png).decode()}") for p in drawn.get(tag, ())],
            )
        )
    return render(
        "start_here.html.j2", style_file="start_here.css", pictures=True, articles=articles, sample=sample,
        pages=[(name, quote(name)) for name in pages],
    )  # fmt: skip


class SystemTexts(TypedDict):
    """What the page says of one kind of computer."""

    name: str
    steps: list[str]


class StartHereTexts(TypedDict):
    """What the page says in one language; ``shown`` are the words of its pictures."""

    name: str
    title: str
    lead: str
    which: str
    pictures: str
    sample: str
    sample_steps: list[str]
    real: str
    own: str
    real_steps: list[str]
    trouble: str
    trouble_steps: list[str]
    whole_steps: list[str]
    missing: str
    missing_beside_page: str
    installed: str
    browser: str
    browser_steps: list[str]
    shown: dict[str, str]
    systems: dict[str, SystemTexts]


@cache
def start_here_texts() -> dict[str, StartHereTexts]:
    """Return what the page says, by language."""
    texts: dict[str, StartHereTexts] = tomllib.loads(
        files("rosetta_tui.html").joinpath("start_here.toml").read_text("utf-8")
    )
    return texts


def _filled(text: object, facts: Mapping[str, str]) -> object:
    """Return texts of ours as HTML, the facts filled in and escaped."""
    if isinstance(text, str):
        return Markup(text).format(**facts)  # noqa: S704
    if isinstance(text, list):
        return [_filled(line, facts) for line in text]
    if isinstance(text, Mapping):
        return {name: _filled(value, facts) for name, value in text.items()}
    raise TypeError(f"A text of the page is a {type(text).__name__}.")


# ---- The cards of a review as one page to print and cut: two on each sheet of A4 or Letter, in
# two languages.

ON_A_SHEET = 2
_MOST_LETTERS = 70  # characters of a title or a name of an organisation that a card has room for


@dataclass(frozen=True, slots=True)
class CardFact:
    kind: str  # `code`, `file`, `phrase` or `words`: how it is set
    name: str  # in each language of the card
    value: str


@dataclass(frozen=True, slots=True)
class PrintedCard:
    number: int
    facts: tuple[CardFact, ...]
    code_picture: Markup | None  # QR code; None without a page
    pictures: dict[str, str]  # `scan` or a drawing for telephones → the words next to it; empty without a page


def cards_page(sheet: CardSheet) -> str:
    """Return the page. It holds the code of every person: it is for the organiser alone."""
    printed = []
    names = {
        field.name: " · ".join(dict.fromkeys(getattr(texts, field.name) for texts in sheet.texts))
        for field in fields(sheet.texts[0])
    }
    for number, card in enumerate(sheet.cards, 1):
        values = {"code": card.code, "file": card.file, "phrase": sheet.phrase, "words": card.words}
        facts = (CardFact(kind, names[kind], value) for kind, value in values.items() if value is not None)
        drawn = ("scan", "android", "computer" if card.words else "iphone") if card.page else ()
        pictures = {kind: names[kind] for kind in drawn}
        code_picture = picture(card.code, names["scan"]) if card.page else None
        printed.append(PrintedCard(number, tuple(facts), code_picture, pictures))
    sheets = [printed[at : at + ON_A_SHEET] for at in range(0, len(printed), ON_A_SHEET)]
    return render(
        "cards.html.j2",
        title=_cut(sheet.title),
        organisation=_cut(sheet.organisation),
        texts=sheet.texts,
        page=START_HERE,
        sheets=sheets,
        count=len(printed),
        amount=f"{counted(len(printed), 'card')} on {counted(len(sheets), 'sheet')}",
        sealed=any(card.words for card in sheet.cards),
        style_file="cards.css",
    )


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


# ---- Links and codes of a review as pictures that a telephone's camera reads (QR codes).


def hall_cards(title: str, organisation: str, links: Sequence[tuple[int, str, str]]) -> str:
    """Return a page of (number, code, link): each link opens the review for one person, so it is for the organiser alone."""
    cards = [(number, code, link, picture(link, code)) for number, code, link in links]
    return render("hall.html.j2", title=title, organisation=organisation, cards=cards, style_file="cards.css")


def picture(text: str, title: str) -> Markup:
    """Return a text as a QR code in SVG, as wide as its place, with a title for screen readers; the same bytes each time."""
    symbol = segno.make_qr(text, error="m")
    return Markup(symbol.svg_inline(title=title, omitsize=True, border=2, svgclass=None, lineclass=None))  # noqa: S704


def terminal_picture(text: str) -> str:
    """Return a text as lines of half blocks, dark on light whatever the terminal's colours are."""
    lines = StringIO()
    segno.make(text, error="l").terminal(lines, compact=True, border=2)
    return lines.getvalue()
