"""A grant opens once, for what was asked, where it was asked, and only with enough keepers; all else is said in words."""

import errno
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.sealed.sealing import SealError
from harness.vault import folder
from harness.vault.grants.files import (
    open_share,
    read_answer,
    read_request,
)
from harness.vault.grants.grants import Grants
from harness.vault.grants.kept import KeptGrants
from harness.vault.grants.using import GrantUse
from harness.vault.grants.words import standing
from harness.vault.log import VaultError
from harness.vault.records import OpenedByGrant
from harness.vault.sealed_corpus import SealedCorpus
from harness.vault.vault import Vault
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
from tests.harness.vault.made import readable
from tests.review.thorough import times

GOLD, HELD = Segment.GOLD_STANDARD, Segment.HELD_OUT


def test_two_who_allow_it_open_once(here: Grants, tmp_path: Path) -> None:
    data, number = asked(here)
    first, second = allowed(here, data, SCHOOL, LIBRARY)
    here.take(first, OFFICE)
    with pytest.raises(VaultError, match=r"Too few keepers allow it\. 2 must allow it\. Allowed by School\. No answer yet from Office, Library, Church\."):  # fmt: skip
        here.open(number, OFFICE, RUN)
    here.take(second, CHURCH)
    opened = here.open(number, OFFICE, RUN)
    assert [each.segment for each in opened].count(GOLD) == 4
    assert len(opened) == 6
    assert HELD not in {each.segment for each in opened}
    assert acts(here)[2:] == ["asked", "answered", "answered", "granted"]
    for again in (lambda: here.open(number, OFFICE, RUN), lambda: here.open(number, SCHOOL, RUN)):
        with pytest.raises(VaultError, match=r"was used up at .* it opens once"):
            again()
    assert readable(tmp_path) == []
    kept = [each.name for each in here.kept.folder.iterdir() if each.name.startswith(number)]
    assert kept == [f"{number}.key"]
    assert b"AGE-SECRET-KEY" not in (here.kept.folder / kept[0]).read_bytes()


def test_a_use_for_another_corpus_or_more_entries_uses_nothing_up(here: Grants) -> None:
    data = here.ask("greetings", "a look", 14, OFFICE, [Segment.DEVELOPMENT], RUN)
    for answer in allowed(here, data, SCHOOL, LIBRARY):
        here.take(answer, OFFICE)
    use, lines = GrantUse(here, read_request(data), RUN), here.vault.read().lines
    for name, segments, words in (
        ("songs", (), "the corpus 'greetings', and this is 'songs'"),
        ("greetings", (Segment.DEVELOPMENT, GOLD), "of development, and these are of gold_standard too"),
    ):  # fmt: skip
        with pytest.raises(VaultError, match=words):
            use.opening(name, OFFICE, segments, "", "")
    assert (here.vault.read().lines, use.together) == (lines, None)
    state, sealed, key = use.opening(use.request.corpus, OFFICE, (Segment.DEVELOPMENT,), "", "why")
    assert (state.lines, len(sealed.opened(key))) == (lines, 2)
    assert use.together == opening_key(here)
    assert here.vault.read().lines[-1].record.act.despite_network == "why"


def test_answers_come_in_any_order_and_as_often_as_they_like(whole: Path, tmp_path: Path) -> None:
    orders = list(permutations(range(3)))
    for place, order in enumerate(orders[:: times(4, 1)]):
        shutil.copytree(whole / "vault", tmp_path / str(place) / "vault")
        grants = at(tmp_path / str(place))
        data, number = asked(grants)
        answers = [
            *allowed(grants, data, SCHOOL, LIBRARY),
            grants.answer(data, CHURCH, allowed=False, reason="not in the holidays"),
        ]
        for _ in range(2):
            for each in order:
                grants.take(answers[each], OFFICE)
        state = grants.vault.read()
        assert len(state.lines) == 3 + 3
        assert "Refused by Church: not in the holidays." in standing(state, state.grants[number])
        assert len(grants.open(number, OFFICE, RUN)) == 6
        assert grants.take(answers[0], OFFICE)[0].used  # after its use it changes nothing
        assert len(grants.vault.read().lines) == 7


def test_a_keeper_who_refuses_takes_back_what_they_allowed(here: Grants) -> None:
    data, number = asked(here)
    yes, more = allowed(here, data, SCHOOL, LIBRARY)
    no = here.answer(data, SCHOOL, allowed=False, reason="asked the elders once more")
    here.take(yes, OFFICE)
    here.take(more, OFFICE)
    here.take(no, OFFICE)
    with pytest.raises(
        VaultError, match=r"Allowed by Library. Refused by School: asked the elders"
    ):
        here.open(number, OFFICE, RUN)
    for late in (yes, *allowed(here, data, SCHOOL)):
        with pytest.raises(
            VaultError, match=r"School refused this request already, at .* ask again"
        ):
            here.take(late, OFFICE)
    [again] = allowed(here, data, LIBRARY)
    with pytest.raises(VaultError, match=r"Library allowed this request already.* first one stays"):
        here.take(again, OFFICE)
    assert acts(here)[2:] == ["asked", "answered", "answered", "answered"]


def test_too_many_refusals_are_the_end_of_it(here: Grants) -> None:
    data, number = asked(here)
    for identity in (OFFICE, SCHOOL, LIBRARY):
        here.take(here.answer(data, identity, allowed=False, reason="no"), OFFICE)
    with pytest.raises(VaultError, match="So it can no longer be allowed"):
        here.open(number, OFFICE, RUN)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"method": "chat"}, "for the method 'copy-source', and this is the method 'chat'"),
        ({"options": "cd" * 32}, "with other options, files, metrics or entries"),
        ({"scorer": "0.2.0"}, r"for Rosetta 0\.1\.0, and this is 0\.2\.0"),
    ],
)
def test_another_run_than_was_granted(here: Grants, change: dict[str, str], said: str) -> None:
    _, number = ready(here)
    with pytest.raises(VaultError, match=f"{said}.* Nothing was used up"):
        here.open(number, OFFICE, RUN.model_copy(update=change))
    with pytest.raises(VaultError, match="granted a run, and this is to open the texts and check"):
        here.open(number, OFFICE)
    assert len(here.open(number, OFFICE, RUN)) == 6


def test_a_grant_to_check_the_texts_is_none_for_a_run(here: Grants) -> None:
    data, number = asked(here, run=None)
    for answer in allowed(here, data, SCHOOL, LIBRARY):
        here.take(answer, OFFICE)
    with pytest.raises(VaultError, match="granted to open the texts and check them, and this is a"):
        here.open(number, OFFICE, RUN)
    assert len(here.open(number, OFFICE)) == 6


def test_texts_that_changed_since_are_not_opened(here: Grants) -> None:
    _, number = ready(here)
    here.vault.rotate("greetings", HELD, GOLD, 1, "the year is over", SCHOOL)
    with pytest.raises(
        VaultError, match=r"The texts of 'greetings' in .* are not those of the request"
    ):
        here.open(number, OFFICE, RUN)


def test_another_computer(here: Grants) -> None:
    data, number = ready(here)
    other = replace(here, machine=OTHER_MACHINE)
    [answer] = allowed(here, data, CHURCH)
    for act in (lambda: other.open(number, OFFICE, RUN), lambda: other.take(answer, OFFICE)):
        with pytest.raises(VaultError, match="made on another computer, or with another data fold"):
            act()
    elsewhere = Grants(Vault(here.vault.folder, here.vault.memory / "new", here.vault.clock), here.machine)  # fmt: skip
    with pytest.raises(VaultError, match="key of this request is not on this computer"):
        elsewhere.open(number, OFFICE, RUN)
    assert len(here.open(number, OFFICE, RUN)) == 6


def test_an_old_grant(here: Grants, tmp_path: Path) -> None:
    data, number = ready(here)
    [late] = allowed(here, data, CHURCH)
    after = at(tmp_path, later(14.01))
    with pytest.raises(
        VaultError, match=r"could be used until 2026-02-15T.*, and it is 2026-02-15T"
    ):
        after.open(number, OFFICE, RUN)
    with pytest.raises(VaultError, match=r"could be used until 2026-02-15T"):
        allowed(after, data, CHURCH)
    after.take(late, OFFICE)  # the log may have it, though it changes nothing
    after.answer(data, OFFICE, allowed=False, reason="too late")


def test_a_clock_that_was_set_back_makes_no_grant_young_again(here: Grants, tmp_path: Path) -> None:
    _, number = ready(here)
    at(tmp_path, later(20)).vault.export(tmp_path / "safe", "for the safe", OFFICE)
    back = at(tmp_path, later(1))
    with pytest.raises(
        VaultError, match=r"the log of the vault has a line of 2026-02-21T.* whatever"
    ):
        back.open(number, OFFICE, RUN)
    wrong = Vault(back.vault.folder, back.vault.memory, later(1), clock_was_wrong=True)
    with pytest.raises(VaultError, match="whatever the clock shows now"):
        Grants(wrong, here.machine).open(number, OFFICE, RUN)


def test_what_was_kept_for_a_grant_that_is_over_is_destroyed(here: Grants, tmp_path: Path) -> None:
    _, number = ready(here)
    young = asked(here, days=90)[1]
    after = at(tmp_path, later(20))
    asked(after)
    assert list(here.kept.folder.glob(f"{number}*"))  # its log has no time behind the end yet
    asked(after)
    assert not list(here.kept.folder.glob(f"{number}*"))
    assert here.kept.key(young)


def test_a_clock_before_the_last_line_uses_nothing_up(here: Grants, tmp_path: Path) -> None:
    _, number = ready(here)
    back = at(tmp_path, later(-3))
    with pytest.raises(VaultError, match="Set the clock right"):
        back.open(number, OFFICE, RUN)
    assert len(here.open(number, OFFICE, RUN)) == 6


def test_a_vault_in_two_places_of_one_computer_opens_once(here: Grants, tmp_path: Path) -> None:
    _, number = ready(here)
    other = copied(here, tmp_path / "twice")
    assert len(here.open(number, OFFICE, RUN)) == 6
    with pytest.raises(VaultError, match="older copy of the vault"):
        other.open(number, OFFICE, RUN)
    for seen in here.vault.memory.glob("*.json"):
        seen.unlink()  # as the words of that refusal say how
    with pytest.raises(
        VaultError, match=r"used up on this computer at .* this copy of the vault does"
    ):
        other.open(number, OFFICE, RUN)


def test_a_kept_copy_of_an_answer_opens_nothing_again(here: Grants, tmp_path: Path) -> None:
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
    with pytest.raises(VaultError, match="used up on this computer"):
        before.open(number, OFFICE, RUN)
    _, fresh = asked(before)
    with pytest.raises(VaultError, match="No answer yet from Office, School, Library, Church"):
        before.open(fresh, OFFICE, RUN)
    for each in answers:
        with pytest.raises(SealError, match="sealed for another key"):
            open_share(read_answer(each)[1], before.kept.key(fresh), before.machine)


def test_a_log_that_cannot_be_written_uses_nothing_up(
    here: Grants, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, number = ready(here)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    # all before this step is done, as on a disk that is full just then
    monkeypatch.setattr("harness.vault.folder.append_line", full)
    with pytest.raises(VaultError, match="No space left"):
        here.open(number, OFFICE, RUN)
    monkeypatch.undo()
    assert len(here.open(number, OFFICE, RUN)) == 6


def test_it_is_used_up_before_the_log_and_the_log_before_a_text(
    here: Grants, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, number = ready(here)
    steps: list[str] = []
    for where, name, step in (
        (KeptGrants, "use_up", "used up"),
        (folder, "write_line", "log"),
        (SealedCorpus, "opened", "opened"),
    ):
        monkeypatch.setattr(where, name, _noting(steps, step, getattr(where, name)))
    here.open(number, OFFICE, RUN)
    assert steps == ["used up", "log", "opened"]


def _noting(steps: list[str], step: str, real: Callable[..., object]) -> Callable[..., object]:
    def noted(*given: object, **named: object) -> object:
        steps.append(step)
        return real(*given, **named)

    return noted


def test_what_cannot_be_asked_for(here: Grants) -> None:
    with pytest.raises(VaultError, match="no entry that can be opened so"):
        here.ask("greetings", "impatient", 14, OFFICE, [HELD])
    for days in (0, 91):
        with pytest.raises(VaultError, match="open for 1 to 90 days"):
            here.ask("greetings", "a look", days, OFFICE)
    with pytest.raises(VaultError, match="no corpus 'others'"):
        here.ask("others", "a look", 14, OFFICE)
    assert acts(here) == ["founded", "added"]
    assert not list(here.vault.memory.rglob("*.key"))


def test_one_segment_alone(here: Grants) -> None:
    data = here.ask("greetings", "a look", 14, OFFICE, [Segment.DEVELOPMENT])
    for answer in allowed(here, data, SCHOOL, LIBRARY):
        grant, _ = here.take(answer, OFFICE)
    opened = here.open(grant.id, OFFICE)
    assert {each.segment for each in opened} == {Segment.DEVELOPMENT}
    act = here.vault.read().lines[-1].record.act
    assert isinstance(act, OpenedByGrant)
    assert act.entries == {Segment.DEVELOPMENT: 2}


def test_answers_that_are_gone_from_this_computer(here: Grants) -> None:
    data, number = asked(here)
    answers = allowed(here, data, SCHOOL, LIBRARY)
    for each in answers:
        here.take(each, OFFICE)
    here.kept.forget_shares(number)
    with pytest.raises(
        VaultError, match="answers of School, Library are in the log, but their files"
    ):
        here.open(number, OFFICE, RUN)
    for each in answers:
        here.take(each, OFFICE)
    assert len(here.open(number, OFFICE, RUN)) == 6
