"""Attacks on a vault by who can write into its folder, and by a keeper who cheats and signs what they do."""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Segment
from harness.sealed.archive import signed_record
from harness.sealed.keys import Identity, Role
from harness.vault import vault_records
from harness.vault.data_key import DataKey
from harness.vault.folder import HEAD, LOCK, LOG, README, VaultState, change, read_state
from harness.vault.keepers import keeper_of
from harness.vault.log import LogLine, read_lines, write_line
from harness.vault.sealed_corpus import SealedCorpus
from harness.vault.vault import Vault
from tests.harness.vault.made import (
    KEEPERS,
    MINE,
    OFFICE,
    START,
    THEIRS,
    corpus,
    files,
    filled,
    founded,
    key_of,
    refused,
    ticking,
)
from tests.review.thorough import times

GOLD, HELD = Segment.GOLD_STANDARD, Segment.HELD_OUT
STRANGER = Identity.make(Role.KEEPER)
LATER = START.replace(year=2027)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of two corpora, never changed by a test."""
    folder = tmp_path_factory.mktemp("whole")
    made = filled(folder)
    made.add(corpus(4, "others"), "others", MINE)
    return made.folder


@pytest.fixture
def made(tmp_path: Path, whole: Path) -> Vault:
    shutil.copytree(whole, tmp_path / "vault")
    return Vault(tmp_path / "vault", tmp_path / "memory", lambda: LATER)


@pytest.fixture
def here(made: Vault) -> Path:
    return made.folder


def named(state: VaultState, name: str) -> tuple[str, vault_records.StoredCorpus]:
    return next((n, each) for n, each in state.head.corpora.items() if each.name == name)


def signed_head(folder: Path, corpora: Mapping[str, vault_records.StoredCorpus]) -> None:
    """Write the head anew with keys of a keeper, and no line into the log."""
    head = read_state(folder).head.model_copy(update={"corpora": dict(corpora)})
    (folder / HEAD).write_bytes(signed_record(head, MINE))


def test_corpus_that_a_keeper_rolls_back_or_takes_out_is_found(made: Vault, here: Path) -> None:
    before, words = read_state(here).head.corpora, "other things than the log says"
    kept = {each.texts: read_state(here).file(each.texts) for each in before.values()}
    number, stored = named(read_state(here), "greetings")
    head = (here / HEAD).read_bytes()
    signed_head(here, {number: stored})
    refused(words, read_state, here)
    (here / HEAD).write_bytes(head)
    made.rotate("greetings", HELD, GOLD, 1, "time", MINE)
    for name, content in kept.items():
        (here / name).write_bytes(content)
    signed_head(here, before)
    refused(rf"vault\.json: it holds {words}", made.read)


def others(state: VaultState) -> dict[str, vault_records.StoredCorpus]:
    """What the vault holds, with the files of one corpus under the other."""
    (one, first), (two, second) = (named(state, name) for name in ("greetings", "others"))
    swapped = {"key": second.key, "texts": second.texts}
    return {one: first.model_copy(update=swapped), two: second}


NUMBERS: dict[str, Callable[[str], vault_records.Act]] = {
    "added": lambda _: vault_records.Added(corpus="f" * 16, name="more", entries={GOLD: 1}),
    "opened": lambda number: vault_records.Opened(corpus=number, entries={GOLD: 1}, purpose="a look"),
    "exported": lambda _: vault_records.CopyMade(purpose="safe"),
    "rotated": lambda number: vault_records.Rotated(corpus=number, source=HELD, target=GOLD, entries=("0" * 16,), purpose="x"),
    "enrolled": lambda _: vault_records.Enrolled(keeper=keeper_of(STRANGER, "Library"), purpose="x"),
    "revoked": lambda _: vault_records.Revoked(keeper=THEIRS.public.signing_key, purpose="x"),
}  # fmt: skip


def unread(folder: Path, act: vault_records.Act, **more: Any) -> None:
    """Write a line as a keeper's own program may; nobody reads the log then."""
    line = write_line(read_state(folder).lines, act, MINE, LATER, **more)
    log = (folder / LOG).read_bytes() + line.content + b"\n"
    refused("changes other things in the vault than it says", read_lines, log)


@pytest.mark.parametrize("kind", NUMBERS)
def test_line_that_does_or_leaves_out_other_things_is_refused(here: Path, kind: str) -> None:
    state = read_state(here)
    number, stored = named(state, "greetings")
    unread(here, NUMBERS[kind](number), stored=others(state))
    if kind not in {"opened", "exported"}:
        unread(here, NUMBERS[kind](number))
    if kind == "opened":
        unread(here, NUMBERS[kind]("0" * 16))
    if kind == "added":  # a second time
        again = vault_records.Added(corpus=number, name=stored.name, entries=stored.entries)
        unread(here, again, stored={number: stored})


def test_texts_of_another_corpus_or_too_many_do_not_open(made: Vault, here: Path) -> None:
    """As well as a keeper who moves both entries out of held_out, and writes of one."""
    state = read_state(here)
    number, stored = named(state, "greetings")
    _, other = named(state, "others")
    sealed = SealedCorpus.read(state.file(stored.texts), number, stored)
    assert sealed.data == state.file(stored.texts)
    refused("is not the file of", SealedCorpus.read, sealed.data, "0" * 16, stored)
    moved = sealed.moved([each.entry for each in sealed.entries if each.segment is HELD], GOLD)
    entries = {GOLD: 5, HELD: 1, Segment.DEVELOPMENT: 2}
    before = {each.name: each.read_bytes() for each in here.iterdir()}
    for texts, written in ((other.texts, {}), (moved.sha256, {moved.sha256: moved.data})):
        for name, content in before.items():
            (here / name).write_bytes(content)
        after = stored.model_copy(update={"texts": texts, "entries": entries})
        state = read_state(here)
        corpora = {**state.head.corpora, number: after}
        change(state, NUMBERS["rotated"](number), MINE, LATER, corpora=corpora, files=written)
        made = Vault(here, here.parent / f"memory of {texts}", lambda: LATER)
        words = "is not the file of 'greetings', though a keeper signed"
        refused(words, made.open, "greetings", "a look", THEIRS)


def test_key_sealed_for_one_more_is_found(made: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = DataKey.sealed_for

    def for_a_friend_too(key: DataKey, recipients: Sequence[str]) -> bytes:
        return honest(key, [*recipients, STRANGER.age.recipient])

    monkeypatch.setattr(DataKey, "sealed_for", for_a_friend_too)
    made.revoke("School", "left", MINE)
    refused("sealed for others than the 2 keepers", made.read)


def test_the_order_of_entries_tells_nothing(tmp_path: Path) -> None:
    """An organiser who knows a part of the corpus in its order cannot count entries off."""
    key = DataKey.make()
    given = corpus(200)
    sealed = SealedCorpus.seal("a" * 16, given, key)
    ids = [each.entry for each in sealed.entries]
    assert ids == sorted(ids)
    places = [json.loads(each.rest.reveal())["place"] for each in sealed.opened(key)]
    assert places != sorted(places)
    assert sorted(places) == list(range(200))
    by_place = dict(zip(places, sealed.opened(key), strict=True))
    assert by_place[7].source.reveal() == given.reveal_here()[7].source


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")
@pytest.mark.parametrize("name", [LOG, README, "key"])
def test_links_pipes_and_endless_files_are_refused(here: Path, tmp_path: Path, name: str) -> None:
    path = here / (named(read_state(here), "greetings")[1].key if name == "key" else name)
    kept = tmp_path / "kept"
    path.rename(kept)
    path.symlink_to(kept)
    refused("a link is in its place", read_state, here)
    path.unlink()
    os.mkfifo(path)
    refused("a pipe or a device", read_state, here)
    path.unlink()
    with path.open("wb") as file:
        file.truncate(2**40)  # a hole, which takes no room
    refused(r"larger than .* bytes", read_state, here)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links")
def test_link_in_place_of_the_lock_harms_no_other_file(made: Vault, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (made.folder / LOCK).unlink(missing_ok=True)
    (made.folder / LOCK).symlink_to(precious)
    refused("a link is in its place", made.open, "greetings", "a look", MINE)
    assert precious.read_text() == "mine"


@pytest.mark.parametrize(("bound", "most"), [("MOST_LINE", 500), ("MOST_HEAD", 4200), ("MOST_FILE", 2000)])
def test_what_a_reader_would_refuse_is_not_written(
    made: Vault, bound: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rotation of very many entries would else shut the vault for everybody."""
    before = {name: (made.folder / name).read_bytes() for name in files(made.folder)}
    rotation = ("greetings", HELD, GOLD, 1, "x" * 200, MINE)
    monkeypatch.setattr(f"harness.vault.folder.{bound}", most)
    refused("too much at once for a vault, which is as it was", made.rotate, *rotation)
    monkeypatch.undo()
    assert {name: (made.folder / name).read_bytes() for name in files(made.folder)} == before
    made.rotate(*rotation)


@pytest.mark.parametrize("name", [README, LOG, "ab" * 32, f".{HEAD}.kept"])
def test_files_called_like_ours_are_left_alone(made: Vault, tmp_path: Path, name: str) -> None:
    """A folder of files named by their hashes, or one with a README, is no vault that was stopped."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / name).write_text("precious")
    refused("holds other things already", made.export, theirs, "for the safe", MINE)
    new = Vault(theirs, made.memory, made.clock)
    refused("holds other things already", new.found, "Words", KEEPERS, MINE)
    assert (theirs / name).read_text() == "precious"


# A vault that somebody changed, cut or edited is refused, whatever it was that they changed

DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with some history, never changed by a test."""
    made = filled(tmp_path_factory.mktemp("whole"))
    made.open("greetings", "a look", THEIRS)
    made.rotate("greetings", HELD, GOLD, 1, "the first year is over", MINE)
    return made.folder


@pytest.fixture
def folder(tmp_path: Path, past: Path) -> Path:
    return shutil.copytree(past, tmp_path / "vault")


def spoilt(data: bytes) -> Iterator[bytes]:
    """Yield the bytes with one of them changed, left out or doubled, and cut there."""
    draw = random.Random(len(data))
    for _ in range(times(6, 400)):
        at, bit = draw.randrange(len(data)), 1 << draw.randrange(8)
        yield data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
        yield data[:at] + data[at + 1 :]
        yield data[:at] + data[at : at + 1] + data[at:]
        yield data[:at]


def test_changed_missing_or_doubled_byte_of_any_file_is_found(folder: Path) -> None:
    assert len(files(folder)) == 5
    for name in files(folder):
        data = (folder / name).read_bytes()
        for changed in spoilt(data):
            (folder / name).write_bytes(changed)
            if name == LOG and changed.startswith(data):
                assert read_state(folder).left_over == (LOG,)  # behind its signed end
                continue
            refused(r"put back a copy", read_state, folder)
        (folder / name).unlink()
        refused(r"missing|is no vault", read_state, folder)
        (folder / name).write_bytes(data)
    assert read_state(folder).left_over == ()


@pytest.mark.parametrize("several", [False, True])
def test_every_byte_of_head_and_log_counts(tmp_path: Path, folder: Path, several: bool) -> None:
    if several:  # a vault whose shares were dealt anew
        made = founded(tmp_path / "several")
        key = key_of(made.read(), "Office", "School", "Church")
        made.refresh("a page was seen", OFFICE, key)
        folder = made.folder
    for name, step in ((HEAD, times(17, 1)), (LOG, times(61, 1))):
        data = (folder / name).read_bytes()
        for at in range(0, len(data), step):
            (folder / name).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            refused("", read_state, folder)
        (folder / name).write_bytes(data)


def test_log_or_head_that_somebody_edited_is_refused(folder: Path) -> None:
    log, head = (folder / LOG).read_bytes(), (folder / HEAD).read_bytes()
    one, two, three, four = log.splitlines(keepends=True)
    other = three.replace(b"a look", b"a lock")
    for lines in ([two, four], [two, four, three], [two, three], [two, other, four]):
        (folder / LOG).write_bytes(b"".join([one, *lines]))
        refused("put back a copy of the whole", read_state, folder)
    (folder / LOG).write_bytes(log)
    stranger = STRANGER.public.signing_key
    forged = (STRANGER, {"by": stranger, "corpora": {}}), (MINE, {"vault": "0" * 64})
    for signer, changes in forged:  # somebody with keys of their own, or a keeper for another vault
        (folder / HEAD).write_bytes(head)
        changed = read_state(folder).head.model_copy(update=changes)
        (folder / HEAD).write_bytes(signed_record(changed, signer))
        refused("put back a copy of the whole", read_state, folder)


def line(before: tuple[LogLine, ...], **changes: object) -> vault_records.LogRecord:
    """The line that a keeper would write next, but for what is changed."""
    fields = {"seq": len(before), "prev": before[-1].id, "when": "2026-06-01T00:00:00Z"}
    fields |= {"by": MINE.public.signing_key, "act": vault_records.CopyMade(purpose="for the safe")}
    return vault_records.LogRecord.model_validate(fields | changes)


FORGED: dict[str, tuple[dict[str, object], Identity, str]] = {
    "signed by a stranger": ({"by": STRANGER.public.signing_key}, STRANGER, "not signed by a keeper"),
    "signed in a keeper's name": ({}, STRANGER, "not signed by a keeper"),
    "signed in another keeper's name": ({}, THEIRS, "not signed by a keeper"),
    "behind another line": ({"prev": "0" * 64}, MINE, "a line before it is missing"),
    "at another place": ({"seq": 7}, MINE, "a line before it is missing"),
    "a clock that is no earlier": ({"clock_set_back": True}, MINE, "says so falsely"),
    "a clock that is earlier": ({"when": "2025-01-01T00:00:00Z"}, MINE, "its time is earlier"),
    "a second beginning": ({"act": vault_records.Founded(name="Mine now", keepers=tuple(KEEPERS), salt="0" * 64)}, MINE, "only the first line"),
    "a keeper who is one": ({"act": vault_records.Enrolled(keeper=KEEPERS[1], purpose="twice")}, MINE, "takes in a keeper, or out"),
    "out who is none": ({"act": vault_records.Revoked(keeper="0" * 64, purpose="nobody")}, MINE, "takes in a keeper, or out"),
}  # fmt: skip


def consent(number: str, *, withdrawn: bool) -> vault_records.ConsentChanged:
    return vault_records.ConsentChanged(corpus=number, withdrawn=withdrawn, said_by="the council", purpose="taken back")


def test_consent_in_the_log_follows_its_rules(past: Path) -> None:
    """What a keeper's own program may write, but no log may have."""
    state = read_state(past)
    number = next(iter(state.head.corpora))
    opened = {"corpus": number, "entries": {GOLD: 1}, "purpose": "a look"}
    gone, again = (consent(number, withdrawn=each) for each in (True, False))
    acts: list[tuple[str, list[tuple[vault_records.Act, Identity]]]] = [
        ("", [(gone, MINE)]),
        ("", [(gone, MINE), (again, MINE), (vault_records.Opened(**opened), THEIRS), (gone, THEIRS)]),
        ("opens a corpus whose consent", [(gone, MINE), (vault_records.Opened(**opened), THEIRS)]),
        ("opens a corpus whose consent", [(gone, MINE), (vault_records.Used(**opened, work="run"), MINE)]),
        ("only the keeper who withdrew", [(gone, MINE), (again, THEIRS)]),
        ("was so already", [(gone, MINE), (gone, THEIRS)]),
        ("was so already", [(again, MINE)]),
        ("other things in the vault", [(consent("0" * 16, withdrawn=True), MINE)]),
    ]
    for words, chain in acts:
        lines, log = state.lines, (past / LOG).read_bytes()
        for act, identity in chain:
            written = write_line(lines, act, identity, LATER)
            lines, log = (*lines, written), log + written.content + b"\n"
        if words:
            refused(words, read_lines, log)
        else:
            assert [each.id for each in read_lines(log)] == [each.id for each in lines]


@pytest.mark.parametrize("kind", FORGED)
def test_line_that_no_keeper_can_have_written_is_refused(past: Path, kind: str) -> None:
    changes, identity, said = FORGED[kind]
    before, log = read_state(past).lines, (past / LOG).read_bytes()
    assert len(read_lines(log + signed_record(line(before), MINE) + b"\n")) == len(before) + 1
    forged = log + signed_record(line(before, **changes), identity) + b"\n"
    refused(rf"line {len(before) + 1}: .*{said}", read_lines, forged)


def test_who_was_taken_out_writes_no_more_lines(made: Vault) -> None:
    made.revoke("School", "left", MINE)
    before, log = made.read().lines, (made.folder / LOG).read_bytes()
    theirs = line(before, by=THEIRS.public.signing_key, when="2027-06-01T00:00:00Z")
    forged = log + signed_record(theirs, THEIRS) + b"\n"
    refused("not signed by a keeper of that time", read_lines, forged)


def test_log_of_another_branch_is_refused(made: Vault, tmp_path: Path) -> None:
    one, two = made, Vault(tmp_path / "two" / "vault", tmp_path, ticking())
    shutil.copytree(one.folder, two.folder)
    Vault(one.folder, one.memory, ticking(START + DAY)).open("greetings", "look a", MINE)
    Vault(two.folder, two.memory, ticking(START + DAY)).open("greetings", "look b", MINE)
    other = (two.folder / LOG).read_bytes()
    assert len(other) == (one.folder / LOG).stat().st_size
    read_lines(other)
    (one.folder / LOG).write_bytes(other)
    refused(r"log\.jsonl: its last lines are missing, or others", read_state, one.folder)
