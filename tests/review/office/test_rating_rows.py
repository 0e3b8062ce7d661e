"""What is made of what people said: tables, variants, the page for the speakers, and always of the same people."""

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.card.exporting import ExportedRun, system_names
from harness.card.model import RunCard
from harness.core.failures import UsageError
from review.files.manifests import BatchItem
from review.log.fold import ReviewerState, State
from review.office.results.community_page import community_page, questions, reasons
from review.office.results.results import (
    mean_ranks,
    mtme_files,
    people,
    rated_items,
    rating_rows,
    ratings_csv,
)
from review.office.results.translations import Correction, corrections, next_version, with_variants
from review.rating import Rating, Reason
from review.session.words.catalogue import Words
from review.verdict.certificate.certificate import (
    Certificate,
    CertifiedAgreement,
    CertifiedDecision,
    CertifiedLog,
    CertifiedMeasure,
    CertifiedNumbers,
    CertifiedPanel,
    CertifiedPolicy,
    CertifiedRejections,
    CertifiedRun,
    CertifiedStratum,
    Issuer,
    StatedVerdict,
)
from review.verdict.gate.adjudication import queue
from review.verdict.gate.key import AnswerKey, counted
from review.verdict.gate.panel import Harm, panel_of
from review.verdict.gate.verdict import GateOutcome
from tests.review.office.reviewed import BAD, BATCH, ITEMS, PEOPLE, RUN, corpus, judged, key, review, said, state, texts
from tests.review.thorough import examples

GIST, GOOD = Rating.GIST, Rating.EXCELLENT


@pytest.fixture
def card() -> RunCard:
    raw = json.loads((Path(__file__).parents[2] / "data" / "run-card.json").read_text("utf-8"))
    row = raw["results"][0]
    raw["run_id"] = RUN
    raw["results"] = [
        {**row, "entry_id": number, "source": f"S {number}", "reference": f"R\t{number}\n.", "predicted": None if number == 4 else f"P {number}"}
        for number in range(9)
    ]  # fmt: skip
    return RunCard.model_validate(raw)


def exported(card: RunCard) -> ExportedRun:
    return ExportedRun(card, [row.model_dump(mode="json", by_alias=True) for row in card.results])


def test_scores_stand_beside_the_texts_line_by_line(card: RunCard) -> None:
    rows = rating_rows(key(), state(said(GOOD, GIST, None), said(GIST, GIST)), free_text=False)
    files = mtme_files(review(key()), rows, [exported(card)])
    texts = {path: data.decode().splitlines() for path, data in files.items()}
    [sources] = [lines for path, lines in texts.items() if path.startswith("sources/")]
    assert sources == ["S 1", "S 2", "S 3", "S 4"]
    [references] = [lines for path, lines in texts.items() if path.startswith("references/")]
    assert references[0] == "R 1 ."
    [outputs] = [lines for path, lines in texts.items() if path.startswith("system-outputs/")]
    assert outputs == ["P 1", "P 2", "P 3", ""]
    [name] = system_names({RUN: card}).values()
    [scores] = [lines for path, lines in texts.items() if path.endswith(".rosetta.seg.score")]
    values = ["2.000000", "1.000000", "None", "None"]
    assert [line.split() for line in scores] == [[name, value] for value in values]
    [whole] = [lines for path, lines in texts.items() if path.endswith(".rosetta.sys.score")]
    assert whole == [f"{name}\t1.500000"]
    people = sorted(path.split(".")[-3] for path in texts if path.startswith("human") and path.endswith(".seg.score"))
    assert len(people) == 3


def test_names_are_one_word_each_and_differ(card: RunCard) -> None:
    twin = card.model_copy(update={"run_id": "2" * 36, "model_slug": card.model_slug})
    names = system_names({RUN: card, "2" * 36: twin})
    assert len(set(names.values())) == 2
    odd = card.model_copy(update={"model_slug": "a\tb / ../c\n", "condition": "…"})
    assert system_names({RUN: odd}) == {RUN: "a-b-c"}
    small, large = (card.model_copy(update={"model_slug": name, "condition": ""}) for name in ("mt", "MT"))
    assert system_names({RUN: small, "3" * 36: large}) == {RUN: "mt", "3" * 36: "MT-33333333"}


@examples(50, 1000)
@given(
    st.text(max_size=80) | st.sampled_from(["con", "Aux", "lpt1", "COM¹", "nul.x"]), st.sampled_from(["", "demo", "?"])
)
def test_names_of_systems_are_files_on_every_disk(model: str, condition: str) -> None:
    one = cast("RunCard", SimpleNamespace(model_slug=model, condition=condition))
    names = list(system_names({RUN: one, "2" * 36: one}).values())
    assert len({name.casefold() for name in names}) == 2
    for name in names:
        assert re.fullmatch(r"[0-9A-Za-z_+-]{1,80}", name)
        assert not re.fullmatch(r"(?i)con|prn|aux|nul|(com|lpt)\d", name)


def test_secret_texts_are_refused(card: RunCard) -> None:
    for segment, sealed, secret in (
        ("development", False, False),
        ("none", False, False),
        ("gold_standard", False, True),
        ("held_out", False, True),
        ("development", True, True),
    ):
        asked = review(key(segment=segment), sealed=sealed)
        assert asked.secret is secret
        if secret:
            with pytest.raises(UsageError, match="--csv"):
                mtme_files(asked, [], [exported(card)])
        else:
            assert mtme_files(asked, [], [exported(card)])


def test_every_judgement_is_a_row_without_what_was_written() -> None:
    rows = rating_rows(key(), state(said(GOOD, GIST), said(None, GIST)), free_text=False)
    assert len(rows) == 4
    assert {(row.item, row.rating, row.rank) for row in rows} == {
        (ITEMS[0], "excellent", 3), (ITEMS[1], "gist", 1), (ITEMS[0], "", None),
    }  # fmt: skip
    [unsure] = [row for row in rows if row.cannot_judge]
    assert unsure.cannot_judge == "other_dialect"
    one = said(GIST, comments={ITEMS[0]: "hm"}, suggestions={ITEMS[0]: "Bone."}, reasons={ITEMS[0]: (Reason.GRAMMAR, Reason.MISSING)})  # fmt: skip
    [silent] = rating_rows(key(), state(one), free_text=False)
    [loud] = rating_rows(key(), state(one), free_text=True)
    assert (silent.comment, silent.suggestion) == ("", "")
    assert (loud.comment, loud.suggestion, silent.reasons) == ("hm", "Bone.", "grammar missing")


def test_letters_for_people_do_not_follow_their_codes() -> None:
    table = ratings_csv(rating_rows(key(), state(*[said(GOOD)] * 6), free_text=True)).decode()
    assert not any(code in table for code in PEOPLE)
    seeds = [key().model_copy(update={"seed": seed}) for seed in range(40)]
    orders = {tuple(letter for _, letter in sorted(people(each).items())) for each in seeds}
    assert len(orders) > 5
    assert all(sorted(each) == list("ABCDEF") for each in orders)
    codes = [f"{number:08d}" for number in range(60)]
    letters = people(key().model_copy(update={"orders": dict.fromkeys(codes, ())}))
    assert len(set(letters.values())) == 60
    assert "AA" in letters.values()


def test_no_cell_is_a_formula_or_commands_a_terminal() -> None:
    act = ("a\x1b[2J\x00\x9b31m\r\nb\tc\r=1", "a\ufffd[2J\ufffd\ufffd31m\nb\tc\ufffd=1")
    formulas = ((text, f"'{text}") for text in ("=1+1", "+cmd", "-cmd", "@x", "\tx"))
    for text, shown in (act, *formulas):
        rows = rating_rows(key(), state(said(GIST, comments={ITEMS[0]: text})), free_text=True)
        [read] = csv.DictReader(io.StringIO(ratings_csv(rows).decode(), newline=""))
        assert read["comment"] == shown


def test_controls_do_not_count_for_a_system() -> None:
    one = said(GOOD, GIST)
    with_control = replace(one, judgements={**one.judgements, BAD: judged(Rating.REJECT, 9)})
    rows = rating_rows(key(), state(with_control, said(GIST, None)), free_text=False)
    assert [row.control for row in rows].count("bad") == 1
    assert mean_ranks(rows) == {(RUN, 1): 2.0, (RUN, 2): 1.0}


# Who is counted


MAKERS: dict[str, Callable[[AnswerKey, State], Any]] = {
    "panel": lambda key, state: panel_of(state, key, RUN, 1),
    "adjudication": lambda key, state: queue(state, key),
    "rated items": lambda key, state: rated_items(
        SimpleNamespace(state=lambda _: state),  # type: ignore[arg-type]
        SimpleNamespace(key=key),  # type: ignore[arg-type]
    ),
    "corrections": lambda key, state: corrections(key, state, corpus()),
    "table": lambda key, state: rating_rows(key, state, free_text=True),
    "page, questions": lambda key, state: questions(key, state, texts(), RUN),
    "page, reasons": lambda key, state: reasons(key, state, RUN),
}


def person(rating: Rating, words: str, reason: Reason, *, agreed: bool = True) -> ReviewerState:
    """One person who says everything that can be said: rating, wording, flag and reason."""
    one = said(
        *[rating] * 4, suggestions={ITEMS[0]: words}, harmful=frozenset({ITEMS[0]}),
        reasons=dict.fromkeys(ITEMS, (reason,)),
    )  # fmt: skip
    return replace(one, consented=agreed)


LIKES = person(Rating.EXCELLENT, "Alia.", Reason.GRAMMAR)
DISLIKES = person(Rating.REJECT, "Alia.", Reason.GRAMMAR)
OTHER = person(Rating.GIST, "Neniu.", Reason.MISSING)
UNASKED = person(Rating.GIST, "Neniu.", Reason.MISSING, agreed=False)


def test_who_does_not_count_changes_nothing() -> None:
    heard = state(LIKES, DISLIKES, LIKES, DISLIKES)
    others = {
        (BATCH, PEOPLE[4]): UNASKED, (BATCH, PEOPLE[5]): UNASKED, (BATCH, "YYYYYYYY"): OTHER,
        (BATCH, "ZZZZZZZZ"): OTHER, ("c" * 16, PEOPLE[3]): OTHER,
    }  # fmt: skip
    more = replace(heard, reviewers={**others, **heard.reviewers})
    agreed = {(BATCH, who): OTHER for who in PEOPLE[4:]}
    another = replace(heard, reviewers={**heard.reviewers, **agreed})
    for name, maker in MAKERS.items():
        assert maker(key(), more) == maker(key(), heard), name
        assert maker(key(), another) != maker(key(), heard), name


def test_people_come_by_code_and_batches_as_the_key_lists_them() -> None:
    two = key().model_copy(update={"batches": ("d" * 16, BATCH)})
    places = [(BATCH, PEOPLE[1]), (BATCH, PEOPLE[0]), ("d" * 16, PEOPLE[1])]
    found = counted(State(dict.fromkeys(places, LIKES), {}, {}, {}), two)
    told = [(who, batch) for who, batch, _ in found]
    assert told == [(PEOPLE[0], BATCH), (PEOPLE[1], "d" * 16), (PEOPLE[1], BATCH)]


# Wordings that become variants, with consent and a yes, and never twice


def test_wordings_are_offered_with_consent_most_wanted_first() -> None:
    open_: dict[str, Any] = {"suggestions": {ITEMS[0]: "Alia frazo."}}
    closed: dict[str, Any] = {"suggestions": {ITEMS[1]: "Mia."}}
    found = corrections(key(), state(said(GIST, **open_), said(GIST, share=False, **closed)), corpus())
    assert found == [Correction(1, "Alia frazo.", 1)]
    same = {ITEMS[0]: "  Frazo 1. ", ITEMS[1]: "", ITEMS[2]: "   "}
    assert corrections(key(), state(said(GIST, suggestions=same)), corpus()) == []
    rare, common = (said(GIST, suggestions={ITEMS[0]: "A."}), said(GIST, suggestions={ITEMS[0]: "B."}))
    found = corrections(key(), state(rare, common, common), corpus())
    assert [(each.wording, each.people) for each in found] == [("B.", 2), ("A.", 1)]


def test_accepted_wordings_are_variants_of_a_new_version() -> None:
    before = corpus()
    after = with_variants(before, [Correction(2, "Nova.", 1), Correction(2, "Alia.", 1)])
    assert after.entries[1].variants == ("Nova.", "Alia.")
    assert after.dataset.version == "1.3.0"
    assert before.entries[1].variants == ()
    assert [entry.reference for entry in after.entries] == [e.reference for e in before.entries]
    assert corrections(key(), state(said(GIST, suggestions={ITEMS[1]: "Nova."})), after) == []
    assert [next_version(each) for each in ("1.2.3", "1", "0", "2.9")] == ["1.3.0", "1.1.0", "0.1.0", "2.10.0"]
    assert next_version("spring") == "spring+variants"


POOR = Rating.REJECT
HASH = "a" * 64
HOSTILE = "<script>alert(1)</script>\"'&\u202e\x1b[31m\x85"


def certificate(
    outcome: str = "go",
    people: int = 6,
    share: str | None = "0.846000",
    harm: Sequence[CertifiedDecision] = (),
    **flags: int,
) -> Certificate:
    easy, hard = (
        CertifiedStratum(items=30, asked=30, weight="0.500000", share=its) for its in ("0.912000", "0.771000")
    )
    numbers = CertifiedNumbers(
        reviewers=(), items=60, strata={"1": easy, "2": hard} if share else {}, share=share, lower=share and "0.719900",
        upper=None, item_error=None, reviewer_error=None, effective_items=None, df=None, t=None,
        rejections=CertifiedRejections(items=0, of=60, upper="0.100000"), split=(), alpha=None, within_one=None,
    )  # fmt: skip
    verdict = StatedVerdict(
        outcome=GateOutcome(outcome), numbers=numbers, level="0.700000", confidence="0.950000", look=1,
        harm=dict.fromkeys(Harm, 0) | {Harm(name): count for name, count in flags.items()}, findings=(),
        community_panel=True, without_flagged=None,
    )  # fmt: skip
    none = CertifiedMeasure(value=None, why="no value", interval=None)
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
        verdict=verdict,
        harm=tuple(harm),
        agreement=CertifiedAgreement(items=60, reviewers=people, alpha=none, ac2=none, exact=none, within_one=none, leniency=()),
    )  # fmt: skip


def split_panel(**more: Any) -> State:
    """Of six, two find the first item good and two do not; the second is rejected by one alone."""
    others = (
        (GOOD, GOOD, GOOD), (POOR, GOOD, GOOD), (GIST, GOOD, None), (None, GOOD), (None, GOOD),
    )  # fmt: skip
    return state(said(GOOD, POOR, GOOD, **more), *(said(*each) for each in others))


def page_of(issued: Certificate, state: State, shown: dict[str, BatchItem] | None = None, language: str = "en") -> str:
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
    known = (issued.sha256[:8], issued.issued[:10], *(f"Frazo {n}" for n in range(4)), *(f"Source {n}" for n in range(4)))  # fmt: skip
    for each in known:
        without_texts = without_texts.replace(each, "")
    assert re.findall(r"\d", without_texts) == []


def test_split_panel_is_a_question_and_shared_reasons_told() -> None:
    found = questions(key(), split_panel(), texts(), RUN)
    assert [each.item.id for each in found] == [ITEMS[0]]
    border = state(*[said(Rating.ACCEPTABLE)] * 2, *[said(GIST)] * 2)
    assert [each.item.id for each in questions(key(), border, texts(), RUN)] == [ITEMS[0]]
    page = page_of(certificate(), split_panel())
    assert "Frazo 0" in page
    assert "Frazo 1" not in page
    grammar: dict[str, Any] = {"reasons": {ITEMS[0]: (Reason.GRAMMAR,), ITEMS[1]: (Reason.GRAMMAR,)}}
    spelling: dict[str, Any] = {"reasons": {ITEMS[0]: (Reason.SPELLING, Reason.GRAMMAR)}}
    assert reasons(key(), state(said(POOR, POOR, **grammar)), RUN) == []
    assert reasons(key(), state(said(POOR, POOR, **grammar), said(POOR, **spelling)), RUN) == [Reason.GRAMMAR]


def test_fewer_than_five_people_show_no_sentence_or_reason() -> None:
    """Certified or left: whoever knows the page of before could tell what who took ratings back said."""
    whole = split_panel(reasons={ITEMS[0]: (Reason.GRAMMAR,), ITEMS[1]: (Reason.GRAMMAR,)})
    silent, other = said(None, None), said(GOOD, GOOD)
    people = list(whole.reviewers.values())
    asked = [people[:4], [*people[:4], silent, replace(other, consented=False)]]
    pages = [page_of(certificate(people=6), state(*left)) for left in asked]
    for page in (*pages, page_of(certificate(people=4), whole)):
        assert "Frazo" not in page
        assert "grammar" not in page.lower()
        assert "guess who said what" in page
    assert "Frazo" in page_of(certificate(people=6), whole)


def test_page_shows_nothing_of_people_secrets_or_nobody() -> None:
    one = split_panel(share=False, comments={ITEMS[0]: "my comment"}, suggestions={ITEMS[0]: "Mia."})
    page = page_of(certificate(), one)
    assert not any(code in page for code in PEOPLE)
    assert "my comment" not in page
    assert "Mia." not in page
    shared = split_panel(suggestions={ITEMS[0]: "Nia."})
    assert "Nia." in page_of(certificate(), shared)
    page = page_of(certificate(), split_panel(), {})
    assert "Frazo" not in page
    assert "Source" not in page
    page = page_of(certificate("insufficient", 1, None), state())
    assert "Too early to say." in page
    assert "of 100" not in page
    for share, told in ((1.0, 100), (0.999, 99), (0.957, 96), (0.001, 1), (0.0, 0)):
        page = page_of(certificate(share=f"{share:.6f}"), state())
        assert f"About {told} of 100" in page


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
