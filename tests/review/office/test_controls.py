"""Controls: made as asked, from what may be shown, not to be told from the rest; wrong word forms among them."""

import statistics
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.languages.tags import SHIPPED
from corpora.model.entry import Entry, Segment
from corpora.text.tokens import words
from harness.annotators.fst import FstAnnotator
from harness.fst.analyser import open_analyser
from review.office.making.controls import ControlMaterial, Counts, make_controls, usual_counts
from review.office.making.creating import ReviewDraft
from review.office.making.items import Item, new_item
from review.office.making.wrong_texts import (
    CATEGORIES,
    HALF,
    OTHER,
    SWAP,
    OtherForms,
    WrongTexts,
    changed_tag,
    first_half,
    inflected,
    plain_form,
)
from review.verdict.gate.key import ControlKind
from scoring.grammar.gold_analysis import features, tagged_word
from tests.outside import STRICT, only_with
from tests.review.office import made
from tests.review.office.made import demo_entries
from tests.review.thorough import examples


@pytest.fixture(scope="module")
def draft(tmp_path_factory: pytest.TempPathFactory) -> ReviewDraft:
    home = tmp_path_factory.mktemp("home")
    made.store_runs(home)
    return made.draft(made.reviewed(home))


def of_kind(draft: ReviewDraft, kind: ControlKind) -> list[Item]:
    return [item for item in draft.controls.items if item.truth.control is kind]


def test_eighty_items_get_controls_half_of_them_word_forms(draft: ReviewDraft) -> None:
    counts = Counter(item.truth.control for item in draft.controls.items)
    assert counts == {ControlKind.BAD: 8, ControlKind.REPEAT: 8, ControlKind.ANCHOR: 4}
    assert not draft.controls.short
    assert (len(draft.items), usual_counts(160)) == (100, Counts(16, 16, 8))
    assert usual_counts(40) == Counts(8, 8, 4)
    kinds = draft.controls.kinds()
    assert kinds["fst"] >= 4
    assert kinds.get(HALF, 0) <= 1


def test_controls_equal_no_output_and_come_from_development(draft: ReviewDraft) -> None:
    for item in of_kind(draft, ControlKind.BAD):
        entry = draft.runs.corpus[item.truth.entry]
        known = {entry.reference, *entry.variants, str(made.demo_outputs()[entry.id])}
        assert plain_form(item.shown.candidate) not in set(map(plain_form, known))
        assert item.truth.run_id is None
        assert item.truth.made_by
    for item in (*of_kind(draft, ControlKind.BAD), *of_kind(draft, ControlKind.ANCHOR)):
        assert draft.runs.corpus[item.truth.entry].segment is Segment.DEVELOPMENT
    for item in of_kind(draft, ControlKind.ANCHOR):
        assert item.shown.candidate == draft.runs.corpus[item.truth.entry].reference


def test_partners_are_items_of_the_same_entry(draft: ReviewDraft) -> None:
    items = {item.id: item for item in draft.items}
    for item in draft.controls.items:
        if item.truth.partner is not None:
            partner = items[item.truth.partner]
            assert partner.truth.entry == item.truth.entry
            assert partner.shown.source == item.shown.source
    for item in of_kind(draft, ControlKind.REPEAT):
        assert item.truth.partner is not None
        first = items[item.truth.partner]
        assert first.shown.candidate == item.shown.candidate
        assert (first.truth.control, first.truth.run_id) == (None, item.truth.run_id)
    assert sum(item.truth.partner is not None for item in of_kind(draft, ControlKind.BAD)) >= 4


def auc(ours: list[float], others: list[float]) -> float:
    """Return the chance that one of ours is larger than one of the others; half for equal ones."""
    wins = sum((a > b) + (a == b) / 2 for a in ours for b in others)
    return wins / (len(ours) * len(others))


@pytest.mark.thorough
def test_lengths_and_ids_do_not_tell_controls(tmp_path: Path) -> None:
    """Over forty drafts a classifier by any of these measures is right as often as a coin, or hardly more."""
    made.store_runs(tmp_path)
    runs = made.reviewed(tmp_path)
    drafts = [made.draft(runs, seed) for seed in range(40)]
    measures = {
        "candidate": lambda item: len(item.shown.candidate),
        "source": lambda item: len(item.shown.source),
        "ratio": lambda item: len(item.shown.candidate) / len(item.shown.source),
        "id": lambda item: int(item.id, 16),
    }
    for name, measure in measures.items():
        scores = [auc([measure(i) for i in d.controls.items], [measure(i) for i in d.real]) for d in drafts]
        assert abs(statistics.mean(scores) - 0.5) < 0.1, name


SECRET = [
    Entry(
        id=f"g{n}",
        source=f"Hidden sentence number {n} about rivers and boats.",
        reference=f"Kaŝita frazo {n} pri riveroj kaj boatoj sekretaj.",
        segment=Segment.GOLD_STANDARD,
        difficulty=1 + n % 5,
    )
    for n in range(60)
]


def secret_material(more: list[Entry]) -> ControlMaterial:
    entries = {entry.id: entry for entry in (*SECRET, *more)}
    outputs = {entry.id: [f"{entry.id} estas eligo de la sistemo pri io {entry.id}"] for entry in SECRET}
    real = [new_item(entry, outputs[entry.id][0], run_id="r") for entry in SECRET]
    return ControlMaterial(real, entries, outputs, lambda _: (), inflects=False)


def test_no_reference_of_a_secret_entry_is_ever_shown() -> None:
    controls = make_controls(secret_material([]), Counts(8, 8, 4), seed=1)
    shown = " ".join(item.shown.candidate for item in controls.items)
    assert "Kaŝita" not in shown
    assert "sekretaj" not in shown
    counts = Counter(item.truth.control for item in controls.items)
    assert counts == {ControlKind.BAD: 8, ControlKind.REPEAT: 8}
    assert controls.short == ["0 of 4 reference anchors could be made (they are made from development entries only)."]
    more = [entry for entry in made.demo_entries() if entry.segment is Segment.DEVELOPMENT]
    controls = make_controls(secret_material(more), Counts(8, 8, 4), seed=1)
    by_kind = Counter(item.truth.control for item in controls.items)
    assert by_kind == {ControlKind.BAD: 8, ControlKind.REPEAT: 8, ControlKind.ANCHOR: 4}
    for item in controls.items:
        assert "Kaŝita" not in item.shown.candidate
        if item.truth.control is ControlKind.ANCHOR:
            assert not str(item.truth.entry).startswith("g")
        if item.truth.control is ControlKind.BAD:
            assert item.truth.partner is not None
    assert controls.from_outputs == 4


JAPANESE = [
    "犬が庭で静かに眠っています。", "彼女は昨日新しい本を買いました。", "明日は雨が降るかもしれません。",
]  # fmt: skip


def test_wrong_texts_of_any_script_and_length() -> None:
    right = JAPANESE[0]
    wrong = WrongTexts(JAPANESE, lambda _: (), Random(1))
    for kind in (SWAP, HALF, OTHER):
        found = wrong.make(kind, right, len(right), frozenset({plain_form(right)}))
        assert found is not None
        assert found.text != right
        if kind == SWAP:
            ends = (found.text[0], found.text[-1], len(found.text))
            assert ends == (right[0], right[-1], len(right))
    texts = [entry.reference for entry in made.demo_entries()]
    wrong = WrongTexts(texts, lambda _: (), Random(5))
    right = "La maljuna virino lavis siajn manojn en la rivero."
    for _ in range(30):
        found = wrong.make(SWAP, right, len(right), frozenset({plain_form(right)}))
        assert found is not None
        words = found.text.split()
        assert (words[0], words[-1], len(words)) == ("La", "rivero.", 9)
        assert words != right.split()
    assert first_half("Bonan nokton") is None
    wrong = WrongTexts(["Saluton!", "Bonan nokton"], lambda _: (), Random(1))
    assert wrong.make(SWAP, "Saluton!", 8, frozenset()) is None
    assert wrong.make(OTHER, "Saluton!", 8, frozenset({"saluton"})) is not None


TEXTS = st.lists(st.text(max_size=60), max_size=12)


@examples(20, 100)
@given(TEXTS, st.text(max_size=60), st.sampled_from([SWAP, HALF, OTHER]), st.integers())
def test_any_text_makes_a_wrong_one_or_none(pool: list[str], right: str, kind: str, seed: int) -> None:
    never = frozenset({plain_form(right)})
    found = WrongTexts(pool, lambda _: (), Random(seed)).make(kind, right, len(right), never)
    if found is not None:
        assert plain_form(found.text) not in never
        assert plain_form(found.text)
        assert found.made_by == kind


ESPERANTO = SHIPPED / "epo" / "epo.hfstol"

CREE_SENTENCES = [
    "niwâpamâw atim", "kiwâpamâw atim", "wâpamêw atimwa", "nimîcison", "mîcisow awâsis",
    "nimîcisonân", "nipâw minôs", "nipâwak misatimwak", "misatim nipâw", "awâsisak nipâwak",
    "namôya nipâw nâpêw", "minôsa wâpamêw", "ê-mîcisot nâpêw",
]  # fmt: skip


@cache
def analyser(path: Path) -> FstAnnotator:
    return FstAnnotator(open_analyser(path))


def made_of(path: Path, texts: list[str]) -> list[tuple[str, str, str, str]]:
    """Return (right text, wrong text, old tag, new tag) of everything that can be made."""
    looked = analyser(path)
    attested = {word for text in texts for word in looked.split(text)}
    forms = OtherForms(attested, looked.analyse_words)
    return [
        (text, each.text, each.old, each.new) for text in texts for each in inflected(text, list(words(text)), forms)
    ]


def check(path: Path, found: list[tuple[str, str, str, str]]) -> None:
    """Ask the analyser itself about each of them, apart from the code that made them."""
    engine = open_analyser(path)
    for right, wrong, old, new in found:
        both = zip(words(right), words(wrong), strict=True)
        [(before, after)] = [(a.text, b.text) for a, b in both if a.text != b.text]
        [(_, was), (accepted, now)] = engine.analyse([before.lower(), after.lower()])
        assert accepted
        [one], [other] = was, now
        first, second = tagged_word(one), tagged_word(other)
        assert first.lemma == second.lemma
        assert (first.tags - second.tags, second.tags - first.tags) == ({old}, {new})
        had, has = features(first.tags), features(second.tags)
        assert {name for name in had if had[name] != has[name]} <= CATEGORIES
        assert before[:1].isupper() == after[:1].isupper()


def test_every_esperanto_form_is_accepted_and_differs_in_the_one_tag() -> None:
    texts = [entry.reference for entry in demo_entries()]
    found = made_of(ESPERANTO, texts)
    check(ESPERANTO, found)
    assert len(found) > 200
    assert len({right for right, *_ in found}) > 80  # nearly all of the 96 sentences


@only_with(STRICT)
def test_every_cree_form_is_accepted_and_differs_in_the_one_tag() -> None:
    found = made_of(STRICT, CREE_SENTENCES)
    check(STRICT, found)
    pairs = {(right, wrong) for right, wrong, *_ in found}
    assert ("niwâpamâw atim", "kiwâpamâw atim") in pairs
    assert any((old, new) == ("1Sg", "2Sg") for *_, old, new in found)


def test_only_one_tag_of_meaning_may_change() -> None:
    for right, wrong, changed in (
        ("hundo+N+Sg+Nom", "hundo+N+Pl+Nom", ("Sg", "Pl")),
        ("ami+V+Prs", "ami+V+Prt", ("Prs", "Prt")),
        ("wâpamêw+V+TA+Ind+1Sg+3SgO", "wâpamêw+V+TA+Ind+2Sg+3SgO", ("1Sg", "2Sg")),
        ("hundo+N+Sg+Nom", "kato+N+Pl+Nom", None),
        ("hundo+N+Sg+Nom", "hundo+N+Pl+Acc", None),
        ("hundo+N+Sg+Nom", "hundo+N+Sg+Acc", None),
        ("bela+A+Sg+Nom", "bela+A+Pl+Nom", None),
        ("ami+V+Prs", "ami+V+Inf", None),
        ("ami+V+Prs", "ami+V+Vol", None),
        ("hundo+N+Sg+Nom", "hundo+N+Sg+Nom", None),
    ):
        assert changed_tag(tagged_word(right), tagged_word(wrong)) == changed, (right, wrong)
