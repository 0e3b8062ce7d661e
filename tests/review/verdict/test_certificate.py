"""The certificate, exact and coarse: what it says and never says, its pages, and that whatever was changed is found."""

import json
import re
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError, UsageError
from harness.release.ledger_records import InLedger
from harness.sealed.keys import Identity, Signed
from harness.store.attachments import Attached
from review.log.payloads import Rate, Undo
from review.verdict.certificate.certificate import (
    Certificate,
    CertifiedLaptops,
    CertifiedStratum,
    read_certificate,
    standing,
    why_not_community,
)
from review.verdict.certificate.certificate_text import certificate_page
from review.verdict.certificate.certify import certified_again, certify, read_verdict
from review.verdict.certificate.coarse import (
    CHECKS,
    coarse_of,
    coarse_page,
    coarse_verdict,
    over_secret,
    read_coarse,
    wrong_numbers,
)
from review.verdict.certificate.evidence import Evidence, EvidenceFile, pack_evidence, unpack_evidence
from review.verdict.certificate.verifying import verify, verify_outside
from review.verdict.gate.verdict import GateOutcome
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import first, times
from tests.review.verdict import histories
from tests.review.verdict.certified import (
    GO,
    ISSUED,
    NO_GO,
    SIGNER,
    about,
    asked_alone,
    attached,
    certificate_of,
    certified,
    changed,
    issue,
    issuer,
    review_of,
)
from tests.review.verdict.histories import RUN, Shape, evidence_of

HOSTILE = "\x1b[2J<script>alert(1)</script>\u202e{0}%s"


def test_certificate_says_on_one_page_what_it_rests_on() -> None:
    file = certified()
    evidence, said = file.evidence, json.loads(file.certificate)
    assert (said["format"], said["verdict"]["outcome"]) == ("rosetta-certificate/3", "go")
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
    text = certificate_page(certificate_of(certified())).text()
    assert len(text.splitlines()) < 70
    assert max(map(len, text.splitlines())) <= 100
    assert "Go: the speakers find the method good enough." in text
    assert SIGNER.public.signing_key in text


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
    assert first.agreement.ac2.value != now.agreement.ac2.value
    assert first.agreement.model_copy(update={"ac2": now.agreement.ac2}) == now.agreement
    data = first.as_bytes()
    assert verify(data, SIGNER.sign(data), evidence).ok
    mixed = canonical_bytes(json.loads(data) | {"agreement": now.agreement.model_dump(mode="json")})
    told = verify(mixed, SIGNER.sign(mixed), evidence)
    assert {each.path.split(".")[2] for each in told.differences} == {"ac2"}


def with_items_of_one_rating() -> Evidence:
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
        pages = certificate.as_bytes().decode() + certificate_page(certificate).text()
        pages += certificate_page(certificate).html()
        assert not [who for who in evidence.key.orders if who in pages]
        assert "None" not in certificate_page(certificate).text()


def test_too_few_ratings_are_not_certified() -> None:
    evidence = review_of(1, Shape(reviewers=1, mischief=0.0))
    assert read_verdict(evidence, RUN).verdict.outcome is GateOutcome.INSUFFICIENT
    refuses(HarnessError, "too little was rated", certify, evidence, RUN, issuer(), ISSUED)


def test_what_is_no_certificate_is_refused() -> None:
    for content, words in (
        (b"", "not JSON"),
        (b"[]", "not a certificate of the form"),
        (b'{"format":"rosetta-certificate/4"}', "not a certificate of the form"),
        (b'{"format":"rosetta-certificate/1"}', "field 'issued'"),
        (b"[" * 99_999, "not JSON"),
        (b" " * (5 * 2**20), "too large"),
    ):
        refuses(UsageError, re.escape(words), read_certificate, content, "c.json")


def test_another_form_or_field_is_refused() -> None:
    said = json.loads(certified().certificate)
    refuses(UsageError, "canonical", read_certificate, json.dumps(said).encode(), "c.json")
    changes: list[dict[str, object]] = [
        {"more": 1}, {"issued": "yesterday"}, {"verdict": {"outcome": "yes"}}, {"verdict": {}},
        {"batches": {"x": "y"}},
    ]  # fmt: skip
    for change in changes:
        refuses(UsageError, "", read_certificate, json.dumps({**said, **change}).encode(), "c.json")


class Tags(HTMLParser):
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
    text, page = certificate_page(certificate).text(), certificate_page(certificate).html()
    assert not {"\x1b", "\u202e"} & set(text + page)
    tags = Tags()
    tags.feed(page)
    assert "script" not in tags.tags
    names = {name for name, _ in tags.attributes}
    assert not [name for name in names if name in {"src", "href"} or name.startswith("on")]
    assert not re.search(r"https?:", page)


def test_controls_that_most_get_wrong_are_listed_once() -> None:
    for number in (1, 3):
        certificate = certificate_of(certified())
        controls = [f"item {n} <b>" for n in range(number)]
        found = [{"code": "control_dropped", "control": each} for each in controls]
        verdict = certificate.verdict.model_copy(update={"findings": (*found, {"code": "no_core"})})
        stated = certificate.model_copy(update={"verdict": verdict})
        text, page = certificate_page(stated).text(), certificate_page(stated).html()
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
        assert words not in certificate_page(certificate).text()
    laptops = CertifiedLaptops(removed=("", "lost \x1b[2J"), replaced=1, decided=1, waiting=2)
    told = " ".join(certificate_page(certificate.model_copy(update={"laptops": laptops})).text().split())
    assert "laptops out 2 taken out by the organisation: no reason given; lost" in told
    assert "replaced 1 laptop came instead of another one, by the organisation's word" in told
    assert "who speaks for 1 person the organisation named the laptops that count" in told
    assert "not counted 2 people: several laptops spoke for them, and the organisation has not" in told
    assert "\x1b" not in told
    assert "not counted" not in certificate_page(certificate.model_copy(update={"laptops": None})).text()


PLACE = InLedger(ledger="a" * 64, line=3, prev="b" * 64)
COUNTED = {
    "issued": "2026-05-05T10:00:00Z", "supersedes": None, "answer": 1, "of": 10,
    "confirmation": "confirmed",
}  # fmt: skip


@pytest.fixture
def exact() -> EvidenceFile:
    return certified()


def left(file: EvidenceFile, told: tuple[str, ...] = ("1", "2", "3"), change: Any = None) -> Signed:
    """Write and sign what leaves in the place of a certificate; ``change`` is made before it is signed."""
    raw = coarse_of(certificate_of(file), told, **COUNTED, place=PLACE).model_dump(mode="json")
    if change is not None:
        change(raw)
    data = canonical_bytes(raw)
    return Signed(data, SIGNER.sign(data))


def holds(file: EvidenceFile, coarse: Signed, folder: Path) -> tuple[bool, bool]:
    parts = file.certificate, file.signature, file.evidence
    path = folder / "x.rosetta-evidence"
    path.write_bytes(pack_evidence(*parts, coarse))
    return verify(*parts, coarse=coarse).ok, asked_alone(path)[0] == 0


def holds_outside(coarse: Signed, folder: Path) -> tuple[bool, bool]:
    (folder / "x.certificate.json").write_bytes(coarse.content)
    (folder / "x.certificate.sig").write_bytes(coarse.signature)
    try:
        mine = all(each.ok is not False for each in verify_outside(coarse, "x")[1])
    except UsageError:
        mine = False
    return mine, asked_alone(folder / "x.certificate.json")[0] == 0


def test_coarse_certificate_follows_from_evidence(exact: EvidenceFile, tmp_path: Path) -> None:
    coarse = left(exact)
    assert holds(exact, coarse, tmp_path) == (True, True)
    assert unpack_evidence((tmp_path / "x.rosetta-evidence").read_bytes()).coarse == coarse
    assert holds_outside(coarse, tmp_path) == (True, True)
    said = asked_alone(tmp_path / "x.certificate.json")[1]
    assert said.endswith(f"{CHECKS}\n")
    assert "signed with another key" in asked_alone(tmp_path / "x.certificate.json", "0" * 64)[1]


@pytest.mark.thorough
def test_both_programs_take_coarse_certificates(tmp_path: Path) -> None:
    for seed in range(times(1, 40)):
        file = issue(review_of(seed, (GO, NO_GO, replace(GO, quality=0.7))[seed % 3]))
        assert holds(file, left(file), tmp_path) == (True, True), seed


def test_its_shares_are_in_steps_of_half_an_interval() -> None:
    """By hand, of 60 items: 1.96 × 0.25 ÷ √60 = 0.0633, and 0.94 − 0.87 is more; of 20: 0.1096."""
    strata = {
        "1": CertifiedStratum(items=20, asked=20, weight="0.400000", share="0.940000"),
        "2": CertifiedStratum(items=40, asked=43, weight="0.600000", share="0.970000"),
    }
    shares = {"items": 63, "share": "0.940000", "lower": "0.870000", "upper": "0.980000", "strata": strata}
    verdict = certificate_of(certified()).verdict
    findings = ({"code": "level_reached"}, {"code": "weak_stratum", "stratum": 1}, {"code": "small_panel"})
    numbers = verdict.numbers.model_copy(update=shares)
    said = verdict.model_copy(update={"outcome": GateOutcome.DISCUSS, "numbers": numbers, "findings": findings})
    found = coarse_verdict(said, ["2"]).model_dump(mode="json")
    assert found["share"] == {"value": "0.9", "lower": "0.8", "upper": "1", "step": "0.1"}
    assert found["strata"] == {"2": {"value": "1", "lower": "0.9", "upper": "1", "step": "0.1"}}
    assert (found["items"], found["strata_left_out"], found["level"]) == (60, True, "0.7")
    assert found["reasons"] == ["level_reached"]  # the weak difficulty is not told of
    assert coarse_verdict(said, ["1"]).reasons == ("level_reached", "weak_stratum")
    assert coarse_verdict(said, ["1"]).strata["1"].step == "0.2"


CHANGES = {
    "verdict": lambda c: c["verdict"].update(outcome="no_go"),
    "share": lambda c: c["verdict"]["share"].update(value="0.9"),
    "finer": lambda c: c["verdict"]["share"].update(value="0.94", lower="0.9", step="0.01"),
    "stratum": lambda c: c["verdict"]["strata"]["1"].update(value="0.8"),
    "items": lambda c: c["verdict"].update(items=55),
    "exact": lambda c: c.update(exact="0" * 64),
    "reasons": lambda c: c["verdict"].update(reasons=["veto"]),
    "panel": lambda c: c["panel"].update(reviewers=10),
    "level": lambda c: c["verdict"].update(level="0.6"),
    "run": lambda c: c["run"].update(run_id="other"),
    "left out": lambda c: c["verdict"].update(strata_left_out=True),
}


@pytest.mark.parametrize("name", first(5, CHANGES))
def test_change_is_found_inside_by_both(exact: EvidenceFile, name: str, tmp_path: Path) -> None:
    assert holds(exact, left(exact, change=CHANGES[name]), tmp_path) == (False, False)


@pytest.mark.parametrize("change", [
    lambda c: c["verdict"].update(items=61),
    lambda c: c["verdict"]["share"].update(value="0.93"),
    lambda c: c["verdict"]["share"].update(lower="1", value="0.9"),
    lambda c: c["verdict"].update(reasons=["veto", "level_reached"]),
    lambda c: c["verdict"].update(outcome="insufficient"),
    lambda c: c.update(checks="Everything was checked."), lambda c: c.update(ratings=[]),
])  # fmt: skip
def test_other_form_is_found_outside(exact: EvidenceFile, change: Any, tmp_path: Path) -> None:
    assert holds_outside(left(exact, change=change), tmp_path) == (False, False)


def test_each_changed_byte_is_found_outside_by_both(exact: EvidenceFile, tmp_path: Path) -> None:
    coarse = left(exact)
    for place in range(0, len(coarse.content), times(97, 1)):
        data = bytearray(coarse.content)
        data[place] ^= 1
        assert holds_outside(Signed(bytes(data), coarse.signature), tmp_path) == (False, False), place
    for place in range(0, 64, times(9, 1)):
        signature = bytearray(coarse.signature)
        signature[place] ^= 1
        assert holds_outside(Signed(coarse.content, bytes(signature)), tmp_path) == (False, False)


def test_few_items_are_refused_inside_whoever_signed(exact: EvidenceFile, tmp_path: Path) -> None:
    """A difficulty of four items, and a total less the others of four."""
    stated = certificate_of(exact)
    numbers = stated.verdict.numbers
    strata = {**numbers.strata, "3": numbers.strata["3"].model_copy(update={"items": 4})}
    verdict = stated.verdict.model_copy(update={"numbers": numbers.model_copy(update={"strata": strata})})
    few = stated.model_copy(update={"verdict": verdict})
    for told, words in ((["1", "2", "3"], "difficulty 3"), (["1", "2"], "less the difficulties")):
        coarse = coarse_of(few, told, **COUNTED, place=PLACE)
        assert words in wrong_numbers(coarse, few)[0]
    assert wrong_numbers(coarse_of(few, ["1"], **COUNTED, place=PLACE), few) == []


def test_it_has_nothing_of_single_items_people_or_ratings(exact: EvidenceFile) -> None:
    told = left(exact).content.decode()
    stated = json.loads(exact.certificate)
    held = [*exact.evidence.key.items, *exact.evidence.key.orders, *stated["log"]["tips"]]
    held += [stated["log"]["sha256"], *stated["verdict"]["numbers"]["reviewers"]]
    held += [stated["verdict"]["numbers"]["share"], stated["verdict"]["numbers"]["lower"]]
    read = read_coarse(left(exact).content, "x")
    for page in (told, coarse_page(read).text(), coarse_page(read).html()):
        assert not [each for each in held if each in page]
    assert "in steps of 10.0 %" in coarse_page(read).text()
    assert "Outside, its form and its signature can be checked" in " ".join(coarse_page(read).text().split())


def test_exact_certificate_of_secrets_says_what_it_tells(exact: EvidenceFile) -> None:
    [said] = [c for c in verify(exact.certificate, exact.signature, exact.evidence).checks if c.name == "what it tells"]
    assert "shares to six places of 60 items, of 3 difficulties, and the own share of each of 5 people" in said.words
    key = about(exact.evidence.key, segments="development", run_id="r", run_card_hash="0" * 64)
    quiet = issue(evidence_of(key, list(exact.evidence.events)))
    assert not over_secret(certificate_of(quiet), quiet.evidence)
    checks = verify(quiet.certificate, quiet.signature, quiet.evidence).checks
    assert "what it tells" not in {each.name for each in checks}
