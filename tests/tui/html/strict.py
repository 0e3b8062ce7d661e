"""A page read more strictly than a browser does: whole, quiet, and to be read aloud."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "br", "hr", "col", "img"}
SVG = {"svg", "title", "desc", "line", "circle", "rect", "text"}
ELEMENTS = VOID | SVG | {
    "html", "head", "style", "body", "a", "header", "main", "footer", "section", "article", "h1", "h2", "h3", "p",
    "dl", "dt", "dd", "div", "span", "strong", "em", "ul", "li", "details", "summary", "figure", "figcaption", "table",
    "caption", "thead", "tbody", "tr", "th", "td", "bdi", "code", "pre", "del", "ins", "nav", "ol", "b",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "dir", "charset", "http-equiv", "content", "name", "href", "class", "id", "role", "scope", "colspan",
    "aria-labelledby", "aria-label", "aria-hidden", "height", "width", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r",
    "dx", "dy", "text-anchor", "alt", "src",
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
        assert self.tags.count("svg") == self.tags.count("title") - 1, "a drawing without its name"

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
        if tag in {"h1", "h2", "h3"}:
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self._open.append(tag)
            self._texts.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in {"line", "circle", "rect"}, tag
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
