"""The keys that the page of an item offers at its foot, in the reviewer's language."""

from __future__ import annotations

from review.session.view import TextField, View
from review.session.words.catalogue import Words
from review.session.words.item import offers
from review.session.words.keys import KEYS, Act
from rosetta_tui.review.rating.parts.key_line import Hint


def hints(words: Words, view: View) -> list[Hint]:
    """Return the keys beside the ratings."""
    offered = [_hint(offer.act, offer.said) for offer in offers(words, view) if offer.now]
    if view.lesson is not None:
        return [Hint(words("Enter"), words("go on"), "enter"), *offered]
    if view.item is not None and view.item.stands:
        return [Hint(words("Enter"), words("back"), "enter"), *offered]
    return offered


def _hint(act: Act, said: str) -> Hint:
    return Hint(KEYS[act][0], said, f"act('{act}')")


def back(words: Words) -> list[Hint]:
    """Return the key that leads back to the ratings."""
    return [Hint(words("Esc"), words("back"), "back")]


def harm_hints(words: Words) -> list[Hint]:
    """Return the answers to the question whether an item is harmful."""
    return [Hint(words("Enter"), words("yes"), "enter"), Hint(words("Esc"), words("no"), "back")]


def writing_hints(words: Words, field: TextField) -> list[Hint]:
    """Return the keys of the box; the up key begins with the translation."""
    hints = [
        Hint(words("Enter"), words("save"), "enter"),
        Hint(words("Esc"), words("back; your words are kept"), "back"),
    ]
    if field is TextField.SUGGESTION:
        hints.append(Hint("↑", words("copy the translation here"), "start"))
    return hints
