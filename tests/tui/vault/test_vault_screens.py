"""The custodian's screens: what they show of whole, damaged and changing vaults, and that they open no text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from textual.widgets import Button, Input

from harness.release.budget import Policy
from harness.sealed.keys import Identity, Role
from harness.vault.folder import VaultState
from harness.vault.grant_log import Grant
from harness.vault.grants.files import read_answer
from harness.vault.grants.grants import Grants
from harness.vault.vault import Vault
from harness.vault.vault_records import GrantRequest
from rosetta_tui.show.released_words import BudgetUse
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen, PathScreen
from rosetta_tui.vault import facts, screen
from rosetta_tui.vault.facts import AskedRequest, check_up, check_up_page, read_in_full, read_vault, read_vaults
from rosetta_tui.vault.screen import SECTIONS, AnswerScreen, OpenVaultScreen, VaultScreen, VaultsScreen
from rosetta_tui.vault.sections import budgets, contents, keepers, log, next_answer, requests
from tests.harness.vault.made import CANARY, corpus
from tests.tui.golden import SMALL, look
from tests.tui.screens import App, at_rest, press, press_in_turn, settle, showing, store, text
from tests.tui.vault.made import MACHINE, NOW, OFFICE, PEOPLE, RUN, asked_for, filled, steady, taken, told_to, vault_of


async def test_vault_screen_section_by_section(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for(home, Path.cwd() / "elders")
    told_to(home, "team one", "team one", "somebody else")
    read = read_in_full
    monkeypatch.setattr(screen, "read_in_full", lambda *all_, **more: steady(read(*all_, **more)))
    made = VaultScreen(store(home), Path("elders"), lambda: NOW)
    async with showing(App(None, store(home)), made, SMALL) as (app, pilot):
        for number, name in enumerate(SECTIONS, 1):
            await press(pilot, str(number))
            look(f"vault-{name.lower()}", app)
            assert CANARY not in text(app)
        await press_in_turn(pilot, "2", "c", "down")
        look("vault-what-to-do", app)


async def test_list_of_vaults(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = read_vaults
    monkeypatch.setattr(screen, "read_vaults", lambda *all_, **more: [steady(each) for each in read(*all_, **more)])
    async with showing(App(None, store(home)), VaultsScreen(store(home)), SMALL) as (app, pilot):
        look("vaults-empty", app)
        asked_for(home, tmp_path / "elders")
        log = filled(home, tmp_path / "letters", title="Old letters").folder / "log.jsonl"
        log.write_bytes(log.read_bytes().replace(b"Office", b"Offic3", 1))
        await settle(pilot)
        look("vaults", app)


@pytest.mark.thorough
async def test_vault_walk_from_home_to_an_unknown_folder(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = filled(elsewhere, tmp_path / "the elders").folder
    async with at_rest(App(None, store(home)), (100, 30)) as (app, pilot):
        await press(pilot, "V")
        assert "rosetta vault init FOLDER" in text(app)
        await press(pilot, "o")
        assert isinstance(app.screen, OpenVaultScreen)
        app.screen.query_one(Input).value = str(folder)
        await press(pilot, "enter")
        assert "› Vaults › Words of the elders   ✓ whole and unchanged" in text(app)
        await press_in_turn(pilot, "2", "down", "c", "j", "enter")
        assert app.clipboard == f"rosetta vault revoke '{folder}' School --purpose WORDS"
        await press(pilot, "q")
        assert "✓ whole    each of 4" in text(app)
        await press(pilot, "enter", "q", "q")
        assert "Is a machine translation good enough?" in text(app)
    assert not (home / "keeper.key").exists()
    assert list(home.glob("*.key")) == []


def commands_of(home: Path, folder: Path) -> Iterator[list[str]]:
    """Yield every command that a vault's screen names, with something in the place of the words in capitals."""
    found = read_in_full(folder, home, None, anyway=True)
    assert found.facts is not None
    now, filling = NOW, {"NUMBER": "3", "HOURS": "2", "POLICY": "strict", "FILE.html": "page.html"}
    pages = [
        contents(found.facts, "v"), keepers(found.facts, "v"), log(found.facts, "v"),
        requests(found.facts, "v", now.strftime("%Y-%m-%dT%H:%M:%SZ")), budgets(found.told, now),
        check_up_page(check_up(found.facts, found.told, "v", now)),
    ]  # fmt: skip
    for page in pages:
        for commands in page.commands:
            yield from ([filling.get(word, word) for word in each] for each in commands.values())


@pytest.mark.parametrize("together", [False, True])
def test_each_command_is_taken(together: bool, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home.parent / "elders"
    if together:
        asked_for(home, folder)
        told_to(home, "team one")
    else:
        filled(home, folder)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "six words of theirs")
    seen = {taken(words) for words in commands_of(home, folder)}
    assert {"add", "enrol", "revoke", "log", "budget", "check-up", "export"} <= seen
    assert ("answer" in seen) is together


async def test_what_others_do_with_it_is_seen_by_itself(home: Path, tmp_path: Path) -> None:
    folder = filled(home, tmp_path / "elders").folder
    made = VaultScreen(store(home), folder)
    async with showing(App(None, store(home)), made, (120, 30)) as (app, pilot):
        await press(pilot, "3")
        assert "2 lines, the newest first" in text(app)
        later = vault_of(home, folder, NOW)
        later.open("greetings", "the spring look", OFFICE)
        await settle(pilot)
        assert "2026-02-03 12:00  Office  opened 'greetings'" in text(app)
        assert "the spring look" in text(app)
        key = folder / json.loads((folder / "vault.json").read_text())["corpora"].popitem()[1]["texts"]
        whole = key.read_bytes()
        key.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        await settle(pilot)
        assert "This vault is not as its keepers left it. Nothing of it is shown." in text(app)
        assert "its bytes are not those that were written" in " ".join(text(app).split())
        assert "the spring look" not in text(app)
        key.write_bytes(whole)
        await settle(pilot)
        assert "the spring look" in text(app)
        folder.rename(tmp_path / "gone")
        await settle(pilot)
        assert "No vault is here now." in text(app)
        filled(home / "other", folder, title="Another one")
        await settle(pilot)
        assert "Another vault is in" in " ".join(text(app).split())


def test_an_older_copy_is_told_apart(home: Path, tmp_path: Path) -> None:
    made = filled(home, tmp_path / "elders")
    made.export(tmp_path / "stick", "copy", OFFICE)
    made.add(corpus(4, "songs"), "songs", OFFICE)
    assert "older copy of the vault" in read_vault(tmp_path / "stick", home).trouble


def test_the_next_answer_is_told_by_count_and_pause() -> None:
    use = BudgetUse(("a",), "c", None, 1, Policy(count=2, pause_hours=24.0), "2026-02-03T11:00:00Z", None)
    assert next_answer(use, NOW) == ("2026-02-04 11:00", "warn")
    assert next_answer(use, NOW + timedelta(days=1)) == ("now", "good")
    spent = BudgetUse(("a",), "c", None, 2, Policy(count=2, pause_hours=24.0), "2026-02-03T11:00:00Z", None)
    assert next_answer(spent, NOW + timedelta(days=9)) == ("none left", "bad")


def test_a_ledger_without_its_keys_is_said_and_no_keys_are_made(home: Path, tmp_path: Path) -> None:
    told_to(home, "team one")
    (home / "keeper.key").unlink()
    told = read_vault(filled(home, tmp_path / "elders").folder, home).told
    assert told.history is None
    assert "no keeper's keys are on this computer" in told.trouble
    assert budgets(told, NOW).said[0][1] == "bad"
    assert not (home / "keeper.key").exists()


# Answering a request: what is asked stands there, and the answer is that of the command

ASKED = NOW - timedelta(days=1)


@pytest.fixture
def school(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of the school, whose computer is a keeper's; its clock stands in February."""
    (home / "keeper.key").write_text(PEOPLE["School"].text())
    monkeypatch.setattr(facts, "vault_at", lambda folder, where: vault_of(where, folder, NOW))
    return home


def asked(school: Path, folder: Path, machine: Identity = MACHINE) -> bytes:
    """Ask for a run, with the vault that the school sees; gives the request."""
    grants = Grants(vault_of(school, folder, ASKED), machine)
    return grants.ask("greetings", "the spring run", 14, OFFICE, run=RUN)


def grant(school: Path, folder: Path) -> tuple[Grant, VaultState]:
    state = vault_of(school, folder, NOW).read()
    [found] = state.grants.values()
    return found, state


def fixed(found: AskedRequest) -> AskedRequest:
    """Return what is asked without what is drawn by chance, for pictures."""
    six = "apricot within garter soda bleach cookie"
    fixed_facts = {"version": f"{'5f' * 8} of its texts", "where": f"on the computer whose six words are: {six}", "its words": six}  # fmt: skip
    facts = [(name, fixed_facts.get(name, words)) for name, words in found.facts]
    return replace(found, facts=facts, proposal=Path("stick/1a2b3c4d.rosetta-answer"))


async def test_answer_dialog(school: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(school, tmp_path / "elders", threshold=2)
    asked(school, tmp_path / "elders")
    read, in_log = read_in_full, facts.asked_in_log
    monkeypatch.setattr(screen, "read_in_full", lambda *all_, **more: steady(read(*all_, **more)))
    monkeypatch.setattr(screen, "asked_in_log", lambda *all_: fixed(in_log(*all_)))
    made = VaultScreen(store(school), Path("elders"), lambda: NOW)
    async with showing(App(None, store(school)), made, SMALL) as (app, pilot):
        await press_in_turn(pilot, "4", "a")
        look("vault-answer", app)
        assert CANARY not in text(app)
        app.screen.query_one("#allow", Button).press()
        await settle(pilot)
        look("vault-answer-again", app)


async def allowing(pilot: object, app: App) -> None:
    app.screen.query_one("#allow", Button).press()
    await settle(pilot)  # type: ignore[arg-type]
    assert isinstance(app.screen, ConfirmScreen)
    await press(pilot, "y")  # type: ignore[arg-type]


async def test_keeper_allows_what_another_computer_asked(school: Path, tmp_path: Path) -> None:
    """The file is the one that the command writes: the computer that asked takes it in, and the vault opens once."""
    folder = filled(school, tmp_path / "elders", threshold=2).folder
    asked(school, folder)
    made = VaultScreen(store(school), folder, lambda: NOW)
    async with showing(App(None, store(school)), made, (100, 30), notifications=True) as (app, pilot):
        await press_in_turn(pilot, "4", "a")
        shown = " ".join(text(app).replace("│", " ").split())
        found, state = grant(school, folder)
        texts = state.head.corpora[found.request.corpus].texts
        for words in (
            "Office asks to open 'greetings' once: 2 development, 4 gold_standard",
            f"version {texts[:16]} of its texts", "what for the spring run",
            "a run of the method copy-source (abababababababab), scored by Rosetta 0.1.0",
            "to be used once, until 2026-02-16 12:00 UTC",
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
    office = Grants(vault_of(school, folder, NOW), MACHINE)
    office.take(target.read_bytes(), OFFICE)
    office.take(office.answer_asked(*_first(office), PEOPLE["Library"], allowed=True), OFFICE)
    assert office.open(found.id, OFFICE, RUN)


def _first(grants: Grants) -> tuple[GrantRequest, VaultState]:
    state = grants.vault.read()
    return next(iter(state.grants.values())).request, state


@pytest.mark.thorough
async def test_what_this_computer_asked_is_taken_in_at_once(school: Path, tmp_path: Path) -> None:
    folder = filled(school, tmp_path / "elders").folder
    asked(school, folder, Identity.load(school, Role.COMPUTER))
    made = VaultScreen(store(school), folder, lambda: NOW)
    async with showing(App(None, store(school)), made, (100, 30)) as (app, pilot):
        await press_in_turn(pilot, "4", "a")
        assert not app.screen.query("#target")
        await allowing(pilot, app)
        assert "allowed, not used" in text(app)
    found, state = grant(school, folder)
    assert found.allowed_by(state.keepers) == [PEOPLE["School"].public.signing_key]
    assert not list(tmp_path.glob("*.rosetta-answer"))


@pytest.mark.thorough
async def test_a_request_on_a_stick_is_refused_with_a_reason(school: Path, tmp_path: Path) -> None:
    """With a copy of the vault from before the request, and the keys of a keeper on a stick."""
    folder = filled(school, tmp_path / "elders", threshold=2).folder
    copy, stick = tmp_path / "copy", tmp_path / "stick"
    Vault(folder, tmp_path / "theirs", vault_of(school, folder, ASKED).clock).export(copy, "for the stick", OFFICE)
    stick.mkdir()
    office = Grants(Vault(folder, tmp_path / "theirs", vault_of(school, folder, ASKED).clock), MACHINE)
    data = office.ask("greetings", "the spring run", 14, OFFICE, run=RUN)
    (stick / "spring.rosetta-request").write_bytes(data)
    (stick / "library.key").write_text(PEOPLE["Library"].text())
    made = VaultScreen(store(school), copy, lambda: NOW)
    async with showing(App(None, store(school)), made, (120, 36)) as (app, pilot):
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


@pytest.mark.thorough
async def test_wrong_file_or_keeper_answers_nothing(school: Path, tmp_path: Path) -> None:
    folder = filled(school, tmp_path / "elders").folder
    asked(school, folder)
    [grant_id] = vault_of(school, folder, NOW).read().grants
    files = [tmp_path / f"{grant_id[:8]}{end}.rosetta-answer" for end in ("", "-2")]
    made = VaultScreen(store(school), folder, lambda: NOW)
    async with showing(App(None, store(school)), made, (120, 36)) as (app, pilot):
        for words in ("is there already", "not those of a present keeper of this vault"):
            await press_in_turn(pilot, "4", "a")
            if words == "is there already":
                for file in files:
                    file.touch()
            else:  # the texts were sealed anew without the school
                vault_of(school, folder, NOW - timedelta(hours=1)).revoke("School", "left", OFFICE)
            await allowing(pilot, app)
            assert isinstance(app.screen, AnswerScreen)
            assert words in " ".join(text(app).split())
            assert not app.screen.query_one("#allow", Button).disabled
            await press(pilot, "escape")
            assert app.screen is made
    assert not any(file.read_bytes() for file in files)
    assert set(tmp_path.glob("*.rosetta-answer")) == set(files)


@pytest.mark.thorough
async def test_nobody_is_asked_for_what_is_over(school: Path, tmp_path: Path) -> None:
    folder = filled(school, tmp_path / "elders").folder
    data = asked(school, folder)
    file = tmp_path / "spring.rosetta-request"
    file.write_bytes(data)
    office = Grants(vault_of(school, folder, ASKED + timedelta(hours=1)), MACHINE)
    office.take(office.answer(data, OFFICE, allowed=True), OFFICE)
    office.open(next(iter(office.vault.read().grants)), OFFICE, RUN)
    made = VaultScreen(store(school), folder, lambda: NOW)
    async with showing(App(None, store(school)), made, (100, 30), notifications=True) as (app, pilot):
        await press_in_turn(pilot, "4", "a")
        assert app.screen is made
        await press(pilot, "f")
        app.screen.query_one(Input).value = str(file)
        await press(pilot, "enter")
        assert app.screen is made
        assert "This grant was used up at" in " ".join(text(app).split())
        await press_in_turn(pilot, "1", "a", "f")
        assert app.screen is made
