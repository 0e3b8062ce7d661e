"""Policies are read exactly and refused in words; every finding has words; signs of haste begin where the policy says."""

import os
import random
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from string import Formatter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.failures import UsageError
from review.verdict.gate.careless import MOST_PAIRS, Carelessness, Sign, Tally, carelessness, longest_run, not_worse_p
from review.verdict.gate.gate import GateOutcome, decide_gate
from review.verdict.gate.key import ControlKind
from review.verdict.gate.panel import ControlItem, Panel, clopper_pearson
from review.verdict.gate.policy import MOST_BYTES, for_panel, proposed, read_policy, read_policy_file
from review.verdict.gate.verdict import COUNTED, ONE, OUTCOMES, WORDS, Code, GateFinding, care_words, finding_words
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples, times
from tests.review.verdict.panels import by_chance, good, made, with_controls
from tests.scoring.late import stats

POLICY, SHIPPED = proposed()


def test_shipped_policy_is_a_proposal_read_as_written() -> None:
    assert POLICY.status == "proposed; to be set by the governance organisation"
    assert (POLICY.organisation, POLICY.level.share) == ("", Decimal("0.70"))
    confidences = [POLICY.confidence(look) for look in (1, 2, 9)]
    assert confidences == [Decimal("0.95"), Decimal("0.975"), Decimal("0.975")]
    parts = re.split(r"^\[\w+\]$", SHIPPED.decode(), flags=re.MULTILINE)[1:]
    assert len(parts) == 6
    for part in parts:
        assert "our proposal" in part.lower() or "this is\n# a note" in part
        assert re.search(r"^# ", part, re.MULTILINE)
    other = SHIPPED.replace(b"# The rule", b"# Our rule", 1)
    assert read_policy(other, "p") == read_policy(SHIPPED, "p")
    text = SHIPPED.replace(b"share = 0.70", b"share = 0.100001", 1)
    assert read_policy(text, "p").level.share == Decimal("0.100001")


WRONG = [
    ("share = 0.70", "share = 1.7", "line 18, field 'level.share': A number below 1 is wanted. Correct it."),
    ("share = 0.70", "share = 0", "field 'level.share'"),
    ("share = 0.70", "share = nan", "field 'level.share'"),
    ("share = 0.70", "share = 1e-999999999", "not valid TOML"),
    ("share = 0.70", "share = 0.7000001", "6 decimal places"),
    ("share = 0.70", 'share = "0.70"', "without quotes"),
    ("share = 0.70", "share = true", "field 'level.share'"),
    ("items = 50", "items = 50.5", "field 'enough.items'"),
    ("items = 50", "items = -1", "field 'enough.items'"),
    ("items = 50", "items = " + "9" * 5000, "not valid TOML"),
    ("items = 50", "items = = 50", "line 27"),
    ("items = 50", "items = 50\nitem = 5", "'enough.item' is not known"),
    ("reviewers = 3", "reviewers = 1", "field 'enough.reviewers'"),
    ("later_confidence = 0.975", "later_confidence = 0.9", "must not be below confidence"),
    ("community_reviewers = 5", "community_reviewers = 2", "must not be below reviewers"),
    ("[level]", "[[level]]", "level"),
    ("format = 1", "format = 2", "field 'format'"),
    ("format = 1", "format = true", "field 'format': must be a whole number"),
    ("format = 1", "format = 1.0", "field 'format': must be a whole number"),
    ("items = 50", "items = " + "[" * 50_000, "nested too deeply"),
]  # fmt: skip


def test_wrong_policy_is_refused_with_file_field_or_line() -> None:
    for right, wrong, words in WRONG:
        refused = refuses(UsageError, "", read_policy, SHIPPED.decode().replace(right, wrong, 1).encode(), "ours.toml")
        assert "ours.toml" in str(refused)
        assert words in str(refused)
    for content, words in (
        (b"a = 1\nb = \xff", "line 2: not UTF-8"), (b"#" * 70_000, "larger than"),
        (b"", "field 'format': This field is missing. Add it."),
    ):  # fmt: skip
        refuses(UsageError, words, read_policy, content, "ours.toml")


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_read_or_refused_in_words(content: bytes) -> None:
    refuses(UsageError, "", read_policy, content, "p")


@given(st.integers(0, len(SHIPPED) - 1), st.binary(min_size=1, max_size=3))
def test_a_damaged_policy_never_crashes(place: int, bytes_: bytes) -> None:
    damaged = SHIPPED[:place] + bytes_ + SHIPPED[place + len(bytes_) :]
    with suppress(UsageError):
        assert read_policy(damaged, "p").format == 1


def test_file_is_read_once_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_policy_file(None) == proposed()
    path = tmp_path / "ours.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SHIPPED)
    policy, content = read_policy_file(path)
    assert (policy, content) == (proposed()[0], b"\xef\xbb\xbf" + SHIPPED)
    path.write_bytes(b"#" * (MOST_BYTES + 1))
    refuses(UsageError, r"ours.*larger than", read_policy_file, path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refuses(UsageError, "a pipe or a device, not a file", read_policy_file, pipe)
    reads: list[object] = []
    monkeypatch.setattr(
        "review.verdict.gate.policy.read_bytes",
        lambda *given: reads.append(given) or SHIPPED,  # type: ignore[func-returns-value]
    )
    assert (read_policy_file(path), len(reads)) == (proposed(), 1)


PAGE = (Path(__file__).parents[3] / "docs" / "internals" / "gate.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+)` \|([\w, ]*)\|", PAGE, re.MULTILINE)


def test_page_lists_every_finding_and_all_have_words() -> None:
    assert [code for code, _ in ROWS] == [str(code) for code in Code]
    for code, facts in ROWS:
        listed = {fact.strip() for fact in facts.split(",") if fact.strip()}
        used = {name for _, name, _, _ in Formatter().parse(WORDS[Code(code)]) if name}
        assert used == listed, code
    assert set(OUTCOMES) == set(GateOutcome)
    for code, words in ONE.items():
        assert _names(words) == _names(WORDS[code]), code
        counted = next(name for name in COUNTED if name in _names(words))
        assert words != WORDS[code]
        assert counted in {"items", "found", "dropped"}


@pytest.mark.thorough
def test_verdicts_give_just_the_facts_that_the_page_lists() -> None:
    listed = {code: {f.strip() for f in facts.split(",") if f.strip()} for code, facts in ROWS}
    seen = set()
    for seed in range(300):
        verdict = decide_gate(by_chance(seed), POLICY)
        order = [list(Code).index(finding.code) for finding in verdict.findings]
        assert order == sorted(order)
        for finding in verdict.findings:
            seen.add(finding.code)
            assert set(finding.facts) == listed[finding.code]
            words = finding_words(finding)
            assert words.endswith(".")
            assert "{" not in words
    assert len(seen) >= 16


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


RULE = POLICY.careless
RANKS = st.lists(st.integers(0, 3), min_size=1, max_size=6)


@examples(30, 100)
@given(RANKS, RANKS)
def test_p_is_the_share_of_deals_with_such_a_sum(bad: list[int], originals: list[int]) -> None:
    pooled = [*bad, *originals]
    ranks = stats.rankdata(pooled)
    sums = [sum(ranks[list(deal)]) for deal in combinations(range(len(pooled)), len(bad))]
    few = sum(one <= sum(ranks[: len(bad)]) + 1e-9 for one in sums)
    assert not_worse_p(bad, originals) == Fraction(few, len(sums))


def panel(
    bad: Sequence[tuple[int, int]] = (),
    repeats: Sequence[tuple[int, int]] = (),
    anchors: Sequence[int] = (),
    sequence: Sequence[int] = (),
    ms: Sequence[int] = (),
) -> Panel:
    """Make a panel of one person: pairs are (control, partner)."""
    controls = {f"b{n:03}": ControlItem(ControlKind.BAD, f"o{n:03}") for n in range(len(bad))}
    controls |= {f"r{n}": ControlItem(ControlKind.REPEAT, f"f{n}") for n in range(len(repeats))}
    controls |= {f"a{n}": ControlItem(ControlKind.ANCHOR) for n in range(len(anchors))}
    given = [*(one for one, _ in bad), *(one for one, _ in repeats), *anchors]
    partners = {f"o{n:03}": two for n, (_, two) in enumerate(bad)}
    partners |= {f"f{n}": two for n, (_, two) in enumerate(repeats)}
    return Panel(
        {}, {}, {"p": {}}, frozenset(),
        controls=controls,
        control_ratings={"p": dict(zip(controls, given, strict=True))},
        partner_ratings={"p": partners},
        sequences={"p": tuple(sequence)},
        times_ms={"p": tuple(ms)},
    )  # fmt: skip


def signs(found: Carelessness) -> set[Sign]:
    return set(found.reviewers["p"].signs)


CAREFUL = [(0, 3)] * 8


def test_who_reads_shows_no_sign_and_one_key_three() -> None:
    found = carelessness(panel(CAREFUL, [(2, 3)] * 8, [3] * 4, [3, 0] * 50), RULE)
    assert (signs(found), found.advised) == (set(), ())
    found = carelessness(panel([(3, 3)] * 8, [(3, 3)] * 8, [3] * 4, [3] * 100), RULE)
    assert signs(found) == {Sign.NOT_WORSE, Sign.BAD_ACCEPTED, Sign.LONG_RUN}
    assert found.advised == ("p",)
    found = carelessness(panel(anchors=[0, 1, 2, 3], ms=[4000] * 9 + [999, 1000]), RULE)
    care = found.reviewers["p"]
    assert (care.quick, care.anchors_low, care.signs) == (Tally(1, 11), Tally(2, 4), ())
    one = panel(CAREFUL, sequence=[3] * 20)
    assert carelessness(one, RULE).advised == ()
    assert carelessness(one, RULE.model_copy(update={"signs": 1})).advised == ("p",)


LIMITS = [
    (panel([(2, 3)] * 3 + [(0, 3)] * 6), Sign.BAD_ACCEPTED, False),  # one in three is allowed
    (panel([(2, 3)] * 4 + [(0, 3)] * 7), Sign.BAD_ACCEPTED, True),
    (panel(repeats=[(0, 3)] * 2 + [(1, 2)] * 6), Sign.INCONSISTENT, False),  # three in four will do
    (panel(repeats=[(0, 3)] * 3 + [(1, 2)] * 6), Sign.INCONSISTENT, True),
    (panel(sequence=[3] * 14 + [2] * 14), Sign.LONG_RUN, False),
    (panel(sequence=[2] + [3] * 15), Sign.LONG_RUN, True),
    (panel([(3, 3)] * 3), Sign.NOT_WORSE, False),  # too few to tell
    (panel([(3, 3)] * 4), Sign.NOT_WORSE, True),
    (panel([(0, 1)] * 2 + [(1, 1)] * 3), Sign.NOT_WORSE, True),
]


def test_each_sign_begins_where_the_policy_says() -> None:
    for number, (one, sign, shown) in enumerate(LIMITS):
        assert (sign in signs(carelessness(one, RULE))) == shown, number


def test_what_was_never_asked_shows_nothing() -> None:
    found = carelessness(panel(), RULE).reviewers["p"]
    assert (found.not_worse_p, found.bad_accepted, found.longest_run) == (None, Tally(0, 0), 0)
    without = replace(panel(CAREFUL), partner_ratings={})
    care = carelessness(without, RULE).reviewers["p"]
    assert (care.not_worse_p, care.bad_accepted) == (None, Tally(0, 8))


def several(ranks: Sequence[int], kind: ControlKind, partner: int | None = None) -> Panel:
    people = [f"p{n}" for n in range(len(ranks))]
    return Panel(
        {}, {}, {who: {} for who in people}, frozenset(),
        controls={"c": ControlItem(kind, None if partner is None else "f")},
        control_ratings={who: {"c": rank} for who, rank in zip(people, ranks, strict=True)},
        partner_ratings={} if partner is None else {who: {"f": partner} for who in people},
    )  # fmt: skip


def test_control_that_most_people_fail_is_dropped() -> None:
    for one, dropped in (
        (several([3, 3, 0, 0], ControlKind.BAD), ()),  # half
        (several([3, 3, 2, 0, 0], ControlKind.BAD), ("c",)),
        (several([3, 3], ControlKind.BAD), ()),  # two people
        (several([0, 1, 1, 3], ControlKind.ANCHOR), ("c",)),
        (several([0, 0, 0, 3], ControlKind.REPEAT, 3), ("c",)),
        (several([2, 2, 2, 3], ControlKind.REPEAT, 3), ()),  # near
        (several([0, 0, 0, 3], ControlKind.REPEAT), ()),  # no first showing
    ):
        found = carelessness(one, RULE)
        assert found.dropped == dropped
        assert not (dropped and any(care.bad_accepted.of for care in found.reviewers.values()))


def test_a_thousand_controls_take_no_longer_than_fifty() -> None:
    draw = random.Random(2)
    pairs = [(draw.randint(0, 3), draw.randint(0, 3)) for _ in range(1000)]
    found = carelessness(panel(pairs), RULE).reviewers["p"]
    first = pairs[:MOST_PAIRS]
    assert found.not_worse_p == not_worse_p([a for a, _ in first], [b for _, b in first])


@examples(40, 100)
@given(st.lists(st.integers(0, 3), max_size=40))
def test_the_longest_run_is_the_longest_window_of_one_rank(ranks: list[int]) -> None:
    windows = [ranks[a:b] for a, b in combinations(range(len(ranks) + 1), 2)]
    assert longest_run(ranks) == max((len(w) for w in windows if len(set(w)) == 1), default=0)


def person(draw: np.random.Generator, kind: str) -> Panel:
    """Rate 80 items, 8 bad ones, 8 repeats: a person with noise and leniency, who may stop reading."""
    truth, lenient = draw.normal(1.1, 1.2, 80), draw.normal(0, 0.4)

    def rate(quality: float, reads: bool) -> int:
        if not reads:
            return int(draw.integers(0, 4))
        return int(np.searchsorted([-1, 0, 1], quality + lenient + draw.normal(0, 0.7)))

    def reads() -> bool:
        return kind == "honest" or (kind == "half" and draw.random() < 0.5)

    first = [rate(one, reads()) for one in truth]
    bad = [(rate(truth[n] - 3, reads()), first[n]) for n in range(8)]
    repeats = [(rate(truth[n], reads()), first[n]) for n in range(20, 28)]
    sequence = [*first, *(one for one, _ in bad), *(one for one, _ in repeats)]
    draw.shuffle(sequence)
    return panel(bad, repeats, sequence=sequence)


@pytest.mark.parametrize(("kind", "least", "most"), [("honest", 0, 0.02), ("clicks", 0.85, 1), ("half", 0.25, 0.8)])
def test_honest_are_seldom_noticed_clickers_mostly(kind: str, least: float, most: float) -> None:
    draw, count = np.random.default_rng(3), times(100, 4000)
    seen = sum(bool(carelessness(person(draw, kind), RULE).advised) for _ in range(count))
    print(f"{kind}: {seen / count:.3f} of {count} advised")
    assert least <= seen / count <= most


@pytest.mark.parametrize(("people", "items"), [(2, 20), (2, 9), (3, 30), (4, 25), (2, 200)])
def test_derived_rule_can_be_met_and_keeps_level_and_community(people: int, items: int) -> None:
    (shipped, _), (derived, content) = proposed(), for_panel(people, items)
    assert derived == read_policy(content, "it")
    kept = ("level", "stops", "guidelines", "careless", "organisation")
    assert [getattr(derived, name) for name in kept] == [getattr(shipped, name) for name in kept]
    assert derived.enough.community_reviewers == shipped.enough.community_reviewers
    assert derived.enough.core_share == shipped.enough.core_share
    assert (derived.enough.reviewers, derived.enough.items) == (min(people, 3), min(items, 50))
    size = derived.enough.items
    assert clopper_pearson(size, size, 0.95)[0] >= derived.level.share
    assert clopper_pearson(0, size, 0.95)[1] <= derived.veto.most <= Decimal("0.30")
    assert f"derived for {people} people" in derived.status


def test_derived_rule_of_a_large_panel_is_the_proposal() -> None:
    assert for_panel(5, 80) == for_panel(3, 50) == proposed()
    assert for_panel(1, 1)[0].enough.items == 9, "fewer accepted ones cannot show the level"
    assert for_panel(1, 1)[0].enough.reviewers == 2
