"""The data file says what the specifications' own tables say: ids, scales, levels, weights, tiers, exclusions.

Three slips of the documents are decided and named here: where they disagree the scoring specification wins
(S1); the composite of its example card does not follow from its own numbers (S2); its sentence that
structural metrics carry half of profile A is contradicted by its table (S3).
"""

from __future__ import annotations

import re
from math import inf
from pathlib import Path

import pytest

from scoring.card.scorecard import RunScores
from scoring.core.inventory import composite
from scoring.core.specification import InventoryRow, specification

SEEDS = Path(__file__).parents[2].parent / "shared" / "seeds"
NO_FURTHER_FIELDS = {"fst_accepted", "exact_matches", "equivalent_matches"}

pytestmark = pytest.mark.skipif(
    not SEEDS.exists(), reason="the specification's documents are not beside the repository"
)


def document(name: str) -> str:
    return (SEEDS / name).read_text(encoding="utf-8")


def section(start: str, end: str, name: str = "scoring-specification.md") -> str:
    text = document(name)
    assert text.count(start) == 1, start
    begin = text.index(start)
    return text[begin : text.index(end, begin)]


def table(text: str) -> dict[str, list[str]]:
    """Rows by first cell; most lost their leading bar in the document, headings have theirs."""
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.rstrip().endswith("|")
    ]
    kept = [row for row in rows if row[0] not in {"ID", "Metric", "Tier"} and set(row[0]) != {"-"}]
    found = {row[0]: row[1:] for row in kept}
    assert len(found) == len(kept), "a row stands twice"
    return found


def inventory() -> dict[str, list[str]]:
    return table(section("2.1 Surface Metrics", "3. Metric Status Tiers"))


def metrics() -> dict[str, InventoryRow]:
    return specification().metrics


def test_titles_scales_and_levels_are_those_of_the_document() -> None:
    assert [(id_, row.info.title) for id_, row in metrics().items()] == [
        (id_, cells[0]) for id_, cells in inventory().items()
    ]
    for id_, (_, _, scale, _, _) in inventory().items():
        info = metrics()[id_].info
        low, high = re.findall(r"[\d.]+|∞", scale)[:2]
        assert info.low == float(low), id_
        assert info.high == (inf if high == "∞" else float(high)), id_
        told = "lower" if "lower is better" in scale else "higher"
        assert info.better == ("neither" if "1.0 is ideal" in scale else told), id_
    levels = {"Both": "both", "Corpus": "corpus", "Corpus only": "corpus"}
    assert {id_: row.level for id_, row in metrics().items()} == {
        id_: levels[cells[3]] for id_, cells in inventory().items()
    }


@pytest.mark.parametrize(("category", "start", "end"), [
    ("surface", "2.1 Surface Metrics", "2.2 Structural Metrics"),
    ("structural", "2.2 Structural Metrics", "2.3 Semantic Metrics"),
    ("semantic", "2.3 Semantic Metrics", "2.4 Behavioral Metrics"),
    ("behavioral", "2.4 Behavioral Metrics", "2.5 Compliance Metrics"),
    ("compliance", "2.5 Compliance Metrics", "3. Metric Status Tiers"),
])  # fmt: skip
def test_categories_hold_the_documents_metrics(category: str, start: str, end: str) -> None:
    ours = {id_ for id_, row in metrics().items() if row.category == category}
    assert ours == set(table(section(start, end)))
    number = start.split(maxsplit=1)[0]
    assert {metrics()[id_].info.source for id_ in ours} == {f"scoring-specification §{number}"}


def test_normalisation() -> None:
    rules = table(section("4.2 Input Normalization", "Metrics excluded from the composite"))
    words = {"None": "none", "Divide": "percent", "1.0": "invert"}
    told = {id_: words[cells[1].strip("`").split()[0]] for id_, cells in rules.items()}
    ours = {id_: row.normalization for id_, row in metrics().items() if row.normalization}
    assert ours.pop("orthographic_accuracy") == "none", "in profile B, forgotten in the table (S1)"
    assert ours == told


def test_weights_are_what_the_tables_say_s3() -> None:
    for profile, start, end in (
        ("A", "Profile A: Languages WITH FST", "Total: 1.00"),
        ("B", "Profile B: Languages WITHOUT FST", "Note on weight evolution"),
    ):
        documented = {id_: float(cells[0]) for id_, cells in table(section(start, end)).items()}
        assert specification().profiles[profile] == documented
        assert sum(documented.values()) == pytest.approx(1)
    assert "Structural metrics carry 50% of the composite" in document("scoring-specification.md")
    assert "structural metrics carry 40%" in document("benchmark-specification.md")
    weights = specification().profiles["A"]
    structural = [id_ for id_ in weights if metrics()[id_].category == "structural"]
    assert sum(weights[id_] for id_ in structural) == pytest.approx(0.40)


def test_tiers_and_exclusions_are_those_of_the_document() -> None:
    code = re.findall(r'composite >= ([\d.]+) → "(\w+)"', section("5.1 Tier", "6. Cost Metrics"))
    assert [(float(least), name) for least, name in code] == list(specification().tiers)
    ranges = table(section("5. Quality Tiers", "These tiers are provisional"))
    told = [(float(cells[0].split("–")[0]), name.lower()) for name, cells in ranges.items()]
    assert sorted(told, reverse=True) == list(specification().tiers)
    appendix = table(section("Appendix A: Metrics NOT in Composite", "Appendix B"))
    names = {row.info.title: id_ for id_, row in metrics().items()} | {
        "TER": "ter",
        "Consistency Score": "consistency_score",
        "Compliance Index": "compliance_index",
    }
    listed = {names[name] for name in appendix}
    sentence = section("Metrics excluded from the composite (", ")")
    assert set(re.findall(r"\w+", sentence.partition("(")[2])) == listed - {"compliance_index"}
    assert "Why compliance is not in the composite" in document("scoring-specification.md")
    ours = {id_ for id_, row in metrics().items() if row.excluded}
    assert ours == listed | {"repair_effectiveness"}


def test_intervals_and_keys_of_the_card_are_those_of_the_document() -> None:
    rows = table(section("8.1 Bootstrap Confidence Intervals", "8.2 Paired Bootstrap"))
    assert set(rows) - {"composite"} == {
        "chrf_plus_plus", "exact_match_rate", "fst_acceptance_rate", "comet_score",
    }  # fmt: skip
    assert all(metrics()[id_].interval for id_ in set(rows) - {"composite"})
    keys = set(re.findall(r'^\s*"(\w+)":', section('"scores": {', '"cost": {'), re.MULTILINE))
    assert keys - {"scores"} <= set(RunScores.model_fields)
    assert set(metrics()) | NO_FURTHER_FIELDS <= set(RunScores.model_fields)


def test_the_example_composite_does_not_follow_from_its_own_numbers_s2() -> None:
    block = section('"scores": {', '"confidence_intervals"')
    example = {id_: float(text) for id_, text in re.findall(r'"(\w+)": ([\d.]+)', block)}
    values = {id_: example.get(id_) for id_ in metrics()}
    assert example["composite"] == 0.8988
    assert composite(values, {}).value == pytest.approx(0.8275, abs=5e-5)


def test_the_benchmark_specification_agrees_where_it_repeats() -> None:
    text = document("benchmark-specification.md")
    for name in "AB":
        [count] = re.findall(rf"Profile {name} .*?(\d+) metrics", text)[:1]
        assert len(specification().profiles[name]) == int(count)
    told = section("5. Quality Tiers", "6. Benchmark", "benchmark-specification.md")
    tiers = [*reversed(re.findall(r"(\w+) \(([\d.]+)–[\d.]+\)", told))]
    ours = {name: least for least, name in specification().tiers}
    assert {name.lower(): float(least) for name, least in tiers} == ours
    assert [name.lower() for name, _ in tiers] == [*ours]
    least = re.findall(r"Deployable threshold \(([\d.]+)\)", text)[0]
    assert float(least) == ours["deployable"]
    assert "chrF++ ÷ 100, code-switching and hallucination rate inversion" in text
    assert "excluded from the composite (BLEU, COMET, TER, length ratio, consistency)" in text
