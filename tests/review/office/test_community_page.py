"""The page for the speakers: only what the certificate says, nobody recognisable, plain words, harmless texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from review.files.manifests import BatchItem
from review.log.fold import State
from review.office.results.community_page import community_page, questions, reasons
from review.rating import Rating, Reason
from review.session.words.catalogue import Words
from review.verdict.certificate.certificate import (
    Certificate,
    CertifiedDecision,
    CertifiedLog,
    CertifiedPanel,
    CertifiedPolicy,
    CertifiedRun,
    Issuer,
)
from tests.review.office.reviewed import BATCH, ITEMS, PEOPLE, RUN, key, said, state, texts

BAD, GIST, GOOD = Rating.REJECT, Rating.GIST, Rating.EXCELLENT
HASH = "a" * 64
HOSTILE = "<script>alert(1)</script>\"'&\u202e\x1b[31m\x85"


def certificate(
    outcome: str = "go",
    people: int = 6,
    share: str | None = "0.846000",
    harm: Sequence[CertifiedDecision] = (),
    **flags: int,
) -> Certificate:
    """A certificate with these words and numbers."""
    strata = {
        "1": {"items": 30, "asked": 30, "weight": "0.500000", "share": "0.912000"},
        "2": {"items": 30, "asked": 30, "weight": "0.500000", "share": "0.771000"},
    }
    numbers = {
        "items": 60,
        "share": share,
        "lower": share and "0.719900",
        "strata": strata if share else {},
    }
    return Certificate(
        issued="2026-03-04T05:06:07Z",
        supersedes=None,
        organisation=Issuer(name="Language House", signing_key=HASH),
        review="demo",
        run=CertifiedRun(run_id=RUN, run_card_hash=HASH, dataset_id="demo", language_pair="EN→EO", strata={"1": 30}, segments={}),
        batches={BATCH: HASH},
        policy=CertifiedPolicy(sha256=HASH, status="proposed", organisation="", community_reviewers=5),
        key_sha256=HASH,
        log=CertifiedLog(sha256=HASH, events=1, tips=(), gaps=0, withheld=0, withdrawals=0, devices_sha256=HASH),
        panel=CertifiedPanel(invited=people, reviewers=people, words="", chosen=""),
        verdict={"outcome": outcome, "level": "0.700000", "numbers": numbers, "harm": dict.fromkeys(("flagged", "upheld", "cleared"), 0) | flags},
        harm=tuple(harm),
        agreement={},
    )  # fmt: skip


def split_panel(**more: Any) -> State:
    """Of six, two find the first item good and two do not; the second is rejected by one alone."""
    others = ((GOOD, GOOD, GOOD), (BAD, GOOD, GOOD), (GIST, GOOD, None), (None, GOOD), (None, GOOD))
    return state(said(GOOD, BAD, GOOD, **more), *(said(*each) for each in others))


def page_of(
    issued: Certificate,
    state: State,
    shown: dict[str, BatchItem] | None = None,
    language: str = "en",
) -> str:
    items = texts() if shown is None else shown
    return community_page(issued, key(), state, items, Words.load(language))


class Page(HTMLParser):
    """Collects a page's text, apart by whether it is marked as a field of the certificate."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.free = ""
        self.tags: set[str] = set()
        self._open: list[str | None] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in {"span", "p"}:
            self._open.append(dict(attrs).get("data-field"))

    def handle_endtag(self, tag: str) -> None:
        if tag in {"span", "p"} and self._open:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        field = next((each for each in reversed(self._open) if each), None)
        if field is None:
            self.free += data
        else:
            self.fields[field] = self.fields.get(field, "") + data


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_number_is_a_field_of_the_certificate(language: str) -> None:
    issued = certificate()
    page = Page(page_of(issued, split_panel(), language=language))
    raw = issued.model_dump(mode="json")
    for path, shown in page.fields.items():
        value: Any = raw
        for part in path.strip("/").split("/"):
            value = value[part]
        digits = re.findall(r"\d+", shown)
        if path == "/verdict/outcome":
            assert digits == []
        elif isinstance(value, int):
            assert digits == [str(value)]
        else:
            told, of = map(int, digits[-2:])
            assert of == 100
            assert abs(told / of - float(value)) <= 0.01
            assert "about" in shown.lower() or "nviron" in shown or told / of <= float(value)
    without_texts = page.free.split("{")[0] + page.free.rpartition("}")[2]
    known = (issued.sha256, issued.issued[:10], *(f"Frazo {n}" for n in range(4)), *(f"Source {n}" for n in range(4)))  # fmt: skip
    for each in known:
        without_texts = without_texts.replace(each, "")
    assert re.findall(r"\d", without_texts) == []


def test_what_split_the_panel_is_a_question_without_counts() -> None:
    found = questions(key(), split_panel(), texts(), RUN)
    assert [each.item.id for each in found] == [ITEMS[0]]
    border = state(*[said(Rating.ACCEPTABLE)] * 2, *[said(GIST)] * 2)
    assert [each.item.id for each in questions(key(), border, texts(), RUN)] == [ITEMS[0]]
    page = page_of(certificate(), split_panel())
    assert "Frazo 0" in page
    assert "Frazo 1" not in page


def test_with_fewer_than_five_people_no_sentence_and_no_reason_is_shown() -> None:
    marked = split_panel(reasons={ITEMS[0]: (Reason.GRAMMAR,)})
    page = page_of(certificate(people=4), marked)
    assert "Frazo" not in page
    assert "grammar" not in page.lower()
    assert "guess who said what" in page


def test_with_fewer_than_five_people_left_no_sentence_and_no_reason_is_shown() -> None:
    """Whoever knows the page of before and who took ratings back could tell what that person said."""
    whole = split_panel(reasons={ITEMS[0]: (Reason.GRAMMAR,), ITEMS[1]: (Reason.GRAMMAR,)})
    silent, other = said(None, None), said(GOOD, GOOD)
    people = list(whole.reviewers.values())
    for left in (people[:4], [*people[:4], silent, replace(other, consented=False)]):
        page = page_of(certificate(people=6), state(*left))
        assert "Frazo" not in page
        assert "guess who said what" in page
    page = page_of(certificate(people=6), whole)
    assert "Frazo" in page


def test_no_pseudonym_comment_or_unshared_wording_is_shown() -> None:
    one = split_panel(
        share=False, comments={ITEMS[0]: "my comment"}, suggestions={ITEMS[0]: "Mia."}
    )
    page = page_of(certificate(), one)
    assert not any(code in page for code in PEOPLE)
    assert "my comment" not in page
    assert "Mia." not in page
    shared = split_panel(suggestions={ITEMS[0]: "Nia."})
    assert "Nia." in page_of(certificate(), shared)


def test_a_reason_of_one_person_alone_is_left_out() -> None:
    grammar: dict[str, Any] = {
        "reasons": {ITEMS[0]: (Reason.GRAMMAR,), ITEMS[1]: (Reason.GRAMMAR,)}
    }
    spelling: dict[str, Any] = {"reasons": {ITEMS[0]: (Reason.SPELLING, Reason.GRAMMAR)}}
    assert reasons(key(), state(said(BAD, BAD, **grammar)), RUN) == []
    assert reasons(key(), state(said(BAD, BAD, **grammar), said(BAD, **spelling)), RUN) == [
        Reason.GRAMMAR
    ]


def test_a_secret_review_shows_no_sentence() -> None:
    page = page_of(certificate(), split_panel(), {})
    assert "Frazo" not in page
    assert "Source" not in page


def test_hostile_texts_are_only_shown() -> None:
    hostile = texts(**{ITEMS[0]: HOSTILE})
    words = split_panel(suggestions={ITEMS[0]: HOSTILE})
    page = page_of(certificate(), words, hostile)
    page.encode()
    read = Page(page)
    assert "script" not in read.tags
    assert "alert(1)" in read.free
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", page)
    assert not re.search(r"(src|href)=|url\(", page)


@pytest.mark.parametrize("outcome", ["go", "no_go", "discuss", "insufficient"])
def test_the_words_are_plain(outcome: str) -> None:
    page = Page(page_of(certificate(outcome), split_panel()))
    body = page.free.rpartition("}")[2] + " ".join(page.fields.values())
    body = re.sub(r"[0-9a-f]{64}|Language House|EN→EO", "", body)
    sentences = [each for each in re.split(r"[.?!:]\s*", body) if len(each.split()) > 2]
    lengths = [len(each.split()) for each in sentences]
    assert sum(lengths) / len(lengths) < 15
    letters = [len(word) for each in sentences for word in re.findall(r"[a-z]+", each.lower())]
    assert sum(letters) / len(letters) < 5.2
    hard = {"certificate", "translation", "translations", "difficulty", "people"}
    assert not {w for s in sentences for w in re.findall(r"[a-z]{14,}", s.lower())} - hard


@pytest.mark.parametrize("language", ["en", "fr"])
def test_what_was_called_harmful_stands_there_with_each_reason(language: str) -> None:
    decided = [
        CertifiedDecision(harmful=True, reason=f"An insult {HOSTILE}", by="Ann"),
        CertifiedDecision(harmful=False, reason="Used so here.", by="Ben"),
    ]
    issued = certificate(harm=decided, upheld=1, cleared=2, flagged=3)
    page = Page(page_of(issued, split_panel(), language=language))
    for name, count in (("upheld", "1"), ("cleared", "2"), ("flagged", "3")):
        assert re.findall(r"\d+", page.fields[f"/verdict/harm/{name}"]) == [count]
    for shown in ("An insult <script>", "Used so here.", "Ann", "Ben"):
        assert shown in page.free
    assert Words.load(language)("No reason was written down.") in page.free
    quiet = Page(page_of(certificate(), split_panel(), language=language))
    assert not [path for path in quiet.fields if "harm" in path]


def test_nothing_rated_gives_a_page_without_numbers() -> None:
    page = page_of(certificate("insufficient", 1, None), state())
    assert "Too early to say." in page
    assert "of 100" not in page


def test_nearly_all_is_not_called_all() -> None:
    for share, told in ((1.0, 100), (0.999, 99), (0.957, 96), (0.001, 1), (0.0, 0)):
        page = page_of(certificate(share=f"{share:.6f}"), state())
        assert f"About {told} of 100" in page
