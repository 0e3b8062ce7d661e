"""What stands beside a sentence for whoever judges it: where the corpus has it from, and what others wrote of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from review.files.batch_form import Around, OthersWords
from review.session.view import ShownItem
from review.session.words.catalogue import Words, msgid
from review.session.words.labels import reasons_label

CONTEXTS: Final[Mapping[str, str]] = {
    "greeting": msgid("a greeting"),
    "declaration": msgid("a statement"),
    "question": msgid("a question"),
    "instruction": msgid("something to do"),
    "narrative": msgid("part of a story"),
    "label": msgid("a sign or a name of a thing"),
    "error": msgid("a message that something went wrong"),
}
"""Context of benchmark-specification §2.6 → its words; others stand as the corpus has them."""

FORMALITIES: Final[Mapping[str, str]] = {
    "conversational": msgid("as people talk with each other"),
    "formal": msgid("formal"),
    "technical": msgid("technical"),
    "ceremonial": msgid("ceremonial"),
    "educational": msgid("for teaching"),
}
"""Register of the same section → its words."""


def beside(words: Words, item: ShownItem) -> Iterator[tuple[str, str]]:
    """Yield name and text of each thing, the words of others first; nothing of most items."""
    if item.others:
        yield (
            words("Others wrote in the first round, some of it perhaps you; you need not agree:"),
            "",
        )
        for each in item.others:
            yield from _other(words, each)
    if item.around is not None:
        yield from _around(words, item.around)


def _other(words: Words, said: OthersWords) -> Iterator[tuple[str, str]]:
    if said.reasons:
        reasons = reasons_label(words, said.reasons)
        yield words("Somebody says: {reasons}.", reasons=reasons), ""
    if said.comment:
        yield words("Somebody's comment:"), said.comment
    if said.suggestion:
        yield words("Somebody's better translation:"), said.suggestion


def _around(words: Words, around: Around) -> Iterator[tuple[str, str]]:
    if around.before:
        yield words("The sentence before it:"), around.before
    if around.after:
        yield words("The sentence after it:"), around.after
    if around.context:
        yield words("What it is:"), _known(words, CONTEXTS, around.context)
    if around.formality:
        yield words("How it is said:"), _known(words, FORMALITIES, around.formality)


def _known(words: Words, table: Mapping[str, str], tag: str) -> str:
    return words(table[tag]) if tag in table else tag
