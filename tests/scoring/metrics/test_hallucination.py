"""Content of the output that nothing in the source accounts for."""

from __future__ import annotations

import pytest

from corpora.model.entry import Entry
from scoring.core.translation import Translation
from scoring.metrics.hallucination import Hallucination, why_no_hallucination
from scoring.words.resources import Resources
from tests.scoring.behaviour import card, entries, resources

ENTRY = Entry(
    id=0,
    source="Peter saw the dog of Mary Smith in 1,999 houses on 12.5.2018.",
    reference="Petro vidis la hundon.",
    variants=("La hundon ekvidis Petro.",),
)
TERMS = {"dog": ["hundo", "besto"], "train station": ["stacidomo"], "houses": ["domoj"]}
METRIC = Hallucination(resources([ENTRY], TERMS))


def taken(
    output: str, entry: Entry = ENTRY, metric: Hallucination = METRIC
) -> tuple[float, ...] | None:
    return metric.stats(Translation(entry, output))


@pytest.mark.parametrize(
    ("output", "wanted"),
    [
        ("Petro vidis la hundon", (0, 4)),
        ("Petro ekvidis la hundon", (0, 4)),
        ("Petro vidisto", (0, 2)),
        ("Petro vidas", (1, 2)),
        ("Petro vidis la beston", (0, 4)),
        ("Petro vidis la domojn", (0, 4)),
        ("Petro vidis stacidomo", (1, 3)),
        ("Petro vidis Mary Smithon", (0, 4)),
        ("Petro vidis mary", (1, 3)),
        ("Petro vidis house", (1, 3)),
        ("karakoko", (1, 1)),
        ("Petro 1999 1 999 1.999", (0, 4)),
        ("Petro ١٩٩٩", (0, 2)),
        ("Petro 12 5 2018", (0, 4)),
        ("Petro 2,019", (1, 2)),
        ("Petro 2018a", (0, 2)),
        ("Petro 2020a", (1, 2)),
        ("Petro {2020} https://x.example/7", (0, 1)),
    ],
)
def test_support(output: str, wanted: tuple[int, int]) -> None:
    assert taken(output) == wanted


@pytest.mark.parametrize("output", ["", " ", "…", "{name}", "\udfff"])
def test_an_output_without_content_earns_nothing(output: str) -> None:
    assert taken(output) is None


def test_what_is_said_again_is_without_support() -> None:
    again = "vidis Petro hundon "
    assert taken(again) == (0, 3)
    assert taken(again * 2) == (1, 6)
    assert taken(again * 10) == (25, 30)


def test_what_source_or_reference_say_again_may_be_said_again() -> None:
    entry = Entry(id=1, source="no no no no", reference="ne")
    assert taken("ne ne ne ne", entry) == (0, 4)
    assert taken("ne ne ne ne ne", entry) == (1, 5)
    entry = Entry(id=2, source="no", reference="ne ne ne ne")
    assert taken("ne ne ne ne", entry) == (0, 4)


def test_characters_repeat_from_eight_on() -> None:
    entry = Entry(
        id=3, source="Where is the station in Tokyo?", reference="東京の駅はどこにありますか"
    )
    assert taken(entry.reference, entry) == (0, 13)
    assert taken(entry.reference * 2, entry) == (6, 26)


def test_words_of_many_references_are_no_content() -> None:
    covered = entries([(f"the dog {n}", "la hundo") for n in range(3)] + [("a cat", "kato")] * 10)
    assert taken("la mondo", covered[0], Hallucination(resources(covered, TERMS))) == (1, 1)
    assert taken("la mondo", covered[0], Hallucination(resources(covered[2:], TERMS))) == (1, 2)


@pytest.fixture(scope="module")
def learned() -> Resources:
    pairs = [
        (f"I see {a}{b} and {b}{a}", f"mi vidas {b}{a}um kaj {a}{b}um")
        for a in NAMES
        for b in NAMES
    ]
    return resources(entries(pairs), target_card=card())


NAMES = ["ba", "be", "bi", "bo", "bu", "da", "de", "di", "do", "du", "fa", "fe", "fi", "fo", "fu"]


def test_learned_links_support_in_any_entry(learned: Resources) -> None:
    entry = Entry(id="new", source="bade", reference="x")
    metric = Hallucination(learned)
    assert taken("badeum", entry, metric) == (0, 1)
    assert taken("fufaum", entry, metric) == (1, 1)
    assert "IBM model 1" in metric.signature


def test_without_dictionary_and_pairs_it_is_off_and_says_so(learned: Resources) -> None:
    assert "neither a coaching dictionary nor" in (why_no_hallucination(resources([ENTRY])) or "")
    assert why_no_hallucination(learned) is None


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ({"dog": ["hundo"]}, None),
        ({"big dog": ["hundego"]}, None),
        ({"cat": ["kato"]}, "knows 12 % of the content words of the sources; 25 % are needed"),
        ({"house": ["domo"], "the": ["la"]}, "knows 0 % of"),
    ],
)
def test_a_dictionary_alone_has_to_know_a_quarter_of_the_content_words(
    terms: dict[str, list[str]], reason: str | None
) -> None:
    """The sources have eight content words: all but “the”."""
    texts = ("the big dog", "the big dog", "the cat", "the red owl ran")
    found = why_no_hallucination(resources(entries([(text, "x") for text in texts]), terms))
    assert found is None if reason is None else reason in (found or "")


def test_what_is_found_is_said_in_words() -> None:
    assert METRIC.explain(Translation(ENTRY, "Petro vidis 7 uloj the")) == (
        "1 of 5 content words is neither in the reference nor linked by a known word pair to the source: uloj.",
        "1 of 5 content words is in neither source nor reference: 7.",
        "1 of 5 content words is left over from the source: the.",
    )
    assert METRIC.explain(Translation(ENTRY, ENTRY.reference)) == ()
    assert METRIC.explain(Translation(ENTRY, "La hundo: la hundo, la hundo")) == (
        "2 of 6 content words are said again: la, hundo.",
    )
