"""A method that gave nothing: a few words leave, signed, and count as an answer; caveats leave as yes or no."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.card.checking.signed import UNKNOWN
from harness.core.failures import UsageError
from harness.release.budget import NotReleased
from harness.release.records import ReleasedCard, Rule, SignedReleasedCard, SignedReleasedRefusal
from harness.release.refusing import release_refusal, share_that_came
from harness.release.verifying import verify_released
from harness.sealed.signed_archive import signed_record
from harness.store.file.database import open_store
from harness.store.runs import find_run
from rosetta_tui.html.released_page import released_page
from tests.harness.release.made import CANARY, KEEPER, Office, hidden, outputs


def _refused(office: Office, run: str, submitter: str = "Ann") -> bytes:
    with closing(open_store(office.store)) as store:
        return release_refusal(store, find_run(store, run).id, submitter, "load", office.ledger)


def test_a_refusal_says_a_few_words_and_is_signed(tmp_path: Path) -> None:
    office = Office(tmp_path)
    data = _refused(office, office.run(0.5))
    told = json.loads(data)
    assert (told["stage"], told["came"], told["answer"], told["of"]) == ("load", "most", 1, 10)
    assert CANARY.encode() not in data
    assert b"id-" not in data
    assert SignedReleasedRefusal.model_validate_json(data).is_signed_by(KEEPER.public.signing_key)
    numbers = {name: each for name, each in told.items() if isinstance(each, int | float)}
    assert numbers == {"answer": 1, "of": 10}
    verdict = verify_released(data, UNKNOWN)
    assert verdict is not None
    assert verdict.ok
    changed = verify_released(data.replace(b'"load"', b'"install"'), UNKNOWN)
    assert changed is not None
    assert not changed.ok


def test_what_leaves_has_the_day_alone_and_the_ledger_the_second(tmp_path: Path) -> None:
    """Code in the box can choose the second in which its run ends: it would say about ten bits of a text."""
    office = Office(tmp_path, hours=25.5)
    first, second, third = office.run(0.3), office.run(0.9), office.run(0.5)
    left = [office.told(first), office.told(second), office.compared(first, second)]
    left.append(json.loads(_refused(office, third)))
    lines = office.ledger.path.read_text("utf-8").splitlines()
    times = [json.loads(line)["when"] for line in lines if json.loads(line)["act"].get("card")]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", each) for each in times)
    assert [each["issued"] for each in left] == [each[:10] for each in times]
    assert not any(re.search(r"\d\d:\d\d", json.dumps(each)) for each in left)


def test_a_file_with_a_time_behind_the_day_is_verified(tmp_path: Path) -> None:
    office = Office(tmp_path)
    told = office.told(office.run(0.9))
    del told["signature"]
    card = ReleasedCard.model_validate(told | {"issued": f"{told['issued']}T09:30:00Z"})
    verdict = verify_released(signed_record(card, KEEPER), UNKNOWN)
    assert verdict is not None
    assert verdict.ok


def test_it_counts_as_an_answer_and_the_same_run_once(tmp_path: Path) -> None:
    office = Office(tmp_path)
    first, second = office.run(0.5), office.run(0.6)
    office.set(lambda: Rule(count=2))
    assert _refused(office, first) == _refused(office, first)
    assert json.loads(office.release(second))["answer"] == 2
    with pytest.raises(NotReleased, match="had all 2 answers"):
        _refused(office, second)
    assert json.loads(_refused(office, second, "Bea"))["answer"] == 1


def test_a_pause_keeps_a_refusal_back_as_it_does_a_score(tmp_path: Path) -> None:
    office = Office(tmp_path, hours=1)
    run = office.run(0.5)
    office.release(run)
    with pytest.raises(NotReleased, match="next one is given from"):
        _refused(office, run)


@pytest.mark.parametrize(
    ("came", "of", "word"), [(0, 8, "none"), (1, 8, "some"), (4, 8, "some"), (5, 8, "most")]
)
def test_how_far_it_came_is_one_of_three_words(came: int, of: int, word: str) -> None:
    assert share_that_came(came, of) == word


def _released(office: Office, lines: list[str]) -> dict[str, Any]:
    told: dict[str, Any] = office.told(office.run_lines(lines, hidden()))
    return told


def test_the_four_caveats_leave_as_yes_or_no_and_without_their_share(tmp_path: Path) -> None:
    office, entries = Office(tmp_path), hidden()
    good = outputs(entries, 0.9)
    cut = [line[:4] if n % 3 else line for n, line in enumerate(good)]
    told = _released(office, cut)
    assert told["caveats"] == {"repeated": False, "short": True, "long": False, "untranslated": False}  # fmt: skip
    data = office.release(told["run"])
    with closing(open_store(office.store)) as store:
        page = released_page(data, "card.json", store)
    assert "less than half as long" in page
    better = _released(office, good)
    assert set(better["caveats"].values()) == {False}


def test_a_run_that_repeats_the_best_tells_the_caveats_of_the_best(tmp_path: Path) -> None:
    """Otherwise each try would tell four facts of itself, whether it is better or not."""
    office, entries = Office(tmp_path), hidden()
    best = _released(office, outputs(entries, 0.9))
    worse = _released(office, [each.source for each in entries])
    assert worse["scores_of"] == best["run"]
    assert worse["caveats"] == best["caveats"]


def test_a_released_card_of_before_has_no_caveats(tmp_path: Path) -> None:
    office = Office(tmp_path)
    told = office.told(office.run(0.9))
    before = {n: v for n, v in told.items() if n != "caveats"} | {"format": "rosetta-released-card/2"}  # fmt: skip
    assert SignedReleasedCard.model_validate(before).caveats is None
    with pytest.raises(ValueError, match="later version"):
        SignedReleasedCard.model_validate(before | {"caveats": told["caveats"]})


def test_a_refusal_has_no_page(tmp_path: Path) -> None:
    office = Office(tmp_path)
    data = _refused(office, office.run(0.5))
    with closing(open_store(office.store)) as store, pytest.raises(UsageError, match="no page"):
        released_page(data, "refusal.json", store)
