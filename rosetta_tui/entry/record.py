"""What a record says, as people read it: question and answer, then its further fields."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from textual.content import Content

from corpora.model.entry import Entry
from corpora.model.task import TRANSLATION, json_text
from corpora.model.task_records import own_answer
from corpora.text.comparison import is_blank
from rosetta_tui.show.output_text import DiffKind, Piece, WordPart, diff, filled
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import PageLine, show, show_lines

COMPARED_AS_TEXT = frozenset({TRANSLATION, "qa"})  # tasks compared word by word as they stand
SPEECH = frozenset({"asr", "diarization"})  # tasks compared without case and punctuation


def text_of(text: str, task: str) -> Content:
    """Return a text of a record; a translation's line breaks are signs in it, those of other tasks break lines."""
    return show(text) if task == TRANSLATION else show_lines(text)


def conversation(entry: Entry, output: str | None) -> list[PageLine]:
    """Return the turns of a conversation, each with its answer; nothing where the record or the output has others."""
    turns = (entry.model_extra or {}).get("turns")
    answers = _answers(output)
    if not isinstance(turns, list) or not turns or len(answers) not in {0, len(turns)}:
        return []
    if not all(isinstance(turn, Mapping) and isinstance(turn.get("user"), str) for turn in turns):
        return []
    lines = []
    for number, turn in enumerate(turns, 1):
        lines_said = [("user", turn["user"])]
        if answers:
            lines_said.append(("answer", answers[number - 1]))
        if isinstance(turn.get("reference"), str):
            lines_said.append(("reference", turn["reference"]))
        # what somebody says after their name; several lines, such as a table, keep their own places
        parts = [
            Content.assemble((f"{who}:" + ("\n" if len(text.splitlines()) > 1 else " "), "$quiet"), show_lines(text))
            for who, text in lines_said
        ]
        lines.append(PageLine(f"Turn {number}", Content("\n").join(parts)))
    return lines


def answers_in_row(entry: Entry, output: str) -> str:
    """Return the answers of a conversation one after the other, and every other output as it is."""
    return "\n\n".join(_answers(output)) or output if "turns" in (entry.model_extra or {}) else output


def _answers(output: str | None) -> list[str]:
    """Read the answers of a conversation; none where the output is no JSON list of texts."""
    try:
        given = json.loads(output or "")
    except (ValueError, RecursionError):
        return []
    texts = isinstance(given, list) and all(isinstance(item, str) for item in given)
    return given if texts else []


def about(
    entry: Entry, task: str = TRANSLATION, *, output: str | None = None, told: Collection[str] = ()
) -> list[PageLine]:
    """Yield dialect, spelling, analysis, notes and unknown fields, except ``told`` ones and repeated texts."""
    texts = {
        "Variety": entry.variety,
        "Orthography": entry.orthography,
        "Analysis": entry.morphological_analysis,
        "Notes": entry.notes,
        "Variant class": entry.variant_class,
    }
    lines = [PageLine(label, show_lines(text)) for label, text in texts.items() if text]
    known = {text for text in (entry.source, entry.reference, output) if text}
    extra = entry.model_extra or {}
    brought = own_answer(task, extra)
    own = brought is not None and brought == (output or "")
    for name, value in extra.items():
        again = isinstance(value, str | list | dict) and _as_text(value) in known
        if not (again or name in told or (own and name.startswith("predicted"))):
            lines.append(
                PageLine(
                    plain(name if len(name) <= _LABEL else name.replace("_", " ")[: 3 * _LABEL]),
                    show_lines(_field_words(name, value)),
                )
            )
    return lines


def _as_text(value: object) -> str:
    """Return a field as a text of the record would hold it."""
    return value if isinstance(value, str) else json_text(value)


_LABEL = 14  # cells of a label


def _field_words(name: str, value: object) -> str:
    if isinstance(value, list | tuple) and name in _LISTED:
        parts = [_LISTED[name](item) for item in value]
        return "\n".join(f"{number}. {part}" for number, part in enumerate(parts, 1))
    if name == "choices" and isinstance(value, list | tuple) and len(value) <= len(ascii_uppercase):
        return "\n".join(f"{letter}. {_piece(item)}" for letter, item in zip(ascii_uppercase, value, strict=False))
    return field_words(value)


def field_words(value: object) -> str:
    """Return a field as people read it: texts as they are, pieces one after the other, calls and states as JSON lines."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or not value:
        return json_words(value)
    parts = [_piece(item) for item in value]
    return "\n".join(f"{number}. {part}" for number, part in enumerate(parts, 1))


def json_words(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


_SAID = ("user", "assistant", "reference")  # what a turn of a conversation holds, in its order


def _piece(piece: object) -> str:
    if isinstance(piece, str):
        return piece
    if not isinstance(piece, Mapping):
        return json_words(piece)
    if isinstance(piece.get("user"), str):
        lines = [f"{name}: {piece[name]}" for name in _SAID if isinstance(piece.get(name), str)]
        return "\n   ".join([*lines, *_rest(piece, _SAID)])
    for name in ("text", "id"):
        if isinstance(text := piece.get(name), str):
            return "   ".join([text, *_rest(piece, (name,))])
    return json_words(piece)


def _tool(tool: object) -> str:
    """Return a function as ``name(parameter, other?)`` with what it does; ``?``: it may be left out."""
    if not isinstance(tool, Mapping) or not isinstance(name := tool.get("name"), str):
        return _piece(tool)
    schema = tool.get("parameters") or {}
    if not isinstance(schema, Mapping) or (schema and not {"type", "properties"} & set(schema)):
        return _piece(tool)
    known, wanted = schema.get("properties", {}), schema.get("required", ())
    if not isinstance(known, Mapping) or not isinstance(wanted, list | tuple):
        return _piece(tool)
    call = ", ".join(f"{parameter}" if parameter in wanted else f"{parameter}?" for parameter in known)
    description = tool.get("description")
    return f"{name}({call})" + (f"   {description}" if isinstance(description, str) and description.strip() else "")


def _instruction(instruction: object) -> str:
    """Return the id of a check, and its arguments."""
    if not isinstance(instruction, Mapping) or not isinstance(id_ := instruction.get("id"), str):
        return _piece(instruction)
    arguments = instruction.get("kwargs") or {}
    if set(instruction) - {"id", "kwargs"} or not isinstance(arguments, Mapping):
        return _piece(instruction)
    given = (f"{name}: {_as_text(value)}" for name, value in arguments.items())
    return "   ".join([id_, *filter(None, [", ".join(given)])])


_LISTED = {"tools": _tool, "instructions": _instruction}  # fields shown in a way of their own


def _rest(piece: Mapping[Any, Any], told: Collection[str]) -> Iterator[str]:
    rest = {name: value for name, value in piece.items() if name not in told}
    if rest:
        yield json_words(rest)


def asked(entry: Entry, task: str, reference: Content) -> Iterator[PageLine]:
    """Yield source and reference, where the record has them; ``reference`` is shown as it comes."""
    yield PageLine("Source", text_of(entry.source, task))
    if task == TRANSLATION or not is_blank(entry.reference):
        yield PageLine("Reference", reference)


# ---- An output with its differences from the reference marked by signs, and by colour only in
# addition.

LEGEND = "[output→reference] changed   [-extra-]   [+missing+]"  # what the signs mean


def diff_content(output: str, reference: str) -> Content:
    """Return the output with what differs in brackets, the differing characters underlined."""
    pieces = diff(output, reference)
    if pieces is None:
        return Content.assemble(("Too long to be compared word by word.\n", "$quiet"), show(output))
    return Content("").join([_diff_text_piece(piece) for piece in pieces])


def value_content(given: str, wanted: str) -> Content:
    """Return a value beside the one that is wanted, each as a whole; in words as in a difference of texts."""
    if given == wanted:
        return show(given)
    mine, other = (filled([WordPart(text, True)]) for text in (given, wanted))
    kind = DiffKind.CHANGED if mine and other else DiffKind.EXTRA if mine else DiffKind.MISSING
    return _diff_text_piece(Piece(kind, "", mine, other))


def _diff_text_piece(piece: Piece) -> Content:
    space = show(piece.space)
    if piece.kind is DiffKind.SAME:
        return Content.assemble(space, _parts(piece.output, "", ""))
    if piece.kind is DiffKind.EXTRA:
        return Content.assemble(space, ("[-", "$bad"), _parts(piece.output, "$bad", "strike"), ("-]", "$bad"))
    if piece.kind is DiffKind.MISSING:
        return Content.assemble(space, ("[+", "$good"), _parts(piece.reference, "$good", "underline"), ("+]", "$good"))
    return Content.assemble(
        space,
        ("[", "$quiet"),
        _parts(piece.output, "$bad", "underline"),
        ("→", "$quiet"),
        _parts(piece.reference, "$good", "underline"),
        ("]", "$quiet"),
    )


def _parts(parts: Sequence[WordPart], colour: str, mark: str) -> Content:
    return Content("").join([show(part.text, f"{mark} {colour}".strip() if part.differs else colour) for part in parts])
