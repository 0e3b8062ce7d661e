"""Who owns a method, and what an organisation is: by the commands of both sides, and by who cheats."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Segment
from corpora.samples import DEMO_CORPUS, sample_path
from harness.core.canonical import canonical_bytes
from harness.release.ledger import own_ledger
from harness.release.ledger_records import ScoresTold
from harness.sealed.keys import Identity, Role
from harness.store.attachments import detach_certificates, suspend_certificates
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store, opened
from harness.submission.desk import SubmissionEvent, SubmissionStore
from review.office.results.whole_way import STEPS
from review.office.store.store import Office
from review.records.agreeing import of_gold, reaches_line
from review.records.ownership import Party, new_terms, propose
from review.records.profile import REQUIREMENTS
from rosetta_tui.review.organiser.pages.review import ReviewScreen, ReviewsScreen
from rosetta_tui.review.organiser.service import OrganiserService
from rosetta_tui.show.card_fields import owner_state
from tests.harness.submission.made import resigned
from tests.review.verdict.certified import NO_GO, fluent_run
from tests.tui.commands.certified_gold import TwoSides
from tests.tui.commands.command_line import ok, refused, said
from tests.tui.commands.submission_desk import Desk
from tests.tui.review.gated import filled, reviewed
from tests.tui.review.organising import LARGE, Alone, press, show_screen, words


def owner(home: Path) -> str | None:
    """Return the state that the leaderboard's page of a run has."""
    with closing(open_store(home / "rosetta.sqlite")) as store:
        [run] = list_runs(store, brief=True)
        return owner_state(run) or None


def taken(sides: TwoSides, by: Identity, **changed: Any) -> Path:
    """Take a record in that somebody proposed; return its file."""
    ann = Identity.make(Role.COMPUTER).public.signing_key
    terms: dict[str, Any] = {
        "run_id": sides.run_id, "card": sides.card, "certificate": "ab" * 32, "composite_at_least": "0.70",
        "method": "replay", "language_pair": "EN→EO",
        "organisation": Party(name="Kultura Centro", signing_key=by.public.signing_key),
        "developer": Party(name=changed.pop("developer", "Ann"), signing_key=ann),
    }  # fmt: skip
    path = sides.stick / "theirs.rosetta-ownership"
    path.write_bytes(propose(new_terms(**terms | changed), by).data())
    ok(f"community take {path} --trust {by.public.signing_key}")
    return path


def test_ownership_signed_by_both_shows_in_lists(sides: TwoSides) -> None:
    path = sides.proposed()
    assert owner(sides.organisation) == "proposed"
    ok(f"community answer {path} --sign", sides.developer)
    assert owner(sides.organisation) == "proposed"
    ok(f"community take {path}")
    assert owner(sides.organisation) == "signed by the developer"
    ok(f"community answer {path} --sign")
    assert owner(sides.organisation) == "signed by both"
    told = ok("leaderboard")
    assert "ownership signed by both: Kultura Centro 90 %, Ann 10 %" in told
    assert "✓ gate" in ok("runs show last")
    ok(f"community answer {path} --revoke misused", sides.developer)
    ok(f"community take {path}")
    assert owner(sides.organisation) == "revoked"


def test_ownership_shows_suspended_gate(sides: TwoSides) -> None:
    sides.signed()
    with closing(open_store(sides.organisation / "rosetta.sqlite")) as store:
        hashes = [each for (each,) in store.execute("SELECT sha256 FROM certificates")]
        suspend_certificates(store, hashes)
    assert owner(sides.organisation) == "signed by both, and its gate gives nothing now"
    assert "took ratings back" in ok("runs show last")
    other = f"community propose last --developer Ann --key {sides.key()} -o {sides.stick}/n.rosetta-ownership"
    assert "gate: somebody took ratings back" in refused(other)
    ok("review attach last --remove")
    assert owner(sides.organisation) is None


def test_ownership_shows_revoked_key(sides: TwoSides) -> None:
    path = sides.signed()
    ok(f"community withdraw --signing-key {sides.key()} --by Us --reason stolen")
    assert owner(sides.organisation) == "a key that signed it was revoked"
    assert "stolen" in refused(f"community answer {path} --sign")


def test_ownership_forged_by_a_developer_is_refused(sides: TwoSides) -> None:
    """A record by a key of the developer's own, in the organisation's name, beside a card that is not its."""
    path = sides.signed()
    raw = json.loads(path.read_bytes())
    own = sides.key(Role.ORGANISATION, sides.developer)
    raw["terms"]["organisation"]["signing_key"] = own
    forged = sides.stick / "forged.rosetta-ownership"
    forged.write_bytes(canonical_bytes(raw) + b"\n")
    assert "neither side" in refused(f"community take {forged}")
    stranger = sides.organisation.parent / "stranger"
    assert "No key of this computer" in refused(f"community take {path}", stranger)
    assert "Another key" in refused(f"community take {path} --trust {own}", stranger)
    ok(f"community take {path} --trust {sides.organisation_key}", stranger)


def test_ownership_of_another_organisation_is_not_shown(sides: TwoSides) -> None:
    taken(sides, Identity.make(Role.ORGANISATION))
    assert owner(sides.organisation) is None


def test_ownership_shows_hostile_names_as_symbols(sides: TwoSides) -> None:
    us = Identity.load(sides.organisation, Role.ORGANISATION)
    hostile = {"method": "\x1b]0;x\x07", "language_pair": "\u202eEN", "more": "\x1b[31m"}
    party = Party(name="Us\x1b[2J", signing_key=us.public.signing_key)
    path = taken(sides, us, organisation=party, developer="Mal\u202elory\x9b", **hostile)
    show = "community owners"
    for line in (show, "leaderboard", "runs show last", f"verify {path}", f"{show} --json"):
        assert not {"\x1b", "\u202e", "\x9b", "\x07"} & set(ok(line)), line
    assert "Mal" in ok("leaderboard")


def test_ownership_needs_a_certificate(sides: TwoSides, tmp_path: Path) -> None:
    line = f"community propose last --developer Ann --key {sides.key()} -o {tmp_path}/r.rosetta-ownership"
    ok("review attach last --remove")
    assert "no certificate" in refused(line)
    assert json.loads(ok("community owners --json", sides.developer))["key"] == sides.key()
    ok(f"review attach {sides.certificate}")
    ok(line)
    assert "is there" in refused(line)
    assert "one key" in refused(f"{line.replace(sides.key(), sides.organisation_key)}2")


CONDITIONS: list[tuple[float | None, dict[str, int], tuple[bool, bool]]] = [
    (0.70, {"gold_standard": 8}, (True, True)),
    (0.6999999, {"gold_standard": 8, "development": 0}, (False, True)),
    (None, {"gold_standard": 8, "development": 1}, (False, False)),
    (0.9, {}, (True, False)),
    (0.9, {"held_out": 3}, (True, False)),
]


def test_ownership_conditions_are_those_specified() -> None:
    for composite, segments, met in CONDITIONS:
        asked = [name for name, count in segments.items() for _ in range(count)]
        assert (reaches_line(composite).ok, of_gold(asked).ok) == met


def test_ownership_file_that_cannot_be_written_keeps_nothing(sides: TwoSides) -> None:
    """What stood in the store alone could be handed to nobody."""
    there = sides.stick / "there"
    there.write_text("something else")
    line = f"community propose last --developer Ann --key {sides.key()}"
    assert "is there" in refused(f"{line} -o {there}")
    assert not json.loads(ok("community owners --json"))["records"]


def test_profile_has_what_is_seen_and_stated(sides: TwoSides) -> None:
    out = sides.stick / "us.rosetta-profile"
    ok("community profile community page-4-of-our-statutes --by Anna")
    assert "There is no requirement" in refused("community profile nonsense x --by Anna")
    ok(f"community profile --name Us -o {out}")
    told = json.loads(ok("community profile --json"))
    items = {each["item"]: each for each in told["items"]}
    assert items.keys() == REQUIREMENTS.keys()
    assert items["community"]["stated"] == "page-4-of-our-statutes"
    assert any("certified" in each for each in items["availability"]["seen"])
    assert "Kultura" not in out.read_text()
    ok("community profile community --by Anna")
    assert json.loads(ok("community profile --json"))["items"][0]["stated"] is None


def withdraw(sides: TwoSides, *more: str) -> str:
    """Take the corpus of the run back, or some entries of it; return what was said."""
    with opened(sides.organisation / "rosetta.sqlite") as store:
        [(sha256,)] = store.execute("SELECT sha256 FROM corpora")
    notice = sides.stick / "n.rosetta-notice"
    line = f"community withdraw --corpus store:{sha256} -o {notice} --by Council --reason asked"
    return ok(" ".join((line, *more)))


def test_withdrawn_review_leaves_no_more(sides: TwoSides) -> None:
    leaving = (
        "review gate last --issue -o again", "review gate last", "review page last -o page.html",
        "review export last -o out", "review export last --csv table.csv",
        f"review export last --inside {sides.stick}/evidence", "report review last",
        "review create --second last --dry-run", "review adjudicate last --json", "calibrate --review last",
        f"review variants {sample_path(DEMO_CORPUS)}",
    )  # fmt: skip
    withdraw(sides, "--entries 0")
    here = sorted(Path().rglob("*"))
    for line in leaving:
        told = refused(line)
        assert "consent was withdrawn for" in told, line
        assert "“asked”" in told, line
    assert sorted(Path().rglob("*")) == here


def received(sides: TwoSides, bundle: bytes) -> tuple[SubmissionStore, Any]:
    """Have the organisation's desk take a submission of the developer in."""
    own = Identity.load(sides.developer, Role.COMPUTER)
    path = sides.stick / "ann.rosetta-submission"
    path.write_bytes(resigned(bundle, {}, own, by=own.public.signing_key))
    desk = SubmissionStore(sides.organisation)
    return desk, desk.receive(path)


def test_withdrawn_review_stops_its_submission(sides: TwoSides, bundle: bytes) -> None:
    desk, kept = received(sides, bundle)
    for act in (SubmissionEvent.REHEARSED, SubmissionEvent.SCORED):
        desk.note(kept.submission, act, sides.run_id, "made")
    assert "WITHDRAWN" not in ok("submission show")
    assert "Review spring asks about them" in withdraw(sides)
    assert "scored, WITHDRAWN" in ok("submission show")
    shown = ok(f"submission show {kept.number}")
    assert "· its run                  consent was withdrawn for the corpus made" in shown
    assert "Next: rosetta community notices" in shown


async def test_withdrawn_review_shows_no_verdict(sides: TwoSides) -> None:
    store = sides.organisation / "rosetta.sqlite"
    app = Alone(None, store)
    async with app.run_test(size=LARGE) as pilot:
        screen = ReviewsScreen(OrganiserService(sides.organisation, store))
        assert "✓ GO" in await show_screen(pilot, screen)
        withdraw(sides, "--entries 0")
        assert "WITHDRAWN" in ok("review status")
        assert "WITHDRAWN: consent was withdrawn for 1 entry" in ok("review status last")
        shown = await press(pilot, "r")
        assert "GO" not in shown
        assert "withdrawn" in shown
        review = ReviewScreen(OrganiserService(sides.organisation, store), "spring", "Certificate")
        shown = words(await show_screen(pilot, review))
        assert "consent was withdrawn for 1 entry" in shown
        assert "GO" not in shown
        offered = ("c Issue", "w Write again", "t Attach", "l Look", "x Export")
        assert not [each for each in offered if each in shown]


SECOND = pytest.param("", "✗", marks=pytest.mark.thorough)


@pytest.mark.parametrize(("about", "elsewhere"), [("--entries 0", "–"), SECOND])
def test_withdrawn_certificate_says_so(sides: TwoSides, about: str, elsewhere: str) -> None:
    """Whoever has the run knows its entries; to others a certificate tells its corpus, and not its entries."""
    words = withdraw(sides, about).partition("read to them by telephone: ")[2].splitlines()[0]
    command = f"verify {sides.certificate}"
    for here in (command, f"review {command}"):
        done = said(here)
        assert done.exit_code == 1
        assert "✗ consent: withdrawn for" in done.output
        assert f"Council, {datetime.now(UTC):%Y-%m}" in done.output
    assert "consent:" not in said(command, sides.developer).output
    ok(f"community take {sides.stick}/n.rosetta-notice --words '{words}'", sides.developer)
    done = said(command, sides.developer)
    assert done.exit_code == (elsewhere == "✗")
    assert f"{elsewhere} consent: withdrawn for" in done.output, done.output


def _open(sides: TwoSides, number: str) -> list[str]:
    told = json.loads(ok(f"submission show {number} --json", sides.organisation))
    return [each["name"] for each in told["steps"] if not each["done"]]


def test_submission_steps_are_done_where_they_were_done(sides: TwoSides, bundle: bytes) -> None:
    desk, kept = received(sides, bundle)
    assert _open(sides, kept.number) == list(STEPS[2:])
    desk.note(kept.submission, SubmissionEvent.REHEARSED)
    desk.note(kept.submission, SubmissionEvent.SCORED, sides.run_id, "gold")
    assert _open(sides, kept.number) == ["report released", "confirmation"]
    assert f"rosetta submission tell {kept.number}" in ok(f"submission show {kept.number}", sides.organisation)
    desk.note(kept.submission, SubmissionEvent.TOLD, sides.run_id, "gold", "told before")
    assert _open(sides, kept.number) == ["confirmation"]
    said = ok(f"submission show {kept.number}", sides.organisation)
    assert "Next: rosetta vault check-up FOLDER CORPUS --do rotate --count" in said
    desk.note(kept.submission, SubmissionEvent.TOLD, sides.run_id, "gold", "confirmed")
    said = ok(f"submission show {kept.number}", sides.organisation)
    assert "The way is at its end" in said
    named = f"--developer 'A newcomer' --key {sides.key()}"
    assert f"rosetta community propose {sides.run_id[:8]} {named}" in said
    sides.proposed()
    said = ok(f"submission show {kept.number}", sides.organisation)
    assert "rosetta community propose" not in said
    with opened(sides.organisation / "rosetta.sqlite") as store:
        detach_certificates(store, find_run(store, sides.run_id).id)
    assert _open(sides, kept.number) == ["certificate at the card"]


@pytest.mark.thorough
def test_submission_with_no_go_leads_nowhere(bundle: bytes, bare: Desk) -> None:
    home, folder = bare.home, bare.folder
    card = fluent_run(home / "rosetta.sqlite", folder, segment=Segment.GOLD_STANDARD)
    with Office.open(home) as office:
        filled(office, home, reviewed(card, NO_GO, segments="gold_standard"))
    ok(f"review gate --issue -o {folder}/out", home)
    (folder / "eve.rosetta-submission").write_bytes(bundle)
    desk = SubmissionStore(home)
    kept = desk.receive(folder / "eve.rosetta-submission")
    for act in (SubmissionEvent.REHEARSED, SubmissionEvent.SCORED, SubmissionEvent.TOLD):
        words = "confirmed" if act is SubmissionEvent.TOLD else ""
        desk.note(kept.submission, act, card["run_id"], "gold", words)
    said = ok(f"submission show {kept.number}", home)
    assert "✓ the gate decided         it says no-go" in said
    assert "only a go is there, and the gate says no-go" in said
    assert "Next: rosetta review gate spring" in said


def test_ownership_rests_on_a_confirmed_run(sides: TwoSides) -> None:
    """The ledger has it that something was told before: nothing is attached, proposed or signed."""
    path, ledger = sides.proposed(), own_ledger(sides.organisation)
    [(_, told), (_, certified)] = ledger.read().answers
    assert isinstance(told, ScoresTold)
    ledger.path.unlink()
    with ledger.changing() as change:
        fields = {"place": change.place, "confirmation": "not_confirmed", "shortfall": "told before"}
        change.write(told.model_copy(update={"card": told.card.model_copy(update=fields)}))
        change.write(certified)
    words = "not confirmed, because scores over some of its entries were released before. Activate 50 held_out entries"
    other = f"community propose last --developer Ann --key {sides.key()} -o {sides.stick}/n.rosetta-ownership"
    assert words in refused(other)
    assert words in refused(f"community answer {path} --sign")
    ok("review attach last --remove")
    assert words in refused(f"review attach {sides.certificate}")  # it says confirmed
    kept = ledger.path.rename(sides.stick / "ledger.jsonl")
    assert "Not checked: its signer alone says" in ok(f"review attach {sides.certificate}")
    ok("review attach last --remove")
    kept.rename(ledger.path)
    coarse = json.loads(sides.certificate.read_bytes())
    coarse["confirmation"] = "not_confirmed"
    us = Identity.load(sides.organisation, Role.ORGANISATION)
    sides.certificate.write_bytes(canonical_bytes(coarse))
    sides.certificate.with_suffix(".sig").write_bytes(us.sign(canonical_bytes(coarse)))
    assert words in refused(f"review attach {sides.certificate}")
