"""The screens of submissions: the desk, one of them on its way, what its maker wrote and was told; nothing of it acts."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from harness.submission import UNPACKED
from harness.submission.desk import SubmissionEvent, SubmissionStore
from review.office.results.whole_way import STEPS
from rosetta_tui.app.app import Begin, Start
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.session.run_sources import WatchedRun
from rosetta_tui.submission import screen
from rosetta_tui.submission.facts import MEANS, read_desk, read_submission_facts
from rosetta_tui.submission.screen import SECTIONS, RefusedScreen, RehearseScreen, SubmissionScreen, SubmissionsScreen
from tests.harness.submission.made import raw_zip, sample_bundle, sample_card
from tests.tui.golden import SMALL, look
from tests.tui.screens import App, press, press_in_turn, settle, showing, store, text, until
from tests.tui.submission.made import received, steady, steady_desk, told


@pytest.fixture
def home(home: Path) -> Path:
    sample_card("data")  # made once, outside of a test's own loop
    return home


@pytest.fixture
def pictured(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, where nothing that is drawn by chance is shown."""
    read, desk = read_submission_facts, read_desk
    monkeypatch.setattr(screen, "read_submission_facts", lambda *all_, **more: steady(read(*all_, **more)))
    monkeypatch.setattr(screen, "read_desk", lambda *all_, **more: steady_desk(desk(*all_, **more)))
    return home


async def test_submission_screen_section_by_section(pictured: Path, tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    readme = f"# Words\n\n{words}\n\n## What it does badly\n\nEndings.\n".encode()
    kept = received(pictured, tmp_path / "in", members={"README.md": readme})
    made = SubmissionScreen(store(pictured), kept.number)
    async with showing(App(None, store(pictured)), made, SMALL) as (app, pilot):
        for number, name in enumerate(SECTIONS, 1):
            await press(pilot, str(number))
            look(f"submission-{name.lower()}", app)
        await press(pilot, "4")
        assert [word for word in words.split() if word not in text(app)] == []
        assert "…" not in text(app)
        told(pictured, kept)
        await settle(pilot)
        await press(pilot, "5")
        look("submission-told-scores", app)


async def test_submission_desk_empty_and_with_a_broken_one(pictured: Path, tmp_path: Path) -> None:
    screen = SubmissionsScreen(store(pictured))
    async with showing(App(None, store(pictured)), screen, SMALL) as (app, pilot):
        look("submissions-empty", app)
        received(pictured, tmp_path / "in")
        second = received(pictured, tmp_path / "in", "bob", name="A dictionary of birds", submitter="Bob of the north")
        SubmissionStore(pictured).note(second.submission, SubmissionEvent.NOT_REPEATED)
        broken = SubmissionStore(pictured).folder / ("0" * 16)
        broken.mkdir()
        (broken / "notes.jsonl").write_text("{}\n")
        await settle(pilot)
        look("submissions", app)


async def test_from_a_stick_to_a_rehearsal_that_is_watched(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """The rehearsal is an ordinary run of the app; its end is noted at the desk, and nothing unpacked is left."""
    bundle = tmp_path / "ann.rosetta-submission"
    bundle.write_bytes(sample_bundle(tmp_path / "sample"))
    bad, members = tmp_path / "bad.rosetta-submission", ("../out", "code/.hidden")
    bad.write_bytes(raw_zip(dict.fromkeys(members, b"x")))
    app, calls = App(None, store(home)), []
    app.start_run = _started(store(home))
    monkeypatch.setattr(app, "suspend", pytest.MonkeyPatch.context)
    monkeypatch.setattr(
        "rosetta_tui.submission.screen.subprocess.run", lambda words, **_: calls.append(tuple(words[-2:]))
    )
    monkeypatch.setattr("builtins.input", lambda _: "")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press_in_turn(pilot, "M", "o")
        app.screen.query_one(Input).value = str(bad)
        await press(pilot, "enter")
        assert isinstance(app.screen, RefusedScreen)
        assert all(member in text(app) for member in members), "each is named"
        await press_in_turn(pilot, "escape", "o")
        app.screen.query_one(Input).value = str(bundle)
        await press(pilot, "enter")
        assert isinstance(app.screen, SubmissionScreen)
        assert "2 of 10 done · next: rehearsed" in text(app)
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen) and app.screen.live.complete)
        [kept] = SubmissionStore(home).all()
        await until(pilot, lambda: SubmissionStore(home).all()[0].rehearsed)
        await press(pilot, "q")
        assert "3 of 10 done · next: run over secret texts" in text(app)
        assert "its claim holds within 2 %" in text(app)
        await press_in_turn(pilot, "1", "c")
        assert app.clipboard == f"rosetta submission run {kept.number} CORPUS --terms FILE"
        await press(pilot, "enter")
        assert calls == [("council", kept.number)], "the next step, in the terminal"
        await press(pilot, "3")
        assert "its claim holds within 2 %" in text(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, LiveScreen)
    assert list((kept.folder / UNPACKED).iterdir()) == []


def _started(path: Path) -> Start:
    def start(begin: Begin) -> WatchedRun:
        engine = begin(path)
        engine.start()
        return WatchedRun(engine.events, engine.control, engine.run_id)

    return start


async def test_a_model_is_asked_for_where_the_bundle_needs_one(home: Path, tmp_path: Path) -> None:
    lane = {"lane": "data", "method": "chat", "options": {}, "files": {}, "made_for": "tiny-1"}
    kept = received(home, tmp_path / "in", members={"data/words.tsv": None}, method=lane)
    made = SubmissionScreen(store(home), kept.number)
    async with showing(App(None, store(home)), made, (100, 30)) as (app, pilot):
        await press(pilot, "b")
        assert isinstance(app.screen, RehearseScreen)
        assert "It was made with tiny-1." in text(app)
        await press(pilot, "enter")
        assert "Name the endpoint." in text(app)
        await press(pilot, "escape")
        assert app.screen is made


async def test_what_is_done_elsewhere_is_seen_by_itself(home: Path, tmp_path: Path) -> None:
    kept = received(home, tmp_path / "in")
    made = SubmissionScreen(store(home), kept.number)
    async with showing(App(None, store(home)), made, (100, 30)) as (app, pilot):
        SubmissionStore(home).note(kept.submission, SubmissionEvent.NOT_REPEATED)
        await settle(pilot)
        assert "its claim does not hold here" in text(app)
        SubmissionStore(home).note(kept.submission, SubmissionEvent.REHEARSED)
        told(home, kept, refused=True)
        await settle(pilot)
        assert "The way ends here" in text(app)
        await press(pilot, "5")
        assert "where it stopped" in text(app)
        assert "load" in text(app)
        kept.path.write_bytes(kept.path.read_bytes()[:-1])
        await settle(pilot)
        assert "This submission cannot be shown." in text(app)


def test_each_step_says_what_it_is(home: Path) -> None:
    assert set(STEPS) <= set(MEANS)
    assert not (home / "keeper.key").exists()
