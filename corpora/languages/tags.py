"""Tags of languages, varieties, spelling systems and scripts, and the names that they stand for.

Prompts name languages, because a model understands “Plains Cree” better than ``crk``. Headers of tables name
them too, by a tag of ISO 639-1 or 639-3, with or without a script, or by the English name. Scripts have the
codes of ISO 15924 (METRICS §0).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from corpora.text.comparison import is_blank, scripts
from corpora.text.near_names import near_names

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


_LANGUAGE_TAG = re.compile(
    r"""
    (?: [a-z]{2,3} (?: -[a-z]{3} ){0,3}         # language, extended language
        (?: -[a-z]{4} )?                        # script
        (?: -(?: [a-z]{2} | [0-9]{3} ) )?       # region
        (?: -(?: [a-z0-9]{5,8} | [0-9][a-z0-9]{3} ) )*   # variants
        (?: -[a-wy-z0-9] (?: -[a-z0-9]{2,8} )+ )*        # extensions
        (?: -x (?: -[a-z0-9]{1,8} )+ )?         # private use
      | x (?: -[a-z0-9]{1,8} )+
    )""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)

_NOT_LANGUAGES = frozenset(
    [
        "txt",
        "src",
        "ref",
        "trg",
        "tgt",
        "hyp",
        "out",
        "dev",
        "tst",
        "trn",
        "raw",
        "tok",
        "bpe",
        "dat",
        "old",
        "new",
        "doc",
        "bak",
        "csv",
        "tsv",
        "tab",
        "mt",
        "sys",
    ]
)
"""Parts of file names that have the shape of a language tag and mean something else."""

_FLORES_NAME = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}")


def is_language_tag(tag: str) -> bool:
    """Tell whether a tag is well-formed by BCP 47.

    Language names of five letters or more are refused although the grammar allows them, because none
    is registered and ``English`` is the commonest mistake.
    """
    return _LANGUAGE_TAG.fullmatch(tag) is not None


def language_of_file(name: str) -> str | None:
    """Read the language tag out of a file name such as ``news.eng.txt``, None where there is none."""
    stem, *parts = name.split(".")
    for part in reversed(parts):
        if part.lower() in _NOT_LANGUAGES:
            continue
        tag = part.replace("_", "-")
        return tag if is_language_tag(tag) else None
    return stem.replace("_", "-") if _FLORES_NAME.fullmatch(stem) else None


def pair_label(source_language: str, target_language: str) -> str:
    """Return the display label of a language pair, ``EN→CRK``, from its tags (§2.1)."""
    source, target = (tag.split("-")[0].upper() for tag in (source_language, target_language))
    return f"{source}→{target}"


def nearest(tag: str, permitted: Iterable[str]) -> str | None:
    """Return the permitted tag that looks most like this one, None where none comes near."""
    return next(iter(near_names(tag, permitted, most=1)), None)


_LONGEST_TAG = 100


def wrong_tag(tag: str) -> tuple[str, str] | None:
    """Return what is wrong with the name of a variety or orthography, and its mend; None where nothing is."""
    if is_blank(tag):
        return "It is blank.", "Write a name, or leave the field out."
    if len(tag) > _LONGEST_TAG or not tag.isprintable():
        return (
            f"It is no name: longer than {_LONGEST_TAG} characters, or with characters that nobody sees.",
            "Write a short name; explanations go into notes.",
        )
    return None


_LANGUAGES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "ay": "Aymara", "bn": "Bengali",
    "bo": "Tibetan", "chr": "Cherokee", "ciw": "Southwestern Ojibwe", "cr": "Cree",
    "crk": "Plains Cree", "crm": "Moose Cree", "csw": "Swampy Cree", "cwd": "Woods Cree",
    "cy": "Welsh", "da": "Danish", "de": "German", "dene": "Dene", "dgr": "Tłı̨chǫ", "el": "Greek",
    "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque",
    "fa": "Persian", "fi": "Finnish", "fo": "Faroese", "fr": "French", "ga": "Irish",
    "gd": "Scottish Gaelic", "gn": "Guarani", "gu": "Gujarati", "gwi": "Gwich’in", "ha": "Hausa",
    "haw": "Hawaiian", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "ig": "Igbo", "ike": "Eastern Canadian Inuktitut", "is": "Icelandic",
    "it": "Italian", "iu": "Inuktitut", "ja": "Japanese", "ka": "Georgian",
    "kl": "Greenlandic (Kalaallisut)", "km": "Khmer", "ko": "Korean", "la": "Latin", "lkt": "Lakota",
    "lo": "Lao", "mi": "Māori", "mic": "Mi’kmaq", "ml": "Malayalam", "moe": "Innu-aimun",
    "moh": "Mohawk", "mr": "Marathi", "my": "Burmese", "myv": "Erzya", "nah": "Nahuatl",
    "nb": "Norwegian Bokmål", "ne": "Nepali", "nl": "Dutch", "nn": "Norwegian Nynorsk",
    "nv": "Navajo", "oj": "Ojibwe", "ojb": "Northwestern Ojibwe", "ojs": "Severn Ojibwe",
    "pam": "Kapampangan", "pl": "Polish", "pt": "Portuguese", "qu": "Quechua", "rm": "Romansh",
    "ro": "Romanian", "ru": "Russian", "rw": "Kinyarwanda", "se": "Northern Sámi", "si": "Sinhala",
    "sm": "Samoan", "sma": "Southern Sámi", "sme": "Northern Sámi", "smj": "Lule Sámi",
    "smn": "Inari Sámi", "sms": "Skolt Sámi", "sn": "Shona", "so": "Somali", "sq": "Albanian",
    "srs": "Tsuut’ina", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu",
    "th": "Thai", "ti": "Tigrinya", "tk": "Turkmen", "tl": "Tagalog", "to": "Tongan",
    "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vi": "Vietnamese",
    "wo": "Wolof", "xh": "Xhosa", "yo": "Yoruba", "yua": "Yucatec Maya", "zh": "Chinese",
    "zu": "Zulu",
}  # fmt: skip

_THREE_LETTERS = (
    "af afr am amh ar ara,arb ay aym,ayr bn ben bo bod cr cre cy cym da dan de deu el ell en eng eo epo "
    "es spa et est,ekk eu eus fa fas,pes fi fin fo fao fr fra ga gle gd gla gn grn,gug gu guj ha hau he heb "
    "hi hin hu hun hy hye id ind ig ibo is isl it ita iu iku ja jpn ka kat kl kal km khm ko kor la lat lo lao "
    "mi mri ml mal mr mar my mya nb nob ne nep,npi nl nld nn nno nv nav oj oji pl pol pt por qu que,quy,quz "
    "rm roh ro ron ru rus rw kin se sme si sin sm smo sn sna so som sq sqi sv swe sw swa,swh ta tam te tel "
    "th tha ti tir tk tuk tl tgl to ton tr tur uk ukr ur urd uz uzb,uzn vi vie wo wol xh xho yo yor zh zho,cmn "
    "zu zul"
)
"""Tags of ISO 639-1, each before those of ISO 639-3 by which data sets name the same language."""

_SCRIPTS = {
    "Arab": "Arabic script", "Cans": "Canadian Aboriginal syllabics", "Cher": "Cherokee syllabary",
    "Cyrl": "Cyrillic script", "Deva": "Devanagari", "Ethi": "Ethiopic script",
    "Hans": "simplified characters", "Hant": "traditional characters", "Hebr": "Hebrew script",
    "Latn": "Latin script", "Tfng": "Tifinagh", "Tibt": "Tibetan script",
}  # fmt: skip


def language_name(tag: str) -> str:
    """Name a language by its BCP 47 tag, such as “Plains Cree (Canadian Aboriginal syllabics)”.

    A tag that is not in the table stands for itself, with no guess; users can give names of their own.
    """
    language, *rest = tag.replace("_", "-").split("-")
    name = _LANGUAGES.get(language.lower())
    if name is None:
        return tag
    notes = [_SCRIPTS.get(part.title(), part) for part in rest]
    return f"{name} ({', '.join(notes)})" if notes else name


@cache
def _two_letters() -> dict[str, str]:
    """Return the tag of ISO 639-1 for each of ISO 639-3."""
    words = _THREE_LETTERS.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    return {three: two for two, others in pairs for three in others.split(",")}


@cache
def _by_name() -> dict[str, str]:
    """Return the tag of each folded name, the first one where two tags have it."""
    found: dict[str, str] = {}
    for tag, name in _LANGUAGES.items():
        for each in (name, name.partition(" (")[0]):
            found.setdefault(_folded(each), tag)
    return found


def _folded(name: str) -> str:
    """Return a name without case, accents and signs."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if letter.isalnum())


def tag_of(text: str) -> str | None:
    """Return the language tag that a header cell or key stands for, None where it names no known language.

    ``eng_Latn`` becomes ``eng-Latn``, and ``Māori`` or ``maori`` becomes ``mi``; case is that of BCP 47.
    """
    tag = text.strip().replace("_", "-")
    if is_language_tag(tag) and _is_known(tag.split("-")[0].lower()):
        return tidy(tag)
    return _by_name().get(_folded(text)) if len(text) <= _LONGEST_NAME else None


_LONGEST_NAME = 60


def tidy(tag: str) -> str:
    """Return a tag with hyphens, in the case that BCP 47 recommends: ``QUZ_latn_pe`` becomes ``quz-Latn-PE``."""
    first, *rest = tag.strip().replace("_", "-").split("-")
    return "-".join((first.lower(), *map(_cased, rest)))


def _cased(part: str) -> str:
    if len(part) == 4 and part.isalpha():
        return part.title()
    return part.upper() if len(part) == 2 else part.lower()


def _is_known(language: str) -> bool:
    return language in _LANGUAGES or language in _two_letters()


def same_language(one: str, other: str) -> bool:
    """Tell whether two tags may mean one language: ``en`` and ``eng-Latn`` do, of two scripts none does."""
    first, second = (tag.replace("_", "-").split("-") for tag in (one, other))
    scripts = [{part.title() for part in tag[1:] if len(part) == 4} for tag in (first, second)]
    if all(scripts) and scripts[0] != scripts[1]:
        return False
    codes = _two_letters()
    known = (codes.get(tag[0].lower(), tag[0].lower()) for tag in (first, second))
    return len(set(known)) == 1
