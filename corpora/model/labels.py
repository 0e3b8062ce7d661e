"""Labels of Local Contexts by their identifiers (``labels.toml``): what a community says of who may use its knowledge.

A label may be given as its identifier (``TK NC``, ``tk-nc``), its name (``TK Non-Commercial``) or its address.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import NamedTuple

from corpora.text.near_names import fold

ADDRESS = "https://localcontexts.org/label/"
"""Below it every label has its page."""

_LOOKS_LIKE_ONE = re.compile(r"\s*((tk|bc)\b|https?://(www\.)?localcontexts\.org)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://(?:www\.)?localcontexts\.org/label/([a-z-]+)/?", re.IGNORECASE)


class ContextLabel(NamedTuple):
    """One label."""

    identifier: str
    """Such as ``TK NC``."""
    name: str
    page: str
    """The last part of its address."""

    @property
    def words(self) -> str:
        """Identifier and name, for people."""
        return f"{self.name} ({self.identifier})"


@cache
def context_labels() -> dict[str, ContextLabel]:
    """Return the labels by identifier, those of traditional knowledge first."""
    table = resources.files("corpora.model").joinpath("labels.toml").read_text("utf-8")
    return {
        label_name: ContextLabel(label_name, *named)
        for label_name, named in tomllib.loads(table).items()
    }


def find_label(text: str) -> ContextLabel | None:
    """Return the label that a text names by identifier, name or address, in any case; None where it is none."""
    address = _ADDRESS.fullmatch(text.strip())
    asked = fold(address[1] if address else text)
    return _known().get(asked)


def label_words(labels: object) -> tuple[str, ...]:
    """Return the labels of an envelope in words for people: those of Local Contexts with name and identifier, others as they are."""
    given = labels if isinstance(labels, list | tuple) else [labels]
    labels_found = [
        (label_text, find_label(label_text)) for label_text in given if isinstance(label_text, str)
    ]
    return tuple(label_text if label is None else label.words for label_text, label in labels_found)


def looks_like_label(text: str) -> bool:
    """Return whether a text is meant as one of these labels: it begins with TK or BC, or with the address."""
    return _LOOKS_LIKE_ONE.match(text) is not None


@cache
def _known() -> dict[str, ContextLabel]:
    return {
        fold(name): label
        for label in context_labels().values()
        for name in (*label[:2], label.page, label.words)
    }
