"""What is said of consent holds until lifted, whoever carries the notice; and where texts of a corpus may be sent."""

import json
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from corpora.formats.load import load
from corpora.model.corpus import Corpus, Dataset
from harness.api import ask, estimate
from harness.consent import given, notice
from harness.consent.notice import KeyWithdrawal, MethodWithdrawal, Reinstatement, entries_of, read_notice, write_notice
from harness.consent.register import FILE, SEEN, ConsentError, Ground, NobodyKnowsSigner, Register, held, lines_of
from harness.consent.withdrawals_in_force import NOTHING, CorpusFacts, Withdrawals, standing
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.endpoint import offline
from harness.privacy import MayNotSend, NobodySaidWhetherToSend, require_sending
from harness.run.beginning import resume_method
from harness.sealed.archive import signed_record
from harness.sealed.keys import Identity, Role, key_phrase
from harness.sealed.strict_records import FileError
from harness.store.runs import read_run
from harness.store.sqlite.database import opened
from tests.corpora.making import entry, json_file
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
from tests.harness.evaluation import begun_on
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
    refuses(ConsentError, "lifted already", register(tmp_path).lift, said.number, "once more", "Council")


def test_a_stranger_cannot_take_back_a_rivals_method(tmp_path: Path) -> None:
    """Anybody can write a notice in any name; it is shown, and changes nothing."""
    forged = write_notice(METHOD, "it is no good", "The council", RIVAL, NOON)
    refuses(NobodyKnowsSigner, r"NOT imported.*six words", register(tmp_path).take, forged)
    assert standing(tmp_path).of_method(SETUP) is None
    refuses(ConsentError, "not the six words", register(tmp_path).take, forged, six_words(COMMUNITY))
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
    by_community, by_rival = (write_notice(lift, "agreed", "Council", each, NOON) for each in (COMMUNITY, RIVAL))
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
        record = given.SignedConsent.model_validate_json(signed_record(fields, identity), strict=True)
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


ELSEWHERE = "https://api.example.org/v1"
HERE = "http://127.0.0.1:9/v1"


def corpus(folder: Path, *rows: dict[str, Any], **said: Any) -> Corpus:
    return load(json_file(folder, list(rows) or [entry()], **said))


def sent(made: Corpus, url: str, may_send: str | None = None) -> str:
    """Return why the texts may not be sent; empty where they may."""
    try:
        require_sending(made.dataset, made.entries, url, may_send)
    except NobodySaidWhetherToSend as error:
        return f"ask: {error}"
    except MayNotSend as error:
        return f"no: {error}"
    return ""


WORDS = "The council, on 3 May"


@pytest.mark.parametrize(("said", "here", "elsewhere", "answered", "term"), [
    ({}, "", "ask", "", "no licence and no other term"),
    ({"license": "unknown"}, "", "ask", "", "license: unknown"),
    ({"license": "CC-BY-NC-4.0"}, "", "ask", "", "only without profit"),
    ({"license": "CC-BY-4.0"}, "", "", "", ""), ({"transmission": "open"}, "", "", "", ""),
    ({"transmission": "ask"}, "", "ask", "", "the owner of the texts said so"),
    ({"transmission": "open", "training": "no"}, "", "ask", "", "no model may learn"),
    ({"license": "CC-BY-ND-4.0"}, "", "no", "no", "a translation is a derivative"),
    ({"license": "Kaitiakitanga"}, "", "no", "no", "the texts belong to a community"),
    ({"transmission": "local-only"}, "", "no", "no", "transmission: local-only"),
    ({"transmission": "nowhere"}, "no", "no", "no", "transmission: nowhere"),
    ({"transmission": ["https://other.example"]}, "", "no", "no", "https://other.example only"),
    ({"transmission": [ELSEWHERE], "training": "no"}, "", "", "", ""),
    ({"transmission": ["https://api.example.org.evil.net/v1"]}, "", "no", "no", "however much alike"),
])  # fmt: skip
def test_each_rule_says_where_texts_may_go(
    tmp_path: Path, said: dict[str, Any], here: str, elsewhere: str, answered: str, term: str
) -> None:
    made = corpus(tmp_path, **said)
    assert sent(made, HERE).partition(":")[0] == here
    found = sent(made, ELSEWHERE)
    assert found.partition(":")[0] == elsewhere
    assert sent(made, ELSEWHERE, WORDS).partition(":")[0] == answered
    assert term in found
    if found:
        assert "Term: " in found
        assert "Rule: " in found
        assert ("--may-send" in found) is (elsewhere == "ask")
        assert ("owner of the texts" in found) is (elsewhere == "no" or "the owner" in term)


def test_segment_of_the_chosen_entries_decides(tmp_path: Path) -> None:
    rows = [entry(1, segment="development"), entry(2, segment="diagnostic")]
    terms: dict[str, Any] = {"development": "open", "diagnostic": [ELSEWHERE]}
    made = corpus(tmp_path, *rows, transmission=terms)
    first, second = ([each] for each in made.entries)
    other = "https://any.example"
    require_sending(made.dataset, first, other, None)
    words = "of diagnostic may be sent to"
    refuses(MayNotSend, words, require_sending, made.dataset, second, other, None)
    terms = {"development": "local-only", "diagnostic": "open"}
    made = corpus(tmp_path, *rows, transmission=terms)
    require_sending(made.dataset, second, ELSEWHERE, None)
    words = "These texts of development stay on this machine"
    refuses(MayNotSend, words, require_sending, made.dataset, first, ELSEWHERE, None)


def test_what_stays_here_is_refused_by_runs_and_estimates(tmp_path: Path, home: Path) -> None:
    made = corpus(tmp_path, license="CC-BY-ND-4.0")
    for asked in (request(made), request(made, offline=True)):
        refuses(MayNotSend, r"Term: license: CC-BY-ND-4\.0\. Rule: a translation", asked.clear)
    for empty in ("", " \t"):
        without = corpus(tmp_path, license=empty)
        assert "Term: license is there and says nothing. Rule: " in sent(without, ELSEWHERE)
        assert without.dataset.terms.words.endswith("(license is there and says nothing)")
    refuses(MayNotSend, "Rule: a translation is a derivative", estimate, home / "rosetta.sqlite", request(made))


def request(made: Corpus, **told: Any) -> Any:
    return ask(made, "chat", {"endpoint": ELSEWHERE, "model": "m", **told})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("API_EXAMPLE_ORG_API_KEY", "sk-0123456789")
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_a_run_is_refused_before_a_key_is_asked_for(tmp_path: Path, home: Path) -> None:
    made = corpus(tmp_path, license="CC-BY-NC-4.0")

    def no(*_: object) -> Any:
        raise AssertionError("a key was asked for")

    asked = request(made)
    refuses(NobodySaidWhetherToSend, "", asked.clear, no)
    allowed = asked.allowed(f" {WORDS} ")
    assert allowed.plan.run.may_send == WORDS
    assert allowed.clear().method.endpoint == ELSEWHERE


@pytest.mark.parametrize("option", ["judge", "embeddings"])
def test_judges_and_embeddings_are_endpoints_too(tmp_path: Path, home: Path, option: str) -> None:
    made = corpus(tmp_path)
    wanted = "lbrag.semantic_score" if option == "judge" else "semantic"
    told = {option: ELSEWHERE, f"{option}_model": "m", "metrics": f"chrf,{wanted}"}
    asked = ask(made, "copy-source", told)
    refuses(NobodySaidWhetherToSend, "", asked.clear)
    assert ask(made, "copy-source", {**told, "may_send": WORDS}).clear()


@pytest.mark.parametrize(("said", "told", "shut"), [
    ({}, {}, True), ({}, {"may_send": WORDS}, False), ({"license": "CC-BY-4.0"}, {}, False),
    ({"license": "CC-BY-4.0", "training": "no"}, {}, True),
    ({"transmission": [ELSEWHERE]}, {"may_send": WORDS}, True),
])  # fmt: skip
def test_foreign_code_reaches_nobody_unless_the_terms_say_so(
    tmp_path: Path, home: Path, said: dict[str, Any], told: dict[str, str], shut: bool
) -> None:
    (tmp_path / "own.py").write_text("class Own:\n    pass\n")
    made = corpus(tmp_path, **said)
    with pytest.raises(UsageError):  # it is no method; the door is shut before its first line runs
        ask(made, f"{tmp_path / 'own.py'}:Own", told).clear()
    assert (offline.why() == offline.TERMS) is shut


def began(made: Corpus, store: Path, **told: Any) -> None:
    asked = ask(made, "copy-source", told)
    with opened(store) as connection:
        begun_on(connection, made, asked.positions, asked.clear())


@pytest.mark.parametrize(("before", "now", "refused"), [
    ({"transmission": [ELSEWHERE]}, {"transmission": "open"}, True),
    ({"transmission": [ELSEWHERE]}, {"transmission": [ELSEWHERE, "https://b.example"]}, True),
    ({"transmission": [ELSEWHERE]}, {}, True),
    ({"license": "CC-BY-NC-4.0"}, {"license": "CC-BY-4.0"}, True),
    ({"transmission": "open", "training": "no"}, {"transmission": "open"}, True),
    ({"transmission": "local-only"}, {"transmission": "open"}, True),
    ({"transmission": "open"}, {"transmission": [ELSEWHERE]}, False),
    ({"transmission": [ELSEWHERE]}, {"transmission": [ELSEWHERE]}, False),
    ({}, {"license": "CC-BY-4.0"}, False),
])  # fmt: skip
def test_a_file_whose_terms_were_widened_is_refused(
    tmp_path: Path, home: Path, before: Any, now: Any, refused: bool
) -> None:
    """Whoever edits the file, and its id too, is known by the sentences."""
    store = home / "rosetta.sqlite"
    began(corpus(tmp_path, **before), store)
    path = json_file(tmp_path, [entry(7, source="Source 1!")], **now)
    data = json.loads(path.read_text())
    data["dataset"]["id"] = "another"
    path.write_text(json.dumps(data))
    if refused:
        refuses(UsageError, r"stricter terms|known here as secret", began, load(path), store)
    else:
        began(load(path), store)


def test_corpus_of_a_known_name_or_kept_here_becomes_no_freer(tmp_path: Path, home: Path) -> None:
    store = home / "rosetta.sqlite"
    began(corpus(tmp_path, transmission=[ELSEWHERE]), store)
    exchanged = corpus(tmp_path, entry(9), transmission="open")  # every sentence
    refuses(UsageError, r"known here as made.*rosetta runs delete --now", began, exchanged, store)
    other = home / "other.sqlite"
    began(corpus(tmp_path, transmission="nowhere"), other)
    refuses(UsageError, "stricter terms", began, corpus(tmp_path, transmission="local-only"), other)


def test_a_run_from_before_goes_on_once_somebody_answered(tmp_path: Path, home: Path) -> None:
    """Runs that were begun when nothing was asked, or whose terms were never told, wait for the answer."""
    store, made = home / "rosetta.sqlite", corpus(tmp_path)
    asked = request(made, may_send=WORDS)
    with opened(store) as connection:
        number = begun_on(connection, made, asked.positions, asked.clear())
        before = json.dumps(asked.plan.model_dump(mode="json") | {"run": {}})
        connection.execute("UPDATE runs SET plan = ? WHERE id = ?", (before, number))
        run = read_run(connection, number)
        refuses(NobodySaidWhetherToSend, "", resume_method, connection, run)
        assert resume_method(connection, run, WORDS).method.endpoint == ELSEWHERE
