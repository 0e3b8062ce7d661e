"""Outputs that fail in part: each caveat at its bound, and none on references."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from corpora.model.entry import Entry
from scoring.card.caveats import Caveat, CaveatKind, OutputTally, bare_form, tallied
from tests.scoring.samples import HOSTILE


def entries(references: Sequence[str], sources: Sequence[str] | None = None) -> list[Entry]:
    given = sources or [f"source {chr(97 + place)}" for place in range(len(references))]
    return [
        Entry(id=place, source=source, reference=reference)
        for place, (source, reference) in enumerate(zip(given, references, strict=True))
    ]


def found(
    outputs: Sequence[str], references: Sequence[str], sources: Sequence[str] | None = None
) -> dict[CaveatKind, Caveat]:
    tally = tallied(entries(references, sources), outputs, [{}] * len(outputs))
    return {each.kind: each for each in tally.caveats()}


TEN = ["one dog", "two cats", "red fish", "blue bird", "old tree", "new boat", "my house",
       "his road", "her song", "our fire"]  # fmt: skip


@pytest.mark.parametrize("number", [2, 3])
def test_one_text_for_a_quarter_of_the_sources(number: int) -> None:
    outputs = ["one dog"] * number + TEN[number:]
    told = found(outputs, TEN)
    if number / 10 >= 0.25:
        assert told == {CaveatKind.REPEATED: Caveat(CaveatKind.REPEATED, 0.3, 3, 10, 0.25)}
    else:
        assert told == {}


@pytest.mark.parametrize("kind", [CaveatKind.SHORT, CaveatKind.LONG])
def test_a_quarter_too_short_or_too_long(kind: CaveatKind) -> None:
    eight = ["abcd efgh", *TEN[1:8]]
    for wrong, of in ((2, 8), (1, 8)):
        texts = {CaveatKind.SHORT: ["xyz", ""], CaveatKind.LONG: ["wa wa " * 9, "bo bo " * 9]}[kind]
        outputs = [*texts[:wrong], *eight[wrong:]]
        told = found(outputs, eight)
        assert (kind in told) is (wrong / of >= 0.25), (kind, wrong)
    assert found(outputs[:4], eight[:4])[kind].share == 0.25


def test_exactly_half_and_exactly_twice_as_long_are_in_range() -> None:
    assert found(["abcd"] * 2, ["abcdefgh", "hgfedcba"]).keys() == {CaveatKind.REPEATED}
    assert not found(["abcdefgh", "ijklmnop"], ["abcd", "ijkl"])
    assert CaveatKind.SHORT in found(["abc", "ghi"], ["abcdefgh", "hgfedcba"])


def test_the_source_copied_or_left_in_its_language() -> None:
    told = found(["The dog!", "zwei", "drei", "vier"], ["hund", "zwei", "drei", "vier"],
                 ["the dog", "two", "three", "four"])  # fmt: skip
    assert told[CaveatKind.UNTRANSLATED].share == 0.25
    kept = found(["Paris"] * 1 + ["b c d"], ["Paris", "b c d"], ["Paris", "x y z"])
    assert CaveatKind.UNTRANSLATED not in kept
    tally = OutputTally()
    for words in ((1, 2), (2, 3), (0, 5), (0, 1)):
        tally.add(entries(["abc"]), ["abd"], [{"code_switching_rate": words}])
    assert [(each.kind, each.share) for each in tally.caveats()] == [
        (CaveatKind.UNTRANSLATED, 0.25)
    ]


def test_references_as_outputs_raise_nothing_even_where_they_repeat() -> None:
    repeating = ["yes", "yes", "yes", "no", "1", "2", "3"]
    assert found(repeating, repeating) == {}
    assert not tallied(entries(repeating), repeating, [{}] * 7).identical


def test_texts_that_come_once_are_not_repeated_where_references_are_withheld() -> None:
    assert found(["ab", "cd", "ef", "gh"], [""] * 4) == {}
    assert found(["ab", "ab", "ef", "gh"], [""] * 4).keys() == {CaveatKind.REPEATED}


@pytest.mark.parametrize(
    ("outputs", "references", "identical"),
    [
        (["a", "a", " a ", "b"], ["w", "x", "y", "z"], True),
        (["a", "a", "c", "b"], ["w", "x", "y", "z"], False),
        (["a", "a", "a", "b"], ["a", "a", "a", "b"], False),
        (["", "", "", "b"], ["w", "x", "y", "z"], False),
        (["", "", "b", "b"], ["w", "x", "y", "z"], True),
        (["a"], ["w"], False),
        ([], [], False),
        (["The dog. 1", "the dog, 2", "The dog (3)", "cat"], ["w", "x", "y", "z"], True),
        (["ᓂᐚᐸᒫᐤ 1", "ᓂᐚᐸᒫᐤ 2", "ᓂᐚᐸᒫᐤ ٣", "z"], ["w", "x", "y", "z"], True),
        (["1", "2", "3", "4"], ["w", "x", "y", "z"], False),
        (["7", "7", "7", "4"], ["w", "x", "y", "z"], True),
    ],
)
def test_mostly_identical(outputs: list[str], references: list[str], identical: bool) -> None:
    tally = tallied(entries(references), outputs, [{}] * len(outputs))
    assert tally.identical is identical


def test_counting_as_entries_come_is_counting_them_together() -> None:
    outputs, references = ["one dog"] * 4 + TEN[4:], TEN
    given = entries(references)
    tally = OutputTally()
    for entry, output in zip(given, outputs, strict=True):
        tally.add([entry], [output], [{}])
    assert tally.caveats() == tallied(given, outputs, [{}] * 10).caveats()


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_is_too_odd(text: str) -> None:
    assert bare_form(bare_form(text)) == bare_form(text)
    assert bool(bare_form(text)) is bool(text.split())
