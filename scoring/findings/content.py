"""What an answer lacks or has too much of: copies, equal outputs, cuts, numbers, placeholders, and what stands around it."""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from unicodedata import decimal

from corpora.model.entry import Entry
from corpora.text.comparison import bare_form
from corpora.text.tokens import read_placeholders
from scoring.findings.finding import FindingCode
from scoring.findings.writing import OutputRow, RowFault, ends_sentence, to_check
from scoring.words.violations import added_line_breaks, added_outer_quotes

_LEAST_REPEATED = 12
"""Characters from which two sources with one output are worth a look; shorter ones need three."""
_LEAST_CUT = 20
"""Characters of a reference from which its output may be called cut."""
_SHORT, _SHORTER = 0.5, 0.85
"""Length of an output / length of the reference: far too short; too short for one that ends in mid-sentence."""


def empty(rows: Sequence[OutputRow]) -> list[RowFault]:
    """Return the entries without any output."""
    return [RowFault(row, None, "") for row in rows if row.blank]


def copied(rows: Sequence[OutputRow]) -> Iterator[RowFault]:
    """Yield the outputs that are their source, digits, punctuation and case aside."""
    for row in to_check(rows):
        form = bare_form(row.body)
        if form == bare_form(row.source) and all(form != bare_form(item) for item in row.accepted[1:]):
            row.answered = False
            yield RowFault(row)


def repeated(rows: Sequence[OutputRow]) -> Iterator[RowFault]:
    """Yield the outputs that stand for several sources whose references differ."""
    answered = [row for row in rows if row.answered]
    keys = array("q", (hash(bare_form(row.body)) for row in answered))
    again = {key for key, following in pairwise(sorted(keys)) if key == following}
    groups: dict[str, list[OutputRow]] = {}
    for row, key in zip(answered, keys, strict=True):
        if key in again:
            groups.setdefault(bare_form(row.body), []).append(row)
    for form, group in groups.items():
        if len(group) < 2 or all(row.right for row in group):
            continue
        sources = {bare_form(row.source) for row in group}
        references = {bare_form(row.reference) for row in group}
        least = 2 if len(form) >= _LEAST_REPEATED else 3
        if min(len(sources), len(references)) >= least:
            for row in group:
                if not row.right:
                    row.answered = False
                    yield RowFault(row)


def cut(row: OutputRow) -> RowFault | None:
    """Return a hit where an output is far shorter than its reference, or ends in the middle of a sentence."""
    length = len(row.reference.strip())
    if length < _LEAST_CUT:
        return None
    ratio = len(row.body) / length
    broken = ratio < _SHORTER and not ends_sentence(row.body) and all(map(ends_sentence, (row.source, row.reference)))
    return RowFault(row, None, f"…{row.body[-40:]}") if ratio < _SHORT or broken else None


_NUMBER = re.compile(r"\d+(?:[.,٫٬'’\u00a0\u202f]\d+)*")
_DIGITS = re.compile(r"\d+")


class _Decimals(dict[int, str]):
    """Turns digits of any script into ASCII."""

    def __missing__(self, code: int) -> str:
        value = decimal(chr(code), None)
        self[code] = chr(code) if value is None else str(value)
        return self[code]


_DECIMALS = _Decimals()


def _numbers(text: str) -> Counter[str]:
    """Return the numbers of a text by their digits alone: 1,997 and 1.997 are one number."""
    if not _DIGITS.search(text):
        return Counter()
    plain = text if text.isascii() else text.translate(_DECIMALS)
    return Counter("".join(_DIGITS.findall(item)) for item in _NUMBER.findall(plain))


def numbers(row: OutputRow) -> RowFault | None:
    """Return a hit where a number that source and reference have is lost, or one is added that neither has."""
    given, wanted, present = map(_numbers, (row.source, row.reference, row.body))
    if not given and not present:
        return None
    asked = given & wanted if row.reference else given
    lost = [item for item in asked if asked[item] > present[item] and not _within(item, present)]
    known = Counter(key for text in row.accepted for key in _numbers(text))
    added = [item for item in present if not known[item] and _surely_new(item, known)]
    return RowFault(row, None, ", ".join([*lost, *added][:3])) if lost or added else None


def _within(number: str, others: Counter[str]) -> bool:
    """Return whether the digits of a number are in others, which may be written apart or together."""
    return len(number) > 2 and number in "".join(others)


def _surely_new(number: str, known: Counter[str]) -> bool:
    """Return whether a number cannot be a word of the source, such as 12 or 20, or a part of another number."""
    significant = number.strip("0")
    return (
        len(significant) > 1
        and len(number) < 20
        and int(number) > 20
        and not _within(number, known)
        and not any(len(item) > 1 and item in number for item in known)
    )


def placeholders(row: OutputRow, *, tags: bool = True) -> RowFault | None:
    """Return a hit where variables and tags are not those of the source, nor those of the reference.

    ``tags``: false where marks of another kind were found, which read like added ones.
    """
    asked, present = read_placeholders(row.source).variables, read_placeholders(row.body).variables
    if asked == present or any(read_placeholders(item).variables == present for item in row.accepted[1:]):
        return None
    wrong = [*(asked - present), *((present - asked) if tags else ())]
    return RowFault(row, None, ", ".join(wrong[:3])) if wrong else None


# ---- What stands around an answer: reasoning, prose, fences, quotation marks, line breaks.
#
# Each detector takes its part off the row's body, so that the next one sees what is inside.

_REFUSALS = re.compile(
    r"""(?ix)
      \b(?:sorry|apologi[sz]e|unfortunately|regret)\b .{0,60}? \b(?:can(?:no|')?t|can\ not|can’t|unable|not\ able|do(?:n't|n’t|\ not))\b
      .{0,40}? (?:translat|provid|assist|help|answer|fulfil|comply|request|language|complete|generat|do\ that)
    | \bI(?:'m|’m|\ am)?\s (?:can(?:'|’|no)?t|can\ not|am\ unable|unable|not\ able|won(?:'|’)t)\s (?:\w+\s){0,3}?
      (?:to\s)?(?:provide|translate|assist|help\ (?:with|you\ with)|fulfil|comply|do\ that)
    | \bas\ an?\ (?:AI|large\ language|language\ model|artificial\ intelligence)\b
    | \bI\ do(?:n't|n’t|\ not)\ (?:speak|know|have)\b .{0,50}? \b(?:language|translat)
    | \b(?:no|not)\ (?:translation|equivalent)\ (?:is\ )?(?:available|possible|found|known|exists)
    | \btranslation\ (?:is\ )?(?:not\ (?:available|possible|found)|unavailable)
    | \b(?:cannot|can't|can’t|could\ not)\ be\ translated
    | \A\W*(?:n/a|null|undefined|no\ translation|\?+)\W*\Z
    | \b(?:lo\ siento|je\ suis\ désolée?|désolée?|es\ tut\ mir\ leid|desculpe|mi\ spiace)\b .{0,40}? \b(?:no\ puedo|ne\ peux|kann\ ich|não\ posso|non\ posso)
    """
)


_REFUSAL_SIGNS = (
    "sorry", "apolog", "unfortunately", "regret", "i can", "i'm ", "i’m ", "i am ", "i won", "as an ai", "as a large",
    "as a language", "as an art", "i don", "i do not", "translat", "n/a", "null", "undefined", "???", "lo siento",
    "désolé", "es tut mir", "desculpe", "mi spiace",
)  # fmt: skip
"""One of these is in each refusal; looking for them is faster than the pattern."""


def refusal(row: OutputRow) -> RowFault | None:
    """Return a hit where an output says that it does not translate, and its source and reference say no such thing."""
    likely = _has(row.body, _REFUSAL_SIGNS)
    if not likely or not _REFUSALS.search(row.body) or _REFUSALS.search(row.known):
        return None
    row.answered = False
    return RowFault(row)


def _has(text: str, signs: Sequence[str]) -> bool:
    lower = text.lower()
    return any(sign in lower for sign in signs)


_THOUGHT = r"think|thinking|thought|thoughts|reasoning|reflection|scratchpad|seed:think|analysis"
_THOUGHTS = re.compile(
    rf"(?is)<(?P<tag>{_THOUGHT})>.*?</(?P=tag)>|\[THINK\].*?\[/THINK\]|◁think▷.*?◁/think▷"
    rf"|\A.*?(?:</(?:{_THOUGHT})>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>|assistantfinal|<unused95>)"
)
_THOUGHT_OPEN = re.compile(
    rf"(?i)<(?:{_THOUGHT})>|\[THINK\]|◁think▷|<\|channel\|>|<unused94>|\A(?:okay|ok|alright|hmm+|so|wait)?,?\s*(?:let me (?:think|translate|break)|the user (?:wants|asks|is asking)|(?:we|i) need to translate|first, (?:i need to|let me|let's) (?:translate|break))"
)
_INTRODUCTION = re.compile(
    r"""(?isx)\A [\W_]{0,4} (?:
      here(?:'s|’s|\ is|\ are)\b [^\n:]{0,80}? (?:translat|version|rendering|answer)\w* [^\n:]{0,80} (?:[:\n]|\Z)
    | (?:sure|certainly|of\ course|absolutely|okay|great|alright|no\ problem) (?:\s*[!:]|[.,]\s+(?:here|i|the\ translation|this)\b) [^\n:]{0,120}[:\n]?
    | (?:the\ |my\ |a\ )? (?:[\w-]+\ ){0,3}? translat\w+ (?:\ (?:of|in|into|to|for|as|from)\b [^\n]{0,120}?)? (?:\*\*)?\s*(?::|\ is\b:?|\ would\ be\b:?) (?:\*\*)?
    | (?:the\ )? (?:final\ )?(?:output|answer|response|result|target(?:\ text)?)(?:\*\*)?\s*: (?:\*\*)?
    | (?:in|into)\ [\w\ -]{2,24},?\ (?:this|it|that)\ (?:is:|is\ translated|would\ be:?|translates?\ (?:to|as):?)
    | (?:voici|aquí\ (?:está|tienes)|hier\ ist|ecco|aqui\ está) \b [^\n:]{0,60} (?:trad|übers|vers)\w* [^\n:]{0,40} [:\n]
    | (?:translation|traducción|traduction|übersetzung|tradução|traduzione|перевод|переклад|翻訳|翻译|अनुवाद|ترجمة) \s*[:：]
    )\s*"""
)
_NOTE = re.compile(
    r"""(?imx)
      (?:^|\n|(?<=[.!?])\s)\s*[(\[*_#-]{0,3}\s* (?:(?:translator'?s?\ )?notes?|explanations?|literal(?:ly)?|literal\ translation|alternative(?:ly|s)?|
      translation\ notes|breakdown|pronunciation|back[- ]translation|gloss|context|comments?|source|original|confidence|nota|remarque|anmerkung|hinweis)
      (?:\ \d)?[*_]{0,2}\s*: .*
    | [\s(]*\(?\bor:\s.*
    | (?:^|\n|(?<=[.!?])\s)\s* (?:(?:please\ )?(?:let\ me\ know|note\ that|feel\ free|keep\ in\ mind)|i\ hope\ this\ (?:helps|translation)|this\ (?:translation|sentence|is\ a\ (?:literal|direct))|
      if\ you\ (?:need|have)\ (?:any|more|further)|alternatively\b|in\ this\ translation) .*
    """
    , re.DOTALL,
)  # fmt: skip
_NOTE_SIGNS = (
    ":", "let me know", "note that", "feel free", "keep in mind", "i hope th", "this translation", "this sentence",
    "this is a", "if you ", "alternatively", "in this transl",
)  # fmt: skip
_LISTED = re.compile(r"(?m)\A\s*(?:1[.)]|[-*•])\s+(\S.*)\n+\s*(?:2[.)]|[-*•])\s+\S")
_OPTIONS = re.compile(r"\A(.*?\S)\s+[/|]\s+\S.*\Z", re.DOTALL)
_GLOSS = re.compile(r"\A(.*?\S)\s*[(\[][^()\[\]]{2,}[)\]]\s*([.!?]?)\Z", re.DOTALL)
_LEAST_ECHO = 8


def thoughts(row: OutputRow) -> RowFault | None:
    """Return a hit where reasoning stands before the answer, or in its place."""
    text = row.body
    if _THOUGHTS.search(text):
        if _THOUGHTS.search(row.known):
            return None
        answer = _THOUGHTS.sub("", text).strip()
        return RowFault(row, row.narrowed(answer)) if answer else RowFault(row)
    if _THOUGHT_OPEN.search(text) and not _THOUGHT_OPEN.search(row.known):
        row.answered = False
        return RowFault(row)
    return None


def prose(row: OutputRow) -> RowFault | None:
    """Return a hit where an introduction, a note, a gloss or alternatives stand around the answer."""
    text, result = row.body, False
    for pattern in (_INTRODUCTION, _NOTE) if _has(text, _NOTE_SIGNS) else (_INTRODUCTION,):
        match = pattern.search(text)
        if match and not pattern.search(row.known):
            rest = text[match.end() :] if pattern is _INTRODUCTION else text[: match.start()]
            text, result = rest.strip(), True
    for pattern in (_LISTED, _OPTIONS, _GLOSS):
        match = pattern.match(text)
        # What neither source nor reference has, nor a sign of it.
        signs = {_OPTIONS: (" / ", " | "), _GLOSS: ("(", "[")}.get(pattern, ())
        known = any(sign in row.known for sign in signs)
        if match and not known and not any(map(pattern.match, row.accepted)):
            text, result = "".join(filter(None, match.groups())).strip(), True
    source = row.source.strip().rstrip(".!?")
    beside = len(source) >= _LEAST_ECHO and len(text) > len(source) + 3 and source in text
    if beside and not any(source in item for item in row.accepted[1:]):
        text = text.replace(source, "", 1).strip(" \n\t\"'“”.!?:=-–—→>|/()")
        result = True
    if not result:
        return None
    return RowFault(row, row.narrowed(text)) if text else RowFault(row)


_WRAPPERS = (
    re.compile(r"(?s)\A[^`]*?```[^\n`]*\n(.*?)\n?```[^`]*\Z"),
    re.compile(r"(?s)\A`{1,3}([^`]+)`{1,3}\W?\Z"),
    re.compile(r"(?s)\A~~~[^\n]*\n(.*?)\n?~~~\Z"),
    re.compile(r"(?s)\A(?:\*{1,3}|_{2})([^*]+?)(?:\*{1,3}|_{2})\W?\Z"),
    re.compile(r"(?s)\A<((?:answer|translation|output|target|result|text|response|[a-z]{2,3}))>(.*)</\1>\Z"),
    re.compile(r"(?s)\A\$*\\boxed\{(.*)\}\$*\Z"),
    re.compile(r"(?s)\A<\|begin_of_box\|>(.*)<\|end_of_box\|>\Z"),
)
_FENCE = "```"


def wrapper(row: OutputRow) -> RowFault | None:
    """Return a hit where a fence, Markdown, JSON or a tag stands around the whole answer."""
    inside = _unwrapped(row.body)
    if inside is None:
        if _FENCE not in row.body or _FENCE in row.known:
            return None
        return RowFault(row)
    if any(_unwrapped(item.strip()) is not None for item in row.accepted):
        return None
    return RowFault(row, row.narrowed(inside.strip()))


def _unwrapped(text: str) -> str | None:
    if text[:1] in "{[" and text[-1:] in "}]":
        # Text in a JSON object or list; None unless there is exactly one.
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
        values = list(value.values()) if isinstance(value, dict) else value
        listed = values if isinstance(values, list) else []
        texts = [item for item in listed if isinstance(item, str)]
        return texts[-1] if texts else None
    if text[:1] not in "`~*_<$\\" and _FENCE not in text:
        return None
    for pattern in _WRAPPERS:
        if match := pattern.match(text):
            return str(match[match.lastindex or 0])
    return None


def quotes(row: OutputRow) -> RowFault | None:
    """Return a hit where quotation marks stand around the whole answer, and around neither source nor reference."""
    inside = added_outer_quotes(row.body, row.accepted)
    return None if inside is None else RowFault(row, row.narrowed(inside.strip()))


def line_breaks(row: OutputRow) -> RowFault | None:
    """Return a hit where an answer has line breaks, and neither source nor reference has one."""
    return RowFault(row) if added_line_breaks(row.body, row.accepted) else None


# ---- Taking off an output what stands around the answer: introductions, wrappers, quotation marks ----
#
# A run does this before anything is scored, so only the source is read: what the source has too is no fault.

_DETECTORS: Mapping[str, tuple[Callable[[OutputRow], RowFault | None], ...]] = MappingProxyType(
    {"prose": (thoughts, prose), "wrapper": (wrapper,), "quotes": (quotes,)}
)
STRIPPED_BY: Mapping[FindingCode, str] = MappingProxyType(
    {
        FindingCode.BEGINNING: "prose",
        FindingCode.PROSE: "prose",
        FindingCode.WRAPPER: "wrapper",
        FindingCode.QUOTES: "quotes",
    }
)
"""Finding → the step that takes it off."""


def stripped(source: str, output: str, steps: Collection[str]) -> str:
    """Return an output without what ``steps`` take off, in a fixed order; itself where nothing would be left.

    Steps: ``prose`` (reasoning, an introduction, a note), ``wrapper`` (a fence, JSON, a tag), ``quotes``.
    """
    row = OutputRow(0, Entry(id=0, source=source, reference=""), output)
    changed = False
    for step, detectors in _DETECTORS.items():
        for detect in detectors if step in steps and not row.blank else ():
            hit = detect(row)
            changed = changed or (hit is not None and hit.corrected is not None)
    return row.body if changed and row.body.strip() else output
