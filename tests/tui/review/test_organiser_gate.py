"""The list of reviews; gate and agreement, of which nothing is shown before a look; certificates and exports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from corpora.text.messages import percent
from harness.core.failures import HarnessError
from harness.store.sqlite.database import open_store
from review.log.payloads import Scope
from review.log.table import read_events
from review.office.intake.quarantine import withdraw
from review.office.results.certifying import present
from review.office.store import store
from review.office.store.database import FILE
from review.office.store.store import Office
from review.verdict.certificate.verifying import verify
from review.verdict.gate.policy import read_policy
from rosetta_tui.commands.review.gate import wrapped
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.review.organiser.pages.gate import ReportScreen
from rosetta_tui.review.organiser.pages.review import ReviewScreen, ReviewsScreen
from rosetta_tui.review.organiser.service import OrganiserService
from rosetta_tui.review.organiser.words.gate import verdict_lines
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen
from tests.tui.golden import compare
from tests.tui.review.gated import Spring, another_rating, invoke
from tests.tui.review.organising import (
    GO,
    OPEN,
    SMALL,
    Scene,
    bring,
    open_review,
    organising,
    press,
    scene,
    show_screen,
    words,
)
from tests.tui.screens import App, settle


async def test_reviews_empty_says_how_to_make_one_and_makes_no_office(tmp_path: Path) -> None:
    path = tmp_path / "rosetta.sqlite"
    open_store(path).close()
    app = App(None, path)
    async with app.run_test(size=SMALL) as pilot:
        shown = await show_screen(pilot, ReviewsScreen(OrganiserService(tmp_path, path)))
        assert "No reviews yet." in shown
        assert "rosetta review create last" in shown
        await press(pilot, "enter", "r")
        assert isinstance(app.screen, ReviewsScreen)
    assert not (tmp_path / FILE).exists()  # a look must not make an organisation of this machine


def withdraw_first(made: Scene) -> None:
    with made.office() as office:
        review = office.review("spring")
        withdraw(office, review, next(iter(review.key.orders)), Scope.BATCH, [])


async def test_reviews_row_says_what_is_back_and_the_verdict(tmp_path: Path) -> None:
    made = scene(tmp_path, GO, fluent=True)
    app = App(None, made.folder / "rosetta.sqlite")
    async with app.run_test(size=SMALL) as pilot:
        shown = await press(pilot, "o")
        assert isinstance(app.screen, ReviewsScreen)
        for cell in ("spring", "none yet", "189 of 189"):
            assert cell in shown
        made.desk.issue("spring", made.run_id, tmp_path / "out")
        assert "✓ GO" in await press(pilot, "r")
        withdraw_first(made)
        shown = await press(pilot, "r")
        assert "(issue again)" in shown
        assert "126 of 189" in shown
        shown = words(await press(pilot, "question_mark"))
        assert "Reviews: keys" in shown
        assert "i Import" in shown
        await press(pilot, "escape")
        await pilot.click("#reviews", offset=(3, 1), times=2)
        await settle(pilot)
        assert isinstance(app.screen, ReviewScreen)
        await press(pilot, "q", "escape")
        assert isinstance(app.screen, HomeScreen)


async def test_reviews_broken_office_is_said_in_words(tmp_path: Path) -> None:
    made = scene(tmp_path)
    (tmp_path / FILE).write_bytes(b"no database at all, but long enough to be examined" * 20)
    async with organising(made) as (_, pilot):
        shown = words(await show_screen(pilot, ReviewsScreen(made.desk)))
        assert "cannot be used" in shown
        assert "…" not in shown, "what to do about it is not cut off"


def numbers(screen: str) -> bool:
    return any(word in screen for word in ("lower bound", "AC2", "●", "accept."))


async def test_numbers_are_hidden_until_the_look_and_again_when_more_came(tmp_path: Path) -> None:
    made = scene(tmp_path, OPEN, back=0.95)
    async with organising(made, section="Gate") as (app, pilot):
        for section in "345":
            shown = words(await press(pilot, section))
            assert "hidden until you look" in shown
            assert "Nobody has looked yet." in shown
            assert "␤" not in shown
            assert not numbers(shown)
        assert "This is look 1." in await press(pilot, "4", "l")
        assert isinstance(app.screen, ConfirmScreen)
        await press(pilot, "escape")
        assert made.kinds() == []
        shown = await press(pilot, "l", "y")
        assert numbers(shown)
        assert "look 1" in shown
        assert "accept." in await press(pilot, "5")
        bring(made, 1.0)
        shown = words(await press(pilot, "r", "4"))
        assert not numbers(shown)
        assert "Looks so far: 1. Ratings have changed since the last one." in shown
        assert "This one asks for 97.5 %" in shown
        assert "This is look 2." in await press(pilot, "l")
        assert made.kinds() == ["look"]


async def test_gate_and_agreement_say_what_the_command_says(tmp_path: Path) -> None:
    made = scene(tmp_path, OPEN)
    reading = made.desk.look("spring", made.run_id)
    with made.office() as office:
        review = office.review("spring")
        lines = list(verdict_lines(review, reading))
    async with organising(made) as (_, pilot):
        shown = words(await open_review(pilot, made, "Gate"))
        for about, said in lines:
            parts = said.split(" (to decide")[0] if about == "Split" else said
            parts = parts.split("found: ")[-1] if about == "Verdict" else parts
            assert words(parts) in shown, about
        share = read_policy(review.policy, "p").level.share
        assert f"≥ {percent(float(share), 1)}" in shown
        shown = await press(pilot, "3")
        for name in ("alpha", "AC2", "same", "within one step"):
            assert name in shown
        codes = [f"{who[:4]}-{who[4:]}" for who in sorted(reading.agreement.leniency)]
        places = [shown.index(code) for code in codes]
        assert places == sorted(places)  # by pseudonym, never by what they said


async def test_too_little_gives_no_numbers_no_look_and_no_certificate(tmp_path: Path) -> None:
    made = scene(tmp_path, replace(OPEN, items=20))
    async with organising(made) as (_, pilot):
        shown = words(await open_review(pilot, made, "Gate"))
        assert "INSUFFICIENT" in shown
        assert "20 translations are rated; 50 are needed." in shown
        assert not numbers(shown)
        assert "l Look" not in shown
        assert "Too little is rated for numbers." in words(await press(pilot, "3"))
        assert "Too little is rated to certify anything" in words(await press(pilot, "l", "6"))
        await press(pilot, "c", "w", "t")
    with pytest.raises(HarnessError, match="too little was rated"):
        made.desk.issue("spring", made.run_id, tmp_path / "out")
    assert issued(made) == 0
    assert made.kinds() == []
    assert not (tmp_path / "out").exists()


async def test_gate_looks_as_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "utc_now", lambda: "2026-05-05T10:00:00Z")
    made = scene(tmp_path, OPEN, seed=1, flag=True)
    made.desk.look("spring", made.run_id)
    async with organising(made, SMALL, "Gate") as (app, _):
        compare("gate", SMALL, app)


def test_sentences_are_broken_for_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "Most reviewers found 8 of 8 spoilt translations acceptable. " * 3
    assert wrapped(words) == [words]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for columns, widest in ((60, 43), (300, 83), (10, 20)):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = wrapped(words)
        assert max(map(len, lines)) <= widest < len(words)
        assert " ".join(lines) == words.strip()
    assert wrapped("") == [""]


# Certificates and exports


async def into(pilot: Pilot[Any], app: App, folder: Path) -> str:
    """Type a folder and go on."""
    app.screen.query_one(Input).value = str(folder)
    return words(await press(pilot, "enter"))


def issued(made: Scene) -> int:
    with made.office() as office:
        return len(office.certificates(office.review("spring")))


@pytest.mark.costly("the verdict of a panel of five is computed and checked on the screen")
async def test_go_is_issued_checked_and_attached(tmp_path: Path) -> None:
    """A review of secret entries by a panel that is large enough for the community."""
    gold = scene(tmp_path, replace(GO, reviewers=5), fluent=True, segment="gold_standard")
    out, stem = tmp_path / "out", f"spring-{gold.run_id[:8]}"
    async with organising(gold) as (app, pilot):
        shown = words(await open_review(pilot, gold, "Certificate"))
        assert "Look at the gate first" in shown
        assert "c Issue" not in shown
        await press(pilot, "c", "4", "l", "y", "6", "c")
        assert "Written:" in await into(pilot, app, out)
        assert isinstance(app.screen, ReportScreen)
        shown = words(await press(pilot, "escape", "end", "t"))
        assert "no longer capped at functional" in shown
        assert "community-validated" in shown
        shown = words(await press(pilot, "escape"))
        assert "This certificate is attached to it." in shown
    left = {path.name.removeprefix(stem) for path in out.iterdir()}  # its entries are secret
    assert left == {f".certificate.{ending}" for ending in ("json", "sig", "txt", "html")}
    found = present(out / f"{stem}.certificate.json", None, tmp_path)
    assert verify(found.certificate, found.signature, found.evidence).ok


@pytest.mark.thorough
async def test_certificate_is_issued_anew_and_written_again(tmp_path: Path) -> None:
    """It lifts nothing, and loses ratings that it rests on."""
    made = scene(tmp_path, replace(OPEN, reviewers=4), fluent=True)
    made.desk.issue("spring", made.run_id, tmp_path / "first")
    async with organising(made, section="Certificate") as (app, pilot):
        assert "there is nothing that it could lift" in words(await press(pilot, "t"))
        await press(pilot, "escape")
        withdraw_first(made)
        shown = words(await press(pilot, "r"))
        for said in ("6 Certificate 1", "Issue again", "took theirs back since"):
            assert said in shown
        await press(pilot, "4", "l", "y", "6", "c")
        await into(pilot, app, tmp_path / "second")
        shown = words(await press(pilot, "escape"))
        assert "Issue again" not in shown
        assert "rests on what was taken back" in shown  # the first one, in the list of all
        await press(pilot, "w")
        assert "Written:" in await into(pilot, app, tmp_path / "third")
    assert issued(made) == 2
    names = [next((tmp_path / each).glob("*.json")).read_bytes() for each in ("second", "third")]
    assert names[0] == names[1]


def test_gate_reads_the_log_once(go: Spring, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []

    def counted(*arguments: Any, **options: Any) -> Any:
        reads.append(1)
        return read_events(*arguments, **options)

    monkeypatch.setattr("review.office.store.store.read_events", counted)
    invoke("gate")
    assert len(reads) == 1
    for change in range(2):  # by this connection, and by another one
        with Office.open(go.home) as office:
            review = office.review("spring")
            before = len(office.events(review))
            assert len(office.events(review)) == before
            another_rating((office, go.office)[change], review, 20 + change)
            assert len(office.events(review)) == before + 1
