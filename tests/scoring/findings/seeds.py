"""Faults that are put into good outputs: each has a code, and a rule that spoils one output or passes it over."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import pairwise

from corpora.model.entry import Entry
from scoring.findings.finding import FindingCode
from scoring.words.violations import is_quotation_mark

Spoil = Callable[[Entry, str], str | None]
"""Returns the spoilt output; None where the fault cannot be put into this one."""


@dataclass(frozen=True, slots=True)
class Seed:
    """One kind of fault."""

    name: str
    code: FindingCode
    spoil: Spoil
    every: int = 7
    """It is put into one in so many of the entries that can have it."""


def _around(before: str, after: str = "") -> Spoil:
    return lambda entry, text: f"{before}{text}{after}"


def _quoted(before: str, after: str) -> Spoil:
    def spoil(entry: Entry, text: str) -> str | None:
        plain = not any(map(is_quotation_mark, entry.source + entry.reference + text))
        return _if(plain, f"{before}{text}{after}")

    return spoil


def _always(text: str) -> Spoil:
    return lambda entry, output: text


def _if(possible: bool, text: str) -> str | None:
    return text if possible else None


def _bpe(entry: Entry, text: str) -> str | None:
    return _if(bool(re.search(r"\w{6}", text)), re.sub(r"(\w{3})(?=\w{3})", r"\1@@ ", text))


def _pieces(sign: str) -> Spoil:
    return lambda entry, text: "".join(f" {sign}{word}" for word in text.split()).strip()


def _cut(share: float) -> Spoil:
    def spoil(entry: Entry, text: str) -> str | None:
        part = text[: int(len(text) * share)].rstrip(" .,!?\"'»”।。")
        ends = (".", "!", "?", "।", "。")
        sentence = entry.source.endswith(ends) and entry.reference.endswith(ends)
        short = len(part) <= 0.8 * len(entry.reference)
        return _if(len(entry.reference) >= 24 and sentence and short, part)

    return spoil


def _number(change: Callable[[str], str]) -> Spoil:
    def spoil(entry: Entry, text: str) -> str | None:
        both = set(re.findall(r"(?<![\d.,:])(?<!\d\s)\d{2,4}(?![.,:]?\s?\d)", text))
        both &= set(re.findall(r"(?<![\d.,:])(?<!\d\s)\d{2,4}(?![.,:]?\s?\d)", entry.source))
        both &= set(re.findall(r"(?<![\d.,:])(?<!\d\s)\d{2,4}(?![.,:]?\s?\d)", entry.reference))
        both = {item for item in both if int(item) > 25 and len(set(item)) > 1}
        one = min(both, default=None)
        return None if one is None or text.count(one) > 1 else text.replace(one, change(one))

    return spoil


def _no_end(entry: Entry, text: str) -> str | None:
    whole = text.rstrip(".!?।。")
    ends = entry.source[-1:] in ".!?" and entry.reference[-1:] in ".!?।。" and whole != text
    return _if(ends and len(whole) >= 0.9 * len(entry.reference), whole)


def _added_end(entry: Entry, text: str) -> str | None:
    plain = all(item[-1:].isalpha() for item in (entry.source, entry.reference, text))
    return _if(plain, f"{text}.")


def _capital(text: str) -> bool:
    cased = sum(letter.isupper() or letter.islower() for letter in text)
    return cased >= 10 and text != text.lower() and not text.isupper()


def _cased(change: Callable[[str], str]) -> Spoil:
    def spoil(entry: Entry, text: str) -> str | None:
        texts = (entry.reference, entry.source, text)
        return _if(all(map(_capital, texts)) and len(text.split()) > 3, change(text))

    return spoil


def _without(mark: str) -> Spoil:
    def spoil(entry: Entry, text: str) -> str | None:
        bare = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).replace(mark, ""))
        present = mark in unicodedata.normalize("NFD", entry.reference)
        return _if(present and bare != unicodedata.normalize("NFC", text), bare)

    return spoil


def _double(entry: Entry, text: str) -> str | None:
    return _if(len(text.split()) > 3, f"{text} / {' '.join(text.split()[::-1])}")


def _broken(sign: str) -> Spoil:
    def spoil(entry: Entry, text: str) -> str | None:
        middle = [match.start() for match in re.finditer(" ", text)]
        return None if len(middle) < 3 else sign.join((text[: middle[1]], text[middle[1] + 1 :]))

    return spoil


def _mojibake(entry: Entry, text: str) -> str | None:
    try:
        made = text.encode().decode("cp1252")
    except UnicodeError:
        return None
    return _if("Ã" in made, made)


def _spaced(entry: Entry, text: str) -> str | None:
    return _if(text[-1:] == "." and text[-2:-1].isalpha(), f"{text[:-1]} .")


C = FindingCode
SAME = "Tio estas la sama respondo al ĉiuj demandoj."

SEEDS = (
    Seed("nothing", C.EMPTY, _always("")),
    Seed("blanks", C.EMPTY, _always(" \u200b ")),
    Seed("sorry", C.REFUSAL, _always("I'm sorry, but I can't translate this text.")),
    Seed("language model", C.REFUSAL, _always("As an AI language model I do not know this language.")),
    Seed("unable", C.REFUSAL, _always("I am unable to provide a translation for this sentence."), 31),
    Seed("not available", C.REFUSAL, _always("[Translation not available]")),
    Seed("source", C.COPIED, lambda entry, text: entry.source),
    Seed("source in capitals", C.COPIED, lambda entry, text: entry.source.upper()),
    Seed("one text", C.REPEATED, _always(SAME)),
    Seed("two texts", C.REPEATED, lambda entry, text: SAME if len(text) % 2 else SAME[::-1], 5),
    Seed("here is", C.BEGINNING, _around("Here is the translation:\n\n")),
    Seed("label", C.BEGINNING, _around("Translation: ")),
    Seed("foreign label", C.BEGINNING, _around("Ecce versio: ")),
    Seed("sure", C.BEGINNING, _around("Sure! Below you find what was asked for. ")),
    Seed("bullet", C.BEGINNING, _around("* ")),
    Seed("bold label", C.BEGINNING, _around("**Answer:** ")),
    Seed("farewell", C.ENDING, _around("", " Let me know if you need anything else!")),
    Seed("signature", C.ENDING, _around("", "\n-- \nMachine Translated by Babel")),
    Seed("end tag", C.ENDING, _around("", " <done>")),
    Seed("think", C.PROSE, _around("<think>They want a translation.</think>\n"), 29),
    Seed("thinking at length", C.PROSE, lambda entry, text: f"[THINK]{entry.source[:20]}?[/THINK]{text}"),
    Seed("open thoughts", C.PROSE, lambda entry, text: f"<thinking>{text} {entry.id} perhaps", 11),
    Seed("harmony", C.PROSE, lambda entry, text: f"<|channel|>analysis<|message|>{entry.id}<|end|><|channel|>final<|message|>{text}"),
    Seed("note", C.PROSE, lambda entry, text: f"{text}\n\nNote: {entry.id} is a literal rendering of {entry.source[:9]}."),
    Seed("explanation in brackets", C.PROSE, lambda entry, text: _if("(" not in entry.source + entry.reference, f"{text} (it says {entry.id} things)"), 9),
    Seed("alternatives", C.PROSE, _double),
    Seed("numbered choices", C.PROSE, lambda entry, text: f"1. {text}\n2. {text[::-1]}"),
    Seed("introduction with the source", C.PROSE, lambda entry, text: _if(len(entry.source) > 12, f'The translation of "{entry.source}" is: {text}')),
    Seed("a single introduction", C.PROSE, _around("Here's the translation you asked for: "), 150),
    Seed("source and answer", C.PROSE, lambda entry, text: _if(len(entry.source) > 12, f"{entry.source} = {text}")),
    Seed("literally", C.PROSE, lambda entry, text: f"{text}\nLiterally: {entry.source[::-1]}"),
    Seed("fence", C.WRAPPER, _around("```\n", "\n```")),
    Seed("fence with a name", C.WRAPPER, _around("```text\n", "\n```")),
    Seed("backticks", C.WRAPPER, _around("`", "`")),
    Seed("bold", C.WRAPPER, _around("**", "**")),
    Seed("object", C.WRAPPER, lambda entry, text: json.dumps({"translation": text}, ensure_ascii=False)),
    Seed("answer tag", C.WRAPPER, _around("<answer>", "</answer>")),
    Seed("box", C.WRAPPER, _around("\\boxed{", "}")),
    Seed("straight quotes", C.QUOTES, _quoted('"', '"')),
    Seed("curly quotes", C.QUOTES, _quoted("“", "”")),
    Seed("angle quotes", C.QUOTES, _quoted("«", "»")),
    Seed("low quotes", C.QUOTES, _quoted("„", "“")),
    Seed("single quotes", C.QUOTES, _quoted("'", "'")),
    Seed("line break", C.LINE_BREAKS, _broken("\n")),
    Seed("written line break", C.LINE_BREAKS, _broken("\\n")),
    Seed("carriage return", C.LINE_BREAKS, _broken("\r\n")),
    Seed("two paragraphs", C.LINE_BREAKS, _broken("\n\n")),
    Seed("bpe", C.DECODER_MARKS, _bpe),
    Seed("sentencepiece", C.DECODER_MARKS, _pieces("▁")),
    Seed("byte pieces", C.DECODER_MARKS, _pieces("Ġ")),
    Seed("fairseq", C.DECODER_MARKS, lambda entry, text: f"H-{entry.id}\t-0.3\t{text}"),
    Seed("n-best", C.DECODER_MARKS, lambda entry, text: f"{entry.id} ||| {text} ||| F0= -1 ||| -0.3"),
    Seed("entities", C.DECODER_MARKS, lambda entry, text: _if(" " in text, text.replace(" ", " &quot;", 1))),
    Seed("leading id", C.DECODER_MARKS, lambda entry, text: _if(not entry.source[0].isdigit() and not entry.reference[0].isdigit(), f"{entry.id}\t{text}")),
    Seed("leading number", C.DECODER_MARKS, lambda entry, text: _if(not entry.source[0].isdigit() and not entry.reference[0].isdigit(), f"{entry.id}. {text}")),
    Seed("end of sentence", C.DECODER_MARKS, _around("", "</s>")),
    Seed("end of message", C.DECODER_MARKS, _around("", "<|im_end|>")),
    Seed("unknown word", C.DECODER_MARKS, lambda entry, text: re.sub(r"^\s*\S+", "<unk>", text) if " " in text.strip() else None),
    Seed("language tag", C.DECODER_MARKS, lambda entry, text: f"epo_Latn {text}"),
    Seed("spaced stops", C.DECODER_MARKS, _spaced),
    Seed("mojibake", C.DECODER_MARKS, _mojibake),
    Seed("cut to a third", C.CUT, _cut(0.33)),
    Seed("cut to two thirds", C.CUT, _cut(0.66)),
    Seed("cut to three quarters", C.CUT, _cut(0.75)),
    Seed("number lost", C.NUMBERS, _number(lambda number: ""), 2),
    Seed("number changed", C.NUMBERS, _number(lambda number: number[::-1] + "7"), 2),
    Seed("number added", C.NUMBERS, lambda entry, text: _if(not re.search(r"\d", entry.source + text), f"{text[:-1]} 4711{text[-1]}")),
    Seed("variable added", C.PLACEHOLDERS, lambda entry, text: f"{text[:-1]} {{name}}{text[-1]}"),
    Seed("tag added", C.PLACEHOLDERS, lambda entry, text: f"<b>{text[:-1]}</b>{text[-1]}"),
    Seed("no macrons", C.LETTERS, _without("\u0304"), 1),
    Seed("no circumflexes", C.LETTERS, _without("\u0302"), 1),
    Seed("no diaereses", C.LETTERS, _without("\u0308"), 1),
    Seed("no nuktas", C.LETTERS, _without("\u093c"), 1),
    Seed("shouted", C.CAPITALS, _cased(str.upper)),
    Seed("small letters", C.CAPITALS, _cased(str.lower)),
    Seed("every word", C.CAPITALS, _cased(str.title)),
    Seed("no end mark", C.END_MARK, _no_end),
    Seed("added end mark", C.END_MARK, _added_end, 3),
)  # fmt: skip


def spoilt(
    seed: Seed, entries: list[Entry], outputs: list[str], faulty: Collection[int | str] = ()
) -> tuple[list[str], frozenset[int | str]]:
    """Return outputs with a fault in some, and the ids of those; ``faulty`` ones stay as they are."""
    made, ids, able = list(outputs), set(), 0
    for place, (entry, output) in enumerate(zip(entries, outputs, strict=True)):
        text = seed.spoil(entry, output) if output and entry.id not in faulty else None
        if text is None:
            continue
        able += 1
        if able % seed.every == 0:
            made[place] = text
            ids.add(entry.id)
    return made, frozenset(ids)


def roughened(entries: list[Entry]) -> list[str]:
    """Return the references with two words in the middle exchanged: outputs that are right and not the reference."""
    return [_rough(entry.reference) for entry in entries]


def _rough(text: str) -> str:
    words = text.split(" ")
    middle = len(words) // 2
    if len(words) < 5 or any(re.search(r"\W|\d", item) for item in words[middle : middle + 2]):
        return text
    words[middle : middle + 2] = words[middle : middle + 2][::-1]
    return " ".join(words)


assert all(one.name != other.name for one, other in pairwise(SEEDS))
