"""A page read more strictly than a browser does: whole, quiet, and to be read aloud."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "br", "hr", "col", "img"}
SVG = {"svg", "title", "desc", "line", "circle", "rect", "text", "g", "path"}
ELEMENTS = VOID | SVG | {
    "html", "head", "style", "body", "a", "header", "main", "footer", "section", "article", "h1", "h2", "h3", "p",
    "dl", "dt", "dd", "div", "span", "strong", "em", "ul", "li", "details", "summary", "figure", "figcaption", "table",
    "caption", "thead", "tbody", "tr", "th", "td", "bdi", "code", "pre", "del", "ins", "nav", "ol", "b",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "dir", "charset", "http-equiv", "content", "name", "href", "class", "id", "role", "scope", "colspan",
    "aria-labelledby", "aria-label", "aria-hidden", "height", "width", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r",
    "dx", "dy", "text-anchor", "alt", "src", "viewbox", "d", "fill", "stroke", "stroke-width", "stroke-linecap",
    "stroke-linejoin", "rx",
}  # fmt: skip


class StrictPage(HTMLParser):
    """Reads a page and raises AssertionError where it is not as it should be."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.named: list[str] = []
        self.text = ""
        self.headings: list[int] = []
        self.hidden = 0
        """Drawings that a screen reader passes over."""
        self.of: dict[str, list[str]] = {}
        """Tag → the texts of its elements, in order."""
        self._open: list[str] = []
        self._texts: list[str] = []
        assert page.startswith("<!doctype html>\n")
        self.feed(page)
        self.close()
        assert self._open == []
        assert len(self.ids) == len(set(self.ids)), "an id stands twice"
        assert set(self.named) <= set(self.ids)
        assert self.headings[0] == 1
        steps = zip(self.headings, self.headings[1:], strict=False)
        assert all(after - before <= 1 for before, after in steps), self.headings
        assert all(each.strip() for tag in ("caption", "title", "h2") for each in self.of.get(tag, ()))
        assert self.tags.count("table") == self.tags.count("caption")
        assert self.tags.count("svg") - self.hidden == self.tags.count("title") - 1, "a drawing without its name"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ELEMENTS, tag
        told = dict(attrs)
        assert len(told) == len(attrs), "an attribute stands twice"
        assert told.keys() <= ATTRIBUTES, told
        assert (told.get("href") or "#").startswith("#")
        assert tag != "img" or (told["alt"] and (told["src"] or "").startswith("data:image/png;"))
        assert tag != "th" or "scope" in told
        self.ids += [told["id"]] if told.get("id") else []  # type: ignore[list-item]
        self.named += (told.get("aria-labelledby") or "").split()
        self.tags.append(tag)
        self.hidden += tag == "svg" and told.get("aria-hidden") == "true"
        if tag in {"h1", "h2", "h3"}:
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self._open.append(tag)
            self._texts.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in {"line", "circle", "rect", "path"}, tag
        self.handle_starttag(tag, attrs)
        self._open.pop()
        self._texts.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        text = self._texts.pop()
        self.of.setdefault(tag, []).append(text)
        if self._texts:
            self._texts[-1] += text

    def handle_data(self, data: str) -> None:
        self.text += "" if self._open[-1:] == ["style"] else data
        if self._texts:
            self._texts[-1] += data
        assert self._open or not data.strip()
        if self._open[-1:] == ["style"]:
            assert not re.search(r"url\(|@import|expression|</", data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"a processing instruction: {data}")


def masked(page: str) -> str:
    """Return a page without what is another each time: ids, hashes, times, version, and its style."""
    page = re.sub(r"<style>.*?</style>", "<style></style>", page, flags=re.DOTALL)
    page = re.sub(r"sha256-[A-Za-z0-9+/=&#;]+", "sha256-STYLE", page)
    page = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "RUN-ID", page)
    page = re.sub(r"\b[0-9a-f]{64}\b", "HASH", page)
    page = re.sub(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12}\b", "HASH", page)
    page = re.sub(r"\b(?=[0-9a-f]*[a-f0-9])[0-9a-f]{8}\b", "RUN", page)
    page = re.sub(r"\d{4}-\d\d-\d\d([T ][\d:.]+Z?)?", "DATE", page)
    page = re.sub(r"rosetta-tui \d+\.\d+\.\d+", "rosetta-tui VERSION", page)
    return re.sub(r"(?m)^(time|harness) .*$", r"\1 TIME", page)


def decoded(svg: str) -> str:
    """Return the text of a QR code of version 1 (ISO/IEC 18004: no text of ours needs more), read from its drawing."""
    side, dark, x, y = 21, set(), 0.0, 0.0
    for step, across, down in re.findall(r"([Mmh])([-\d]+)(?: ([-.\d]+))?", re.findall(r' d="([^"]+)"', svg)[0]):
        x, y = (float(across), float(down)) if step == "M" else (x + int(across), y + float(down or 0))
        dark |= {(int(y) - 2, int(x) - 1 - n - 2) for n in range(int(across))} if step == "h" else set()
    mask = sum(((8, 2 + n) in dark) << 2 - n for n in range(3)) ^ 0b101
    inverts = (
        lambda r, c: (r + c) % 2, lambda r, _: r % 2, lambda _, c: c % 3, lambda r, c: (r + c) % 3,
        lambda r, c: (r // 2 + c // 3) % 2, lambda r, c: r * c % 2 + r * c % 3,
        lambda r, c: (r * c % 2 + r * c % 3) % 2, lambda r, c: ((r + c) % 2 + r * c % 3) % 2,
    )[mask]  # fmt: skip
    bits = ""
    for turn, right in enumerate((20, 18, 16, 14, 12, 10, 8, 5, 3, 1)):
        for row in range(side) if turn % 2 else reversed(range(side)):
            if row != 6 and not (row < 9 and (right < 9 or right > 12)) and not (row > 12 and right < 9):
                bits += "".join(str(int(((row, c) in dark) != (inverts(row, c) == 0))) for c in (right, right - 1))
    assert bits[:4] == "0010", "letters and digits"
    letters, count, pairs = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:", int(bits[4:13], 2), bits[13:]
    text = "".join(
        letters[(n := int(pairs[at : at + 11], 2)) // 45] + letters[n % 45] for at in range(0, count // 2 * 11, 11)
    )
    last = pairs[count // 2 * 11 :][:6]
    return text + (letters[int(last, 2)] if count % 2 else "")


PLANTED = (
    "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">",
    "</style></svg></title><svg onload=\"document.title='run'\">",
    "\" onmouseover=\"document.title='run'\" x=\"' autofocus onfocus='document.title=1'",
    "]]><!-- --><a href=\"javascript:document.title='run'\">here</a>{{ 7 * 7 }}{% raw %}",
)


def spoilt(value: Any, text: str, *, keys: bool = False) -> Any:
    """Put a text before every text of a card, and into names of parts; what a card is read by stays."""
    if isinstance(value, str):
        return f"{text}{value}"
    if isinstance(value, list):
        return [spoilt(each, text) for each in value]
    if isinstance(value, dict):
        return {
            f"{name}{text}" if keys else name: each if name in _READ_BY else spoilt(each, text, keys=name in _PARTS)
            for name, each in value.items()
        }
    return value


_PARTS = frozenset({"by_difficulty", "by_provenance", "by_register", "by_segment", "reasons"})
_READ_BY = frozenset({"composite_profile", "quality_tier", "claimable_tier", "results_of", "metrics"})
