"""The released card: coarse, signed, without a number of few; told as often as the budget says, whatever is deleted."""

import errno
import json
import math
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.release.budget import COUNT, NotReleased, beats
from harness.release.ledger import ReleaseLedger
from harness.release.records import (
    Rule,
    SignedReleasedCard,
    SignedReleasedDifference,
    Together,
)
from harness.release.releasing import require_answer_left
from harness.release.rounding import by_chance, coarse, least_step, rounded, step_for
from harness.sealed.forms import FileError
from harness.sealed.keys import Identity, Role
from harness.store.file.database import opened
from harness.store.runs import find_run
from scoring.card.caveats import CaveatKind
from tests.harness.release.attackers import Board
from tests.harness.release.made import CANARY, KEEPER, START, Office, hidden, outputs
from tests.review.thorough import times


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A store with runs that no test changes: poor, nearly as poor, good, and one over few entries."""
    office = Office(tmp_path_factory.mktemp("office"))
    names = {"poor": 0.4, "slightly better": 0.42, "good": 0.9}
    runs = {name: office.run(right) for name, right in names.items()}
    runs["few"] = office.run(0.5, hidden(4, public=8, first=500))
    runs["mixed"] = office.run(0.5, hidden(15, public=5, first=1000))
    return office.store, runs


@pytest.fixture
def office(played: tuple[Path, dict[str, str]], tmp_path: Path) -> Office:
    (tmp_path / "rosetta.sqlite").write_bytes(played[0].read_bytes())
    return Office(tmp_path)


@pytest.fixture
def runs(played: tuple[Path, dict[str, str]]) -> dict[str, str]:
    return played[1]


def numbers(value: Any, name: str = "") -> list[tuple[str, float]]:
    if isinstance(value, dict):
        return [found for key, each in value.items() for found in numbers(each, key)]
    if isinstance(value, list):
        return [found for each in value for found in numbers(each, name)]
    return [(name, value)] if isinstance(value, int | float) else []


class TestCard:
    def test_it_holds_scores_in_steps_and_nothing_of_an_entry(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        data = office.release(runs["good"])
        told, inside = json.loads(data), office.card(runs["good"])
        assert CANARY.encode() not in data
        assert b"id-" not in data
        scores = [told["scores"], *(s for d in told["parts"].values() for s in d.values())]
        for each in (score for group in scores for score in group.values()):
            for end in ("value", "lower", "upper"):
                shares = each[end] / each["step"]
                assert shares == pytest.approx(round(shares), abs=1e-6)
            assert each["lower"] <= each["value"] <= each["upper"]
        chrf, exact = told["scores"]["chrf_plus_plus"], inside["scores"]["chrf_plus_plus"]
        ends = inside["scores"]["confidence_intervals"]["chrf_plus_plus"]
        assert chrf["step"] >= max(exact - ends["ci_lower"], ends["ci_upper"] - exact)
        assert abs(chrf["value"] - exact) <= chrf["step"] / 2
        assert chrf["lower"] <= ends["ci_lower"] <= ends["ci_upper"] <= chrf["upper"]
        known = {"value", "lower", "upper", "step", "entries", "beat_by", "answer", "of", "line"}
        known |= {"smallest_difference", *CaveatKind}
        assert told["caveats"] == dict.fromkeys(CaveatKind, False)
        assert {name for name, _ in numbers(told)} == known
        exact_numbers = {value for _, value in numbers(inside["scores"])} - {0.0, 1.0}
        assert not [
            v
            for n, v in numbers(told)
            if n in {"value", "lower", "upper"} and v % 1 and v in exact_numbers
        ]

    def test_a_rate_of_none_or_all_is_not_told_as_such(self) -> None:
        for value in (0.0, 1.0):
            told = coarse(value, value, value, entries=60, ends=(0.0, 1.0))
            assert told is not None
            assert told.upper - told.lower == pytest.approx(told.step)

    def test_a_metric_without_a_highest_value_is_told_no_finer_than_others(self) -> None:
        """A method that always answers alike would speak through the digits of its lengths' ratio."""
        told = coarse(0.97, 0.9699, 0.9701, entries=30, ends=(0.0, math.inf))
        assert told is not None
        assert told.step >= 0.97 * 0.25 * 1.96 / math.sqrt(30)

    def test_parts_of_few_are_left_out_and_named_by_their_breakdown_only(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        told = office.told(runs["good"])
        assert set(told["parts"]["difficulty"]) == {"1", "2"}
        assert "provenance" not in told["parts"]  # with both, four entries would stand alone
        assert told["parts_left_out"] == ["provenance"]
        assert set(office.card(runs["good"])["scores"]["by_provenance"]) == {"elicited", "textbook"}

    @pytest.mark.parametrize("name", ["poor", "mixed"])
    def test_any_changed_byte_is_found(
        self, office: Office, runs: dict[str, str], name: str
    ) -> None:
        data = office.release(runs[name])
        assert SignedReleasedCard.model_validate_json(data).is_signed_by(KEEPER.public.signing_key)
        for place in range(0, len(data), times(97, 1)):
            changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
            try:
                card = SignedReleasedCard.model_validate_json(changed)
            except ValueError:
                continue
            assert not card.is_signed_by(KEEPER.public.signing_key)

    def test_fewer_than_five_secret_entries_are_not_told_of(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        with pytest.raises(NotReleased, match="4 different secret entries"):
            office.release(runs["few"])
        with opened(office.store) as store, pytest.raises(NotReleased, match="4 diff") as kept:
            require_answer_left(store, find_run(store, runs["few"]).id, "Ann", office.ledger)
        assert not kept.value.waits
        with pytest.raises(NotReleased, match="1 to 200"):
            office.release(runs["good"], " \t")


class TestRounding:
    @pytest.mark.parametrize(
        ("half", "unit", "step"),
        [(10, 10, 10), (10.001, 10, 20), (4.9, 10, 5), (5.1, 10, 10), (2, 10, 2.5), (0.9, 10, 1.25),
         (0.03, 0.1, 0.05), (0.1001, 0.1, 0.2)],
    )  # fmt: skip
    def test_a_step_is_not_below_half_of_the_interval(
        self, half: float, unit: float, step: float
    ) -> None:
        assert step_for(half, unit) == pytest.approx(step)

    @given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6), st.sampled_from([10, 0.1]))
    def test_of_two_steps_one_is_a_multiple_of_the_other(
        self, half: float, other: float, unit: float
    ) -> None:
        steps = sorted([step_for(half, unit), step_for(other, unit)])
        assert steps[1] / steps[0] == pytest.approx(round(steps[1] / steps[0]))
        assert half * (1 - 1e-6) <= step_for(half, unit) < half * 2 * (1 + 1e-6)

    def test_what_a_set_of_this_size_supports_counts_where_a_run_has_a_narrower_interval(
        self,
    ) -> None:
        wide = coarse(50.0, 49.9, 50.1, entries=96, ends=(0, 100))
        assert wide is not None
        assert wide.step == 10  # 1.96 * 25 / sqrt(96) = 5.0009
        free = coarse(50.0, 49.9, 50.1)
        assert free is not None
        assert free.step == pytest.approx(0.15625)
        assert coarse(1.0, 1.0, 1.0) is None
        assert rounded(0.30000000000000004, 0.1) == 0.3


class TestBudget:
    def test_a_new_score_is_told_only_where_it_beats_the_best_by_more_than_the_step(self) -> None:
        assert beats(60.1, 50, 10, higher=True)
        assert not beats(60.0, 50, 10, higher=True)
        assert beats(39.9, 50, 10, higher=False)
        assert not beats(40.0, 50, 10, higher=False)

    def test_otherwise_the_best_is_repeated(self, office: Office, runs: dict[str, str]) -> None:
        first = office.told(runs["poor"])
        again = office.told(runs["slightly better"])
        best = office.told(runs["good"])
        assert (first["scores_of"], best["scores_of"]) == (runs["poor"], runs["good"])
        assert (again["run"], again["scores_of"]) == (runs["slightly better"], runs["poor"])
        assert (again["scores"], again["parts"]) == (first["scores"], first["parts"])
        assert [each["answer"] for each in (first, again, best)] == [1, 2, 3]

    def test_chance_decides_how_far_beyond_the_step_the_border_lies(self, office: Office) -> None:
        """Alike for the same score, and not to be known without the keys."""
        own = ReleaseLedger(office.folder, KEEPER, office.now)
        drawn = [own.draw("Ann", "a" * 64, "chrf", repr(n / 7)) for n in range(400)]
        assert [*drawn] == [own.draw("Ann", "a" * 64, "chrf", repr(n / 7)) for n in range(400)]
        assert 0 <= min(drawn) < 0.05
        assert 0.95 < max(drawn) < 1
        assert sum(drawn) / 400 == pytest.approx(0.5, abs=0.06)
        other = ReleaseLedger(office.folder, Identity.make(Role.KEEPER), office.now)
        assert other.draw("Ann", "a" * 64, "chrf", repr(0.0)) != drawn[0]

    @pytest.mark.parametrize(
        ("draw", "border"),
        [(0.0, 0.0), (0.25, 16.3356), (0.5, 25.0), (0.9, 45.1180), (1 - 1e-9, 62.5)],
    )
    def test_a_score_is_told_beyond_the_border_and_not_before(
        self, draw: float, border: float
    ) -> None:
        for value, new in ((30 + border - 0.1, False), (30 + border + 0.1, True)):
            board = Board(192, exact=False)  # in steps of 12.5
            low = np.array([30.0 - 25, 30.0 + 25] * 96)
            assert board.told("Ann", "first", low) == 25
            told = board.told("Ann", "second", low + value - 30, draw)
            assert (told is not None) is new

    def test_a_step_of_the_custodian_is_at_least_what_the_entries_support(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        office.set(lambda: Rule(step=80))
        assert office.told(runs["poor"])["beat_by"] == 80
        assert office.told(runs["good"])["scores_of"] == runs["poor"]
        office.set(lambda: Rule(step=0.001))
        assert office.told(runs["slightly better"])["beat_by"] >= 10

    def test_the_same_run_gives_the_same_bytes_and_counts_once(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        first = office.release(runs["poor"])
        assert office.release(runs["poor"], "  ann ") == first
        assert len(office.ledger.read().answers) == 1

    def test_so_many_answers_and_no_more_whatever_is_deleted(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        office.set(lambda: Rule(count=2))
        office.release(runs["poor"])
        office.release(runs["slightly better"])
        for run in (runs["poor"], runs["slightly better"]):
            office.delete(run)
        with pytest.raises(NotReleased, match="had all 2 answers"):
            office.release(runs["good"])
        assert office.told(runs["good"], "Ben")["answer"] == 1  # two names count as two
        office.set(lambda: Together(names=("Ben", "Ann")))
        with pytest.raises(NotReleased, match="had all 2 answers"):
            office.release(office.run(0.95), "Ben")
        office.set(lambda: Rule(submitter="ANN", count=4))
        assert office.told(office.run(0.95), "Ben")["answer"] == 4
        assert COUNT == 10

    def test_a_pause_lies_between_two_answers(self, office: Office, runs: dict[str, str]) -> None:
        office.hours = 23.9
        office.release(runs["poor"])
        with pytest.raises(NotReleased, match="The next one is given from 2026-03-02T23:54:00Z on"):
            office.release(runs["good"])
        office.hours = 0.1
        assert office.told(runs["good"])["answer"] == 2

    def test_a_clock_that_is_set_back_shortens_no_pause(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        office.release(runs["poor"])
        office.moments.append(START - timedelta(days=9))
        with pytest.raises(FileError, match="Set the clock right"):
            office.release(runs["good"])

    def test_another_corpus_of_the_same_entries_counts_as_well(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        office.set(lambda: Rule(count=1))
        office.release(runs["poor"])
        renamed = [each.model_copy(update={"id": f"x{each.id}"}) for each in hidden()]
        with pytest.raises(NotReleased, match="had all 1 answers"):
            office.release(office.run(0.9, renamed))

    @pytest.mark.parametrize("missing", [1, 4, 5])
    def test_a_run_that_differs_from_a_told_one_by_few_entries_is_not_told(
        self, office: Office, runs: dict[str, str], missing: int
    ) -> None:
        office.release(runs["poor"])
        odd = [
            each for place, each in enumerate(hidden()) if place % 2
        ]  # one part of what was told
        other = office.run(0.9, [each for each in hidden() if each not in odd[:missing]])
        if missing >= 5:
            assert office.told(other)["corpus"]["entries"] == 200 - missing
            return
        with pytest.raises(NotReleased, match="fewer than 5 entries"):
            office.release(other, "Ben")  # whoever asks


class TestDifference:
    def test_two_told_runs_are_compared_inside_and_it_counts_for_both(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        office.release(runs["poor"], "Ann")
        office.release(runs["good"], "Ben")
        told = office.compared(runs["poor"], runs["good"])
        chrf = told["tests"]["chrf_plus_plus"]
        inside = [office.card(runs[n])["scores"]["chrf_plus_plus"] for n in ("poor", "good")]
        assert abs(chrf["difference"] - (inside[1] - inside[0])) <= chrf["step"] / 2
        assert chrf["lower"] < chrf["difference"] < chrf["upper"]
        assert chrf["p_below"] in {0.001, 0.01}
        assert told["submitters"] == ["Ann", "Ben"]
        data = json.dumps(told).encode()
        assert SignedReleasedDifference.model_validate_json(data).is_signed_by(told["by"])
        history = office.ledger.read()
        assert [len(history.given(n, "made", frozenset())) for n in ("Ann", "Ben")] == [2, 2]

    def test_a_run_that_was_not_told_is_compared_with_nothing(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        office.release(runs["poor"])
        with pytest.raises(NotReleased, match="were not told"):
            office.compared(runs["poor"], runs["good"])
        office.release(runs["slightly better"])  # the best was repeated
        with pytest.raises(NotReleased, match="were not told"):
            office.compared(runs["poor"], runs["slightly better"])

    def test_runs_that_differ_on_few_entries_are_not_compared(self, office: Office) -> None:
        first, entries = office.run(0.9), hidden()
        changed = office.run_lines(["nenio"] * 4 + outputs(entries, 0.9)[4:], entries)
        office.release(first, "Ann")
        office.release(changed, "Ben")
        with pytest.raises(NotReleased, match="differ on 4 secret entries only"):
            office.compared(first, changed)

    def test_a_budget_that_is_used_up_refuses_it(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        office.set(lambda: Rule(count=1))
        office.release(runs["poor"], "Ann")
        office.release(runs["good"], "Ben")
        with pytest.raises(NotReleased, match="had all 1 answers"):
            office.compared(runs["poor"], runs["good"])


class TestLedger:
    def test_any_changed_byte_is_found(self, office: Office, runs: dict[str, str]) -> None:
        office.release(runs["poor"])
        office.set(lambda: Rule(count=3))
        whole = office.ledger.path.read_bytes()
        for place in range(0, len(whole), times(331, 1)):
            changed = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
            if changed.count(b"\n") != whole.count(b"\n") and whole.endswith(b"\n", 0, place + 1):
                continue  # the end of a line: what is behind the last one does not count
            office.ledger.path.write_bytes(changed)
            with pytest.raises(FileError):
                office.ledger.read()
        lines = whole.splitlines(keepends=True)
        for wrong in ([lines[0], *lines[2:]], [*lines, lines[-1]], lines[1:]):
            office.ledger.path.write_bytes(b"".join(wrong))
            with pytest.raises(FileError):
                office.release(runs["good"])

    def test_keys_of_somebody_else_are_not_taken(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        office.release(runs["poor"])
        other = ReleaseLedger(office.ledger.folder, Identity.make(Role.KEEPER), office.now)
        with pytest.raises(FileError, match="begun with other keys"):
            office.release(runs["good"], ledger=other)

    def test_a_write_that_was_stopped_tells_nothing_and_counts_nothing(
        self, office: Office, runs: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = office.release(runs["poor"])
        whole = office.ledger.path.read_bytes()
        office.ledger.path.write_bytes(whole + b'{"act":{"wh')  # power went
        assert len(office.ledger.read().answers) == 1

        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(FileError, match="nothing is told"):
                office.release(runs["good"])
        told = office.told(runs["good"])
        assert told["answer"] == 2
        assert office.release(runs["poor"]) == first

    def test_an_answer_that_was_counted_and_not_given_is_given_again(
        self, office: Office, runs: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def killed(*_: object) -> bytes:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("harness.release.releasing.signed_record", killed)
            with pytest.raises(KeyboardInterrupt):
                office.release(runs["poor"])
        told = office.told(runs["poor"])
        assert (told["answer"], told["place"]["line"]) == (1, 1)

    def test_it_holds_no_text_and_no_digest_that_confirms_a_guess(
        self, office: Office, runs: dict[str, str]
    ) -> None:
        office.release(runs["poor"])
        content = office.ledger.path.read_bytes()
        assert CANARY.encode() not in content
        assert office.ledger.digest(hidden()[0].source).encode() in content
        other = ReleaseLedger(office.folder, Identity.make(Role.KEEPER), office.now)
        assert other.digest(hidden()[0].source).encode() not in content


@pytest.mark.parametrize(("entries", "step"), [(47, 100), (48, 50), (95, 50), (96, 25), (192, 12.5), (384, 6.25), (4000, 1.5625)])  # fmt: skip
def test_what_a_set_can_be_told_of_is_the_step_of_its_sharpest_score(
    entries: int, step: float
) -> None:
    told = by_chance(50.0, 49.9, 50.1, entries=entries, ends=(0, 100), draw=0.3)
    assert told is not None
    assert (told.step, least_step(entries, (0, 100))) == (step, step)
    wide = by_chance(50.0, 20.0, 80.0, entries=entries, ends=(0, 100), draw=0.3)
    assert wide is not None
    assert wide.step >= max(step, 60)
