"""A review of secret entries in an office: what its commands let out, and what they keep."""

from __future__ import annotations

import json
import shutil
from itertools import groupby
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.release.budget import NotReleased
from harness.release.ledger import own_ledger
from harness.release.records import Rule
from review.office.intake.handed_over import check_certificate, check_evidence
from review.verdict.certificate.coarse import read_coarse
from review.verdict.certificate.evidence import read_evidence_file
from rosetta_tui.html.review_page import review_page
from tests.review.verdict.alone import asked_alone
from tests.tui.review.gated import Spring, invoke, issued, rate_of, say_later, spring


@pytest.fixture
def secret(home: Path) -> Spring:
    made = spring(home, segment="gold_standard", secret=True)
    with own_ledger(home).changing() as change:
        change.write(lambda _: Rule(pause_hours=0))
    return made


def rate_again(secret: Spring, items: int, seed: int) -> None:
    """Let the first person give another rating to so many items of each difficulty."""
    key = secret.review.key
    real = [item for item in key.core if key.items[item].control is None]
    of = {item: key.items[item].stratum for item in real}
    strata = groupby(sorted(real, key=of.__getitem__), of.__getitem__)
    again = [each for _, part in strata for each in list(part)[:items]]
    said = [rate_of(secret.review, item) for item in again]
    say_later(secret.office, secret.review, seed, *said)


def test_issued_certificate_is_coarse_and_has_no_evidence(secret: Spring, tmp_path: Path) -> None:
    certificate = issued(tmp_path)
    names = {path.name.partition(".")[2] for path in certificate.parent.iterdir()}
    assert names == {f"certificate.{end}" for end in ("json", "sig", "txt", "html")}
    told = read_coarse(certificate.read_bytes(), "x")
    assert (told.outcome, told.answer, told.of, told.verdict.items) == ("go", 1, 10, 60)
    key = secret.review.key
    written = b"".join(path.read_bytes() for path in certificate.parent.iterdir())
    assert not [each for each in (*key.items, *key.orders) if each.encode() in written]
    with pytest.raises(UsageError, match="its numbers leave in steps only"):
        review_page(secret.office, secret.review)
    shutil.rmtree(secret.home / "releases")
    assert invoke("verify", certificate).exit_code == 0, "the ledger was lost"


def test_verify_computes_it_inside_and_reads_its_form_outside(
    secret: Spring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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


def test_evidence_is_written_by_its_own_command_only(secret: Spring, tmp_path: Path) -> None:
    certificate = issued(tmp_path)
    done = invoke("export", "--inside", tmp_path / "inside")
    assert "DANGER: this has every single rating of secret entries" in done.stderr
    [path] = (tmp_path / "inside").iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert asked_alone(path)[0] == 0
    for arguments in ((path,), (certificate, "--evidence", path)):
        assert invoke("verify", *arguments).exit_code == 0
    for check, data in (
        (check_evidence, path.read_bytes()),
        (check_certificate, read_evidence_file(path).certificate),
    ):
        with pytest.raises(UsageError, match="is exact, and its entries are secret"):
            check(data)
    check_certificate(certificate.read_bytes())


@pytest.mark.costly("four verdicts, two of which are of new ratings")
def test_few_new_ratings_are_not_told(secret: Spring, tmp_path: Path) -> None:
    first = issued(tmp_path).read_bytes()
    again = issued(tmp_path, "again")
    assert again.read_bytes() == first, "the same numbers are told once"
    rate_again(secret, 1, 7)
    with pytest.raises(NotReleased, match="fewer than 5"):
        invoke("gate", "--issue", "-o", tmp_path / "few")
    assert list((tmp_path / "few").iterdir()) == []
    rate_again(secret, 9, 8)
    told = read_coarse(issued(tmp_path, "more").read_bytes(), "x")
    assert (told.answer, told.supersedes) == (2, read_coarse(first, "x").sha256)


def test_numbers_leave_in_steps_only(secret: Spring, tmp_path: Path) -> None:
    [said] = json.loads(invoke("gate", "--json").stdout)
    assert said.keys() == {"version", "run_id", "outcome", "findings", "harm_decisions", "withheld"}
    assert (said["findings"], said["harm_decisions"]) == ([], [])
    page = tmp_path / "page.html"
    with pytest.raises(UsageError, match="has no certificate of run"):
        invoke("page", "-o", page)
    issued(tmp_path)
    invoke("page", "-o", page)
    assert "About 100 of 100 of the translations are good" in page.read_text("utf-8")
    assert "people gave answers" not in page.read_text("utf-8")
