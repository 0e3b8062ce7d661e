"""The custodian's screens: what they show of whole, damaged and changing vaults, and that they open no text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from textual.widgets import Input

from harness.release.budget import BudgetUse, LeakBudget
from harness.sealed.keys import Identity, Role
from rosetta_tui.commands import rosetta
from rosetta_tui.vault import list_screen, screen
from rosetta_tui.vault.budgets import budgets, next_answer
from rosetta_tui.vault.contents import contents, log
from rosetta_tui.vault.facts import read_in_full, read_vault, read_vaults
from rosetta_tui.vault.keepers import keepers
from rosetta_tui.vault.list_screen import OpenVaultScreen, VaultsScreen
from rosetta_tui.vault.requests import requests
from rosetta_tui.vault.screen import SECTIONS, VaultScreen
from tests.harness.vault.made import CANARY, corpus
from tests.tui.commands.vault_office import Office
from tests.tui.golden import SMALL, look
from tests.tui.screens import App, at_rest, press, press_in_turn, settle, showing, store, text
from tests.tui.vault.made import (
    NOW,
    OFFICE,
    PEOPLE,
    asked_for,
    filled,
    steady,
    taken,
    told_to,
    vault_of,
)


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


async def test_vault_list_empty_and_with_a_damaged_vault(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = read_vaults
    monkeypatch.setattr(list_screen, "read_vaults", lambda *all_, **more: [steady(each) for each in read(*all_, **more)])  # fmt: skip
    async with showing(App(None, store(home)), VaultsScreen(store(home)), SMALL) as (app, pilot):
        look("vaults-empty", app)
        asked_for(home, tmp_path / "elders")
        log = filled(home, tmp_path / "letters", title="Old letters").folder / "log.jsonl"
        log.write_bytes(log.read_bytes().replace(b"Office", b"Offic3", 1))
        await settle(pilot)
        look("vaults", app)


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
    now, filling = NOW, {"NUMBER": "3", "HOURS": "2", "FILE.html": "page.html"}
    pages = [
        contents(found.facts, "v"), keepers(found.facts, "v"), log(found.facts, "v"),
        requests(found.facts, "v", now.strftime("%Y-%m-%dT%H:%M:%SZ")), budgets(found.told, now),
    ]  # fmt: skip
    for page in pages:
        for commands in page.commands:
            yield from ([filling.get(word, word) for word in each] for each in commands.values())


@pytest.mark.parametrize("together", [False, True])
def test_each_command_is_one_that_the_program_takes(
    together: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home.parent / "elders"
    if together:
        asked_for(home, folder)
        told_to(home, "team one")
    else:
        filled(home, folder)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "six words of theirs")
    seen = {taken(words) for words in commands_of(home, folder)}
    assert {"add", "enrol", "revoke", "log", "budget"} <= seen
    assert ("allow" in seen) is together


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
        key = folder / json.loads((folder / "vault.json").read_text())["corpora"].popitem()[1]["texts"]  # fmt: skip
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
        assert "Another vault lies in" in " ".join(text(app).split())


def test_it_is_read_again_only_where_a_file_changed(home: Path, tmp_path: Path) -> None:
    made = filled(home, tmp_path / "elders")
    first = read_vault(made.folder, home)
    assert read_vault(made.folder, home, first, anyway=False) is first
    assert read_vault(made.folder, home, first) is not first
    listed = read_vaults(home, None, anyway=False)
    assert read_vaults(home, listed, anyway=False) is listed
    assert read_vaults(home, listed, anyway=True) is not listed
    told_to(home, "team one")
    assert read_vaults(home, listed, anyway=False) is not listed
    second = read_vault(made.folder, home, first, anyway=False)
    assert second is not first
    assert second.told.history is not None
    assert len(second.told.history.answers) == 1
    made.add(corpus(4, "songs"), "songs", OFFICE)
    assert read_vault(made.folder, home, second, anyway=False) is not second


def test_an_older_copy_is_told_apart(home: Path, tmp_path: Path) -> None:
    made = filled(home, tmp_path / "elders")
    made.export(tmp_path / "stick", "copy", OFFICE)
    made.add(corpus(4, "songs"), "songs", OFFICE)
    assert "older copy of the vault" in read_vault(tmp_path / "stick", home).trouble


def test_the_next_answer_is_told_by_count_and_pause() -> None:
    use = BudgetUse(("a",), "c", 1, LeakBudget(2, 24.0), "2026-02-03T11:00:00Z", None)
    assert next_answer(use, NOW) == ("2026-02-04 11:00", "warn")
    assert next_answer(use, NOW + timedelta(days=1)) == ("now", "good")
    spent = BudgetUse(("a",), "c", 2, LeakBudget(2, 24.0), "2026-02-03T11:00:00Z", None)
    assert next_answer(spent, NOW + timedelta(days=9)) == ("none left", "bad")


def test_a_ledger_without_its_keys_is_said_and_no_keys_are_made(home: Path, tmp_path: Path) -> None:
    told_to(home, "team one")
    (home / "keeper.key").unlink()
    told = read_vault(filled(home, tmp_path / "elders").folder, home).told
    assert told.history is None
    assert "no keeper's keys are on this computer" in told.trouble
    assert budgets(told, NOW).said[0][1] == "bad"
    assert not (home / "keeper.key").exists()


def test_keeper_who_came_again_is_one_since_then(home: Path, tmp_path: Path) -> None:
    made = vault_of(home, filled(home, tmp_path / "elders").folder, NOW)
    school = made.read().keepers[PEOPLE["School"].public.signing_key]
    made.revoke("School", "moved away", OFFICE)
    made.enrol(school, "came back", OFFICE)
    facts = read_in_full(made.folder, home, None, anyway=True).facts
    assert facts is not None
    since = {row[0].text: row[2].text for row in keepers(facts, "v").rows}
    assert since["School"] == "2026-02-03 12:01"
    assert since["Office"] == "2026-01-02 03:04"


@pytest.mark.usefixtures("home")
async def test_older_copy_says_who_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    office = Office(tmp_path, monkeypatch)
    office("card School.rosetta-keeper", at="school")
    office("init v --as Office --recovery rec.txt --keeper School.rosetta-keeper --name x")
    office("export v stick --purpose copy")
    office("revoke v School --purpose left --notice school.rosetta-notice")
    words = Identity.load(tmp_path / "office", Role.ORGANISATION).public.phrase
    library = tmp_path / "library"
    library.mkdir(mode=0o700)
    monkeypatch.setenv("ROSETTA_HOME", str(library))
    made = VaultScreen(library / "rosetta.sqlite", tmp_path / "stick")
    async with showing(App(None, library / "rosetta.sqlite"), made, (120, 30)) as (app, pilot):
        assert "✓ whole and unchanged" in text(app)
        taken = ["consent", "take", "school.rosetta-notice", "--words", words]
        assert CliRunner().invoke(rosetta, taken).exit_code == 0
        await press(pilot, "2")
        assert "! an older copy" in text(app)
        assert "OLDER COPY: School is no keeper any more, by a notice" in text(app)
        assert "2 Keepers 1" in text(app)
        assert "taken out" in text(app)
