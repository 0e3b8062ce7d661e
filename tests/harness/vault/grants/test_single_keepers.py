"""A vault that each keeper opens alone: a run over it needs a grant all the same, of another keeper or of one's own."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Segment
from harness.vault.folder import HEAD, LOG
from harness.vault.grants.files import read_answer, read_request
from harness.vault.grants.grants import Grants, proved
from harness.vault.grants.using import GrantAtOnce, GrantUse
from harness.vault.grants.words import request_lines
from harness.vault.keepers import keeper_of
from harness.vault.ledger import request_id
from harness.vault.log import STEP, read_lines
from harness.vault.opening import VaultOpening
from harness.vault.records import Used
from harness.vault.shares.split import OpeningKey
from harness.vault.vault import Vault
from harness.vault.work import GRANTED, VaultWork
from rosetta_tui.vault.words import logged_acts
from tests.harness.sealed.refusals import refuses
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
    unread,
    with_line,
)
from tests.harness.vault.made import MINE, THEIRS, readable, refused

LOGS = Path(__file__).parents[3] / "data"
NUMBER = "01234567-89ab-cdef-0123-456789abcdef"


@pytest.fixture
def here(made: Vault) -> Grants:
    return Grants(replace(made, clock=later(0)), MACHINE)


def at_once(grants: Grants, show: Callable[[Sequence[str]], object] = len, purpose: str = "the spring run", **more: Any) -> VaultOpening:  # fmt: skip
    fields = {"keeper": MINE, "opener": None} | more
    own = GrantAtOnce(grants, RUN, show)  # type: ignore[arg-type]
    return VaultOpening(grants.vault, fields["keeper"], purpose, VaultWork.RUN, NUMBER, fields["opener"], None, own)  # fmt: skip


# Asked for and answered


def test_grant_of_another_keeper_over_a_stick_opens_once(here: Grants, tmp_path: Path) -> None:
    shutil.copytree(here.vault.folder, tmp_path / "stick")
    stick = Grants(Vault(tmp_path / "stick", tmp_path / "theirs", later(0.1)), OTHER_MACHINE)
    data = here.ask("greetings", "the spring run", 14, MINE, run=RUN)
    request = read_request(data)
    number = request_id(request)
    assert request.split is None
    words = r"Too few keepers allow it\. 1 must allow it\."
    refused(words, here.open, number, MINE, RUN)
    here.take(stick.answer(data, THEIRS, allowed=False, reason="ask me in May"), MINE)
    answer = stick.answer(data, MINE, allowed=True)
    signed, sealed = read_answer(answer)
    assert (signed.allowed, signed.share, sealed) == (True, "", b"")
    for _ in "12":
        here.take(answer, MINE)
    use = GrantUse(here, request, RUN)
    opening = VaultOpening(here.vault, MINE, "", VaultWork.RUN, NUMBER, None, use)
    found = opening.corpus("greetings")
    assert sum(not each.not_stored for each in found.entries) == 6
    assert opening.ages == [MINE.age]
    assert acts(here)[2:] == ["asked", "answered", "answered", "granted"]
    refused("used up at", here.open, number, MINE, RUN)
    assert len(acts(here)) == 6
    assert readable(tmp_path) == []


def test_grant_opens_once_on_a_computer_whichever_copy(here: Grants, tmp_path: Path) -> None:
    data = here.ask("greetings", "the spring run", 14, MINE, run=RUN)
    here.take(here.answer(data, MINE, allowed=True), MINE)
    shutil.copytree(here.vault.folder, tmp_path / "twice")
    twice = Grants(Vault(tmp_path / "twice", tmp_path / "unknowing", here.vault.clock), MACHINE)
    shutil.copytree(here.vault.memory / "grants", twice.vault.memory / "grants")
    number = request_id(read_request(data))
    here.open(number, MINE, RUN)
    kept = here.vault.memory / "grants" / f"{number}.key"
    shutil.copy(kept, twice.vault.memory / "grants")
    refused("used up on this computer", twice.open, number, MINE, RUN)


def test_grant_outlives_a_new_keeper_and_no_sealing_anew(here: Grants) -> None:
    data = here.ask("greetings", "the spring run", 14, MINE, run=RUN)
    here.take(here.answer(data, THEIRS, allowed=True), MINE)
    number = request_id(read_request(data))
    here.vault.enrol(keeper_of(OFFICE, "Church"), "came", MINE)
    here.vault.revoke("School", "left", MINE)
    refused("moved or sealed anew", here.open, number, MINE, RUN)


# Allowed by who opens


def test_keeper_who_is_here_allows_it_in_the_line_of_the_opening(here: Grants) -> None:
    told: list[str] = []
    found = at_once(here, told.extend).corpus("greetings", [Segment.GOLD_STANDARD])
    assert sum(not each.not_stored for each in found.entries) == 4
    state = here.vault.read()
    [line] = state.lines[2:]
    act: Any = line.record.act
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

    refuses(KeyboardInterrupt, "", at_once(here, stop).corpus, "greetings")
    assert lines == [2]
    assert acts(here) == ["founded", "added"]


def test_each_run_has_a_grant_of_its_own_and_an_old_one_is_none(here: Grants) -> None:
    at_once(here).corpus("greetings")
    at_once(here).corpus("greetings")
    first, second = (each.record.act for each in here.vault.read().lines[2:])
    assert first.grant != second.grant
    assert len(here.vault.read().grants) == 2
    unread(here, first, "for another place of the log", MINE)


def forged(here: Grants) -> Used:
    """The line that an honest program would write next."""
    state = here.vault.read()
    [(number, stored)] = state.head.corpora.items()
    entries = {segment: n for segment, n in stored.entries.items() if segment != "held_out"}
    used = Used(corpus=number, entries=entries, purpose="x", work=VaultWork.RUN, run=NUMBER)
    return GrantAtOnce(here, RUN, len).granted(used, state, MINE, None)  # type: ignore[arg-type]


def test_lines_that_cannot_be(here: Grants) -> None:
    honest = forged(here)
    now = ASKED_AT + timedelta(minutes=4)
    assert len(read_lines(with_line(here, honest, MINE, now))) == 3
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
        unread(here, honest.model_copy(update={"grant": grant}), reason, MINE, now)
    for change in ({"purpose": "another"}, {"entries": {Segment.GOLD_STANDARD: 4}}):
        unread(here, honest.model_copy(update=change), "other things than were granted", MINE, now)
    unread(here, honest.model_copy(update={"proof": "ab" * 64}), "not brought together", MINE, now)
    unread(here, honest, "over already", MINE, ASKED_AT + STEP + timedelta(hours=1))


def test_log_with_such_a_grant_has_no_run_without_one(here: Grants) -> None:
    [corpus] = here.vault.read().head.corpora
    acts_of = {work: Used(corpus=corpus, entries={}, purpose="x", work=work) for work in VaultWork}
    for act in acts_of.values():
        assert read_lines(with_line(here, act, MINE))  # as earlier versions wrote it
    at_once(here).corpus("greetings")
    for work, act in acts_of.items():
        if work in GRANTED:
            unread(here, act, "without a grant", MINE)
        else:
            assert read_lines(with_line(here, act, MINE))
    assert {VaultWork.RUN, VaultWork.RETRY, VaultWork.SCRIPT} <= GRANTED


# Where several open together and are here


def test_keepers_at_one_table_prove_that_they_were_there(tmp_path: Path) -> None:
    here = Grants(replace(founded(tmp_path), clock=later(0)), MACHINE)
    key = opening_key(here)
    told: list[str] = []
    at_once(here, told.extend, keeper=OFFICE, opener=key).corpus("greetings")
    assert told[0].startswith("The keepers who are here allow, to open 'greetings' once")
    state = here.vault.read()
    act: Any = state.lines[-1].record.act
    assert len(act.proof) == 128
    again = act.grant.model_copy(update={"place": len(state.lines), "prev": state.head.log_head})
    alone = act.model_copy(update={"grant": again, "proof": ""})
    other = proved(alone, state, OpeningKey.make())
    for forgery in (alone, act.model_copy(update={"grant": again}), other):
        unread(here, forgery, "not brought together", OFFICE, ASKED_AT + timedelta(minutes=4))
    honest = proved(alone, state, key)
    assert read_lines(with_line(here, honest, OFFICE, ASKED_AT + timedelta(minutes=4)))


# What is there already


@pytest.mark.parametrize(
    ("name", "last"), [("single", ["opened", "used", "used"]), ("several", ["granted", "used"])]
)
def test_log_of_before_is_read_byte_by_byte(name: str, last: list[str]) -> None:
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
