"""From facts to a page: style, and a policy under which a browser fetches and runs nothing."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files

from markupsafe import Markup

from corpora.languages.tags import is_language_tag
from harness.core.html_pages import filled
from harness.core.version import VERSION

MOST_LETTERS = 1200  # characters of one text that a page shows


@dataclass(frozen=True, slots=True)
class Language:
    """A language as a page names it to a browser."""

    tag: str  # BCP 47; empty where a card states none that is well-formed

    @classmethod
    def of(cls, stated: object) -> Language:
        """Return the language that a card states; one that is no tag counts as not stated."""
        return cls(stated if isinstance(stated, str) and is_language_tag(stated) else "")


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of a table of facts: label and value."""

    name: str
    words: str


def render(template: str, *, style_file: str = "style.css", pictures: bool = False, **facts: object) -> str:
    """Return a page from a template and its facts, byte by byte reproducible; jinja2.UndefinedError where a fact is missing."""
    style = files("rosetta_tui.html").joinpath(style_file).read_text("utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    images = "img-src data:; " if pictures else ""
    policy = f"default-src 'none'; {images}style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    # the style is ours, and a browser takes it only as the very bytes that the policy names
    shown = Markup(style)  # noqa: S704
    return filled("rosetta_tui.html", template, style=shown, policy=policy, version=VERSION, **facts)


def notebook_table(
    title: str, lines: Sequence[str], head: Sequence[str] = (), rows: Sequence[Sequence[str]] = ()
) -> str:
    """Return how an object shows itself in a notebook: plain HTML without style, in which every text is escaped."""
    return filled("rosetta_tui.html", "notebook.html.j2", title=title, lines=lines, head=head, rows=rows)


def shortened(text: str, most: int = MOST_LETTERS) -> str:
    """Return a text as far as a page shows it, with how much is left out."""
    more = len(text) - most
    return text if more <= 0 else f"{text[:most]}… (and {more:,} more characters)"
