"""Every finding has words, and docs/gate.md lists every finding with its facts."""

import random
import re
from dataclasses import replace
from pathlib import Path
from string import Formatter

import pytest

from review.verdict.gate.careless import Tally, carelessness
from review.verdict.gate.gate import GateOutcome, decide
from review.verdict.gate.policy import proposed
from review.verdict.gate.reasons import COUNTED, ONE, OUTCOMES, WORDS, care_words, finding_words
from review.verdict.gate.verdict import Code, GateFinding
from tests.review.verdict.panels import by_chance, good, made, with_controls

POLICY, _ = proposed()
PAGE = (Path(__file__).parents[3] / "docs" / "gate.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+)` \|([\w, ]*)\|", PAGE, re.MULTILINE)


def test_page_lists_every_finding_with_its_facts() -> None:
    assert [code for code, _ in ROWS] == [str(code) for code in Code]
    for code, facts in ROWS:
        listed = {fact.strip() for fact in facts.split(",") if fact.strip()}
        used = {name for _, name, _, _ in Formatter().parse(WORDS[Code(code)]) if name}
        assert used == listed, code


@pytest.mark.thorough
def test_verdicts_give_just_the_facts_that_the_page_lists() -> None:
    listed = {code: {f.strip() for f in facts.split(",") if f.strip()} for code, facts in ROWS}
    seen = set()
    for seed in range(300):
        verdict = decide(by_chance(seed), POLICY)
        order = [list(Code).index(finding.code) for finding in verdict.findings]
        assert order == sorted(order)
        for finding in verdict.findings:
            seen.add(finding.code)
            assert set(finding.facts) == listed[finding.code]
            words = finding_words(finding)
            assert words.endswith(".")
            assert "{" not in words
    assert len(seen) >= 16


def test_every_outcome_has_words() -> None:
    assert set(OUTCOMES) == set(GateOutcome)


def test_words_for_one_say_the_same_facts() -> None:
    for code, words in ONE.items():
        assert _names(words) == _names(WORDS[code]), code
        counted = next(name for name in COUNTED if name in _names(words))
        assert words != WORDS[code]
        assert counted in {"items", "found", "dropped"}


def _names(words: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(words) if name}


@pytest.mark.parametrize(
    ("code", "facts", "words"),
    [
        (Code.LEVEL_OPEN, {"lower": "0.652503", "upper": "0.900000", "level": "0.700000"}, "Between 65.3 % and 90 % of"),
        (Code.LEVEL_MISSED, {"upper": "0.699990", "level": "0.700000"}, "At most 69.9990 % of"),
        (Code.WEAK_STRATUM, {"stratum": 4, "share": "0.450000", "needed": "0.500000"}, "Of difficulty 4, only 45 %"),
        (Code.FEW_IN_STRATUM, {"stratum": 0, "found": 3, "needed": 8}, "Of unknown difficulty, 3 translations"),
        (Code.FLAGS_DECIDE, {"outcome": "no_go"}, "would be: no-go."),
        (Code.HARM_OPEN, {"items": 1}, "1 of the translations was called harmful"),
        (Code.HARM_UPHELD, {"items": 2}, "2 of the translations were found"),
        (Code.FEW_REVIEWERS, {"found": 1, "needed": 3}, "1 reviewer rated enough"),
        (Code.FEW_IN_STRATUM, {"stratum": 1, "found": 8, "needed": 1}, "8 translations are rated"),
        (Code.CONTROLS_FAILED, {"dropped": 8, "of": 8}, "found 8 of 8 spoilt translations acceptable. Either they are"),
        (Code.CONTROLS_FAILED, {"dropped": 1, "of": 1}, "Either it is no good test"),
        (Code.GUIDELINES, {"alpha": "-0.120000", "within_one": "0.800000"}, "alpha −0.12, within one step 80 %"),
    ],
    ids=lambda value: str(value) if isinstance(value, Code) else "",
)  # fmt: skip
def test_findings_in_words(code: Code, facts: dict[str, int | str], words: str) -> None:
    assert words in finding_words(GateFinding(code, facts))


def test_advice_is_private_kind_and_only_given_where_due() -> None:
    panel = with_controls(made(good), lambda who, _: 3 if who == "p1" else 0, random.Random(1))
    found = carelessness(panel, POLICY.careless).reviewers
    words = care_words("p1", found["p1"])
    assert words.startswith("Please look at the ratings of p1 together: spoilt translations")
    assert "8 of 8" in words
    assert "excludes nobody" in words
    plain = care_words("p1", replace(found["p1"], anchors_low=Tally(0, 4), quick=Tally(0, 100)))
    assert "by people" not in plain
    assert "far less time" not in plain
    beside = replace(found["p1"], anchors_low=Tally(3, 4), quick=Tally(17, 100))
    assert (
        ". Of 4 translations by people, 3 are rated below acceptable. Of 100 ratings, 17 took far less time than "
        "this person usually needs. There may be"
    ) in care_words("p1", beside)
    assert care_words("p1", replace(beside, advised=False)) == ""
    assert care_words("p0", found["p0"]) == "" or found["p0"].advised
