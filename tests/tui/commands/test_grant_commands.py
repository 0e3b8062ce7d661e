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
from harness.store.file.database import open_store, opened
from harness.store.file.sealing import StoreSealed, forget_keys
from harness.store.runs import find_run, read_card
from harness.vault.folder import read_state
from harness.vault.ledger import request_id
from harness.vault.log import LogLine
from harness.vault.opening import vault_at
from harness.vault.records import GrantAsked, OpenedByGrant, Used
from harness.vault.request import VaultWork
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
from tests.harness.vault.made import readable
from tests.review.verdict.certified import attached, issue, review_of
from tests.tui.commands.command_line import said
from tests.tui.commands.sealed_review import OPENING, careful, newest, run_sealed, speakers
from tests.tui.commands.sealed_review import create as create_sealed
from tests.tui.commands.submission_desk import CANARY, Desk
from tests.tui.commands.submission_desk import readable as in_plain
from tests.tui.commands.vault_office import DESPITE, RUN, Homes, asked, faults, grants, numbered


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> Homes:
    return Homes(tmp_path, monkeypatch)


def test_grant_of_three_keepers_over_a_stick(homes: Homes) -> None:
    """Answers in any order, one of them twice; one keeper refuses; the grant opens once."""
    one = "{stick}/one.rosetta-request"
    told = homes("office", f"open elders greetings --ask {one} --purpose", "second opinion")
    assert "Office asks to open 'greetings' once: 2 development, 4 gold_standard" in told
    assert "2 keepers must allow it" in told
    words = told.partition("its words   ")[2].splitlines()[0]
    homes("office", "export elders {stick}/elders --purpose", "for the keepers")
    shown = homes("library", f"grant show {{stick}}/elders {one}")
    assert words in shown
    assert "No answer yet from Office, School, Library." in shown
    to = "--to {stick}/%s.rosetta-answer"
    refused = homes("library", f"grant answer {{stick}}/elders {one} {to % 'library'} --refuse", "in May")
    assert "The log will have it with your reason" in refused
    for home in ("school", "office"):
        allowed = homes(home, f"grant answer {{stick}}/elders {one} --yes {to % home}")
        assert "it cannot be used again" in allowed
    homes("office", "grant take elders {stick}/library.rosetta-answer")
    few = homes("office", f"open elders --grant {one}")
    assert "Too few keepers allow it. 2 must allow it. Refused by Library: in May." in few
    taken = homes("office", "grant take elders {stick}/school.rosetta-answer {stick}/office.rosetta-answer {stick}/school.rosetta-answer")  # fmt: skip
    assert taken.count("School allows it") == 2
    assert "Allowed by School, Office. Refused by Library: in May." in taken
    assert "made on another computer" in homes("school", f"open {{stick}}/elders --grant {one}")
    assert "greetings: 6 entries opened" in homes("office", f"open elders --grant {one}")
    assert "was used up at" in homes("office", f"open elders --grant {one}")
    [shown] = json.loads(homes("office", "grant show elders --json"))
    assert faults("vault-grants", [shown]) == []
    log = homes("office", "log elders")
    assert f"Office: took in what Library says to {shown['grant'][:8]}: refuses it: in May" in log
    assert f"Office: used up the grant {shown['grant'][:8]} and opened 'greetings'" in log
    assert readable(homes.folder) == []


def test_grant_request_that_is_none_is_named(homes: Homes) -> None:
    homes("office", "show elders")  # the next commands are typed there
    Path("wrong.rosetta-request").write_text("{}", "utf-8")
    for line in (
        "vault open elders --grant",
        "run greetings --vault elders --method copy-source --despite-network made-up --grant",
        "vault grant show elders",
        "vault grant answer elders --to a.rosetta-answer --yes",
        "vault grant answer elders --to a.rosetta-answer --refuse no",
    ):
        for name in ("wrong.rosetta-request", "gone.rosetta-request"):
            failed = said(f"{line} {name}").exception
            assert isinstance(failed, UsageError), line
            assert str(failed).startswith(f"{name}: ")


def test_grant_commands_refuse_wrong_usage(homes: Homes) -> None:
    ask = "run greetings --vault elders --ask a.rosetta-request --method copy-source --purpose x"
    told = homes.types("office", ask)
    assert "then        a run of the method copy-source" in told
    assert "is there already" in homes.types("office", ask)
    gone = ask.replace("a.rosetta-request", "gone/a.rosetta-request")
    assert "no folder gone. Put the stick back" in homes.types("office", gone)
    here = ask.replace("a.rosetta", "b.rosetta") + " --with paper"
    assert "One keeper asks for a grant, or uses it" in homes.types("office", here)
    for line, words in (
        ("run words.tsv --method copy-source", "--ask goes with --vault"),
        ("score --rescore last --vault elders --purpose x", "There is no run"),
        ("run greetings --estimate --vault elders --purpose x --method copy-source", "runs nothing"),
    ):
        assert words in homes.types("office", f"{line} --ask b.rosetta-request"), line
    assert len(homes("office", "log elders").splitlines()) == 3
    opened = homes("office", "open elders --grant a.rosetta-request")
    assert "It was granted a run, and this is to open the texts and check them." in opened
    (homes.folder / "office" / "junk").write_bytes(b"{}")
    for line in ("grant take elders junk", "grant answer elders junk --yes --to x.rosetta-answer"):
        assert "Ask for the file once more" in homes("office", line)
    assert "opens for 2 of its 3 keepers" in homes("office", "open elders greetings --purpose x")
    assert "Leave the rest out" in homes("office", "open elders greetings --grant a.rosetta-request")
    shutil.copy(homes.folder / "school" / "keeper.key", homes.stick)
    allow = "grant answer elders a.rosetta-request --yes --key {stick}/keeper.key --to s"
    assert "Written: s" in homes("office", allow)


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


def test_grant_is_what_the_way_of_a_run_proposes(with_run: Homes) -> None:
    """A purpose alone opens no vault of several keepers."""
    with opened(with_run.folder / "office" / "rosetta.sqlite") as store:
        found = find_run(store, "last")
        create = f"rosetta review create {found.run_id[:8]}"
        proposed = opening_command(store, found, f"{create} --for LAPTOP-FILE")
    asking, _, creating = proposed.partition("; then ")
    words = asking.removeprefix("rosetta ")
    for name, word in (("LAPTOP-FILE", "{stick}/blue.rosetta-laptop"), ("NAME", "{stick}/p"), ("WORDS", "spring")):
        words = words.replace(name, word)
    with_run.types("office", f"{words} {SMALL_REVIEW}")
    assert (with_run.stick / "p.rosetta-request").exists()
    assert creating.startswith(f"{create} --for LAPTOP-FILE --vault ")
    assert creating.endswith(" --grant NAME.rosetta-request")


def test_grant_hands_sentences_to_named_laptops_once(with_run: Homes) -> None:
    granted = asked(with_run, "a", CREATE, *given(with_run, *FOR))
    shown = with_run("school", "grant show {stick}/elders {stick}/a.rosetta-request")
    assert shown.count("the laptop whose six words are") == 1
    for laptops in (FOR_BOTH, FOR_BOTH[2:]):
        assert "granted for other laptops" in create(with_run, granted, *laptops)
    looked = with_run.types("office", f"review adjudicate last {granted}")
    assert "no review" in looked
    other = asked(with_run, "b", "runs sign last")
    assert "granted for seal of run" in create(with_run, other, *FOR)
    assert not [each for each in grants(with_run) if each.used and each.answers]
    said = create(with_run, granted, *FOR)
    assert "opens only on the laptops that are named above" in said, said
    assert "was used up at" in create(with_run, granted, *FOR)
    forget_keys()
    with pytest.raises(StoreSealed):
        texts(with_run)
    assert readable(with_run.folder) == []


def test_grant_use_that_fails_leaves_nothing(with_run: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    granted = asked(with_run, "a", CREATE, *given(with_run, *FOR))

    def full(*_: object) -> None:
        raise UsageError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(publishing, "write_file", full)
        assert "full" in create(with_run, granted, *FOR)
    assert "There is no review" in with_run.types("office", "review status last")
    assert not list(with_run.stick.glob("out/*.rosetta-batch"))
    assert "was used up at" in create(with_run, granted, *FOR)
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
    opened, granted = [*named, *OPENING], [*named, "--vault", "elders", "--grant", "x"]
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
        ([*granted, "--dry-run"], "use the grant up"),
        ([*granted, "--purpose", "y"], "leave --purpose out"),
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
    granted = ("--vault", "elders", "--grant", "x")
    assert "A grant is for one run" in asks(desk, two, *granted, typed="")
    assert log_lines(desk) == before
