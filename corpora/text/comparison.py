"""How two texts are compared, and what a text is made of (METRICS §0)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from itertools import chain, takewhile
from typing import Any

# ---- One form for characters that look alike or have no width, made before words are cut
# (METRICS §0).
#
# Every metric of every pack reads a text in this form, so that a hyphen from another keyboard is
# no wrong word. What is changed: hyphens, apostrophes, middle dots and marks that look like
# another one; characters that nobody sees, joiners only where the script has no use for them; and
# syllabics that are drawn alike. Dashes and apostrophes count inside words alone. Letters of
# several scripts that look alike stay apart: mixing them is a fault that people must learn of.
# Marks of one sound (macron, circumflex) differ to the eye; the rules of a language know them.
#
# A text without such characters is returned as it is, so that chrF, BLEU and TER equal
# sacreBLEU's there. Where a text has only one form of each, counts of n-grams inside words do not
# change either.

FORM = "alike2"
"""Names this form in signatures; it changes whenever a text could come out otherwise."""
EARLIER_FORM = "alike1"
"""The form of runs and cards of before: without what is in ``_MORE``, ``_SAME`` and ``_SAME_IN``."""
FORMS = (FORM, EARLIER_FORM)
HYPHENS = "\u2010\u2011\ufe63\uff0d"
"""Hyphens wherever they stand."""
DASHES = "\u2012\u2013\u2212\u2043\u02d7"
"""What is typed for a hyphen, and is a dash or minus outside of words."""
APOSTROPHES = "’ʼ‘ʻ`´′＇ꞌ‛"
DOTS = "‧∙⋅ꞏ"
MARKS = {"\u0315": "\u0313", "\u0332": "\u0331"}
"""Combining marks that are drawn as another one: comma above right, low line."""
UNSEEN = "".join(map(chr, (
    0xAD, 0x34F, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2065),
    *range(0x2066, 0x2070), *range(0xFE00, 0xFE0F), 0xFEFF,
)))  # fmt: skip
"""Characters without width that no word needs."""
_ANNOTATIONS = "".join(map(chr, (
    *range(0x09), *range(0x0E, 0x1C), *range(0x7F, 0x85), *range(0x86, 0xA0), 0x17B4, 0x17B5, 0x2065, *range(0xFFF0, 0xFFFC),
    *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE0020), *range(0xE0080, 0xE1000),
)))  # fmt: skip
"""Control characters, and the rest of what Unicode calls ignorable (DerivedCoreProperties) that pictures do not need."""
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and a sign that are drawn as a blank."""
JOINERS = "\u200c\u200d"
SELECTORS = "\u180b-\u180d\u180f\ufe0f"
"""Choose the drawing of the letter or picture before them."""
_MORE = {"apostrophes": "ʽʾˈʹˊˋ‵｀Ꞌ՚׳᾽᾿´΄", "dashes": "֊", "dots": "•・･"}
"""Further characters that Unicode's table of confusables calls alike, within words."""
_SAME = {
    "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "ĳ": "ij", "Ĳ": "IJ", "ŉ": "ʼn",
    "µ": "μ", "ǝ": "ə", "Ɂ": "ʔ", "ӏ": "Ӏ", "༌": "་", "ํา": "ำ", "เเ": "แ", "ໍາ": "ຳ",
    "ന്\u200d": "ൻ", "ണ്\u200d": "ൺ", "ര്\u200d": "ർ", "ല്\u200d": "ൽ", "ള്\u200d": "ൾ", "ക്\u200d": "ൿ",
    "\u3164": " ", "\uffa0": " ",
}  # fmt: skip
"""What is drawn the same wherever it stands (compatibility forms, confusables, chillus of the Unicode Standard §12.9)."""
_PERSIAN = {"ي": "ی", "ى": "ی", "ك": "ک"}
_WESTERN_FINALS = {"ᕀ": "ᐩ", "ᑦ": "ᒼ", "ᕁ": "ᕽ"}
"""Look-alikes of the package cree-sro-syllabics."""
_SAME_IN = {
    **dict.fromkeys(("cr", "crk", "csw", "cwd"), _WESTERN_FINALS), **dict.fromkeys(("fa", "ur", "ckb"), _PERSIAN),
    "ro": {"ş": "ș", "ţ": "ț", "Ş": "Ș", "Ţ": "Ț"}, "he": {"״": '"'},
}  # fmt: skip
"""Language → letters that its writing has once, and that are typed as those of another language."""
_OKINA = frozenset({"haw", "sm", "to", "ty", "rar", "rap"})
"""Languages in which the turned comma is a letter, typed as any apostrophe."""
_ALIKE_LETTERS = {"sms": "ʹ"}
"""Language → its letter that is typed as an apostrophe."""
_EASTERN = frozenset({"crl", "crj", "crm", "moe", "nsk", "atj", "oj", "ojs", "ojb"})
"""Languages whose syllabics have the dot for w on the left."""
_DOT = "\u1427"
_SHAPERS = (
    "\u0600-\u07ff\u08a0-\u08ff\u0900-\u109f\u1780-\u18af\u1b00-\u1b7f\ua980-\ua9df\ufb50-\ufdff\ufe70-\ufefc"
    "\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"
)
"""Scripts whose letters join, or do not, by an invisible character; and pictures, which are joined so."""
_LETTER = r"[^\W\d_]"
_MARK = "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u0652\u0900-\u0dff\u1ab0-\u1aff\u1dc0-\u1dff]"
"""Marks that are on letters."""


def _within(characters: str) -> str:
    """Return a pattern for one of some characters between letters; the one before may bear marks."""
    return f"[{characters}](?:(?<={_LETTER}.)|(?<={_MARK}.))(?={_LETTER})"


def alike(text: str, language: str = "", form: str = FORM) -> str:
    """Return a text in which characters that look alike are one, and those without width are gone.

    ``language``: shortest tag of the text's language, whose letters may look like marks of others. ``form``: one of
    ``FORMS``.
    """
    marked = language in _OKINA or language in _ALIKE_LETTERS
    typed = "`" in text or (marked and "'" in text)
    plain = text.isascii() and (text.isprintable() or form == EARLIER_FORM)
    if not typed and (plain or not _special().search(text)):
        return text
    if form != EARLIER_FORM:
        for written, other in (_SAME | _SAME_IN.get(language, {})).items():
            text = text.replace(written, other)
    for characters, pattern, other in _steps(language, form):
        if not characters.isdisjoint(text):
            text = pattern.sub(other, text)
    if form != EARLIER_FORM:
        text = _DOTTED.sub(_DOT, text)
    apart = text.translate(_taken_apart())
    if _DOT not in apart:
        return text
    for pattern, whole in _put_together(eastern=language in _EASTERN):
        apart = pattern.sub(lambda match, whole=whole: whole[match[0]], apart)  # type: ignore[misc]
    return apart


_SYLLABIC = "[\u1401-\u166c\u166f-\u167f\u18b0-\u18f5]"
_DOTTED = re.compile(f"(?<={_SYLLABIC})[·{DOTS}]|[·{DOTS}](?={_SYLLABIC})")
"""The dot for w as it is typed on other keyboards."""


def without_unseen(text: str) -> str:
    """Return a text without any character that has no width, joiners too: what is left is seen."""
    return text if text.isascii() and text.isprintable() else _unseen().sub("", text)


def mixtures(texts: Sequence[str]) -> dict[str, dict[str, list[int]]]:
    """Return kind → form → places of the texts with it, for each kind of which there are two forms.

    The plain form counts: hyphens are mixed where U+2011 and ``-`` are in words. Of characters without width,
    one is too many.
    """
    present = set[str]()
    for text in texts:
        if not text.isascii():
            present.update(text)
    places_by_form: dict[str, dict[str, list[int]]] = {}
    for kind, (odd, pattern) in _kinds().items():
        if odd.isdisjoint(present):
            continue
        for place, text in enumerate(texts):
            for form in {_form(variant) for variant in pattern.findall(text)}:
                places_by_form.setdefault(kind, {}).setdefault(form, []).append(place)
    return {kind: of for kind, of in places_by_form.items() if len(of) > 1 or kind == NO_WIDTH}


NO_WIDTH = "characters without width"


def _form(found: str) -> str:
    """Name a form: a character by its number; syllables with a dot by whether it is one with them."""
    if found in _western() or found in _eastern():
        return "dot and syllable as one character"
    return "dot and syllable as two" if len(found) > 1 else f"U+{ord(found):04X}"


@cache
def _unseen() -> re.Pattern[str]:
    return re.compile(f"[{_ranges(UNSEEN + _ANNOTATIONS)}{_FILLERS}{JOINERS}{SELECTORS}\U000e0020-\U000e007f]")


def _ranges(characters: str) -> str:
    """Return characters as ranges of a pattern's class: a search looks at each character of it beyond U+FFFF in turn."""
    codes = sorted(map(ord, characters))
    first = [code for at, code in enumerate(codes) if not at or codes[at - 1] != code - 1]
    last = [code for at, code in enumerate(codes) if at + 1 == len(codes) or codes[at + 1] != code + 1]
    return "".join(f"\\U{one:08x}-\\U{other:08x}" for one, other in zip(first, last, strict=True))


@cache
def _special() -> re.Pattern[str]:
    """Match a text that may change: one of the characters above, or a syllabic with a dot."""
    composed = "".join((*_western(), *_eastern()))
    same = "".join({letter for table in (_SAME, *_SAME_IN.values()) for letter in "".join(table)})
    hyphens, marks = f"{HYPHENS}{DASHES}{''.join(_MORE.values())}", f"{APOSTROPHES}ʹ·{DOTS}{''.join(MARKS)}"
    return re.compile(f"[{hyphens}{marks}{_ranges(UNSEEN + _ANNOTATIONS)}{JOINERS}{SELECTORS}{_DOT}{composed}{same}]")


@lru_cache(maxsize=64)
def _steps(language: str, form: str) -> tuple[tuple[frozenset[str], re.Pattern[str], str], ...]:
    """Return what is replaced, in order: characters of which one must be in a text, pattern, replacement."""
    okina = language in _OKINA
    letter = "ʻ" if okina else _ALIKE_LETTERS.get(language, "'")
    marks = APOSTROPHES.replace(letter, "") + ("'" if letter != "'" else "")
    unseen, selectors, dashes, dots = UNSEEN, "", DASHES, DOTS
    if form != EARLIER_FORM:
        unseen, selectors = UNSEEN + _ANNOTATIONS, "\u180b\u180c\u180d\u180f\ufe0f"
        marks, dashes, dots = (
            marks + _MORE["apostrophes"].replace(letter, ""),
            dashes + _MORE["dashes"],
            dots + _MORE["dots"],
        )
    steps = [
        (unseen, f"[{_ranges(unseen)}]", ""),
        (JOINERS + selectors, f"(?<![{_SHAPERS}])[{JOINERS}{selectors}]", ""),
        (HYPHENS, f"[{HYPHENS}]", "-"),
        (dashes, _within(dashes), "-"),
        (marks, _within(marks), letter),
        (dots, _within(dots), "·"),
        *((mark, mark, other) for mark, other in MARKS.items()),
    ]
    if okina:  # the letter begins words too; a quotation closes at the end of one
        begins = rf"(?<!\w)['‘`’](?={_LETTER})(?!.*{_LETTER}['’](?!\w))"
        steps.append(("'‘`’", begins, letter))
    return tuple((frozenset(odd), re.compile(pattern), other) for odd, pattern, other in steps)


@cache
def _kinds() -> dict[str, tuple[frozenset[str], re.Pattern[str]]]:
    """Return kind → its odd forms, one of which makes a mixture, and a pattern of all, the plain one among them."""
    apart = [f"{syllabic}{_DOT}" for syllabic in _western().values()]
    apart += [f"{_DOT}{syllabic}" for syllabic in _eastern().values()]
    unseen = f"\u00ad\u034f\u180e\u200b\u2060-\u2064{JOINERS}"
    kinds = {
        "hyphens": (HYPHENS + DASHES, _within(f"-{HYPHENS}{DASHES}")),
        "apostrophes": (APOSTROPHES + _MORE["apostrophes"], _within(f"'{APOSTROPHES}{_MORE['apostrophes']}")),
        "middle dots": (DOTS + _MORE["dots"], _within(f"·{DOTS}{_MORE['dots']}")),
        "commas above": ("\u0315", "[\u0313\u0315]"),
        "lines below": ("\u0332", "[\u0331\u0332]"),
        NO_WIDTH: (UNSEEN + JOINERS, f"(?<![{_SHAPERS}])[{unseen}]"),
        "syllables": (_DOT, "|".join((*_western(), *_eastern(), *apart))),
    }
    return {kind: (frozenset(odd), re.compile(pattern)) for kind, (odd, pattern) in kinds.items()}


# Syllabics. The dot for w is a character of its own or part of the syllable: ᐚ is drawn as ᐋᐧ, and ᐙ as ᐧᐋ. A text is
# taken apart and put together again, the dot with the syllable of that side on which the language has it. So ᐋᐧᐸ
# and ᐚᐸ become one, and a text that is written in one way comes out as it was.


@cache
def _western() -> Mapping[str, str]:
    """Return syllables with the dot on the right → without it."""
    return dict(_with_dot("WEST-CREE "))


@cache
def _eastern() -> Mapping[str, str]:
    """Return syllables with the dot on the left → without it."""
    return dict(_with_dot(""))


def _with_dot(prefix: str) -> Iterator[tuple[str, str]]:
    """Yield syllables by their Unicode names: ``CANADIAN SYLLABICS WEST-CREE PWAA`` is ``PAA`` with a dot."""
    named = re.compile(rf"CANADIAN SYLLABICS {prefix}([A-Z]*?)W([AEIO]+)")
    for code in range(0x1401, 0x1680):
        match = named.fullmatch(unicodedata.name(chr(code), ""))
        if match is not None:
            try:
                yield chr(code), unicodedata.lookup(f"CANADIAN SYLLABICS {match[1]}{match[2]}")
            except KeyError:
                continue


@cache
def _taken_apart() -> dict[int, str]:
    right = {ord(whole): f"{plain}{_DOT}" for whole, plain in _western().items()}
    return right | {ord(whole): f"{_DOT}{plain}" for whole, plain in _eastern().items()}


@cache
def _put_together(*, eastern: bool) -> tuple[tuple[re.Pattern[str], dict[str, str]], ...]:
    right = {f"{plain}{_DOT}": whole for whole, plain in _western().items()}
    left = {f"{_DOT}{plain}": whole for whole, plain in _eastern().items()}
    ways = (left, right) if eastern else (right, left)
    return tuple((re.compile("|".join(map(re.escape, way))), way) for way in ways)


MOST_STACKED = 30
"""Combining marks in a row; no writing has more (Unicode's stream-safe text format, UAX #15)."""
_NO_LETTERS = re.compile(r"[\W_]+")

SCRIPTS = (
    "Latin", "Canadian_Aboriginal", "Cherokee", "Cyrillic", "Greek", "Arabic", "Hebrew",
    "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada",
    "Malayalam", "Sinhala", "Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Georgian", "Armenian",
    "Ethiopic", "Hangul", "Han", "Hiragana", "Katakana", "Bopomofo", "Mongolian", "Syriac",
    "Thaana", "Nko", "Tifinagh", "Vai", "Yi", "Javanese", "Balinese", "Sundanese", "Cham",
    "Adlam", "Osage", "Deseret", "Ol_Chiki", "Coptic", "Gothic", "Runic", "Ogham", "Lisu",
    "Meetei_Mayek", "Saurashtra", "Tai_Le", "New_Tai_Lue", "Tai_Tham", "Tai_Viet", "Limbu",
    "Lepcha", "Bamum", "Hanifi_Rohingya", "Warang_Citi", "Medefaidrin", "Nyiakeng_Puachue_Hmong",
    "Pahawh_Hmong", "Miao", "Wancho", "Mro", "Chakma", "Newa", "Tagalog", "Hanunoo", "Buhid",
    "Tagbanwa", "Buginese", "Rejang", "Kayah_Li",
)  # fmt: skip
"""Unicode scripts that living languages are written in; letters of any other count as ``Other``."""


class NormalForm(StrEnum):
    """Which Unicode normal form a text is in, where the two canonical forms differ for it."""

    NFC = "NFC"
    NFD = "NFD"
    EITHER = "either"
    """The text is the same in both forms."""
    NEITHER = "neither"


@lru_cache(maxsize=1024)
def comparison_form(text: str) -> str:
    """Return the form in which texts are compared: NFC, stripped, runs of white space folded.

    Typing and copying change these three, and no reader sees a difference; case and punctuation stay. Kept for as many
    texts as outputs and references are scored together, several metrics and floors asking of each.
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


@lru_cache(maxsize=8192)
def bare_form(text: str) -> str:
    """Return a text without digits, punctuation, symbols, case and spacing; itself where nothing else is in it."""
    bare = unicodedata.normalize("NFC", text).translate(_LETTERS).casefold()
    return " ".join(bare.split()) or comparison_form(text)


class _Letters(dict[int, str]):
    """Keeps letters and marks, and gives a blank for digits, punctuation, symbols and controls."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = " " if unicodedata.category(letter)[0] in "NPSC" else letter
        return self[code]


_LETTERS = _Letters()


def normalised(text: str) -> str:
    """Return a text without case, spaces, marks of punctuation and differences of writing that NFKC knows."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _NO_LETTERS.sub("", folded) or folded.strip()


def is_blank(text: str) -> bool:
    """Return whether nothing of a text would be seen: it is empty, white space or zero-width."""
    stripped = text.strip()
    first = stripped[:1]
    seen = first.isalnum() and first not in _FILLERS
    return not stripped or not (seen or "".join(without_unseen(stripped).split()))


def stacked(text: str) -> bool:
    """Return whether more than ``MOST_STACKED`` combining marks are in a row anywhere.

    Bringing such a text into a normal form takes time by the square of the row. This takes linear time: a
    row that long holds one of every ``MOST_STACKED`` + 1 places, so only rows around those are counted.
    """
    if text.isascii():
        return False
    step = MOST_STACKED + 1
    return any(
        unicodedata.combining(text[place]) and _row_around(text, place) > MOST_STACKED
        for place in range(MOST_STACKED, len(text), step)
    )


def _row_around(text: str, place: int) -> int:
    """Return how many marks are in a row around a place, counted no further than needed."""
    before = takewhile(unicodedata.combining, reversed(text[max(0, place - MOST_STACKED) : place]))
    behind = takewhile(unicodedata.combining, text[place : place + MOST_STACKED + 1])
    return sum(1 for _ in chain(before, behind))


def normal_form(text: str) -> NormalForm:
    """Return which canonical normal form a text is in; mixed forms disturb every string metric."""
    if text.isascii():
        return NormalForm.EITHER
    composed = unicodedata.is_normalized("NFC", text)
    decomposed = unicodedata.is_normalized("NFD", text)
    if composed and decomposed:
        return NormalForm.EITHER
    if composed:
        return NormalForm.NFC
    return NormalForm.NFD if decomposed else NormalForm.NEITHER


def scripts(texts: Iterable[str]) -> dict[str, float]:
    """Return the share (0–1) of letters by Unicode script, largest first; empty where no letter is.

    Whether a corpus is in roman letters or syllabics is read from the texts, because tables of
    likely scripts are wrong for several languages.
    """
    characters: Counter[str] = Counter()
    for text in texts:
        characters.update(text)
    counts: Counter[str] = Counter()
    for character, count in characters.items():
        if character.isalpha():
            counts[script_of(character)] += count
    total = counts.total()
    return {script: count / total for script, count in counts.most_common()}


@cache
def script_of(letter: str) -> str:
    """Name the Unicode script of one letter, ``Other`` where it is none of SCRIPTS."""
    match = _script_pattern().match(letter)
    return str(match.lastgroup) if match else "Other"


@cache
def _script_pattern() -> Any:
    """Compile one alternative per script; ``regex`` is loaded only when a script is asked for."""
    import regex  # noqa: PLC0415  it would double the time that reading a corpus needs to start

    return regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in SCRIPTS))
