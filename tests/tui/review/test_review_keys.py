"""Every key that stands at the foot of a page of the terminal does there what its words say, in every language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from review.session.choice import Choice
from review.session.view import Phase, TextField, Unsaved, View
from review.session.words.catalogue import Words, languages
from review.session.words.keys import ONWARD_OF, act_of
from rosetta_tui.review.mis_drawn import MisDrawn
from rosetta_tui.review.rating.pages.agreeing import (
    ConsentPage,
    OrganisationPage,
    RelationPage,
    SharingPage,
    WarningPage,
)
from rosetta_tui.review.rating.pages.choosing import AskPage, ChoosePage, LanguagePage, Question
from rosetta_tui.review.rating.pages.handing_over import WithdrawPage
from rosetta_tui.review.rating.pages.page import HelpPage, Page
from rosetta_tui.review.rating.pages.resting import PAUSES, PausePage
from tests.review.session.scenes import batch_of
from tests.tui.review.reviewing import Reviewing

NAMES = {"Enter": "enter", "Esc": "escape"}
OF_WIDGETS = {"submit", "choose", "open"}
"""Done by the box or the list that has the focus, which takes Enter itself."""


def pages(app: Reviewing, words: Words) -> list[Page[Any]]:
    manifest = batch_of().manifest
    app.doors.words = words
    read = ConsentPage(words, manifest)
    read._end_shown = True
    view = View(
        Phase.END,
        3,
        4,
        skipped=1,
        can_undo=True,
        unsaved=(Unsaved("a", 1, frozenset({TextField.COMMENT})),),
    )
    return [
        ChoosePage(app.doors, []),
        ChoosePage(app.doors, [Choice("Spring")]),
        LanguagePage(app.doors),
        AskPage(words, Question("place", "asked", "about")),
        OrganisationPage(words, batch_of()),
        WarningPage(words, next(iter(MisDrawn))),
        ConsentPage(words, manifest),
        read,
        SharingPage(words, manifest),
        RelationPage(words),
        HelpPage(words),
        WithdrawPage(words),
        *(page(words, view) for page in PAUSES.values()),
    ]


@pytest.mark.parametrize("language", languages())
def test_every_key_shown_is_bound_to_what_its_words_do(tmp_path: Path, language: str) -> None:
    words = Words.load(language)
    names = {words(name): key for name, key in NAMES.items()}
    app = Reviewing(tmp_path, batch_of())
    try:
        for page in pages(app, words):
            for hint in page.hints():
                key = names.get(hint.key, hint.key)
                bound = {each.action for each in page._bindings.key_to_bindings.get(key, ())}
                if isinstance(page, PausePage) and (act := act_of(key)) in ONWARD_OF:
                    bound.add(f"onward('{ONWARD_OF[act].name}')")
                by_widget = key == "enter" and hint.action in OF_WIDGETS
                assert hint.action in bound or by_widget, (type(page).__name__, hint, bound)
                assert hasattr(page, f"action_{hint.action.partition('(')[0]}")
    finally:
        app.laptop.close()


def test_what_is_not_wanted_now_is_left_by_one_key_on_every_page_before_the_first_sentence(
    tmp_path: Path,
) -> None:
    """As in the window: Esc; the letter of another act never stands for it."""
    words, app = Words.load("en"), Reviewing(tmp_path, batch_of())
    try:
        for page in pages(app, words)[3:10]:
            leaving = [hint.key for hint in page.hints() if hint.action == "leave"]
            assert leaving in (["Esc"], ["Enter"]), type(page).__name__
    finally:
        app.laptop.close()
