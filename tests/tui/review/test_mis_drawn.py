"""Which texts a terminal may not be trusted with."""

import unicodedata

import pytest

from rosetta_tui.review.mis_drawn import WHY, MisDrawn, first_mis_drawn, mis_drawn
from tests.outside import TEXTS, only_with, published

SAFE = [
    "",
    "I saw his dog yesterday.",
    "ê î ô â ē ī ō ā niwâpamâw",
    unicodedata.normalize("NFD", "niwâpamâw atim, ĉiuĵaŭde"),
    "Tiếng Việt có nhiều dấu",  # two marks, drawn as one character
    "Я видел собаку",
    "한국어 漢字 かな",
    "ꮳꮃꭹ Ꮳꮃꭹ",
    "ⵜⴰⵎⴰⵣⵉⵖⵜ",
    "🐕 👩‍🏫 “…” – ʔ ʷ ꞌ",
]
WRONG = [
    ("ᓂᐚᐸᒫᐤ ᐊᑎᒼ", MisDrawn.SYLLABICS),
    ("Inuktitut: ᐃᓄᒃᑎᑐᑦ", MisDrawn.SYLLABICS),
    ("𑪰", MisDrawn.SYLLABICS),  # Extended-A
    ("שלום", MisDrawn.RIGHT_TO_LEFT),
    ("کوردی", MisDrawn.RIGHT_TO_LEFT),
    ("ߒߞߏ", MisDrawn.RIGHT_TO_LEFT),
    ("𞤀𞤁", MisDrawn.RIGHT_TO_LEFT),
    ("हिन्दी", MisDrawn.SHAPING),
    ("ខ្មែរ", MisDrawn.SHAPING),
    ("မြန်မာ", MisDrawn.SHAPING),
    ("\u1112\u1161\u11ab", MisDrawn.SHAPING),  # Korean in parts
    ("x̣̌ʷ", MisDrawn.STACKED_MARKS),
    ("dǫ́", MisDrawn.STACKED_MARKS),  # one letter with a mark, and one more
    (unicodedata.normalize("NFD", "Tiếng"), MisDrawn.STACKED_MARKS),
    ("ที่นี่", MisDrawn.STACKED_MARKS),
]


@pytest.mark.parametrize("text", SAFE, ids=ascii)
def test_texts_that_terminals_draw_well_are_safe(text: str) -> None:
    assert mis_drawn(text) is None


@pytest.mark.parametrize(("text", "why"), WRONG, ids=ascii)
def test_texts_that_terminals_draw_wrongly_are_told(text: str, why: MisDrawn) -> None:
    assert mis_drawn(text) is why
    assert mis_drawn(f"before {text} after") is why
    assert first_mis_drawn(["good", text, "good"]) is why


def test_every_reason_has_words() -> None:
    assert set(WHY) == set(MisDrawn)


@only_with(TEXTS)
@pytest.mark.parametrize(
    ("language", "why"),
    [
        ("fin", None), ("spa", None), ("mri", None), ("ukr", None), ("jpn", None), ("amh", None),
        ("hin", MisDrawn.SHAPING), ("arb", MisDrawn.RIGHT_TO_LEFT),
    ],
)  # fmt: skip
def test_texts_of_other_people_are_told_by_language(language: str, why: MisDrawn | None) -> None:
    path = published(language)
    lines = path.read_text("utf-8").splitlines()
    found = [mis_drawn(line) for line in lines]
    share = sum(each is why for each in found) / len(found)
    assert share > 0.98
