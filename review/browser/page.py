"""One HTML file that holds a batch, the program for reviewers and the letters for both; it opens in any browser.

The same batch gives the same bytes. A browser runs the one script whose hash the page names, and connects nowhere.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from corpora.languages.tags import language_of, tag_script
from corpora.text.visible import letter_name
from harness.core.failures import UsageError
from harness.core.html_pages import filled
from harness.core.version import VERSION
from harness.sealed import phrase
from harness.sealed.sealing import Lock, lock_of
from review.files.batch import Batch
from review.files.font_file import characters_of, legible_without
from review.files.manifests import RATINGS_README
from review.office.making.carried_fonts import FONTS, brought, cut_font, lacking_in
from review.session.words.catalogue import Words, language_name, languages

# Written into each page, so that a folder of files can be searched for pages
GENERATOR: Final = "rosetta-review-page"
_HEAD: Final = 2048  # Bytes of a page in which that stands
_BLOCK: Final = 256  # Code points that are taken together into the page of a sealed batch, whose letters tell nothing
_PLURALS: Final = 201  # Plural rules of living languages repeat within these numbers
_ASCII: Final = frozenset(range(0x20, 0x7F))

_POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; font-src data:; "
    "worker-src blob:; {connects}base-uri 'none'; form-action 'none'"
)


def is_review_page(path: Path) -> bool:
    """Return whether a file is a page that this module made."""
    try:
        with path.open("rb") as file:
            return GENERATOR.encode() in file.read(_HEAD)
    except OSError:
        return False


def make_page(data: bytes, batch: Batch, *, hall: bool = False) -> bytes:
    """Return the page of a batch file; ``data`` are its bytes, open or sealed with a passphrase.

    That of a ``hall`` sends answers to the computer that served it, and is good for nothing else.
    UsageError for a batch that is sealed for laptops, or where there is no fontTools.
    """
    sealed = lock_of(data) is not None
    if lock_of(data) is Lock.KEYS:
        raise UsageError(
            "A page cannot open what is sealed for laptops: their keys stay in the program. Leave out --page, or seal "
            "with --passphrases."
        )
    fonts = [*brought(), *(font.read().characters for font in batch.fonts)]
    lacking = sorted({letter for text in _texts(batch) for letter in lacking_in(text, fonts)})
    script = _ours("built/review.js")
    style = _style(_fonts(batch, sealed=sealed))
    facts: dict[str, Any] = {
        "version": VERSION,
        "sealed": sealed,
        "hall": hall,
        "phrase_words": " ".join(phrase.LIST),
        "catalogues": {tag: _catalogue(tag, script, batch) for tag in languages()},
        "drawn": _ranges(frozenset().union(*fonts)),
        "names": {} if sealed else {letter: letter_name(letter) for letter in lacking},
        "unreadable": sorted(_unreadable(batch, fonts)),
        "licences": _licences(batch),
        "readme": RATINGS_README,
    }
    title = "Rosetta Review" if sealed else batch.manifest.title
    # All three are ours, and a browser takes script and style only as the very bytes that the policy names
    shown = {
        "style": Markup(style),  # noqa: S704
        "script": Markup(script),  # noqa: S704
        "facts": Markup(json.dumps(facts, ensure_ascii=False, sort_keys=True).replace("<", "\\u003c")),  # noqa: S704
    }
    page = filled(
        "review.browser",
        "page.html.j2",
        policy=_POLICY.format(
            script=_digest(script), style=_digest(style), connects="connect-src 'self'; " if hall else ""
        ),
        generator=GENERATOR,
        version=VERSION,
        title=title,
        batch=b64encode(data).decode(),
        **shown,
    )
    return page.encode()


def _ours(name: str) -> str:
    return files("review.browser").joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def _licences(batch: Batch) -> str:
    ofl = (FONTS / "RosettaNotoSans-OFL.txt").read_text("utf-8")
    carried = (font.licence.decode("utf-8", "replace") for font in batch.fonts)
    return "\n\n".join([_ours("built/review.js.licences"), *dict.fromkeys([ofl, *carried])])


# ---- The program's words


def _catalogue(tag: str, script: str, batch: Batch) -> Mapping[str, object]:
    """Return the words of one language that the script says; what is not in it is said in English."""
    words = Words.load(tag)
    hidden = set("\"'`\\\n")  # A text with one of these may be written otherwise in the script
    messages = {
        text: forms for text, forms in words.messages().items() if text in script or not hidden.isdisjoint(text)
    }
    tags = {*languages(), batch.manifest.language, *batch.manifest.translations}
    return {
        "language": words.language,
        "direction": words.direction,
        "name": words.name,
        "plurals": "".join(str(words.form(count)) for count in range(_PLURALS)),
        "messages": messages,
        "names": {other: language_name(other) for other in sorted(tags)},
        "languages": {other: language_of(other) for other in sorted(tags)},
        "texts": "",
    }


# ---- Letters


def _texts(batch: Batch) -> Iterator[str]:
    """Yield every text of the batch that is shown."""
    manifest = batch.manifest
    yield from _strings([item.model_dump(exclude={"id"}) for item in (*batch.items, *batch.training)])
    yield from _strings(manifest.model_dump(include={"title", "consent", "guide", "labels", "letters"}))
    yield from _strings([manifest.organisation.name, *(given.model_dump() for given in manifest.translations.values())])


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _strings(list(value.values()))
    elif isinstance(value, Iterable):
        for part in value:
            yield from _strings(part)


def _unreadable(batch: Batch, fonts: list[frozenset[int]]) -> Iterator[str]:
    """Yield the items that nobody can judge, because letters of them are missing."""
    source, target = (tag_script(tag) for tag in (batch.manifest.source_language, batch.manifest.target_language))
    for item in batch.items:
        pair = ((item.source, source), (item.candidate, target))
        if not all(legible_without(text, lacking_in(text, fonts), script) for text, script in pair):
            yield item.id


def _ranges(codes: frozenset[int]) -> list[int]:
    """Return first and last of each run of code points, one after the other."""
    edges = sorted(
        {code for code in codes if code - 1 not in codes} | {code + 1 for code in codes if code + 1 not in codes}
    )
    return [edge - number % 2 for number, edge in enumerate(edges)]


def _fonts(batch: Batch, *, sealed: bool) -> Iterator[bytes]:
    """Yield the fonts of the page as WOFF, each cut to what it has to draw; one that nothing needs is left out."""
    texts = [*_texts(batch), *(text for tag in languages() for text in _strings(Words.load(tag).messages()))]
    wanted = {ord(letter) for text in texts for form in (text, text.upper(), text.lower()) for letter in form} | _ASCII
    if sealed:  # which letters are there would tell what is in it
        wanted = {first * _BLOCK + n for first in {code // _BLOCK for code in wanted} for n in range(_BLOCK)}
    ours = [path.read_bytes() for path in sorted(FONTS.glob("*-Regular.ttf"))]
    open_ = set(wanted)
    for data in (*ours, *(font.font for font in batch.fonts)):
        has = characters_of(data)
        if open_ & has:
            yield _woff(data, frozenset(wanted & has))
            open_ -= has


@lru_cache(maxsize=16)  # those of the next person of a review are the same
def _woff(data: bytes, wanted: frozenset[int]) -> bytes:
    font, made = cut_font(data, wanted), BytesIO()
    font.flavor = "woff"
    font.save(made)
    return made.getvalue()


def _style(fonts: Iterable[bytes]) -> str:
    """Return the style, with the fonts in it: a browser takes each letter from the first that has it."""
    data = [b64encode(font).decode() for font in fonts]
    faces = "".join(
        f"@font-face{{font-family:R{n};src:url(data:font/woff;base64,{text}) format('woff')}}\n"
        for n, text in enumerate(data)
    )
    families = "".join(f"R{n}," for n in range(len(data)))
    return f"{faces}:root{{--letters:{families}system-ui,sans-serif}}\n{_ours('style.css')}"
