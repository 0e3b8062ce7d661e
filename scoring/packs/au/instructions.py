"""Instruction following: which of the instructions of a record its answer keeps (IFEval; au-harness-metrics)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import numpy as np
import regex

from corpora.files.json_types import JsonObject
from corpora.text.comparison import scripts
from corpora.text.tokens import composed, folded
from scoring.core.metric import FloatArray, Metric, Statistics, own_signature, share
from scoring.core.packs import pack_metric
from scoring.core.setup import Translation
from scoring.metrics.maker import Maker
from scoring.packs.au.structured import NO_JSON, json_answer
from scoring.words.source_words import source_word_list

# ---- Which language an answer is written in: by its letters, and by the common words of
# languages that share them.
#
# The words are the lists of the package ``wordfreq``; without it, or without a list of the
# language, only scripts that one language has for itself can be told.

_SCRIPTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("ar", "fa", "ur"), ("Arabic",)),
    **dict.fromkeys(("bg", "mk", "ru", "uk"), ("Cyrillic",)),
    **dict.fromkeys(("hi", "mr", "ne"), ("Devanagari",)),
    "bn": ("Bengali",),
    "el": ("Greek",),
    "gu": ("Gujarati",),
    "he": ("Hebrew",),
    "ja": ("Hiragana", "Katakana", "Han"),
    "kn": ("Kannada",),
    "ko": ("Hangul",),
    "ml": ("Malayalam",),
    "pa": ("Gurmukhi",),
    "ta": ("Tamil",),
    "te": ("Telugu",),
    "th": ("Thai",),
    "zh": ("Han",),
}
_ROMAN = ("Latin",)
_LATIN = "en es pt fr de it pl vi fi nl sv tr id ro cs hu"
"""Languages in roman letters that are told apart."""
_KANA = 0.05
"""Share of letters from which Chinese characters are Japanese."""
_MOSTLY = 0.5
"""Share of letters that must be of the language's script."""
_COMMON = 0.2
"""Least share of an answer's words that are among the 5,000 most common of its language."""
_WORD = regex.compile(r"[\p{L}\p{M}]{2,}")


class UndecidedError(ValueError):
    """It cannot be told here whether a text is in a language; says why."""


def written_in(text: str, language: str) -> bool:
    """Return whether a text is in a language, by its two-letter code; UndecidedError where it cannot be told."""
    expected = _SCRIPTS.get(language, _ROMAN)
    shares = scripts([text])
    if sum(shares.get(script, 0.0) for script in expected) < _MOSTLY:
        return False
    if "Han" in expected:
        kana = shares.get("Hiragana", 0.0) + shares.get("Katakana", 0.0)
        return (kana >= _KANA) is (language == "ja")
    others = [tag for tag in (*_SCRIPTS, *_LATIN.split()) if _SCRIPTS.get(tag, _ROMAN) == expected]
    if others == [language]:
        return True
    words = list(map(folded, _WORD.findall(text)))
    lists = {tag: source_word_list(tag) for tag in {language, *others}}
    if lists[language][1] is None:
        raise UndecidedError(f"there is no list of words here by which {language!r} is known")
    known = {tag: sum(word in common for word in words) for tag, (common, _) in lists.items()}
    return known[language] >= max(_COMMON * len(words), *known.values())


def word_lists_key() -> str:
    """Name the lists in a signature."""
    try:
        return f"wordfreq-{version('wordfreq')}"
    except PackageNotFoundError:
        return "none"


# ---- The 25 instructions of IFEval (Zhou et al. 2023) that a program can check, by id ----
#
# Each check gets the answer and the instruction's arguments, as a record has them. Keywords,
# markers and phrases are texts, never patterns, so that no record can bring a pattern that takes
# for ever. What a record leaves open is not made up: the published code draws a number or word at
# random there.

Asked = JsonObject
Check = Callable[[str, Asked], bool]
_LARGEST = 1_000_000
_LONGEST = 10_000
"""Letters of a keyword, marker or prompt."""
_MOST_WORDS = 100
"""Keywords of one instruction."""
_NUMBERED_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]++")
_JOINED_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]++(?:[-'’][\p{L}\p{M}\p{N}]++)*+")
_ABBREVIATION = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|e\.g|i\.e|[A-Z])\.(?=\s)")
_SENTENCE_END = re.compile(r"[.!?…]++[\"'”’)\]]*+(?=\s|\Z)|[。！？।॥።។]++")
_BULLET = re.compile(r"^[^\S\n]*+(?:\*[^*]|-)", re.MULTILINE)
_HIGHLIGHT = re.compile(r"\*[^\n*]*\*")
_STRONG_HIGHLIGHT = re.compile(r"\*\*([^\n*]*)\*\*")
_PLACEHOLDER = re.compile(r"\[[^\[\]\n]*\]")
_PARAGRAPH = re.compile(r"\s?\*\*\*\s?")
_POSTSCRIPTS = {"P.S.": re.compile(r"p\.\s?s\."), "P.P.S": re.compile(r"p\.\s?p\.\s?s")}
_FIXED_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


class UnreadableError(ValueError):
    """A record does not say what its instruction asks; names the field."""


def _number(asked: Asked, field: str) -> int:
    value = asked.get(field)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LARGEST:
        raise UnreadableError(f"{field} must be a number from 0 to {_LARGEST:,}")
    if value != int(value):
        raise UnreadableError(f"{field} must be a whole number")
    return int(value)


def _text(asked: Asked, field: str) -> str:
    value = asked.get(field)
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
        raise UnreadableError(f"{field} must be a text of at most {_LONGEST:,} letters")
    return composed(value.strip())


def _texts(asked: Asked, field: str) -> list[str]:
    values = asked.get(field)
    if not isinstance(values, list) or not 0 < len(values) <= _MOST_WORDS:
        raise UnreadableError(f"{field} must be a list of at most {_MOST_WORDS} texts")
    return [_text({field: value}, field) for value in values]


def _compare(number: int, asked: Asked, least: str, relation: str = "relation") -> bool:
    """Compare a count with the required one: ``less than`` it, or ``at least`` it."""
    wanted = _number(asked, least)
    match asked.get(relation):
        case "less than":
            return number < wanted
        case "at least":
            return number >= wanted
        case _:
            raise UnreadableError(f"{relation} must be 'less than' or 'at least'")


def _no_forbidden_words(answer: str, asked: Asked) -> bool:
    text = answer.lower()
    words = (regex.escape(word.lower()) for word in _texts(asked, "forbidden_words"))
    return not any(
        regex.search(rf"(?<![\p{{L}}\p{{M}}\p{{N}}_]){word}(?![\p{{L}}\p{{M}}\p{{N}}_])", text) for word in words
    )


def _letter_frequency(answer: str, asked: Asked) -> bool:
    letter = _text(asked, "letter").lower()
    if len(letter) > 1:
        raise UnreadableError("letter must be one letter")
    return _compare(answer.lower().count(letter), asked, "let_frequency", "let_relation")


def _paragraphs(answer: str, asked: Asked) -> bool:
    pieces = [piece.strip() for piece in _PARAGRAPH.split(answer)]
    number = len(pieces) - (not pieces[0]) - (len(pieces) > 1 and not pieces[-1])
    return number == _number(asked, "num_paragraphs") and all(pieces[1:-1])


def _first_word(answer: str, asked: Asked) -> bool:
    number, place = _number(asked, "num_paragraphs"), _number(asked, "nth_paragraph")
    if not 1 <= place <= number:
        raise UnreadableError("nth_paragraph must be from 1 to num_paragraphs")
    wanted = _text(asked, "first_word").lower()
    pieces = [piece.strip() for piece in answer.split("\n\n")]
    if sum(map(bool, pieces)) != number or not pieces[place - 1]:
        return False
    first = pieces[place - 1].split()[0].lstrip("'").lstrip('"').lower()
    return re.split("[.,?!'\"]", first, maxsplit=1)[0] == wanted


def _postscript(answer: str, asked: Asked) -> bool:
    marker = _text(asked, "postscript_marker")
    pattern = _POSTSCRIPTS.get(marker)
    text = answer.lower()
    return marker.lower() in text if pattern is None else pattern.search(text) is not None


def _highlights(answer: str, asked: Asked) -> bool:
    plain = sum(bool(highlight.strip("*").strip()) for highlight in _HIGHLIGHT.findall(answer))
    strong = sum(bool(highlight.strip()) for highlight in _STRONG_HIGHLIGHT.findall(answer))
    return plain + strong >= _number(asked, "num_highlights")


def _title(answer: str, _: Asked) -> bool:
    for line in answer.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if start >= 0 and line[start : end + 2].lstrip("<").rstrip(">").strip() and end > start + 2:
            return True
    return False


def _two_answers(answer: str, _: Asked) -> bool:
    pieces = [piece.strip() for piece in answer.split("******")]
    given = [piece for piece in pieces if piece]
    return all(pieces[1:-1]) and len(given) == 2 and given[0] != given[1]


CHECKS: Mapping[str, Check] = {
    "keywords:existence": lambda answer, asked: all(
        word.lower() in answer.lower() for word in _texts(asked, "keywords")
    ),
    "keywords:frequency": lambda answer, asked: _compare(
        answer.lower().count(_text(asked, "keyword").lower()), asked, "frequency"
    ),
    "keywords:forbidden_words": _no_forbidden_words,
    "keywords:letter_frequency": _letter_frequency,
    "language:response_language": lambda answer, asked: written_in(answer, _text(asked, "language").lower()),
    "length_constraints:number_sentences": lambda answer, asked: _compare(
        sum(map(bool, map(_NUMBERED_WORD.search, _SENTENCE_END.split(_ABBREVIATION.sub(r"\1", answer))))),
        asked,
        "num_sentences",
    ),
    "length_constraints:number_paragraphs": _paragraphs,
    "length_constraints:number_words": lambda answer, asked: _compare(
        len(_NUMBERED_WORD.findall(answer)), asked, "num_words"
    ),
    "length_constraints:nth_paragraph_first_word": _first_word,
    "detectable_content:number_placeholders": lambda answer, asked: (
        len(_PLACEHOLDER.findall(answer)) >= _number(asked, "num_placeholders")
    ),
    "detectable_content:postscript": _postscript,
    "detectable_format:number_bullet_lists": lambda answer, asked: (
        len(_BULLET.findall(answer)) == _number(asked, "num_bullets")
    ),
    "detectable_format:constrained_response": lambda answer, _: any(fixed in answer for fixed in _FIXED_ANSWERS),
    "detectable_format:number_highlighted_sections": _highlights,
    "detectable_format:multiple_sections": lambda answer, asked: (
        len(re.findall(rf"\s?{re.escape(_text(asked, 'section_spliter'))}\s?\d+\s?", answer))
        >= _number(asked, "num_sections")
    ),
    "detectable_format:json_format": lambda answer, _: json_answer(answer) is not NO_JSON,
    "detectable_format:title": _title,
    "combination:two_responses": _two_answers,
    "combination:repeat_prompt": lambda answer, asked: (
        answer.strip().lower().startswith(_text(asked, "prompt_to_repeat").lower())
    ),
    "startend:end_checker": lambda answer, asked: (
        answer.strip().strip('"').lower().endswith(_text(asked, "end_phrase").lower())
    ),
    "startend:quotation": lambda answer, _: len(text := answer.strip()) > 1 and text[0] == text[-1] == '"',
    "change_case:capital_word_frequency": lambda answer, asked: _compare(
        sum(map(str.isupper, _JOINED_WORD.findall(answer))), asked, "capital_frequency", "capital_relation"
    ),
    "change_case:english_capital": lambda answer, _: written_in(answer, "en") and answer.isupper(),
    "change_case:english_lowercase": lambda answer, _: written_in(answer, "en") and answer.islower(),
    "punctuation:no_comma": lambda answer, _: "," not in answer,
}


MOST_INSTRUCTIONS = 32
"""Instructions of one record."""
MOST_LETTERS = 100_000
"""A longer answer keeps no instruction."""
_QUOTED = 60


class KeptInstruction(NamedTuple):
    """Whether an answer keeps an instruction: as it stands, and in one of its eight loose forms."""

    id: str
    strict: bool
    loose: bool

    @property
    def words(self) -> str:
        """Return whether it is kept."""
        return "kept" if self.strict else "kept only loosely" if self.loose else "not kept"


class _NoValueError(ValueError):
    """A record's instructions cannot be checked; says why."""


class InstructionFollowing(Metric):
    """Mean of four shares, 0–1, higher is better: of answers that keep all their instructions, and of instructions
    kept, each strictly and loosely.

    Loosely means that the answer keeps the instruction without its first line, its last, or both, or without
    asterisks. Statistics: (kept strictly, kept loosely, 1, instructions kept strictly, loosely, instructions, 0). An
    empty answer keeps none. Null for a record with an unknown instruction, or one that does not say what it asks: such
    records are counted in the last number, and nowhere else.
    """

    info = pack_metric("au.instruction_following")
    width = 7
    why_missing = "no record has instructions that can be checked: [{id, kwargs}]"

    @property
    def signature(self) -> str:
        return own_signature(f"checks:{len(CHECKS)}|loose:8|languages:{word_lists_key()}")

    def stats(self, translation: Translation) -> Statistics:
        try:
            kept = _kept(translation)
        except _NoValueError:
            return (0, 0, 0, 0, 0, 0, 1)
        strict = sum(instruction.strict for instruction in kept)
        loose = sum(instruction.loose for instruction in kept)
        number = len(kept)
        return (int(strict == number), int(loose == number), 1, strict, loose, number, 0)

    def values(self, totals: FloatArray) -> FloatArray:
        return np.asarray(np.mean(list(_shares(totals).values()), axis=0))

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        fields: dict[str, float | int | None] = {
            f"{self.info.id}_{name}": None if np.isnan(share[0]) else float(share[0])
            for name, share in _shares(np.atleast_2d(total)).items()
        }
        return {**fields, f"{self.info.id}_unchecked": int(np.ravel(total)[6])}

    def explain(self, translation: Translation) -> tuple[str, ...]:
        try:
            kept = _kept(translation)
        except _NoValueError as error:
            return (f"{error}.",)
        return tuple(f"{instruction.id}: {instruction.words}." for instruction in kept)


def _shares(totals: FloatArray) -> Mapping[str, FloatArray]:
    return {
        "strict_prompt": share(totals[:, 0], totals[:, 2]),
        "loose_prompt": share(totals[:, 1], totals[:, 2]),
        "strict_instruction": share(totals[:, 3], totals[:, 5]),
        "loose_instruction": share(totals[:, 4], totals[:, 5]),
    }


def _kept(translation: Translation) -> list[KeptInstruction]:
    """Check all instructions of a record; _NoValueError where one cannot be checked."""
    given = translation.given("instructions")
    if not isinstance(given, list) or not 0 < len(given) <= MOST_INSTRUCTIONS:
        raise _NoValueError(f"A record needs a list of 1 to {MOST_INSTRUCTIONS} instructions")
    answer = composed(translation.output) if len(translation.output) <= MOST_LETTERS else ""
    # Answer with and without its first line, its last, both, and asterisks.
    lines = answer.split("\n")
    cut = [lines[1:], lines[:-1], lines[1:-1]]
    forms = [answer, *("\n".join(cut_lines).strip() for cut_lines in cut)]
    forms = [form for form in [*forms, *(form.replace("*", "") for form in forms)] if form.strip()]
    return [_checked(instruction, answer, forms) for instruction in given]


def _checked(instruction: object, answer: str, forms: Sequence[str]) -> KeptInstruction:
    if not isinstance(instruction, Mapping):
        raise _NoValueError("An instruction is an object with id and kwargs")
    id_, asked = instruction.get("id"), instruction.get("kwargs") or {}
    if not isinstance(id_, str) or id_ not in CHECKS:
        raise _NoValueError(f"There is no instruction {str(id_)[:_QUOTED]!r}")
    if not isinstance(asked, Mapping):
        raise _NoValueError(f"{id_}: kwargs must be an object")
    try:
        check = CHECKS[id_]
        as_it_stands = check(answer, asked)  # asks what the record lacks of an empty answer too
        strict = bool(answer.strip()) and as_it_stands
        return KeptInstruction(id_, strict, strict or any(check(form, asked) for form in forms))
    except (UnreadableError, UndecidedError) as error:
        raise _NoValueError(f"{id_}: {error}") from None


METRICS = {"au.instruction_following": Maker(lambda _: InstructionFollowing())}
