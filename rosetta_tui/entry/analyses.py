"""What a morphological analyser says of the words of an entry: a sign for each verdict, and the analyses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from textual.content import Content

from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import show
from scoring.core.analysis import Acceptance, WordAnalysis

MOST_WORDS = 300
"""Words shown one by one; beyond them only how many there are."""

_WIDEST = 20
"""Cells that words of a list of analyses share at most; a longer word has a line of its own."""

_SIGNS = {
    Acceptance.AS_WRITTEN: ("✓", "$good"),
    Acceptance.LOWER_CASED: ("↓", "$good"),
    Acceptance.NORMALISED: ("≈", "$warn"),
    None: ("✗", "$bad"),
}
_MEANINGS = {
    Acceptance.AS_WRITTEN: "accepted as written",
    Acceptance.LOWER_CASED: "accepted in lower case",
    Acceptance.NORMALISED: "accepted in the analyser's spelling",
    None: "rejected",
}


def verdicts(words: Sequence[WordAnalysis]) -> Content:
    """Return the words in their order, each that is not accepted as written with its sign, and the counts."""
    shown = [_marked(word) for word in words[:MOST_WORDS]]
    return Content.assemble(Content(" ").join([*shown, *_rest(words)]), "\n", _counts(words))


def analyses(words: Sequence[WordAnalysis]) -> Content:
    """Return each different word with all its analyses, one a line."""
    different = list(dict.fromkeys(words))
    width = min(_WIDEST, max((cell_len(plain(word.word)) for word in different), default=0))
    lines = [line for word in different[:MOST_WORDS] for line in _analysed(word, width)]
    return Content("\n").join([*lines, *_rest(different)])


def _marked(word: WordAnalysis) -> Content:
    if word.accepted is Acceptance.AS_WRITTEN:
        return show(word.word)
    sign, tone = _SIGNS[word.accepted]
    return Content.assemble((sign, tone), show(word.word, tone))


def _counts(words: Sequence[WordAnalysis]) -> Content:
    counts = Counter(word.accepted for word in words)
    parts = [
        Content.assemble(_SIGNS[kind], (f" {counts[kind]:,} {meaning}", "$quiet"))
        for kind, meaning in _MEANINGS.items()
        if counts[kind]
    ]
    return Content("   ").join(parts)


def _rest(words: Sequence[WordAnalysis]) -> list[Content]:
    more = len(words) - MOST_WORDS
    return [Content.styled(f"… and {more:,} more words", "$quiet")] if more > 0 else []


def _analysed(word: WordAnalysis, width: int) -> Iterator[Content]:
    sign, tone = _SIGNS[word.accepted]
    name = plain(word.word)
    head = Content.assemble((f"{sign} ", tone), (name, "bold" if word.accepted else tone))
    room = width - cell_len(name)
    if room < 0:
        yield head
        head, room = Content(""), width + 2
    for number, said in enumerate(word.analyses or (_said(word),)):
        before = head if number == 0 else Content("")
        gap = " " * (room if number == 0 else width + 2)
        yield Content.assemble(before, f"{gap}  ", show(said, "" if word.analyses else "$quiet"))


def _said(word: WordAnalysis) -> str:
    """Say what became of a word that has no analyses."""
    if word.accepted is None:
        return _MEANINGS[None]
    return f"{_MEANINGS[word.accepted]}; this analyser gives no analyses"
