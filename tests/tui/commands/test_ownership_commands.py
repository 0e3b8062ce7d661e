"""Who owns a method, where it is used, and what an organisation is: by the commands of both sides, and by who cheats."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from harness.consent.given import newest_day
from harness.core.canonical import canonical_bytes
from harness.sealed.keys import Identity, Role, key_files
from harness.sealed.signed_archive import signed_record
from harness.store.file.database import open_store
from harness.store.notes import suspend_certificates
from harness.store.run_list import list_runs
from review.records.agreeing import of_gold, reaches_line
from review.records.ownership import Party, new_terms, propose
from review.records.profile import REQUIREMENTS
from review.records.use import SignedUse, UseRecord, read_use
from rosetta_tui.show.owners import owner_json
from tests.tui.commands.certified_gold import TwoSides, ok, refused, two_sides


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoSides]:
    with pytest.MonkeyPatch.context() as patch:
        yield two_sides(tmp_path_factory.mktemp("sides"), patch)


@pytest.fixture
def sides(made: TwoSides, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TwoSides:
    """A copy of both computers, which a test may change."""
    root = made.organisation.parent
    shutil.copytree(root, tmp_path / "copy")
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "copy/organisation"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    here = [tmp_path / "copy" / each.relative_to(root) for each in (made.organisation, made.developer, made.stick, made.certificate)]  # fmt: skip
    return TwoSides(here[0], here[1], here[2], made.run_id, made.card, here[3])


def owner(home: Path) -> str | None:
    """Return the state that the leaderboard's page of a run has."""
    with closing(open_store(home / "rosetta.sqlite")) as store:
        [run] = list_runs(store, brief=True)
        told = owner_json(run)["ownership"]
    return None if told is None else str(told["state"])


def test_both_sign_by_stick_and_lists_show_it(sides: TwoSides) -> None:
    path = sides.proposed()
    assert owner(sides.organisation) == "proposed"
    ok(f"ownership sign {path}", sides.developer)
    assert owner(sides.organisation) == "proposed"
    ok(f"ownership take {path}")
    assert owner(sides.organisation) == "signed by the developer"
    ok(f"ownership sign {path}")
    assert owner(sides.organisation) == "signed by both"
    told = ok("leaderboard")
    assert "ownership signed by both: Kultura Centro 90 %, Ann 10 %" in told
    assert "✓ gate" in ok("runs show last")


def test_either_side_can_say_no_at_any_time_and_an_old_copy_changes_nothing(
    sides: TwoSides,
) -> None:
    path = sides.signed()
    old = path.read_bytes()
    ok(f"ownership revoke {path} --reason misused", sides.developer)
    ok(f"ownership take {path}")
    assert owner(sides.organisation) == "revoked"
    path.write_bytes(old)
    ok(f"ownership take {path}")
    assert owner(sides.organisation) == "revoked"
    assert "revoked" in ok(f"ownership show {path}")
    second = sides.proposed("again", "--share 70 --more later-versions-too")
    assert owner(sides.organisation) == "proposed"
    ok(f"ownership refuse {second} --reason no", sides.developer)
    ok(f"ownership take {second}")
    assert owner(sides.organisation) in {"refused", "revoked"}  # of the same second


def test_a_gate_that_gives_nothing_any_more_shows(sides: TwoSides) -> None:
    sides.signed()
    with closing(open_store(sides.organisation / "rosetta.sqlite")) as store:
        hashes = [each for (each,) in store.execute("SELECT sha256 FROM certificates")]
        suspend_certificates(store, hashes)
    assert owner(sides.organisation) == "signed by both, and its gate gives nothing now"
    assert "took ratings back" in ok("runs show last")
    other = f"ownership propose last --developer Ann --key {sides.key()} -o {sides.stick}/n.rosetta-ownership"
    assert "gate: somebody took ratings back" in refused(other)
    assert "no passed gate" in refused("organisation used last --where a --by b --since 2026-01-02")
    ok("review attach last --remove")
    assert owner(sides.organisation) is None


def test_a_revoked_key_shows(sides: TwoSides) -> None:
    sides.signed()
    ok(f"consent withdraw --signing-key {sides.key()} --by Us --reason stolen")
    assert owner(sides.organisation) == "a key that signed it was revoked"
    other = sides.stick / "x.rosetta-ownership"
    line = f"ownership propose last --developer Ann --key {sides.key()} -o {other}"
    ok(line)
    assert "stolen" in refused(f"ownership sign {other}")


def test_a_developer_cannot_put_an_organisation_into_a_record(sides: TwoSides) -> None:
    """A record by a key of the developer's own, in the organisation's name, beside a card that is not its."""
    path = sides.signed()
    raw = json.loads(path.read_bytes())
    own = sides.key(Role.ORGANISATION, sides.developer)
    raw["terms"]["organisation"]["signing_key"] = own
    forged = sides.stick / "forged.rosetta-ownership"
    forged.write_bytes(canonical_bytes(raw) + b"\n")
    assert "neither side" in refused(f"ownership take {forged}")
    stranger = sides.organisation.parent / "stranger"
    assert "No key of this computer" in refused(f"ownership take {path}", stranger)
    assert "Another key" in refused(f"ownership take {path} --trust {own}", stranger)
    ok(f"ownership take {path} --trust {sides.organisation_key}", stranger)


def test_a_record_of_another_organisation_is_not_shown_beside_a_certificate(
    sides: TwoSides,
) -> None:
    other, ann = (Identity.make(Role.ORGANISATION) for _ in range(2))
    terms = new_terms(
        run_id=sides.run_id,
        card=sides.card,
        certificate="ab" * 32,
        composite_at_least="0.70",
        method="replay",
        language_pair="EN→EO",
        organisation=Party(name="Kultura Centro", signing_key=other.public.signing_key),
        developer=Party(name="Ann", signing_key=ann.public.signing_key),
    )
    path = sides.stick / "theirs.rosetta-ownership"
    path.write_bytes(propose(terms, other).data())
    ok(f"ownership take {path} --trust {other.public.signing_key}")
    assert owner(sides.organisation) is None


def test_hostile_names_are_shown_as_symbols(sides: TwoSides) -> None:
    us = Identity.load(sides.organisation, Role.ORGANISATION)
    ann = Identity.make(Role.COMPUTER).public.signing_key
    terms = new_terms(
        run_id=sides.run_id,
        card=sides.card,
        certificate="ab" * 32,
        composite_at_least="0.70",
        method="\x1b]0;x\x07",
        language_pair="\u202eEN",
        organisation=Party(name="Us\x1b[2J", signing_key=us.public.signing_key),
        developer=Party(name="Mal\u202elory\x9b", signing_key=ann),
        more="\x1b[31m",
    )
    path = sides.stick / "hostile.rosetta-ownership"
    path.write_bytes(propose(terms, us).data())
    ok(f"ownership take {path}")
    lines = (
        "ownership show",
        "leaderboard",
        "runs show last",
        f"verify {path}",
        "ownership show --json",
    )
    for line in lines:
        told = ok(line)
        assert not {"\x1b", "\u202e", "\x9b", "\x07"} & set(told), line
    assert "Mal" in ok("leaderboard")


def test_a_run_whose_conditions_are_not_met_is_not_proposed(
    sides: TwoSides, tmp_path: Path
) -> None:
    line = f"ownership propose last --developer Ann --key {sides.key()} -o {tmp_path}/r.rosetta-ownership"
    ok("review attach last --remove")
    assert "no certificate" in refused(line)
    ok(f"review attach {sides.certificate}")
    ok(line)
    assert "cannot be written" in refused(line) or "is there" in refused(line)


@pytest.mark.parametrize(
    ("composite", "segments", "met"),
    [
        (0.70, {"gold_standard": 8}, (True, True)),
        (0.6999999, {"gold_standard": 8, "development": 0}, (False, True)),
        (None, {"gold_standard": 8, "development": 1}, (False, False)),
        (0.9, {}, (True, False)),
        (0.9, {"held_out": 3}, (True, False)),
    ],
)
def test_the_line_and_the_segment_are_those_of_the_specification(
    composite: float | None, segments: dict[str, int], met: tuple[bool, bool]
) -> None:
    card = {"scores": {"composite": composite}, "withheld": {"segments": segments}}
    rows = [{"segment": name} for name, count in segments.items() for _ in range(count)]
    assert (reaches_line(card).ok, of_gold(card).ok) == met
    assert of_gold({"results": rows}).ok == met[1]


def test_the_developers_own_key_is_told(sides: TwoSides) -> None:
    assert json.loads(ok("ownership show --json", sides.developer))["key"] == sides.key()
    assert "one key" in refused(
        f"ownership propose last --developer Us --key {sides.organisation_key} -o {sides.stick}/o.rosetta-ownership"
    )


def test_a_use_is_recorded_ended_and_believed_by_its_key(sides: TwoSides) -> None:
    first, last = sides.stick / "u.rosetta-use", sides.stick / "e.rosetta-use"
    ok(f"organisation used last --where school --by Anna --since 2026-01-02 -o {first}")
    assert "used: school, by Anna, since 2026-01-02" in ok("leaderboard")
    [told] = json.loads(ok("organisation uses --json"))["uses"]
    assert "cannot have ended" in refused(
        f"organisation ended {told['id'][:8]} --on 2025-12-31 --reason x"
    )
    assert "no day" in refused("organisation used last --where a --by b --since 2026-02-30")
    ok(f"organisation ended {told['id'][:8]} --on 2026-03-01 --reason mistakes -o {last}")
    assert "used: school" not in ok("leaderboard")
    assert "until 2026-03-01: mistakes" in ok("organisation uses")
    assert "ended already" in refused(
        f"organisation ended {told['id'][:8]} --on 2026-03-01 --reason x"
    )
    stranger = sides.organisation.parent / "stranger"
    assert "not trusted" in refused(f"organisation take {first} --trust {'0' * 64}", stranger)
    ok(f"organisation take {first} --trust {sides.organisation_key}", stranger)
    first.write_bytes(first.read_bytes().replace(b"school", b"church"))
    assert "changed" in refused(
        f"organisation take {first} --trust {sides.organisation_key}", stranger
    )


def test_what_was_recorded_without_a_file_is_written_by_saying_it_again(sides: TwoSides) -> None:
    first, last = sides.stick / "u.rosetta-use", sides.stick / "e.rosetta-use"
    use = "organisation used last --where school --by Anna --since 2026-01-02"
    ok(use)
    ok(f"{use} -o {first}")
    [told] = json.loads(ok("organisation uses --json"))["uses"]
    assert read_use(first.read_bytes()).id == told["id"]
    end = f"organisation ended {told['id'][:8]} --on 2026-03-01 --reason mistakes"
    ok(end)
    ok(f"{end} -o {last}")
    assert read_use(last.read_bytes()).begun == told["id"]
    assert len(json.loads(ok("organisation uses --json"))["uses"]) == 2
    assert "ended already" in refused(end.replace("2026-03-01", "2026-03-02"))


def test_a_day_that_is_still_to_come_is_no_use(sides: TwoSides) -> None:
    later = newest_day() + timedelta(days=1)
    assert "still to come" in refused(f"organisation used last --where a --by b --since {later}")
    ok(f"organisation used last --where a --by b --since {newest_day()}")
    [told] = json.loads(ok("organisation uses --json"))["uses"]
    assert "still to come" in refused(f"organisation ended {told['id']} --on {later} --reason x")


def test_an_end_is_taken_in_only_behind_its_own_beginning(sides: TwoSides) -> None:
    """Another organisation, whose key is trusted too, ends a use that it did not record."""
    first, last = sides.stick / "u.rosetta-use", sides.stick / "e.rosetta-use"
    ok(f"organisation used last --where school --by Anna --since 2026-01-02 -o {first}")
    begun = read_use(first.read_bytes())
    ok(f"organisation ended {begun.id[:8]} --on 2026-03-01 --reason mistakes -o {last}")
    stranger, other = sides.organisation.parent / "stranger", Identity.make(Role.ORGANISATION)
    trust = f"--trust {sides.organisation_key}"
    assert "is not here" in refused(f"organisation take {last} {trust}", stranger)
    ok(f"organisation take {first} {trust}", stranger)
    said = json.loads(last.read_bytes())
    forged = UseRecord.model_validate(
        {name: said[name] for name in UseRecord.model_fields} | {"by": other.public.signing_key}
    )
    path = sides.stick / "f.rosetta-use"
    path.write_bytes(SignedUse.model_validate_json(signed_record(forged, other)).data())
    line = f"organisation take {path} --trust {other.public.signing_key}"
    assert "ends another use" in refused(line, stranger)
    assert "until" not in ok("organisation uses", stranger)
    ok(f"organisation take {last} {trust}", stranger)
    assert "until 2026-03-01: mistakes" in ok("organisation uses", stranger)
    ok(f"organisation take {last} {trust}", stranger)
    once_more = {name: said[name] for name in UseRecord.model_fields} | {"ended": "2026-04-01"}
    organisation = Identity.load(sides.organisation, Role.ORGANISATION)
    again = signed_record(UseRecord.model_validate(once_more), organisation)
    path.write_bytes(SignedUse.model_validate_json(again).data())
    assert "another end here already" in refused(f"organisation take {path} {trust}", stranger)
    assert "until 2026-03-01" in ok("organisation uses", stranger)


def test_only_the_organisation_that_certified_records_a_use(sides: TwoSides) -> None:
    line = "organisation used last --where school --by Anna --since 2026-01-02"
    for each in key_files(sides.organisation, Role.ORGANISATION):
        each.unlink(missing_ok=True)
    Identity.load(sides.organisation, Role.ORGANISATION)
    assert "Another organisation certified" in refused(line)
    assert not json.loads(ok("organisation uses --json"))["uses"]


def test_nothing_is_kept_whose_file_cannot_be_written(sides: TwoSides) -> None:
    """What stood in the store alone could be handed to nobody."""
    there = sides.stick / "there"
    there.write_text("something else")
    developer = f"--developer Ann --key {sides.key()}"
    said = refused(f"ownership propose last {developer} -o {there}")
    assert "is there" in said
    assert "--overwrite" not in said, "the command has no such option"
    assert not json.loads(ok("ownership show --json"))["records"]
    use = f"organisation used last --where school --by Anna --since 2026-01-02 -o {there}"
    assert "is there" in refused(use)
    assert not json.loads(ok("organisation uses --json"))["uses"]
    ok(use.removesuffix(f" -o {there}"))
    [begun] = json.loads(ok("organisation uses --json"))["uses"]
    assert "is there" in refused(
        f"organisation ended {begun['id']} --on 2026-03-01 --reason x -o {there}"
    )
    assert len(json.loads(ok("organisation uses --json"))["uses"]) == 1


def test_a_word_whose_file_could_not_be_written_is_written_by_saying_it_again(
    sides: TwoSides,
) -> None:
    path = sides.proposed()
    assert "cannot be written" in refused(f"ownership sign {path} -o /nowhere/x", sides.developer)
    assert "signed by the developer" in ok(f"ownership sign {path}", sides.developer)
    ok(f"ownership take {path}")
    assert owner(sides.organisation) == "signed by the developer"


def test_a_profile_has_what_is_seen_and_what_is_stated(sides: TwoSides) -> None:
    out = sides.stick / "us.rosetta-profile"
    ok("organisation state community page-4-of-our-statutes --by Anna")
    assert "There is no requirement" in refused("organisation state nonsense x --by Anna")
    ok(f"organisation profile --name Us -o {out}")
    told = json.loads(ok("organisation profile --json"))
    items = {each["item"]: each for each in told["items"]}
    assert items.keys() == REQUIREMENTS.keys()
    assert items["community"]["stated"] == "page-4-of-our-statutes"
    assert any("certified" in each for each in items["availability"]["seen"])
    assert "Kultura" not in out.read_text()
    ok("organisation state community --by Anna")
    assert json.loads(ok("organisation profile --json"))["items"][0]["stated"] is None
