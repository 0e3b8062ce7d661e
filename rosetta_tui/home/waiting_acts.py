"""Where an item that waits leads: to going on, to asking again, to a review, to taking ratings in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosetta_tui.home.waiting import Lead, WaitingItem

if TYPE_CHECKING:
    from textual.screen import Screen

    from rosetta_tui.review.organiser.desk import OrganiserDesk
    from rosetta_tui.runs.acts import RunActs


def see_to(item: WaitingItem, screen: Screen[Any], acts: RunActs, desk: OrganiserDesk) -> None:
    """Do what an item offers; a dialog asks first where something is to be decided."""
    match item.lead:
        case Lead.RESUME:
            acts.resume(item.name)
        case Lead.RETRY:
            acts.retry(item.name)
        case Lead.REVIEW if item.name:
            from rosetta_tui.review.organiser.pages.review import ReviewScreen

            screen.app.push_screen(ReviewScreen(desk, item.name))
        case Lead.REVIEW:
            open_reviews(screen, desk)
        case Lead.IMPORT:
            from rosetta_tui.review.organiser.pages.importing import ImportScreen

            screen.app.push_screen(ImportScreen(desk))


def open_reviews(screen: Screen[Any], desk: OrganiserDesk) -> None:
    """Open the list of reviews that this installation organises."""
    from rosetta_tui.review.organiser.pages.reviews import ReviewsScreen

    screen.app.push_screen(ReviewsScreen(desk))
