"""The cards of a review: whole on paper, each with its own person's code, harmless whatever the names are."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from review.office.making.publishing import CardSheet, ReviewerCard
from review.office.making.texts import Kind, review_texts
from rosetta_tui.html.stick_pages import ON_A_SHEET, cards_page
from tests.tui.html.strict import PLANTED, StrictPage

CODES = ("0O1I-LB8S", "7KQ2-MN31", "HXXD-RK0R")
FILE = "words-translate-1-2.rosetta-batch"
WORDS = "hahuy rozih dobal duyoy mibik"


def sheet(
    language: str = "en",
    task: Kind = "translate",
    words: str | None = WORDS,
) -> CardSheet:
    cards = [ReviewerCard(code, FILE, words) for code in CODES]
    phrase, texts = "galaxy ladder import actuary colon murmur", review_texts(language, task)
    return CardSheet("Sentences to translate", "Language House", phrase, texts.cards, cards)


def test_each_card_has_the_code_of_one_person_and_two_languages() -> None:
    page = cards_page(sheet("fr"))
    StrictPage(page)
    head, *cards = page.split("<article")
    assert not any(code in head for code in CODES)
    for number, (card, code) in enumerate(zip(cards, CODES, strict=True), 1):
        assert [each in card for each in CODES] == [each == code for each in CODES]
        assert f"{number} / 3" in card
        assert re.findall(r'<div lang="(..)">', card) == ["fr", "en"]
        assert card.count("<li>") == 6
        assert "Votre code · Your code" in card
    assert "hahuy" not in cards_page(replace(sheet(), cards=[ReviewerCard(CODES[0], FILE, None)]))


def test_names_are_shown_and_do_nothing() -> None:
    for text in (*PLANTED, "\x1b[2J\u202e"):
        page = cards_page(replace(sheet(), title=text, organisation=text * 5))
        StrictPage(page)
        assert not re.search(
            "<script|<img|onload=.document|\x1b|\u202e", re.sub("&lt;[^;]*", "", page)
        )


BROWSER = shutil.which("chromium")


@pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")
@pytest.mark.costly("pages in a real browser")
@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("words", [None, WORDS], ids=["open", "sealed"])
def test_cards_fit_two_on_a_sheet(tmp_path: Path, paper: str, words: str | None) -> None:
    page = cards_page(sheet("fr", words=words))
    path, printed = tmp_path / "cards.html", tmp_path / "cards.pdf"
    policy = re.sub(r"style-src [^;]*", "style-src 'unsafe-inline'", page)
    path.write_text(policy.replace("@page { ", f"@page {{ size: {paper}; "), "utf-8")
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", f"--print-to-pdf={printed}", path.as_uri()]  # fmt: skip
    subprocess.run(command, capture_output=True, check=True, timeout=60)
    sheets = len(re.findall(rb"/Type */Page\b", printed.read_bytes()))
    assert sheets == -(-len(CODES) // ON_A_SHEET)
