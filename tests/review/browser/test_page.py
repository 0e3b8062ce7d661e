"""The page of a batch: the same bytes each time, one script that a policy names, and every letter that it has to show."""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import sha256
from html.parser import HTMLParser
from io import BytesIO

import pytest
from fontTools.ttLib import TTFont

from harness.core.failures import UsageError
from harness.sealed.sealing import seal
from review.browser.page import make_page
from review.files.batch import Batch, make_batch, write_batch
from review.files.manifests import BatchItem
from review.office.making.carried_fonts import brought
from review.session.words import build
from review.session.words.catalogue import Words, languages
from tests.harness.sealed.refusals import refuses
from tests.review.browser.scripts import WEB
from tests.review.files import made

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e<!--"
PASSPHRASE = "tabol nidur hokes"


class Elements(HTMLParser):
    """Every element of a page with its attributes, and what stands in scripts."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._inside = False
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts.append(data)
            self._inside = False


def page(batch: Batch) -> bytes:
    return make_page(batch.archive, batch)


def with_text(text: str, **changes: object) -> Batch:
    items = [item.model_copy(update={"source": text, "candidate": text}) for item in made.items()]
    return make_batch(made.manifest(**changes), items, made.training(), made.ORGANISATION, made.SALT)


def digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def facts(page: bytes) -> dict[str, object]:
    found = re.search(rb'id="rosetta-page">(.*?)</script>', page, re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def drawn(page: bytes) -> set[int]:
    fonts = re.findall(rb"data:font/woff;base64,([^)]*)\)", page)
    return {code for font in fonts for code in TTFont(BytesIO(b64decode(font))).getBestCmap()}


@pytest.mark.costly("it cuts fonts")
def test_page_runs_one_script_and_fetches_nothing() -> None:
    batch = with_text(HOSTILE, title=HOSTILE, consent=HOSTILE)
    made_page = page(batch)
    assert page(batch) == made_page
    found = Elements(made_page)
    assert [tag for tag, _ in found.found].count("script") == 3
    assert not [
        facts for tag, facts in found.found if tag in {"img", "link", "iframe"} or "src" in facts or "href" in facts
    ]
    [policy] = [
        facts["content"] or "" for _, facts in found.found if facts.get("http-equiv") == "Content-Security-Policy"
    ]
    style, *_, script = found.scripts
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest(script)}'; style-src 'sha256-{digest(style)}'; font-src data:; "
        "worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    assert not re.search(r"https?://(?!www\.w3\.org)", script)


@pytest.mark.costly("it cuts fonts to whole blocks")
def test_sealed_page_tells_nothing_of_its_batch() -> None:
    batch = made.batch(secret=True, title="Whispered")
    made_page = make_page(write_batch(batch, passphrase=PASSPHRASE), batch)
    assert b"Whispered" not in made_page
    assert b"\\u14c2" not in made_page
    assert {*range(0x1401, 0x1500)} - drawn(made_page) <= {0x1400}, "whole blocks: which letters are there would tell"
    assert set(range(0x1401, 0x1500)) - drawn(page(made.batch()))
    refuses(UsageError, "sealed for laptops", make_page, seal(batch.archive, [made.LAPTOP.public.recipient]), batch)


@pytest.mark.costly("it cuts fonts")
def test_letters_of_no_font_are_named() -> None:
    batch = with_text("Hello \U0001f600")
    shown = facts(page(batch))
    assert (shown["names"], shown["unreadable"]) == ({"\U0001f600": "GRINNING FACE"}, [])
    cherokee = with_text("\u13a0\u13a1\u13a2", target_language="chr-Cher", secret=True)
    shown = facts(make_page(write_batch(cherokee, passphrase=PASSPHRASE), cherokee))
    assert (shown["names"], shown["unreadable"]) == ({}, sorted(item.id for item in made.items()))
    runs = shown["drawn"]
    assert isinstance(runs, list)
    assert runs == sorted(runs)
    covered = {code for first, last in zip(runs[::2], runs[1::2], strict=True) for code in range(first, last + 1)}
    assert covered == set().union(*brought())


def test_every_letter_of_the_batch_and_of_typing_is_in_the_page() -> None:
    made_page = page(with_text("Ɓa ŋ é \u14c2\u1401\u1424", letters=("ɓ", "ŋ̀")))
    texts = "Ɓɓŋ\u0300éÉ\u14c2\u1401\u1424abcxyzABCXYZ0189«»’ç"
    assert {ord(letter) for letter in texts} <= drawn(made_page)


def test_words_of_the_page_are_those_of_the_catalogues() -> None:
    catalogues = facts(page(made.batch()))["catalogues"]
    assert isinstance(catalogues, dict)
    assert set(catalogues) == set(languages())
    french = Words.load("fr")
    shown = catalogues["fr"]
    assert shown["messages"]["Reject"] == french("Reject")
    assert [int(digit) for digit in shown["plurals"][:3]] == [0, 0, 1]
    template = {words if isinstance(words, str) else words[0] for m in build.collect() if (words := m.id)}
    source = "\n".join(path.read_text("utf-8") for path in build.ROOT.glob("web/face/*.js"))
    literal = set(re.findall(r"say\(\s*'((?:[^'\\]|\\.)+)'", source))
    assert literal <= template


@pytest.mark.costly("it cuts the fonts of 80 sentences")
def test_page_of_eighty_sentences_is_small() -> None:
    items = [
        BatchItem(id=made.identifier(f"i{n}"), source=f"{n} " + "word " * 20, candidate="\u14c2\u1401\u1424 " * 15)
        for n in range(80)
    ]
    order = tuple(item.id for item in items)
    manifest = made.manifest(orders=dict.fromkeys(made.manifest().orders, order))
    batch = make_batch(manifest, items, made.training(), made.ORGANISATION, made.SALT)
    assert len(page(batch)) <= 400_000


def test_sources_have_at_most_three_thousand_lines() -> None:
    """Count lines that are neither blank nor hold a comment alone, as docs/internals/web.md says."""
    sources = [path for path in WEB.rglob("*.js") if "node_modules" not in path.parts]
    text = "\n".join(path.read_text("utf-8") for path in sources)
    comments = re.compile(r"^ *(?://.*|/\*(?:(?!\*/)[\s\S])*\*/ *)$", re.MULTILINE)
    lines = [line for line in comments.sub("", text).splitlines() if line.strip()]
    assert len(lines) <= 3000
