"""A grant opens once, for what was asked, where it was asked, and only with enough keepers; all else is said in words."""

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.sealed.sealing import SealError
from harness.vault import folder
from harness.vault.grants.files import open_share, read_answer, read_request
from harness.vault.grants.grants import Grants
from harness.vault.grants.kept import KeptGrants
from harness.vault.grants.using import GrantUse
from harness.vault.grants.words import standing
from harness.vault.sealed_corpus import SealedCorpus
from harness.vault.vault import Vault
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.grants.made import (
    CHURCH,
    LIBRARY,
    OFFICE,
    OTHER_MACHINE,
    RUN,
    SCHOOL,
    acts,
    allowed,
    asked,
    at,
    copied,
    later,
    opening_key,
    ready,
)
from tests.harness.vault.made import readable, refused
from tests.review.thorough import times

GOLD, HELD, OPEN = Segment.GOLD_STANDARD, Segment.HELD_OUT, Segment.DEVELOPMENT


def test_two_who_allow_it_open_once(here: Grants, tmp_path: Path) -> None:
    data, number = asked(here)
    first, second = allowed(here, data, SCHOOL, LIBRARY)
    here.take(first, OFFICE)
    words = r"Too few keepers allow it\. 2 must allow it\. Allowed by School\. No answer yet from Office, Library, Church\."
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


def test_use_for_another_corpus_or_more_entries_uses_nothing_up(here: Grants) -> None:
    data = here.ask("greetings", "a look", 14, OFFICE, [OPEN], RUN)
    for answer in allowed(here, data, SCHOOL, LIBRARY):
        here.take(answer, OFFICE)
    use, lines = GrantUse(here, read_request(data), RUN), here.vault.read().lines
    words = "of development, and these are of gold_standard too"
    refused(words, use.opening, "greetings", OFFICE, (OPEN, GOLD), "", "")
    refused("'greetings', and this is 'songs'", use.opening, "songs", OFFICE, (), "", "")
    assert (here.vault.read().lines, use.together) == (lines, None)
    state, sealed, key = use.opening(use.request.corpus, OFFICE, (OPEN,), "", "why")
    assert (state.lines, len(sealed.opened(key))) == (lines, 2)
    assert use.together == opening_key(here)
    act = here.vault.read().lines[-1].record.act
    assert (act.despite_network, act.entries) == ("why", {OPEN: 2})


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
    words = r"could be used until 2026-02-15T.*, and it is 2026-02-15T"
    refused(words, after.open, number, OFFICE, RUN)
    refused(r"could be used until 2026-02-15T", allowed, after, data, CHURCH)
    after.take(late, OFFICE)  # the log may have it, though it changes nothing
    after.answer(data, OFFICE, allowed=False, reason="too late")
    at(tmp_path, later(20)).vault.export(tmp_path / "safe", "for the safe", OFFICE)
    back = at(tmp_path, later(1))  # a clock that was set back makes no grant young again
    words = r"the log of the vault has a line of 2026-02-21T.* whatever"
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
        before.take(each, OFFICE)
    refused("used up on this computer", before.open, number, OFFICE, RUN)
    _, fresh = asked(before)
    refused("No answer yet from Office, School, Library, Church", before.open, fresh, OFFICE, RUN)
    key, words = before.kept.key(fresh), "sealed for another key"
    for each in answers:
        refuses(SealError, words, open_share, read_answer(each)[1], key, before.machine)


def test_grant_is_used_up_before_log_and_text(
    here: Grants, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    refused("no entry that can be opened so", here.ask, "greetings", "impatient", 14, OFFICE, [HELD])  # fmt: skip
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
    count = times(8, 1000)
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
