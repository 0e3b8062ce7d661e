"""A visit up to the page that asks for consent."""

from __future__ import annotations

from review.desktop.pages.first_pages import AskingPage, ConsentPage, OrganisationPage
from tests.desktop.visit_scene import Entry
from tests.review.session.scenes import (
    CODE,
)


def to_consent(entry: Entry, code: str = CODE) -> None:
    entry.page(OrganisationPage)
    entry.press("\r")
    entry.page(AskingPage)
    entry.type(code)
    entry.press("\r")
    entry.page(ConsentPage)
