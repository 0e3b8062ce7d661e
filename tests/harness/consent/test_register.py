"""Who may take something back here, what a forged or changed notice does, and which record of consent counts."""

import json
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from corpora.model.corpus import Dataset
from harness.consent import given, notice
from harness.consent.notice import (
    KeyWithdrawal,
    MethodWithdrawal,
    Reinstatement,
    entries_of,
    read_notice,
    write_notice,
)
from harness.consent.register import (
    FILE,
    SEEN,
    ConsentError,
    Ground,
    NobodyKnowsSigner,
    Register,
    held,
    lines_of,
)
from harness.consent.withdrawals_in_force import NOTHING, CorpusFacts, Withdrawals, standing
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.archive import signed_record
from harness.sealed.keys import Identity, Role, key_phrase
from harness.sealed.strict_records import FileError
from tests.harness.consent.killed import (
    COMMUNITY,
    CORPUS,
    METHOD,
    NOON,
    OWN,
    RIVAL,
    from_elsewhere,
    register,
    six_words,
)
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import times

SETUP = {"method": "chat", "model_slug": "rival-1", "condition": "plain"}
FACTS = CorpusFacts("a" * 64, "words", "en", "eo")


def grounds(folder: Path) -> list[Ground]:
    return [each.ground for each in lines_of(folder)]


def test_what_is_said_holds_until_lifted_and_stays_on_record(tmp_path: Path) -> None:
    assert standing(tmp_path).of_corpus(FACTS) is None
    said = register(tmp_path).say(CORPUS, "she asked", "Council")
    assert standing(tmp_path).of_corpus(FACTS) == said
    register(tmp_path).lift(said.number[:8], "agreed again", "Council")
    assert standing(tmp_path).of_corpus(FACTS) is None
    [kept] = standing(tmp_path).held
    assert (kept.notice, kept.lifted.reason) == (said, "agreed again")
    refuses(ConsentError, "lifted already", register(tmp_path).lift, said.number, "once more", "Council")  # fmt: skip


def test_a_stranger_cannot_take_back_a_rivals_method(tmp_path: Path) -> None:
    """Anybody can write a notice in any name; it is shown, and changes nothing."""
    forged = write_notice(METHOD, "it is no good", "The council", RIVAL, NOON)
    refuses(NobodyKnowsSigner, r"NOT imported.*six words", register(tmp_path).take, forged)
    assert standing(tmp_path).of_method(SETUP) is None
    refuses(ConsentError, "not the six words", register(tmp_path).take, forged, six_words(COMMUNITY))  # fmt: skip
    assert lines_of(tmp_path) == ()


def test_who_speaks_of_their_corpus_takes_back_no_rivals_method(tmp_path: Path) -> None:
    """A key that was believed for one matter is asked about for each other one."""
    own = register(tmp_path)
    own.take(from_elsewhere(CORPUS), six_words(COMMUNITY))
    refuses(NobodyKnowsSigner, "", own.take, from_elsewhere(METHOD))
    other = CORPUS.model_copy(update={"sha256": "b" * 64, "id": "others"})
    refuses(NobodyKnowsSigner, "", own.take, from_elsewhere(other))
    by_another = from_elsewhere(entries_of(CORPUS, [1, 2]), RIVAL)  # of the same matter
    refuses(NobodyKnowsSigner, "", own.take, by_another)
    own.take(from_elsewhere(entries_of(CORPUS, [1, 2])))
    assert grounds(tmp_path) == [Ground.WORDS, Ground.KNOWN]
    assert standing(tmp_path).of_method(SETUP) is None


def test_notice_that_was_changed_is_refused(tmp_path: Path) -> None:
    for place in (0, 40, 200, -20, -3):
        data = bytearray(from_elsewhere(CORPUS))
        data[place] ^= 1
        refuses(FileError, "", register(tmp_path).take, bytes(data), six_words(COMMUNITY))
    fields = json.loads(from_elsewhere(METHOD, RIVAL)) | {"signing_key": OWN.public.signing_key}
    words = r"changed after it was signed|not a notice"
    refuses(FileError, words, register(tmp_path).take, canonical_bytes(fields))
    assert lines_of(tmp_path) == ()


def test_an_old_notice_played_again_takes_nothing_back_anew(tmp_path: Path) -> None:
    own, old = register(tmp_path), from_elsewhere(CORPUS)
    own.take(old, six_words(COMMUNITY))
    number = read_notice(old).number
    lift = write_notice(Reinstatement(notice=number), "agreed", "Council", COMMUNITY, NOON)
    assert own.take(lift)[1]
    assert standing(tmp_path).of_corpus(FACTS) is None
    assert own.take(old) == (read_notice(old), False)
    assert standing(tmp_path).of_corpus(FACTS) is None
    anew = from_elsewhere(CORPUS)
    own.take(anew)  # the same words, said once more
    assert standing(tmp_path).of_corpus(FACTS) is not None
    assert own.take(lift) == (read_notice(lift), False)
    assert standing(tmp_path).of_corpus(FACTS) is not None


def test_only_who_took_something_back_gives_it_again_elsewhere(tmp_path: Path) -> None:
    own, data = register(tmp_path), from_elsewhere(CORPUS)
    lift = Reinstatement(notice=read_notice(data).number)
    by_community, by_rival = (
        write_notice(lift, "agreed", "Council", each, NOON) for each in (COMMUNITY, RIVAL)
    )
    refuses(ConsentError, "Take that one in", own.take, by_community, six_words(COMMUNITY))
    own.take(data, six_words(COMMUNITY))
    refuses(ConsentError, "only who took something", own.take, by_rival, six_words(RIVAL))
    assert standing(tmp_path).of_corpus(FACTS) is not None
    own.lift(lift.notice, "they told us", "Office")  # here alone
    assert standing(tmp_path).of_corpus(FACTS) is None
    elsewhere = Register(tmp_path / "elsewhere", Identity.make(Role.ORGANISATION))
    elsewhere.take(data, six_words(COMMUNITY))
    [set_aside] = held(lines_of(tmp_path))
    assert set_aside.lifted is not None
    second = json.loads((tmp_path / FILE).read_bytes().splitlines()[1])["notice"]
    words = "only who took something back"
    refuses(ConsentError, words, elsewhere.take, canonical_bytes(second), six_words(OWN))


def test_key_that_says_it_is_lost_is_not_believed_afterwards(tmp_path: Path) -> None:
    own, lost = register(tmp_path), KeyWithdrawal(signing_key=COMMUNITY.public.signing_key)
    own.take(from_elsewhere(CORPUS), six_words(COMMUNITY))
    refuses(NobodyKnowsSigner, "", own.take, from_elsewhere(lost, RIVAL))
    own.take(from_elsewhere(lost))
    assert grounds(tmp_path) == [Ground.WORDS, Ground.ITSELF]
    assert standing(tmp_path).of_key(COMMUNITY.public.signing_key) is not None
    assert standing(tmp_path).of_key(OWN.public.signing_key) is None
    with pytest.raises(ConsentError, match="a key that was revoked"):
        own.take(from_elsewhere(entries_of(CORPUS, [1])), six_words(COMMUNITY))
    assert standing(tmp_path).of_corpus(FACTS) is not None  # what it said before holds


def test_a_notice_names_one_method_not_everybodys() -> None:
    named: tuple[dict[str, str], ...] = ({"model_slug": "m"}, {"method_sha256": "f" * 64})
    for fields in named:
        about = MethodWithdrawal(fields=fields)
        assert read_notice(from_elsewhere(about)).about == about
    chat = {"method": "chat"}
    for fields in (chat, chat | {"condition": "x"}, {"model_slug": "m", "colour": "x"}):
        data = from_elsewhere(MethodWithdrawal(fields=fields))
        refuses(FileError, "names no one method", read_notice, data)


def test_method_is_named_by_what_tells_it_from_others(tmp_path: Path) -> None:
    register(tmp_path).say(METHOD, "withdrawn by its makers", "Makers")
    assert standing(tmp_path).of_method(SETUP) is not None
    for name in ("method", "model_slug"):  # every field must be that of the run
        assert standing(tmp_path).of_method({**SETUP, name: "another"}) is None
    plain = {"method": "chat", "model_slug": "m", "condition": "c", "method_sha256": None}
    assert notice.method_of(plain).fields == {"method": "chat", "model_slug": "m", "condition": "c"}
    hashed = {"method": "chat", "method_sha256": "f" * 64}
    assert notice.method_of(plain | hashed).fields == hashed


@pytest.mark.parametrize(("facts", "same"), [
    (FACTS, True), (CorpusFacts("a" * 64, "renamed", "fr", "de"), True),
    (CorpusFacts("b" * 64, "words", "en", "eo"), True),
    (CorpusFacts("b" * 64, "words", "en", "fr"), False),
    (CorpusFacts("b" * 64, "words", "fr", "eo"), False),
    (CorpusFacts("b" * 64, "others", "en", "eo"), False),
    (CorpusFacts("", "words", language_pair="EN→EO"), True),
    (CorpusFacts("", "words", language_pair="EN→FR"), False), (CorpusFacts("", "words"), False),
])  # fmt: skip
def test_corpus_is_known_by_bytes_or_id(tmp_path: Path, facts: CorpusFacts, same: bool) -> None:
    register(tmp_path).say(CORPUS, "she asked", "Council")
    assert (standing(tmp_path).of_corpus(facts) is not None) is same


def test_entries_stand_in_a_notice_as_salted_digests(tmp_path: Path) -> None:
    said = register(tmp_path).say(entries_of(CORPUS, [7, "Bonan matenon!"]), "asked", "Council")
    [(_, about)] = standing(tmp_path).of_entries(FACTS)
    assert [about.has(each) for each in (7, "7", "Bonan matenon!", 8)] == [True, True, True, False]
    assert b"matenon" not in (tmp_path / FILE).read_bytes()
    assert standing(tmp_path).of_corpus(FACTS) is None
    assert standing(tmp_path).of_run(FACTS, {}, [1, 7]) == said
    assert standing(tmp_path).of_run(FACTS, {}, [1, 8]) is None


def test_register_changed_cut_or_taken_away_opens_nothing(tmp_path: Path) -> None:
    own = register(tmp_path)
    own.say(CORPUS, "one", "Council")
    own.say(METHOD, "two", "Council")
    whole = (tmp_path / FILE).read_bytes()
    for place in range(0, len(whole), 37):
        spoilt = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        (tmp_path / FILE).write_bytes(spoilt)
        refuses(ConsentError, "", lines_of, tmp_path)
    first = whole.splitlines(keepends=True)[0]
    for less in (first, whole[len(first) :], b""):
        (tmp_path / FILE).write_bytes(less)
        refuses(ConsentError, "", standing, tmp_path)
    (tmp_path / FILE).unlink()
    refuses(ConsentError, r"missing.*community take", standing, tmp_path)
    (tmp_path / FILE).write_bytes(whole)
    (tmp_path / SEEN).write_bytes(b"[2")
    refuses(ConsentError, "damaged", standing, tmp_path)


def test_a_line_that_somebody_wrote_without_the_key_is_refused(tmp_path: Path) -> None:
    """Also where what says how far the register went was taken away, so that the end of it is free."""
    own = register(tmp_path)
    own.take(from_elsewhere(CORPUS), six_words(COMMUNITY))
    (tmp_path / SEEN).unlink()
    assert grounds(tmp_path) == [Ground.WORDS]
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes().replace(b'"ground":"words"', b'"ground":"own"'))
    refuses(ConsentError, "line 1: it was changed", lines_of, tmp_path)


@pytest.mark.costly("kills a process at each of its steps on the disk")
def test_process_killed_at_any_step_half_withdraws_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.harness.consent.killed", tmp_path, str(times(5, 1))],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert set(told["left"]) == {1, 2}, told
    assert all(after == left + 1 for left, after in zip(told["left"], told["after"], strict=True))


SAID = {
    "corpus": "words", "source_language": "en", "target_language": "crk",
    "community": "Our nation", "person": "Mary, chair of the council", "date": "2026-11-20",
    "statement": "The sentences may be used to try machines.", "recorded_by": "Language office",
}  # fmt: skip
TODAY = date(2026, 11, 23)


def recorded(**changed: Any) -> tuple[given.SignedConsent, Identity]:
    identity = Identity.make(Role.ORGANISATION)
    return given.record_consent(SAID | changed, identity, TODAY), identity


ENVELOPE = {
    "id": "words", "language_pair": "EN→CRK", "source_language": "en", "target_language": "crk",
}  # fmt: skip


def stands(consent: object, revoked: Withdrawals = NOTHING, **changed: Any) -> tuple[bool, str]:
    """Return whether a corpus with this field has documented consent, and what is said of it."""
    if isinstance(consent, given.SignedConsent):
        consent = consent.model_dump(mode="json")
    dataset = Dataset.model_validate(ENVELOPE | changed | {"consent": consent})
    found = given.consent_standing(dataset, revoked)
    return found.documented, found.note


def test_signed_record_counts_and_is_told() -> None:
    record, identity = recorded()
    documented, note = stands(record)
    assert documented
    assert "Mary, chair of the council, 2026-11-20" in note
    assert key_phrase(identity.public.signing_key) in note
    for truthy in (True, "yes", "council, 2026", {"use_allowed_by": 3}, ["yes"]):
        documented, note = stands(truthy)
        assert (documented, "no signed record" in note) == (False, True)
    for empty in (None, "", dict[str, str](), False):
        assert stands(empty) == (False, "not documented")


@pytest.mark.parametrize("name", [*given.ConsentGiven.model_fields, "signature"])
def test_record_with_a_changed_field_does_not_count(name: str) -> None:
    told = recorded()[0].model_dump(mode="json")
    other = recorded(person="Somebody else")[0].model_dump(mode="json")
    told[name] = other[name] if other[name] != told[name] else f"{told[name]}x"
    assert not stands(told)[0]


def test_record_of_another_corpus_or_revoked_key_is_none(tmp_path: Path) -> None:
    record, identity = recorded()
    changes: tuple[dict[str, Any], ...] = (
        {"id": "other"}, {"target_language": "cr"}, {"source_language": "fr"},
    )  # fmt: skip
    for changed in changes:
        documented, note = stands(record, **changed)
        assert (documented, "another corpus" in note) == (False, True)
    register(tmp_path).say(KeyWithdrawal(signing_key=identity.public.signing_key), "stolen", "Us")
    documented, note = stands(record, standing(tmp_path))
    assert (documented, "revoked" in note) == (False, True)


def test_day_counts_from_its_beginning_in_the_first_time_zone() -> None:
    """It is Monday in New Zealand while it is Sunday by UTC; a day that has not begun does not count."""
    identity = Identity.make(Role.ORGANISATION)
    for day in ("2099-99-99", "2026-02-30", "9999-12-31"):
        fields = given.ConsentGiven(**SAID | {"date": day}, signing_key=identity.public.signing_key)
        record = given.SignedConsent.model_validate_json(
            signed_record(fields, identity), strict=True
        )
        documented, note = stands(record)
        assert (documented, day in note) == (False, True)
    sunday = datetime(2026, 11, 22, 10, tzinfo=UTC)
    assert given.newest_day(sunday) == TODAY
    assert given.newest_day(sunday - timedelta(seconds=1)) < TODAY
    assert stands(recorded(date=str(TODAY))[0])[0]


@pytest.mark.parametrize(("changed", "words"), [
    ({"date": "2026-02-30"}, "no such day"), ({"date": "23.11.2026"}, "no such day"),
    ({"date": "2026-11-24"}, "still to come"), ({"person": ""}, "person"),
    ({"statement": "x" * 20_001}, "statement"),
])  # fmt: skip
def test_what_cannot_be_recorded_is_said(changed: dict[str, Any], words: str) -> None:
    refuses(UsageError, words, recorded, **changed)
