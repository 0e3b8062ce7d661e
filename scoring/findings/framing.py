"""What stands around an answer: reasoning, prose, fences, quotation marks, line breaks.

Each detector takes its part off the row's body, so that the next one sees what is inside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from scoring.findings.rows import OutputRow, RowFault
from scoring.words.violations import added_line_breaks, added_outer_quotes

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
    if (
        not _has(row.body, _REFUSAL_SIGNS)
        or not _REFUSALS.search(row.body)
        or _REFUSALS.search(row.known)
    ):
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
    answer = _answer(row)
    if answer is None:
        return None
    return RowFault(row, row.narrowed(answer)) if answer else RowFault(row)


def _answer(row: OutputRow) -> str | None:
    """Return the body without the prose around it; None where there is none."""
    text, result = row.body, False
    for pattern in (_INTRODUCTION, _NOTE) if _has(text, _NOTE_SIGNS) else (_INTRODUCTION,):
        match = pattern.search(text)
        if match and not pattern.search(row.known):
            rest = text[match.end() :] if pattern is _INTRODUCTION else text[: match.start()]
            text, result = rest.strip(), True
    for pattern in (_LISTED, _OPTIONS, _GLOSS):
        match = pattern.match(text)
        if match and _is_new(pattern, row):
            text, result = "".join(filter(None, match.groups())).strip(), True
    if _echoes(text, row):
        text, result = _without_source(text, row), True
    return text if result else None


def _is_new(pattern: re.Pattern[str], row: OutputRow) -> bool:
    """Return whether neither source nor reference has what a pattern looks for, or a sign of it."""
    signs: tuple[str, ...] = ()
    if pattern is _OPTIONS:
        signs = (" / ", " | ")
    elif pattern is _GLOSS:
        signs = ("(", "[")
    return not any(sign in row.known for sign in signs) and not any(
        map(pattern.match, row.accepted)
    )


def _echoes(text: str, row: OutputRow) -> bool:
    """Return whether the source is in a text beside something else."""
    source = row.source.strip().rstrip(".!?")
    long = len(source) >= _LEAST_ECHO
    return (
        long
        and len(text) > len(source) + 3
        and source in text
        and not any(source in item for item in row.accepted[1:])
    )


def _without_source(text: str, row: OutputRow) -> str:
    source = row.source.strip().rstrip(".!?")
    return text.replace(source, "", 1).strip(" \n\t\"'“”.!?:=-–—→>|/()")


_WRAPPERS = (
    re.compile(r"(?s)\A[^`]*?```[^\n`]*\n(.*?)\n?```[^`]*\Z"),
    re.compile(r"(?s)\A`{1,3}([^`]+)`{1,3}\W?\Z"),
    re.compile(r"(?s)\A~~~[^\n]*\n(.*?)\n?~~~\Z"),
    re.compile(r"(?s)\A(?:\*{1,3}|_{2})([^*]+?)(?:\*{1,3}|_{2})\W?\Z"),
    re.compile(
        r"(?s)\A<((?:answer|translation|output|target|result|text|response|[a-z]{2,3}))>(.*)</\1>\Z"
    ),
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
        return _from_json(text)
    if text[:1] not in "`~*_<$\\" and _FENCE not in text:
        return None
    for pattern in _WRAPPERS:
        if match := pattern.match(text):
            return str(match[match.lastindex or 0])
    return None


def _from_json(text: str) -> str | None:
    """Return the text in a JSON object or list; None unless there is exactly one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    values = list(value.values()) if isinstance(value, dict) else value
    texts = [item for item in values if isinstance(item, str)] if isinstance(values, list) else []
    return texts[-1] if texts else None


def quotes(row: OutputRow) -> RowFault | None:
    """Return a hit where quotation marks stand around the whole answer, and around neither source nor reference."""
    inside = added_outer_quotes(row.body, row.accepted)
    return None if inside is None else RowFault(row, row.narrowed(inside.strip()))


def line_breaks(row: OutputRow) -> RowFault | None:
    """Return a hit where an answer has line breaks, and neither source nor reference has one."""
    return RowFault(row) if added_line_breaks(row.body, row.accepted) else None
