"""``rosetta review gate|verify|adjudicate`` on real stores."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.core.failures import HarnessError, UsageError
from harness.sealed.keys import Identity, Role
from harness.sealed.phrase import phrase
from review.log.payloads import HarmFlag, Scope, Withdraw
from review.office.store.store import utc_now
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.evidence import pack_evidence, read_evidence_file
from review.verdict.certificate.signed import Attested
from tests.review.thorough import first
from tests.review.verdict.histories import Shape
from tests.review.verdict.signing import LAPTOP
from tests.tui.review.gated import (
    Spring,
    another_rating,
    gate,
    invoke,
    issued,
    listed,
    second_laptop,
    spring,
)

WHY = "used so in the north\nAnn\n"
"""What is typed when it asks why and who decides."""


def said_by(*arguments: object, text: str | None = None) -> str:
    """Return what a command says, wherever its lines are broken."""
    return " ".join(invoke(*arguments, text=text).stdout.split())


def withdraw(review: Spring) -> None:
    """Let the first person take everything back."""
    said = Withdraw(wall=utc_now(), reviewer=review.first, batch=None, scope=Scope.EVERYTHING)
    review.office.append(review.review, said)


def test_gate_go_says_verdict_in_words(go: Spring) -> None:
    said = invoke("gate", "--run", go.card["run_id"][:6]).stdout
    for word in (
        "GO", "needed: lower bound ≥ 70.0 %", "Near the method", "alpha", "AC2", "Strata",
        "within one step", "●●●●●", "5 reviewers", "proposed",
    ):  # fmt: skip
        assert word in said
    told = invoke("gate", "spring", "--json").stdout
    [found] = json.loads(told)
    assert (found["outcome"], found["look"]) == ("go", 1)
    assert not [who for who in go.review.key.orders if who in told]
    with pytest.raises(UsageError, match="Name one of the runs"):
        invoke("gate", "--run", "zzz")


def test_gate_panel_that_accepts_spoilt_texts_is_told_without_ids(home: Path) -> None:
    shape = Shape(quality=1.0, bad=8, repeats=0, anchors=0, mischief=0.0, careless=0.0)
    review = spring(home, shape).review
    lines = invoke("gate").stdout.splitlines()
    said = " ".join(" ".join(lines).split())
    assert "Verdict DISCUSS" in said
    assert "Most reviewers found 8 of 8 spoilt translations acceptable. Either they are no" in said
    assert said.count("do not count for the signs of haste") == 1
    assert "8 test translations do not count" in said
    for item, each in review.key.items.items():
        if each.control == "bad":
            assert item not in said
            assert f"{'':17}  · entry {each.entry} (spoilt: phrase swap)" in lines


def test_gate_flag_on_control_is_told_to_organiser_alone(home: Path) -> None:
    made = spring(home, flag="bad")
    events = made.office.events(made.review)
    [flag] = [e.payload for e in events if isinstance(e.payload, HarmFlag)]
    entry = made.review.key.items[flag.item].entry
    said = said_by("gate")
    assert "GO" in said
    assert f"Called harmful or culturally wrong: the test translation of entry {entry} (" in said
    assert "It is not the method's" in said
    assert not [code for code in gate()["findings"] if str(code["code"]).startswith("harm")]


def test_gate_counts_only_looks_at_new_ratings(go: Spring) -> None:
    for look, confidence in ((1, "0.950000"), (1, "0.950000"), (2, "0.975000")):
        if look == 2:
            another_rating(go.office, go.review, 3)
        found = gate()
        assert (found["look"], found["confidence"]) == (look, confidence)


def test_gate_two_laptops_for_one_person_spend_no_look(go: Spring, tmp_path: Path) -> None:
    second_laptop(go.office, go.review)
    said = r"^1 of 5 people is not counted: several .*review status spring\. Nothing was looked"
    for arguments in ((), ("--issue", "-o", tmp_path / "out")):
        with pytest.raises(UsageError, match=said):
            invoke("gate", "spring", *arguments)
    assert (go.looks, (tmp_path / "out").exists()) == ([], False)
    told = invoke("gate", "--anyway")
    assert told.stderr.startswith("LOOK: 1 of 5 people is not counted")
    assert "4 reviewers" in told.stdout
    assert go.looks == [1]


def test_gate_too_few_ratings_show_no_numbers(home: Path, tmp_path: Path) -> None:
    made = spring(home, Shape(reviewers=2, mischief=0.0, careless=0.0))
    assert set(gate()) == {"version", "run_id", "outcome", "findings", "harm_decisions"}
    said = invoke("gate").stdout
    assert "INSUFFICIENT" in said
    assert "3 are needed" in said
    assert "lower bound" not in said
    assert made.looks == []
    with pytest.raises(HarnessError, match="No certificate was made"):
        invoke("gate", "--issue", "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_verify_says_what_holds_and_what_does_not(go: Spring, tmp_path: Path) -> None:
    certificate = issued(tmp_path)
    [evidence] = certificate.parent.glob("*.rosetta-evidence")
    for arguments in ((evidence,), (certificate, "--evidence", evidence)):
        done = invoke("verify", *arguments)
        assert (done.exit_code, "byte for byte" in done.stdout) == (0, True)
    assert "Together: all evidence that was found agrees" in invoke("verify", certificate).stdout
    alone = tmp_path / "alone" / "c.certificate.json"
    alone.parent.mkdir()
    for suffix in (".certificate.json", ".certificate.sig", ".rosetta-evidence"):
        [file] = certificate.parent.glob(f"*{suffix}")
        shutil.copy(file, alone.parent / f"c{suffix}")
    withdraw(go)
    done = invoke("verify", certificate)
    assert done.exit_code == 0
    for words in ("1 person took theirs back since", "✓ signature", "this machine's office"):
        assert words in done.stdout
    [said] = [line for line in done.stdout.splitlines() if line.startswith("Together")]
    assert "cannot be with this machine's office: ratings were taken back since." in said
    assert json.loads(invoke("verify", certificate, "--json").stdout)["ok"] is False
    with pytest.raises(HarnessError, match="took theirs back since"):
        invoke("attach", certificate)
    go.home.joinpath("reviews.sqlite").rename(tmp_path / "elsewhere.sqlite")
    assert "Nothing that you kept yourself was held against it" in said_by("verify", alone)
    alone.write_bytes(alone.read_bytes().replace(b'"outcome":"go"', b'"outcome":"no_go"'))
    done = invoke("verify", alone)
    assert (done.exit_code, "✗ signature" in done.stdout) == (1, True)
    alone.with_name("c.rosetta-evidence").unlink()
    with pytest.raises(UsageError, match="--evidence"):
        invoke("verify", alone)


def test_verify_words_not_in_it_do_not_condemn_the_certificate(go: Spring, tmp_path: Path) -> None:
    [file] = issued(tmp_path).parent.glob("*.rosetta-evidence")
    right = phrase(Attested(read_evidence_file(file).evidence).hand_overs[0].signed.sha256)
    other = phrase("0" * 64)
    with pytest.raises(UsageError, match="is none of the words"):
        invoke("verify", file, "--words", " ".join(right.split()[::-1]) + "x")
    for words, code, told in (
        (right, 0, "Everything holds"),
        (other, 1, f"does not agree with it (hand-over {other}): compare it once more"),
        (LAPTOP.public.phrase, 1, "these are the words of a laptop, by which it is enrolled"),
    ):
        done = invoke("verify", file, "--words", words)
        assert (done.exit_code, told in done.stdout) == (code, True)
        assert "✓ verdict: computed again, byte for byte" in done.stdout


def test_gate_issue_overwrites_files_only_when_asked(go: Spring, tmp_path: Path) -> None:
    issue = ("gate", "--issue", "-o", tmp_path / "two words")
    pasted = invoke(*issue).stderr.split("lifted by: rosetta review ")[1].splitlines()[0]
    assert invoke(*shlex.split(pasted)).exit_code == 0
    before = go.looks
    with pytest.raises(UsageError, match=r"is there already.*--overwrite"):
        invoke(*issue)
    assert (len(go.office.certificates(go.review)), go.looks) == (1, before)
    assert invoke(*issue, "--overwrite").exit_code == 0
    first, second = (json.loads(c.certificate) for c in go.office.certificates(go.review))
    assert first["supersedes"] is None
    assert second["supersedes"] is not None


@pytest.fixture
def harmed(home: Path) -> Spring:
    """A review in which somebody calls a translation harmful."""
    return spring(home, flag="real")


def test_gate_flag_stops_it_until_people_have_decided(harmed: Spring) -> None:
    [waits, *_] = json.loads(invoke("adjudicate", "--json").stdout)
    assert (waits["flags"], waits["harmful"]) == (1, None)
    shown = invoke("adjudicate", text=f"n\nasked the elders\nc\n{WHY}q\n").stdout
    for words in (f"source of {waits['item']}", f"candidate of {waits['item']}", "u, c, n, b, q"):
        assert words in shown
    assert not [
        word for word in (*harmed.review.key.orders, harmed.card["run_id"]) if word in shown
    ]
    found = gate()
    assert (found["outcome"], found["harm"]["cleared"], found["look"]) == ("go", 1, 1)
    invoke("adjudicate", "--all", text="u\nan insult here\n\nq\n")  # the last word counts
    assert harmed.state.adjudications[waits["item"]].harmful


def test_adjudicate_reason_stands_wherever_the_verdict_does(harmed: Spring, tmp_path: Path) -> None:
    typed = "n\nasked the elders\nc\n\nc\nno source of harm <b>\nAnn\nq\n"
    said = invoke("adjudicate", text=typed).stdout
    refusal = said.index("A decision needs a reason")
    assert "Who decides" not in said[:refusal]
    assert "stand on the certificate, for everybody to read" in said
    assert "cleared: no source of harm <b> (decided by Ann)" in said_by("gate")
    decision = {"harmful": False, "reason": "no source of harm <b>", "by": "Ann"}
    assert gate()["harm_decisions"] == [decision]
    certificate = issued(tmp_path)
    assert json.loads(certificate.read_bytes())["harm"] == [decision]
    invoke("page", "-o", tmp_path / "page.html")
    [html] = certificate.parent.glob("*.html")
    for page in (html, tmp_path / "page.html"):
        assert "no source of harm &lt;b&gt;" in page.read_text("utf-8")
    assert "byte for byte" in invoke("verify", certificate).stdout
    written = b"".join(file.read_bytes() for file in (tmp_path / "out").iterdir())
    assert b"asked the elders" not in written, "notes stay on this machine"
    assert b"source of" not in written.replace(b"no source of", b"")


def test_gate_secret_run_is_certified_without_its_texts(home: Path, tmp_path: Path) -> None:
    spring(home, segment="gold_standard", run=Segment.GOLD_STANDARD)
    invoke("attach", issued(tmp_path))
    assert listed()["verification_tier"] == "community-validated"
    written = b"".join(file.read_bytes() for file in (tmp_path / "out").iterdir())
    assert b"fenestro" not in written


def test_adjudicate_what_nobody_flagged_is_not_upheld_by_a_slip(home: Path) -> None:
    made = spring(home, Shape(quality=0.6, mischief=0.0, careless=0.0))
    done = invoke("adjudicate", text="u\nx\nn\nlook at the verb\nb\n\nq\n").stdout
    assert done.index("c  cleared") < done.index("1 of ")  # the keys, before the first item
    assert "n, b, q or Enter: " in done
    assert "u, c, n" not in done  # it split the panel and nobody called it harmful
    assert "Nobody flagged this one" in done
    assert done.count("c  cleared") == 2  # any other key shows the keys again
    assert [each.harmful for each in made.state.adjudications.values()] == [None]


def test_verify_tells_whose_word_it_is(go: Spring, tmp_path: Path) -> None:
    """A stranger may rewrite all of an evidence file and sign it in the organisation's name."""
    certificate = issued(tmp_path)
    assert "by this machine's organisation" in invoke("verify", certificate).stdout
    [evidence] = certificate.parent.glob("*.rosetta-evidence")
    file, stranger = read_evidence_file(evidence), Identity.make(Role.ORGANISATION)
    stated = read_certificate(file.certificate, "x")
    issuer = stated.organisation.model_copy(update={"signing_key": stranger.public.signing_key})
    forged = stated.model_copy(update={"organisation": issuer}).as_bytes()
    path = tmp_path / "forged.rosetta-evidence"
    path.write_bytes(pack_evidence(forged, stranger.sign(forged), file.evidence))
    done = invoke("verify", path)
    assert "by this machine's organisation" not in done.stdout
    assert stranger.public.phrase in done.stdout
    assert json.loads(invoke("verify", path, "--json").stdout)["signer_is_trusted"] is False
    own = stated.organisation.signing_key
    assert [invoke("verify", p, "--trust", own).exit_code for p in (path, evidence)] == [1, 0]
    with pytest.raises(HarnessError, match=r"Not attached.*not signed by the organisation"):
        invoke("attach", path)


def test_adjudicate_secrets_are_decided_on_a_terminal_only(home: Path) -> None:
    spring(home, run=Segment.GOLD_STANDARD, secret=True)
    with pytest.raises(UsageError, match="on a terminal only"):
        invoke("adjudicate", "--all", text="q\n")
    assert "fenestro" not in invoke("adjudicate", "--all", "--json").stdout


@pytest.mark.costly("a program with a terminal at one of its two ends only")
@pytest.mark.parametrize("piped", first(1, [True, False]))
def test_adjudicate_secret_sentences_leave_no_terminal(home: Path, piped: bool) -> None:
    spring(home, segment="gold_standard", flag="real")
    leader, follower = os.openpty()  # a real terminal for one of the two
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
