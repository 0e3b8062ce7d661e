"""``rosetta vault grant``: three keepers on three homes and one stick, as they type it; two of them open together."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from harness.card.checking.verify import CardCheck
from harness.core.failures import StoreError, UsageError
from harness.sealed.keys import Identity, Role
from harness.store.file.database import open_store
from harness.store.file.sealing import StoreSealed, forget_keys
from harness.store.notes import attach_certificate, suspend_certificates
from harness.store.runs import find_run, read_card
from harness.vault.folder import read_state
from harness.vault.ledger import request_id
from harness.vault.log import LogLine
from harness.vault.opening import vault_at
from harness.vault.records import GrantAsked, OpenedByGrant, Used
from harness.vault.work import VaultWork
from review.files.statements import write_laptop_card
from review.office.making import publishing
from review.office.store.store import Office
from review.records.paths import BRINGING, evidence_of, opened_by
from review.records.profile import seen
from tests.harness.vault.made import readable
from tests.review.thorough import times
from tests.review.verdict.certified import attached, issue, review_of
from tests.tui.commands.command_line import said
from tests.tui.commands.vault_office import DESPITE, RUN, Homes, asked, faults, grants, numbered

SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "vault-grants.schema.json"


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> Homes:
    return Homes(tmp_path, monkeypatch)


def test_grant_of_three_keepers_over_a_stick(homes: Homes) -> None:
    """Answers in any order, one of them twice; one keeper refuses; the grant opens once."""
    real = bool(times(0, 1))

    def at(home: str, line: str, *more: str) -> str:
        return homes(home, line, *more, real=real)

    told = at("office", "grant request elders greetings {stick}/one.rosetta-request --purpose", "second opinion")  # fmt: skip
    assert "Office asks to open 'greetings' once: 2 development, 4 gold_standard" in told
    assert "2 keepers must allow it" in told
    words = told.partition("its words   ")[2].splitlines()[0]
    at("office", "export elders {stick}/elders --purpose", "for the keepers")
    shown = at("library", "grant show {stick}/elders {stick}/one.rosetta-request")
    assert words in shown
    assert "No answer yet from Office, School, Library." in shown
    refused = at("library", "grant refuse {stick}/elders {stick}/one.rosetta-request --to {stick}/library.rosetta-answer --reason", "ask me in May")  # fmt: skip
    assert "the log will have it with your reason" in refused
    for home in ("school", "office"):
        allowed = at(home, f"grant allow {{stick}}/elders {{stick}}/one.rosetta-request --yes --to {{stick}}/{home}.rosetta-answer")  # fmt: skip
        assert "it cannot be used again" in allowed
    assert "Too few" not in at("office", "grant take elders {stick}/library.rosetta-answer")
    assert "Too few keepers allow it. 2 must allow it. Refused by Library: ask me in May." in at(
        "office", "open elders --grant {stick}/one.rosetta-request"
    )
    taken = at("office", "grant take elders {stick}/school.rosetta-answer {stick}/office.rosetta-answer {stick}/school.rosetta-answer")  # fmt: skip
    assert taken.count("School allows it") == 2
    assert "Allowed by School, Office. Refused by Library: ask me in May." in taken
    elsewhere = at("school", "open {stick}/elders --grant {stick}/one.rosetta-request")
    assert "made on another computer" in elsewhere
    opened = at("office", "open elders --grant {stick}/one.rosetta-request")
    assert "greetings: 6 entries opened" in opened
    again = at("office", "open elders --grant {stick}/one.rosetta-request")
    assert "was used up at" in again
    assert "opens once" in again
    log, grant = at("office", "log elders"), granted(homes)["grant"][:8]
    assert [line.split("  ")[1].partition(" (")[0] for line in log.splitlines()[2:]] == [
        "Office: asked to open 'greetings' once: 2 development, 4 gold_standard; it is " + grant,
        "Office: made a sealed copy",
        f"Office: took in what Library says to {grant}: refuses it: ask me in May",
        f"Office: took in what School says to {grant}: allows it",
        f"Office: took in what Office says to {grant}: allows it",
        f"Office: used up the grant {grant} and opened 'greetings': 2 development, 4 gold_standard",
    ]
    assert readable(homes.folder) == []


def test_grant_request_that_is_none_is_named(homes: Homes) -> None:
    homes("office", "show elders")  # the next commands are typed there
    Path("wrong.rosetta-request").write_text("{}", "utf-8")
    for line in (
        "vault open elders --grant",
        "run greetings --vault elders --method copy-source --despite-network made-up --grant",
        "vault grant show elders",
        "vault grant allow elders --to a.rosetta-answer --yes",
        "vault grant refuse elders --to a.rosetta-answer --reason no",
    ):
        for name in ("wrong.rosetta-request", "gone.rosetta-request"):
            failed = said(f"{line} {name}").exception
            assert isinstance(failed, UsageError), line
            assert str(failed).startswith(f"{name}: ")


def granted(homes: Homes) -> dict[str, str]:
    shown = json.loads(homes("office", "grant show elders --json"))
    schema = json.loads(SCHEMA.read_text())
    assert list(Draft202012Validator(schema).iter_errors(shown)) == []
    assert shown[0]["used"]
    found: dict[str, str] = shown[0]
    return found


def test_grant_commands_refuse_wrong_usage(homes: Homes) -> None:
    ask = "grant request elders greetings a.rosetta-request --method copy-source --days 3 --purpose x"  # fmt: skip
    told = homes("office", ask)
    assert "then        a run of the method copy-source" in told
    assert "is there already" in homes("office", ask)
    gone = ask.replace("a.rosetta-request", "gone/a.rosetta-request")
    assert "no folder gone. Put the stick back" in homes("office", gone)
    assert len(homes("office", "log elders").splitlines()) == 3
    assert "error: " in homes("office", "grant request elders greetings b.rosetta-request --method nothing --purpose x")  # fmt: skip
    opened = homes("office", "open elders --grant a.rosetta-request")
    assert "It was granted a run, and this is to open the texts and check them." in opened
    (homes.folder / "office" / "junk").write_bytes(b"{}")
    for line in ("grant take elders junk", "grant allow elders junk --yes --to x.rosetta-answer"):
        assert "Ask for the file once more" in homes("office", line)
    assert "put the stick back, and try again" in homes(
        "office", "grant take elders nowhere.rosetta-answer"
    )
    assert "opens for 2 of its 3 keepers" in homes("office", "open elders greetings --purpose x")
    assert "Leave the rest out" in homes("office", "open elders greetings --grant a.rosetta-request")  # fmt: skip
    assert "Nobody asked" not in homes("office", "grant show elders")
    shutil.copy(homes.folder / "school" / "keeper.key", homes.stick)
    by_stick = (
        "grant allow elders a.rosetta-request --yes --key {stick}/keeper.key --to s.rosetta-answer"
    )
    assert "Written: s.rosetta-answer" in homes("office", by_stick)


RUN_ALONE = ("--method", "copy-source", "--segment", "gold_standard", "--metrics", "chrf")
HERE = "--vault elders --purpose"


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Homes]:
    monkeypatch.setattr("harness.endpoint.ways_out.ways_out", lambda: ())
    yield Homes(tmp_path, monkeypatch, numbered(), threshold=1)
    forget_keys()


def lines(alone: Homes) -> int:
    office = alone.folder / "office"
    return vault_at(office / "elders", office).read().head.lines


def test_grant_of_one_keeper_is_used_at_once_within_budget(alone: Homes) -> None:
    before = lines(alone)
    said = alone.types("office", f"run greetings {HERE} spring", *RUN_ALONE)
    shown = said[: said.index("chrF++")]
    assert "You allow, as a keeper, to open 'greetings' once: 5 gold_standard" in shown
    assert "what for    spring" in shown
    assert "a run of the method copy-source" in shown
    assert lines(alone) == before + 1
    alone.types("office", f"score --rescore last {HERE} again --metrics bleu")
    [first, again] = json.loads(alone("office", "grant show elders --json"))
    assert faults("vault-grants", [first, again]) == []
    assert (first["run"]["method"], first["needed"], bool(first["used"])) == ("copy-source", 1, True)  # fmt: skip
    assert again["run"]["method"] == "rescore"
    assert "Allowed by who asked, and used up at once" in alone("office", "grant show elders")
    assert "(copy-source, allowed once, as" in alone("office", "log elders")
    ids = [each["run_id"] for each in json.loads(alone.types("office", "runs list --json"))]
    used = lines(alone)
    assert "Written" in alone.types("office", f"runs export {ids[0]} {HERE} ann --submitter Ann -o ann.json")  # fmt: skip
    assert lines(alone) == used + 1
    refused = alone.types("office", f"runs export {ids[1]} {HERE} ann --submitter Ann -o b.json")
    assert "The next one is given from" in refused
    assert lines(alone) == used + 1  # nothing was opened, and no grant used up for it
    assert "Written" in alone.types("office", f"runs export {ids[0]} {HERE} ann --submitter Ann -o c.json")  # fmt: skip
    verified = alone.types("office", "runs verify ann.json")
    assert "✓ key: the key of this computer's keeper" in verified
    assert "– key: whose it is" in alone.types("school", "runs verify ../office/ann.json")
    assert readable(alone.folder) == []


def test_vault_compare_tells_a_difference_within_budget(alone: Homes) -> None:
    for method in ("copy-source", "constant --text said"):
        alone.types("office", f"run greetings {HERE} spring -m {method} --metrics chrf")
    other, one = (each["run_id"] for each in json.loads(alone.types("office", "runs list --json")))
    differ = f"vault compare {one} {other} -o d.json"
    before = lines(alone)
    assert "were not told" in alone.types("office", f"{differ} {HERE} told")
    assert lines(alone) == before  # nothing was opened for it
    alone.types("office", "vault budget --pause 0")
    for submitter, run in (("Ann", one), ("Ben", other)):
        alone.types(
            "office", f"runs export {run} {HERE} told --submitter {submitter} -o {submitter}.json"
        )
    before = lines(alone)
    assert "name it with --vault FOLDER" in alone.types("office", differ)
    assert "Name each run once" in alone.types(
        "office", f"vault compare {one} {one} -o d.json {HERE} told"
    )
    assert lines(alone) == before
    said = alone.types("office", f"{differ} {HERE} told")
    assert f"telling how others differ from the run {one}" in said
    assert lines(alone) == before + 2
    assert (
        "telling how others differ from the run" in alone("office", "log elders").splitlines()[-1]
    )
    assert "✓ signature" in alone.types("office", "runs verify d.json")
    alone.types("office", "vault budget --pause 24")
    again = alone.types("office", f"{differ} {HERE} told --overwrite")
    assert "The next one is given from" in again
    assert lines(alone) == before + 2
    assert readable(alone.folder) == []


SMALL_REVIEW = "--organisation Council --reviewers 2 --items 5 --bad 1 --repeats 0 --anchors 0 --anyway -o {stick}/out"
FOR = ("--for", "{stick}/blue.rosetta-laptop")
FOR_BOTH = (*FOR, "--for", "{stick}/red.rosetta-laptop")
WITH = "--vault elders --purpose spring --with ../school/keeper.key"


@pytest.fixture
def with_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Homes]:
    """Keepers with a finished run out of their vault, and the cards of two laptops on the stick."""
    made = Homes(tmp_path, monkeypatch, numbered())
    for name in ("blue", "red"):
        card = write_laptop_card(Identity.make(Role.LAPTOP), name)
        (made.stick / f"{name}.rosetta-laptop").write_bytes(card)
    said = made.types("office", f"run greetings {WITH} -m copy-source", *RUN, *DESPITE)
    assert "chrF++" in said, said
    forget_keys()
    yield made
    forget_keys()


def given(homes: Homes, *words: str) -> list[str]:
    return [each.format(stick=homes.stick) for each in words]


def create(with_run: Homes, opening: str, *laptops: str) -> str:
    return with_run.types(
        "office", f"review create last {opening} {SMALL_REVIEW}", *given(with_run, *laptops)
    )


def texts(with_run: Homes) -> int:
    """Read the sentences of the newest review as the office can; return how many there are."""
    with Office.open(with_run.folder / "office") as office:
        return len(office.review("last").texts)


def test_grant_hands_sentences_to_named_laptops_once(with_run: Homes) -> None:
    shown = with_run("office", "grant request elders greetings {stick}/n --purpose x --review last")
    assert "--review RUN and --for LAPTOP-FILE go together" in shown
    granted = asked(with_run, "a", "--review", "last", *given(with_run, *FOR))
    shown = with_run("school", "grant show {stick}/elders {stick}/a.rosetta-request")
    assert shown.count("the laptop whose six words are") == 1
    for laptops in (FOR_BOTH, FOR_BOTH[2:]):
        assert "granted for other laptops" in create(with_run, granted, *laptops)
    looked = with_run.types("office", f"review adjudicate last {granted}")
    assert "no review" in looked
    other = asked(with_run, "b", "--adjudicate", "last")
    assert "granted for adjudicate of run" in create(with_run, other, *FOR)
    assert not [each for each in grants(with_run) if each.used and each.answers]
    said = create(with_run, granted, *FOR)
    assert "opens only on the laptops that are named above" in said, said
    assert "was used up at" in create(with_run, granted, *FOR)
    forget_keys()
    with pytest.raises(StoreSealed):
        texts(with_run)
    assert readable(with_run.folder) == []


def test_grant_use_that_fails_leaves_nothing(with_run: Homes, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    granted = asked(with_run, "a", "--review", "last", *given(with_run, *FOR))

    def full(*_: object) -> None:
        raise UsageError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(publishing, "write_file", full)
        assert "full" in create(with_run, granted, *FOR)
    assert "There is no review" in with_run.types("office", "review status last")
    assert not list(with_run.stick.glob("out/*"))
    assert "was used up at" in create(with_run, granted, *FOR)
    assert readable(with_run.folder) == []


def test_review_sentences_go_along_when_all_is_sealed_anew(with_run: Homes) -> None:
    assert "Written" in create(with_run, WITH, *FOR)
    forget_keys()
    said = with_run("office", "refresh elders --with ../school/keeper.key --anew --purpose", "a page was lost")  # fmt: skip
    assert "error" not in said, said
    forget_keys()
    with pytest.raises(StoreSealed):
        texts(with_run)
    said = with_run.types("office", f"runs sign last {WITH}")
    assert "error" not in said, said
    assert texts(with_run) > 0
    forget_keys()
    with_run("office", "rotate elders greetings --from gold_standard --to held_out --count 1 --purpose kept")  # fmt: skip
    assert "went to held_out since" in create(with_run, f"{WITH} --name later", *FOR)
    with pytest.raises(StoreSealed):
        texts(with_run)
    with_run.types("office", "runs delete last --now --yes")
    with Office.open(with_run.folder / "office") as office, pytest.raises(StoreError, match="nobody opens them again"):  # fmt: skip
        _ = office.review("last").texts


@pytest.fixture
def ran(alone: Homes) -> Path:
    """Return the data folder of a keeper with a run out of their vault."""
    alone.types("office", "run greetings --vault elders --purpose spring", *RUN_ALONE)
    return alone.folder / "office"


def evidence(store: Path, home: Path) -> dict[str, CardCheck]:
    with closing(open_store(store)) as connection:
        return {
            each.name: each for each in evidence_of(connection, find_run(connection, "last"), home)
        }


def test_run_path_shows_the_grant_of_its_entries(ran: Path, tmp_path: Path) -> None:
    office = ran
    store = office / "rosetta.sqlite"
    assert evidence(store, office).keys() == {"card"}
    with closing(open_store(store)) as connection:
        run = find_run(connection, "last")
        file = issue(review_of(1, run=read_card(connection, run.id), segments="gold_standard"))
        attach_certificate(connection, run.id, attached(file))
    found = evidence(store, office)
    assert [found[name].ok for name in ("card", "gate", "entries")] == [True, True, True]
    assert "5 out of the vault" in found["entries"].words
    assert "by a grant, line 3 of its log" in found["entries"].words
    elsewhere = evidence(store, tmp_path / "elsewhere")["entries"]
    assert elsewhere.ok is None
    assert "never saw" in elsewhere.words
    lines = read_state(office / "elders").lines
    assert opened_by(lines, "another run").ok is False
    assert opened_by(lines[:2], run.run_id).ok is False
    with closing(open_store(store)) as connection:
        assert seen(connection, office)["authority"] == [
            "1 opening by a grant of its keepers, 0 without one"
        ]
        suspend_certificates(connection, [attached(file).sha256])
    assert evidence(store, office)["gate"].ok is False


def test_run_path_counts_only_what_brought_texts(ran: Path) -> None:
    """A run that was opened without a grant, and looked at with one later, was not opened by that."""
    with closing(open_store(ran / "rosetta.sqlite")) as connection:
        run = find_run(connection, "last").run_id
    *before, opened = read_state(ran / "elders").lines
    act = opened.record.act
    assert isinstance(act, Used)

    def line(**changed: object) -> LogLine:
        record = opened.record.model_copy(update={"act": act.model_copy(update=changed)})
        return LogLine(record, opened.content)

    for work in VaultWork:
        assert opened_by([*before, line(work=work)], run).ok is (work in BRINGING), work
    bare = line(grant=None)
    found = opened_by([*before, bare, line(work=VaultWork.LOOK)], run)
    assert (found.ok, "without a grant, line 3" in found.words) == (False, True)
    assert opened_by([*before, bare, line(work=VaultWork.RESUME)], run).ok is False
    assert opened_by([*before, line(), bare], run).ok is True


def test_run_path_by_a_grant_of_several_keepers(ran: Path) -> None:
    *before, opened = read_state(ran / "elders").lines
    act = opened.record.act
    assert isinstance(act, Used)
    assert act.grant is not None
    assert act.grant.run is not None

    def lines(**terms: str) -> list[LogLine]:
        assert act.grant is not None
        assert act.grant.run is not None
        request = act.grant.model_copy(update={"run": act.grant.run.model_copy(update=terms)})
        used = OpenedByGrant(
            grant=request_id(request), corpus=act.corpus, entries=act.entries, purpose="spring", run=act.run
        )  # fmt: skip
        acts = (GrantAsked(request=request), used)
        more = [LogLine(opened.record.model_copy(update={"act": each}), opened.content) for each in acts]  # fmt: skip
        return [*before, *more]

    assert opened_by(lines(), act.run).ok is True
    assert opened_by(lines(run=act.run, method="resume"), act.run).ok is True
    assert opened_by(lines(run=act.run, method="look"), act.run).ok is False
