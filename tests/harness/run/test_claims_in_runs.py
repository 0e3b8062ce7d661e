"""What may be claimed of a run: the same while it goes on, when it is followed, on its card, and read later."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Entry
from harness.card.checking.claimed import claim_of, of_earlier_version, stated_floors
from harness.card.checking.verify import verify_card
from harness.card.seal import card_hash
from harness.compare.comparing import compare_runs
from harness.core.canonical import canonical_bytes
from harness.events.following import Follower
from harness.leaderboard.ranking import leaderboards
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from rosetta_tui.compare.difference_panel import said
from rosetta_tui.compare.lines import comparison_lines
from rosetta_tui.compare.values import comparison_json
from rosetta_tui.leaderboard.rows import entrant_cells, entrant_record
from rosetta_tui.live.scores import tier_line
from rosetta_tui.report.card import card_text
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.session.recorded import recorded, seal
from rosetta_tui.show.card_fields import claim_json, tier_sign, tier_words
from scoring.card.caveats import CaveatKind
from scoring.card.claim import ClaimReason
from scoring.core.specification import Tier
from tests.harness.evaluation import (
    FEW,
    LANGUAGES,
    Heard,
    begun,
    corpus_of,
    kept,
    query,
    resume,
    run_corpus,
    sealed_card,
    whole_card,
)
from tests.review.thorough import first

NUMBER = 40


def sentences() -> list[Entry]:
    rng = random.Random(8)
    words = ["".join(rng.choices("aeioptkcmnsv", k=rng.randint(3, 8))) for _ in range(200)]
    return [
        Entry(id=n, source=f"source {' '.join(rng.sample('bdfghlruw', 5))}",
              reference=" ".join(rng.sample(words, 8)), segment="development")
        for n in range(NUMBER)
    ]  # fmt: skip


ENTRIES = sentences()
REFERENCES = [entry.reference for entry in ENTRIES]


def mostly_one() -> list[str]:
    """19 perfect outputs, 21 times one sentence, each with a number of its own."""
    return [*REFERENCES[:19], *(f"{REFERENCES[30]} ({n})" for n in range(21))]


def partly_one() -> list[str]:
    return [*REFERENCES[:28], *([REFERENCES[3]] * 12)]


def half_dropped() -> list[str]:
    rng = random.Random(1)
    return [" ".join(w for w in text.split() if rng.random() < 0.35) for text in REFERENCES]


def plan_for(folder: Path, outputs: Sequence[str]) -> Plan:
    table = folder / "outputs.jsonl"
    rows = (json.dumps({"id": n, "output": text}) for n, text in enumerate(outputs))
    table.write_text("\n".join(rows), "utf-8")
    scoring = ScoringOptions(metrics=(*FEW, "equivalent_match_rate"))
    options = MethodOptions(outputs=table, **LANGUAGES)
    return Plan(method="replay", options=options, scoring=scoring)


def replayed(folder: Path, outputs: Sequence[str]) -> Heard:
    return run_corpus(folder / "s.sqlite", corpus_of(ENTRIES), plan_for(folder, outputs))


@pytest.fixture(scope="module")
def partly(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The card of a run of which a third is one text."""
    folder = tmp_path_factory.mktemp("partly")
    replayed(folder, partly_one())
    return json.dumps(whole_card(folder / "s.sqlite"))


@pytest.mark.parametrize(
    ("outputs", "tier", "said", "reasons", "kinds"),
    first(2, [
        (mostly_one(), Tier.BASELINE, "mostly one and the same output",
         {ClaimReason.IDENTICAL, ClaimReason.CAVEAT}, [CaveatKind.REPEATED]),
        (REFERENCES, Tier.FUNCTIONAL, "review pending", {ClaimReason.REVIEW}, []),
        (partly_one(), Tier.EMERGING, "32 % one text", {ClaimReason.CAVEAT}, [CaveatKind.REPEATED]),
        (half_dropped(), Tier.BASELINE, "% too short", {ClaimReason.CAVEAT}, [CaveatKind.SHORT]),
    ]),
    ids=["mostly one", "perfect", "partly one", "dropped"],
)  # fmt: skip
def test_every_place_claims_the_same(
    tmp_path: Path, outputs: list[str], tier: Tier, said: str, reasons: set[ClaimReason],
    kinds: list[CaveatKind],
) -> None:  # fmt: skip
    heard = replayed(tmp_path, outputs)
    stored = kept(tmp_path / "s.sqlite")
    assert stored.card is not None
    claim = claim_of(stored.card)
    assert claim.tier() is tier
    assert reasons <= {limit.reason for limit in claim.limits}
    assert [caveat.kind for caveat in claim.caveats] == kinds
    floors = {ClaimReason.CHRF_FLOOR, ClaimReason.COMPOSITE_FLOOR}
    assert not floors & {each.reason for each in claim.limits}
    words = claim.words()
    assert said in words
    assert (stored.card["scores"]["tier_in_words"], stored.card["claimable_tier"]) == (words, tier)
    told = json.loads(json.dumps(claim_json(stored.card)["caveats"]))
    assert stored.card["scores"]["claim"]["caveats"] == told
    assert tier_words(stored.card) == words
    assert tier_sign(stored.card).endswith("!") is bool(kinds)
    shown = card_text(stored.card)
    assert words in shown
    assert shown.count("\n  caveat ") == len(kinds)

    live = LiveRun()
    live.fold(heard.events)
    assert live.claim is not None
    assert (live.claim.caveats, live.claim.tier()) == (claim.caveats, tier)
    assert said in tier_line(live).plain
    followed = LiveRun()
    with closing(Follower(tmp_path / "s.sqlite", "last")) as follower:
        followed.fold(follower.drain())
    assert followed.claim is not None
    assert (followed.claim.caveats, followed.claim.tier()) == (claim.caveats, tier)
    again = LiveRun()
    with closing(open_store(tmp_path / "s.sqlite")) as store:
        again.fold(recorded(store, "last"))
        seal(again, stored.card)
    assert again.claim == claim
    verdict = verify_card(canonical_bytes(whole_card(tmp_path / "s.sqlite")))
    assert verdict.ok, verdict.differences


def test_foreign_card_claims_no_more_than_its_numbers(partly: str) -> None:
    card, lying = json.loads(partly), json.loads(partly)
    lying["scores"]["claim"]["limits"] = []
    lying["scores"]["claim"]["claimable_tier"] = lying["claimable_tier"] = "fluent"
    assert claim_of(lying).tier() is Tier.EMERGING
    lying["scores"]["confidence_intervals"]["chrf_plus_plus"]["ci_lower"] = 1.0
    assert claim_of(lying).tier() is Tier.BASELINE
    modest = {**card, "claimable_tier": "baseline"}
    assert claim_of(modest).tier(review_passed=True) is Tier.BASELINE, "nor than it says"
    for odd in ({}, {"scores": 3}, {"scores": {"composite": "x", "claim": [1], "floors": [2]}},
                {"scores": {"composite": 0.9, "composite_inputs": [3, {"metric": 1}],
                            "claim": {"caveats": [{"kind": "no"}, 4, {"share": True}]}},
                 "floors": [{"name": None, "composite": "y"}], "claimable_tier": 5}):  # fmt: skip
        assert claim_of(odd).words()
    values: tuple[Any, ...] = ([], {}, [[]], [{"metric": [], "value": {}}], "x", -1, True)
    values += (10**400, float("inf"))
    for name in card["scores"]:
        for value in values:
            odd = {**card, "scores": {**card["scores"], name: value}}
            assert claim_of(odd).words(), (name, value)
    card["scores"]["claim"]["caveats"] = []
    card["run_card_hash"] = card_hash(card)
    found = verify_card(canonical_bytes(card)).first_difference
    assert found is not None
    assert found.path.startswith("$.scores.claim.caveats")


def with_earlier_floors(path: Path) -> None:
    """Make the only run of a store one that was begun by an earlier version."""
    [(opening,)] = query(path, "SELECT opening FROM runs")
    earlier = json.loads(opening)
    del earlier["floors_version"]
    earlier["floors"] = [
        {name: floor[name] for name in ("name", "composite", "chrf")}
        for floor in earlier["floors"][:4]
    ]
    with closing(open_store(path)) as store, store:
        store.execute("UPDATE runs SET opening = ?", (json.dumps(earlier),))


def test_floors_of_an_earlier_version_stay_with_their_run(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    given, plan = corpus_of(ENTRIES), plan_for(tmp_path, REFERENCES)
    _, method = begun(path, given, plan)
    with_earlier_floors(path)
    resume(path, method=method)
    card = sealed_card(path)
    assert (card["floors_version"], of_earlier_version(card)) == (1, True)
    assert "floors of an earlier version" in card_text(card)
    verdict = verify_card(canonical_bytes(whole_card(path)))
    assert verdict.ok, verdict.differences
    replayed(tmp_path, REFERENCES)  # a new run takes none of them
    card = sealed_card(path)
    names = {"empty", "source", "constant", "shuffled", "words", "truncated"}
    assert (set(stated_floors(card)), of_earlier_version(card)) == (names, False)
    constant = stated_floors(card)["constant"]
    assert (constant.searched, constant.entries) == (NUMBER, NUMBER)
    assert "the best by composite of 40 different references\n" in card_text(card)
    card["floors"][2]["entries"] = 12
    assert "40 different references · on 12 entries\n" in card_text(card)
    whole = whole_card(path)
    assert whole["cost"]["total_cost_usd"] is None
    reason = "40 of 40 entries have no known cost: what these outputs cost is not known here."
    assert whole["cost"]["reason"] == reason, "of outputs made elsewhere no call is spoken of"
    whole["cost"]["reason"] = "40 of 40 entries have no known cost: no price is known."
    whole["run_card_hash"] = card_hash(whole)
    assert verify_card(canonical_bytes(whole)).ok, "the words of another version"


def test_comparison_names_runs_below_a_floor(tmp_path: Path) -> None:
    shuffled = [*REFERENCES[1:], REFERENCES[0]]
    replayed(tmp_path, shuffled)
    (tmp_path / "b").mkdir()
    run_corpus(tmp_path / "s.sqlite", corpus_of(ENTRIES), plan_for(tmp_path / "b", REFERENCES))
    with closing(open_store(tmp_path / "s.sqlite")) as store:
        found = compare_runs(store, [run.run_id for run in list_runs(store)], trials=20)
    good, low = comparison_json(found)["runs"]
    assert good["tier_in_words"] == "functional (automatic 1.00; review pending)"
    assert low["tier_in_words"].startswith("baseline (")
    assert low["claim"]["claimable_tier"] == "baseline"
    limits = {each["reason"]: each for each in low["claim"]["limits"]}
    assert {"chrf_floor", "composite_floor"} <= set(limits)
    lines = list(comparison_lines(found))
    assert f"B may be called {low['tier_in_words']}, by all its outputs" in lines
    chrf = limits["chrf_floor"]
    assert f"  B: chrF++ from {chrf['lower']:.1f}, best floor {chrf['floor']:.1f}" in lines
    told = said(found, found.pairs[0], "chrf_plus_plus", tested=True).plain.splitlines()
    assert f"A may be called {good['tier_in_words']}" in told
    [warned] = [line for line in told if line.startswith("! B may be called baseline (")]
    assert f"chrF++ from {chrf['lower']:.1f}, best floor {chrf['floor']:.1f}" in warned


def test_leaderboard_and_comparison_name_caveats(tmp_path: Path) -> None:
    replayed(tmp_path, partly_one())
    (tmp_path / "b").mkdir()
    run_corpus(tmp_path / "s.sqlite", corpus_of(ENTRIES), plan_for(tmp_path / "b", half_dropped()))
    with closing(open_store(tmp_path / "s.sqlite")) as store:
        runs = list_runs(store)
        found = compare_runs(store, [run.run_id for run in runs], trials=20)
        [board] = leaderboards(store)
    lines = list(comparison_lines(found))
    for letter, each in (("A", runs[0]), ("B", runs[1])):
        assert each.card is not None
        assert f"{letter} may be called {tier_words(each.card)}, by all its outputs" in lines
    told = comparison_json(found)["runs"]
    assert [run["caveats"][0]["kind"] for run in told] == ["short", "repeated"]
    cells = [[cell.text for cell in entrant_cells(board, each)] for each in board.entrants]
    tiers = {cell for row in cells for cell in row if "◆" in cell}
    assert tiers == {"◆◇◇◇◇! baseline", "◆◆◇◇◇! emerging"}
    records = [entrant_record(board, each) for each in board.entrants]
    assert all(record["caveats"] for record in records)
