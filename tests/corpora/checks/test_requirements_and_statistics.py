from typing import Any

import pytest

from corpora.checks.requirements import requirements
from corpora.checks.statistics import statistics
from tests.corpora.formats.small_corpora import corpus_of
from tests.corpora.making import entry


def complete() -> list[dict[str, Any]]:
    """Return a corpus that just meets each requirement of §11.1."""
    sizes = (("gold_standard", 50), ("development", 30), ("diagnostic", 10))
    rows = [
        entry(f"{segment}{number}", segment=segment, provenance="textbook", difficulty=2)
        for segment, size in sizes
        for number in range(size)
    ]
    rows[0]["difficulty"], rows[1]["difficulty"] = 1, 5
    rows[0]["register"], rows[1]["register"] = "formal", "technical"
    return rows


def verdicts(rows: list[dict[str, Any]], **more: Any) -> dict[str, int]:
    return {row.name: row.short_by for row in requirements(corpus_of(*rows, **more)) if not row.met}


def test_a_corpus_that_just_meets_everything_is_told_so() -> None:
    assert verdicts(complete(), consent="council, 2026") == {}
    assert len(requirements(corpus_of(*complete()))) == 7


@pytest.mark.parametrize(
    ("at", "change", "name"),
    [
        (0, {"segment": None}, "gold_standard entries"),
        (50, {"segment": None}, "development entries"),
        (80, {"segment": None}, "diagnostic entries"),
        (5, {"provenance": None}, "entries with provenance"),
        (0, {"difficulty": 2}, "difficulty tiers"),
        (0, {"register": None}, "registers"),
    ],
)
def test_one_less_is_short_by_one(at: int, change: dict[str, Any], name: str) -> None:
    rows = complete()
    rows[at] |= change
    assert verdicts(rows, consent=True) == {name: 1}


@pytest.mark.parametrize("consent", [{}, {"consent": ""}, {"consent": None}, {"consent": {}}])
def test_consent_must_be_documented(consent: dict[str, Any]) -> None:
    (row,) = (r for r in requirements(corpus_of(*complete(), **consent)) if not r.met)
    assert (row.name, row.note) == ("community consent", "not documented")


def test_held_out_has_a_size_only_where_it_is_there() -> None:
    rows = [*complete(), entry("h", segment="held_out", provenance="corpus")]
    assert verdicts(rows, consent="yes") == {"held_out entries": 9}


def test_a_provenance_record_counts_as_documented() -> None:
    rows = [*complete(), entry("r", provenance_record={"source_name": "x"})]
    assert verdicts(rows, consent="yes") == {}


def test_statistics_count_what_entries_carry() -> None:
    counted = statistics(
        corpus_of(
            entry(1, source="one two", reference="ᐊᑎᒼ", variants=["x", "y"], difficulty=3),
            entry(2, source="three", reference="ᒥᓄᐢ â", segment="diagnostic", register="formal"),
            entry(3, source="a b c", reference="b", difficulty=3, morphological_analysis="m"),
        )
    )
    assert counted.entries == 3
    assert counted.by_difficulty == {"3": 2, "not given": 1}
    assert counted.by_segment == {"diagnostic": 1, "not given": 2}
    assert (counted.with_variants, counted.variants, counted.with_analysis) == (1, 2, 1)
    assert counted.source.median_words == 2
    assert counted.source.median_characters == 5
    assert counted.source.longest == 7
    assert counted.reference.scripts == {"Canadian_Aboriginal": 0.75, "Latin": 0.25}
    assert counted.reference.normal_forms == {"either": 2, "NFC": 1}
