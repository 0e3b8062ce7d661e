"""Answering a request on the custodian's screens: what is asked stands there, and the answer is that of the command."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from textual.widgets import Button, Input

from harness.sealed.keys import Identity, Role
from harness.vault.folder import VaultState
from harness.vault.grants.files import read_answer
from harness.vault.grants.grants import Grants
from harness.vault.ledger import Grant
from harness.vault.records import GrantRequest
from harness.vault.vault import Vault
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen
from rosetta_tui.toolkit.dialogs.path import PathScreen
from rosetta_tui.vault import answers, screen
from rosetta_tui.vault.answer_screen import AnswerScreen
from rosetta_tui.vault.answers import AskedRequest
from rosetta_tui.vault.facts import read_in_full
from rosetta_tui.vault.screen import VaultScreen
from tests.harness.vault.made import CANARY
from tests.tui.golden import SMALL, look
from tests.tui.screens import App, press, press_in_turn, settle, showing, store, text
from tests.tui.vault.made import MACHINE, NOW, OFFICE, PEOPLE, RUN, filled, steady, vault_of

ASKED = NOW - timedelta(days=1)


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of the school, whose computer is a keeper's; its clock stands in February."""
    (home / "keeper.key").write_text(PEOPLE["School"].text())
    monkeypatch.setattr(answers, "vault_at", lambda folder, where: vault_of(where, folder, NOW))
    return home


def asked(home: Path, folder: Path, machine: Identity = MACHINE) -> bytes:
    """Ask for a run, with the vault that the home sees; gives the request."""
    grants = Grants(vault_of(home, folder, ASKED), machine)
    return grants.ask("greetings", "the spring run", 14, OFFICE, run=RUN)


def grant(home: Path, folder: Path) -> tuple[Grant, VaultState]:
    state = vault_of(home, folder, NOW).read()
    [found] = state.grants.values()
    return found, state


def fixed(found: AskedRequest) -> AskedRequest:
    """Return what is asked without what is drawn by chance, for pictures."""
    six = "apricot within garter soda bleach cookie"
    fixed_facts = {"version": f"{'5f' * 8} of its texts", "where": f"on the computer whose six words are: {six}", "its words": six}  # fmt: skip
    facts = [(name, fixed_facts.get(name, words)) for name, words in found.facts]
    return replace(found, facts=facts, proposal=Path("stick/1a2b3c4d.rosetta-answer"))


async def test_answer_dialog_looks_as_kept(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(home, tmp_path / "elders", threshold=2)
    asked(home, tmp_path / "elders")
    read, in_log = read_in_full, answers.asked_in_log
    monkeypatch.setattr(screen, "read_in_full", lambda *all_, **more: steady(read(*all_, **more)))
    monkeypatch.setattr(screen, "asked_in_log", lambda *all_: fixed(in_log(*all_)))
    made = VaultScreen(store(home), Path("elders"), lambda: NOW)
    async with showing(App(None, store(home)), made, SMALL) as (app, pilot):
        await press_in_turn(pilot, "4", "a")
        look("vault-answer", app)
        assert CANARY not in text(app)
        app.screen.query_one("#allow", Button).press()
        await settle(pilot)
        look("vault-answer-again", app)


async def allowing(pilot: object, app: App) -> None:
    """Press Allow, and agree a second time."""
    app.screen.query_one("#allow", Button).press()
    await settle(pilot)  # type: ignore[arg-type]
    assert isinstance(app.screen, ConfirmScreen)
    await press(pilot, "y")  # type: ignore[arg-type]


async def test_keeper_allows_what_another_computer_asked(home: Path, tmp_path: Path) -> None:
    """The file is the one that the command writes: the computer that asked takes it in, and the vault opens once."""
    folder = filled(home, tmp_path / "elders", threshold=2).folder
    asked(home, folder)
    made = VaultScreen(store(home), folder, lambda: NOW)
    async with showing(App(None, store(home)), made, (100, 30), notifications=True) as (app, pilot):
        await press_in_turn(pilot, "4", "a")
        shown = " ".join(text(app).replace("│", " ").split())
        found, state = grant(home, folder)
        texts = state.head.corpora[found.request.corpus].texts
        for words in (
            "Office asks to open 'greetings' once: 2 development, 4 gold_standard",
            f"version {texts[:16]} of its texts", "what for the spring run",
            "a run of the method copy-source (abababababababab), scored by Rosetta 0.1.0",
            "to be used once, until 2026-02-16T12:00:00Z",
        ):  # fmt: skip
            assert words in shown
        assert isinstance(app.screen, AnswerScreen)
        target = Path(app.screen.query_one("#target", Input).value)
        assert target == tmp_path / f"{found.id[:8]}.rosetta-answer"
        app.screen.query_one("#allow", Button).press()
        await settle(pilot)
        await press(pilot, "escape")
        assert isinstance(app.screen, AnswerScreen)
        assert not target.exists()
        await allowing(pilot, app)
        assert app.screen is made
        assert "Allowed, and written:" in " ".join(re.sub("[▌▐│]", " ", text(app)).split())
    answer, sealed = read_answer(target.read_bytes())
    assert (answer.allowed, answer.keeper) == (True, PEOPLE["School"].public.signing_key)
    assert sealed
    office = Grants(vault_of(home, folder, NOW), MACHINE)
    office.take(target.read_bytes(), OFFICE)
    office.take(office.answer_asked(*_first(office), PEOPLE["Library"], allowed=True), OFFICE)
    assert office.open(found.id, OFFICE, RUN)


def _first(grants: Grants) -> tuple[GrantRequest, VaultState]:
    state = grants.vault.read()
    return next(iter(state.grants.values())).request, state


@pytest.mark.thorough
async def test_what_this_computer_asked_is_taken_in_at_once(home: Path, tmp_path: Path) -> None:
    folder = filled(home, tmp_path / "elders").folder
    asked(home, folder, Identity.load(home, Role.COMPUTER))
    made = VaultScreen(store(home), folder, lambda: NOW)
    async with showing(App(None, store(home)), made, (100, 30)) as (app, pilot):
        await press_in_turn(pilot, "4", "a")
        assert not app.screen.query("#target")
        await allowing(pilot, app)
        assert "allowed, not used" in text(app)
    found, state = grant(home, folder)
    assert found.allowed_by(state.keepers) == [PEOPLE["School"].public.signing_key]
    assert not list(tmp_path.glob("*.rosetta-answer"))


async def test_a_request_on_a_stick_is_refused_with_a_reason(home: Path, tmp_path: Path) -> None:
    """With a copy of the vault from before the request, and the keys of a keeper on a stick."""
    folder = filled(home, tmp_path / "elders", threshold=2).folder
    copy, stick = tmp_path / "copy", tmp_path / "stick"
    Vault(folder, tmp_path / "theirs", vault_of(home, folder, ASKED).clock).export(copy, "for the stick", OFFICE)  # fmt: skip
    stick.mkdir()
    office = Grants(Vault(folder, tmp_path / "theirs", vault_of(home, folder, ASKED).clock), MACHINE)  # fmt: skip
    data = office.ask("greetings", "the spring run", 14, OFFICE, run=RUN)
    (stick / "spring.rosetta-request").write_bytes(data)
    (stick / "library.key").write_text(PEOPLE["Library"].text())
    made = VaultScreen(store(home), copy, lambda: NOW)
    async with showing(App(None, store(home)), made, (120, 36)) as (app, pilot):
        await press_in_turn(pilot, "4", "f")
        assert isinstance(app.screen, PathScreen)
        app.screen.query_one(Input).value = str(stick / "spring.rosetta-request")
        await press(pilot, "enter")
        assert isinstance(app.screen, AnswerScreen)
        app.screen.query_one("#refuse", Button).press()
        await settle(pilot)
        assert "Say why you refuse." in text(app)
        app.screen.query_one("#reason", Input).value = "ask me in May"
        app.screen.query_one("#keys", Input).value = str(stick / "library.key")
        app.screen.query_one("#refuse", Button).press()
        await settle(pilot)
        assert "You refuse it: ask me in May" in text(app)
        await press(pilot, "y")
        assert app.screen is made
    answer, sealed = read_answer((stick / "spring.rosetta-answer").read_bytes())
    assert (answer.allowed, answer.reason, sealed) == (False, "ask me in May", b"")
    assert answer.keeper == PEOPLE["Library"].public.signing_key
    office.take((stick / "spring.rosetta-answer").read_bytes(), OFFICE)


async def test_wrong_file_or_keeper_answers_nothing(home: Path, tmp_path: Path) -> None:
    folder = filled(home, tmp_path / "elders").folder
    asked(home, folder)
    [grant_id] = vault_of(home, folder, NOW).read().grants
    files = [tmp_path / f"{grant_id[:8]}{end}.rosetta-answer" for end in ("", "-2")]
    made = VaultScreen(store(home), folder, lambda: NOW)
    async with showing(App(None, store(home)), made, (120, 36)) as (app, pilot):
        for words in ("is there already", "not those of a present keeper of this vault"):
            await press_in_turn(pilot, "4", "a")
            if words == "is there already":
                for file in files:
                    file.touch()
            else:  # the texts were sealed anew without the school
                vault_of(home, folder, NOW - timedelta(hours=1)).revoke("School", "left", OFFICE)
            await allowing(pilot, app)
            assert isinstance(app.screen, AnswerScreen)
            assert words in " ".join(text(app).split())
            assert not app.screen.query_one("#allow", Button).disabled
            await press(pilot, "escape")
            assert app.screen is made
    assert not any(file.read_bytes() for file in files)
    assert set(tmp_path.glob("*.rosetta-answer")) == set(files)


async def test_nobody_is_asked_for_what_is_over(home: Path, tmp_path: Path) -> None:
    folder = filled(home, tmp_path / "elders").folder
    data = asked(home, folder)
    file = tmp_path / "spring.rosetta-request"
    file.write_bytes(data)
    office = Grants(vault_of(home, folder, ASKED + timedelta(hours=1)), MACHINE)
    office.take(office.answer(data, OFFICE, allowed=True), OFFICE)
    office.open(next(iter(office.vault.read().grants)), OFFICE, RUN)
    made = VaultScreen(store(home), folder, lambda: NOW)
    async with showing(App(None, store(home)), made, (100, 30), notifications=True) as (app, pilot):
        await press_in_turn(pilot, "4", "a")
        assert app.screen is made
        await press(pilot, "f")
        app.screen.query_one(Input).value = str(file)
        await press(pilot, "enter")
        assert app.screen is made
        assert "This grant was used up at" in " ".join(text(app).split())
        await press_in_turn(pilot, "1", "a", "f")
        assert app.screen is made
