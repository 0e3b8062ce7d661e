"""Official lists of released cards: their order and letters, whose cards are believed, and what the ledger confirms."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.corpus import Selection
from harness.api import confirming
from harness.core.failures import UsageError
from harness.leaderboard.official import cards_here, group_letters, official_lists, take
from harness.release import FOLDER
from harness.release.budget import MOMENT, History, shortfall_of
from harness.release.ledger import ReleaseLedger, anchored, checked_lines
from harness.release.ledger_records import Begun, InLedger, LedgerLine, ReleasedCard, Rule, ScoresTold, Together
from harness.sealed.strict_records import FileError
from harness.store.sqlite.database import opened
from harness.vault.vault import Vault
from review.verifying.kinds import fits_line
from rosetta_tui.leaderboard import official as official_words
from tests.harness.evaluation import corpus_of
from tests.harness.release.attackers import START, question
from tests.harness.release.made import Office, hidden
from tests.harness.release.made import told_card as card
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import MINE, THEIRS, filled, ticking


def test_list_is_ranked_by_composite_and_ties_share_a_rank() -> None:
    cards = [card("a", 50, 0.6), card("b", 70, 0.5), card("c", 60, 0.6), card("d", 90, 0.9, scores_of="a")]
    [found] = official_lists(cards)
    assert [(row.name, row.rank) for row in found.rows] == [("a", 1), ("c", 1), ("b", 3)]
    assert (found.by, found.repeated, found.smallest) == ("composite", 1, 10.0)
    [without] = official_lists([*cards, card("e", 65)])
    assert [row.name for row in without.rows] == ["b", "e", "c", "a"]
    assert without.by == "chrf_plus_plus"


def test_run_told_to_several_has_one_row_by_the_card_that_tells_most() -> None:
    told = [card("a", 70, 0.6), card("b", 60, 0.5), card("a", 71, submitter="Ben"), card("c", 65, 0.55, scores_of="a")]
    for cards in (told, told[::-1]):
        [found] = official_lists(cards)
        assert [(row.name, row.value("composite")) for row in found.rows] == [("a", 0.6), ("b", 0.5)]
        assert (found.by, found.repeated) == ("composite", 1)
        assert [*official_words.notes(found)][-1].endswith("another run: 1 card")


def test_list_names_pairs_that_chrf_has_in_the_other_order() -> None:
    cards = [card("a", 70, 0.6), card("b", 72, 0.5), card("c", 65, 0.4), card("d", 80, 0.4)]  # c and d share a rank
    [found] = official_lists(cards)
    assert found.disagreeing == (3, 5)  # a and b, a and d, b and d
    assert "chrF++ has 3 of 5 pairs in the other order" in [*official_words.notes(found)]
    [alike] = official_lists(cards[:1])
    assert [*official_words.notes(alike)] == []


@pytest.mark.parametrize(("covered", "caveats", "words"), [
    (0.5, {}, "functional on 50 % of its weight"), (1.0, {}, "functional"), (None, {}, "functional"),
    (0.55, {"short": True}, "functional! on 55 % of its weight"),
])  # fmt: skip
def test_coverage_stands_beside_the_tier_of_a_released_card(
    covered: float | None, caveats: dict[str, bool], words: str
) -> None:
    told = card("a", 70, 0.6, coverage=covered, claimable_tier="functional", caveats=caveats or None)
    [found] = official_lists([told])
    assert official_words.tier_words(found.rows[0]) == words
    assert official_words.record(found.rows[0])["composite_coverage"] == covered
    assert ("coverage" in json.loads(told.model_dump_json())) is (covered is not None)  # as cards of earlier versions


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
    assert group_letters(values, 10) == letters
    assert group_letters(values, None) == [""] * len(values)


@given(st.lists(st.integers(0, 100), max_size=40), st.integers(1, 40))
def test_two_share_a_letter_just_where_they_differ_by_less(values: list[int], least: int) -> None:
    split = [set(each) for each in group_letters([*map(float, values)], least)] if len(values) <= 26 else []
    for one, own in zip(values, split, strict=False):
        for other, its in zip(values, split, strict=False):
            assert bool(own & its) is (abs(one - other) < least)


def test_imported_cards_stand_in_the_list_and_changed_ones_do_not(tmp_path: Path) -> None:
    (tmp_path / "council").mkdir()
    council, mine = Office(tmp_path / "council"), tmp_path / "mine"
    mine.mkdir()
    told = {name: council.release(council.run(right, hidden(60)), name) for name, right in (("Ann", 0.9), ("Ben", 0.4))}
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
    with opened(council.store) as store:  # what this computer told itself is there without an import
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
    log = [json.loads(line)["act"] for line in (vault.folder / "log.jsonl").read_text().splitlines()]
    assert [each["lines"] for each in log if each["what"] == "ledger stood"] == [2, 3, 4]
    whole = ledger.path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for wrong in (b"", b"".join(lines[:3]), lines[0]):
        ledger.path.write_bytes(wrong)
        refuses(FileError, "is not the one that released", tell, ledger, vault)
    ledger.path.write_bytes(b"".join(lines[:3]))
    with ledger.changing() as change:  # as long as before, with another last line
        change.write(Rule(count=9))
    refuses(FileError, "is not the one that released", tell, ledger, vault)
    ledger.path.unlink()
    with ledger.changing():  # begun anew, as long as before
        pass
    for _ in "1234":
        with ledger.changing() as change:
            change.write(Rule(count=3))
    refuses(FileError, "Put back the newest copy", tell, ledger, vault)
    ledger.path.write_bytes(whole)
    tell(ledger, vault)


def test_ledger_of_another_keeper_is_anchored_for_itself(anchor: tuple[ReleaseLedger, Vault], tmp_path: Path) -> None:
    ledger, vault = anchor
    tell(ledger, vault)
    other = ReleaseLedger(tmp_path / "elsewhere" / FOLDER, THEIRS, ticking())
    (tmp_path / "elsewhere").mkdir()
    tell(other, vault)
    tell(ledger, vault)
    with anchored(ledger, None):  # a corpus that is in no vault has no log
        pass


RULE = Rule(count=100, pause_hours=0)
ANN = ("Ann", range(100), "1", 0)
"""What is told first: to whom, about which entries, of which version, after how many rotations."""


def history(*told: tuple[str, Iterable[int], str, int | None]) -> History:
    """Return what a ledger with these answers amounts to; runs are called by their places."""
    found = History().after(RULE, START.strftime(MOMENT))
    for place, (submitter, entries, version, rotations) in enumerate(told):
        ids = frozenset(f"{each:032x}" for each in entries)
        asked = question(submitter, f"run {place}", len(ids), 50.0, ids, version, rotations)
        found = found.after(found.answer(asked, START), START.strftime(MOMENT))
    return found


@pytest.mark.parametrize(("told", "shortfall"), [
    ([ANN], ""),
    ([("Ann", range(50), "1", None)], ""),  # of no vault
    ([("Ann", range(49), "1", 0)], "few entries"),
    ([ANN, ("Ben", range(100), "1", 0)], "told before"),  # to another submitter
    ([ANN, ("Ann", range(100), "2", 0)], "told before"),  # the version alone is another one
    ([ANN, ("Ann", range(100), "1", 1)], "told before"),  # moved out and in again
    ([ANN, ("Ben", range(50, 150), "1", 1)], "told before"),  # half of them
    ([ANN, ("Ben", range(95, 200), "1", 1)], "told before"),  # five of them
    ([ANN, ("Ann", range(100, 150), "1", 0)], "second run"),  # parts of one activation
    ([ANN, (" ANN ", range(100, 150), "1", 0)], "second run"),
    ([ANN, ("Ben", range(100, 150), "1", 0)], ""),
    ([ANN, ("Ann", range(100, 150), "1", 1)], ""),  # after the next activation
    ([("Ann", range(40), "1", 0), ("Ann", range(40, 90), "1", 0)], ""),  # the first was too small to confirm
])  # fmt: skip
def test_run_is_confirmed_by_the_ledger_before_it(
    told: list[tuple[str, Iterable[int], str, int | None]], shortfall: str
) -> None:
    card = history(*told).answers[-1][1].card
    assert (card.shortfall, card.confirmation == "confirmed") == (shortfall, not shortfall)


@pytest.mark.parametrize(("count", "alike", "enough"), [(50, 0, True), (49, 0, False), (50, 1, False), (51, 1, True)])
def test_run_that_confirms_has_enough_different_sentences(tmp_path: Path, count: int, alike: int, enough: bool) -> None:
    entries = hidden(count)
    for number in range(alike):
        source = entries[-1 - number].source.upper()
        entries[number] = entries[number].model_copy(update={"source": source})
    office = Office(tmp_path)
    if enough:
        chosen = confirming(corpus_of(entries), Selection(), office.ledger)
        assert len(chosen.entry_ids or ()) == count
        assert office.told(office.run(0.9, entries))["confirmation"] == "confirmed"
    else:
        words = f"{count - alike} different secret entries"
        refuses(UsageError, words, confirming, corpus_of(entries), Selection(), office.ledger)


def test_names_put_together_confirm_once() -> None:
    found = history(ANN).after(Together(names=("Ann", "Ben")), START.strftime(MOMENT))
    ids = frozenset(f"{each:032x}" for each in range(200, 260))
    asked = question("Ben", "again", 60, 50.0, ids, "1", 0)
    assert found.answer(asked, START).card.shortfall == "second run"


def test_run_told_to_several_is_confirmed_by_its_first_answer() -> None:
    found = history(ANN)
    [(_, act)] = found.answers
    again = act.card.model_copy(update={"submitter": "Ben", "confirmation": "not_confirmed", "shortfall": "told before"})  # fmt: skip
    found = found.after(act.model_copy(update={"card": again}), START.strftime(MOMENT))
    assert shortfall_of(found, "run 0") == ""
    assert shortfall_of(found, "another") is None


def test_card_fits_its_line_of_the_ledger_or_is_found(tmp_path: Path) -> None:
    office = Office(tmp_path, metrics=("chrf_plus_plus",))
    entries = hidden(60)
    first = office.told(office.run(0.4, entries), "Ann")
    second = office.told(office.run(0.9, entries), "Ben")
    data = office.ledger.path.read_bytes()
    lines = checked_lines(data, "the ledger")
    assert (first["confirmation"], second["shortfall"]) == ("confirmed", "told before")
    assert [fits_line(lines, each) for each in (first, second)] == ["", ""]
    assert fits_line(lines[:2], second) == "the ledger has no such line"  # cut
    stated = second | {"confirmation": "confirmed", "shortfall": ""}
    assert "something else" in fits_line(lines, stated)
    refuses(ValueError, "contradicts itself", ReleasedCard.model_validate, {**second, "shortfall": ""})
    assert "something else" in fits_line(lines, second | {"place": first["place"]})
    forged = Office(tmp_path / "forged")  # a custodian writes a ledger that says so, and signs it
    forged.folder.mkdir()
    forged.moments = [START]
    for line in lines[1:]:
        with forged.ledger.changing() as change:
            fields = {"place": change.place, "confirmation": "confirmed", "shortfall": ""}
            assert isinstance(line.act, ScoresTold)
            change.write(line.act.model_copy(update={"card": line.act.card.model_copy(update=fields)}))
    lines = checked_lines(forged.ledger.path.read_bytes(), "the ledger")
    told = [json.loads(line.act.card.model_dump_json()) for line in lines[1:]]
    assert fits_line(lines, told[0]) == ""
    assert "says otherwise of its confirmation, shortfall" in fits_line(lines, told[1])


@pytest.mark.parametrize(("changed", "why"), [
    ({}, ""),
    ({"scores_of": "run 1"}, "says otherwise of its scores_of"),  # 50 does not beat 50 by 4.9
    ({"beat_by": 1.0}, "says otherwise of its beat_by"),
    ({"answer": 1}, "says otherwise of its answer"),
    ({"of": 200}, "says otherwise of its of"),
])  # fmt: skip
def test_card_that_the_rules_do_not_give_is_found(changed: dict[str, Any], why: str) -> None:
    acts = [act for _, act in history(ANN, ANN).answers]
    acts[1] = acts[1].model_copy(update={"card": acts[1].card.model_copy(update=changed)})
    assert why in fits_line(*_written(acts)) if why else fits_line(*_written(acts)) == ""


def test_line_that_no_rule_allows_is_found() -> None:
    [(_, act)] = history(ANN).answers
    few = act.model_copy(update={"atoms": {**(act.atoms or {}), f"{0:032x}": 9}})  # one entry is told from the others
    assert "otherwise of its atoms" in fits_line(*_written([few]))
    assert "nothing might be told: 'Ann' had all 1 answer" in fits_line(*_written([act, act], Rule(count=1)))


def _written(acts: Sequence[Any], rule: Rule = RULE) -> tuple[list[LedgerLine], Any]:
    """Return lines of a ledger with these acts behind a rule, and the last card as it states its place."""
    lines, when = [], START.strftime(MOMENT)
    for place, act in enumerate([Begun(salt="0" * 64), rule, *acts]):
        lines.append(LedgerLine(seq=place, prev="", when=when, by="0" * 64, act=act, signature="0" * 128))
    named = InLedger(ledger="0" * 64, line=len(lines) - 1, prev="0" * 64)
    card = lines[-1].act.card.model_copy(update={"place": named})
    lines[-1] = lines[-1].model_copy(update={"act": lines[-1].act.model_copy(update={"card": card})})
    return lines, card.model_dump(mode="json")
