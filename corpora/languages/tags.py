"""Tags of languages, varieties, spelling systems and scripts, and the names that they stand for.

Prompts name languages, because a model understands “Plains Cree” better than ``crk``. Headers of tables name
them too, by a tag of ISO 639-1 or 639-3, with or without a script, or by the English name. Scripts have the
codes of ISO 15924 (METRICS §0).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from corpora.files.decode import open_regular
from corpora.text.comparison import is_blank
from corpora.text.messages import near_names

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


def texts_script(shares: Mapping[str, float]) -> str | None:
    """Return the script (ISO 15924) of most letters of texts with these shares of scripts, None where nothing tells."""
    kana = shares.get("Hiragana", 0.0) + shares.get("Katakana", 0.0)
    if kana > LEAST_KANA:
        return "Jpan"
    if shares.get("Hangul", 0.0) > LEAST_KANA and "Han" in shares:
        return "Kore"
    return CODES.get(next(iter(shares), ""))


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

_NOT_LANGUAGES = frozenset({
    "txt", "src", "ref", "trg", "tgt", "hyp", "out", "dev", "tst", "trn", "raw", "tok", "bpe",
    "dat", "old", "new", "in", "doc", "bak", "csv", "tsv", "tab", "mt", "sys", "no", "nr", "run", "war",
})  # fmt: skip
"""Parts of file names, and headers, that have the shape of a language tag and mean something else."""
_FLORES_NAME = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}")


def is_language_tag(tag: str) -> bool:
    """Return whether a tag is well-formed by BCP 47.

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
    """Return what is wrong with the name of a variety or orthography, and its fix; None where nothing is."""
    if is_blank(tag):
        return "It is blank.", "Write a name, or leave the field out."
    if len(tag) > _LONGEST_TAG or not tag.isprintable():
        what = f"longer than {_LONGEST_TAG} characters, or with characters that nobody sees"
        return f"It is no name: {what}.", "Write a short name; explanations go into notes."
    return None


_SCRIPTS = {
    "Arab": "Arabic script", "Cans": "Canadian Aboriginal syllabics", "Cher": "Cherokee syllabary",
    "Cyrl": "Cyrillic script", "Deva": "Devanagari", "Ethi": "Ethiopic script",
    "Hans": "simplified characters", "Hant": "traditional characters", "Hebr": "Hebrew script",
    "Latn": "Latin script", "Tfng": "Tifinagh", "Tibt": "Tibetan script",
}  # fmt: skip


class _Languages(NamedTuple):
    """What ``languages.txt`` says."""

    names: dict[str, str]
    """Shortest tag → English name."""
    shortest: dict[str, str]
    """Every tag with a name → the shortest one that means the same."""
    by_name: dict[str, str]
    """Folded name → shortest tag, the first where two have it."""
    assigned: frozenset[str]
    """All tags of two and three letters that mean a language."""


@cache
def _languages() -> _Languages:
    """Read the one table of languages."""
    text = Path(__file__).with_name("languages.txt").read_text(encoding="utf-8")
    named, registry = text.split("\n\n")
    names: dict[str, str] = {}
    shortest: dict[str, str] = {}
    by_name: dict[str, str] = {}
    for line in named.splitlines():
        tags, _, name = line.partition(" ")
        if tags == "#":
            continue
        first, *others = tags.split(",")
        names[first] = name
        shortest |= dict.fromkeys((first, *others), first)
        for spelling in (name, name.partition(" (")[0]):
            by_name.setdefault(_folded(spelling), first)
    _, two, *groups = registry.splitlines()
    three = (f"{begin}{letter}" for begin, ends in map(str.split, groups) for letter in ends)
    return _Languages(names, shortest, by_name, frozenset((*shortest, *two.split(), *three)))


_SEVERAL_SCRIPTS = frozenset({
    "az", "aze", "azj", "bal", "bs", "chp", "chr", "ciw", "cr", "cre", "crj", "crk", "crl", "crm",
    "csw", "cwd", "den", "dene", "gwi", "ha", "hau", "hi", "hin", "ike", "ikt", "iku", "iu", "ja",
    "jpn", "kk", "kaz", "ks", "ku", "kur", "lkt", "mn", "mon", "ms", "msa", "oj", "oji", "ojb",
    "ojs", "ojw", "otw", "pa", "pan", "sd", "sh", "sr", "srp", "tg", "tgk", "tk", "tuk", "tt",
    "tat", "ug", "uig", "ur", "urd", "uz", "uzb", "uzn", "yi", "zh", "zho",
})  # fmt: skip
"""Languages of which a prompt says that Latin letters are meant, since they have other writings too."""


def language_name(tag: str) -> str:
    """Return the English name of a language by its BCP 47 tag: “Plains Cree (Canadian Aboriginal syllabics)”.

    Tags that mean one language have one name: ``en`` and ``eng``, ``qu`` and ``quy``. A tag that is not in the
    table is returned as it is; users can give names of their own.
    """
    language, *rest = tag.replace("_", "-").split("-")
    name = _languages().names.get(_shortest(language))
    if name is None:
        return tag
    if language.lower() not in _SEVERAL_SCRIPTS:
        rest = [part for part in rest if part.title() != "Latn"]  # data sets write eng_Latn
    notes = [_SCRIPTS.get(part.title(), part) for part in rest]
    return f"{name} ({', '.join(notes)})" if notes else name


def has_name(tag: str) -> bool:
    """Return whether the table names the language of a tag."""
    return language_of(tag) in _languages().names


def is_assigned(tag: str) -> bool:
    """Return whether the language of a well-formed tag is registered, or one for private use (``qaa``, ``x-…``)."""
    language = tag.replace("_", "-").split("-")[0].lower()
    if language == "x" or re.fullmatch("q[a-t][a-z]", language):
        return True
    return language in _languages().assigned


def language_of(tag: str) -> str:
    """Return the shortest tag of a language, without script, region or variant: ``qu`` for ``quy-Latn``."""
    return _shortest(re.split("[-_]", tag)[0])


def _shortest(language: str) -> str:
    return _languages().shortest.get(language.lower(), language.lower())


def _folded(name: str) -> str:
    """Return a name without case, accents and signs."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if letter.isalnum())


def tag_of(text: str) -> str | None:
    """Return the language tag that a header cell or key stands for, None where it names no known language.

    ``eng_Latn`` becomes ``eng-Latn``, and ``Māori`` or ``maori`` becomes ``mi``; case is that of BCP 47.
    """
    tag = text.strip().replace("_", "-")
    language = tag.split("-")[0].lower()
    known = language in _languages().shortest and language not in _NOT_LANGUAGES
    if known and is_language_tag(tag):
        return tidy(tag)
    return _languages().by_name.get(_folded(text)) if len(text) <= _LONGEST_NAME else None


_LONGEST_NAME = 60


def as_tag(text: str) -> str:
    """Return the tag that an option or envelope means by a text, read as headers are; else the text itself.

    A well-formed tag stays as it is written; ``eng_Latn`` becomes ``eng-Latn`` and ``English`` ``en``.
    """
    if is_language_tag(text):
        return text
    plain = tidy(text)
    return tag_of(text) or (plain if is_language_tag(plain) else text)


def tidy(tag: str) -> str:
    """Return a tag with hyphens, in the case that BCP 47 recommends: ``QUZ_latn_pe`` becomes ``quz-Latn-PE``."""
    first, *rest = tag.strip().replace("_", "-").split("-")
    return "-".join((first.lower(), *map(_cased, rest)))


def _cased(part: str) -> str:
    if len(part) == 4 and part.isalpha():
        return part.title()
    return part.upper() if len(part) == 2 else part.lower()


def equal_tags(one: str, other: str) -> bool:
    """Return whether two tags say the same: ``en`` and ``eng`` do, ``en`` and ``en-GB`` do not."""
    first, second = ((_shortest(tag[0]), *tag[1:]) for tag in map(_parts, (one, other)))
    return first == second


def same_language(one: str, other: str) -> bool:
    """Return whether two tags may mean one language: ``en`` and ``eng-Latn`` do, of two scripts none does."""
    first, second = map(_parts, (one, other))
    if _shortest(first[0]) != _shortest(second[0]):
        return False
    scripts = {told_script("-".join(tag)) for tag in (first, second)}
    return None in scripts or len(scripts) == 1


def told_script(tag: str) -> str | None:
    """Return the script that a tag names, or tells by its region: ``zh-TW`` is in traditional characters; else None."""
    parts = tag.casefold().replace("_", "-").split("-")
    of_region = (_REGION_SCRIPTS.get(f"{_shortest(parts[0])}-{part}") for part in parts[1:])
    return tag_script(tag) or next(filter(None, of_region), None)


_REGION_SCRIPTS = {
    "zh-tw": "Hant", "zh-hk": "Hant", "zh-mo": "Hant", "zh-cn": "Hans", "zh-sg": "Hans", "yue-hk": "Hant", "yue-cn": "Hans",
    "pa-in": "Guru", "pa-pk": "Arab", "uz-uz": "Latn", "uz-af": "Arab", "az-az": "Latn", "az-ir": "Arab",
    "mn-mn": "Cyrl", "mn-cn": "Mong", "kk-kz": "Cyrl", "kk-cn": "Arab", "sd-pk": "Arab", "sd-in": "Deva",
}  # fmt: skip
"""Source: Unicode CLDR, likelySubtags."""


def _parts(tag: str) -> list[str]:
    return as_tag(tag).replace("_", "-").casefold().split("-")


# ---- The family of a language, as Glottolog groups them: languages of one family are alike in
# much that metrics look at.


def family_of(tag: str) -> str | None:
    """Return the name of a language's family, such as ``Algic`` for ``crk-Cans``; None where the table has none."""
    return _families().get(language_of(tag))


@cache
def _families() -> dict[str, str]:
    text = Path(__file__).with_name("families.txt").read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return {tag: family for family, _, tags in lines for tag in tags.split()}


# ---- The files of language cards. A file is named for its card's tag, so that a card is found without reading the others;
# only a tag that no file is named for is looked for among the aliases. What is read of a file here costs no model.

SHIPPED = Path(__file__).parent / "shipped"
"""Folder of the cards in the wheel."""
LARGEST_CARD = 1_000_000
"""Bytes of a card."""


class CardNames(NamedTuple):
    """By which names a language and its analysers go: what finding an analyser needs of a card."""

    tag: str
    name: str
    aliases: Sequence[str]
    analysers: Sequence[str]


def list_cards(folders: Sequence[Path] = ()) -> Iterator[Path]:
    """Return the files of all cards by name; a user's own in ``folders`` stands for the shipped one."""
    paths: dict[str, Path] = {}
    for folder in (SHIPPED, *reversed(folders)):
        for path in folder.glob("*.toml"):
            own = path if folder == SHIPPED else card_file(path.stem, SHIPPED)
            paths[own.stem if own else path.stem] = path
    return iter(paths[name] for name in sorted(paths))


def shipped_names(path: Path) -> CardNames:
    """Read the names of a card that ships; tests hold that they are what ``cards.read_card`` reads."""
    content = path.read_bytes()
    name = re.search(rb'^name = "(.*)"$', content, re.MULTILINE)
    english = name[1].decode() if name else ""
    return CardNames(path.stem, english, _listed(b"aliases", content), _listed(b"analysers", content))


def _listed(name: bytes, content: bytes) -> list[str]:
    """Return the names in a list of a card, which is not read for it; none where it has no such list."""
    listed = re.search(rb"^%b[ \t]*=[ \t]*\[([^\]]*)\]" % name, content, re.MULTILINE)
    return [] if listed is None else [quoted.decode("ascii") for quoted in _QUOTED.findall(listed[1])]


_QUOTED = re.compile(rb"[\"']([\w.-]+)[\"']")


def card_file(language: str, folder: Path) -> Path | None:
    """Find the file that is named for a language, else the one that lists it among its aliases."""
    path = folder / f"{language}.toml"
    if path.is_file():
        return path
    for other in sorted(folder.glob("*.toml")):
        # A card is not read for its aliases; one that cannot be read has none.
        with suppress(OSError), open_regular(other) as file:
            if language in _listed(b"aliases", file.read(LARGEST_CARD)):
                return other
    return None
