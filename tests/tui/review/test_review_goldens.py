"""What the pages look like, as plain text: a change of layout is seen and agreed to.

``ROSETTA_WRITE_GOLDENS=1 pytest tests/tui/review/test_review_goldens.py`` writes them anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from review.files.batch_form import Around
from tests.review.session.scenes import batch_of, items_of
from tests.tui.golden import compare
from tests.tui.review.reviewing import Reviewing, begin, press

SMALL = (80, 24)


@pytest.mark.parametrize(
    ("size", "language"), [((80, 24), "en"), ((160, 48), "en"), ((80, 24), "fr")]
)
async def test_an_item(tmp_path: Path, size: tuple[int, int], language: str) -> None:
    said = {"source": "I saw his dog yesterday.", "candidate": "Hieraŭ mi vidis lian hundon."}
    items = [item.model_copy(update=said) for item in items_of(60)]
    app = Reviewing(tmp_path, batch_of(items, language=language), language=language)
    async with app.run_test(size=size) as pilot:
        await begin(pilot)
        await press(pilot, "2", "3")
        compare(f"review-item-{language}", size, app)


@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
async def test_what_stands_beside_a_sentence(tmp_path: Path, size: tuple[int, int]) -> None:
    said = {
        "source": "I saw his dog yesterday.", "candidate": "Hieraŭ mi vidis lian hundon.",
        "around": Around(
            context="narrative", formality="conversational",
            before="Paul went home.", after="It did not bark.",
        ),
    }  # fmt: skip
    items = [item.model_copy(update=said) for item in items_of(9)]
    app = Reviewing(tmp_path, batch_of(items, salt=bytes(32), translations={}))
    async with app.run_test(size=size) as pilot:
        await begin(pilot)
        compare("review-item-context", size, app)


async def test_reasons(tmp_path: Path) -> None:
    app = Reviewing(tmp_path, batch_of(items_of(3)))
    async with app.run_test(size=SMALL) as pilot:
        await begin(pilot)
        await press(pilot, "2", "comma", "5", "comma")
        compare("review-reasons", SMALL, app)


async def test_why_not(tmp_path: Path) -> None:
    app = Reviewing(tmp_path, batch_of(items_of(3)))
    async with app.run_test(size=SMALL) as pilot:
        await begin(pilot)
        await press(pilot, "0")
        compare("review-why-not", SMALL, app)


async def test_the_end(tmp_path: Path) -> None:
    app = Reviewing(tmp_path, batch_of(items_of(2)))
    async with app.run_test(size=SMALL) as pilot:
        await begin(pilot)
        await press(pilot, "2", "s", "enter", "s")
        compare("review-end", SMALL, app)
