"""Tags of languages, varieties and spelling systems, and the nearest permitted tag to one that is not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from corpora.text.comparison import is_blank
from corpora.text.near_names import near_names

_LANGUAGE_TAG = re.compile(
    r"""
    (?: [a-z]{2,3} (?: -[a-z]{3} ){0,3}         # language, extended language
        (?: -[a-z]{4} )?                        # script
        (?: -(?: [a-z]{2} | [0-9]{3} ) )?       # region
        (?: -(?: [a-z0-9]{5,8} | [0-9][a-z0-9]{3} ) )*   # variants
        (?: -[a-wy-z0-9] (?: -[a-z0-9]{2,8} )+ )*        # extensions
        (?: -x (?: -[a-z0-9]{1,8} )+ )?         # private use
      | x (?: -[a-z0-9]{1,8} )+
    )""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)

_NOT_LANGUAGES = frozenset(
    [
        "txt",
        "src",
        "ref",
        "trg",
        "tgt",
        "hyp",
        "out",
        "dev",
        "tst",
        "trn",
        "raw",
        "tok",
        "bpe",
        "dat",
        "old",
        "new",
        "doc",
        "bak",
        "csv",
        "tsv",
        "tab",
        "mt",
        "sys",
    ]
)
"""Parts of file names that have the shape of a language tag and mean something else."""

_FLORES_NAME = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}")


def is_language_tag(tag: str) -> bool:
    """Tell whether a tag is well-formed by BCP 47.

    Language names of five letters or more are refused although the grammar allows them, because none
    is registered and ``English`` is the commonest mistake.
    """
    return _LANGUAGE_TAG.fullmatch(tag) is not None


def language_of_file(name: str) -> str | None:
    """Read the language tag out of a file name such as ``news.eng.txt``, None where there is none."""
    stem, *parts = name.split(".")
    for part in reversed(parts):
        if part.lower() in _NOT_LANGUAGES:
            continue
        tag = part.replace("_", "-")
        return tag if is_language_tag(tag) else None
    return stem.replace("_", "-") if _FLORES_NAME.fullmatch(stem) else None


def pair_label(source_language: str, target_language: str) -> str:
    """Return the display label of a language pair, ``EN→CRK``, from its tags (§2.1)."""
    source, target = (tag.split("-")[0].upper() for tag in (source_language, target_language))
    return f"{source}→{target}"


def nearest(tag: str, permitted: Iterable[str]) -> str | None:
    """Return the permitted tag that looks most like this one, None where none comes near."""
    return next(iter(near_names(tag, permitted, most=1)), None)


_LONGEST_TAG = 100


def wrong_tag(tag: str) -> tuple[str, str] | None:
    """Return what is wrong with the name of a variety or orthography, and its mend; None where nothing is."""
    if is_blank(tag):
        return "It is blank.", "Write a name, or leave the field out."
    if len(tag) > _LONGEST_TAG or not tag.isprintable():
        return (
            f"It is no name: longer than {_LONGEST_TAG} characters, or with characters that nobody sees.",
            "Write a short name; explanations go into notes.",
        )
    return None
