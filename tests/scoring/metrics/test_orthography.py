"""Orthographic accuracy: every rule, the cards that ship, and human text in many scripts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.formats.load import load
from corpora.languages.cards import find_card
from corpora.languages.language import LanguageCard, WritingSystem
from corpora.model.entry import Entry
from corpora.samples import DEMO_CORPUS, sample_path
from corpora.text.tokens import pieces
from scoring.core.setup import ScoringSetup, Translation
from scoring.metrics.inventory import choose, make_metrics
from scoring.metrics.word_forms import OrthographicAccuracy, why_no_orthography
from scoring.words.reading import Reader
from scoring.words.source_words import Resources
from scoring.words.spelling import Spelling
from tests.outside import TEXTS, only_with, published
from tests.review.thorough import examples, first, times
from tests.scoring.samples import HOSTILE, sentences

CREE = WritingSystem(
    letters="a â ā c ê ē h i î ī k m n o ô ō p s t w y",
    foreign_letters="b e g l r u",
    cased=False,
    vowel_marks=("âêîô", "āēīō"),
    forbidden=({"pattern": "hh", "why": "h is never doubled"},),
)
CYRILLIC = WritingSystem(letters="а-я і ї є ґ", cased=True)
JAPANESE = WritingSystem(letters="ぁ-ん ァ-ヶ 一-龯 ー", cased=False)
GERMAN = WritingSystem(letters="a-z ä ö ü ß", cased=True, suspended_hyphen=True)
OJIBWE = WritingSystem(
    letters="a b d e g i j k m n o s w y z", word_letters="ʼ'", joiners="-", cased=True
)


def metric(
    writing: WritingSystem,
    script: str = "Latn",
    entries: Sequence[Entry] = (),
    loan_words: tuple[str, ...] = (),
) -> OrthographicAccuracy:
    card = LanguageCard(
        tag="crk", name="Test", default_script=script, writings={script: writing},
        loan_words=loan_words, sources={},
    )  # fmt: skip
    setup = ScoringSetup(
        metrics=("orthographic_accuracy",), source_language="en", target_language="crk",
        language_card="crk", language_card_sha256="ab" * 32, script=script,
    )  # fmt: skip
    return OrthographicAccuracy(Resources(setup, card=card, entries=entries))


def translation(output: str, reference: str = "niwâpamâw atim", source: str = "s") -> Translation:
    return Translation(Entry(id=1, source=source, reference=reference), output)


def test_rules() -> None:
    for writing, output, right, words in [
        (CREE, "Niwâpamâw ATIM", 2, 2), (CREE, "niwâpamâw fox", 1, 2),
        (CREE, "niwāpamāw atim tānisi", 3, 3),  # macrons throughout
        (CREE, "niwāpamâw atim", 1, 2),
        (CREE, "niwâpamâw tānisi êkosi", 2, 3),  # the rarer mark is the wrong one
        (CREE, "niwâpamâw tānisi", 1, 2),  # a tie: the card's first set is the usual one
        (CREE, unicodedata.normalize("NFD", "niwâpamâw atim"), 1, 2), (CREE, "ê-kî-wâpamât", 1, 1),
        (CREE, "ê- wâpamât", 1, 2), (CREE, "ê -wâpamât", 1, 2), (CREE, "ê--wâpamât", 1, 2),
        (CREE, "ê - wâpamât", 2, 2), (CREE, "atihhm", 0, 1),
        (CREE, "nіwâpamâw", 0, 1),  # a Cyrillic і
        (CREE, "ᐊᑎᒼ atim", 1, 1),  # syllabics are another script, not a wrong spelling
        (CREE, "atim 12 {name} %s https://example.org/xyz?f=x <b>", 1, 1), (CREE, "x2", 0, 1),
        (CREE, "atim2", 1, 1), (CREE, "", 0, 2), (CREE, "…", 0, 2), (CREE, "12", 0, 2),
        (GERMAN, "Vor- und Nachteile", 3, 3), (GERMAN, "STRASSE Straße", 2, 2),
        (CYRILLIC, "IT-компанія", 1, 1), (CYRILLIC, "кoмпанія", 0, 1),
        (JAPANESE, "このアプリはiPhoneで使える", 2, 2), (OJIBWE, "maʼiingan ma'iingan", 2, 2),
    ]:  # fmt: skip
        assert metric(writing).stats(translation(output)) == (right, words)


def test_foreign_letters_are_for_names_and_loans() -> None:
    for word, source, right in [
        ("bergolu", "s", 0), ("ber-golu", "s", 0),
        ("Bergolu", "s", 1),  # a name
        ("BERGOLU", "s", 1), ("2Bergolu", "s", 1), ("nit-Bergolu", "s", 1),
        ("nit-bergolu", "a Bergolu!", 1),  # carried over, with what the language adds
        ("bergolu", "a Bergolu!", 1), ("bergolu", "Bergolus", 0),
        ("lurel", "s", 1),  # a loan word of the card
        ("begur", "s", 1),  # in another entry's reference
        ("ᐁbergolu", "bergolu", 0),  # mixed scripts stay wrong
        ("berghholu", "berghholu", 0),  # and forbidden letters
        ("begursfox", "begursfox", 0),  # and letters that the card does not have
    ]:  # fmt: skip
        others = [Entry(id=2, source="s", reference="Begur atim")]
        found = metric(CREE, entries=others, loan_words=("lurel",))
        assert found.stats(translation(f"atim {word}", source=source)) == (1 + right, 2)


def test_languages_without_capitals_and_keyboards_break_no_rule() -> None:
    arabic = find_card("ar")
    assert metric(arabic.card.writing("Arab"), "Arab").stats(translation("ڤيديو")) == (1, 1)
    hindi = find_card("hi")
    for word in ("\u0938\u095c\u0915", "\u0938\u0921\u093c\u0915"):
        assert metric(hindi.card.writing("Deva"), "Deva").stats(translation(word)) == (1, 1)


def test_english_does_not_pass_for_another_language() -> None:
    for tag, english, most in [
        ("crk", "The very big train from Germany jumped over ribs", 2),
        ("eo", "The quick wax yacht expects a quay", 2),
    ]:
        found = find_card(tag)
        right, words = metric(found.card.writing("Latn")).stats(translation(english)) or (0, 0)
        assert right <= most < words
        (said,) = metric(found.card.writing("Latn")).explain(translation(english))
        assert "only in names and loan words" in said


def test_reasons_and_other_scripts_are_explained() -> None:
    said = metric(CREE).explain(translation("niwāpamâw fox atihhm êkosi nіpâw ê- nipât"))
    assert "".join(said) == (
        "5 of 7 words break a rule: niwāpamâw (circumflex and macron mixed), "
        "fox (f, x are no letters of the language), atihhm (h is never doubled), "
        "nіpâw (Cyrillic letters inside the word), ê (hyphen at the end of the word)."
    )
    cree = metric(CREE)
    assert cree.explain(translation("fog")) == (
        "1 of 1 word breaks a rule: fog (f is no letter of the language).",
    )
    assert cree.explain(translation("atim nipâw")) == ()
    assert cree.explain(translation("atim ᐊᑎᒼ")) == ("In another script, and not judged: ᐊᑎᒼ.",)
    assert "another script" in cree.explain(translation("ᐊᑎᒼ"))[0]
    assert "counts as wrong" in cree.explain(translation(""))[0]
    assert metric(CREE).stats(translation("ᐊᑎᒼ")) is None
    assert metric(CREE).stats(translation("", "12 %s")) is None
    setup = ScoringSetup(metrics=(), source_language="en", target_language="xx")
    assert OrthographicAccuracy(Resources(setup)).stats(translation("atim")) is None


def test_why_off_and_signature() -> None:
    setup = ScoringSetup(metrics=(), source_language="en", target_language="xx")
    reason = why_no_orthography(Resources(setup)) or ""
    assert "rosetta language check xx" in reason
    assert OrthographicAccuracy(Resources(setup)).why_missing == reason
    _, off = choose(Resources(setup), ["orthographic_accuracy"])
    assert off["orthographic_accuracy"] == reason
    found = metric(CREE)
    assert "card:abababababab" in found.signature
    resources = found._resources  # what the metric was made with here
    assert why_no_orthography(resources) is None
    assert "orthographic_accuracy" in [each.info.id for each in make_metrics(resources)]


@examples(15, 150)
@given(st.text(max_size=80) | st.sampled_from(HOSTILE), st.sampled_from(HOSTILE))
def test_no_text_raises(output: str, reference: str) -> None:
    for writing in (CREE, CYRILLIC, JAPANESE, OJIBWE):
        found = metric(writing)
        stats = found.stats(translation(output, reference))
        assert stats is None or (0 <= stats[0] <= stats[1] and stats[1] > 0)
        found.explain(translation(output, reference))


@examples(15, 100)
@given(st.lists(st.sampled_from(["niwâpamâw", "tānisi", "fox", "êkosi"]), min_size=1, max_size=6))
def test_dropping_a_right_word_never_helps(words: list[str]) -> None:
    found = metric(CREE.model_copy(update={"vowel_marks": ()}))
    whole = found.value(found.stats(translation(" ".join(words))) or (0, 0))
    right = [word for word in words if word != "fox"]
    if right and len(words) > 1:
        words.remove(right[0])
        less = found.value(found.stats(translation(" ".join(words))) or (0, 0))
        assert (less or 0) <= (whole or 0)


needs_texts = only_with(TEXTS)


def broken(texts: Iterator[str], tag: str, script: str) -> tuple[int, float]:
    """Words, and the share of them that break a rule, of texts scored as outputs; none is known before."""
    found = find_card(tag)
    card = metric(found.card.writing(script), script)
    rows = [stats for text in texts if (stats := card.stats(translation(text, ""))) is not None]
    right, words = (sum(column) for column in zip(*rows, strict=True))
    return words, 1 - right / words


@needs_texts
@pytest.mark.parametrize(
    ("file", "tag", "script"),
    first(1, [
        ("jpn", "ja", "Jpan"), ("ukr", "uk", "Cyrl"), ("fin", "fi", "Latn"), ("hin", "hi", "Deva"),
        ("amh", "am", "Ethi"), ("mri", "mi", "Latn"), ("spa", "es", "Latn"), ("arb", "ar", "Arab"),
    ]),
)  # fmt: skip
def test_human_translations_of_news_keep_the_rules(file: str, tag: str, script: str) -> None:
    lines = published(file).read_text(encoding="utf-8").splitlines()[:: times(3, 1)]
    words, share = broken(iter(lines), tag, script)
    assert words > 1500
    assert share < 0.02


@needs_texts
def test_the_declaration_of_human_rights_keeps_the_rules() -> None:
    for file, tag, script in [
        ("csw", "csw", "Cans"), ("ike", "iu", "Cans"), ("ojb", "oj", "Cans"), ("sme", "se", "Latn"),
    ]:  # fmt: skip
        root = ET.parse(TEXTS / f"udhr_{file}.xml").getroot()
        texts = (each for each in root.iter() if each.tag.endswith(("para", "title")))
        words, share = broken(("".join(each.itertext()) for each in texts), tag, script)
        assert words > 500
        assert share < 0.02


@needs_texts
def test_another_language_of_the_script_is_found_by_its_letters() -> None:
    path = published("ukr")
    texts = iter(path.read_text(encoding="utf-8").splitlines()[:200])
    _, share = broken(texts, "ru", "Cyrl")
    assert share > 0.2


def test_the_demo_keeps_the_rules() -> None:
    entries = load(sample_path(DEMO_CORPUS)).entries
    texts = (text for entry in entries for text in (entry.reference, *entry.variants))
    words, share = broken(texts, "eo", "Latn")
    assert words > 1000
    assert share == 0


@examples(25, 1000)
@given(st.lists(sentences, max_size=4).map(" ".join))
@pytest.mark.parametrize("writing", [CREE, OJIBWE, JAPANESE], ids=["cree", "ojibwe", "japanese"])
def test_words_are_read_and_judged_as_piece_by_piece(writing: WritingSystem, text: str) -> None:
    read = Reader(writing.joiners, writing.word_letters)
    alone = [read.read(piece) for piece in pieces(text)]
    whole = read.read(text)
    assert whole.written == tuple(word for piece in alone for word in piece.written)
    assert whole.words == tuple(word for piece in alone for word in piece.words)
    assert read.distinct(text) == whole.distinct
    slow = Spelling(writing)
    slow._plain = slow._lettered = frozenset()
    assert Spelling(writing).judged(text) == slow.judged(text)
