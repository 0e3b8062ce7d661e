"""A grant for a sweep: used up once, and what was used goes on for the same plan, computer and keeper until its end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.sweep.expansion import MOST_SETUPS
from harness.vault.grant_log import request_id
from harness.vault.grants.files import read_request, request_lines, write_request
from harness.vault.grants.grants import Grants
from harness.vault.vault import Vault
from harness.vault.vault_records import CopyMade, OpenedByGrant, RunTerms, SetupTerms
from rosetta_tui.vault.messages import logged_acts
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.grants.made import (
    LIBRARY,
    MACHINE,
    OFFICE,
    OTHER_MACHINE,
    RUN,
    SCHOOL,
    StillWaitingError,
    acts,
    allowed,
    asked,
    at,
    awaited,
    founded,
    later,
    ready,
    unread,
)
from tests.harness.vault.made import readable, refused

SETUPS = tuple(SetupTerms(name=name, options=each * 64) for name, each in (("cold", "a"), ("warm", "b")))
SWEEP = RunTerms(method="sweep", options="cd" * 32, scorer="0.1.0", setups=SETUPS, replicates=3, budget_usd=20.0)


@pytest.fixture
def begun(tmp_path: Path) -> tuple[Grants, str]:
    """A sweep whose grant was used up, and its number."""
    founded(tmp_path)
    here = at(tmp_path)
    _, number = ready(here, SWEEP)
    assert len(here.open(number, OFFICE, SWEEP)) == 6
    return here, number


def test_request_says_every_setup_and_what_it_tells(tmp_path: Path) -> None:
    founded(tmp_path)
    here = at(tmp_path)
    data, _ = asked(here, run=SWEEP)
    lines = "\n".join(request_lines(read_request(data), here.vault.read()))
    assert "exactly these 2 set-ups, 3 times each, for $20.00 at most" in lines
    assert "cold (aaaaaaaaaaaaaaaa)" in lines
    assert "warm (bbbbbbbbbbbbbbbb)" in lines
    assert "2 looks at the texts" in lines
    assert "(2 bits at most)" in lines
    assert "the computer keeps the key of these texts until the last run is complete; after 2026-02-15" in lines
    data, _ = asked(here)
    assert "looks" not in "\n".join(request_lines(read_request(data), here.vault.read()))


def test_sweep_goes_on_by_its_grant_until_its_end(begun: tuple[Grants, str], tmp_path: Path) -> None:
    """No share is brought together again, and no keeper asked."""
    here, number = begun
    kept = here.kept.sweep(number)
    assert kept is not None
    assert b"AGE-SECRET-KEY" not in kept
    first = here.opening(number, OFFICE, SWEEP)
    assert (first.together, len(first.sealed.opened(first.key))) == (None, 6)
    assert here.opening(number, OFFICE, SWEEP).sweep == first.sweep
    assert acts(here)[2:] == ["asked", "answered", "answered", "granted", "granted", "granted"]
    words = [each.words for each in logged_acts(here.vault.read()) if each.what == "granted"]
    assert [each.split(" the grant")[0] for each in words] == ["used up", "continued by", "continued by"]
    assert here.vault.read().grants[number].used == here.vault.read().lines[5].record.when
    here.kept.forget_key(number)
    refused("what continues its sweep is not on this computer any more", here.open, number, OFFICE, SWEEP)
    assert list(here.kept.folder.glob(f"{number}*")) == []
    here.kept.keep_sweep(number, kept[:-1])
    refused("or damaged. The same command asks again", here.open, number, OFFICE, SWEEP)
    assert here.kept.sweep(number) is None
    assert readable(tmp_path) == []


def test_sweep_goes_on_for_nobody_and_nothing_else(begun: tuple[Grants, str], tmp_path: Path) -> None:
    here, number = begun
    other = SWEEP.model_copy(update={"options": "ef" * 32})
    refused("other options", here.open, number, OFFICE, other)
    refused("a run", here.open, number, OFFICE, None)
    refused("on another computer", Grants(here.vault, OTHER_MACHINE).open, number, OFFICE, SWEEP)
    refused("could be used until", at(tmp_path, later(15)).open, number, OFFICE, SWEEP)
    request = write_request(here.vault.read().grants[number].request, OFFICE)
    refused("was used up at", here.answer, request, LIBRARY, allowed=True)
    lines = len(here.vault.read().lines)
    here.vault.rotate("greetings", Segment.GOLD_STANDARD, Segment.HELD_OUT, 1, "kept", OFFICE)
    refused("moved or sealed again since", here.open, number, OFFICE, SWEEP)
    assert len(here.vault.read().lines) == lines + 1


def test_line_that_a_sweep_goes_on_holds_for_its_grant_alone(begun: tuple[Grants, str]) -> None:
    """A keeper's own program writes what it likes, and nobody reads it."""
    here, number = begun
    request = here.vault.read().grants[number].request
    act = OpenedByGrant(grant=number, corpus=request.corpus, entries=request.entries, purpose=request.purpose)
    used = "uses a grant that nobody gave, or that is used up"
    unread(here, act, used, by=SCHOOL)
    unread(here, act.model_copy(update={"purpose": "another"}), "other things than were granted")
    unread(here, act.model_copy(update={"entries": {}}), "other things than were granted")
    unread(here, act.model_copy(update={"proof": "0" * 128}), "were not brought together")
    unread(here, act, "a grant that was over", when=later(15)())
    _, single = ready(here)
    here.open(single, OFFICE, RUN)
    unread(here, act.model_copy(update={"grant": single, "purpose": here.vault.read().grants[single].request.purpose}), used)  # fmt: skip
    _, unused = ready(here, SWEEP)
    unread(here, act.model_copy(update={"grant": unused}), "were not brought together")


def test_clock_that_is_set_back_makes_no_grant_longer(begun: tuple[Grants, str], tmp_path: Path) -> None:
    _, number = begun
    late = at(tmp_path, later(15)).vault
    with late.changing(OFFICE) as state:
        late.write(state, CopyMade(purpose="for the safe"), OFFICE)
    back = Grants(Vault(late.folder, late.memory, later(1), clock_was_wrong=True), MACHINE)
    refused("the log of the vault has a line of 2026-02-16", back.open, number, OFFICE, SWEEP)


def test_expired_sweep_leaves_no_key(begun: tuple[Grants, str], tmp_path: Path) -> None:
    _, number = begun
    asked(soon := at(tmp_path, later(13)))
    assert soon.kept.sweep(number) is not None
    asked(late := at(tmp_path, later(15)))
    assert late.kept.sweep(number) is None


def test_same_command_goes_on_and_any_other_asks(tmp_path: Path) -> None:
    founded(tmp_path)
    here, said, work = at(tmp_path), list[str](), ("greetings", OFFICE, (), "spring")
    refuses(StillWaitingError, "", awaited(here, tmp_path, SWEEP).opening, *work)
    [answer] = allowed(here, (tmp_path / "one.rosetta-request").read_bytes(), SCHOOL)
    (tmp_path / "school.rosetta-answer").write_bytes(answer)
    first, again = (replace(awaited(here, tmp_path, SWEEP), tell=said.extend) for _ in "12")
    first.opening(*work)
    again.opening(*work)
    assert (again.sweep, again.together) == (first.sweep, None)
    assert said[-1].startswith("The sweep continues by the grant that was used at")
    lines = len(here.vault.read().lines)
    more = (*SETUPS, SetupTerms(name="hot", options="c" * 64))
    for changed in (
        {"setups": SETUPS[:1]}, {"setups": more}, {"replicates": 4}, {"budget_usd": 21.0}, {"budget_usd": None},
        {"options": "ef" * 32},
    ):  # fmt: skip
        use = awaited(here, tmp_path, SWEEP.model_copy(update=changed))
        refuses(StillWaitingError, "", use.opening, *work)
    for other in (("greetings", OFFICE, (), "autumn"), ("greetings", OFFICE, (Segment.GOLD_STANDARD,), "spring")):
        refuses(StillWaitingError, "", awaited(here, tmp_path, SWEEP).opening, *other)
    assert "granted" not in acts(here)[lines:]


def test_sweep_request_of_most_setups_is_read(tmp_path: Path) -> None:
    """Its file stays below what is read of one, with the longest names there are."""
    founded(tmp_path)
    setups = tuple(SetupTerms(name=f"{n:02}" + "ᓀ" * 78, options="a" * 64) for n in range(MOST_SETUPS))
    data, number = asked(at(tmp_path), run=SWEEP.model_copy(update={"setups": setups}))
    assert request_id(read_request(data)) == number
