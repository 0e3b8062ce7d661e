"""The coarse certificate: what is on it follows from the exact one, and two programs find out whatever was changed."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.release.records import InLedger
from harness.sealed.signature import Signed
from review.verdict.certificate.coarse import (
    CHECKS,
    coarse_of,
    coarse_verdict,
    over_secret,
    read_coarse,
    wrong_numbers,
)
from review.verdict.certificate.coarse_text import coarse_html, coarse_text
from review.verdict.certificate.evidence import EvidenceFile, pack_evidence, unpack_evidence
from review.verdict.certificate.verifying import verify, verify_outside
from tests.review.thorough import first, times
from tests.review.verdict.alone import asked_alone
from tests.review.verdict.certified import (
    GO,
    NO_GO,
    SIGNER,
    about,
    certificate_of,
    certified,
    issue,
    review_of,
)
from tests.review.verdict.histories import evidence_of, replace

PLACE = InLedger(ledger="a" * 64, line=3, prev="b" * 64)
COUNTED = {"issued": "2026-05-05T10:00:00Z", "supersedes": None, "answer": 1, "of": 10}


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
    """Return what both programs say of a coarse certificate beside its evidence."""
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


def test_both_programs_take_coarse_certificates(tmp_path: Path) -> None:
    for seed in range(times(1, 40)):
        file = issue(review_of(seed, (GO, NO_GO, replace(GO, quality=0.7))[seed % 3]))
        assert holds(file, left(file), tmp_path) == (True, True), seed


def test_its_shares_are_in_steps_of_half_an_interval() -> None:
    """By hand, of 60 items: 1.96 × 0.25 ÷ √60 = 0.0633, and 0.94 − 0.87 is more; of 20: 0.1096."""
    strata = {"1": {"items": 20, "share": "0.940000"}, "2": {"items": 40, "share": "0.970000"}}
    numbers = {"items": 63, "share": "0.940000", "lower": "0.870000", "upper": "0.980000"}
    said = {
        "outcome": "discuss",
        "level": "0.700000",
        "confidence": "0.950000",
        "numbers": {**numbers, "strata": strata},
        "findings": [{"code": "level_reached"}, {"code": "weak_stratum", "stratum": 1}, {"code": "small_panel"}],
    }  # fmt: skip
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


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["verdict"].update(items=61),
        lambda c: c["verdict"]["share"].update(value="0.93"),
        lambda c: c["verdict"]["share"].update(lower="1", value="0.9"),
        lambda c: c["verdict"].update(reasons=["veto", "level_reached"]),
        lambda c: c["verdict"].update(outcome="insufficient"),
        lambda c: c.update(checks="Everything was checked."),
        lambda c: c.update(ratings=[]),
    ],
)
def test_other_form_is_found_outside(exact: EvidenceFile, change: Any, tmp_path: Path) -> None:
    assert holds_outside(left(exact, change=change), tmp_path) == (False, False)


def test_each_changed_byte_is_found_outside_by_both(exact: EvidenceFile, tmp_path: Path) -> None:
    coarse = left(exact)
    for place in range(0, len(coarse.content), times(97, 1)):
        data = bytearray(coarse.content)
        data[place] ^= 1
        assert holds_outside(Signed(bytes(data), coarse.signature), tmp_path) == (False, False), place  # fmt: skip
    for place in range(0, 64, times(9, 1)):
        signature = bytearray(coarse.signature)
        signature[place] ^= 1
        assert holds_outside(Signed(coarse.content, bytes(signature)), tmp_path) == (False, False)


def test_few_items_are_refused_inside_whoever_signed(exact: EvidenceFile, tmp_path: Path) -> None:
    """A difficulty of four items, and a total less the others of four."""
    stated = certificate_of(exact)
    numbers = stated.verdict["numbers"]
    strata = {**numbers["strata"], "3": {**numbers["strata"]["3"], "items": 4}}
    verdict = {**stated.verdict, "numbers": {**numbers, "strata": strata}}
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
    for page in (told, coarse_text(read), coarse_html(read)):
        assert not [each for each in held if each in page]
    assert "in steps of 10.0 %" in coarse_text(read)
    assert "Outside, its form and its signature can be checked" in " ".join(
        coarse_text(read).split()
    )


def test_exact_certificate_of_secrets_says_what_it_tells(exact: EvidenceFile) -> None:
    [said] = [c for c in verify(exact.certificate, exact.signature, exact.evidence).checks if c.name == "what it tells"]  # fmt: skip
    assert "shares to six places of 60 items, of 3 difficulties, and the own share of each of 5 people" in said.words  # fmt: skip
    key = about(exact.evidence.key, segments="development", run_id="r", run_card_hash="0" * 64)
    quiet = issue(evidence_of(key, list(exact.evidence.events)))
    assert not over_secret(certificate_of(quiet), quiet.evidence)
    checks = verify(quiet.certificate, quiet.signature, quiet.evidence).checks
    assert "what it tells" not in {each.name for each in checks}
