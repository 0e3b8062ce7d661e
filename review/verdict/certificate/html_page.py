"""One self-contained HTML page: our own style, no script, nothing fetched, and texts from outside made harmless."""

from __future__ import annotations

import re
import unicodedata
from html import escape

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2329; --paper: #fdfcf9; --quiet: #5c6670; --line: #d9d4c8; --mark: #0b6e6e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e4de; --paper: #16191c; --quiet: #9aa4ad; --line: #373d42; --mark: #5fc4bd; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 44rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 1.125rem/1.6 system-ui, "Noto Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.9rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
.answer { font-size: 1.5rem; font-weight: 600; color: var(--mark); margin: 1rem 0; }
.quiet { color: var(--quiet); font-size: .95rem; }
.card { border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.25rem; margin: 1rem 0; break-inside: avoid; }
.card p { margin: .25rem 0; }
.said { font-size: 1.3rem; line-height: 1.7; }
table { border-collapse: collapse; width: 100%; margin: .75rem 0; }
th, td { text-align: start; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { white-space: nowrap; overflow-wrap: normal; }
td { width: 100%; }
code { font-size: .85rem; }
@media print { body { max-width: none; padding: 0; background: #fff; color: #000; } }
"""

_UNSEEN = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")


def document(title: str, body: str, *, language: str = "en", direction: str = "ltr") -> str:
    """Return a whole page; ``body`` is HTML of ours, in which texts from outside went through ``outside``."""
    return (
        f'<!doctype html>\n<html lang="{escape(language)}" dir="{escape(direction)}">\n<head>\n'
        '<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(visible(title))}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def outside(text: str) -> str:
    """Return a text from outside as HTML that can only show it, in its own direction and apart from its surroundings."""
    return f'<bdi dir="auto">{escape(visible(text))}</bdi>'


def visible(text: str) -> str:
    """Return a text in which controls, direction marks and unpaired surrogates are visible symbols; line breaks stay."""
    return _UNSEEN.sub("\u2423", "".join(map(_visible, text)))


def _visible(character: str) -> str:
    if character in "\n\t":
        return character
    return "\ufffd" if unicodedata.category(character) in {"Cc", "Cs", "Cn"} else character
