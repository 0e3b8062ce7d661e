"""The screens of submissions: the desk, one of them on its way, what its maker wrote and was told; nothing of it acts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Input

from harness.submission.desk import DeskAct, SubmissionDesk
from harness.submission.leftovers import UNPACKED
from review.office.results.whole_way import STEPS
from rosetta_tui.app.app import Begin, Start
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.session.watched import WatchedRun
from rosetta_tui.submission import list_screen, screen
from rosetta_tui.submission.facts import read_desk, read_submission_facts
from rosetta_tui.submission.list_screen import RefusedScreen, SubmissionsScreen
from rosetta_tui.submission.rehearse_screen import RehearseScreen
from rosetta_tui.submission.screen import SECTIONS, SubmissionScreen
from rosetta_tui.submission.words import MEANS
from tests.harness.submission.made import raw_zip, sample_bundle, sample_card
from tests.keyring_in_memory import memory_keyring
from tests.tui.hostile import acting
from tests.tui.scenes import HOSTILE
from tests.tui.screens import App, press, press_in_turn, settle, showing, text, until
from tests.tui.submission.made import hostile, received, steady, steady_desk, told
from tests.tui.vault.looks import LOOKS, look, store


@pytest.fixture(autouse=True)
def keyring() -> Iterator[None]:
    with memory_keyring():
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder whose desk is empty."""
    sample_card("data")  # made once, outside of a test's own loop
    found = tmp_path / "home"
    found.mkdir(mode=0o700)
    monkeypatch.setenv("ROSETTA_HOME", str(found))
    return found


@pytest.fixture
def pictured(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, where nothing that is drawn by chance is shown."""
    read, desk = read_submission_facts, read_desk
    monkeypatch.setattr(screen, "read_submission_facts", lambda *all_, **more: steady(read(*all_, **more)))  # fmt: skip
    monkeypatch.setattr(list_screen, "read_desk", lambda *all_, **more: steady_desk(desk(*all_, **more)))  # fmt: skip
    return home


# What they look like


@pytest.mark.parametrize(("size", "theme"), LOOKS)
async def test_a_submission_that_just_came(
    size: tuple[int, int], theme: str, pictured: Path, tmp_path: Path
) -> None:
    readme = b"# Words\n\nReplaces words.\n\n## What it does badly\n\nEndings.\n"
    kept = received(pictured, tmp_path / "in", members={"README.md": readme})
    made = SubmissionScreen(store(pictured), kept.number)
    async with showing(App(None, store(pictured)), made, size) as (app, pilot):
        app.theme = theme
        for number, name in enumerate(SECTIONS, 1):
            await press(pilot, str(number))
            look(f"submission-{name.lower()}", size, app)


async def test_a_long_line_of_a_readme_is_read_to_its_end(home: Path, tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    readme = f"# Words\n\n{words}\n\n## What it does badly\n\nEndings.\n".encode()
    kept = received(home, tmp_path / "in", members={"README.md": readme})
    made = SubmissionScreen(store(home), kept.number)
    async with showing(App(None, store(home)), made, (80, 24)) as (app, pilot):
        await press(pilot, "4")
        assert [word for word in words.split() if word not in text(app)] == []
        assert "…" not in text(app)


@pytest.mark.parametrize(("size", "theme"), LOOKS)
async def test_what_its_maker_was_told(
    size: tuple[int, int], theme: str, pictured: Path, tmp_path: Path
) -> None:
    kept = received(pictured, tmp_path / "in")
    told(pictured, kept)
    made = SubmissionScreen(store(pictured), kept.number)
    async with showing(App(None, store(pictured)), made, size) as (app, pilot):
        app.theme = theme
        await press(pilot, "5")
        look("submission-told-scores", size, app)


@pytest.mark.parametrize(("size", "theme"), LOOKS)
async def test_the_desk(size: tuple[int, int], theme: str, pictured: Path, tmp_path: Path) -> None:
    async with showing(App(None, store(pictured)), SubmissionsScreen(store(pictured)), size) as (app, pilot):  # fmt: skip
        app.theme = theme
        await settle(pilot)
        look("submissions-empty", size, app)
    received(pictured, tmp_path / "in")
    second = received(pictured, tmp_path / "in", "bob", name="A dictionary of birds", submitter="Bob of the north")  # fmt: skip
    SubmissionDesk(pictured).note(second.submission, DeskAct.NOT_REPEATED)
    (SubmissionDesk(pictured).folder / ("0" * 16)).mkdir()
    (SubmissionDesk(pictured).folder / ("0" * 16) / "notes.jsonl").write_text("{}\n")
    async with showing(App(None, store(pictured)), SubmissionsScreen(store(pictured)), size) as (app, pilot):  # fmt: skip
        app.theme = theme
        await settle(pilot)
        look("submissions", size, app)


# How one gets there, and what is done from there


async def test_from_a_stick_to_a_rehearsal_that_is_watched(home: Path, tmp_path: Path) -> None:
    """The rehearsal is an ordinary run of the app; its end is noted at the desk, and nothing unpacked is left."""
    bundle = tmp_path / "ann.rosetta-submission"
    bundle.write_bytes(sample_bundle(tmp_path / "sample"))
    app = App(None, store(home))
    app.start_run = _started(store(home))
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press_in_turn(pilot, "M", "o")
        app.screen.query_one(Input).value = str(bundle)
        await press(pilot, "enter")
        assert isinstance(app.screen, SubmissionScreen)
        assert "2 of 9 done · next: rehearsed" in text(app)
        await press(pilot, "b")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen) and app.screen.live.complete)
        [kept] = SubmissionDesk(home).all()
        await until(pilot, lambda: SubmissionDesk(home).all()[0].rehearsed)
        await press(pilot, "q")
        assert "3 of 9 done · next: run over secret texts" in text(app)
        assert "its claim holds within 2 %" in text(app)
        await press_in_turn(pilot, "1", "c")
        assert app.clipboard == f"rosetta submission run {kept.number} CORPUS --terms FILE"
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


async def test_a_file_that_is_refused_says_each_member(home: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.rosetta-submission"
    bad.write_bytes(raw_zip({"../out": b"x", "code/.hidden": b"x"}))
    async with showing(App(None, store(home)), SubmissionsScreen(store(home)), (100, 30)) as (app, pilot):  # fmt: skip
        await press(pilot, "o")
        app.screen.query_one(Input).value = str(bad)
        await press(pilot, "enter")
        assert isinstance(app.screen, RefusedScreen)
        shown = text(app)
        assert "../out" in shown
        assert "code/.hidden" in shown
        await press(pilot, "escape")
        assert isinstance(app.screen, SubmissionsScreen)
    assert SubmissionDesk(home).all() == []


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


# What changes, and what must not act


async def test_what_is_done_elsewhere_is_seen_by_itself(home: Path, tmp_path: Path) -> None:
    kept = received(home, tmp_path / "in")
    made = SubmissionScreen(store(home), kept.number)
    async with showing(App(None, store(home)), made, (100, 30)) as (app, pilot):
        SubmissionDesk(home).note(kept.submission, DeskAct.NOT_REPEATED)
        await settle(pilot)
        assert "its claim does not hold here" in text(app)
        SubmissionDesk(home).note(kept.submission, DeskAct.REHEARSED)
        told(home, kept, refused=True)
        await settle(pilot)
        assert "The way ends here" in text(app)
        await press(pilot, "5")
        assert "where it stopped" in text(app)
        assert "load" in text(app)
        kept.path.write_bytes(kept.path.read_bytes()[:-1])
        await settle(pilot)
        assert "This submission cannot be shown." in text(app)


async def test_nothing_that_its_maker_wrote_acts_or_is_copied_unasked(home: Path, tmp_path: Path) -> None:  # fmt: skip
    kept = hostile(home, tmp_path / "in", "".join(HOSTILE[:4]), HOSTILE)
    made = SubmissionScreen(store(home), kept.number)
    async with showing(App(None, store(home)), made, (80, 24), notifications=True) as (app, pilot):
        for number in range(1, 6):
            await press(pilot, str(number))
            assert acting(text(app).replace("\n", "")) == []
            await press(pilot, "c")
        assert app.is_running
        assert acting(app.clipboard.replace("\n", "")) == []


def test_each_step_says_what_it_is(home: Path) -> None:
    assert set(STEPS) <= set(MEANS)
    assert not (home / "keeper.key").exists()
