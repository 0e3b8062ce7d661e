"""What is due with a vault: keys and shares to try, answers that are used up, a copy to make; and doing it."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.vault.vault import Vault
from rosetta_tui.vault.facts import CheckItem, check_up, check_up_lines, told_scores, vault_facts
from tests.tui.commands.command_line import typed
from tests.tui.commands.vault_office import faults
from tests.tui.vault.made import NOW, OFFICE, PEOPLE, filled, told_to, vault_of

Check = Callable[..., dict[str, CheckItem]]


@pytest.fixture
def folder(home: Path) -> Path:
    return home.parent / "elders"


@pytest.fixture
def checked(home: Path, folder: Path) -> Check:
    def check(now: datetime = NOW) -> dict[str, CheckItem]:
        items = check_up(vault_facts(folder, home), told_scores(home), "v", now)
        assert [item.due for item in items] == sorted((item.due for item in items), reverse=True)
        return {item.name: item for item in items}

    return check


def later(home: Path, folder: Path, days: int = 1) -> Vault:
    return vault_of(home, folder, NOW + timedelta(days=days))


def test_keys_are_tried_by_opening(home: Path, folder: Path, checked: Check) -> None:
    made = filled(home, folder)
    made.open("greetings", "a look", OFFICE)
    item = checked()["tried"]
    assert (item.due, "the keys of School, Library, recovery key." in item.words) == (True, True)
    assert [*item.command[:5]] == ["rosetta", "vault", "open", "v", "greetings"]
    for name in ("School", "Library"):
        made.open("greetings", "a look", PEOPLE[name])
    assert checked()["tried"].command[-1] == "FILE"
    made.open("greetings", "a look", PEOPLE["recovery key"])
    assert not checked()["tried"].due
    assert checked(NOW + timedelta(days=400))["tried"].due
    assert "shares" not in checked()


def test_copy_is_due_after_a_change(home: Path, folder: Path, checked: Check) -> None:
    filled(home, folder)
    assert "No copy was made" in checked()["copy"].words
    made = later(home, folder)
    made.export(folder.with_name("stick"), "safe", OFFICE)
    made.open("greetings", "a look", OFFICE)
    item = checked()["copy"]
    assert (item.due, item.command) == (False, ())
    made.rotate("greetings", Segment.HELD_OUT, Segment.GOLD_STANDARD, 1, "why", OFFICE)
    assert checked()["copy"].words == "The last copy is of 2026-02-04 12:00, before the vault changed."


@pytest.mark.parametrize("answers", [19, 20])
def test_rotation_is_due_when_answers_are_used_up(home: Path, folder: Path, checked: Check, answers: int) -> None:
    filled(home, folder)
    assert "rotate" not in checked()
    told_to(home, *(f"team {n}" for n in range(answers)))
    item = checked()["rotate"]
    assert (item.due, item.corpus) == (answers == 20, "greetings")
    assert f"{answers} of 20 answers about 'greetings'" in item.words
    made = later(home, folder)
    if item.due:
        assert item.command[3:9] == ("v", "greetings", "--do", "rotate", "--count", "2")
        made.rotate("greetings", Segment.HELD_OUT, Segment.GOLD_STANDARD, 2, "why", OFFICE)
        assert "rotate" not in checked()


def test_ledger_without_its_keys_is_told(home: Path, folder: Path, checked: Check) -> None:
    filled(home, folder)
    told_to(home, "team one")
    (home / "keeper.key").unlink()
    item = checked()["rotate"]
    assert (item.due, "no keeper's keys" in item.words) == (False, True)


def test_check_up_says_and_does_it(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(home, folder, threshold=2)
    (home / "keeper.key").write_text(OFFICE.text())
    (home / "school.key").write_text(PEOPLE["School"].text())
    monkeypatch.chdir(folder.parent)
    told = json.loads(typed("vault", "check-up", "elders", "--json"))
    assert faults("vault-check-up", told) == []
    assert {item["name"]: item["due"] for item in told["items"]} == {"tried": True, "copy": True, "shares": False}
    assert "right, and the folder says so: 2 of the 4" in typed("vault", "share", "elders")
    assert "the share of School, Library, recovery key. 1 of 4 did" in typed("vault", "check-up", "elders")
    wrong = ("Say what to do", ["greetings"]), ("needs CORPUS", ["--do", "rotate", "--purpose", "x"]), ("needs --purpose", ["--do", "shares"])  # fmt: skip
    for words, line in wrong:
        assert words in typed("vault", "check-up", "elders", *line)
    act = ("--do", "rotate", "--count", "1", "--purpose", "x")
    said = typed("vault", "check-up", "elders", "greetings", *act)
    assert "1 entry moved from held_out to gold_standard" in said
    alone = typed("vault", "check-up", "elders", "--do", "shares", "--purpose", "x")
    assert "opens for 2 of its 4 keepers together" in alone
    act = ("--do", "shares", "--with", str(home / "school.key"), "--purpose", "x")
    assert "All texts are sealed again" in typed("vault", "check-up", "elders", *act)
    assert "0 of 4 did" in typed("vault", "check-up", "elders")


def test_lines_say_what_is_due() -> None:
    items = [CheckItem("copy", True, "late", ("rosetta", "x y")), CheckItem("tried", False, "all did")]
    assert list(check_up_lines(items)) == ["! copy: late", "    rosetta 'x y'", "✓ tried: all did", "1 due."]
    assert list(check_up_lines(items[1:]))[-1] == "Nothing is due."
