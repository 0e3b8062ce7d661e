"""The row of letters that a batch brings: what a–z lacks, from the card of its language."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from corpora.text.visible import plain
from harness.sealed.keys import Identity, Role
from review.files.manifests import LONGEST_LETTER, MOST_LETTERS
from review.office.making.batches import letters_of
from tests.review.office import made
from tests.review.thorough import examples


def test_letters_of_a_language() -> None:
    for tag, letters in (
        ("crk-Latn", "â ā ê ē î ī ô ō ý ʼ"),
        ("crk", "â ā ê ē î ī ô ō ý ʼ"),
        ("eo", "ĉ ĝ ĥ ĵ ŝ ŭ"),
        ("gn", "á ã é ẽ g̃ í ĩ ñ ó õ ú ũ ý ỹ ʼ"),
        ("haw", "ā ē ī ō ū ʻ"),
        ("qu-PE", "ñ"),
        ("en", ""),
        ("zh", ""),  # typed by composing
        ("nsk", ""),  # no card, and nothing is written
    ):
        assert letters_of(tag) == tuple(letters.split()), tag
    for tag, count in (("ru", 33), ("ar", 45), ("hi", 66)):
        assert len(letters_of(tag)) == count, "an alphabet without a to z comes whole"
    for tag, count in (("crk-Cans", 134), ("iu", 125)):
        assert len(letters_of(tag)) == len(letters_of(tag, ["ᐊ"])) == count


def test_of_more_letters_than_fit_those_in_use_come_in_the_order_of_the_alphabet() -> None:
    text = "ᐊᓂᔑᓈᐯᒧᐎᓐ ᒥᓄ ᑮᔑᑲᑦ"  # ᑦ and ᓐ stand beyond the first 140 of the card
    found = letters_of("oj", [text])
    assert len(found) == MOST_LETTERS
    assert {*text} - {" "} <= {*found}
    assert letters_of("oj-Cans", ["".join(found)]) == found
    assert list(found[:4]) == [*"ᐁᐃᐄᐅ"]
    assert letters_of("oj-Cans") == ()


def test_without_a_card_the_letters_are_those_in_use() -> None:
    for tag, text, letters in (
        ("hur", "X̌e te G̱ʷən ƛ̓a, ʔəy̓ “tst’e”! ÁÉ", "á é g̱ x̌ y̓ ƛ̓ ə ʔ ʷ"),
        ("nsk", "ᒥᓯᐌ ᐃᔨᓅ (ok) ᐌ", "ᐃ ᐌ ᒥ ᓅ ᓯ ᔨ"),
        ("ckb", "زمانی کوردی، ١٢", "ا د ر ز م ن و ک ی"),
        ("ur-Arab", "\u0628\u064e\u0628", "\u0628 \u064e"),
        ("nsk-Cans", "ᒥ жд plain", "ᒥ"),  # another script's letters are noise of a machine
        ("yue", "我哋去食飯", ""),
        ("xh", "Plain letters only", ""),
        ("nsk", "ᒥ\ufe0f ᒥ\u034f\u200c ᒥ\u200d", "ᒥ"),  # marks that nobody sees
    ):
        assert letters_of(tag, [text]) == tuple(letters.split()), tag


def test_the_card_counts_only_for_the_script_that_is_written() -> None:
    assert letters_of("crk", ["ᒥᓯᐌ"])[0] == "ᐁ"
    assert letters_of("crk", ["Нипи жук"]) == tuple("жикнпу")
    assert letters_of("en", ["naïve café"]) == ()


@examples(30, 100)
@given(st.text(max_size=300), st.sampled_from(["nsk", "crk", "ar-Arab", "nsk-Latn"]))
def test_any_text_gives_letters_that_fit_a_batch(text: str, tag: str) -> None:
    found = letters_of(tag, [text])
    assert len(found) == len(set(found)) <= MOST_LETTERS
    for letter in found:
        assert 0 < len(letter) <= LONGEST_LETTER
        assert not letter.isascii()
        assert plain(letter) == letter  # a batch with one that acts is refused


def test_the_most_used_letters_come_of_a_text_without_end() -> None:
    many = [chr(0x1401 + n) for n in range(400)]
    found = letters_of("nsk", ["".join(many), "".join(many[300:360])])
    assert len(found) == MOST_LETTERS
    assert {*many[300:360]} <= {*found}
    assert list(found) == sorted(found)


def test_a_new_batch_brings_them(tmp_path: Path) -> None:
    made.store_runs(tmp_path)
    ready = made.made(made.draft(made.reviewed(tmp_path)), Identity.make(Role.ORGANISATION))
    assert {each.manifest.letters for each in ready.batches} == {letters_of("eo")}
    assert {each.manifest.task for each in ready.batches} == {"rate"}
