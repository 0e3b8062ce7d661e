"""``rosetta review gate|verify|adjudicate|export|page|variants`` on real stores; and who reads ratings has looked."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result

from corpora.formats.load import load
from corpora.model.entry import Segment
from corpora.samples import DEMO_CORPUS, sample_path
from harness.core.failures import HarnessError, UsageError
from harness.sealed.archive import unpack
from harness.sealed.keys import Identity, Role, verify
from harness.sealed.phrase import phrase
from harness.sealed.sealing import read_age_identities, unseal
from review.files.identities import printed
from review.files.manifests import ExportManifest
from review.log.event import Event
from review.log.payloads import AnyPayload, Comment, HarmFlag, Rate, Scope, Suggest, Withdraw
from review.office.results.certifying import unseen_runs
from review.office.store.store import Office, utc_now
from review.rating import Rating
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.evidence import pack_evidence, read_evidence_file
from review.verdict.certificate.signed import Attested
from rosetta_tui.commands.compare import calibrate
from rosetta_tui.commands.review import review
from rosetta_tui.commands.runs import runs
from tests.harness.sealed.refusals import refuses
from tests.review.attacks.ground import rewritten
from tests.review.office import made
from tests.review.thorough import first
from tests.review.verdict import histories
from tests.review.verdict.certified import asked_alone
from tests.review.verdict.histories import Shape
from tests.review.verdict.signing import LAPTOP
from tests.tui.review.gated import (
    CREATE,
    Spring,
    another_rating,
    batch_at,
    filled,
    gate,
    invoke,
    issued,
    listed,
    rate_of,
    refused,
    reviewed,
    rosetta,
    say_later,
    sealed_run,
    spring,
)

WHY = "used so in the north\nAnn\n"
"""What is typed when it asks why and who decides."""


def said_by(*arguments: object, text: str | None = None) -> str:
    """Return what a command says, wherever its lines are broken."""
    return " ".join(invoke(*arguments, text=text).stdout.split())


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
    refuses(UsageError, "Name one of the runs", invoke, "gate", "--run", "zzz")


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


def test_gate_counts_looks_over_all_reviews_of_a_run(go: Spring, tmp_path: Path) -> None:
    """Three batches of one run are made side by side; the last one is not looked at."""
    others = []
    for seed, name in ((2, "summer"), (3, "autumn")):
        evidence = reviewed(go.card, seed=seed)
        key = evidence.key.model_copy(update={"review": name})
        others.append(filled(go.office, go.home, replace(evidence, key=key)).key.batches)
    first = go.review.key.batches[0]
    found = gate("spring")
    unseen = {batch: 0 for batches in others for batch in batches}
    assert (found["look"], found["looks"]) == (1, {"here": 1, "early": 0, "others": unseen})
    named = go.office.other_batches(go.office.review("summer"))[go.card["run_id"]]
    assert set(named) == {*go.review.key.batches, *others[1]}
    found = gate("summer")
    assert (found["look"], found["confidence"]) == (2, "0.975000")
    assert (found["looks"]["others"][first], found["looks"]["here"]) == (1, 1)
    assert unseen_runs(go.office, go.office.review("autumn")) == {go.card["run_id"]: 3}
    assert gate("spring")["look"] == 2, "the look at the other batch counts now"
    invoke("gate", "summer", "--issue", "-o", tmp_path)
    [certificate] = tmp_path.glob("*.certificate.txt")
    told = " ".join(certificate.read_text("utf-8").split())
    assert f"1 at batch {first}" in told
    assert "Reviews made on another computer are not known here" in told
    [file] = tmp_path.glob("*.rosetta-evidence")
    assert asked_alone(file)[0] == 0
    assert "looks: 2 at this run" in invoke("verify", file).stdout


def test_two_people_who_copied_are_named_to_the_organiser(home: Path, tmp_path: Path) -> None:
    card = sealed_run(home)
    evidence = reviewed(card)
    one, other, *_ = evidence.key.orders
    given = {
        e.payload.item: e.payload.rating
        for e in evidence.events
        if isinstance(e.payload, Rate) and e.payload.reviewer == one
    }

    def copy(event: Event) -> AnyPayload | None:
        said = event.payload
        if isinstance(said, Rate) and said.reviewer == other:
            return said.model_copy(update={"rating": given[said.item]})
        return said

    evidence = histories.evidence_of(evidence.key, list(rewritten(evidence.events, copy)))
    with Office.open(home) as office:
        filled(office, home, evidence)
    words = f"ALIKE: {printed(one)} and {printed(other)} give the same rating for 60 of 60 translations"
    assert words in invoke("status", "spring").stdout
    [status] = json.loads(invoke("status", "spring", "--json").stdout)["reviews"]
    [pair] = status["alike"]
    assert (pair["reviewers"], pair["equal"], pair["items"]) == ([one, other], 60, 60)
    found = gate()
    assert (found["alike"], len(found["numbers"]["reviewers"])) == ([pair], 5), "nobody is excluded"
    assert words.removeprefix("ALIKE: ") in invoke("gate").stdout
    certificate = issued(tmp_path)
    assert not any(one in file.read_text("utf-8") for file in certificate.parent.glob("*.certificate.*[lnt]"))


def test_gate_two_laptops_for_one_person_spend_no_look(go: Spring, tmp_path: Path) -> None:
    key = ("ab" * 32, another_rating(go.office, go.review, 5))  # on another laptop
    go.office.connection.execute("UPDATE delivery SET signing_key = ? WHERE device = ?", key)
    said = r"^1 of 5 people is not counted: several .*review status spring\. Nothing was examined"
    for arguments in ((), ("--issue", "-o", tmp_path / "out")):
        refuses(UsageError, said, invoke, "gate", "spring", *arguments)
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
    refuses(HarnessError, "No certificate was made", invoke, "gate", "--issue", "-o", tmp_path / "out")
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
    back = Withdraw(wall=utc_now(), reviewer=go.first, batch=None, scope=Scope.EVERYTHING)
    go.office.append(go.review, back)
    done = invoke("verify", certificate)
    assert done.exit_code == 0
    for words in ("1 person took theirs back since", "✓ signature", "this machine's office"):
        assert words in done.stdout
    [said] = [line for line in done.stdout.splitlines() if line.startswith("Together")]
    assert "cannot be with this machine's office: ratings were taken back since." in said
    assert json.loads(invoke("verify", certificate, "--json").stdout)["ok"] is False
    refuses(HarnessError, "took theirs back since", invoke, "attach", certificate)
    go.home.joinpath("reviews.sqlite").rename(tmp_path / "elsewhere.sqlite")
    assert "Nothing that you kept yourself was held against it" in said_by("verify", alone)
    alone.write_bytes(alone.read_bytes().replace(b'"outcome":"go"', b'"outcome":"no_go"'))
    done = invoke("verify", alone)
    assert (done.exit_code, "✗ signature" in done.stdout) == (1, True)
    alone.with_name("c.rosetta-evidence").unlink()
    refuses(UsageError, "--evidence", invoke, "verify", alone)


def test_verify_words_not_in_it_do_not_condemn_the_certificate(go: Spring, tmp_path: Path) -> None:
    [file] = issued(tmp_path).parent.glob("*.rosetta-evidence")
    right = phrase(Attested(read_evidence_file(file).evidence).hand_overs[0].signed.sha256)
    other = phrase("0" * 64)
    refuses(UsageError, "is none of the words", invoke, "verify", file, "--words", " ".join(right.split()[::-1]) + "x")
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
    assert ": go. What may be claimed is no longer capped" in invoke(*issue).stderr
    before = go.looks
    refuses(UsageError, r"is there already.*--overwrite", invoke, *issue)
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
    assert not [word for word in (*harmed.review.key.orders, harmed.card["run_id"]) if word in shown]
    found = gate()
    assert (found["outcome"], found["harm"]["cleared"], found["look"]) == ("go", 1, 1)
    invoke("adjudicate", "--all", text="u\nan insult here\n\nq\n")  # the last word counts
    assert harmed.state.adjudications[waits["item"]].harmful


def test_adjudicate_reason_stands_wherever_the_verdict_does(harmed: Spring, tmp_path: Path) -> None:
    typed = "n\nasked the elders\nc\n\nc\nno source of harm <b>\nAnn\nq\n"
    said = invoke("adjudicate", text=typed).stdout
    refusal = said.index("A decision needs a reason")
    assert "Who decides" not in said[:refusal]
    assert "are on the certificate, for everybody to read" in said
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
    refuses(HarnessError, r"Not attached.*not signed by the organisation", invoke, "attach", path)


def test_adjudicate_secrets_are_decided_on_a_terminal_only(home: Path) -> None:
    spring(home, run=Segment.GOLD_STANDARD, secret=True)
    refuses(UsageError, "on a terminal only", invoke, "adjudicate", "--all", text="q\n")
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


COMMENT, WORDING = "Mi dirus tion alie, =kara", "Tute alia traduko."
CORPUS = sample_path(DEMO_CORPUS)
GOOD = [Rating.ACCEPTABLE, Rating.EXCELLENT, Rating.EXCELLENT]


def rate(folder: Path) -> None:
    """Make a home with a review of the demo that five people rated as good, mostly."""
    stick, home = folder / "stick", folder / "home"
    rosetta(*CREATE, "-o", stick, "--seed", "3", "--name", "spring", "--reviewers", "5")
    batch = batch_at(stick)
    with Office.open(home) as office:
        key = office.review("spring").key
    for number, (who, code) in enumerate(made.codes_of(home).items()):
        person = made.Person(folder / code, batch, who)
        draw = Random(number)
        spoilt = [key.items[item].control == "bad" for item in person.order]
        person.rate([Rating.REJECT if bad else draw.choice(GOOD) for bad in spoilt])
        if number < 2:  # a comment and a better wording at the first real item
            about = {**person.place, "item": key.core[0]}
            person.laptop.append(Comment(**about, text=COMMENT))
            person.laptop.append(Suggest(**about, text=WORDING))
        (stick / f"{number}.rosetta-ratings").write_bytes(person.handed_over())
        person.laptop.close()
    rosetta("import", stick, "--enrol", "--yes")


def rated_home(folder: Path, monkeypatch: pytest.MonkeyPatch, *, issued: bool) -> Path:
    """Copy a home with ratings that was made once, with a certificate of them where it was ``issued``; go there."""

    def fill(to: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ROSETTA_HOME", str(to / "home"))
            made.store_runs(to / "home")
            rate(to)
            if issued:
                rosetta("gate", "spring", "--issue", "-o", to / "issued")

    kept = made.kept(f"rated {issued}", fill)
    made.copied(kept / "home", folder / "home")
    shutil.copytree(kept / "stick", folder / "stick")
    if issued:
        shutil.copytree(kept / "issued", folder / "issued")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def rated(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return rated_home(home.parent, monkeypatch, issued=True)


@pytest.fixture
def unseen(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with ratings at which nobody has looked."""
    return rated_home(home.parent, monkeypatch, issued=False)


def test_export_seals_everything_for_its_recipients(rated: Path) -> None:
    home = rated / "home"
    assert "each alone" in rosetta("export", "spring", "-o", "out").output
    sealed = (rated / "out" / "spring.rosetta-export").read_bytes()
    assert COMMENT.encode() not in sealed
    archive = unseal(sealed, [Identity.load(home, Role.ORGANISATION).age])
    [recovery] = read_age_identities(home / "review-recovery-key.txt")
    assert archive == unseal(sealed, [recovery])
    names = {
        "manifest.json", "manifest.sig", "README.txt", "answer-key.json", "policy.toml",
        "events.jsonl", "ratings.csv", "run-1-card.json", "run-1.rosetta-evidence",
        "run-1-page.html",
    }  # fmt: skip
    members = unpack(archive, names)
    manifest = ExportManifest.model_validate_json(members["manifest.json"])
    assert verify(manifest.signing_key, members["manifest.json"], members["manifest.sig"])
    batch = batch_at(rated / "stick").manifest
    assert manifest.recipients == batch.organisation.recipients
    rows = list(csv.DictReader(io.StringIO(members["ratings.csv"].decode(), newline="")))
    assert len(rows) == 5 * len(next(iter(batch.orders.values())))
    assert {row["comment"] for row in rows} == {"", COMMENT}
    assert json.loads(members["run-1-card.json"])["run_id"] == made.RUNS[0]
    assert "is there already" in refused("export", "spring", "-o", "out")


def modes(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.suffix: oct(path.stat().st_mode & 0o777) for path in files}


def test_what_is_published_may_be_read_by_every_user_and_nothing_else(rated: Path) -> None:
    before = os.umask(0o077)
    try:
        rosetta("gate", "spring", "--issue", "-o", "again")
        rosetta("page", "spring", "-o", "again/page.htm")
        rosetta("export", "spring", "-o", "kept")
        rosetta("export", "spring", "--csv", "kept/t.csv")
        rosetta("export", "spring", "--mtme", "mtme")
    finally:
        os.umask(before)
    issued = (".json", ".sig", ".txt", ".html", ".rosetta-evidence", ".htm")
    assert modes(rated / "again") == dict.fromkeys(issued, "0o644")
    assert modes(rated / "kept") == {".rosetta-export": "0o600", ".csv": "0o600"}
    assert set(modes(rated / "mtme").values()) == {"0o600"}
    pair = "en-eo"
    sources = (rated / "mtme" / "sources" / f"{pair}.txt").read_text("utf-8").splitlines()
    scores = (rated / "mtme" / "human-scores" / f"{pair}.rosetta.seg.score").read_text("utf-8")
    assert len(sources) == len(scores.splitlines()) == 80
    assert all(2 <= float(line.split("\t")[1]) <= 3 for line in scores.splitlines())


def test_export_table_has_no_words_of_people_unless_asked_for(rated: Path) -> None:
    rosetta("export", "--csv", "plain.csv")
    plain = (rated / "plain.csv").read_text("utf-8")
    people = made.codes_of(rated / "home")
    assert not any(name in plain for name in (COMMENT, *people, *people.values()))
    rosetta("export", "--csv", "all.csv", "--comments")
    assert COMMENT in (rated / "all.csv").read_text("utf-8")
    for arguments, said in (
        (("export", "--csv", "a.csv", "--mtme", "b"), "one of"),
        (("export", "--csv", "--inside"), "--inside is an option"),
        (("export", "spring", "-o", "out", "--csv", "r.csv"), "-o is for the sealed file"),
        (("gate", "spring", "-o", "out"), "-o goes with --issue"),
    ):
        assert said in refused(*arguments)
    assert not (rated / "out").exists()


def test_page_needs_a_certificate_and_speaks_the_language_asked_for(unseen: Path) -> None:
    assert "--issue" in refused("page", "spring")
    rosetta("gate", "spring", "--issue", "-o", "first")
    rosetta("page", "spring")
    assert "Yes." in (unseen / "spring-page.html").read_text("utf-8")
    rosetta("page", "spring", "--language", "fr", "-o", "fr.html")
    french = (unseen / "fr.html").read_text("utf-8")
    assert 'lang="fr"' in french
    assert "Oui" in french
    assert "people" not in french.partition("<body>")[2]
    assert "language tag" in refused("page", "spring", "--language", "../x")


def test_variants_are_written_only_with_a_yes(unseen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [offered] = json.loads(rosetta("variants", CORPUS, "spring", "--json").output)
    assert (offered["wording"], offered["people"]) == (WORDING, 2)
    assert WORDING in rosetta("variants", CORPUS).output
    asked = ("variants", CORPUS, "-o", "new.json")
    assert "a person's yes" in refused(*asked)
    assert "Leave one of them out" in refused(*asked, "--json")
    assert not (unseen / "new.json").exists()
    before = CORPUS.read_bytes()
    monkeypatch.setattr("rosetta_tui.commands.review.adjudicate.answering", lambda: True)
    rosetta(*asked, text="y\n")
    after = load(unseen / "new.json")
    assert sum(WORDING in entry.variants for entry in after.reveal_here()) == 1
    assert after.dataset.version == "1.1.0"
    assert CORPUS.read_bytes() == before


def test_withdrawal_suspends_the_claim_until_it_is_issued_anew(rated: Path) -> None:
    def run() -> dict[str, Any]:
        [listed] = json.loads(CliRunner().invoke(runs, ["list", "--json"]).stdout)
        return dict(listed)

    [certificate] = (rated / "issued").glob("*.certificate.json")
    rosetta("attach", certificate)
    assert (run()["review"], run()["review_suspended"]) == ("go", False)
    assert "reviewed" in run()["tier_in_words"]
    code = next(iter(made.codes_of(rated / "home").values()))
    back = ("withdraw", "spring", code, "--scope", "batch", "--yes")
    for command in (back, ("status", "spring")):
        assert "RECOMPUTE: one certificate rests" in rosetta(*command).output
    assert run()["review_suspended"] is True
    assert "reviewed" not in run()["tier_in_words"]
    assert "SUSPENDED" in CliRunner().invoke(runs, ["show", "last"]).stdout
    assert CliRunner().invoke(runs, ["export", "last", "-o", "card.json"]).exit_code == 0
    assert not (rated / "card.certificate.json").exists()
    assert "Issue it again" in refused("page", "spring")
    rosetta("gate", "spring", "--issue", "-o", "second")
    [again] = (rated / "second").glob("*.certificate.json")
    rosetta("attach", again)
    assert (run()["review"], run()["review_suspended"]) == ("go", False)


def looks() -> list[int]:
    with Office.open(Path("home")) as office:
        return list(office.state(office.review("spring")).looks.values())


def rated_once_more(place: int = 0) -> None:
    """Let one person rate one item anew: other ratings than those that were read."""
    with Office.open(Path("home")) as office:
        found = office.review("spring")
        again = next(iter(found.key.orders.values()))[place]
        say_later(office, found, 3 + place, rate_of(found, again))


def test_who_reads_ratings_before_the_gate_has_looked(unseen: Path) -> None:
    with Office.open(Path("home")) as office:  # something is called harmful: to decide about
        found = office.review("spring")
        key = found.key
        item = next(i for i in key.core if key.items[i].control is None)
        about = {"reviewer": next(iter(key.orders)), "batch": key.batches[0], "item": item}
        say_later(office, found, 1, HarmFlag(wall=histories.WALL, harmful=True, **about))
    ways: tuple[Callable[[], Result], ...] = (
        lambda: CliRunner().invoke(calibrate, ["--review", "spring"]),
        lambda: rosetta("export", "--csv", "t.csv"),
        lambda: rosetta("export", "--mtme", "m"),
        lambda: rosetta("export", "-o", "s"),
        lambda: CliRunner().invoke(review, ["adjudicate", "--all"], input="q\n"),
        lambda: rosetta("adjudicate", "--all", "--json"),
    )
    assert looks() == []
    for number, way in enumerate(ways, 1):
        assert f"look {number} at the ratings" in way().output
        rated_once_more(number)  # on a laptop of its own
    assert looks() == [6]


def test_page_is_a_look_where_ratings_came_after_the_certificate(rated: Path) -> None:
    page = ("page", "spring", "--overwrite")
    assert "look" not in rosetta(*page).output
    rated_once_more()
    [certificate] = (rated / "issued").glob("*.certificate.json")
    rosetta("verify", certificate)
    rosetta("attach", certificate)
    assert looks() == [1], "neither tells anything of ratings"
    assert "look 2 at the ratings" in rosetta(*page).output
    assert looks() == [2]


def test_what_tells_nothing_of_ratings_is_no_look(unseen: Path) -> None:
    rosetta("status")
    rosetta("status", "spring", "--json")
    rosetta("variants", CORPUS, "spring", "--json")
    rosetta("adjudicate")  # no flag, nothing that split the panel
    assert looks() == []
