"""One form for characters that look alike or have no width, and what stays apart."""

import pytest

from corpora.checks.entries import check_entries
from corpora.model.entry import Entry
from corpora.text.comparison import alike, is_blank, mixtures


@pytest.mark.parametrize(
    ("text", "language", "form"),
    [
        *((f"nikî{hyphen}wâpamâw", "crk", "nikî-wâpamâw") for hyphen in "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"),
        *((f"Gwich{mark}in", "gwi", "Gwich'in") for mark in "’ʼ‘`´′ꞌ"),
        ("ni\u00adkî\u200b \u2060atim\ufeff\u200e", "crk", "nikî atim"), ("wo\u200drd", "en", "word"),
        ("l∙l", "ca", "l·l"), ("x\u0332 k\u0315", "", "x\u0331 k\u0313"),
        ("ᐧᐋᐸᒣᐤ", "crk", "ᐙᐸᒣᐤ"), ("ᐋᐧᐸᒣᐤ", "crk", "ᐚᐸᒣᐤ"), ("ᐋᐧᐸ", "crm", "ᐋᑄ"),
        ("'ōlelo Hawai’i", "haw", "ʻōlelo Hawaiʻi"), ("‘aloha’", "haw", "‘aloha’"),
        # what differs to the eye, or is no part of a word, stays
        ("a – b 1990–2000 −5", "en", "a – b 1990–2000 −5"), ("‘dogs’ “a”—b", "en", "‘dogs’ “a”—b"),
        ("nikî nikī", "crk", "nikî nikī"), ("می\u200cخواهم क्\u200dष", "fa", "می\u200cخواهم क्\u200dष"), ("👩\u200d👧", "", "👩\u200d👧"),
        ("ᐚᐸᒣᐤ ᐙᐸ", "crk", "ᐚᐸᒣᐤ ᐙᐸ"),
    ],
)  # fmt: skip
def test_what_looks_alike_is_one(text: str, language: str, form: str) -> None:
    assert alike(text, language) == form
    assert alike(form, language) == form


def test_what_nobody_sees_is_blank() -> None:
    for text in ("", " ", "\u200b", "\u00ad \u200d", "\u200e\u2060", "\ufe0f", "\u034f"):
        assert is_blank(text)
    assert not any(map(is_blank, ("a", "\u200ba", "\u200d.", "ᐧ", "\u0301")))


def test_a_mixture_is_named_with_its_entries() -> None:
    texts = ["nikî-wâpam", "nikî\u2011wâpam", "a-b", "ni\u00adkî"]
    entries = [Entry(id=at, source="s’s", reference=text) for at, text in enumerate(texts)]
    named = {each.message: each.places for each in check_entries(entries, "c")}
    assert named[
        "Several forms of one look: hyphens in the references: U+002D (2), U+2011 (1)."
    ] == (1,)
    assert named["There are characters without width in the references: U+00AD (1)."] == (3,)
    assert list(mixtures(["ᐧᐋᐸ", "ᐙᐸ"])) == ["syllables"]
    assert mixtures(["ᐚᐸ", "ᐙᐸ", "don't", "a-b", "plain"]) == {}
