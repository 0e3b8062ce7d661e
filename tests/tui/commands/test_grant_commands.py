"""``rosetta vault grant``: three keepers on three homes and one stick; and a run from a vault judged by speakers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.card.checking.verdict import CardCheck
from harness.core.failures import StoreError, UsageError
from harness.run import vault_opening
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileError
from harness.store.attachments import attach_certificate, suspend_certificates
from harness.store.runs import find_run, read_card
from harness.store.sqlite.database import open_store, opened
from harness.store.sqlite.sealing import StoreSealed, forget_keys
from harness.vault.folder import read_state
from harness.vault.grant_log import request_id
from harness.vault.grants.files import read_request
from harness.vault.log import LogLine
from harness.vault.opening import vault_at
from harness.vault.request import VaultWork
from harness.vault.vault_records import GrantAsked, OpenedByGrant, Used
from review.files.batch import open_batch
from review.files.identities import write_laptop_card
from review.office.making import publishing
from review.office.making.reviewed_runs import read_runs
from review.office.results.whole_way import opening_command
from review.office.store.store import Office
from review.rating import Rating
from review.records.agreeing import BRINGING, evidence_of, opened_by
from review.records.profile import seen
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.review import adjudicate
from rosetta_tui.front import WAITING
from rosetta_tui.request import vault as vault_options
from tests.harness.vault.made import readable
from tests.review.verdict.certified import attached, issue, review_of
from tests.tui.commands.command_line import said
from tests.tui.commands.sealed_review import OPENING, careful, newest, run_sealed, speakers
from tests.tui.commands.sealed_review import create as create_sealed
from tests.tui.commands.submission_desk import CANARY, Desk
from tests.tui.commands.submission_desk import readable as in_plain
from tests.tui.commands.vault_office import DESPITE, RUN, Homes, allowed, asked, faults, grants, numbered


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> Homes:
    return Homes(tmp_path, monkeypatch)


TRY = "vault open ../office/elders greetings --purpose"


def test_grant_of_three_keepers_over_a_stick(homes: Homes) -> None:
    """Answers in any order; one keeper refuses; the command goes on with what lies next to its request, and opens once."""
    told = homes.types("office", TRY, "second opinion", there=homes.stick)
    assert "Office asks to open 'greetings' once: 2 development, 4 gold_standard" in told
    assert "2 keepers must allow it: Office, and 1 more of School, Library." in told
    assert "Waiting for the keepers" in told
    words = told.partition("its words   ")[2].splitlines()[0]
    one = homes.stick / "open.rosetta-request"
    homes("office", "export elders {stick}/elders --purpose", "for the keepers")
    shown = homes("library", f"grant show {{stick}}/elders {one}")
    assert words in shown
    assert "Allowed by Office. No answer yet from School, Library." in shown
    refused = homes("library", f"grant answer {{stick}}/elders {one} --refuse", "in May")
    assert "The log will have it with your reason" in refused
    few = homes.types("office", TRY, "second opinion", there=homes.stick)
    assert "Library refuses it: in May" in few
    assert "Waiting for the keepers" in few
    allowed(homes, one)
    taken = homes.types("office", TRY, "second opinion", there=homes.stick)
    assert "School allows it" in taken
    assert "greetings: 6 entries opened" in taken
    [shown] = json.loads(homes("office", "grant show elders --json"))
    assert faults("vault-grants", [shown]) == []
    again = homes.types("office", TRY, "second opinion", there=homes.stick)
    assert "Written: open-2.rosetta-request" in again
    assert "entries opened" not in again
    log = homes("office", "log elders")
    assert f"Office: took in what Library says to {shown['grant'][:8]}: refuses it: in May" in log
    assert log.count(f"Office: used up the grant {shown['grant'][:8]} and opened 'greetings'") == 1
    assert readable(homes.folder) == []


def test_grant_counts_answers_to_its_very_request_alone(homes: Homes) -> None:
    """What was changed, asked for anew, or answered for something else opens nothing."""
    homes.types("office", TRY, "second opinion", there=homes.stick)
    one, honest = homes.stick / "open.rosetta-request", (homes.stick / "open.rosetta-request").read_bytes()
    homes("office", "export elders {stick}/elders --purpose", "for the keepers")
    one.write_bytes(honest.replace(b"second opinion", b"just a look..."))
    assert "changed after it was written" in homes("school", f"grant answer {{stick}}/elders {one} --yes")
    one.write_bytes(honest)
    allowed(homes, one)
    [answer] = homes.stick.glob("*.rosetta-answer")
    other = homes.types("office", TRY, "just a look", there=homes.stick)
    two = homes.stick / "open-2.rosetta-request"
    assert f"Written: {two.name}" in other
    first, second = (request_id(read_request(path.read_bytes())) for path in (one, two))
    (homes.stick / "a.rosetta-answer").write_bytes(answer.read_bytes().replace(first.encode(), second.encode()))
    (homes.stick / "b.rosetta-answer").write_bytes(b"{}")
    tried = homes.types("office", TRY, "just a look", there=homes.stick)
    assert "a.rosetta-answer does not count: This answer was changed" in tried
    assert "b.rosetta-answer does not count" in tried
    assert "entries opened" not in tried
    assert [bool(each.used) for each in grants(homes)] == [False, False]
    assert [len(each.answers) for each in grants(homes)] == [1, 1], "that of the office"
    assert "entries opened" in homes.types("office", TRY, "second opinion", there=homes.stick)


def test_grant_waits_on_a_terminal_for_as_many_as_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> None:  # fmt: skip
    homes = Homes(tmp_path, monkeypatch, threshold=3)
    coming = ["school", "library"]

    def answered(_seconds: float) -> None:
        allowed(homes, homes.stick / "open.rosetta-request", coming.pop(0))
        monkeypatch.setenv("ROSETTA_HOME", str(homes.folder / "office"))
        monkeypatch.chdir(homes.stick)

    monkeypatch.setattr(vault_options, "on_terminal", lambda: True)
    monkeypatch.setattr("rosetta_tui.request.vault.time.sleep", answered)
    said = homes.types("office", TRY, "second opinion", there=homes.stick)
    assert said.index("School allows it") < said.index("No answer yet from Library") < said.index("Library allows it")
    assert "6 entries opened" in said


def test_grant_that_too_many_refuse_is_asked_for_anew(homes: Homes) -> None:
    homes.types("office", TRY, "second opinion", there=homes.stick)
    homes("office", "export elders {stick}/elders --purpose", "for the keepers")
    for home in ("school", "library"):
        homes(home, "grant answer {stick}/elders {stick}/open.rosetta-request --refuse no")
    said = homes.types("office", TRY, "second opinion", there=homes.stick)
    assert "So it can no longer be allowed. Nothing was opened." in said
    assert "Written: open-2" in homes.types("office", TRY, "second opinion", there=homes.stick)


def test_grant_request_that_is_none_is_named(homes: Homes) -> None:
    homes("office", "show elders")  # the next commands are typed there
    Path("wrong.rosetta-request").write_text("{}", "utf-8")
    for line in ("vault grant show elders", "vault grant answer elders --yes", "vault grant answer elders --refuse no"):
        for name in ("wrong.rosetta-request", "gone.rosetta-request"):
            failed = said(f"{line} {name}").exception
            assert isinstance(failed, UsageError), line
            assert str(failed).startswith(f"{name}: ")


def test_grant_commands_refuse_wrong_usage(homes: Homes) -> None:
    ask = "run greetings --vault elders --method copy-source --despite-network made-up --purpose x"
    told = homes.types("office", ask)
    assert "then        a run of the method copy-source" in told
    assert said(ask, homes.folder / "office").exit_code == WAITING
    lines = len(homes("office", "log elders").splitlines())
    assert "opens for 2 of its 3 keepers" in homes.types("office", "corpus check greetings --vault elders --purpose x")
    assert len(homes("office", "log elders").splitlines()) == lines == 4
    (homes.folder / "office" / "junk").write_bytes(b"{}")
    assert "Ask for the file once more" in homes("office", "grant answer elders junk --yes --to x.rosetta-answer")
    assert "is there already" in homes("office", "grant answer elders run.rosetta-request --yes --to junk")
    shutil.copy(homes.folder / "school" / "keeper.key", homes.stick)
    allow = "grant answer elders run.rosetta-request --yes --key {stick}/keeper.key"
    assert "Written: run-School.rosetta-answer" in homes("office", allow)


RUN_ALONE = ("--method", "copy-source", "--segment", "gold_standard", "--metrics", "chrf")
HERE = "--vault elders --purpose"


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Homes]:
    monkeypatch.setattr("harness.endpoint.offline.network_routes", lambda: ())
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
    assert (first["run"]["method"], first["needed"], bool(first["used"])) == ("copy-source", 1, True)
    assert again["run"]["method"] == "rescore"
    ids = [each["run_id"] for each in json.loads(alone.types("office", "runs list --json"))]
    used = lines(alone)
    assert "Written" in alone.types("office", f"runs export {ids[0]} {HERE} ann --submitter Ann -o ann.json")
    assert lines(alone) == used + 2  # it was opened, and the ledger stood so
    refused = alone.types("office", f"runs export {ids[1]} {HERE} ann --submitter Ann -o b.json")
    assert "The next one is given from" in refused
    assert lines(alone) == used + 2  # nothing was opened, and no grant used up for it
    verified = alone.types("office", "runs verify ann.json")
    assert "✓ key: the key of this computer's keeper" in verified
    assert readable(alone.folder) == []


def test_vault_compare_tells_a_difference_within_budget(alone: Homes) -> None:
    for method in ("copy-source", "constant --text said"):
        alone.types("office", f"run greetings {HERE} spring -m {method} --metrics chrf")
    other, one = (each["run_id"] for each in json.loads(alone.types("office", "runs list --json")))
    differ = f"vault compare {one} {other} -o d.json"
    before = lines(alone)
    assert "were not told" in alone.types("office", f"{differ} {HERE} told")
    alone.types("office", "vault budget --pause 0")
    assert lines(alone) == before  # nothing was opened for it
    for name, run in (("Ann", one), ("Ben", other)):
        export = f"runs export {run} {HERE} told --submitter {name} -o {name}.json"
        alone.types("office", export)
    assert "name it with --vault FOLDER" in alone.types("office", differ)
    same = f"vault compare {one} {one} -o d.json {HERE} told"
    assert "Name each run once" in alone.types("office", same)
    assert lines(alone) == before + 4  # each was opened, and the ledger stood so
    alone.types("office", "vault budget --count 1")
    said = alone.types("office", f"{differ} {HERE} told")
    assert f"telling how others differ from the run {one}" in said
    assert lines(alone) == before + 7
    again = alone.types("office", f"vault compare {other} {one} -o e.json {HERE} told")
    assert "had all 1 differences" in again
    assert lines(alone) == before + 7
    assert readable(alone.folder) == []


SMALL_REVIEW = "--organisation Council --reviewers 2 --items 5 --bad 1 --repeats 0 --anchors 0 --anyway -o {stick}/out"
CREATE = f"review create last {SMALL_REVIEW}"
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
    return with_run.types("office", f"review create last {opening} {SMALL_REVIEW}", *given(with_run, *laptops))


def texts(with_run: Homes) -> int:
    """Read the sentences of the newest review as the office can; return how many there are."""
    with Office.open(with_run.folder / "office") as office:
        return len(office.review("last").texts)


def test_grant_hands_sentences_to_named_laptops_once(with_run: Homes) -> None:
    with opened(with_run.folder / "office" / "rosetta.sqlite") as store:
        proposed = opening_command(store, find_run(store, "last"), "review create last")
    assert proposed == f"review create last --vault {with_run.folder / 'office' / 'elders'} --purpose WORDS"
    granted = asked(with_run, CREATE, *given(with_run, *FOR))
    [request] = with_run.stick.glob("out/*.rosetta-request")
    assert with_run("school", f"grant show {{stick}}/elders {request}").count("the laptop whose six words are") == 1
    for laptops in (FOR_BOTH, FOR_BOTH[2:]):
        assert "Waiting for the keepers" in create(with_run, granted, *laptops), "asked for other laptops"
    assert "no review" in with_run.types("office", f"review adjudicate last {granted}")
    assert not [each for each in grants(with_run) if each.used and each.answers]
    said = create(with_run, granted, *FOR)
    assert "opens only on the laptops that are named above" in said, said
    assert "Waiting for the keepers" in create(with_run, f"{granted} --name again", *FOR)
    assert "opens for 2 of its 3 keepers" in create(with_run, f"{granted} --dry-run --name plan", *FOR)
    forget_keys()
    with pytest.raises(StoreSealed):
        texts(with_run)
    assert readable(with_run.folder) == []


def test_grant_use_that_fails_leaves_nothing(with_run: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    granted = asked(with_run, CREATE, *given(with_run, *FOR))

    def full(*_: object) -> None:
        raise UsageError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(publishing, "write_file", full)
        assert "full" in create(with_run, granted, *FOR)
    assert "There is no review" in with_run.types("office", "review status last")
    assert not list(with_run.stick.glob("out/*.rosetta-batch"))
    assert "Waiting for the keepers" in create(with_run, granted, *FOR)
    assert readable(with_run.folder) == []


def test_review_sentences_go_along_when_all_is_sealed_anew(with_run: Homes) -> None:
    assert "Written" in create(with_run, WITH, *FOR)
    forget_keys()
    said = with_run("office", "check-up elders --do shares --with ../school/keeper.key --purpose", "a page was lost")
    assert "error" not in said, said
    forget_keys()
    with pytest.raises(StoreSealed):
        texts(with_run)
    said = with_run.types("office", f"runs sign last {WITH}")
    assert "error" not in said, said
    assert texts(with_run) > 0
    forget_keys()
    with_run("office", "check-up elders greetings --do rotate --from gold_standard --to held_out --count 1 --purpose kept")  # fmt: skip
    assert "went to held_out since" in create(with_run, f"{WITH} --name later", *FOR)
    with pytest.raises(StoreSealed):
        texts(with_run)
    with_run.types("office", "runs delete last --now --yes")
    with Office.open(with_run.folder / "office") as office, pytest.raises(StoreError, match="nobody opens them again"):
        _ = office.review("last").texts


@pytest.fixture
def ran(alone: Homes) -> Path:
    """Return the data folder of a keeper with a run out of their vault."""
    alone.types("office", "run greetings --vault elders --purpose spring", *RUN_ALONE)
    return alone.folder / "office"


def evidence(store: Path, home: Path) -> dict[str, CardCheck]:
    with closing(open_store(store)) as connection:
        found = evidence_of(connection, find_run(connection, "last"), home)
        return {each.name: each for each in found}


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
        [told] = seen(connection, office)["authority"]
        assert told == "1 opening by a grant of its keepers, 0 without one"
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
        more = [LogLine(opened.record.model_copy(update={"act": each}), opened.content) for each in acts]
        return [*before, *more]

    assert opened_by(lines(), act.run).ok is True
    assert opened_by(lines(run=act.run, method="resume"), act.run).ok is True
    assert opened_by(lines(run=act.run, method="look"), act.run).ok is False


@pytest.fixture(autouse=True)
def _on_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A person reads; what was opened in one test is shut in the next."""
    monkeypatch.setattr(adjudicate, "on_terminal", lambda: True)
    forget_keys()
    yield
    forget_keys()


def log_lines(desk: Desk, vault: str = "elders") -> list[str]:
    """The lines of the vault's log, in words."""
    return desk(f"vault log {vault}").strip().splitlines()


def asks(desk: Desk, line: str, *more: str, typed: str) -> str:
    """Type a command that asks, and the answers."""
    said = CliRunner().invoke(rosetta, [*line.split(), *more], input=typed)
    return f"{said.output}{said.exception or ''}"


@pytest.mark.costly("three laptops rate a sealed review up to its certificate")
def test_vault_review_from_laptops_to_the_card(desk: Desk) -> None:
    run, panel = run_sealed(desk), speakers(desk)
    forget_keys()
    said = create_sealed(desk, panel.named, *OPENING)
    assert CANARY not in said
    assert said.count("the laptop whose six words are") == len(panel.laptops)
    assert f"sealing for speakers' laptops sentences of the run {run[:8]}" in log_lines(desk)[-1]
    review, stick, out = newest(desk), desk.folder / "stick", desk.folder / "out"
    [batch] = stick.glob("*.rosetta-batch")
    with pytest.raises(FileError):
        open_batch(batch.read_bytes(), [Identity.load(desk.home, Role.ORGANISATION).age])
    harmful = panel.rate(stick, review, careful(review))
    forget_keys()
    opened = len(log_lines(desk))
    assert desk("review import stick").count("added") == len(panel.laptops)
    assert "84 of 84 decisions are here" in desk("review status last")
    assert "called harmful" in desk("review gate last")
    assert '"flags": 1' in desk("review adjudicate last --json")
    with Office.open(desk.home) as office, pytest.raises(StoreSealed, match="opened with it only"):
        _ = office.review("last").texts
    told = asks(desk, "review adjudicate last", typed="q\n")
    assert "its texts are opened with the vault only" in told
    assert len(log_lines(desk)) == opened
    typed = f"c\nwho says {harmful}\nAnna\nc\nan odd word\nAnna\n"
    said = asks(desk, "review adjudicate last", *OPENING, typed=typed)
    assert f"Original     {CANARY}" in said
    assert "Cleared." in said
    assert "deciding on what speakers flagged in the run" in log_lines(desk)[-1]
    forget_keys()
    assert "Confirmed" in desk("runs export last --submitter Ann -o ann.json", *OPENING)
    forget_keys()
    assert "GO" in desk("review gate last --issue -o out")
    [certificate] = out.glob("*.certificate.json")
    assert "It is community-validated." in desk(f"review attach {certificate}")
    shown = desk("runs show last")
    assert "✓ gate: go by panel of 3" in shown
    assert "✓ entries: 50 out of the vault" in shown
    assert "community-validated" in desk("leaderboard")
    assert "coarse numbers: what left in its place follows from it" in desk(f"verify {certificate}")
    desk("review page last -o page.html")
    desk("review export last -o out")
    assert len(log_lines(desk)) == opened + 3
    assert not any(map(in_plain, (desk.home, stick, out, desk.folder / "elders")))


def test_vault_review_refuses_before_the_vault_opens(desk: Desk) -> None:
    run_sealed(desk)
    panel = speakers(desk, 1)
    desk("vault init others --name Others --as Office --recovery rec2.txt")
    named, before = panel.named, log_lines(desk)
    Path("blank.toml").write_text("", "utf-8")
    Path("there").mkdir()
    Path("there/eo-gold-1.rosetta-batch").write_text("", "utf-8")
    opened = [*named, *OPENING]
    for options, words in (
        ([*named], "its texts are opened with the vault only"),
        ([*OPENING], "add --for"),
        ([*opened, "--passphrases"], "leave --passphrases out"),
        ([*named, "--vault", "elders", "--purpose", " "], "asks for --purpose"),
        ([*named, "--purpose", "speakers judge"], "goes with --vault"),
        ([*named, "--vault", "others", "--purpose", "x"], "out of another vault"),
        ([*opened, "--context", "all"], "--context all"),
        ([*opened, "--items", "19"], "wants 20 sentences rated, and these are 19"),
        ([*opened, "--reviewers", "2"], "wants 3 reviewers, and these are 2"),
        ([*opened, "--training", "blank.toml"], "blank.toml"),
        ([*opened, "--recipient", "age1nobody"], "age1nobody"),
        ([*opened, "--segment", "development"], "no entry of these segments"),
        (["--for", "blank.toml", *OPENING], "blank.toml: This is not the card of a laptop"),
        ([*opened, "--cards", "blank.toml"], "blank.toml is there already"),
        ([*opened, "-o", "there"], "eo-gold-1.rosetta-batch is there already"),
        ([*opened, "--font", "blank.toml"], "belong together"),
    ):
        assert words in create_sealed(desk, options, code=2), options
    assert "out of one" not in "".join(log_lines(desk))
    assert log_lines(desk) == before
    assert len(log_lines(desk, "others")) == 1
    assert not list(Path().glob("stick/*.rosetta-batch"))


def test_vault_second_review_refuses_before_it_opens(desk: Desk) -> None:
    run_sealed(desk)
    panel = speakers(desk)
    create_sealed(desk, panel.named, *OPENING)
    panel.rate(desk.folder / "stick", newest(desk), lambda n, _: list(Rating)[3 * (n > 0)])
    desk("review import stick")
    second, before = (("review create --second last -o again", *panel.named, *OPENING), log_lines(desk))
    for options, words in (("--name a/b", "make a name"), ("--recipient age1nobody", "age1nobody")):
        assert words in desk(*second, *options.split(), code=2), options
    assert log_lines(desk) == before
    assert "Written: again" in desk(*second)
    assert len(log_lines(desk)) == len(before) + 1


def test_vault_review_seals_for_the_cards_it_showed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked at, written into the log and sealed for are the same keys, whatever lies on the stick by then."""
    run_sealed(desk)
    panel, opening = speakers(desk), vault_opening.open_again
    cards = sorted(desk.folder.glob("*.rosetta-laptop"))
    others = [write_laptop_card(Identity.make(Role.LAPTOP), each.stem) for each in cards]

    def swapped(*given: Any, **named: Any) -> None:
        for path, other in zip(cards, others, strict=True):
            path.write_bytes(other)
        opening(*given, **named)

    monkeypatch.setattr(vault_opening, "open_again", swapped)
    create_sealed(desk, panel.named, *OPENING)
    [batch] = (desk.folder / "stick").glob("*.rosetta-batch")
    named = {each.public.signing_key: each.public.recipient for each in panel.laptops.values()}
    for each in panel.laptops.values():
        assert open_batch(batch.read_bytes(), [each.age]).items
    with Office.open(desk.home) as office:
        assert {each.signing_key: each.recipient for each in office.laptops()} == named
    used = vault_at(desk.folder / "elders", desk.home).read().lines[-1].record.act
    assert isinstance(used, Used)
    assert used.grant is not None
    assert used.grant.run is not None
    assert dict(zip(used.grant.run.laptops, used.grant.run.recipients, strict=True)) == named


def test_vault_review_has_only_what_the_run_scored(desk: Desk) -> None:
    """Of two runs over one corpus each was opened for its own entries."""
    run_sealed(desk)
    more = ("--purpose", "two sentences", "--despite-network", "a test", "--plain")
    desk("run eo-gold --vault elders --method copy-source --limit 2", *more)
    with opened() as store:
        [short] = find_run(store, "last").positions[-1:]
        assert short == 1
        read = read_runs(store, ["last"], (), lambda *_: None)
        assert len(read.corpus) == len(read.shared) == 2
        both = read_runs(store, ["last", "last~1"], (), lambda *_: None)
        assert (len(both.corpus), len(both.shared)) == (50, 2)
        assert both.vault_runs == tuple(each.run.run_id for each in both.runs)
        with pytest.raises(UsageError, match="opened with the vault only"):
            read_runs(store, ["last"])
    (desk.folder / "open.tsv").write_text("id\tsource\treference\na\tone\tunu\n", "utf-8")
    desk("run open.tsv --method copy-source --source-language en --target-language eo --plain")
    panel, before = speakers(desk, 1), log_lines(desk)
    two = f"review create last last~1 --organisation Council --anyway {' '.join(panel.named)}"
    assert "not out of one vault" in asks(desk, two, *OPENING, typed="")
    assert log_lines(desk) == before
