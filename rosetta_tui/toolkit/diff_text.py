"""An output with its differences from the reference marked by signs, and by colour only in addition."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from rosetta_tui.show.word_diff import DiffKind, Piece, WordPart, diff, filled
from rosetta_tui.toolkit.content import show

LEGEND = "[output→reference] changed   [-extra-]   [+missing+]"
"""What the signs mean."""


def diff_content(output: str, reference: str) -> Content:
    """Return the output with what differs in brackets, the differing characters underlined."""
    pieces = diff(output, reference)
    if pieces is None:
        return Content.assemble(("Too long to be compared word by word.\n", "$quiet"), show(output))
    return Content("").join([_piece(piece) for piece in pieces])


def value_content(given: str, wanted: str) -> Content:
    """Return a value beside the one that is wanted, each as a whole; in words as in a difference of texts."""
    if given == wanted:
        return show(given)
    mine, other = (filled([WordPart(text, True)]) for text in (given, wanted))
    kind = DiffKind.CHANGED if mine and other else DiffKind.EXTRA if mine else DiffKind.MISSING
    return _piece(Piece(kind, "", mine, other))


def _piece(piece: Piece) -> Content:
    space = show(piece.space)
    if piece.kind is DiffKind.SAME:
        return Content.assemble(space, _parts(piece.output, "", ""))
    if piece.kind is DiffKind.EXTRA:
        return Content.assemble(
            space, ("[-", "$bad"), _parts(piece.output, "$bad", "strike"), ("-]", "$bad")
        )
    if piece.kind is DiffKind.MISSING:
        return Content.assemble(
            space, ("[+", "$good"), _parts(piece.reference, "$good", "underline"), ("+]", "$good")
        )
    return Content.assemble(
        space,
        ("[", "$quiet"),
        _parts(piece.output, "$bad", "underline"),
        ("→", "$quiet"),
        _parts(piece.reference, "$good", "underline"),
        ("]", "$quiet"),
    )


def _parts(parts: Sequence[WordPart], colour: str, mark: str) -> Content:
    return Content("").join(
        [show(part.text, f"{mark} {colour}".strip() if part.differs else colour) for part in parts]
    )
