"""A vault: any change of it is found, every opening is in its log, and no text is ever in a file."""

import errno
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.core.failures import UsageError
from harness.sealed.forms import FileError
from harness.sealed.keys import Identity, Role
from harness.vault.data_key import DataKey
from harness.vault.folder import LOG, README
from harness.vault.keepers import keeper_of, own_identity
from harness.vault.log import VaultError
from harness.vault.records import Opened
from harness.vault.sealed_corpus import OpenedEntry
from harness.vault.vault import Vault
from tests.harness.vault.made import (
    CANARY,
    KEEPERS,
    MINE,
    RECOVERY,
    START,
    THEIRS,
    corpus,
    files,
    filled,
    readable,
    vault,
)
from tests.review.thorough import times

GOLD, HELD, OPEN = Segment.GOLD_STANDARD, Segment.HELD_OUT, Segment.DEVELOPMENT


def acts(made: Vault) -> list[str]:
    return [line.record.act.what for line in made.read().lines]


def sources(opened: tuple[OpenedEntry, ...]) -> list[str]:
    return sorted(each.source.reveal() for each in opened)


def test_what_is_put_in_comes_out_for_each_keeper(tmp_path: Path) -> None:
    made, given = filled(tmp_path), corpus()
    expected = sorted(each.source for each in given.entries if each.segment is not HELD)
    for identity in (MINE, THEIRS, RECOVERY):
        opened = made.open("greetings", "a look", identity)
        assert sources(opened) == expected
    first = next(each for each in opened if each.source.reveal().endswith(" 0"))
    assert first.reference.reveal() == given.entries[0].reference
    assert json.loads(first.rest.reveal()) == {
        "place": 0,
        "id": given.entries[0].id,
        "variants": list(given.entries[0].variants),
        "notes": given.entries[0].notes,
    }
    assert readable(tmp_path) == []


def test_every_opening_is_in_the_log_before_a_text_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = filled(tmp_path)
    made.open("greetings", "run of the chat method", THEIRS, [GOLD])
    line = made.read().lines[-1].record
    assert line.by == THEIRS.public.signing_key
    assert isinstance(line.act, Opened)
    assert (line.act.purpose, line.act.entries) == ("run of the chat method", {GOLD: 4})

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    # all before this step is done, as on a disk that is full just then
    monkeypatch.setattr("harness.vault.folder.append_line", full)
    with pytest.raises(VaultError, match=r"No space left .* as it was before\. Make room"):
        made.open("greetings", "never written down", MINE)
    monkeypatch.undo()
    assert acts(made) == ["founded", "added", "opened"]


def test_strangers_open_nothing_and_write_nothing(tmp_path: Path) -> None:
    made, stranger = filled(tmp_path), Identity.make(Role.KEEPER)
    for act in (
        lambda: made.open("greetings", "curious", stranger),
        lambda: made.add(corpus(4, "others"), "others", stranger),
        lambda: made.rotate("greetings", GOLD, OPEN, 1, "mischief", stranger),
        lambda: made.export(tmp_path / "copy", "mischief", stranger),
    ):
        with pytest.raises(VaultError, match="not those of a present keeper"):
            act()
    assert acts(made) == ["founded", "added"]
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("name", ["the keepers together", "The  Keepers Together"])
def test_nobody_is_called_like_all_keepers_together(tmp_path: Path, name: str) -> None:
    """Else the log would say that so many signed a line that one wrote alone."""
    made, somebody = filled(tmp_path), keeper_of(Identity.make(Role.KEEPER), name)
    with pytest.raises(VaultError, match="No keeper is called"):
        made.enrol(somebody, "a new one", MINE)
    with pytest.raises(VaultError, match="No keeper is called"):
        Vault(tmp_path / "new", tmp_path / "memory", made.clock).found("V", [somebody], MINE)
    assert not (tmp_path / "new").exists()
    assert acts(made) == ["founded", "added"]


def test_a_named_file_that_holds_no_keys_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear keepers")
    os.mkfifo(tmp_path / "pipe")
    for name, said in (("letter.txt", "damaged"), ("pipe", "a pipe"), ("gone", "no file")):
        with pytest.raises(UsageError, match=said) as refused:
            own_identity(tmp_path, tmp_path / name)
        assert name in str(refused.value)


def test_held_out_is_opened_only_once_it_was_rotated_by_name(tmp_path: Path) -> None:
    made = filled(tmp_path)
    with pytest.raises(VaultError, match="held_out are not opened"):
        made.open("greetings", "impatient", MINE, [HELD])
    before = sources(made.open("greetings", "a look", MINE))
    state = made.rotate("greetings", HELD, GOLD, 1, "the first year is over", MINE)
    [stored] = state.head.corpora.values()
    assert stored.entries == {GOLD: 5, HELD: 1, OPEN: 2}
    [new] = set(sources(made.open("greetings", "a look", MINE))) - set(before)
    assert new in {each.source for each in corpus().entries if each.segment is HELD}
    assert acts(made)[-2:] == ["rotated", "opened"]


@pytest.mark.parametrize(
    ("source", "target", "count", "said"),
    [
        (OPEN, GOLD, 1, "no secret any more"),
        (OPEN, HELD, 1, "no secret any more"),
        (GOLD, GOLD, 1, "cannot go"),
        (GOLD, OPEN, 5, "has 4 entries"),
        (GOLD, OPEN, 0, "0 were asked for"),
    ],
)
def test_rotations_that_make_no_sense_are_refused(
    tmp_path: Path, source: Segment, target: Segment, count: int, said: str
) -> None:
    made = filled(tmp_path)
    with pytest.raises(VaultError, match=said):
        made.rotate("greetings", source, target, count, "why not", MINE)


def test_who_is_revoked_opens_nothing_any_more(tmp_path: Path) -> None:
    made = filled(tmp_path)
    before = files(made.folder)
    texts = sources(made.open("greetings", "a look", MINE))
    made.revoke("School", "moved away", MINE)
    assert sources(made.open("greetings", "a look", RECOVERY)) == texts
    with pytest.raises(VaultError, match="was removed no longer count"):
        made.open("greetings", "still curious", THEIRS)
    [stored] = made.read().head.corpora.values()
    with pytest.raises(FileError, match="sealed for another key"):
        DataKey.opened(made.read().file(stored.key), [THEIRS.age])
    assert len(set(files(made.folder)) - set(before)) == 2  # a key and texts in place of the old
    with pytest.raises(VaultError, match="needs two keepers"):
        made.revoke("Recovery", "why not", MINE)
    with pytest.raises(VaultError, match="no keeper 'School'"):
        made.revoke("School", "again", MINE)
    with pytest.raises(VaultError, match="removes themselves"):
        made.revoke("Office", "tired", MINE)


def test_a_new_keeper_opens_what_was_there_and_what_comes(tmp_path: Path) -> None:
    made, new = filled(tmp_path), Identity.make(Role.KEEPER)
    texts = sources(made.open("greetings", "a look", MINE))
    made.add(corpus(4, "others"), "others", MINE)
    with pytest.raises(VaultError, match="not those of a present keeper"):
        made.enrol(keeper_of(new, "Library"), "let me in", new)
    before = set(files(made.folder))
    made.enrol(keeper_of(new, "Library"), "came in place of the school", THEIRS)
    assert len(set(files(made.folder)) - before) == 2  # keys, and no texts
    assert sources(made.open("greetings", "a look", new)) == texts
    made.revoke("School", "left", new)
    assert len(made.open("others", "a look", new)) == 3
    assert len(made.open("others", "a look", RECOVERY)) == 3
    for other, said in ((keeper_of(new, "Twin"), "same signing key"), (keeper_of(THEIRS, "Office"), "same name")):  # fmt: skip
        with pytest.raises(VaultError, match=said):
            made.enrol(other, "again", MINE)
    made.enrol(keeper_of(THEIRS, "School"), "came back", MINE)
    assert sources(made.open("greetings", "a look", THEIRS)) == texts


def test_a_text_is_in_a_vault_once(tmp_path: Path) -> None:
    made = filled(tmp_path)
    with pytest.raises(VaultError, match="holds a corpus 'greetings' already"):
        made.add(corpus(name="others"), "greetings", MINE)
    with pytest.raises(VaultError, match=r"8 of these entries are in the vault already") as said:
        made.add(corpus(), "again", MINE)
    assert "source" not in str(said.value)
    made.add(corpus(4, "others"), "others", THEIRS)
    assert {each.name for each in made.read().head.corpora.values()} == {"greetings", "others"}


def test_entries_without_a_segment_are_not_taken(tmp_path: Path) -> None:
    made = vault(tmp_path)
    made.found("Words", KEEPERS, MINE)
    given = corpus(1)
    entry = given.entries[0].model_copy(update={"segment": None, "id": "one"})
    with pytest.raises(VaultError, match="1 entries have no segment, the first is one"):
        made.add(type(given)(given.dataset, (entry,), given.sha256, given.form), "words", MINE)


def test_an_older_copy_of_the_whole_folder_is_known(tmp_path: Path) -> None:
    made = filled(tmp_path)
    shutil.copytree(made.folder, tmp_path / "older")
    made.open("greetings", "what is to be forgotten", MINE)
    shutil.rmtree(made.folder)
    shutil.copytree(tmp_path / "older", made.folder)
    with pytest.raises(VaultError, match=r"older copy .* saw 3 lines .* delete (.*\.json)") as said:
        made.read()
    for seen in made.memory.glob("*.json"):
        assert str(seen) in str(said.value)
        seen.unlink()
    assert acts(made) == ["founded", "added"]


def test_another_vault_in_its_place_is_known(tmp_path: Path) -> None:
    made = filled(tmp_path)
    shutil.rmtree(made.folder)
    theirs = Vault(made.folder, tmp_path / "thief", made.clock)
    theirs.found("Words of the elders", KEEPERS, THEIRS)
    with pytest.raises(VaultError, match=r"Another vault lies in .* delete (.*\.json)"):
        made.add(corpus(), "greetings", MINE)
    shutil.rmtree(made.folder)
    made.found("A new one here", KEEPERS, MINE)  # one's own new vault is no surprise
    assert made.read().founded.name == "A new one here"


def test_openings_side_by_side_each_have_their_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.vault.folder.BUSY_SECONDS", 600)
    made = filled(tmp_path)
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(lambda n: made.open("greetings", f"look {n}", MINE), range(8)))
        seen = list(threads.map(lambda _: made.read().head.lines, range(8)))
    assert [len(each) for each in opened] == [6] * 8
    assert seen == [10] * 8
    purposes = {getattr(line.record.act, "purpose", "") for line in made.read().lines[2:]}
    assert purposes == {f"look {n}" for n in range(8)}


def test_memory_of_a_vault_never_goes_back(tmp_path: Path) -> None:
    made = filled(tmp_path)
    before = made.read()
    made.open("greetings", "a look", MINE)
    made.seen.remember(before)  # a reader that was slower than the opening
    [seen] = made.memory.glob("*.json")
    assert json.loads(seen.read_bytes())[0] == 3


def test_what_this_computer_kept_may_be_damaged(tmp_path: Path) -> None:
    made = filled(tmp_path)
    [seen] = made.memory.glob("*.json")
    for content in (b"", b"[]", b'[0,"",""]', b"\xff", b'{"lines":3}'):
        seen.write_bytes(content)
        assert acts(made) == ["founded", "added"]
        assert seen.read_bytes() != content


def test_a_clock_that_is_set_back_is_said_and_noted(tmp_path: Path) -> None:
    made = filled(tmp_path)
    back = Vault(made.folder, made.memory, lambda: START - timedelta(days=30))
    with pytest.raises(VaultError, match=r"2025-12-03T03:04:05Z.*--clock-was-wrong"):
        back.open("greetings", "a look", MINE)
    noted = Vault(made.folder, made.memory, back.clock, clock_was_wrong=True)
    noted.open("greetings", "a look", MINE)
    assert [line.record.clock_set_back for line in made.read().lines] == [False, False, True]


@pytest.mark.parametrize(("minutes", "kept"), [(5, True), (6, False)])
def test_a_clock_that_was_set_right_by_minutes_is_no_matter(
    tmp_path: Path, minutes: int, kept: bool
) -> None:
    made = filled(tmp_path)
    last = made.read().lines[-1].record.when
    back = Vault(made.folder, made.memory, lambda: START + timedelta(minutes=1 - minutes))
    if kept:
        back.open("greetings", "a look", MINE)
        assert made.read().lines[-1].record.when == last
    else:
        with pytest.raises(VaultError, match="Set the clock right"):
            back.open("greetings", "a look", MINE)


def test_a_copy_on_a_stick_opens_and_is_brought_up_to_date(tmp_path: Path) -> None:
    made, stick = filled(tmp_path), tmp_path / "stick"
    made.export(stick, "for the safe", MINE)
    other = Vault(stick, tmp_path / "elsewhere", made.clock)
    assert acts(other) == acts(made) == ["founded", "added", "exported"]
    made.add(corpus(4, "others"), "others", THEIRS)
    made.export(stick, "for the safe", MINE)
    assert files(stick) == files(made.folder)
    assert len(other.open("others", "a look", THEIRS)) == 3
    with pytest.raises(VaultError, match="used since it was copied"):
        made.export(stick, "for the safe", MINE)
    (tmp_path / "full").mkdir(mode=0o755)
    (tmp_path / "full" / "holiday.jpg").write_text("")
    with pytest.raises(VaultError, match=r"holds other things already \(holiday.jpg\)"):
        made.export(tmp_path / "full", "for the safe", MINE)
    with pytest.raises(VaultError, match=r"holds other things already \(holiday.jpg\)"):
        Vault(tmp_path / "full", made.memory, made.clock).found("Words", KEEPERS, MINE)
    assert [each.name for each in (tmp_path / "full").iterdir()] == ["holiday.jpg"]
    assert readable(tmp_path) == []


def test_what_is_no_vault_is_said(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="rosetta vault init"):
        vault(tmp_path).read()
    with pytest.raises(VaultError, match="is no vault"):
        vault(tmp_path).open("greetings", "a look", MINE)
    (tmp_path / "vault").write_text("")
    with pytest.raises(VaultError, match="is no vault"):
        vault(tmp_path).read()
    made = vault(tmp_path / "new")
    made.found("Words", KEEPERS, MINE)
    with pytest.raises(VaultError, match="holds other things already"):
        made.found("Words", KEEPERS, MINE)
    with pytest.raises(VaultError, match="There are: none yet"):
        made.open("greetings", "a look", MINE)


def test_keepers_are_different_people(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="needs two keepers"):
        vault(tmp_path).found("Words", KEEPERS[:1], MINE)
    twice = [KEEPERS[0], KEEPERS[0].model_copy(update={"name": "School"})]
    with pytest.raises(VaultError, match="same signing key"):
        vault(tmp_path).found("Words", twice, MINE)
    assert not (tmp_path / "vault").exists()


def test_a_line_that_was_not_written_to_its_end_does_not_count(tmp_path: Path) -> None:
    made = filled(tmp_path)
    log = (made.folder / LOG).read_bytes()
    made.open("greetings", "a look", MINE)
    torn = (made.folder / LOG).read_bytes()[len(log) :]
    shutil.rmtree(tmp_path)
    made = filled(tmp_path)
    log = (made.folder / LOG).read_bytes()
    for cut in range(1, len(torn) + 1, 97):
        (made.folder / LOG).write_bytes(log + torn[:cut])
        assert made.read().left_over == (LOG,)
    (made.folder / LOG).write_bytes(log + 3 * torn)
    made.open("greetings", "a look", MINE)
    assert made.read().left_over == ()
    assert acts(made) == ["founded", "added", "opened"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_a_process_killed_at_any_step_loses_nothing_and_leaves_nothing_readable(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.harness.vault.killed", tmp_path, str(times(8, 1))],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert (told["lost"], told["readable"]) == ([], [])
    assert set(told["kills"]) == {"init", "add", "open", "rotate", "enrol", "revoke", "export"} | {
        "init together", "enrol together", "revoke anew", "refresh",
    }  # fmt: skip
    assert sum(told["kills"].values()) >= times(18, 200)
    assert min(told["kills"].values()) >= 2


def test_lengths_tell_no_sentence(tmp_path: Path) -> None:
    made = filled(tmp_path)
    [stored] = made.read().head.corpora.values()
    rows = made.read().file(stored.texts).splitlines()[1:]
    assert len(Counter(len(json.loads(row)["source"]) for row in rows)) == 1
    assert CANARY not in (made.folder / README).read_text()


def test_a_log_that_is_cut_short_is_said_with_the_line(tmp_path: Path) -> None:
    made = filled(tmp_path)
    log = made.folder / LOG
    log.write_bytes(log.read_bytes()[:-20])
    with pytest.raises(VaultError, match="line 2: the log is empty, or cut short"):
        made.read()
