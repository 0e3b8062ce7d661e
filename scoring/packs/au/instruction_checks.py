"""The 25 instructions of IFEval (Zhou et al. 2023) that a program can check, by id.

Each check gets the answer and the instruction's arguments, as a record has them. Keywords, markers and phrases are
texts, never patterns, so that no record can bring a pattern that takes for ever. What a record leaves open is not
made up: the published code draws a number or word at random there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import regex

from scoring.packs.au.answer_language import written_in
from scoring.packs.au.structured import NO_JSON, json_answer

Asked = Mapping[str, Any]
Check = Callable[[str, Asked], bool]

_LARGEST = 1_000_000
_LONGEST = 10_000
"""Letters of a keyword, marker or prompt."""
_MOST_WORDS = 100
"""Keywords of one instruction."""
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]++")
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
    return value.strip()


def _texts(asked: Asked, field: str) -> list[str]:
    values = asked.get(field)
    if not isinstance(values, list) or not 0 < len(values) <= _MOST_WORDS:
        raise UnreadableError(f"{field} must be a list of at most {_MOST_WORDS} texts")
    return [_text({field: value}, field) for value in values]


def _held(number: int, asked: Asked, least: str, relation: str = "relation") -> bool:
    """Compare a count with the required one: ``less than`` it, or ``at least`` it."""
    wanted = _number(asked, least)
    match asked.get(relation):
        case "less than":
            return number < wanted
        case "at least":
            return number >= wanted
        case _:
            raise UnreadableError(f"{relation} must be 'less than' or 'at least'")


def _keywords(answer: str, asked: Asked) -> bool:
    lowered = answer.lower()
    return all(word.lower() in lowered for word in _texts(asked, "keywords"))


def _keyword_frequency(answer: str, asked: Asked) -> bool:
    number = answer.lower().count(_text(asked, "keyword").lower())
    return _held(number, asked, "frequency")


def _no_forbidden_words(answer: str, asked: Asked) -> bool:
    text = answer.lower()
    return not any(_stands_alone(word.lower(), text) for word in _texts(asked, "forbidden_words"))


def _stands_alone(word: str, text: str) -> bool:
    bounded = rf"(?<![\p{{L}}\p{{M}}\p{{N}}_]){regex.escape(word)}(?![\p{{L}}\p{{M}}\p{{N}}_])"
    return regex.search(bounded, text) is not None


def _letter_frequency(answer: str, asked: Asked) -> bool:
    letter = _text(asked, "letter").lower()
    if len(letter) > 1:
        raise UnreadableError("letter must be one letter")
    return _held(answer.lower().count(letter), asked, "let_frequency", "let_relation")


def _language(answer: str, asked: Asked) -> bool:
    return written_in(answer, _text(asked, "language").lower())


def _sentences(answer: str, asked: Asked) -> bool:
    pieces = _SENTENCE_END.split(_ABBREVIATION.sub(r"\1", answer))
    number = sum(_WORD.search(piece) is not None for piece in pieces)
    return _held(number, asked, "num_sentences")


def _paragraphs(answer: str, asked: Asked) -> bool:
    pieces = [piece.strip() for piece in _PARAGRAPH.split(answer)]
    number = len(pieces) - (not pieces[0]) - (len(pieces) > 1 and not pieces[-1])
    return number == _number(asked, "num_paragraphs") and all(pieces[1:-1])


def _words(answer: str, asked: Asked) -> bool:
    return _held(len(_WORD.findall(answer)), asked, "num_words")


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


def _placeholders(answer: str, asked: Asked) -> bool:
    return len(_PLACEHOLDER.findall(answer)) >= _number(asked, "num_placeholders")


def _postscript(answer: str, asked: Asked) -> bool:
    marker = _text(asked, "postscript_marker")
    pattern = _POSTSCRIPTS.get(marker)
    text = answer.lower()
    return marker.lower() in text if pattern is None else pattern.search(text) is not None


def _bullets(answer: str, asked: Asked) -> bool:
    return len(_BULLET.findall(answer)) == _number(asked, "num_bullets")


def _fixed_answer(answer: str, _: Asked) -> bool:
    return any(fixed in answer for fixed in _FIXED_ANSWERS)


def _highlights(answer: str, asked: Asked) -> bool:
    plain = sum(bool(highlight.strip("*").strip()) for highlight in _HIGHLIGHT.findall(answer))
    strong = sum(bool(highlight.strip()) for highlight in _STRONG_HIGHLIGHT.findall(answer))
    return plain + strong >= _number(asked, "num_highlights")


def _sections(answer: str, asked: Asked) -> bool:
    head = re.compile(rf"\s?{re.escape(_text(asked, 'section_spliter'))}\s?\d+\s?")
    return len(head.findall(answer)) >= _number(asked, "num_sections")


def _json(answer: str, _: Asked) -> bool:
    return json_answer(answer) is not NO_JSON


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


def _repeated_prompt(answer: str, asked: Asked) -> bool:
    return answer.strip().lower().startswith(_text(asked, "prompt_to_repeat").lower())


def _end(answer: str, asked: Asked) -> bool:
    return answer.strip().strip('"').lower().endswith(_text(asked, "end_phrase").lower())


def _capital_words(answer: str, asked: Asked) -> bool:
    number = sum(word.isupper() for word in _JOINED_WORD.findall(answer))
    return _held(number, asked, "capital_frequency", "capital_relation")


def _capitals(answer: str, _: Asked) -> bool:
    return written_in(answer, "en") and answer.isupper()


def _small_letters(answer: str, _: Asked) -> bool:
    return written_in(answer, "en") and answer.islower()


def _no_comma(answer: str, _: Asked) -> bool:
    return "," not in answer


def _quoted(answer: str, _: Asked) -> bool:
    text = answer.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


CHECKS: Mapping[str, Check] = {
    "keywords:existence": _keywords,
    "keywords:frequency": _keyword_frequency,
    "keywords:forbidden_words": _no_forbidden_words,
    "keywords:letter_frequency": _letter_frequency,
    "language:response_language": _language,
    "length_constraints:number_sentences": _sentences,
    "length_constraints:number_paragraphs": _paragraphs,
    "length_constraints:number_words": _words,
    "length_constraints:nth_paragraph_first_word": _first_word,
    "detectable_content:number_placeholders": _placeholders,
    "detectable_content:postscript": _postscript,
    "detectable_format:number_bullet_lists": _bullets,
    "detectable_format:constrained_response": _fixed_answer,
    "detectable_format:number_highlighted_sections": _highlights,
    "detectable_format:multiple_sections": _sections,
    "detectable_format:json_format": _json,
    "detectable_format:title": _title,
    "combination:two_responses": _two_answers,
    "combination:repeat_prompt": _repeated_prompt,
    "startend:end_checker": _end,
    "startend:quotation": _quoted,
    "change_case:capital_word_frequency": _capital_words,
    "change_case:english_capital": _capitals,
    "change_case:english_lowercase": _small_letters,
    "punctuation:no_comma": _no_comma,
}
