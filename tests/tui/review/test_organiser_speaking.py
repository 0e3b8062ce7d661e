"""Who speaks for whom, in the Batches section: each time it is opened, with what can be said about it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from review.files.reviewer_codes import printed
from review.office.intake.speaking import let_speak
from review.rating import Rating
from rosetta_tui.review.organiser.pages.review import ReviewScreen
from tests.review.office.laptops import rating
from tests.tui.review.organising import LARGE, SMALL, show_screen, words
from tests.tui.review.stick import Stick


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_two_laptops_for_one_person_stand_in_batches_until_it_is_decided(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    stick = Stick(tmp_path)
    first, second = stick.people
    first.rate([Rating.EXCELLENT] * 3)
    second.rate([Rating.GIST] * 2)
    second.laptop.append(rating(first))
    with stick.desk.office() as office:
        for name, person in (("blue", first), ("red", second)):
            office.enrol(person.identity.public.signing_key, name)
        review = office.review("demo")
        code = printed(review.code(first.code))
    stick.desk.reports = [*stick.desk.import_files([stick.hand_over(0), stick.hand_over(1)])]
    stick.desk.reports = []
    app = stick.app()
    async with app.run_test(size=size) as pilot:
        shown = words(await show_screen(pilot, ReviewScreen(stick.desk, "demo")))
        if folder := os.environ.get("ROSETTA_LOOK"):
            app.save_screenshot(f"batches-{size[0]}.svg", folder)
        assert "speaks for" in shown
        assert "To look into" in shown
        if size == SMALL:
            return
        assert (
            f"LOOK: {code} is heard from blue and red. None of these ratings count until you say"
            in shown
        )
        assert "LOOK: red speaks for 2 people" in shown
        with stick.desk.office() as office:
            blue = next(each for each in office.laptops() if each.name == "blue")
            let_speak(office, office.review("demo"), first.code, [blue])
        await pilot.press("r")
        shown = words(await show_screen(pilot, ReviewScreen(stick.desk, "demo")))
        assert (
            f"NOTE: {code} is heard from blue and red. You said who speaks for this person: blue."
            in shown
        )
