"""``rosetta review gate|verify|adjudicate`` on real stores."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Segment
from harness.core.failures import HarnessError, UsageError
from harness.sealed.phrase import phrase
from review.log.payloads import HarmFlag, Scope, Withdraw
from review.office.store.store import Office, utc_now
from review.verdict.certificate.evidence import read_evidence_file
from review.verdict.certificate.signed import Attested
from review.verdict.panel.key import ControlKind
from tests.review.verdict.certified import GO, fluent_run
from tests.review.verdict.histories import Shape
from tests.review.verdict.signing import LAPTOP
from tests.tui.review.gated import (
    another_rating,
    filled,
    flagged,
    invoke,
    issued,
    listed,
    reviewed,
    second_laptop,
)

WHY = "used so in the north\nAnn\n"
"""What is typed when it asks why and who decides."""


@pytest.mark.thorough
def test_the_gate_says_its_verdict_in_words(
    office: Office, home: Path, card: dict[str, Any]
) -> None:
    filled(office, home, reviewed(card))
    said = invoke("gate").stdout
    assert "GO" in said
    assert "needed: lower bound ≥ 70.0 %" in said
    words = ("Near the method", "alpha", "AC2", "within one step", "Strata", "●●●●●", "5 reviewers")
    for word in (*words, "proposed"):
        assert word in said
    [found] = json.loads(invoke("gate", "spring", "--json").stdout)
    assert (found["outcome"], found["look"]) == ("go", 1)
    people = office.review("spring").key.orders
    assert not [who for who in people if who in invoke("gate", "--json").stdout]


def test_a_panel_that_accepts_what_was_spoilt_gives_no_go_and_nobody_is_shown_an_id(
    office: Office, home: Path, card: dict[str, Any]
) -> None:
    shape = Shape(quality=1.0, bad=8, repeats=0, anchors=0, mischief=0.0, careless=0.0)
    review = filled(office, home, reviewed(card, shape))
    lines = invoke("gate").stdout.splitlines()
    said = " ".join(" ".join(lines).split())
    assert "Verdict DISCUSS" in said
    assert "Most reviewers found 8 of 8 spoilt translations acceptable. Either they are no" in said
    spoilt = {item: each for item, each in review.key.items.items() if each.control == "bad"}
    assert said.count("do not count for the signs of haste") == 1
    assert "8 test translations do not count" in said
    for item, each in spoilt.items():
        assert item not in said
        assert f"{'':17}  · entry {each.entry} (spoilt: phrase swap)" in lines


@pytest.mark.parametrize("kind", [ControlKind.BAD, ControlKind.ANCHOR])
@pytest.mark.parametrize("items", [60, 20], ids=["enough", "too few"])
def test_a_flag_on_what_no_method_made_is_told_to_the_organiser_alone(
    office: Office, home: Path, card: dict[str, Any], kind: ControlKind, items: int
) -> None:
    evidence = flagged(card, shape=replace(GO, items=items), control=kind)
    filled(office, home, evidence)
    [flag] = [e.payload for e in evidence.events if isinstance(e.payload, HarmFlag)]
    entry = evidence.key.items[flag.item].entry
    said = " ".join(invoke("gate").stdout.split())
    assert ("GO" if items == 60 else "INSUFFICIENT") in said
    assert (
        f"For you Called harmful or culturally wrong: the test translation of entry {entry} ("
        in said
    )
    assert "It is not the method's" in said
    [found] = json.loads(invoke("gate", "--json").stdout)
    assert not [code for code in found["findings"] if str(code["code"]).startswith("harm")]


def test_a_flag_on_a_second_showing_stops_the_gate(
    office: Office, home: Path, card: dict[str, Any]
) -> None:
    review = filled(office, home, flagged(card, control=ControlKind.REPEAT))
    [waits] = [c for c in json.loads(invoke("adjudicate", "--json").stdout) if c["flags"]]
    assert review.key.items[waits["item"]].control is None
    said = " ".join(invoke("gate").stdout.split())
    assert "1 of the translations was called harmful" in said
    assert "not the method's" not in said


def test_only_a_look_at_new_ratings_is_a_new_look(
    office: Office, home: Path, card: dict[str, Any]
) -> None:
    review = filled(office, home, reviewed(card))
    for _ in range(3):
        [found] = json.loads(invoke("gate", "--json").stdout)
        assert (found["look"], found["confidence"]) == (1, "0.950000")
    another_rating(office, review, 3)
    for _ in range(2):
        [found] = json.loads(invoke("gate", "--json").stdout)
        assert (found["look"], found["confidence"]) == (2, "0.975000")


def test_no_look_is_spent_unasked_while_two_laptops_speak_for_somebody(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    review = filled(office, home, reviewed(card))
    second_laptop(office, review)
    said = (
        r"^1 of 5 people is not counted: several laptops.*review status spring\. Nothing was looked"
    )
    for arguments in ((), ("--issue", "-o", tmp_path / "out")):
        with pytest.raises(UsageError, match=said):
            invoke("gate", "spring", *arguments)
    assert (office.state(review).looks, (tmp_path / "out").exists()) == ({}, False)
    told = invoke("gate", "--anyway")
    assert told.stderr.startswith("LOOK: 1 of 5 people is not counted")
    assert "4 reviewers" in told.stdout
    again = invoke("gate")  # the same ratings: no new look
    assert again.stderr.startswith("LOOK: 1 of 5 people is not counted")
    assert list(office.state(review).looks.values()) == [1]


def test_the_command_that_lifts_the_tier_can_be_pasted(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    filled(office, home, reviewed(card))
    said = invoke("gate", "--issue", "-o", tmp_path / "two words").stderr
    command = said.split("lifted by: rosetta review ")[1].splitlines()[0]
    assert invoke(*shlex.split(command)).exit_code == 0


def test_too_few_ratings_show_no_numbers_and_are_no_look(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    review = filled(office, home, reviewed(card, Shape(reviewers=2, mischief=0.0, careless=0.0)))
    [found] = json.loads(invoke("gate", "--json").stdout)
    assert set(found) == {"version", "run_id", "outcome", "findings", "harm_decisions"}
    said = invoke("gate").stdout
    assert "INSUFFICIENT" in said
    assert "3 are needed" in said
    assert "lower bound" not in said
    assert office.state(review).looks == {}
    with pytest.raises(HarnessError, match="No certificate was made"):
        invoke("gate", "--issue", "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.thorough
def test_verify_says_what_holds_and_what_does_not(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    review = filled(office, home, reviewed(card))
    certificate = issued(tmp_path)
    [evidence] = certificate.parent.glob("*.rosetta-evidence")
    for arguments in ((certificate,), (evidence,), (certificate, "--evidence", evidence)):
        done = invoke("verify", *arguments)
        assert (done.exit_code, "byte for byte" in done.stdout) == (0, True)
    alone = tmp_path / "alone"
    alone.mkdir()
    for suffix in (".certificate.json", ".certificate.sig", ".rosetta-evidence"):
        [file] = certificate.parent.glob(f"*{suffix}")
        shutil.copy(file, alone / f"c{suffix}")
    who = next(iter(review.key.orders))
    office.append(
        review, Withdraw(wall=utc_now(), reviewer=who, batch=None, scope=Scope.EVERYTHING)
    )
    done = invoke("verify", certificate)
    assert (done.exit_code, "1 person took theirs back since" in done.stdout) == (0, True)
    assert "✓ signature" in done.stdout
    assert "Evidence: this machine's office" in done.stdout
    assert json.loads(invoke("verify", certificate, "--json").stdout)["ok"] is False
    with pytest.raises(HarnessError, match="took theirs back since"):
        invoke("attach", certificate)
    home.joinpath("reviews.sqlite").rename(tmp_path / "elsewhere.sqlite")
    said = invoke("verify", alone / "c.certificate.json").stdout
    assert "byte for byte" in said
    assert "Nothing that you kept yourself was held against it" in said
    changed = (
        (alone / "c.certificate.json").read_bytes().replace(b'"outcome":"go"', b'"outcome":"no_go"')
    )
    (alone / "c.certificate.json").write_bytes(changed)
    done = invoke("verify", alone / "c.certificate.json")
    assert done.exit_code == 1
    assert "✗ signature" in done.stdout
    (alone / "c.rosetta-evidence").unlink()
    with pytest.raises(UsageError, match="--evidence"):
        invoke("verify", alone / "c.certificate.json")


def test_words_that_are_not_in_it_do_not_condemn_the_certificate(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    filled(office, home, reviewed(card))
    certificate = issued(tmp_path)
    [file] = certificate.parent.glob("*.rosetta-evidence")
    right = phrase(Attested(read_evidence_file(file).evidence).hand_overs[0].signed.sha256)
    done = invoke("verify", file, "--words", right)
    assert (done.exit_code, "Everything holds" in done.stdout) == (0, True)
    with pytest.raises(UsageError, match="is none of the words"):
        invoke("verify", file, "--words", " ".join(right.split()[::-1]) + "x")
    other = phrase("0" * 64)
    done = invoke("verify", file, "--words", other)
    assert done.exit_code == 1
    assert "✓ verdict: computed again, byte for byte" in done.stdout
    assert (
        f"The certificate itself holds: the verdict was computed again, byte for byte. What you kept does not agree "
        f"with it (hand-over {other}): compare it once more" in done.stdout
    )
    said = json.loads(invoke("verify", file, "--words", other, "--json").stdout)
    assert (said["ok"], said["checks"][-1]["ok"]) == (False, False)
    done = invoke("verify", file, "--words", LAPTOP.public.phrase)
    assert done.exit_code == 1
    assert "these are the words of a laptop, by which it is enrolled" in done.stdout


@pytest.mark.thorough
def test_two_evidences_end_in_one_sentence(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    review = filled(office, home, reviewed(card))
    certificate = issued(tmp_path)
    assert "Together: all evidence that was found agrees" in invoke("verify", certificate).stdout
    who = next(iter(review.key.orders))
    office.append(
        review, Withdraw(wall=utc_now(), reviewer=who, batch=None, scope=Scope.EVERYTHING)
    )
    done = invoke("verify", certificate)
    assert done.exit_code == 0
    [said] = [line for line in done.stdout.splitlines() if line.startswith("Together")]
    assert "the verdict was computed again with" in said
    assert "cannot be with this machine's office: ratings were taken back since." in said


def test_a_withdrawal_and_the_status_count_the_same_certificates(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    review = filled(office, home, reviewed(card))
    issued(tmp_path, "first")
    issued(tmp_path, "second")
    code = review.code(next(iter(review.key.orders)))
    done = invoke("withdraw", "spring", code, "--scope", "batch", "--yes")
    assert "RECOMPUTE: one certificate rests" in done.stdout
    assert "RECOMPUTE: one certificate rests" in invoke("status", "spring").stdout
    assert [each.recompute for each in office.certificates(review)] == [True, True]


@pytest.mark.thorough
def test_files_that_are_there_are_not_overwritten_unasked(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    review = filled(office, home, reviewed(card))
    issued(tmp_path)
    before = office.state(review).looks
    with pytest.raises(UsageError, match=r"is there already.*--overwrite"):
        invoke("gate", "--issue", "-o", tmp_path / "out")
    assert len(office.certificates(review)) == 1
    assert office.state(review).looks == before
    done = invoke("gate", "--issue", "-o", tmp_path / "out", "--overwrite")
    assert done.exit_code == 0
    second = json.loads(office.certificates(review)[1].certificate)
    first = json.loads(issued(tmp_path, "more").read_bytes())
    assert second["supersedes"] is not None
    assert first["supersedes"] != second["supersedes"]


@pytest.mark.thorough
def test_a_flag_stops_the_gate_until_people_have_decided(
    office: Office, home: Path, card: dict[str, Any]
) -> None:
    review = filled(office, home, flagged(card))
    assert json.loads(invoke("gate", "--json").stdout)[0]["outcome"] == "discuss"
    [waits, *_] = json.loads(invoke("adjudicate", "--json").stdout)
    assert (waits["flags"], waits["harmful"]) == (1, None)
    assert "u, c, n, b, q or Enter: " in invoke("adjudicate", text="q\n").stdout
    done = invoke("adjudicate", text=f"n\nasked the elders\nc\n{WHY}q\n")
    assert f"source of {waits['item']}" in done.stdout
    assert f"candidate of {waits['item']}" in done.stdout
    people = [*review.key.orders, card["run_id"]]
    assert not [word for word in people if word in done.stdout]
    [found] = json.loads(invoke("gate", "--json").stdout)
    assert (found["outcome"], found["harm"]["cleared"], found["look"]) == ("go", 1, 1)
    [again] = [c for c in json.loads(invoke("adjudicate", "--all", "--json").stdout) if c["flags"]]
    assert again["harmful"] is False
    invoke("adjudicate", "--all", text="u\nan insult here\n\nq\n")  # the last word counts
    assert json.loads(invoke("gate", "--json").stdout)[0]["harm"]["upheld"] == 1
    invoke("adjudicate", "--all", text="n\nstill unsure\nq\n")  # a note changes no decision
    assert json.loads(invoke("gate", "--json").stdout)[0]["harm"]["upheld"] == 1
    assert "Taken back." in invoke("adjudicate", "--all", text="u\nq\n").stdout
    assert json.loads(invoke("gate", "--json").stdout)[0]["harm"]["flagged"] == 1


@pytest.mark.thorough
def test_a_decision_about_harm_stands_with_its_reason_wherever_the_verdict_does(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    filled(office, home, flagged(card))
    done = invoke("adjudicate", text="c\n\nc\nno source of harm <b>\nAnn\nq\n")
    refusal = done.stdout.index("A decision needs a reason")
    assert "Who decides" not in done.stdout[:refusal]
    assert "stand on the certificate, for everybody to read" in done.stdout
    assert "Cleared." in done.stdout
    said = "no source of harm <b> (decided by Ann)"
    assert f"cleared: {said}" in " ".join(invoke("gate").stdout.split())
    [found] = json.loads(invoke("gate", "--json").stdout)
    decision = {"harmful": False, "reason": "no source of harm <b>", "by": "Ann"}
    assert found["harm_decisions"] == [decision]
    certificate = issued(tmp_path)
    assert json.loads(certificate.read_bytes())["harm"] == [decision]
    text = certificate.with_name(certificate.name.replace(".json", ".txt")).read_text("utf-8")
    assert f"harm cleared 1 of 1: {said}" in " ".join(text.split())
    page = certificate.with_name(certificate.name.replace(".json", ".html")).read_text("utf-8")
    assert "no source of harm &lt;b&gt; (decided by Ann)" in page
    invoke("page", "-o", tmp_path / "page.html")
    told = (tmp_path / "page.html").read_text("utf-8")
    assert "no source of harm &lt;b&gt;" in told
    assert "Ann" in told
    for arguments in ((certificate,), (next(certificate.parent.glob("*.rosetta-evidence")),)):
        assert "byte for byte" in invoke("verify", *arguments).stdout


def test_notes_stay_on_this_machine(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    filled(office, home, flagged(card))
    invoke("adjudicate", text=f"n\nasked the elders\nc\n{WHY}q\n")
    issued(tmp_path)
    written = b"".join(file.read_bytes() for file in (tmp_path / "out").iterdir())
    assert b"asked the elders" not in written
    assert b"source of" not in written


def test_a_run_of_another_review_is_named(office: Office, home: Path, card: dict[str, Any]) -> None:
    filled(office, home, reviewed(card))
    with pytest.raises(UsageError, match="Name one of the runs"):
        invoke("gate", "--run", "zzz")
    assert "GO" in invoke("gate", "--run", card["run_id"][:6]).stdout


def test_a_secret_run_is_certified_without_its_texts(
    home: Path, tmp_path: Path, office: Office
) -> None:
    card = fluent_run(home / "rosetta.sqlite", tmp_path, segment=Segment.GOLD_STANDARD)
    filled(office, home, reviewed(card, segments="gold_standard"))
    certificate = issued(tmp_path)
    invoke("attach", certificate)
    assert listed()["verification_tier"] == "community-validated"
    written = b"".join(file.read_bytes() for file in (tmp_path / "out").iterdir())
    assert b"fenestro" not in written


def test_what_nobody_flagged_is_not_upheld_by_a_slip(
    office: Office, home: Path, card: dict[str, Any]
) -> None:
    review = filled(office, home, reviewed(card, Shape(quality=0.6, mischief=0.0, careless=0.0), segments="development"))  # fmt: skip
    opened = invoke("adjudicate", text="q\n").stdout
    assert opened.index("c  cleared") < opened.index("1 of ")  # the keys, before the first item
    assert "n, b, q or Enter: " in opened
    assert "u, c, n" not in opened  # it split the panel and nobody called it harmful
    done = invoke("adjudicate", text="u\nx\nn\nlook at the verb\nb\n\nq\n")
    assert "Nobody flagged this one" in done.stdout
    assert done.stdout.count("c  cleared") == 2  # any other key shows the keys again
    assert [each.harmful for each in office.state(review).adjudications.values()] == [None]
    again = invoke("adjudicate", "--all", text="u\nu\nn\n" + "x" * 4001 + "\nq\n").stdout
    assert "Nobody flagged this one" in again  # a note makes it no flag
    assert "4,001 characters" in again
    assert [each.harmful for each in office.state(review).adjudications.values()] == [None]
    assert json.loads(invoke("gate", "--json").stdout)[0]["harm"]["upheld"] == 0


def test_verify_tells_whose_word_it_is(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    """A stranger may rewrite all of an evidence file and sign it in the organisation's name."""
    from harness.sealed.keys import Identity, Role
    from review.verdict.certificate.certificate import read_certificate
    from review.verdict.certificate.evidence import pack_evidence

    filled(office, home, reviewed(card))
    certificate = issued(tmp_path)
    assert "by this machine's organisation" in invoke("verify", certificate).stdout
    [evidence] = certificate.parent.glob("*.rosetta-evidence")
    file, stranger = read_evidence_file(evidence), Identity.make(Role.ORGANISATION)
    key = stranger.public.signing_key
    stated = read_certificate(file.certificate, "x")
    issuer = stated.organisation.model_copy(update={"signing_key": key})
    forged = stated.model_copy(update={"organisation": issuer}).as_bytes()
    path = tmp_path / "forged.rosetta-evidence"
    path.write_bytes(pack_evidence(forged, stranger.sign(forged), file.evidence))
    done = invoke("verify", path)
    assert "by this machine's organisation" not in done.stdout
    assert stranger.public.phrase in done.stdout
    assert json.loads(invoke("verify", path, "--json").stdout)["signer_is_trusted"] is False
    own = stated.organisation.signing_key
    assert invoke("verify", path, "--trust", own).exit_code == 1
    assert invoke("verify", evidence, "--trust", own).exit_code == 0
    with pytest.raises(HarnessError, match=r"Not attached.*not signed by the organisation"):
        invoke("attach", path)


def test_secrets_are_decided_on_a_terminal_only(home: Path, tmp_path: Path, office: Office) -> None:
    card = fluent_run(home / "rosetta.sqlite", tmp_path, segment=Segment.GOLD_STANDARD)
    filled(office, home, reviewed(card), secret=True)
    with pytest.raises(UsageError, match="on a terminal only"):
        invoke("adjudicate", "--all", text="q\n")
    assert "fenestro" not in invoke("adjudicate", "--all", "--json").stdout


@pytest.mark.parametrize("answers", ["from a file", "into a file"])
def test_secret_sentences_leave_no_terminal(
    office: Office, home: Path, card: dict[str, Any], answers: str
) -> None:
    filled(office, home, flagged(card, segments="gold_standard"))
    leader, follower = os.openpty()  # a real terminal for one of the two
    piped = answers == "into a file"
    done = subprocess.run(
        [sys.executable, "-c", "from rosetta_tui.cli import main; main()", "review", "adjudicate"],
        stdin=follower if piped else subprocess.DEVNULL,
        stdout=subprocess.PIPE if piped else follower,
        stderr=subprocess.PIPE,
        env={**os.environ, "ROSETTA_HOME": str(home)},
        timeout=600,
        check=False,
    )
    os.close(follower)
    with contextlib.suppress(OSError):  # nothing was written to it
        assert b"source of" not in os.read(leader, 2**16)
    os.close(leader)
    assert (done.returncode, b"on a terminal only" in done.stderr) == (2, True)
    assert b"source of" not in (done.stdout or b"")
