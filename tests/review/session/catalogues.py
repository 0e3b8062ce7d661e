"""Catalogues of the reviewer's words."""

from functools import cache
from pathlib import Path

from review.session.words import build
from review.session.words.catalogue import DOMAIN


def catalogue(folder: Path, tag: str, po: str) -> Path:
    """Compile a catalogue as a community would: any code, only some of the words."""
    path = folder / tag / "LC_MESSAGES" / f"{DOMAIN}.mo"
    path.parent.mkdir(parents=True)
    source = path.with_suffix(".po")
    source.write_text(f'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n{po}')
    path.write_bytes(build.compiled(build.read(source)))
    return path


def entry(msgid: str, msgstr: str) -> str:
    return f'msgid "{msgid}"\nmsgstr "{msgstr}"\n\n'


collected = cache(build.collect)
"""All words of the code, read once."""
