"""Official lists of released cards: their order and letters, whose cards are believed, and the ledger that the vault's log anchors."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.failures import UsageError
from harness.leaderboard.official import cards_here, letters_of, official_lists, take
from harness.release.ledger import FOLDER, ReleaseLedger, anchored
from harness.release.records import Rule
from harness.sealed.strict_records import FileError
from harness.store.file.database import opened
from harness.vault.vault import Vault
from tests.harness.release.made import Office, hidden
from tests.harness.release.made import told_card as card
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import MINE, THEIRS, filled, ticking


def test_list_is_ranked_by_composite_and_ties_share_a_rank() -> None:
    cards = [card("a", 50, 0.6), card("b", 70, 0.5), card("c", 60, 0.6), card("d", 90, 0.9, scores_of="a")]  # fmt: skip
    [found] = official_lists(cards)
    assert [(row.name, row.rank) for row in found.rows] == [("a", 1), ("c", 1), ("b", 3)]
    assert (found.by, found.repeated, found.smallest) == ("composite", 1, 10.0)
    [without] = official_lists([*cards, card("e", 65)])
    assert [row.name for row in without.rows] == ["b", "e", "c", "a"]
    assert without.by == "chrf_plus_plus"


def test_cards_of_another_key_version_or_size_are_another_list() -> None:
    other = {"id": "gold", "version": "2", "language_pair": "en→eo", "entries": 50}
    cards = [card("a", 50), card("b", 50, by="1" * 64), card("c", 50, corpus=other)]
    assert len(official_lists(cards)) == 3
    assert official_lists(cards, "silver") == []


@pytest.mark.parametrize(("values", "letters"), [
    ([71, 65, 59, 53], ["a", "ab", "bc", "c"]),  # no chain that joins 71 and 53
    ([84, 60, 60], ["a", "b", "b"]), ([50], ["a"]), ([], []), ([50, 60, 55], ["b", "a", "ab"]),
])  # fmt: skip
def test_letters_join_what_cannot_be_told_apart(values: list[float], letters: list[str]) -> None:
    assert letters_of(values, 10) == letters
    assert letters_of(values, None) == [""] * len(values)


@given(st.lists(st.integers(0, 100), max_size=40), st.integers(1, 40))
def test_two_share_a_letter_just_where_they_differ_by_less(values: list[int], least: int) -> None:
    split = [set(each) for each in letters_of([*map(float, values)], least)] if len(values) <= 26 else []  # fmt: skip
    for one, own in zip(values, split, strict=False):
        for other, its in zip(values, split, strict=False):
            assert bool(own & its) is (abs(one - other) < least)


def test_imported_cards_stand_in_the_list_and_changed_ones_do_not(tmp_path: Path) -> None:
    (tmp_path / "council").mkdir()
    council, mine = Office(tmp_path / "council"), tmp_path / "mine"
    mine.mkdir()
    told = {name: council.release(council.run(right, hidden(60)), name) for name, right in (("Ann", 0.9), ("Ben", 0.4))}  # fmt: skip
    with opened(mine / "rosetta.sqlite") as store:
        for name, data in told.items():
            assert take(mine, data, "card.json", store).submitter == name
        changed = told["Ann"].replace(b'"submitter":"Ann"', b'"submitter":"Eve"')
        refuses(UsageError, "changed after it was signed", take, mine, changed, "card.json", store)
        refuses(UsageError, "no released card", take, mine, b'{"a":1}', "card.json", store)
        refusal = council.refused(council.run(0.5, hidden(60)), "Cid")
        refuses(UsageError, "no scores", take, mine, refusal, "card.json", store)
        [kept, _] = sorted((mine / FOLDER / "taken").iterdir())
        assert {each.submitter for each in cards_here(mine, store)} == {"Ann", "Ben"}
        kept.write_bytes(changed)
        assert len(cards_here(mine, store)) == 1
    with opened(
        council.store
    ) as store:  # what this computer told itself is there without an import
        assert len(cards_here(council.folder, store)) == 2


@pytest.fixture
def anchor(tmp_path: Path) -> tuple[ReleaseLedger, Vault]:
    ledger = ReleaseLedger(tmp_path / FOLDER, MINE, ticking())
    return ledger, filled(tmp_path)


def tell(ledger: ReleaseLedger, vault: Vault, count: int = 3) -> None:
    """Write a line into the ledger as telling does, within the anchor."""
    with anchored(ledger, vault.folder), ledger.changing() as change:
        change.write(Rule(count=count))


def test_ledger_that_was_emptied_cut_or_replaced_tells_nothing(
    anchor: tuple[ReleaseLedger, Vault], tmp_path: Path
) -> None:
    ledger, vault = anchor
    for _ in "123":
        tell(ledger, vault)
    log = [
        json.loads(line)["act"] for line in (vault.folder / "log.jsonl").read_text().splitlines()
    ]
    assert [each["lines"] for each in log if each["what"] == "ledger stood"] == [2, 3, 4]
    whole = ledger.path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for wrong in (b"", b"".join(lines[:3]), lines[0]):
        ledger.path.write_bytes(wrong)
        refuses(FileError, "is not the one that told", tell, ledger, vault)
    ledger.path.write_bytes(b"".join(lines[:3]))
    with ledger.changing() as change:  # as long as before, with another last line
        change.write(Rule(count=9))
    refuses(FileError, "is not the one that told", tell, ledger, vault)
    ledger.path.unlink()
    with ledger.changing():  # begun anew, as long as before
        pass
    for _ in "1234":
        with ledger.changing() as change:
            change.write(Rule(count=3))
    refuses(FileError, "Put back the newest copy", tell, ledger, vault)
    ledger.path.write_bytes(whole)
    tell(ledger, vault)


def test_ledger_of_another_keeper_is_anchored_for_itself(
    anchor: tuple[ReleaseLedger, Vault], tmp_path: Path
) -> None:
    ledger, vault = anchor
    tell(ledger, vault)
    other = ReleaseLedger(tmp_path / "elsewhere" / FOLDER, THEIRS, ticking())
    (tmp_path / "elsewhere").mkdir()
    tell(other, vault)
    tell(ledger, vault)
    with anchored(ledger, None):  # a corpus that is in no vault has no log
        pass
