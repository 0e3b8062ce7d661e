"""The page that a person opens first: what to do on which computer, with pictures, in English and French.

It stands alone: pictures are inside it, and it asks for nothing from outside, not even a letter's shape.
"""

from __future__ import annotations

import base64
import tomllib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import recipe
from sample import Sample

FILE = "START-HERE.html"
TEXTS = recipe.HERE / "start_here.toml"
ARCHIVES = {
    "windows": "Review-Windows.zip",
    "macos": "Review-macOS.zip",
    "linux": "Review-Linux.tar.xz",
}
"""System → the archive's name on a stick."""

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --ground: #fbf9f4; --line: #8a8577; --accent: #1d4f6b; }
@media (prefers-color-scheme: dark) { :root { --ink: #f2efe8; --ground: #16191b; --line: #8f8a7d; --accent: #8cc4e0; } }
body { font: 1.25rem/1.55 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 46rem;
       margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 2.2rem; margin: 0 0 .5rem; } h2 { margin-top: 2.2rem; } h2, h3 { color: var(--accent); }
nav a { display: inline-block; padding: .6rem 1.2rem; margin: 0 .6rem .6rem 0; border: 2px solid var(--accent);
        border-radius: .5rem; color: var(--accent); text-decoration: none; font-weight: 600; }
li { margin: .5rem 0; } b { overflow-wrap: anywhere; }
img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: .4rem; }
figure { margin: 1.5rem 0; } figcaption { margin-top: .3rem; }
article { border-top: 3px solid var(--line); margin-top: 3rem; padding-top: 1rem; }
"""


def page(
    there: Sequence[str], made: Sample, pictures: Mapping[str, Sequence[tuple[str, Path]]]
) -> str:
    """Return the page; ``there`` are the systems whose archive is on the stick, ``pictures`` by language."""
    texts = tomllib.loads(TEXTS.read_text("utf-8"))
    links = "".join(f'<a href="#{tag}">{escape(said["name"])}</a>' for tag, said in texts.items())
    articles = "".join(
        _article(tag, said, there, made, pictures.get(tag, ())) for tag, said in texts.items()
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        "style-src 'unsafe-inline'\">"
        f"<title>Start here · Commencez ici</title><style>{_STYLE}</style></head>"
        f'<body><nav aria-label="Language · Langue">{links}</nav><main>{articles}</main></body></html>\n'
    )


def _article(
    tag: str,
    said: Mapping[str, Any],
    there: Sequence[str],
    made: Sample,
    pictures: Sequence[tuple[str, Path]],
) -> str:
    facts = {"code": escape(made.code), "phrase": escape(made.phrase)}
    pieces = [f"<h1>{said['title']}</h1><p>{said['lead']}</p><h2>{said['which']}</h2>"]
    systems = said["systems"]
    pieces += [
        f"<h3>{systems[each]['name']}</h3>{_steps(systems[each]['steps'], facts)}" for each in there
    ]
    absent = [systems[each]["name"] for each in systems if each not in there]
    if absent:
        pieces.append(f"<p>{said['missing'].format(systems=', '.join(absent))}</p>")
    for name in ("sample", "real"):
        pieces.append(f"<h2>{said[name]}</h2>{_steps(said[f'{name}_steps'], facts)}")
    if pictures:
        pieces.append(f"<h2>{said['pictures']}</h2>{''.join(map(_figure, pictures))}")
    pieces.append(f"<h2>{said['trouble']}</h2>{_steps(said['trouble_steps'], facts, 'ul')}")
    return f'<article id="{tag}" lang="{tag}">{"".join(pieces)}</article>'


def _steps(steps: Sequence[str], facts: Mapping[str, str], kind: str = "ol") -> str:
    lines = "".join(f"<li>{step.format(**facts)}</li>" for step in steps)
    return f"<{kind}>{lines}</{kind}>"


def _figure(picture: tuple[str, Path]) -> str:
    words, path = picture
    data = base64.b64encode(path.read_bytes()).decode()
    said = escape(words)
    return (
        f'<figure><img alt="{said}" src="data:image/png;base64,{data}">'
        f"<figcaption>{said}</figcaption></figure>"
    )
