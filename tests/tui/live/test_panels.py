"""What the panels of a run say where something is not known, not charged, or still to come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.events.kinds import Waiting
from harness.method.method import Setup
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import tier_words
from tests.tui.scenes import SETUP, scene
from tests.tui.screens import App, lines, settle, text


async def shown(tmp_path: Path, done: int, setup: Setup = SETUP, **changes: Any) -> str:
    """Return the screen of a run that stands so."""
    made = scene(tmp_path / "s.sqlite", total=20, stored=done, setup=setup)
    made.queue(made.started())
    made.queue(made.progress(done, **changes))
    app = App(made, watch=True)
    async with app.run_test(size=(160, 36)) as pilot:
        await settle(pilot)
        found = "\n".join([lines(app)[0], text(app)])
    made.close()
    return found


@pytest.mark.parametrize(
    ("done", "changes", "words"),
    [
        (0, {"cost_usd": 0.0, "spent_usd": 0.0}, "│ none of $0.0500 spent yet"),
        (
            3,
            {"cost_usd": 0.0, "spent_usd": 0.0, "failed": 3, "budget_usd": None},
            "nothing spent yet",
        ),
        (3, {"cost_usd": 0.0, "spent_usd": 0.0}, "free of $0.0500 budget"),
        (3, {"tokens": 1580, "tokens_untold": 4}, "at least 1,580 tokens"),
        (3, {"tokens": 1580}, "│ 1,580 tokens"),
        (3, {"tokens": 1}, "│ 1 token "),
        (3, {"tokens": None}, "tokens unknown"),
    ],
)
async def test_money_and_tokens_say_what_is_known(
    tmp_path: Path, done: int, changes: dict[str, Any], words: str
) -> None:
    assert words in await shown(tmp_path, done, **changes)


async def test_where_everything_waits_the_head_says_until_when(tmp_path: Path) -> None:
    waiting = (Waiting(3, 3, 6, 75.0, "429"), Waiting(4, 2, 6, 12.4, "timeout"))
    asked = await shown(tmp_path, 3, waiting=waiting)
    assert "next try in 00:12" not in asked
    (tmp_path / "b").mkdir()
    idle = await shown(tmp_path / "b", 3, waiting=waiting, in_flight=())
    assert "next try in 00:12" in idle.splitlines()[0]


async def test_a_rate_that_no_call_could_have_stands_beside_recorded_latencies(
    tmp_path: Path,
) -> None:
    replay = SETUP.model_copy(update={"outputs_sha256": "ab" * 32})
    for number, (setup, per_minute, recorded) in enumerate(
        [(replay, 15_112.0, True), (replay, 418.0, False), (SETUP, 15_112.0, False)]
    ):
        path = tmp_path / str(number)
        path.mkdir()
        seen = await shown(path, 3, setup, per_minute=per_minute, p50_seconds=0.77)
        assert ("s recorded" in seen) is recorded


def test_a_failed_entry_was_not_free() -> None:
    assert figures.charged(0.0, failed=True) == figures.NONE
    assert figures.charged(0.0, failed=False) == "free"
    assert figures.charged(0.02, failed=True) == "$0.0200"


@pytest.mark.parametrize(
    ("least", "words"),
    [
        (0.1, "composite not clearly above the floor: interval reaches 0.10"),
        (0.25, "not above the floor"),
    ],
)
def test_a_card_says_how_it_stands_to_its_floors(least: float, words: str) -> None:
    ends = {"composite": {"ci_lower": least, "ci_upper": 0.9}}
    scores = {"composite": 0.55, "at_floor": True, "confidence_intervals": ends}
    card = {"scores": scores, "floors": [{"name": "constant", "composite": 0.21}, {"name": "x"}]}
    assert tier_words(card) == f"baseline (automatic 0.55; {words})"


async def test_a_run_under_way_says_so_in_few_words(tmp_path: Path) -> None:
    found = await shown(
        tmp_path, 3, intervals={"composite": (0.1, 0.9)}, values={"composite": 0.55}
    )
    assert "baseline (composite not clear of the floor" in found
