"""The answer in a model's reply: without reasoning, special tokens and marks that wrap all of it.

Methods and judges read replies with the same code. Only what is provably no part of the answer is removed.
Quotation marks, introductions ("Here is the translation:") and everything else stay and are scored: nobody
can tell from outside whether they belong to the answer.

The marks are those that model families document: ``<think>`` (DeepSeek, Qwen), ``[THINK]`` (Mistral),
``◁think▷`` (Kimi), ``<seed:think>`` (Seed), channels (gpt-oss, Gemma), ``<|begin_of_box|>`` (GLM) and others.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Final

from corpora.text.comparison import is_blank

_REASONING: Final = (
    r"(?:(?:[a-z]{1,20}[:_-]){0,3}|ant)"
    r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|monologue|analysis|cot)"
    r"(?:[_-](?:process|steps?))?"
)
"""Names of a passage of reasoning: ``think``, ``seed:think``, ``chain_of_thought``, ``thought-process`` …"""
_OPENING: Final = (
    rf"(?i:<{_REASONING}(?:\s[^<>]{{0,80}})?>)|\[(?:THINK(?:ING)?|REASONING)\]|◁think▷|<unused94>|<\|channel>thought"
    r"|<\|(?:think(?:ing)?|thought|START_THINKING|begin_?of_?thought|start_?of_?thought|inner_prefix)\|>"
)
_CLOSING: Final = (
    rf"(?i:</{_REASONING}\s?>)|\[/(?:THINK(?:ING)?|REASONING)\]|◁/think▷|<unused95>|<channel\|>"
    r"|<\|(?:/(?:think(?:ing)?|thought)|END_THINKING|end_?of_?thought|inner_suffix)\|>"
)
_MARK: Final = re.compile(rf"(?P<opening>{_OPENING})|(?P<closing>{_CLOSING})|\{{")
_END: Final = re.compile(_CLOSING)
_VISIBLE: Final = re.compile(r"\S")
_CHANNEL: Final = re.compile(
    r"(?:<\|start\|>\s{0,9}assistant\s{0,9})?<\|channel\|>\s{0,9}(?P<name>[a-z]{1,20})\b[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?<\|message\|>"
)
_BARE_HEADS: Final = re.compile(
    r"\A(?:analysis.*assistantfinal|Here(?:'s| is) my thought process:.*Here(?:'s| is) my response:)", re.DOTALL
)
"""Channels of a server that leaves special tokens out: the words of their heads stand glued together. Granite's heads."""
_SPECIAL: Final = (
    r"(?:<\|(?!(?:begin|end)_of_box\|>)(?i:(?:im_|eo[mst]|bos|pad|end|begin|start|message|role|header|tool|turn|assistant)[a-z_]{0,30}"
    r"|user|system|return|call|chatbot_token)\|>|<｜[^<>｜\n]{1,30}｜>|<(?:bos|eos|pad|turn\||end_of_(?:turn|utterance))>|\[EOS\])"
)
_TURN: Final = r"<start_of_turn>|<\|turn>"
_FIRST_TOKENS: Final = re.compile(rf"\A(?:\s|(?:{_SPECIAL}|{_TURN})(?:(?:assistant|model)\b)?)+")
_LAST_TOKENS: Final = re.compile(rf"{_SPECIAL}(?:\s*\Z|\s*(?:{_TURN}|<[|｜]\w).*\Z)", re.DOTALL)
"""The end of the answer, and what a model that ran on wrote after it."""

_ANY_MARK: Final = re.compile(r"[<\[◁{`~]|\A(?:analysis|Here)")
"""What every mark, channel, head and fence begins with; a reply without any is its own answer."""

_ANSWER: Final = r"(?:final_)?(?:answer|response|solution|output|translation)|final"
_WRAPPERS: Final = tuple(
    (re.compile(rf"\A{first}"), re.compile(last))
    for first, last in (
        (rf"(?i:<(?:{_ANSWER})>)", rf"(?i:</(?:{_ANSWER})>)"),
        (r"\[BEGIN FINAL RESPONSE\]", r"\[END FINAL RESPONSE\]"),
    )
)
"""Marks around a whole answer, which are next to those of reasoning."""
_BOX: Final = re.compile(r"<\|begin_of_box\|>(?P<inside>.*?)(?:<\|end_of_box\|>|\Z)", re.DOTALL)
_FENCE: Final = re.compile(r"\A(?P<mark>```|~~~)[^\n`~]*\n(?P<inside>.*?)\n?(?P=mark)\Z", re.DOTALL)
_MOST_WRAPPED = 8
"""Marks around each other that are removed."""
_MOST_OBJECTS = 200
"""Curly brackets that are tried as the beginning of a JSON object."""
_BEFORE = 200
"""Characters before a mark that are examined for the beginning of its line."""


def answer_text(reply: str) -> str | None:
    """Return the answer within a model's reply, "" if it is empty.

    None if the reasoning never ends, so that the answer was not reached. Takes time linear in the length.
    """
    if not _ANY_MARK.search(reply):
        return reply.strip()
    text = _final_channel(reply) if "<|channel|>" in reply else reply
    if text is None:
        return None
    text = _without_reasoning(_BARE_HEADS.sub("", text))
    return None if text is None else _unwrapped(text.strip())


def _final_channel(reply: str) -> str | None:
    """Return the last final channel of a reply in channels (harmony); None if it has others only."""
    heads = list(_CHANNEL.finditer(reply))
    finals = [head for head in heads if head["name"] == "final"]
    if finals:
        return reply[finals[-1].end() :]
    return None if heads and not reply[: heads[0].start()].strip() else reply


def _without_reasoning(reply: str) -> str | None:
    """Return a reply without its passages of reasoning; None if one never ends.

    A passage counts if it stands at the beginning of a line or at the end of the reply. A mark between words is
    text, and so is one within a JSON object, as an explanation may quote an answer. A closing mark without its
    opening ends reasoning too: some chat templates have opened it already.
    """
    kept: list[str] = []
    begin = place = tried = 0
    endless = False
    while mark := _MARK.search(reply, place):
        place = mark.end()
        if mark["closing"]:
            kept, begin = [], place
        elif mark["opening"]:
            before = reply[max(begin, mark.start() - _BEFORE) : mark.start()]
            first = is_blank(before.rpartition("\n")[2])
            end = None if endless else _END.search(reply, place)
            endless = end is None
            if end is None:
                if first:
                    return None
                continue
            place = end.end()
            if first or not _VISIBLE.search(reply, place):
                kept.append(reply[begin : mark.start()])
                begin = place
        elif tried < _MOST_OBJECTS:
            tried += 1
            with suppress(ValueError, RecursionError):
                place = _DECODER.raw_decode(reply, mark.start())[1]
    return "".join([*kept, reply[begin:]])


_DECODER: Final = json.JSONDecoder(strict=False)


def _unwrapped(text: str) -> str:
    """Remove special tokens at both ends, and what wraps all of a text."""
    for _ in range(_MOST_WRAPPED):
        before = text
        text = _LAST_TOKENS.sub("", _FIRST_TOKENS.sub("", text), count=1)
        text = _without_box(_without_sentence_marks(text)).strip()
        fenced = _FENCE.match(text)
        if fenced and fenced["mark"] not in fenced["inside"]:
            text = fenced["inside"].strip()
        if text == before:
            break
    return text


def _without_box(text: str) -> str:
    """Return what is in the only box of a text, or within marks that wrap all of it.

    The last of these may be missing, as where it was a stop sequence.
    """
    boxes = _BOX.findall(text)
    if len(boxes) == 1:
        return str(boxes[0])
    for first, last in _WRAPPERS:
        if opened := first.match(text):
            inside, *after = last.split(text[opened.end() :])
            return text if any(after) else str(inside)
    return text


def _without_sentence_marks(text: str) -> str:
    """Remove ``<s>`` at the beginning or ``</s>`` at the end; a pair is HTML's mark of deleted words."""
    opened, closed = text.count("<s>"), text.count("</s>")
    if closed > opened:
        return text.rstrip().removesuffix("</s>")
    return text.removeprefix("<s>") if opened > closed else text


_STRING: Final = r'(?P<string>"(?:[^"\\]|\\.?)*(?:"|\Z))'
_COMMENT: Final = re.compile(rf"{_STRING}|//[^\n]*|/\*[^*]{{0,1000}}\*/", re.DOTALL)
_LAST_COMMA: Final = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)


def mended_json(text: str) -> str:
    """Return JSON without comments and commas before a closing bracket, which models write and JSON forbids."""
    begin = text.find("{")
    if begin < 0:
        return text
    mended = text[begin:]
    for parts in (_COMMENT, _LAST_COMMA):
        mended = parts.sub(lambda part: part["string"] or "", mended)
    return text[:begin] + mended
