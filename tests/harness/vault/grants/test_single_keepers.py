"""A vault that each keeper opens alone: a run over it needs a grant all the same, of another keeper or of one's own."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Segment
from harness.sealed.keys import Identity
from harness.vault.folder import HEAD, LOG
from harness.vault.grants.files import read_answer, read_request
from harness.vault.grants.grants import Grants, proved
from harness.vault.grants.using import GrantAtOnce, GrantUse
from harness.vault.grants.words import request_lines
from harness.vault.ledger import request_id
from harness.vault.log import STEP, VaultError, read_lines, write_line
from harness.vault.opening import VaultOpening
from harness.vault.records import Used
from harness.vault.shares.split import OpeningKey
from harness.vault.vault import Vault
from harness.vault.work import GRANTED, VaultWork
from rosetta_tui.vault.words import logged_acts
from tests.harness.vault.grants.made import (
    ASKED_AT,
    MACHINE,
    OFFICE,
    OTHER_MACHINE,
    RUN,
    acts,
    founded,
    later,
    opening_key,
)
from tests.harness.vault.made import KEEPERS, MINE, THEIRS, filled, readable

LOGS = Path(__file__).parents[3] / "data"
NUMBER = "01234567-89ab-cdef-0123-456789abcdef"
SCHOOL = KEEPERS[1]


@pytest.fixture
def here(tmp_path: Path) -> Grants:
    made = filled(tmp_path)
    return Grants(replace(made, clock=later(0)), MACHINE)


def school(here: Grants, tmp_path: Path) -> Grants:
    """The grants of a copy of the vault, as the school's computer has them."""
    shutil.copytree(here.vault.folder, tmp_path / "stick")
    return Grants(Vault(tmp_path / "stick", tmp_path / "theirs", later(0.1)), OTHER_MACHINE)


def silent(_: Sequence[str]) -> None:
    """Show nothing."""


def at_once(grants: Grants, told: list[str] | None = None) -> VaultOpening:
    own = GrantAtOnce(grants, RUN, silent if told is None else told.extend)
    return VaultOpening(
        grants.vault, MINE, "the spring run", VaultWork.RUN, NUMBER, None, None, own
    )


# Asked for and answered


def test_another_keeper_allows_it_over_a_stick_and_it_opens_once(
    here: Grants, tmp_path: Path
) -> None:
    stick = school(here, tmp_path)
    data = here.ask("greetings", "the spring run", 14, MINE, run=RUN)
    request = read_request(data)
    number = request_id(request)
    assert request.split is None
    with pytest.raises(VaultError, match=r"Too few keepers allow it\. 1 must allow it\."):
        here.open(number, MINE, RUN)
    refused = stick.answer(data, THEIRS, allowed=False, reason="ask me in May")
    here.take(refused, MINE)
    answer = stick.answer(data, MINE, allowed=True)
    signed, sealed = read_answer(answer)
    assert (signed.allowed, signed.share, sealed) == (True, "", b"")
    here.take(answer, MINE)
    here.take(answer, MINE)
    opening = VaultOpening(here.vault, MINE, "", VaultWork.RUN, NUMBER, None, GrantUse(here, request, RUN))  # fmt: skip
    found = opening.corpus("greetings")
    assert sum(not each.not_stored for each in found.entries) == 6
    assert opening.ages == [MINE.age]
    assert acts(here)[2:] == ["asked", "answered", "answered", "granted"]
    with pytest.raises(VaultError, match="used up at"):
        here.open(number, MINE, RUN)
    shutil.copytree(stick.vault.folder, tmp_path / "again")
    assert len(acts(here)) == 6
    assert readable(tmp_path) == []


def test_once_on_a_computer_whichever_copy_of_the_vault(here: Grants, tmp_path: Path) -> None:
    data = here.ask("greetings", "the spring run", 14, MINE, run=RUN)
    here.take(here.answer(data, MINE, allowed=True), MINE)
    shutil.copytree(here.vault.folder, tmp_path / "twice")
    twice = Grants(Vault(tmp_path / "twice", tmp_path / "unknowing", here.vault.clock), MACHINE)
    shutil.copytree(here.vault.memory / "grants", twice.vault.memory / "grants")
    number = request_id(read_request(data))
    here.open(number, MINE, RUN)
    kept = here.vault.memory / "grants" / f"{number}.key"
    shutil.copy(kept, twice.vault.memory / "grants")
    with pytest.raises(VaultError, match="used up on this computer"):
        twice.open(number, MINE, RUN)


def test_an_allowed_grant_outlives_a_new_keeper_and_no_sealing_anew(here: Grants) -> None:
    data = here.ask("greetings", "the spring run", 14, MINE, run=RUN)
    here.take(here.answer(data, THEIRS, allowed=True), MINE)
    other = SCHOOL.model_copy(update={"name": "Church", "signing_key": OFFICE.public.signing_key, "recipient": OFFICE.public.recipient})  # fmt: skip
    here.vault.enrol(other, "came", MINE)
    number = request_id(read_request(data))
    here.vault.revoke("School", "left", MINE)
    with pytest.raises(VaultError, match="moved or sealed anew"):
        here.open(number, MINE, RUN)


# Allowed by who opens


def test_a_keeper_who_is_here_allows_it_in_the_line_of_the_opening(here: Grants) -> None:
    told: list[str] = []
    found = at_once(here, told).corpus("greetings", [Segment.GOLD_STANDARD])
    assert sum(not each.not_stored for each in found.entries) == 4
    state = here.vault.read()
    [line] = state.lines[2:]
    act = line.record.act
    assert isinstance(act, Used)
    assert act.grant is not None
    request, stored = act.grant, state.head.corpora[act.corpus]
    assert (request.name, request.texts) == ("greetings", stored.texts)
    assert request.run == RUN
    assert request.machine == MACHINE.public.signing_key
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


def test_what_is_allowed_is_shown_before_the_log_has_it(here: Grants) -> None:
    lines: list[int] = []

    def stop(_: object) -> None:
        lines.append(len(read_lines((here.vault.folder / LOG).read_bytes())))
        raise KeyboardInterrupt

    own = GrantAtOnce(here, RUN, stop)
    opening = VaultOpening(here.vault, MINE, "x", VaultWork.RUN, NUMBER, None, None, own)
    with pytest.raises(KeyboardInterrupt):
        opening.corpus("greetings")
    assert lines == [2]
    assert acts(here) == ["founded", "added"]


def test_each_run_has_a_grant_of_its_own_and_an_old_one_is_none(here: Grants) -> None:
    at_once(here).corpus("greetings")
    at_once(here).corpus("greetings")
    first, second = here.vault.read().lines[2:]
    assert isinstance(first.record.act, Used)
    assert isinstance(second.record.act, Used)
    assert first.record.act.grant != second.record.act.grant
    assert len(here.vault.read().grants) == 2
    refused(here, first.record.act, "for another place of the log")


def forged(here: Grants) -> Used:
    """The line that an honest program would write next."""
    state = here.vault.read()
    [(number, stored)] = state.head.corpora.items()
    entries = {segment: n for segment, n in stored.entries.items() if segment != "held_out"}
    used = Used(corpus=number, entries=entries, purpose="x", work=VaultWork.RUN, run=NUMBER)
    own = GrantAtOnce(here, RUN, silent)
    return own.granted(used, state, MINE, None)


def refused(here: Grants, act: Used, reason: str, by: Identity = MINE, **more: Any) -> None:
    """Write a line as a keeper's own program may; nobody reads the log then."""
    lines = here.vault.read().lines
    line = write_line(lines, act, by, more.get("when", ASKED_AT + timedelta(minutes=4)))
    with pytest.raises(VaultError, match=reason):
        read_lines((here.vault.folder / LOG).read_bytes() + line.content + b"\n")


def test_lines_that_cannot_be(here: Grants) -> None:
    honest = forged(here)
    line = write_line(here.vault.read().lines, honest, MINE, ASKED_AT + timedelta(minutes=4))
    assert len(read_lines((here.vault.folder / LOG).read_bytes() + line.content + b"\n")) == 3
    request = honest.grant
    assert request is not None
    assert request.run is not None
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
        refused(here, honest.model_copy(update={"grant": grant}), reason)
    for change in ({"purpose": "another"}, {"entries": {Segment.GOLD_STANDARD: 4}}):
        refused(here, honest.model_copy(update=change), "other things than were granted")
    refused(here, honest.model_copy(update={"proof": "ab" * 64}), "not brought together")
    refused(here, honest, "over already", when=ASKED_AT + STEP + timedelta(hours=1))


@pytest.mark.parametrize("work", VaultWork)
def test_once_a_log_has_such_a_grant_no_run_opens_without_one(
    here: Grants, work: VaultWork
) -> None:
    def line() -> bytes:
        state = here.vault.read()
        [corpus] = state.head.corpora
        act = Used(corpus=corpus, entries={}, purpose="x", work=work)
        return write_line(state.lines, act, MINE, ASKED_AT + timedelta(hours=9)).content + b"\n"

    log = here.vault.folder / LOG
    assert read_lines(log.read_bytes() + line())  # as earlier versions wrote it
    at_once(here).corpus("greetings")
    if work in GRANTED:
        with pytest.raises(VaultError, match="without a grant"):
            read_lines(log.read_bytes() + line())
    else:
        assert read_lines(log.read_bytes() + line())
    assert {VaultWork.RUN, VaultWork.RETRY, VaultWork.SCRIPT} <= GRANTED


# Where several open together and are here


def test_keepers_at_one_table_prove_that_they_were_there(tmp_path: Path) -> None:
    made = founded(tmp_path)
    here = Grants(replace(made, clock=later(0)), MACHINE)
    key = opening_key(here)
    told: list[str] = []
    own = GrantAtOnce(here, RUN, told.extend)
    opening = VaultOpening(here.vault, OFFICE, "x", VaultWork.RUN, NUMBER, key, None, own)
    opening.corpus("greetings")
    assert told[0].startswith("The keepers who are here allow, to open 'greetings' once")
    act = here.vault.read().lines[-1].record.act
    assert isinstance(act, Used)
    assert act.grant is not None
    assert len(act.proof) == 128
    state = here.vault.read()
    again = act.grant.model_copy(update={"place": len(state.lines), "prev": state.head.log_head})
    alone = act.model_copy(update={"grant": again, "proof": ""})
    for forgery in (alone, act.model_copy(update={"grant": again}), proved(alone, state, OpeningKey.make())):  # fmt: skip
        refused(here, forgery, "not brought together", OFFICE)
    line = write_line(state.lines, proved(alone, state, key), OFFICE, ASKED_AT + timedelta(minutes=4))  # fmt: skip
    assert read_lines((here.vault.folder / LOG).read_bytes() + line.content + b"\n")


# What is there already


@pytest.mark.parametrize(
    ("name", "last"), [("single", ["opened", "used", "used"]), ("several", ["granted", "used"])]
)
def test_logs_of_before_are_read_byte_by_byte(name: str, last: list[str]) -> None:
    """Written by the version before: runs without a grant, and a grant of several keepers."""
    data = (LOGS / f"vault-log-{name}-keepers.jsonl").read_bytes()
    lines = read_lines(data)
    assert b"".join(line.content + b"\n" for line in lines) == data
    assert [line.record.act.what for line in lines][-len(last) :] == last
    assert all("grant" not in json.loads(line.content)["act"] for line in lines if line.record.act.what == "used")  # fmt: skip


def test_a_head_of_before_is_read(here: Grants) -> None:
    """A vault that never had such a grant is written as before, so earlier versions read it too."""
    assert b"grant" not in (here.vault.folder / LOG).read_bytes()
    assert json.loads((here.vault.folder / HEAD).read_bytes())["format"] == "rosetta-vault/1"
