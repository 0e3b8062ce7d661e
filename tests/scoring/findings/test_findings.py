"""Findings: seeded faults are found with their entries, human translations have none, and what undoing them gains."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence

import pytest

from corpora.formats.load import load
from corpora.model.entry import Entry, Segment
from corpora.samples import DEMO_CORPUS, sample_path
from corpora.text.comparison import FORM
from scoring.card import scorecard as card
from scoring.card.scorecard import scorecard
from scoring.core.scorer import Scorer
from scoring.core.setup import Translation
from scoring.findings.engine import find
from scoring.findings.finding import (
    FindingCode,
    FindingCount,
    OutputFinding,
    finding_sentence,
    finding_words,
    read_counts,
)
from scoring.metrics.chrf_bleu import ChrfPlusPlus
from scoring.metrics.inventory import make_scorer, surface_setup
from scoring.words.source_words import Resources
from tests.outside import ENGLISH, published, skip_without
from tests.review.thorough import first, times
from tests.scoring.findings.seeds import SEEDS, Seed, roughened, spoilt
from tests.scoring.samples import HOSTILE

LANGUAGES = ("hin", "jpn", "mri")
FEWEST = 3
"""Entries that a fault must be put into before it counts as seeded."""


def demo() -> list[Entry]:
    return list(load(sample_path(DEMO_CORPUS)).reveal_here())


def outputs_of(kind: str, entries: Sequence[Entry]) -> list[str]:
    lines = sample_path(f"eo-demo-outputs-{kind}.jsonl").read_text("utf-8").splitlines()
    texts = {row["id"]: row["output"] or "" for row in map(json.loads, lines)}
    return [texts.get(entry.id, "") for entry in entries]


def ntrex(language: str, count: int) -> list[Entry]:
    skip_without(ENGLISH)
    return list(load(ENGLISH, published(language)).reveal_here()[:count])


def by_code(entries: Sequence[Entry], outputs: Sequence[str]) -> dict[FindingCode, OutputFinding]:
    return {finding.code: finding for finding in find(entries, outputs)}


def missed(entries: list[Entry], outputs: list[str], seeds: Sequence[Seed]) -> tuple[list[str], int]:
    """Return the seeds that are not found with exactly their entries, and how many could be put in."""
    before = by_code(entries, outputs)
    faulty = {id_ for finding in before.values() for id_ in finding.entries}
    wrong, count = [], 0
    for seed in seeds:
        made, ids = spoilt(seed, entries, outputs, faulty)
        if len(ids) < FEWEST:
            continue
        count += 1
        finding = by_code(entries, made).get(seed.code)
        result = set(finding.entries if finding else ()) - faulty
        # Of letters, entries that lacked one before are found as soon as nobody else has it.
        if not ids <= result or (seed.code is not FindingCode.LETTERS and result != ids):
            wrong.append(seed.name)
    return wrong, count


@pytest.mark.parametrize("kind", ["strong", "weak"])
def test_seeded_faults_of_the_demo_are_found(kind: str) -> None:
    entries = demo()
    wrong, count = missed(entries, outputs_of(kind, entries), SEEDS)
    print(f"demo {kind}: {count - len(wrong)} of {count} found")
    assert count >= 65
    assert len(wrong) <= 1, wrong


@pytest.mark.costly("each of 75 faults is looked for among long sentences")
@pytest.mark.parametrize("language", first(1, LANGUAGES))
def test_seeded_faults_of_published_texts_are_found(language: str) -> None:
    entries = ntrex(language, times(80, 200))
    wrong, count = missed(entries, roughened(entries), SEEDS)
    print(f"{language}: {count - len(wrong)} of {count} found, missed: {wrong}")
    assert count >= 55
    assert len(wrong) <= count // 30, wrong


def test_human_translations_have_no_findings() -> None:
    entries = demo()
    assert find(entries, [entry.reference for entry in entries]) == ()
    other = [entry.model_copy(update={"variants": ()}) for entry in entries if entry.variants]
    variants = [entry.variants[0] for entry in entries if entry.variants]
    assert find(other, variants) == ()


@pytest.mark.costly("published sentences of eight languages")
def test_published_references_have_one_false_entry_in_a_thousand_at_most() -> None:
    false = count = 0
    for language in (*LANGUAGES, "amh", "arb", "fin", "spa", "ukr"):
        entries = ntrex(language, times(300, 1997))
        for outputs in ([entry.reference for entry in entries], roughened(entries)):
            count += len(entries)
            false += sum(finding.count for finding in find(entries, outputs))
    print(f"false: {false} of {count}")
    assert false * 1000 <= count


def made(count: int, reference: str = "Ke {} hundoj ludas sub la granda ĉielo.") -> list[Entry]:
    names = ("ruĝaj", "bluaj", "verdaj", "grizaj", "nigraj", "blankaj", "brunaj")
    return [
        Entry(id=n, source=f"Text number {n * n} of many.", reference=reference.format(f"{n * n} {names[n % 7]}"))
        for n in range(count)
    ]


@pytest.mark.parametrize("change", [str.upper, str.title])
def test_capitals_are_found_next_to_small_letters_without_a_capital(change: Callable[[str], str]) -> None:
    entries = [Entry(id=1, source="A boycott on 125th Street", reference="Un boicot en la calle 125.ª, la principal")]
    finding = by_code(entries, [change(entries[0].reference)])[FindingCode.CAPITALS]
    assert finding.entries == (1,)
    assert find(entries, ["Un boicot por la 125.ª calle"]) == ()


def test_cost_is_what_the_run_gains_without_the_fault() -> None:
    entries = made(100)
    right = [entry.reference for entry in entries]
    outputs = [f"Jen la traduko: {text}" if n < 40 else text for n, text in enumerate(right)]
    chrf = ChrfPlusPlus()

    def value(texts: Sequence[str]) -> float:
        rows = chrf.stats_many([Translation(*pair) for pair in zip(entries, texts, strict=True)])
        return chrf.value([sum(column) for column in zip(*(row or () for row in rows), strict=True)]) or 0.0

    [finding] = find(entries, outputs, chrf)
    assert (finding.code, finding.count, finding.of, finding.share) == ("beginning", 40, 100, 0.4)
    assert finding.entries == tuple(range(40))
    assert finding.examples == ("Jen la traduko:",)
    assert finding.cost == pytest.approx(value(right) - value(outputs))
    assert finding_words([finding]) == "40 % begin alike"
    assert f"Without that: chrF++ +{finding.cost:.1f}" in finding_sentence(finding)

    bare = [text.replace("ĉ", "c") for text in right]
    [finding] = find(entries, bare, chrf)
    assert (finding.code, finding.examples) == ("letters", ("ĉ",))
    assert finding.cost == pytest.approx(100.0 - value(bare))
    assert find(entries, bare)[0].cost is None, "without chrF++ nothing has a price"
    one = [f'"{right[0]}"', *right[1:]]
    assert find(entries, one, chrf)[0].cost is None, "below 2 % nothing has a price"


def test_secret_entries_give_no_example() -> None:
    entries = [entry.model_copy(update={"segment": Segment.GOLD_STANDARD}) for entry in made(30)]
    outputs = [f"Jen: {entry.reference.replace('ĉ', 'c')} Fino!" for entry in entries]
    findings = find(entries, outputs)
    assert {finding.code for finding in findings} >= {"beginning", "letters"}
    assert all(finding.examples == () for finding in findings)
    entries[3] = entries[3].model_copy(update={"segment": Segment.DEVELOPMENT})
    assert any(finding.examples for finding in find(entries, outputs))


def test_card_has_counts_and_no_text() -> None:
    entries = made(100)
    outputs = [f"Jen la traduko: {entry.reference}" for entry in entries]
    scorer = make_scorer(Resources(surface_setup("en", "eo", entries)))
    texts = [Translation(*pair) for pair in zip(entries, outputs, strict=True)]
    statistics = scorer.statistics(texts)
    errors = [False] * len(entries)
    scores = scorecard(entries, statistics, errors, scorer, outputs).model_dump(mode="json")
    [stated] = scores["findings"]
    assert stated.keys() == {"code", "count", "of", "share", "cost"}
    assert (stated["code"], stated["count"], stated["share"]) == ("beginning", 100, 1.0)
    assert stated["cost"] == pytest.approx(100.0 - scores["chrf_plus_plus"])
    count = FindingCount(code=FindingCode.BEGINNING, count=100, of=100, cost=stated["cost"])
    assert read_counts(scores["findings"]) == (count,)
    assert "findings" not in scorecard(entries, statistics, errors, scorer).model_dump()
    hostile = [
        7, {}, {**stated, "code": "x"}, {**stated, "count": 101}, {**stated, "cost": math.nan},
    ]  # fmt: skip
    assert read_counts(hostile) == read_counts("text") == ()


def test_findings_of_a_large_run_add_up_over_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """400 outputs in seven parts: every third has a preamble, and every fifth is empty."""
    entries = made(400)
    outputs = [
        "" if n % 5 == 0 else f"Jen: {entry.reference}" if n % 3 == 0 else entry.reference
        for n, entry in enumerate(entries)
    ]
    scorer = make_scorer(Resources(surface_setup("en", "eo", entries)))
    statistics = scorer.statistics([Translation(*pair) for pair in zip(entries, outputs, strict=True)])
    given = (entries, statistics, [False] * 400, scorer, outputs)
    whole = scorecard(*given).findings or ()
    monkeypatch.setattr(card, "EXAMINED_TOGETHER", 399)
    monkeypatch.setattr(card, "PART", 64)
    parted = scorecard(*given).findings or ()
    assert [(finding.code, finding.count, finding.of) for finding in parted] == [
        (finding.code, finding.count, finding.of) for finding in whole
    ]
    assert {finding.code: finding.count for finding in parted} == {"beginning": 107, "empty": 80}
    assert parted[0].cost == pytest.approx(whole[0].cost, rel=0.1)


def test_hostile_texts_raise_nothing() -> None:
    texts = [
        *HOSTILE, "`" * 9, "{" * 3000, "(" * 3000, "<think>", '"', "“”", "9" * 5000, "1. \n2. ",
    ]  # fmt: skip
    entries = [Entry(id=n, source=text, reference=texts[-n]) for n, text in enumerate(texts)]
    for turn in range(len(texts)):
        find(entries, texts[turn:] + texts[:turn], ChrfPlusPlus())
    assert find([], [], ChrfPlusPlus()) == ()


def test_cost_reads_texts_as_the_run_does() -> None:
    """An apostrophe of another kind is no fault: without the preamble such a run is perfect."""
    entries = made(30, "L'akvo de {} montoj fluas")
    outputs = ["Jen: " + entry.reference.replace("'", "’") for entry in entries]
    chrf = ChrfPlusPlus()
    scorer = Scorer([chrf], languages=("en", "eo", FORM))
    pairs = [Translation(*pair) for pair in zip(entries, outputs, strict=True)]
    known = scorer.table(scorer.statistics(pairs)).columns("chrf_plus_plus")
    [finding] = find(entries, outputs, chrf, known, read=scorer.alike)
    value = scorer.table(scorer.statistics(pairs)).corpus_values()["chrf_plus_plus"]
    assert finding.cost == pytest.approx(100 - value)
