"""Collecting the words for reviewers into a template, and compiling the catalogues: for developers.

``python -m review.session.words.build`` reads the words from the code, brings every ``.po`` up to date and compiles
it; ``python -m review.session.words.build crk.po`` compiles the catalogue of a community and says what is missing in
it. It needs Babel, which the program itself does not.
"""

from __future__ import annotations

import io
import re
import sys
from ast import literal_eval
from collections.abc import Iterator, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from review.session.words.catalogue import DOMAIN, ENGLISH, OURS

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

ROOT: Final = Path(__file__).parents[3]
# Where words for reviewers are said; some of these files say none through these functions
FILES: Final = (
    "review/session/**/*.py",
    "review/desktop/**/*.py",
    "review/office/results/community_page.py",
    "rosetta_tui/review/*.py",
    "rosetta_tui/review/rating/**/*.py",
)
# Function → which of its arguments are words; None: the first
KEYWORDS: Final = {"words": None, "_words": None, "msgid": None, "plural": (1, 2)}
# The same in the sources of the page
PAGE: Final = "web/*/*.js"
_STRING: Final = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_IN_PAGE: Final = re.compile(rf"\b(?:(?:say|msgid)\(\s*{_STRING}|plural\(\s*{_STRING},\s*{_STRING})")
TEMPLATE: Final = OURS / f"{DOMAIN}.pot"

_FACT = re.compile(r"\{\w+\}")
# A template that was made twice from the same words is the same file
_DATE: Final = datetime(2026, 1, 1, tzinfo=UTC)
_HEADER: Final = "# What reviewers read and hear. Short sentences, plain words, no jargon."


def collect() -> Catalog:
    from babel.messages.catalog import Catalog
    from babel.messages.extract import extract_from_file

    template = Catalog(
        project="Rosetta", version="1", charset="utf-8", creation_date=_DATE,
        header_comment=_HEADER, fuzzy=False,
    )  # fmt: skip
    for path in sorted(path for files in FILES for path in ROOT.glob(files)):
        messages = extract_from_file("python", path, KEYWORDS, comment_tags=("Translators:",))
        for _, message, comments, _ in messages:
            template.add(message, auto_comments=comments)
    for path in sorted(ROOT.glob(PAGE)):
        for match in _IN_PAGE.finditer(path.read_text("utf-8")):
            one, *many = [literal_eval(text) for text in match.groups() if text]
            template.add((one, *many) if many else one)
    return template


def catalogues() -> list[Path]:
    """Return the ``.po`` files of the languages that are shipped."""
    return sorted(OURS.glob(f"*/LC_MESSAGES/{DOMAIN}.po"))


def read(path: Path) -> Catalog:
    """Read a catalogue; any language code is taken."""
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        return read_po(file, charset="utf-8")


def compiled(catalogue: Catalog) -> bytes:
    """Return a catalogue in the form that the program reads."""
    from babel import Locale
    from babel.messages.mofile import write_mo

    if catalogue.locale is None:
        catalogue._locale = Locale(ENGLISH)  # noqa: SLF001  Babel drops forms for numbers of a language that it does not know
    buffer = io.BytesIO()
    write_mo(buffer, catalogue)
    return buffer.getvalue()


def problems(path: Path, template: Catalog) -> Iterator[str]:
    """Return what is missing, left over or wrong in a ``.po`` file, each with its message."""
    catalogue = read(path)
    wanted, there = _messages(template), _messages(catalogue)
    for words in sorted(wanted.keys() - there.keys()):
        yield f"missing: {words}"
    for words in sorted(there.keys() - wanted.keys()):
        yield f"left over: {words}"
    for words in sorted(wanted.keys() & there.keys()):
        texts = there[words]
        facts = set(_FACT.findall("".join(words)))
        if not all(texts):
            yield f"not translated: {words}"
        elif any(not set(_FACT.findall(text)) <= facts for text in texts):
            yield f"other facts than {sorted(facts)}: {words}"


def _messages(catalogue: Catalog) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return what is to be said → how it is said; two forms or more where a number is in it."""
    return {_forms(message.id): _forms(message.string or "") for message in catalogue if message.id}


def _forms(texts: str | Sequence[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)


def build() -> list[str]:
    """Write the template, bring every catalogue up to date, compile it; gives what is still to be done."""
    template = collect()
    _write_po(TEMPLATE, template)
    open_ends = []
    for path in catalogues():
        catalogue = read(path)
        catalogue.update(deepcopy(template), no_fuzzy_matching=True)
        catalogue.obsolete.clear()
        if path.parts[-3] == ENGLISH:
            # Set every English message to what its id says.
            for message in catalogue:
                if message.id:
                    message.string = message.id
        _write_po(path, catalogue)
        path.with_suffix(".mo").write_bytes(compiled(catalogue))
        open_ends += [f"{path.parts[-3]}: {problem}" for problem in problems(path, template)]
    return open_ends


def _write_po(path: Path, catalogue: Catalog) -> None:
    from babel.messages.pofile import write_po

    buffer = io.BytesIO()
    write_po(buffer, catalogue, width=100, no_location=True, sort_output=True)
    path.write_bytes(buffer.getvalue())


def build_one(path: Path) -> list[str]:
    """Compile a community's catalogue beside itself; gives what is still to be done, or wrong."""
    path.with_name(f"{DOMAIN}.mo").write_bytes(compiled(read(path)))
    return list(problems(path, read(TEMPLATE)))


if __name__ == "__main__":
    given = [Path(path_text) for path_text in sys.argv[1:]]
    for line in [line for path in given for line in build_one(path)] if given else build():
        print(line)
