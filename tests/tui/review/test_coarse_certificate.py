"""A review of secret entries in an office: what its commands let out, and what they keep."""

from __future__ import annotations

import json
import shutil
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.core.failures import UsageError
from harness.release.budget import NotReleased
from harness.release.ledger import own_ledger
from harness.release.records import Rule
from review.log.payloads import Rate
from review.office.intake.handed_over import check_certificate, check_evidence
from review.office.store.store import Office, Review
from review.rating import Rating
from review.verdict.certificate.coarse import read_coarse
from review.verdict.certificate.evidence import read_evidence_file
from rosetta_tui.html.review_page import review_page
from tests.review.verdict import histories
from tests.review.verdict.alone import asked_alone
from tests.review.verdict.certified import GO, deliver
from tests.tui.review.gated import filled, invoke, issued, reviewed

pytestmark = pytest.mark.usefixtures("no_pause")


@pytest.fixture
def no_pause(home: Path) -> None:
    with own_ledger(home).changing() as change:
        change.write(lambda _: Rule(pause_hours=0))


@pytest.fixture
def secret(office: Office, home: Path, card: dict[str, Any]) -> Review:
    return filled(office, home, reviewed(card, GO, segments="gold_standard"), secret=True)


def rate_again(office: Office, review: Review, items: int, seed: int) -> None:
    """Let the first person give another rating to so many items of each difficulty."""
    chain = histories.Chain(Random(seed))
    chain.lamport = 10**6 * seed
    who = next(iter(review.key.orders))
    real = [item for item in review.key.core if review.key.items[item].control is None]
    of = {item: review.key.items[item].stratum for item in real}
    strata = groupby(sorted(real, key=of.__getitem__), of.__getitem__)
    for item in [each for _, part in strata for each in list(part)[:items]]:
        chain.write(
            Rate(
                wall=histories.WALL, reviewer=who, batch=review.key.batches[0], item=item, position=0,
                active_ms=5, face="lines", version="0", rating=Rating.GIST,
            )
        )  # fmt: skip
    deliver(office.connection, review.key, tuple(chain.events))


def test_what_is_issued_is_coarse_and_has_no_evidence(secret: Review, tmp_path: Path) -> None:
    certificate = issued(tmp_path)
    names = {path.name.partition(".")[2] for path in certificate.parent.iterdir()}
    assert names == {f"certificate.{end}" for end in ("json", "sig", "txt", "html")}
    told = read_coarse(certificate.read_bytes(), "x")
    assert (told.outcome, told.answer, told.of, told.verdict.items) == ("go", 1, 10, 60)
    written = b"".join(path.read_bytes() for path in certificate.parent.iterdir()).decode(
        "utf-8", "replace"
    )
    assert not [each for each in (*secret.key.items, *secret.key.orders) if each in written]


def test_it_is_held_against_the_ratings_inside_and_by_its_form_outside(
    secret: Review, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = issued(tmp_path)
    inside = invoke("verify", certificate)
    assert inside.exit_code == 0
    assert "coarse numbers: what left in its place follows from it" in inside.stdout
    assert "It is exact" not in inside.stdout
    assert "every single rating" in inside.stdout  # of the exact one
    assert asked_alone(certificate)[0] == 0
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
    outside = invoke("verify", certificate)
    assert outside.exit_code == 0
    assert "only who keeps the evidence can compute" in outside.stdout
    found = json.loads(invoke("verify", certificate, "--json").stdout)
    assert (found["ok"], found["outcome"], found["evidence"]) == (True, "go", {})
    assert invoke("verify", certificate, "--trust", "0" * 64).exit_code == 1
    with pytest.raises(UsageError, match="is coarse, for its entries are secret"):
        invoke("attach", certificate)
    certificate.with_name(certificate.name.replace(".json", ".sig")).write_bytes(b"0" * 64)
    assert invoke("verify", certificate).exit_code == 1


def test_the_evidence_is_written_by_its_own_command_only_and_no_stick_takes_it(
    secret: Review, home: Path, tmp_path: Path
) -> None:
    certificate = issued(tmp_path)
    done = invoke("export", "--inside", tmp_path / "inside")
    assert "DANGER: this has every single rating of secret entries" in done.stderr
    [path] = (tmp_path / "inside").iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert asked_alone(path)[0] == 0
    assert invoke("verify", path).exit_code == 0
    assert invoke("verify", certificate, "--evidence", path).exit_code == 0
    for check, data in (
        (check_evidence, path.read_bytes()),
        (check_certificate, read_evidence_file(path).certificate),
    ):
        with pytest.raises(
            UsageError, match="This certificate is exact, and its entries are secret"
        ):
            check(data)
    check_certificate(certificate.read_bytes())


def test_the_same_numbers_are_told_once_and_a_few_new_ratings_not_at_all(
    office: Office, secret: Review, home: Path, tmp_path: Path
) -> None:
    first = issued(tmp_path).read_bytes()
    again = issued(tmp_path, "again")
    assert again.read_bytes() == first
    assert invoke("verify", again).exit_code == 0
    rate_again(office, secret, 1, 7)
    with pytest.raises(NotReleased, match=r"kept here, and nothing of it leaves.*fewer than 5"):
        invoke("gate", "--issue", "-o", tmp_path / "few")
    assert list((tmp_path / "few").iterdir()) == []
    assert invoke("export", "--inside", tmp_path / "inside").exit_code == 0  # issued it was
    rate_again(office, secret, 9, 8)
    told = read_coarse(issued(tmp_path, "more").read_bytes(), "x")
    assert (told.answer, told.supersedes) == (2, read_coarse(first, "x").sha256)


def test_numbers_leave_in_steps_only_as_json_and_on_the_speakers_page(
    secret: Review, tmp_path: Path
) -> None:
    [said] = json.loads(invoke("gate", "--json").stdout)
    assert said.keys() == {"version", "run_id", "outcome", "findings", "harm_decisions", "withheld"}
    assert (said["findings"], said["harm_decisions"]) == ([], [])
    with pytest.raises(UsageError, match="has no certificate of run"):
        invoke("page", "-o", tmp_path / "page.html")
    issued(tmp_path)
    invoke("page", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "About 100 of 100 of the translations are good" in page
    assert "people gave answers" not in page


def test_a_ledger_that_was_lost_tells_of_the_certificate_all_the_same(
    secret: Review, home: Path, tmp_path: Path
) -> None:
    certificate = issued(tmp_path)
    shutil.rmtree(home / "releases")
    assert invoke("verify", certificate).exit_code == 0


def test_no_report_is_made_of_it(office: Office, secret: Review, tmp_path: Path) -> None:
    issued(tmp_path)
    with pytest.raises(UsageError, match="its numbers leave in steps only"):
        review_page(office, secret)
