"""Certificates and exports from the screen: issued, checked, attached, written again, handed on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.failures import HarnessError
from harness.store.notes import attached_to
from harness.store.runs import find_run
from review.log.payloads import Scope
from review.office.intake.quarantine import withdraw
from review.office.results.certifying import present
from review.verdict.certificate.verifying import verify
from rosetta_tui.review.organiser.pages.acts import ReportScreen
from rosetta_tui.toolkit.dialogs.choose import ChooseScreen
from tests.tui.review.organising import (
    FEW,
    GO,
    OPEN,
    SMALL,
    Scene,
    open_review,
    organising,
    press,
    scene,
    words,
)
from tests.tui.screens import App, text

ENDINGS = {".certificate.json", ".certificate.sig", ".certificate.txt", ".certificate.html", ".rosetta-evidence"}  # fmt: skip


async def into(pilot: object, app: App, folder: Path) -> str:
    """Type a folder and go on."""
    app.screen.query_one("Input").value = str(folder)  # type: ignore[attr-defined]
    return words(await press(pilot, "enter"))  # type: ignore[arg-type]


def issued(made: Scene) -> int:
    with made.office() as office:
        return len(office.certificates(office.review("spring")))


@pytest.mark.thorough
async def test_a_go_is_issued_checked_and_attached(tmp_path: Path) -> None:
    made = scene(tmp_path, replace(GO, reviewers=5), fluent=True, segment="gold_standard")
    out = tmp_path / "out"
    async with organising(made) as (app, pilot):
        shown = words(await open_review(pilot, made, "Certificate"))
        assert "Look at the gate first" in shown
        assert "c Issue" not in shown
        await press(pilot, "c", "4", "l", "y", "6")
        await press(pilot, "c")
        shown = await into(pilot, app, out)
        assert isinstance(app.screen, ReportScreen)
        assert "Written:" in shown
        stem = f"spring-{made.run_id[:8]}"
        left = {path.name.removeprefix(stem) for path in out.iterdir()}
        assert left == ENDINGS - {".rosetta-evidence"}  # its entries are secret
        found = present(out / f"{stem}.certificate.json", None, tmp_path)
        assert verify(found.certificate, found.signature, found.evidence).ok
        shown = words(await press(pilot, "escape"))
        assert "✓ GO" in shown
        assert "✓ signature" in shown
        await press(pilot, "end")
        shown = words(await press(pilot, "t"))
        assert "no longer capped at functional" in shown
        assert "community-validated" in shown
        await press(pilot, "escape")
        assert "This certificate is attached to it." in words(text(app))
    with made.desk.store() as store:
        assert len(attached_to(store, find_run(store, made.run_id).id)) == 1


async def test_files_that_are_there_are_never_replaced_and_nothing_is_issued(
    tmp_path: Path,
) -> None:
    made = scene(tmp_path, GO, fluent=True)
    made.desk.look("spring", made.run_id)
    out = tmp_path / "out"
    out.mkdir()
    mine = out / f"spring-{made.run_id[:8]}.certificate.txt"
    mine.write_text("mine")
    async with organising(made, section="Certificate") as (app, pilot):
        await press(pilot, "c")
        assert "is there already" in await into(pilot, app, out)
    assert issued(made) == 0
    assert mine.read_text() == "mine"


@pytest.mark.thorough
async def test_an_open_verdict_is_certified_and_lifts_nothing(tmp_path: Path) -> None:
    made = scene(tmp_path, OPEN, fluent=True)
    made.desk.look("spring", made.run_id)
    async with organising(made, section="Certificate") as (app, pilot):
        await press(pilot, "c")
        await into(pilot, app, tmp_path / "out")
        shown = await press(pilot, "escape")
        assert "DISCUSS" in shown
        shown = words(await press(pilot, "t"))
        assert "there is nothing that it could lift" in shown


async def test_with_too_little_nothing_can_be_issued(tmp_path: Path) -> None:
    made = scene(tmp_path, FEW)
    async with organising(made, SMALL) as (_, pilot):
        shown = words(await open_review(pilot, made, "Certificate"))
        assert "Too little is rated to certify anything" in shown
        await press(pilot, "c", "w", "t")
    with pytest.raises(HarnessError, match="too little was rated"):
        made.desk.issue("spring", made.run_id, tmp_path / "out")
    assert issued(made) == 0
    assert made.kinds() == []
    assert not (tmp_path / "out").exists()


@pytest.mark.thorough
async def test_after_a_withdrawal_it_is_issued_anew(tmp_path: Path) -> None:
    made = scene(tmp_path, replace(GO, reviewers=4), fluent=True)
    made.desk.issue("spring", made.run_id, tmp_path / "first")
    with made.office() as office:
        review = office.review("spring")
        withdraw(office, review, next(iter(review.key.orders)), Scope.BATCH, [])
    async with organising(made) as (app, pilot):
        shown = words(await open_review(pilot, made, "Certificate"))
        assert "Issue anew" in shown
        assert "Please issue the certificate anew" in shown
        await press(pilot, "4", "l", "y", "6", "c")
        await into(pilot, app, tmp_path / "second")
        shown = words(await press(pilot, "escape"))
        assert "Issue anew" not in shown
        assert "computed again, byte for byte" in shown
        assert "rests on what was taken back" in shown  # the first one, in the list of all
        await press(pilot, "w")
        assert "Written:" in await into(pilot, app, tmp_path / "third")
    assert issued(made) == 2
    names = [{path.read_bytes() for path in (tmp_path / each).glob("*.json")} for each in ("second", "third")]  # fmt: skip
    assert names[0] == names[1]


@pytest.mark.thorough
async def test_everything_that_the_command_exports_and_nothing_is_replaced(tmp_path: Path) -> None:
    made = scene(tmp_path, GO, fluent=True)
    async with organising(made, section="Batches") as (app, pilot):
        for place, ending in enumerate((".rosetta-export", ".csv", ".csv", ".score")):
            out = tmp_path / f"out {place}"
            await press(pilot, "x")
            assert isinstance(app.screen, ChooseScreen)
            assert "The page for the speakers" not in text(app)  # no certificate to tell of
            await press(pilot, *["down"] * place, "enter")
            assert "Written:" in await into(pilot, app, out)
            assert any(path.name.endswith(ending) for path in out.rglob("*"))
            await press(pilot, "escape")
        await press(pilot, "x", "enter")
        assert "is there already" in await into(pilot, app, tmp_path / "out 0")


async def test_the_page_for_the_speakers_is_offered_with_a_certificate(tmp_path: Path) -> None:
    made = scene(tmp_path, GO, fluent=True)
    made.desk.issue("spring", made.run_id, tmp_path / "certificate")
    out = tmp_path / "out"
    async with organising(made, section="Batches") as (app, pilot):
        await press(pilot, "x", "down", "enter")
        await into(pilot, app, out)
    (page,) = out.iterdir()
    assert page.name.endswith("-page.html")
    assert "<html" in page.read_text("utf-8")


@pytest.mark.thorough
async def test_a_folder_that_cannot_be_made_is_said_in_words(tmp_path: Path) -> None:
    made = scene(tmp_path, GO, fluent=True)
    (tmp_path / "file").write_text("")
    made.desk.look("spring", made.run_id)
    async with organising(made, section="Batches") as (app, pilot):
        await press(pilot, "x", "enter")
        shown = await into(pilot, app, tmp_path / "file" / "below")
        assert "That did not work" in shown
        assert "cannot be made" in shown
        await press(pilot, "escape", "6", "c")
        assert "cannot be made" in await into(pilot, app, tmp_path / "file" / "below")
    assert issued(made) == 0
