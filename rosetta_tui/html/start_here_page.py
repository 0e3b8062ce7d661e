"""The page on a stick that a speaker opens first: what to do on which computer, in English and French.

Its texts are ours and hold marks of HTML; nothing from outside is on it but the code and the words of a sample.
"""

from __future__ import annotations

import tomllib
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from rosetta_tui.html.page import render

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


class SampleFacts(NamedTuple):
    """What a sample on the stick asks for; no secret."""

    code: str
    phrase: str
    """Its six words."""


class StepPicture(NamedTuple):
    """A picture on the page."""

    words: str
    """What it shows."""
    png: bytes


def start_here_page(
    systems: Collection[str],
    sample: SampleFacts | None = None,
    pictures: Mapping[str, Sequence[StepPicture]] | None = None,
) -> str:
    """Return the page. ``systems`` are those whose program is on the stick, ``pictures`` are by language."""
    drawn = pictures or {}
    facts = {"code": "", "phrase": ""} if sample is None else sample._asdict()
    articles = [
        _article(tag, texts, systems, facts) | {"drawn": list(map(_drawn, drawn.get(tag, ())))}
        for tag, texts in start_here_texts().items()
    ]
    return render(
        "start_here.html.j2",
        {"articles": articles, "sample": sample},
        style_file="start_here.css",
        pictures=True,
    )


def _drawn(picture: StepPicture) -> tuple[str, str]:
    """Return what a picture shows, and the picture as an address."""
    return picture.words, f"data:image/png;base64,{b64encode(picture.png).decode()}"


@cache
def start_here_texts() -> dict[str, dict[str, Any]]:
    """Return what the page says, by language; ``shown`` are the words of its pictures."""
    return tomllib.loads(files("rosetta_tui.html").joinpath("start_here.toml").read_text("utf-8"))


def _article(
    tag: str, texts: Mapping[str, Any], systems: Collection[str], facts: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the page says in one language, marks of HTML in it marked as ours."""
    programs = texts["systems"]
    lacking = [program["name"] for system, program in programs.items() if system not in systems]
    return {
        "tag": tag,
        **_filled({name: texts[name] for name in texts.keys() - {"systems", "missing"}}, facts),
        "programs": [_filled(programs[system], facts) for system in programs if system in systems],
        "missing": texts["missing"].format(systems=", ".join(lacking)) if lacking else "",
    }


def _filled(text: Any, facts: Mapping[str, str]) -> Any:
    """Return texts of ours as HTML, the facts filled in and escaped."""
    if isinstance(text, str):
        return Markup(text).format(**facts)  # noqa: S704
    if isinstance(text, list):
        return [_filled(line, facts) for line in text]
    return {name: _filled(value, facts) for name, value in text.items()}
