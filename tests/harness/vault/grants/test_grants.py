"""A grant opens once, for what and where it was asked, with enough keepers; also where each keeper opens alone."""

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Segment
from harness.core.failures import UsageError
from harness.sealed.sealing import SealError
from harness.vault import folder
from harness.vault.folder import HEAD, LOG
from harness.vault.grant_log import request_id
from harness.vault.grants.files import KeptGrants, open_share, read_answer, read_request, request_lines, standing
from harness.vault.grants.grants import Grants, proved
from harness.vault.grants.using import GrantAtOnce
from harness.vault.keepers import keeper_of
from harness.vault.key_shares import OpeningKey
from harness.vault.log import STEP, read_lines
from harness.vault.opening import VaultOpening
from harness.vault.request import GRANTED, VaultWork
from harness.vault.sealed_corpus import SealedCorpus
from harness.vault.vault import Vault
from harness.vault.vault_records import Used
from rosetta_tui.vault.messages import logged_acts
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.grants.made import (
    ASKED_AT,
    CHURCH,
    LIBRARY,
    MACHINE,
    OFFICE,
    OTHER_MACHINE,
    RUN,
    SCHOOL,
    WORK,
    StillWaitingError,
    acts,
    allowed,
    asked,
    at,
    awaited,
    copied,
    founded,
    later,
    opening_key,
    ready,
    unread,
    with_line,
)
from tests.harness.vault.made import MINE, THEIRS, readable, refused
from tests.review.thorough import times

GOLD, HELD, OPEN = Segment.GOLD_STANDARD, Segment.HELD_OUT, Segment.DEVELOPMENT


def test_two_who_allow_it_open_once(here: Grants, tmp_path: Path) -> None:
    data, number = asked(here)
    first, second = allowed(here, data, SCHOOL, LIBRARY)
    here.take(first, OFFICE)
    words = (
        r"Too few keepers allow it\. 2 must allow it\. Allowed by School\. No answer yet from Office, Library, Church\."
    )
    refused(words, here.open, number, OFFICE, RUN)
    here.take(second, CHURCH)
    opened = here.open(number, OFFICE, RUN)
    assert [each.segment for each in opened].count(GOLD) == 4
    assert len(opened) == 6
    assert HELD not in {each.segment for each in opened}
    assert acts(here)[2:] == ["asked", "answered", "answered", "granted"]
    for keeper in (OFFICE, SCHOOL):
        refused(r"was used up at .* it opens once", here.open, number, keeper, RUN)
    assert readable(tmp_path) == []
    kept = [each.name for each in here.kept.folder.iterdir() if each.name.startswith(number)]
    assert kept == [f"{number}.key"]
    assert b"AGE-SECRET-KEY" not in (here.kept.folder / kept[0]).read_bytes()


def test_awaited_grant_is_used_once_by_who_asked_for_it(here: Grants, tmp_path: Path) -> None:
    """Who asks allows it; another keeper's answer comes while it is awaited."""

    def comes(request: Path) -> None:
        [answer] = allowed(here, request.read_bytes(), SCHOOL)
        request.with_name("school.rosetta-answer").write_bytes(answer)

    use = awaited(here, tmp_path, wait=comes)
    state, sealed, key = use.opening(*WORK, "", "why")
    assert (state.lines, len(sealed.opened(key))) == (here.vault.read().lines[:-1], 2)
    assert use.together == opening_key(here)
    act = here.vault.read().lines[-1].record.act
    assert (act.despite_network, act.entries) == ("why", {OPEN: 2})
    assert acts(here)[2:] == ["asked", "answered", "answered", "granted"]
    with pytest.raises(StillWaitingError):
        awaited(here, tmp_path).opening(*WORK)
    assert acts(here)[6:] == ["asked", "answered"], "the school's answer opened once"


def test_awaited_grant_for_anything_else_is_asked_for_anew(here: Grants, tmp_path: Path) -> None:
    with pytest.raises(StillWaitingError):
        awaited(here, tmp_path).allowed(*WORK)
    request = tmp_path / "one.rosetta-request"
    [answer] = allowed(here, request.read_bytes(), SCHOOL)
    (tmp_path / "school.rosetta-answer").write_bytes(answer)
    asks, after = acts(here).count("asked"), at(tmp_path, later(31))
    other_machine = Grants(here.vault, OTHER_MACHINE)
    changed = {
        "run": awaited(here, tmp_path, RUN.model_copy(update={"options": "cd" * 32})),
        "no run": awaited(here, tmp_path, None),
        "machine": awaited(other_machine, tmp_path),
    }
    for name, use in changed.items():
        refuses(StillWaitingError, "", use.allowed, *WORK)
        assert acts(here).count("asked") == (asks := asks + 1), name
    for work in (
        ("greetings", SCHOOL, (OPEN,), "a look"),
        ("greetings", OFFICE, (GOLD,), "a look"),
        ("greetings", OFFICE, (OPEN,), "a run"),
    ):
        with pytest.raises(StillWaitingError):
            awaited(here, tmp_path).allowed(*work)
        assert acts(here).count("asked") == (asks := asks + 1), work
    refused("no corpus 'songs'", awaited(here, tmp_path).allowed, "songs", *WORK[1:])
    with pytest.raises(UsageError, match="no folder"):
        awaited(here, tmp_path / "pulled").allowed(*WORK)
    assert acts(here).count("asked") == asks
    number = awaited(here, tmp_path).allowed(*WORK)
    assert number == request_id(read_request(request.read_bytes()))
    with pytest.raises(StillWaitingError):
        awaited(after, tmp_path).allowed(*WORK)
    assert acts(here).count("asked") == asks + 1, "it was over"


def test_awaited_grant_is_continued_from_any_folder(here: Grants, tmp_path: Path) -> None:
    """As `rosetta council` does: the request and its answers stay on the stick, where they were."""
    stick, elsewhere = tmp_path / "stick", tmp_path / "elsewhere"
    stick.mkdir()
    elsewhere.mkdir()
    waited: list[Path] = []

    def nobody(request: Path) -> None:
        waited.append(request)
        raise StillWaitingError

    for place in (stick, elsewhere):
        with pytest.raises(StillWaitingError):
            awaited(here, place, wait=nobody).allowed(*WORK)
    assert waited == [stick / "one.rosetta-request"] * 2
    assert not any(elsewhere.iterdir())
    [answer] = allowed(here, waited[0].read_bytes(), SCHOOL)
    stick.rename(tmp_path / "pulled")
    with pytest.raises(StillWaitingError):
        awaited(here, elsewhere, wait=nobody).allowed(*WORK)
    assert waited[-1] == elsewhere / "one.rosetta-request"
    (tmp_path / "pulled").rename(stick)
    (stick / "school.rosetta-answer").write_bytes(answer)
    awaited(here, elsewhere).opening(*WORK)
    assert not any(here.kept.folder.glob("*.place"))


def test_answer_is_tried_again_when_the_clock_is_set_right(here: Grants, tmp_path: Path) -> None:
    """It is said once that it does not count; the command need not be typed again."""
    told: list[str] = []
    waits: list[Path] = []
    clock = here.vault.clock

    def wait(request: Path) -> None:
        waits.append(request)
        if len(waits) == 1:
            [answer] = allowed(here, request.read_bytes(), SCHOOL)
            (tmp_path / "school.rosetta-answer").write_bytes(answer)
        wrong = len(waits) < 4
        object.__setattr__(here.vault, "clock", later(-3) if wrong else clock)

    awaited_grant = replace(awaited(here, tmp_path, wait=wait), tell=told.extend)
    assert awaited_grant.allowed(*WORK)
    assert len(waits) == 4
    assert len([line for line in told if "The clock of this computer shows" in line]) == 1
    assert told[-1] == "School allows it"


def test_stick_that_is_pulled_while_answers_are_awaited(here: Grants, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """A mount that is left behind fails at each look."""
    waits: list[Path] = []
    stick, scan = tmp_path / "stick", os.scandir
    stick.mkdir()

    def scandir(folder: Path) -> Any:
        if folder == stick and 0 < len(waits) < 3:
            raise OSError(errno.EIO, "Input/output error")
        return scan(folder)

    def wait(request: Path) -> None:
        waits.append(request)
        if len(waits) == 1:
            (stick / "school.rosetta-answer").write_bytes(*allowed(here, request.read_bytes(), SCHOOL))

    monkeypatch.setattr(os, "scandir", scandir)
    assert awaited(here, stick, wait=wait).allowed(*WORK)
    assert len(waits) == 3


def test_answers_come_in_any_order_and_as_often_as_they_like(whole: Path, tmp_path: Path) -> None:
    orders = list(permutations(range(3)))
    for place, order in enumerate(orders[:: times(5, 1)]):
        shutil.copytree(whole / "vault", tmp_path / str(place) / "vault")
        grants = at(tmp_path / str(place))
        data, number = asked(grants)
        no = grants.answer(data, CHURCH, allowed=False, reason="not in the holidays")
        answers = [*allowed(grants, data, SCHOOL, LIBRARY), no]
        for each in (*order, *order):
            grants.take(answers[each], OFFICE)
        state = grants.vault.read()
        assert len(state.lines) == 3 + 3
        assert "Refused by Church: not in the holidays." in standing(state, state.grants[number])
        assert len(grants.open(number, OFFICE, RUN)) == 6
        assert grants.take(answers[0], OFFICE)[0].used  # after its use it changes nothing
        assert len(grants.vault.read().lines) == 7


def test_keeper_who_refuses_takes_back_what_they_allowed(here: Grants) -> None:
    data, number = asked(here)
    yes, more = allowed(here, data, SCHOOL, LIBRARY)
    no = here.answer(data, SCHOOL, allowed=False, reason="asked the elders once more")
    for each in (yes, more, no):
        here.take(each, OFFICE)
    words = r"Allowed by Library. Refused by School: asked the elders"
    refused(words, here.open, number, OFFICE, RUN)
    for late in (yes, *allowed(here, data, SCHOOL)):
        refused(r"School refused this request already, at .* ask again", here.take, late, OFFICE)
    [again] = allowed(here, data, LIBRARY)
    refused(r"Library allowed this request already.* first one stays", here.take, again, OFFICE)
    assert acts(here)[2:] == ["asked", "answered", "answered", "answered"]
    data, number = asked(here)
    for identity in (OFFICE, SCHOOL, LIBRARY):
        here.take(here.answer(data, identity, allowed=False, reason="no"), OFFICE)
    refused("So it can no longer be allowed", here.open, number, OFFICE, RUN)


def test_run_or_check_that_was_not_granted_uses_nothing_up(here: Grants) -> None:
    _, number = ready(here)
    for change, said in (
        ({"method": "chat"}, "for the method 'copy-source', and this is the method 'chat'"),
        ({"options": "cd" * 32}, "with other options, files, metrics or entries"),
        ({"scorer": "0.2.0"}, r"for Rosetta 0\.1\.0, and this is 0\.2\.0"),
    ):
        run = RUN.model_copy(update=change)
        refused(f"{said}.* Nothing was used up", here.open, number, OFFICE, run)
    refused("granted a run, and this is to open the texts and check", here.open, number, OFFICE)
    assert len(here.open(number, OFFICE, RUN)) == 6
    _, number = ready(here, run=None)
    words = "granted to open the texts and check them, and this is a"
    refused(words, here.open, number, OFFICE, RUN)
    assert len(here.open(number, OFFICE)) == 6
    _, number = ready(here)
    here.vault.rotate("greetings", HELD, GOLD, 1, "the year is over", SCHOOL)
    words = r"The texts of 'greetings' in .* are not those of the request"
    refused(words, here.open, number, OFFICE, RUN)


def test_grant_on_another_computer_uses_nothing_up(here: Grants) -> None:
    data, number = ready(here)
    other = replace(here, machine=OTHER_MACHINE)
    [answer] = allowed(here, data, CHURCH)
    words = "made on another computer, or with another data fold"
    refused(words, other.open, number, OFFICE, RUN)
    refused(words, other.take, answer, OFFICE)
    vault = Vault(here.vault.folder, here.vault.memory / "new", here.vault.clock)
    elsewhere = Grants(vault, here.machine)
    refused("key of this request is not on this computer", elsewhere.open, number, OFFICE, RUN)
    assert len(here.open(number, OFFICE, RUN)) == 6


def test_old_grant_opens_nothing_whatever_the_clock_shows(here: Grants, tmp_path: Path) -> None:
    data, number = ready(here)
    [late] = allowed(here, data, CHURCH)
    refused("Set the clock right", at(tmp_path, later(-3)).open, number, OFFICE, RUN)
    after = at(tmp_path, later(14.01))
    words = r"could be used until 2026-02-15 00:00 UTC, and it is 2026-02-15 00:14 now"
    refused(words, after.open, number, OFFICE, RUN)
    refused(r"could be used until 2026-02-15 ", allowed, after, data, CHURCH)
    after.take(late, OFFICE)  # the log may have it, though it changes nothing
    after.answer(data, OFFICE, allowed=False, reason="too late")
    at(tmp_path, later(20)).vault.export(tmp_path / "safe", "for the safe", OFFICE)
    back = at(tmp_path, later(1))  # a clock that was set back makes no grant young again
    words = r"the log of the vault has a line of 2026-02-21 00:00, whatever"
    refused(words, back.open, number, OFFICE, RUN)
    wrong = Vault(back.vault.folder, back.vault.memory, later(1), clock_was_wrong=True)
    words = "whatever the clock shows now"
    refused(words, Grants(wrong, here.machine).open, number, OFFICE, RUN)


def test_keys_for_a_grant_that_is_over_are_destroyed(here: Grants, tmp_path: Path) -> None:
    _, number = ready(here)
    young = asked(here, days=90)[1]
    after = at(tmp_path, later(20))
    asked(after)
    assert list(here.kept.folder.glob(f"{number}*"))  # its log has no time behind the end yet
    asked(after)
    assert not list(here.kept.folder.glob(f"{number}*"))
    assert here.kept.key(young)


def test_vault_in_two_places_of_one_computer_opens_once(here: Grants, tmp_path: Path) -> None:
    _, number = ready(here)
    other = copied(here, tmp_path / "twice")
    assert len(here.open(number, OFFICE, RUN)) == 6
    refused("older copy of the vault", other.open, number, OFFICE, RUN)
    for seen in here.vault.memory.glob("*.json"):
        seen.unlink()  # as the words of that refusal say how
    words = r"used up on this computer at .* this copy of the vault does"
    refused(words, other.open, number, OFFICE, RUN)


def test_kept_copy_of_an_answer_opens_nothing_again(here: Grants, tmp_path: Path) -> None:
    """Not with the vault, its log and the answers put back as they were, once the key is destroyed."""
    data, number = asked(here)
    answers = allowed(here, data, SCHOOL, LIBRARY)
    before = copied(here, tmp_path / "before")
    for each in answers:
        here.take(each, OFFICE)
    here.open(number, OFFICE, RUN)
    for seen in here.vault.memory.glob("*.json"):
        seen.unlink()
    for each in answers:
        refused("used up on this computer", before.take, each, OFFICE)
    _, fresh = asked(before)
    refused("No answer yet from Office, School, Library, Church", before.open, fresh, OFFICE, RUN)
    key, words = before.kept.key(fresh), "sealed for another key"
    for each in answers:
        refuses(SealError, words, open_share, read_answer(each)[1], key, before.machine)


def test_grant_is_used_up_before_text(here: Grants, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def noting(step: str, real: Callable[..., object]) -> Callable[..., object]:
        def noted(*given: object, **named: object) -> object:
            steps.append(step)
            return real(*given, **named)

        return noted

    _, number = ready(here)
    # all before this step is done, as on a disk that is full just then
    monkeypatch.setattr("harness.vault.folder.append_line", full)
    refused("No space left", here.open, number, OFFICE, RUN)
    monkeypatch.undo()
    steps: list[str] = []
    for where, name in ((KeptGrants, "use_up"), (folder, "write_line"), (SealedCorpus, "opened")):
        monkeypatch.setattr(where, name, noting(name, getattr(where, name)))
    assert len(here.open(number, OFFICE, RUN)) == 6
    assert steps == ["use_up", "write_line", "opened"]


def test_what_cannot_be_asked_for(here: Grants) -> None:
    refused("no entry that can be opened so", here.ask, "greetings", "impatient", 14, OFFICE, [HELD])
    for days in (0, 91):
        refused("open for 1 to 90 days", here.ask, "greetings", "a look", days, OFFICE)
    refused("no corpus 'others'", here.ask, "others", "a look", 14, OFFICE)
    assert acts(here) == ["founded", "added"]
    assert not list(here.vault.memory.rglob("*.key"))


def test_answers_gone_from_this_computer_are_taken_again(here: Grants) -> None:
    data, number = asked(here)
    answers = allowed(here, data, SCHOOL, LIBRARY)
    for each in answers:
        here.take(each, OFFICE)
    here.kept.forget_shares(number)
    words = "answers of School, Library are in the log, but their files"
    refused(words, here.open, number, OFFICE, RUN)
    here.take(answers[0], OFFICE)
    refused("answers? of Library .* in the log, but", here.open, number, OFFICE, RUN)
    here.take(answers[1], OFFICE)
    assert len(here.open(number, OFFICE, RUN)) == 6


@pytest.mark.costly("plays stories in which processes are killed")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_never_twice_and_never_with_too_few(tmp_path: Path) -> None:
    """Whatever the order in which answers are taken in, a grant is used and processes are killed."""
    count = times(6, 1000)
    done = subprocess.run(
        [sys.executable, "-m", "tests.harness.vault.grants.orders", tmp_path, str(count), "0"],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[4],
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["stories"] == count
    assert told["once"] >= count // 6
    assert told["never"] >= count // 6
    bad = ("oftener", "too few", "twice in the logs", "readable", "wrong")
    assert {name: told[name] for name in bad} == dict.fromkeys(bad, 0)


LOGS = Path(__file__).parents[3] / "data"
NUMBER = "01234567-89ab-cdef-0123-456789abcdef"


@pytest.fixture
def alone(made: Vault) -> Grants:
    return Grants(replace(made, clock=later(0)), MACHINE)


def at_once(grants: Grants, show: Callable[[Sequence[str]], object] = len, purpose: str = "the spring run", **more: Any) -> VaultOpening:  # fmt: skip
    fields = {"keeper": MINE, "opener": None} | more
    own = GrantAtOnce(grants, RUN, show)  # type: ignore[arg-type]
    return VaultOpening(grants.vault, fields["keeper"], purpose, VaultWork.RUN, NUMBER, fields["opener"], None, own)


def test_grant_of_another_keeper_over_a_stick_opens_once(alone: Grants, tmp_path: Path) -> None:
    shutil.copytree(alone.vault.folder, tmp_path / "stick")
    stick = Grants(Vault(tmp_path / "stick", tmp_path / "theirs", later(0.1)), OTHER_MACHINE)
    data = alone.ask("greetings", "the spring run", 14, MINE, run=RUN)
    request = read_request(data)
    number = request_id(request)
    assert request.split is None
    words = r"Too few keepers allow it\. 1 must allow it\."
    refused(words, alone.open, number, MINE, RUN)
    alone.take(stick.answer(data, THEIRS, allowed=False, reason="ask me in May"), MINE)
    answer = stick.answer(data, MINE, allowed=True)
    signed, sealed = read_answer(answer)
    assert (signed.allowed, signed.share, sealed) == (True, "", b"")
    for _ in "12":
        alone.take(answer, MINE)
    use = awaited(alone, tmp_path)
    opening = VaultOpening(alone.vault, MINE, "the spring run", VaultWork.RUN, NUMBER, None, use)
    found = opening.corpus("greetings")
    assert sum(not each.not_stored for each in found.entries) == 6
    assert opening.ages == [MINE.age]
    assert acts(alone)[2:] == ["asked", "answered", "answered", "granted"]
    refused("used up at", alone.open, number, MINE, RUN)
    assert len(acts(alone)) == 6
    assert readable(tmp_path) == []


def test_grant_outlives_a_new_keeper_and_no_sealing_anew(alone: Grants) -> None:
    data = alone.ask("greetings", "the spring run", 14, MINE, run=RUN)
    alone.take(alone.answer(data, THEIRS, allowed=True), MINE)
    number = request_id(read_request(data))
    alone.vault.enrol(keeper_of(OFFICE, "Church"), "came", MINE)
    alone.vault.revoke("School", "left", MINE)
    refused("moved or sealed again", alone.open, number, MINE, RUN)


def test_keeper_who_is_here_allows_it_in_the_line_of_the_opening(alone: Grants) -> None:
    told: list[str] = []
    found = at_once(alone, told.extend).corpus("greetings", [Segment.GOLD_STANDARD])
    assert sum(not each.not_stored for each in found.entries) == 4
    state = alone.vault.read()
    [line] = state.lines[2:]
    act: Any = line.record.act
    request, stored = act.grant, state.head.corpora[act.corpus]
    assert (request.name, request.texts) == ("greetings", stored.texts)
    assert (request.run, request.machine) == (RUN, MACHINE.public.signing_key)
    assert (request.by, request.purpose) == (line.record.by, "the spring run")
    assert (request.place, request.prev) == (2, state.lines[1].id)
    assert line.record.when <= request.expires
    [grant] = state.grants.values()
    assert (grant.id, grant.used) == (request_id(request), line.record.when)
    assert told[0] == "You allow, as a keeper, to open 'greetings' once: 4 gold_standard"
    assert "the method copy-source (abababababababab), scored by Rosetta 0.1.0" in told[3]
    said = logged_acts(state)[-1].words
    assert said == f"opened 'greetings' for the run 01234567 (copy-source, allowed once, as {grant.id[:8]}): 4 gold_standard"  # fmt: skip
    assert "with the key" in " ".join(request_lines(request, state, compared=False))


def test_what_is_allowed_is_shown_before_the_log_has_it(alone: Grants) -> None:
    lines: list[int] = []

    def stop(_: object) -> None:
        lines.append(len(read_lines((alone.vault.folder / LOG).read_bytes())))
        raise KeyboardInterrupt

    refuses(KeyboardInterrupt, "", at_once(alone, stop).corpus, "greetings")
    assert lines == [2]
    assert acts(alone) == ["founded", "added"]


def test_each_run_has_a_grant_of_its_own_and_an_old_one_is_none(alone: Grants) -> None:
    at_once(alone).corpus("greetings")
    at_once(alone).corpus("greetings")
    first, second = (each.record.act for each in alone.vault.read().lines[2:])
    assert first.grant != second.grant
    assert len(alone.vault.read().grants) == 2
    unread(alone, first, "for another place of the log", MINE)


def forged(alone: Grants) -> Used:
    """The line that an honest program would write next."""
    state = alone.vault.read()
    [(number, stored)] = state.head.corpora.items()
    entries = {segment: n for segment, n in stored.entries.items() if segment != "held_out"}
    used = Used(corpus=number, entries=entries, purpose="x", work=VaultWork.RUN, run=NUMBER)
    return GrantAtOnce(alone, RUN, len).granted(used, state, MINE, None)  # type: ignore[arg-type]


def test_lines_that_cannot_be(alone: Grants) -> None:
    honest = forged(alone)
    now = ASKED_AT + timedelta(minutes=4)
    assert len(read_lines(with_line(alone, honest, MINE, now))) == 3
    request = honest.grant
    other = NUMBER.replace("0", "f")
    grants: dict[str, dict[str, Any]] = {
        "in another's name": {"by": THEIRS.public.signing_key},
        "for texts that are not there": {"texts": "0" * 64},
        "for shares that nobody has": {"split": 7},
        "opens other things than were granted": {"run": None},
        "opens another run than was granted": {"run": request.run.model_copy(update={"run": other})},
        "for what is over already": {"expires": "2026-01-31T00:00:00Z"},
    }  # fmt: skip
    for reason, change in grants.items():
        grant = request.model_copy(update=change)
        unread(alone, honest.model_copy(update={"grant": grant}), reason, MINE, now)
    for change in ({"purpose": "another"}, {"entries": {Segment.GOLD_STANDARD: 4}}):
        unread(alone, honest.model_copy(update=change), "other things than were granted", MINE, now)
    unread(alone, honest.model_copy(update={"proof": "ab" * 64}), "not brought together", MINE, now)
    unread(alone, honest, "over already", MINE, ASKED_AT + STEP + timedelta(hours=1))


def test_log_with_such_a_grant_has_no_run_without_one(alone: Grants) -> None:
    [corpus] = alone.vault.read().head.corpora
    acts_of = {work: Used(corpus=corpus, entries={}, purpose="x", work=work) for work in VaultWork}
    for act in acts_of.values():
        assert read_lines(with_line(alone, act, MINE))  # as earlier versions wrote it
    at_once(alone).corpus("greetings")
    for work, act in acts_of.items():
        if work in GRANTED:
            unread(alone, act, "without a grant", MINE)
        else:
            assert read_lines(with_line(alone, act, MINE))
    assert {VaultWork.RUN, VaultWork.RETRY, VaultWork.SCRIPT} <= GRANTED


def test_keepers_at_one_table_prove_that_they_were_there(tmp_path: Path) -> None:
    alone = Grants(replace(founded(tmp_path), clock=later(0)), MACHINE)
    key = opening_key(alone)
    told: list[str] = []
    at_once(alone, told.extend, keeper=OFFICE, opener=key).corpus("greetings")
    assert told[0].startswith("The keepers who are here allow, to open 'greetings' once")
    state = alone.vault.read()
    act: Any = state.lines[-1].record.act
    assert len(act.proof) == 128
    again = act.grant.model_copy(update={"place": len(state.lines), "prev": state.head.log_head})
    unproved = act.model_copy(update={"grant": again, "proof": ""})
    other = proved(unproved, state, OpeningKey.make())
    for forgery in (unproved, act.model_copy(update={"grant": again}), other):
        unread(alone, forgery, "not brought together", OFFICE, ASKED_AT + timedelta(minutes=4))
    honest = proved(unproved, state, key)
    assert read_lines(with_line(alone, honest, OFFICE, ASKED_AT + timedelta(minutes=4)))


def test_log_and_head_of_before_are_read_byte_by_byte(alone: Grants) -> None:
    """Written by the version before: runs without a grant, and a grant of several keepers."""
    for name, last in (("single", ["opened", "used", "used"]), ("several", ["granted", "used"])):
        data = (LOGS / f"vault-log-{name}-keepers.jsonl").read_bytes()
        lines = read_lines(data)
        assert b"".join(line.content + b"\n" for line in lines) == data
        assert [line.record.act.what for line in lines][-len(last) :] == last
        acts = [json.loads(line.content)["act"] for line in lines]
        assert all("grant" not in each for each in acts if each["what"] == "used")
    # a vault that never had such a grant is written as before, so earlier versions read it too
    assert b"grant" not in (alone.vault.folder / LOG).read_bytes()
    assert json.loads((alone.vault.folder / HEAD).read_bytes())["format"] == "rosetta-vault/1"
