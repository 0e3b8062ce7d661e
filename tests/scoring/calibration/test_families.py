"""Agreement with people by language family: within pairs of languages, averaged, and only where there is enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from corpora.languages.tags import family_of
from scoring.calibration.calibration import LEAST_ENTRIES, SystemLanguage, calibrate, family_agreements
from scoring.calibration.judgements import Judgements
from scoring.calibration.measures import LENGTH, measures
from tests.scoring.late import stats

CREE = SystemLanguage("EN→CRK", "crk", "Algic")
SWAMPY = SystemLanguage("EN→CSW", "csw", "Algic")
FINNISH = SystemLanguage("EN→FI", "fi", "Uralic")
UNKNOWN = SystemLanguage("EN→QAA", "qaa", None)
SIZES = {"a": (CREE, 60), "b": (SWAMPY, 20), "c": (FINNISH, LEAST_ENTRIES - 1), "d": (UNKNOWN, LEAST_ENTRIES)}
LANGUAGES = {system: language for system, (language, _) in SIZES.items()}


def made() -> Judgements:
    """Four systems of other languages; the raters of Swampy Cree are stricter, and its texts harder for the metric."""
    random = np.random.default_rng(7)
    systems = [system for system, (_, size) in SIZES.items() for _ in range(size)]
    skill = random.normal(0.5, 0.2, len(systems))
    strict = np.array([0.5 if system == "b" else 0.0 for system in systems])
    noise = random.normal(0, 0.2, len(systems))
    return Judgements(
        items=tuple(f"{system} {n}" for n, system in enumerate(systems)),
        systems=tuple(systems),
        people=np.round(skill - strict, 1), acceptable=(skill > 0.5).astype(np.float64),
        composite=np.where(strict > 0, np.nan, skill + noise),
        metrics={"ter": 100 * (1 - skill + strict + noise), "bleu": np.full(len(systems), np.nan)},
        better={"ter": "lower", "bleu": "higher"},
        length=random.integers(10, 100, len(systems)).astype(float),
    )  # fmt: skip


def test_tau_is_averaged_within_pairs_by_their_outputs() -> None:
    given = made()
    algic, unknown, *rest = sorted(family_agreements(given, LANGUAGES, draws=100), key=lambda each: each.family or "B")
    assert [each.family for each in (algic, unknown, *rest)] == ["Algic", None, "Uralic"]
    assert [each.family for each in family_agreements(given, LANGUAGES, draws=2)] == ["Algic", "Uralic", None]
    assert (algic.languages, algic.pairs) == (("crk", "csw"), ("EN→CRK", "EN→CSW"))
    assert (algic.entries, algic.outputs) == (80, 80)
    taus = [
        stats.kendalltau(-given.metrics["ter"][rows], given.people[rows]).statistic
        for rows in (slice(0, 60), slice(60, 80))
    ]
    by_metric = {each.metric: each for each in algic.measures}
    assert set(by_metric) == {"composite", "ter", LENGTH}
    ter = by_metric["ter"]
    assert ter.tau_b.value == pytest.approx((60 * taus[0] + 20 * taus[1]) / 80)
    assert ter.tau_b.interval.lower < ter.tau_b.value < ter.tau_b.interval.upper
    pooled = stats.kendalltau(-given.metrics["ter"][:80], given.people[:80]).statistic
    assert ter.tau_b.value < pooled - 0.02, "a difference between languages is no agreement"
    composite = by_metric["composite"]
    assert composite.outputs == 60, "Swampy Cree has none"
    assert composite.tau_b.value == pytest.approx(stats.kendalltau(given.composite[:60], given.people[:60]).statistic)
    found = [each.tau_b.value or 0.0 for each in algic.measures]
    assert found == sorted(found, reverse=True)
    assert by_metric[LENGTH].tau_b.value >= 0


def test_under_the_least_entries_nothing_is_told() -> None:
    by_family = {each.family: each for each in family_agreements(made(), LANGUAGES, draws=10)}
    assert (by_family["Uralic"].entries, by_family["Uralic"].measures) == (LEAST_ENTRIES - 1, ())
    assert by_family[None].measures


def test_one_pair_of_languages_has_the_agreement_of_all() -> None:
    given = replace(made(), metrics={}, better={})
    alone = dict.fromkeys(LANGUAGES, CREE)
    found = calibrate(given, "B", languages=alone, draws=20)
    [family] = found.families
    assert {each.metric: each.tau_b for each in family.measures} == {each.metric: each.tau_b for each in found.measures}
    assert found.measures == measures(given, draws=20)
    assert calibrate(given, "B", draws=20).families == ()


def test_families_are_those_of_glottolog() -> None:
    for tag, family in [
        ("crk-Cans", "Algic"), ("cre", "Algic"), ("iu", "Eskimo-Aleut"), ("haw", "Austronesian"),
        ("mri", "Austronesian"), ("se", "Uralic"), ("fin", "Uralic"), ("quy", "Quechuan"), ("gug", "Tupian"),
        ("ne", "Indo-European"), ("am-ET", "Afro-Asiatic"), ("eo", "Artificial Language"), ("qaa", None), ("und", None),
    ]:  # fmt: skip
        assert family_of(tag) == family, tag
