"""English names of languages, and which tag a name or another tag of the same language stands for.

Prompts name languages, because a model understands “Plains Cree” better than ``crk``. Headers of tables name
them too, by a tag of ISO 639-1 or 639-3, with or without a script, or by the English name.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from corpora.languages.tags import is_language_tag

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
