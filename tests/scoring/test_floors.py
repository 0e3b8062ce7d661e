"""Floors: outputs without any translation in them must never claim more than baseline."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from corpora.entry import Entry
from scoring.floors import best_floor, derangement, floors, most_typical
from scoring.inventory import make_metrics, surface_setup
from scoring.resources import Resources
from scoring.scorecard import Scores, scorecard
from scoring.scorer import Scorer
from scoring.tiers import Tier
from scoring.translation import Translation
from tests.scoring.samples import ALPHABETS, corpus, entry, worse

TEXTS = Path(__file__).parents[2].parent / "shared" / "data" / "text"


def judged(entries: Sequence[Entry], outputs: Sequence[str]) -> Scores:
    metrics = make_metrics(Resources(surface_setup("und", "und", entries)))
    statistics = Scorer(metrics).statistics(
        [Translation(item, text) for item, text in zip(entries, outputs, strict=True)]
    )
    return scorecard(entries, statistics, [not text for text in outputs], Scorer(metrics), outputs)


def worthless(entries: Sequence[Entry]) -> dict[str, list[str]]:
    references = [item.reference for item in entries]
    shuffled = [references[place] for place in derangement(len(entries), 99)]
    return {
        "empty": [""] * len(entries),
        "source": [item.source for item in entries],
        "typical constant": [most_typical(references)] * len(entries),
        "another constant": [references[-1]] * len(entries),
        "shuffled otherwise": shuffled,
    }


@pytest.mark.parametrize("entries", [2, 20, 80])
@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
def test_worthless_outputs_claim_baseline_in_every_script(alphabet: str, entries: int) -> None:
    made = corpus(alphabet, entries)
    for kind, outputs in worthless(made).items():
        assert judged(made, outputs).claimable_tier is Tier.BASELINE, kind


@pytest.mark.parametrize("language", ["fin", "hin", "arb", "jpn", "amh", "mri"])
def test_worthless_outputs_claim_baseline_on_published_texts(language: str) -> None:
    source = TEXTS / "ntrex-newstest2019-src.eng.txt"
    if not source.exists():
        pytest.skip("the published texts are not beside the repository")
    target = TEXTS / f"ntrex-newstest2019-ref.{language}.txt"
    lines = [path.read_text(encoding="utf-8").splitlines()[:60] for path in (source, target)]
    made = [
        Entry(id=id_, source=left, reference=right)
        for id_, (left, right) in enumerate(zip(*lines, strict=True))
    ]
    for kind, outputs in worthless(made).items():
        assert judged(made, outputs).claimable_tier is Tier.BASELINE, kind


def test_a_real_translation_clears_the_floors() -> None:
    rng = random.Random(1)
    made = corpus(ALPHABETS["syllabics"], 80)
    scores = judged(made, [worse(item.reference, rng) for item in made])
    assert not scores.at_floor
    assert scores.composite is not None
    assert scores.composite > max(floor.composite or 0 for floor in scores.floors.values())


def test_empty_outputs_reach_nothing() -> None:
    made = corpus(ALPHABETS["arabic"], 20)
    found = floors(made, make_metrics(Resources(surface_setup("und", "ar", made))))
    assert (found["empty"].composite, found["empty"].chrf_plus_plus) == (0.0, 0.0)
    assert set(found) == {"empty", "source", "constant", "shuffled"}
    assert best_floor(found) == max(floor.composite or 0 for floor in found.values())
    assert found == floors(made, make_metrics(Resources(surface_setup("und", "ar", made))))


def test_repeated_reference_is_the_constant() -> None:
    assert most_typical(["yes", "no", "yes ", "yes", "maybe", "perhaps"]) == "yes"


def test_constant_is_more_like_the_others_than_an_outlier() -> None:
    assert (
        most_typical(["zzzz qqqq"] + [f"the dog sees {word}" for word in ("me", "you", "us")])
        != "zzzz qqqq"
    )


@pytest.mark.parametrize("length", [2, 3, 10, 501])
def test_derangement_moves_every_entry(length: int) -> None:
    places = derangement(length, 12345)
    assert sorted(places) == list(range(length))
    assert all(place != here for here, place in enumerate(places))
    assert places == derangement(length, 12345)


def test_small_corpora() -> None:
    assert floors([], []) == {}
    assert best_floor({}) is None
    alone = [entry("tânisi")]
    assert "shuffled" not in floors(
        alone, make_metrics(Resources(surface_setup("und", "crk", alone)))
    )
