"""A vault: any change of it is found, each opening logged, no text in a file, and a full disk leaves it as it was."""

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Segment
from harness.core.failures import UsageError
from harness.core.storage import write_file
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault import keepers
from harness.vault.data_key import DataKey
from harness.vault.folder import LOG, README, VaultState, read_state
from harness.vault.keepers import LOCK, VaultsSeen, keeper_of, own_identity
from harness.vault.log import VaultError
from harness.vault.sealed_corpus import OpenedEntry
from harness.vault.vault import Vault
from harness.vault.vault_records import Opened
from tests.desktop.trouble.causes import mounted, pulled
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.killed import ACTS, OF_SEVERAL, left
from tests.harness.vault.made import (
    CANARY,
    KEEPERS,
    MINE,
    RECOVERY,
    START,
    THEIRS,
    corpus,
    files,
    readable,
    refused,
    ticking,
    vault,
)
from tests.review.thorough import first, times

GOLD, HELD, OPEN = Segment.GOLD_STANDARD, Segment.HELD_OUT, Segment.DEVELOPMENT
STRANGER = Identity.make(Role.KEEPER)


def acts(made: Vault) -> list[str]:
    return [line.record.act.what for line in made.read().lines]


def sources(opened: tuple[OpenedEntry, ...]) -> list[str]:
    return sorted(each.source.reveal() for each in opened)


def test_what_is_put_in_comes_out_for_each_keeper(made: Vault) -> None:
    given = corpus()
    expected = sorted(each.source for each in given.reveal_here() if each.segment is not HELD)
    for identity in (MINE, THEIRS, RECOVERY):
        opened = made.open("greetings", "a look", identity)
        assert sources(opened) == expected
    first = next(each for each in opened if each.source.reveal().endswith(" 0"))
    entry = given.reveal_here()[0]
    assert first.reference.reveal() == entry.reference
    rest = {"place": 0, "id": entry.id, "variants": list(entry.variants), "notes": entry.notes}
    assert json.loads(first.rest.reveal()) == rest
    assert readable(made.folder.parent) == []
    [stored] = made.read().head.corpora.values()
    rows = made.read().file(stored.texts).splitlines()[1:]
    assert len(Counter(len(json.loads(row)["source"]) for row in rows)) == 1  # lengths tell nothing
    assert CANARY not in (made.folder / README).read_text()


def test_opening_is_logged_before_a_text_opens(made: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    made.open("greetings", "run of the chat method", THEIRS, [GOLD])
    line = made.read().lines[-1].record
    assert line.by == THEIRS.public.signing_key
    assert isinstance(line.act, Opened)
    assert (line.act.purpose, line.act.entries) == ("run of the chat method", {GOLD: 4})

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    # all before this step is done, as on a disk that is full just then
    monkeypatch.setattr("harness.vault.folder.append_line", full)
    refused(r"No space left .* as it was before\. Make room", made.open, "greetings", "never", MINE)
    monkeypatch.undo()
    assert acts(made) == ["founded", "added", "opened"]


def test_strangers_open_nothing_and_write_nothing(made: Vault, tmp_path: Path) -> None:
    for act, given in (
        (made.open, ("greetings", "curious")),
        (made.add, (corpus(4, "others"), "others")),
        (made.rotate, ("greetings", GOLD, OPEN, 1, "mischief")),
        (made.export, (tmp_path / "copy", "mischief")),
    ):
        refused("not those of a present keeper", act, *given, STRANGER)
    assert acts(made) == ["founded", "added"]
    assert not (tmp_path / "copy").exists()


def test_nobody_is_called_like_all_keepers_together(made: Vault) -> None:
    """Else the log would say that so many signed a line that one wrote alone."""
    new, words = made.folder.with_name("new"), "No keeper is called"
    for name in ("the keepers together", "The  Keepers Together"):
        somebody = keeper_of(STRANGER, name)
        refused(words, made.enrol, somebody, "a new one", MINE)
        refused(words, Vault(new, made.memory, made.clock).found, "V", [somebody], MINE)
    assert not new.exists()
    assert acts(made) == ["founded", "added"]


def test_named_file_that_holds_no_keys_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear keepers")
    os.mkfifo(tmp_path / "pipe")
    for name, said in (("letter.txt", "damaged"), ("pipe", "a pipe"), ("gone", "does not exist")):
        assert name in str(refuses(UsageError, said, own_identity, tmp_path, tmp_path / name))


def test_held_out_is_opened_once_it_was_rotated_by_name(made: Vault) -> None:
    for *asked, said in (
        (OPEN, GOLD, 1, "no secret any more"), (OPEN, HELD, 1, "no secret any more"),
        (GOLD, GOLD, 1, "cannot go"), (GOLD, OPEN, 5, "has 4 entries"), (GOLD, OPEN, 0, "0 were asked"),
    ):  # fmt: skip
        refused(said, made.rotate, "greetings", *asked, "why not", MINE)
    refused("held_out are not opened", made.open, "greetings", "impatient", MINE, [HELD])
    before = sources(made.open("greetings", "a look", MINE))
    state = made.rotate("greetings", HELD, GOLD, 1, "the first year is over", MINE)
    [stored] = state.head.corpora.values()
    assert stored.entries == {GOLD: 5, HELD: 1, OPEN: 2}
    [new] = set(sources(made.open("greetings", "a look", MINE))) - set(before)
    assert new in {each.source for each in corpus().reveal_here() if each.segment is HELD}
    assert acts(made)[-2:] == ["rotated", "opened"]


def test_who_is_revoked_opens_nothing_any_more(made: Vault) -> None:
    before = files(made.folder)
    texts = sources(made.open("greetings", "a look", MINE))
    made.revoke("School", "moved away", MINE)
    assert sources(made.open("greetings", "a look", RECOVERY)) == texts
    refused("was removed no longer count", made.open, "greetings", "still curious", THEIRS)
    [stored] = made.read().head.corpora.values()
    key = made.read().file(stored.key)
    refuses(FileError, "sealed for another key", DataKey.opened, key, [THEIRS.age])
    assert len(set(files(made.folder)) - set(before)) == 2  # a key and texts in place of the old
    refused("needs two keepers", made.revoke, "Recovery", "why not", MINE)
    refused("no keeper 'School'", made.revoke, "School", "why not", MINE)
    refused("removes themselves", made.revoke, "Office", "why not", MINE)


def test_withdrawn_corpus_is_opened_by_no_keeper(made: Vault) -> None:
    number = next(iter(made.read().head.corpora))
    made.change_consent(number, "the council", "it was told in anger", THEIRS, withdrawn=True)
    lines = acts(made)
    for who in (MINE, THEIRS, RECOVERY):
        words = "Consent for 'greetings' was withdrawn by the council on .*told in anger.*no keeper"
        for name in ("greetings", number):
            refused(words, made.open, name, "a look", who)
    refused("only the keeper who withdrew", made.change_consent, number, "x", "y", MINE, withdrawn=False)
    refused("was so already", made.change_consent, number, "x", "y", MINE, withdrawn=True)
    assert acts(made) == lines
    made.change_consent(number, "the council", "given again", THEIRS, withdrawn=False)
    assert made.open("greetings", "a look", MINE)


def test_new_keeper_opens_what_was_there_and_what_comes(made: Vault) -> None:
    new = Identity.make(Role.KEEPER)
    texts = sources(made.open("greetings", "a look", MINE))
    made.add(corpus(4, "others"), "others", MINE)
    card = keeper_of(new, "Library")
    refused("not those of a present keeper", made.enrol, card, "let me in", new)
    before = set(files(made.folder))
    made.enrol(card, "came in place of the school", THEIRS)
    assert len(set(files(made.folder)) - before) == 2  # keys, and no texts
    assert sources(made.open("greetings", "a look", new)) == texts
    made.revoke("School", "left", new)
    assert len(made.open("others", "a look", new)) == 3
    assert len(made.open("others", "a look", RECOVERY)) == 3
    refused("same signing key", made.enrol, keeper_of(new, "Twin"), "again", MINE)
    refused("same name", made.enrol, keeper_of(THEIRS, "Office"), "again", MINE)
    made.enrol(keeper_of(THEIRS, "School"), "came back", MINE)
    assert sources(made.open("greetings", "a look", THEIRS)) == texts


def test_text_is_in_a_vault_once_and_in_a_segment(made: Vault) -> None:
    refused("holds a corpus 'greetings' already", made.add, corpus(name="x"), "greetings", MINE)
    said = refuses(VaultError, r"8 of these entries are in the vault already", made.add, corpus(), "again", MINE)
    assert "source" not in str(said)
    given = corpus(1)
    entry = given.reveal_here()[0].model_copy(update={"segment": None, "id": "one"})
    lacking = type(given)(given.dataset, (entry,), given.sha256, given.form)
    refused("1 entries have no segment, the first is one", made.add, lacking, "words", MINE)
    made.add(corpus(4, "others"), "others", THEIRS)
    assert {each.name for each in made.read().head.corpora.values()} == {"greetings", "others"}


def test_older_copy_of_the_whole_folder_is_known(made: Vault, tmp_path: Path) -> None:
    before = made.read()
    shutil.copytree(made.folder, tmp_path / "older")
    made.open("greetings", "what is to be forgotten", MINE)
    made.seen.remember(before)  # a reader that was slower than the opening: it never goes back
    [seen] = made.memory.glob("*.json")
    assert json.loads(seen.read_bytes())[0] == 3
    shutil.rmtree(made.folder)
    shutil.copytree(tmp_path / "older", made.folder)
    error = refuses(VaultError, r"older copy .* saw 3 lines .* delete (.*\.json)", made.read)
    assert str(seen) in str(error)
    seen.unlink()
    assert acts(made) == ["founded", "added"]
    for content in (b"", b"[]", b'[0,"",""]', b"\xff", b'{"lines":3}'):  # what it kept is damaged
        seen.write_bytes(content)
        assert acts(made) == ["founded", "added"]
        assert seen.read_bytes() != content


def test_another_vault_in_its_place_is_known(made: Vault, tmp_path: Path) -> None:
    shutil.rmtree(made.folder)
    theirs = Vault(made.folder, tmp_path / "thief", made.clock)
    theirs.found("Words of the elders", KEEPERS, THEIRS)
    refused(r"Another vault is in .* delete (.*\.json)", made.add, corpus(), "greetings", MINE)
    shutil.rmtree(made.folder)
    made.found("A new one here", KEEPERS, MINE)  # one's own new vault is no surprise
    assert made.read().founded.name == "A new one here"


def test_openings_side_by_side_have_a_line_each(made: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.vault.folder.BUSY_SECONDS", 600)
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(lambda n: made.open("greetings", f"look {n}", MINE), range(4)))
        seen = list(threads.map(lambda _: made.read().head.lines, range(4)))
    assert [len(each) for each in opened] == [6] * 4
    assert seen == [6] * 4
    purposes = {getattr(line.record.act, "purpose", "") for line in made.read().lines[2:]}
    assert purposes == {f"look {n}" for n in range(4)}


def test_clock_that_is_set_back_is_said_and_noted(made: Vault) -> None:
    back = Vault(made.folder, made.memory, lambda: START - timedelta(days=30))
    refused(r"2025-12-03T03:04:05Z.*--clock-was-wrong", back.open, "greetings", "a look", MINE)
    last = made.read().lines[-1].record.when

    def at(minutes: int) -> Vault:
        return Vault(made.folder, made.memory, lambda: START + timedelta(minutes=minutes))

    refused("Set the clock right", at(-5).open, "greetings", "a look", MINE)
    at(-4).open("greetings", "a look", MINE)  # five before the last line are no matter
    assert made.read().lines[-1].record.when == last
    noted = Vault(made.folder, made.memory, back.clock, clock_was_wrong=True)
    noted.open("greetings", "a look", MINE)
    assert [line.record.clock_set_back for line in made.read().lines] == [False, False, False, True]


def test_copy_on_a_stick_opens_and_is_brought_up_to_date(made: Vault, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    made.export(stick, "for the safe", MINE)
    other = Vault(stick, tmp_path / "elsewhere", made.clock)
    assert acts(other) == acts(made) == ["founded", "added", "exported"]
    made.add(corpus(4, "others"), "others", THEIRS)
    made.export(stick, "for the safe", MINE)
    assert files(stick) == files(made.folder)
    assert len(other.open("others", "a look", THEIRS)) == 3
    refused("used since it was copied", made.export, stick, "for the safe", MINE)
    full = tmp_path / "full"
    full.mkdir(mode=0o755)
    (full / "holiday.jpg").write_text("")
    words, new = r"holds other things already \(holiday.jpg\)", Vault(full, made.memory, made.clock)
    refused(words, made.export, full, "for the safe", MINE)
    refused(words, new.found, "Words", KEEPERS, MINE)
    assert [each.name for each in full.iterdir()] == ["holiday.jpg"]
    assert readable(tmp_path) == []


def test_what_is_no_vault_is_said_and_keepers_differ(tmp_path: Path) -> None:
    made = vault(tmp_path)
    refused("rosetta vault init", made.read)
    refused("is no vault", made.open, "greetings", "a look", MINE)
    made.folder.write_text("")
    refused("is no vault", made.read)
    made = vault(tmp_path / "new")
    refused("needs two keepers", made.found, "Words", KEEPERS[:1], MINE)
    twice = [KEEPERS[0], KEEPERS[0].model_copy(update={"name": "School"})]
    refused("same signing key", made.found, "Words", twice, MINE)
    assert not made.folder.exists()
    made.found("Words", KEEPERS, MINE)
    refused("holds other things already", made.found, "Words", KEEPERS, MINE)
    refused("There are: none yet", made.open, "greetings", "a look", MINE)


def test_line_that_was_not_written_to_its_end_does_not_count(made: Vault, single: Path) -> None:
    log = (made.folder / LOG).read_bytes()
    made.open("greetings", "a look", MINE)
    torn = (made.folder / LOG).read_bytes()[len(log) :]
    shutil.rmtree(made.folder.parent)
    shutil.copytree(single, made.folder.parent)
    for cut in range(1, len(torn) + 1, 97):
        (made.folder / LOG).write_bytes(log + torn[:cut])
        assert made.read().left_over == (LOG,)
    (made.folder / LOG).write_bytes(log + 3 * torn)
    made.open("greetings", "a look", MINE)
    assert made.read().left_over == ()
    assert acts(made) == ["founded", "added", "opened"]
    (made.folder / LOG).write_bytes(log[:-20])
    refused("line 2: the log is empty, or cut short", made.read)


@pytest.mark.costly("kills a process at places on the disk in each of eleven acts")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_process_killed_at_any_step_loses_and_shows_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.harness.vault.killed", tmp_path, str(times(48, 1))],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert (told["lost"], told["readable"]) == ([], [])
    assert set(told["kills"]) == set(ACTS)
    assert sum(told["kills"].values()) >= times(11, 200)
    assert min(told["kills"].values()) >= times(1, 2)


CHANGES = ["add", "rotate", "revoke together", "refresh", "open", "enrol", "revoke", "enrol together"]


def refusal(made: Vault, name: str) -> str | None:
    """Return the words with which a change is refused; None where it was done."""
    try:
        ACTS[name](made)
    except UsageError as error:
        return str(error)
    return None


def content(made: Vault) -> dict[str, bytes]:
    """Return the files that a change must leave alone; of the log only what its signed head covers counts."""
    return {name: (made.folder / name).read_bytes() for name in files(made.folder) if name != LOG}


@pytest.mark.parametrize("name", first(4, CHANGES))
def test_write_that_fails_leaves_the_vault_as_it_was(
    tmp_path: Path, single: Path, whole: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shutil.copytree(whole if name in OF_SEVERAL else single, tmp_path, dirs_exist_ok=True)
    made = vault(tmp_path, START + timedelta(minutes=2))
    before, lines = content(made), made.read().head.lines
    real, left_writes = os.fsync, [0]

    def fails(handle: int) -> None:
        a_file = stat.S_ISREG(os.fstat(handle).st_mode)
        left_writes[0] -= a_file
        if a_file and left_writes[0] == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", fails)
    refused = 0
    for write in count(1):
        left_writes[0] = write
        if (said := refusal(made, name)) is None:
            break
        refused += 1
        assert "No space left on device" in said
        assert "as it was before. Make room, and try again" in said
        assert read_state(made.folder).head.lines == lines
        assert {each: data for each, data in content(made).items() if each in before} == before
    assert refused >= 2
    state = made.read()
    assert (state.head.lines, state.left_over) == (lines + 1, ())
    assert readable(tmp_path) == []


def test_read_only_disk_is_not_full(made: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: int) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "fsync", fails)
    said = refusal(made, "rotate") or ""
    assert "could not be changed: Read-only file system. It is as it was before. Allow it" in said
    assert "room" not in said


def test_remains_of_a_change_go_first(made: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else two changes would have to find room at once, and on a full stick none ever would."""
    left_over = made.folder / ("0" * 64)
    left_over.write_bytes(b"sealed")
    assert made.read().left_over == (left_over.name,)
    real, there = os.fsync, []

    def noted(handle: int) -> None:
        there.append(left_over.exists())
        real(handle)

    monkeypatch.setattr(os, "fsync", noted)
    assert refusal(made, "rotate") is None
    assert there
    assert not any(there)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of its own that has little room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted(folder, 256)
    yield folder
    pulled(folder)


def test_full_disk_leaves_the_vault_as_it_was(tmp_path: Path, single: Path, small_disk: Path) -> None:
    shutil.copytree(single / "vault", small_disk / "vault")
    made = Vault(small_disk / "vault", tmp_path / "memory", ticking(START + timedelta(minutes=2)))
    lines, ballast = made.read().head.lines, small_disk / "ballast"
    refused = 0
    for room in range(0, 64 * 1024, 4096):
        ballast.unlink(missing_ok=True)
        free = shutil.disk_usage(small_disk).free
        ballast.write_bytes(bytes(max(0, free - room)))
        if (said := refusal(made, "rotate")) is None:
            break
        refused += 1
        assert "as it was before. Make room, and try again" in said
        assert read_state(made.folder).head.lines == lines
    ballast.unlink()
    assert refused
    assert made.read().head.lines == lines + 1
    assert left(made, founded=True) == 8
    assert readable(small_disk) == []


# What a computer saw of a vault, written by two programs at once: it never goes back, and nobody is told a falsehood


def remembered(made: Vault) -> int:
    """Return how many lines this computer saw."""
    [kept] = made.memory.glob("*.json")
    return int(json.loads(kept.read_bytes())[0])


def test_less_seen_stays_out(made: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program tries in the very moment between the look and the write of the first."""
    elsewhere = Vault(made.folder, tmp_path / "elsewhere", ticking(START + timedelta(hours=1)))
    elsewhere.open("greetings", "first", MINE)
    less, tried = read_state(made.folder), []
    elsewhere.open("greetings", "second", MINE)

    def meanwhile(*given: Any, **more: Any) -> None:
        other, words = VaultsSeen(made.memory), "Another program of this computer is writing"
        tried.append(refused(words, other.remember, read_state(made.folder)))
        write_file(*given, **more)

    with monkeypatch.context() as patched:
        patched.setattr(keepers, "BUSY_SECONDS", 0)
        patched.setattr(keepers, "write_file", meanwhile)
        made.seen.remember(less)
    assert (len(tried), remembered(made)) == (1, 3)
    VaultsSeen(made.memory).remember(read_state(made.folder))
    assert remembered(made) == 4
    made.seen.remember(less)
    assert remembered(made) == 4


def test_vault_that_grew_is_no_older_copy(made: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    compare, times = VaultsSeen.compare, []

    def grown(self: VaultsSeen, state: VaultState) -> None:
        times.append(state.head.lines)
        if len(times) == 1:
            monkeypatch.setattr(VaultsSeen, "compare", compare)
            made.open("greetings", "meanwhile", MINE)
        compare(self, state)

    monkeypatch.setattr(VaultsSeen, "compare", grown)
    assert made.read().head.lines == 3
    assert times == [2]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root writes anywhere")
def test_data_folder_that_takes_nothing_is_said(made: Vault) -> None:
    (made.memory / LOCK).unlink()
    made.memory.chmod(0o500)
    try:
        said = refuses(VaultError, "", made.seen.forget, made.folder)
    finally:
        made.memory.chmod(0o700)
    assert said.problem is FileProblem.INVALID


@pytest.mark.parametrize("openings", [1, 2])
def test_copy_used_elsewhere_is_known(made: Vault, tmp_path: Path, openings: int) -> None:
    """By its length alone, a copy whose log has other lines would pass for the newest one."""
    shutil.copytree(made.folder, tmp_path / "copy")
    made.open("greetings", "at home", MINE)
    later = ticking(START + timedelta(hours=1))
    elsewhere = Vault(tmp_path / "copy", tmp_path / "elsewhere", later)
    for number in range(openings):
        elsewhere.open("greetings", f"elsewhere {number}", MINE)
    shutil.rmtree(made.folder)
    shutil.copytree(tmp_path / "copy", made.folder)
    refused("used elsewhere meanwhile", made.read)
    assert remembered(made) == 3
