"""The certificate: what it says, what it never says, and its pages."""

import json
import re
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from random import Random

import pytest

from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError, UsageError
from harness.sealed.keys import Identity
from harness.store.notes import Attached
from review.log.payloads import Rate, Undo
from review.verdict.certificate.certificate import (
    Certificate,
    CertifiedLaptops,
    read_certificate,
    standing,
    why_not_community,
)
from review.verdict.certificate.certificate_text import certificate_html, certificate_text
from review.verdict.certificate.certify import certified_again, certify, read_verdict
from review.verdict.certificate.evidence import Evidence, EvidenceFile
from review.verdict.certificate.verifying import verify
from review.verdict.gate.verdict import GateOutcome
from tests.review.thorough import times
from tests.review.verdict import histories
from tests.review.verdict.certified import (
    GO,
    ISSUED,
    NO_GO,
    SIGNER,
    attached,
    certificate_of,
    certified,
    changed,
    issue,
    issuer,
    review_of,
)
from tests.review.verdict.histories import RUN, Shape

HOSTILE = "\x1b[2J<script>alert(1)</script>\u202e{0}%s"


def test_certificate_says_what_it_rests_on() -> None:
    file = certified()
    evidence, said = file.evidence, json.loads(file.certificate)
    assert said["format"] == "rosetta-certificate/2"
    assert said["verdict"]["outcome"] == "go"
    assert said["policy"]["sha256"] == sha256(evidence.policy).hexdigest()
    assert said["policy"]["status"].startswith("proposed")
    assert said["key_sha256"] == sha256(evidence.key_bytes).hexdigest()
    assert said["batches"] == evidence.key.batch_sha256
    assert said["run"]["run_card_hash"] == evidence.key.runs[0].run_card_hash
    assert said["log"]["events"] == len(evidence.events)
    assert said["panel"] == {
        "invited": 5, "reviewers": 5, "words": "panel of 5", "chosen": evidence.key.panel,
        "asked": {
            "counted": 5, "withdrew": 0, "withdrew_at_the_desk": 0, "waiting": 0, "not_heard": 0,
            "no_consent": 0, "too_few": 0, "nothing": 0,
        },
    }  # fmt: skip
    assert re.fullmatch(r"\d\.\d{6}", said["verdict"]["numbers"]["lower"])
    assert said["agreement"]["exact"]["interval"]["seed"] == 12345


def test_same_evidence_gives_the_same_bytes() -> None:
    evidence = review_of(2)
    first = issue(evidence).certificate
    shuffled = histories.evidence_of(evidence.key, list(evidence.events[::-1]))
    assert issue(shuffled).certificate == first
    assert issue(evidence, issued="2027-01-01T00:00:00Z").certificate != first


def test_certificate_of_the_first_form_states_its_ac2() -> None:
    """It took the chance term from items with two ratings; from all of them is Gwet's, which the form 2 states."""
    evidence = with_items_of_one_rating()
    now = certificate_of(issue(evidence))
    evidence = replace(evidence, batches={}, handed_over=())
    first = certified_again(evidence, now.model_copy(update={"format": "rosetta-certificate/1"}))
    assert first.agreement["ac2"]["value"] != now.agreement["ac2"]["value"]
    others = set(now.agreement) - {"ac2"}
    assert all(first.agreement[name] == now.agreement[name] for name in others)
    data = first.as_bytes()
    assert verify(data, SIGNER.sign(data), evidence).ok
    mixed = canonical_bytes(json.loads(data) | {"agreement": now.agreement})
    told = verify(mixed, SIGNER.sign(mixed), evidence)
    assert {each.path.split(".")[2] for each in told.differences} == {"ac2"}


def with_items_of_one_rating() -> Evidence:
    """Make a review in which all but one person took back what they said of three items."""
    rng, shape = Random(3), replace(GO, reviewers=3, quality=0.6)
    key = histories.make_key(rng, shape)
    events = histories.make_events(rng, shape, key)
    real = sorted(item for item, each in key.items.items() if each.control is None)
    said = [e for e in events if isinstance(e.payload, Rate) and e.payload.item in real[:3]]
    first = min(key.orders)
    laptop = histories.Chain(rng)
    laptop.lamport = max(event.lamport for event in events)
    for event in said:
        if event.payload.reviewer != first:
            about = {"reviewer": event.payload.reviewer, "batch": event.payload.batch}
            laptop.write(Undo(wall=histories.WALL, target=event.id, **about))
    return histories.evidence_of(key, [*events, *laptop.events])


def test_no_pseudonym_is_in_it_or_on_its_pages() -> None:
    for seed in range(times(2, 80)):
        evidence = histories.history(Random(seed), histories.replace(GO, quality=0.8, mischief=0.4))
        try:
            certificate = certify(evidence, RUN, issuer(), ISSUED)
        except HarnessError:
            continue
        pages = certificate.as_bytes().decode() + certificate_text(certificate)
        pages += certificate_html(certificate)
        assert not [who for who in evidence.key.orders if who in pages]
        assert "None" not in certificate_text(certificate)


def test_too_few_ratings_are_not_certified() -> None:
    evidence = review_of(1, Shape(reviewers=1, mischief=0.0))
    assert read_verdict(evidence, RUN).verdict.outcome is GateOutcome.INSUFFICIENT
    with pytest.raises(HarnessError, match="too little was rated"):
        certify(evidence, RUN, issuer(), ISSUED)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"[]", "not a certificate of the form"),
        (b'{"format":"rosetta-certificate/3"}', "not a certificate of the form"),
        (b'{"format":"rosetta-certificate/1"}', "field 'issued'"),
        (b"[" * 99_999, "not JSON"),
        (b" " * (5 * 2**20), "too large"),
    ],
    ids=["empty", "list", "newer", "bare", "deep", "huge"],
)
def test_what_is_no_certificate_is_refused(content: bytes, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        read_certificate(content, "c.json")


def test_another_form_or_field_is_refused() -> None:
    said = json.loads(certified().certificate)
    with pytest.raises(UsageError, match="canonical"):
        read_certificate(json.dumps(said).encode(), "c.json")
    changes: list[dict[str, object]] = [
        {"more": 1}, {"issued": "yesterday"}, {"verdict": {"outcome": "yes"}}, {"verdict": {}},
        {"batches": {"x": "y"}},
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(UsageError):
            read_certificate(json.dumps({**said, **change}).encode(), "c.json")


class Tags(HTMLParser):
    """Names of all elements, and every attribute's name and value."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs


def test_hostile_names_do_nothing_on_either_page() -> None:
    evidence = review_of(1)
    key = evidence.key.model_copy(update={"panel": HOSTILE, "review": HOSTILE})
    key = histories.with_run(key, dataset_id=HOSTILE)
    evidence = histories.evidence_of(key, list(evidence.events))
    certificate = certify(evidence, RUN, issuer(name=HOSTILE), ISSUED)
    text, page = certificate_text(certificate), certificate_html(certificate)
    assert not {"\x1b", "\u202e"} & set(text + page)
    tags = Tags()
    tags.feed(page)
    assert "script" not in tags.tags
    names = {name for name, _ in tags.attributes}
    assert not [name for name in names if name in {"src", "href"} or name.startswith("on")]
    assert not re.search(r"https?:", page)


def test_the_page_of_text_is_one_page() -> None:
    text = certificate_text(certificate_of(certified()))
    assert len(text.splitlines()) < 70
    assert max(map(len, text.splitlines())) <= 100
    assert "Go: the speakers find the method good enough." in text
    assert SIGNER.public.signing_key in text


@pytest.mark.parametrize("number", [1, 3])
def test_controls_that_most_get_wrong_are_listed_once(number: int) -> None:
    certificate = certificate_of(certified())
    controls = [f"item {n} <b>" for n in range(number)]
    found = [{"code": "control_dropped", "control": each} for each in controls]
    stated = certificate.model_copy(
        update={"verdict": {**certificate.verdict, "findings": [*found, {"code": "no_core"}]}}
    )
    text, page = certificate_text(stated), certificate_html(stated)
    assert text.count("for the signs of haste") == page.count("for the signs of haste") == 1
    assert all(page.count(f"item {n} &lt;b&gt;") == 1 for n in range(number))
    assert text.index(controls[-1]) < text.index("No translation was given to everyone")
    if number > 1:
        listed = [line for line in text.splitlines() if "<b>" in line]
        assert listed == [f"      · {each}" for each in controls]


def community(**changes: object) -> str:
    def change(raw: dict[str, object]) -> None:
        for path, value in changes.items():
            block, _, name = path.partition("__")
            raw[block][name] = value

    return why_not_community(certificate_of(changed(certified(), change)))


def test_when_a_run_is_community_validated() -> None:
    assert community() == ""
    assert "development" in community(run__segments={"gold_standard": 59, "development": 1})
    assert "none" in community(run__segments={})
    assert "panel of 4" in community(panel__reviewers=4)
    assert "did not say go" in community(verdict__outcome="discuss")


def judged(*files: Attached, run: str = RUN, card: str | None = None) -> Certificate | None:
    found = standing([*files], run, card or certified().evidence.key.runs[0].run_card_hash)
    return None if found is None else found.certificate


@cache
def refused() -> EvidenceFile:
    return issue(review_of(1, NO_GO))


def test_newest_certificate_speaks() -> None:
    first = certified()
    old = certificate_of(first)
    issued = {"issued": "2026-04-01T00:00:00Z", "supersedes": old.sha256}  # the clock was set back
    later = changed(refused(), lambda c: c.update(issued="2026-09-01T00:00:00Z"), SIGNER)
    assert judged(attached(first)) == old
    for second in (changed(refused(), lambda c: c.update(issued), SIGNER), later):
        for files in ((first, second), (second, first)):
            assert judged(*map(attached, files)) == certificate_of(second)
    for seed in range(1, 5):  # of two of one second the one that lifts nothing
        no_go = changed(refused(), lambda c, s=seed: c.update(supersedes=f"{s}" * 64), SIGNER)
        for files in ((first, no_go), (no_go, first)):
            assert judged(*map(attached, files)) == certificate_of(no_go)


def test_forged_row_of_the_store_counts_for_nothing() -> None:
    good, bad = certified(), refused()
    stranger = Identity.make(SIGNER.role)

    def say_go(raw: dict[str, dict[str, str]]) -> None:
        raw["verdict"]["outcome"] = "go"

    assert judged(attached(good)) is not None
    assert judged(attached(changed(bad, say_go))) is None  # its signature no longer fits
    assert judged(attached(changed(bad, say_go, stranger))) is None  # signed by somebody else
    assert judged(attached(good, stranger)) is None
    assert judged(attached(good), run="another") is None
    assert judged(attached(good), card="0" * 64) is None
    assert judged(Attached(b"\xff{", b"", SIGNER.public.signing_key)) is None
    assert judged() is None


def test_decisions_about_laptops_are_told_in_numbers_and_reasons() -> None:
    certificate = certificate_of(certified())
    for words in ("laptops out", "replaced", "who speaks", "not counted"):
        assert words not in certificate_text(certificate)
    laptops = CertifiedLaptops(removed=("", "lost \x1b[2J"), replaced=1, decided=1, waiting=2)
    told = " ".join(certificate_text(certificate.model_copy(update={"laptops": laptops})).split())
    assert "laptops out 2 taken out by the organisation: no reason given; lost" in told
    assert "replaced 1 laptop came instead of another one, by the organisation's word" in told
    assert "who speaks for 1 person the organisation named the laptops that count" in told
    assert (
        "not counted 2 people: several laptops spoke for them, and the organisation has not" in told
    )
    assert "\x1b" not in told
    assert "not counted" not in certificate_text(certificate.model_copy(update={"laptops": None}))
