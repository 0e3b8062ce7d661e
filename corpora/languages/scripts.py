"""ISO 15924 codes of the scripts that texts are in, and which one a language is written in (METRICS §0)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from corpora.text.comparison import scripts

if TYPE_CHECKING:
    from corpora.languages.language import LanguageCard

CODES = {
    "Latin": "Latn", "Canadian_Aboriginal": "Cans", "Cherokee": "Cher", "Cyrillic": "Cyrl",
    "Greek": "Grek", "Arabic": "Arab", "Hebrew": "Hebr", "Devanagari": "Deva", "Bengali": "Beng",
    "Gurmukhi": "Guru", "Gujarati": "Gujr", "Oriya": "Orya", "Tamil": "Taml", "Telugu": "Telu",
    "Kannada": "Knda", "Malayalam": "Mlym", "Sinhala": "Sinh", "Thai": "Thai", "Lao": "Laoo",
    "Tibetan": "Tibt", "Myanmar": "Mymr", "Khmer": "Khmr", "Georgian": "Geor", "Armenian": "Armn",
    "Ethiopic": "Ethi", "Hangul": "Hang", "Han": "Hani", "Hiragana": "Hira", "Katakana": "Kana",
    "Bopomofo": "Bopo", "Mongolian": "Mong", "Syriac": "Syrc", "Thaana": "Thaa", "Nko": "Nkoo",
    "Tifinagh": "Tfng", "Vai": "Vaii", "Yi": "Yiii", "Javanese": "Java", "Balinese": "Bali",
    "Sundanese": "Sund", "Cham": "Cham", "Adlam": "Adlm", "Osage": "Osge", "Deseret": "Dsrt",
    "Ol_Chiki": "Olck", "Coptic": "Copt", "Gothic": "Goth", "Runic": "Runr", "Ogham": "Ogam",
    "Lisu": "Lisu", "Meetei_Mayek": "Mtei", "Saurashtra": "Saur", "Tai_Le": "Tale",
    "New_Tai_Lue": "Talu", "Tai_Tham": "Lana", "Tai_Viet": "Tavt", "Limbu": "Limb",
    "Lepcha": "Lepc", "Bamum": "Bamu", "Hanifi_Rohingya": "Rohg", "Warang_Citi": "Wara",
    "Medefaidrin": "Medf", "Nyiakeng_Puachue_Hmong": "Hmnp", "Pahawh_Hmong": "Hmng",
    "Miao": "Plrd", "Wancho": "Wcho", "Mro": "Mroo", "Chakma": "Cakm", "Newa": "Newa",
    "Tagalog": "Tglg", "Hanunoo": "Hano", "Buhid": "Buhd", "Tagbanwa": "Tagb",
    "Buginese": "Bugi", "Rejang": "Rjng", "Kayah_Li": "Kali",
}  # fmt: skip
"""Unicode's name of a script → its ISO 15924 code (Unicode, PropertyValueAliases)."""

LEAST_KANA = 0.05
"""Share of letters from which kana make a text Japanese, even where Chinese characters are more."""


def tag_script(tag: str) -> str | None:
    """Return the script that a language tag names, such as ``Cans`` for ``crk-Cans``; None without one.

    Never a likely script from a table: for ``crk`` and ``iu`` that is wrong for roman corpora.
    """
    for part in tag.replace("_", "-").split("-")[1:]:
        if len(part) == 1:
            return None
        if len(part) == 4 and part.isascii() and part.isalpha():
            return part.title()
    return None


def texts_script(texts: Iterable[str]) -> str | None:
    """Return the script (ISO 15924) of most letters of some texts, None where nothing tells."""
    shares = scripts(texts)
    kana = shares.get("Hiragana", 0.0) + shares.get("Katakana", 0.0)
    if kana > LEAST_KANA:
        return "Jpan"
    if shares.get("Hangul", 0.0) > LEAST_KANA and "Han" in shares:
        return "Kore"
    return CODES.get(next(iter(shares), ""))


def resolve_script(tag: str, card: LanguageCard | None, references: Iterable[str]) -> str | None:
    """Tell the script of a target: from its tag, else its references, else the card's default."""
    script = tag_script(tag) or texts_script(references)
    return script or (card.default_script if card else None)
