"""A review whose corpus, or one entry of it, was taken back: nothing of it leaves, and its certificate says so."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from corpora.samples import DEMO_CORPUS, sample_path
from harness.store.file.database import opened
from harness.submission.desk import DeskAct, SubmissionDesk
from rosetta_tui.commands import rosetta
from rosetta_tui.review.organiser.desk import OrganiserDesk
from rosetta_tui.review.organiser.pages.review import ReviewScreen
from rosetta_tui.review.organiser.pages.reviews import ReviewsScreen
from tests.tui.commands.certified_gold import TwoSides, ok, refused, said, two_sides
from tests.tui.review.organising import LARGE, Alone, press, show_screen, words


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TwoSides:
    monkeypatch.chdir(tmp_path)
    return two_sides(tmp_path, monkeypatch)


def withdraw(sides: TwoSides, *more: str) -> str:
    """Take the corpus of the run back, or some entries of it; return what was said."""
    with opened(sides.organisation / "rosetta.sqlite") as store:
        [(sha256,)] = store.execute("SELECT sha256 FROM corpora")
    notice = sides.stick / "n.rosetta-notice"
    line = f"consent withdraw --corpus store:{sha256} -o {notice} --by Council --reason asked"
    return ok(" ".join((line, *more)))


@pytest.mark.parametrize("about", ["", "--entries 0"])
def test_nothing_of_it_leaves_any_more(sides: TwoSides, about: str) -> None:
    evidence = sides.stick / "evidence"
    leaving = (
        "review gate last --issue -o again",
        "review gate last",
        "review page last -o page.html",
        "review export last -o out",
        "review export last --csv table.csv",
        "review export last --mtme mtme",
        f"review export last --inside {evidence}",
        "report review last",
        "review second last --dry-run",
        "review adjudicate last --json",
        "calibrate --review last",
        f"review variants {sample_path(DEMO_CORPUS)}",
    )
    withdraw(sides, about)
    here = sorted(Path().rglob("*"))
    for line in leaving:
        told = refused(line)
        assert "consent was withdrawn for" in told, line
        assert "“asked”" in told, line
    assert sorted(Path().rglob("*")) == here


def test_its_submission_goes_no_further(sides: TwoSides) -> None:
    ok(f"submission demo {sides.stick}/ann --lane data", sides.developer)
    desk = SubmissionDesk(sides.organisation)
    kept = desk.receive(sides.stick / "ann.rosetta-submission")
    for act in (DeskAct.REHEARSED, DeskAct.SCORED):
        desk.note(kept.submission, act, sides.run_id, "made")
    assert "WITHDRAWN" not in ok("submission list")
    assert "Review spring asks about them" in withdraw(sides)
    assert "scored, WITHDRAWN" in ok("submission list")
    shown = ok(f"submission show {kept.number}")
    assert "· its run                  consent was withdrawn for the corpus made" in shown
    assert "Next: rosetta consent list" in shown


async def test_lists_and_screens_say_so_in_place_of_a_verdict(sides: TwoSides) -> None:
    store = sides.organisation / "rosetta.sqlite"
    app = Alone(None, store)
    async with app.run_test(size=LARGE) as pilot:
        assert "✓ GO" in await show_screen(
            pilot, ReviewsScreen(OrganiserDesk(sides.organisation, store))
        )
        withdraw(sides, "--entries 0")
        assert "WITHDRAWN" in ok("review status")
        assert "WITHDRAWN: consent was withdrawn for 1 entry" in ok("review status last")
        shown = await press(pilot, "r")
        assert "GO" not in shown
        assert "withdrawn" in shown
        for section in ("Agreement", "Gate", "Split", "Certificate"):
            screen = ReviewScreen(OrganiserDesk(sides.organisation, store), "spring", section)
            shown = words(await show_screen(pilot, screen))
            assert "consent was withdrawn for 1 entry" in shown, section
            assert "GO" not in shown
            offered = ("c Issue", "w Write again", "t Attach", "l Look", "x Export")
            assert not [each for each in offered if each in shown]


@pytest.mark.parametrize(("about", "elsewhere"), [("", "✗"), ("--entries 0", "–")])
def test_its_certificate_says_what_was_withdrawn_and_when(
    sides: TwoSides, about: str, elsewhere: str
) -> None:
    """Whoever has the run knows its entries; to others a certificate tells its corpus, and not its entries."""
    commands = [f"{verify} {sides.certificate}" for verify in ("verify", "review verify")]
    words = withdraw(sides, about).partition("read to them by telephone: ")[2].splitlines()[0]
    for command in commands:
        done = said(command)
        assert done.exit_code == 1
        assert "✗ consent: withdrawn for" in done.output
        assert f"Council, {datetime.now(UTC):%Y-%m}" in done.output
        assert "consent:" not in said(command, sides.developer).output
    take = ["consent", "take", str(sides.stick / "n.rosetta-notice"), "--words", words]
    env = {"ROSETTA_HOME": str(sides.developer)}
    assert CliRunner().invoke(rosetta, take, env=env).exit_code == 0
    for command in commands:
        done = said(command, sides.developer)
        assert done.exit_code == (elsewhere == "✗")
        assert f"{elsewhere} consent: withdrawn for" in done.output, done.output
