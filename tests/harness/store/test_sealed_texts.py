"""What the store holds of secret entries lies sealed, bound to its place, as long as runs use it, and is known again."""

import errno
import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import pytest

from corpora.files.problems import StoredValueError
from corpora.formats.load import load
from corpora.model.corpus import Corpus, OutOfVault
from corpora.model.entry import Entry
from corpora.text.comparison import normalised
from harness.core.failures import ErrorClass, KeyStoreError, StoreError, UsageError
from harness.core.query import parse
from harness.method.method import Attempt, Result
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity
from harness.store.annotations import AnnotationRow, keep_annotations, read_annotations
from harness.store.corpora import listing
from harness.store.corpora.entries import (
    holds_secrets,
    open_entries,
    read_entries,
    save_corpus,
    secret_positions,
    shown_entries,
)
from harness.store.deletion import HoldsSecrets, bring_back, erase, trash
from harness.store.ordering import Ordering
from harness.store.results import add_results, read_attempts, read_results, results_after
from harness.store.run_list import list_runs
from harness.store.runs import find_run, read_run
from harness.store.sqlite import sealing
from harness.store.sqlite.copies import copied
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import damaged
from harness.store.sqlite.sealing import DIGEST_KEY, StoreSealed, also_open_with, forget_keys
from harness.store.sqlite.sealing import DIGEST_KEY as FILE
from harness.store.sqlite.trouble import transaction
from tests.harness.evaluation import CHEAP as PLAN
from tests.harness.evaluation import LANGUAGES, begun, corpus_of, kept, query, resume, run_corpus
from tests.harness.sealed.refusals import refuses
from tests.harness.store.stored_rows import make_run, result

CANARY = "kanario"
TEXTS = ["zorgo", "", "abato", "Zorgo", "ĉielo", "abato", "\U0001f9ed", "a\x00b"]


def entries(segment: str) -> list[Entry]:
    """Make entries with a canary in every field but the id."""
    return [
        Entry.model_validate(
            {"id": n, "source": f"{text} {CANARY}", "reference": f"{CANARY} {text}", "segment": segment,
             "variants": [f"{CANARY} v"], "notes": CANARY, "provenance": CANARY, "register": CANARY,
             "context": CANARY, "variety": CANARY, "morphological_analysis": CANARY,
             "record": {"said": [CANARY]}, "difficulty": 1 + n % 5}
        )
        for n, text in enumerate(TEXTS)
    ]  # fmt: skip


def rows(made: list[Entry]) -> list[Result]:
    said = (
        Attempt(None, 500, 0.5, error_class=ErrorClass.SERVER, error=f"said {CANARY}"),
        Attempt(None, 200, 0.25, note=f"{CANARY} again"),
    )

    def row(place: int, output: str | None = None, **more: object) -> Result:
        return result(place, made[place], output, statistics=b"\x90", **more)

    return [
        row(0, f"{CANARY} out", raw=f"{CANARY} raw", trace=said),
        row(1, error_class=ErrorClass.METHOD, error=f"{CANARY} broke", trace=said[:1]),
        row(2, ""),
        *(row(n, f"{TEXTS[n]} {CANARY}") for n in (3, 4, 5, 7)),
    ]


def filled(store: sqlite3.Connection, segment: str = "gold_standard") -> int:
    made = entries(segment)
    number = make_run(store, made, run_id=f"{segment}-run")
    with transaction(store):
        add_results(store, number, rows(made))
        keep_annotations(
            store, number,
            [AnnotationRow(0, "judge", "maker", {"score": 0.5, "reason": CANARY},
                           attempts=(Attempt(None, 500, error=CANARY),)),
             AnnotationRow(None, "judge", "maker", calls=2)],
        )  # fmt: skip
    return number


@pytest.fixture
def store(store_path: Path) -> Iterator[sqlite3.Connection]:
    forget_keys()  # else a key would be at hand that another computer has not
    with closing(open_store(store_path)) as connection:
        yield connection


def files_with(path: Path, text: str) -> list[str]:
    """Name the files of the data folder that hold a text, or its beginning in another case."""
    found = [each for each in path.parent.rglob("*") if each.is_file()]
    assert path in found
    return [each.name for each in found if text.encode() in each.read_bytes()]


def test_secret_entry_can_be_read_in_no_file(store_path: Path, store: sqlite3.Connection) -> None:
    number = filled(store)
    assert files_with(store_path, CANARY) == []
    assert shown_entries(store, 1) == dict(enumerate(entries("gold_standard")))
    found = list(read_results(store, number))
    assert found == [replace(row, trace=()) for row in rows(entries("gold_standard"))]
    assert [row for _, row in results_after(store, number, 0)] == found
    assert read_attempts(store, number, 0) == [*rows(entries("gold_standard"))[0].trace]
    assert read_attempts(store, number, 2) == []
    together, alone = read_annotations(store, number)
    assert (together.position, together.value) == (None, None)
    assert alone.value == {"score": 0.5, "reason": CANARY}
    assert alone.attempts == (Attempt(None, 500, error=CANARY),)
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert files_with(store_path, CANARY) == []
    assert not damaged(store)


def test_sealed_rows_are_sorted_as_open_ones(store: sqlite3.Connection) -> None:
    open_, secret = Ordering(filled(store, "development")), Ordering(filled(store))
    pairs = (open_, secret), (Ordering(corpus=1), Ordering(corpus=2))
    for of, queries in zip(
        pairs, ("ZORGO output:out -7 state:done outlen>4", f"abato len<30 source:{CANARY}"), strict=True
    ):
        for sort in ("position", *of[0].fields):
            if sort in {"provenance", "register"}:  # of secret entries no free tag lies open
                continue
            for search in ("", *queries.split(), "nowhere"):
                asked: dict[str, Any] = {"sort": sort, "where": parse(search), "descending": len(search) % 2 == 0}
                first, second = (each.positions(store, **asked).tolist() for each in of)
                assert first == second, asked


CHANGES = (
    "UPDATE entries SET sealed = (SELECT sealed FROM entries WHERE position = 1) WHERE position = 0",
    "UPDATE results SET sealed = (SELECT sealed FROM results WHERE position = 1) WHERE position = 0",
    "UPDATE results SET sealed = (SELECT sealed FROM entries WHERE position = 0) WHERE position = 0",
    "UPDATE entries SET sealed = substr(sealed, 1, length(sealed) - 1) WHERE position = 0",
    "UPDATE results SET sealed = CAST(substr(sealed, 1, 40) || x'00' || substr(sealed, 42) AS BLOB)",
    "UPDATE corpus_keys SET place = '0123456789abcdef'",
    "UPDATE entries SET position = 70 WHERE position = 7; UPDATE entries SET position = 7 WHERE position = 6",
    "DELETE FROM corpus_keys",
)


def test_changed_or_moved_text_does_not_open(store: sqlite3.Connection) -> None:
    number = filled(store)
    store.execute("PRAGMA foreign_keys = OFF")
    for change in CHANGES:
        store.execute("BEGIN")
        for statement in change.split(";"):
            store.execute(statement)
        with pytest.raises(StoredValueError):
            _ = read_entries(store, 1), list(read_results(store, number))
        store.execute("ROLLBACK")
    assert list(read_results(store, number))


def test_text_without_its_mark_of_secrecy_stays_shut(store: sqlite3.Connection) -> None:
    """Opened as an open one, it could be sent away."""
    filled(store)
    local = corpus_of([Entry(id=1, source=CANARY, reference=CANARY, local_only=True)])
    with transaction(store):
        number = save_corpus(store, local)
    store.execute("UPDATE entries SET segment = 'development' WHERE corpus = 1")
    assert all(each.secret for each in read_entries(store, 1).values())
    with pytest.raises(StoredValueError):  # the envelope never said it, or says it no more
        read_entries(store, number)


def test_open_entries_are_read_without_opening_a_seal(store: sqlite3.Connection) -> None:
    """Neither a damaged text nor a mark that somebody took away makes a sealed entry an open one."""
    filled(store)
    mixed = [*entries("development")[:2], *entries("held_out")[2:4]]
    with transaction(store):
        number = save_corpus(store, corpus_of(mixed))
    store.execute("UPDATE entries SET sealed = x'00' WHERE sealed IS NOT NULL")
    store.execute("UPDATE entries SET segment = 'development' WHERE corpus = 1")
    assert open_entries(store, 1) == {}
    assert secret_positions(store, 1) == set(range(len(entries("gold_standard"))))
    assert open_entries(store, number) == {0: mixed[0], 1: mixed[1]}
    assert open_entries(store, number, [1, 3]) == {1: mixed[1]}
    assert secret_positions(store, number) == {2, 3}


def test_run_holds_secrets_by_its_own_entries_and_by_their_seal(store: sqlite3.Connection) -> None:
    """A mark that somebody took away frees no text; an imported card has none to keep, whatever its segments are."""
    sealed = filled(store)
    mixed = [*entries("development")[:2], *entries("held_out")[2:4]]
    of_open, of_both = (
        make_run(store, mixed, run_id=f"{number}2222222-run", positions=positions)
        for number, positions in enumerate(([0, 1], [1, 2]))
    )
    store.execute("UPDATE entries SET segment = 'development' WHERE corpus = 1")
    held = {number: holds_secrets(store, read_run(store, number)) for number in (sealed, of_open, of_both)}
    assert held == {sealed: True, of_open: False, of_both: True}
    assert not holds_secrets(store, read_run(store, sealed)._replace(imported=True))
    trash(store, of_open)
    refuses(HoldsSecrets, "", trash, store, sealed)


def test_another_computer_opens_no_text(store_path: Path, store: sqlite3.Connection) -> None:
    number = filled(store)
    store.close()
    (store_path.parent / "computer.key").unlink()
    forget_keys()
    with closing(open_store(store_path)) as other:
        for read in (lambda: read_entries(other, 1), lambda: list(read_results(other, number))):
            refuses(StoreSealed, r"no key in .* opens them.*runs delete --now", read)
        assert not (store_path.parent / "computer.key").exists()
        [run] = list_runs(other)
        assert (run.done, run.failed) == (7, 1)
        erase(other, find_run(other, run.run_id))
        assert other.execute("SELECT count(*) FROM corpus_keys").fetchone() == (0,)
        assert other.execute("SELECT count(*) FROM entries").fetchone() == (0,)


def test_damaged_keys_are_refused(store_path: Path, store: sqlite3.Connection) -> None:
    filled(store)
    (store_path.parent / "computer.key").write_text("nothing")
    forget_keys()
    refuses(KeyStoreError, "computer", read_entries, store, 1)
    with pytest.raises(KeyStoreError, match="computer"), transaction(store):
        save_corpus(store, corpus_of(entries("held_out")))


def of_vault(*keepers: AgeIdentity) -> Corpus:
    recipients = tuple(each.recipient for each in keepers)
    return replace(corpus_of(entries("gold_standard")), vault=OutOfVault(recipients, ""))


def test_vault_corpus_opens_for_keepers(store_path: Path, store: sqlite3.Connection) -> None:
    first, second = Identity.load(store_path.parent, Role.KEEPER).age, AgeIdentity.make()
    with transaction(store):
        number = save_corpus(store, of_vault(first, second))
    assert shown_entries(store, number) == dict(enumerate(entries("gold_standard")))
    (store_path.parent / "keeper.key").rename(store_path.parent / "elsewhere")
    forget_keys()
    Identity.load(store_path.parent, Role.COMPUTER)
    refuses(StoreSealed, "", read_entries, store, number)
    forget_keys()
    also_open_with([second])
    assert read_entries(store, number)
    with transaction(store):  # the second keeper uses it again, when the first has left
        assert save_corpus(store, of_vault(second)) == number
    assert read_entries(store, number)
    (store_path.parent / "elsewhere").rename(store_path.parent / "keeper.key")
    forget_keys()
    forget_keys()
    refuses(StoreSealed, "", read_entries, store, number)


def test_copy_opens_with_the_keys(store_path: Path, store: sqlite3.Connection) -> None:
    filled(store)
    copy = copied(store_path, store_path.with_name(f"{store_path.name}-wal"))
    shutil.copy(store_path, copy)
    forget_keys()
    with closing(open_store(copy)) as read:
        assert len(read_entries(read, 1)) == len(TEXTS)


def test_key_of_digests_is_sealed(store_path: Path) -> None:
    corpus = corpus_of([Entry.model_validate(
        {"id": 1, "source": "unu", "reference": "one", "segment": "gold_standard"})])  # fmt: skip
    store_path.parent.mkdir(mode=0o700)
    (store_path.parent / DIGEST_KEY).write_bytes(b"k" * 32)
    run_corpus(store_path, corpus, PLAN)
    content = (store_path.parent / DIGEST_KEY).read_bytes()
    assert content.startswith(b"age-encryption.org/v1")
    assert b"k" * 32 not in content
    assert sealing.digest_key(store_path.parent) == b"k" * 32
    (store_path.parent / DIGEST_KEY).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    refuses(StoreError, "is damaged", begun, store_path, corpus, PLAN)


def test_key_is_made_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))  # as of FAT and exFAT

    monkeypatch.setattr(os, "link", refused)
    first = sealing.digest_key(tmp_path)
    assert (len(first), sealing.digest_key(tmp_path)) == (32, first)


OPEN = range(6)
SECRET = range(6, 9)


def mixed() -> Corpus:
    made = [{"id": n, "source": f"open {n}", "reference": f"malferma {n}", "segment": "development"} for n in OPEN]
    made += [
        {"id": f"{CANARY}-{n}", "source": f"{CANARY} source {n}", "segment": "held_out",
         "reference": f"{CANARY} reference {n}", "variants": [f"{CANARY} variant {n}"],
         "notes": f"{CANARY} note", "provenance": CANARY, "register": CANARY}
        for n in SECRET
    ]  # fmt: skip
    return corpus_of([Entry.model_validate(fields) for fields in made])


def test_run_over_open_entries_stores_no_secret_one(store_path: Path) -> None:
    run_corpus(store_path, mixed(), PLAN, positions=OPEN)
    assert files_with(store_path, CANARY) == []
    with closing(open_store(store_path)) as store:
        assert listing.list_corpora(store)[0].segments == {"development": 6, "held_out": 3}
        entries = read_entries(store, 1)
        assert [entries[place].source for place in OPEN] == [f"open {n}" for n in OPEN]
        assert all(entries[place].not_stored and entries[place].secret for place in SECRET)


def test_later_run_fills_the_places_of_what_it_uses(store_path: Path) -> None:
    run_corpus(store_path, mixed(), PLAN, positions=OPEN)
    run_corpus(store_path, mixed(), PLAN, positions=SECRET[:1])
    with closing(open_store(store_path)) as store:
        assert find_run(store, "last").corpus == 1
        entries = shown_entries(store, 1)
    assert [entries[place].not_stored for place in SECRET] == [False, True, True]
    assert entries[6].source == f"{CANARY} source 6"
    assert entries[6].variants == (f"{CANARY} variant 6",)
    run_corpus(store_path, mixed(), PLAN)
    with closing(open_store(store_path)) as store:
        for remain in (True, False):  # erased with the last run that uses them
            erase(store, find_run(store, "last"))
            assert bool(files_with(store_path, CANARY)) is remain
        entries = shown_entries(store, find_run(store, "last").corpus)
        assert [entries[place].source for place in OPEN] == [f"open {n}" for n in OPEN]


def test_trash_erases_what_an_older_version_stored(store_path: Path) -> None:
    number, _ = begun(store_path, mixed(), PLAN, positions=OPEN)
    with closing(open_store(store_path)) as store:
        with transaction(store):  # as older versions did: every entry of the file
            assert save_corpus(store, mixed()) == 1
        assert files_with(store_path, CANARY)
        trash(store, number)
        assert files_with(store_path, CANARY) == []
        bring_back(store, number)
    resume(store_path)
    assert len(kept(store_path).results) == len(OPEN)


def test_corpus_kept_by_its_terms_is_erased_alike(store_path: Path, tmp_path: Path) -> None:
    whole = {
        "dataset": {"id": "made", **LANGUAGES, "transmission": "local-only"},
        "entries": [{"id": n, "source": f"{CANARY} {n}", "reference": "r"} for n in range(4)],
    }
    file = tmp_path / "elsewhere.json"
    file.write_text(json.dumps(whole))
    run_corpus(store_path, load(file), PLAN, positions=[2])
    with closing(open_store(store_path)) as store:
        entries = read_entries(store, 1)
        assert [each.not_stored for each in entries.values()] == [True, True, False, True]
        assert all(each.secret for each in entries.values())
        refuses(UsageError, "delete --now", trash, store, find_run(store, "last").id)
        erase(store, find_run(store, "last"))
    file.unlink()
    assert files_with(store_path, CANARY) == []


def test_a_stored_corpus_says_what_it_does_not_hold(store_path: Path) -> None:
    run_corpus(store_path, mixed(), PLAN, positions=OPEN)
    with closing(open_store(store_path)) as store:
        stored = listing.read_stored(store, listing.stored_name(mixed()), {})
    assert stored.warnings == ()
    run_corpus(store_path, stored, PLAN, positions=OPEN)
    refuses(UsageError, "does not hold 3 of these entries", begun, store_path, stored, PLAN)


def test_outputs_for_all_entries_fit_a_resumed_run(store_path: Path, tmp_path: Path) -> None:
    given = mixed()
    outputs = tmp_path / "outputs.jsonl"
    rows = [{"id": each.id, "output": f"of {each.id}"} for each in given.entries]
    outputs.write_text("\n".join(map(json.dumps, rows)))
    told = PLAN.options.model_copy(update={"outputs": outputs})
    plan = PLAN.model_copy(update={"method": "replay", "options": told})
    begun(store_path, given, plan, positions=OPEN)
    resume(store_path)
    assert [each.output for each in kept(store_path).results] == [f"of {n}" for n in OPEN]


def test_unknown_marks_are_refused_when_a_run_begins(store_path: Path) -> None:
    old = Entry.model_validate({"id": 1, "source": "a", "reference": "b", "Segment": "held_out"})
    refuses(UsageError, "Segment", begun, store_path, corpus_of([old]), PLAN)
    dataset = mixed().dataset.model_copy(update={"transmission": "council"})
    strange = replace(mixed(), dataset=dataset)
    refuses(UsageError, "transmission", begun, store_path, strange, PLAN, positions=OPEN)


SOURCES = ["The elders met at the lake.", "ᓂᐚᐸᒫᐤ ᐊᑎᒼ", "?!"]


def made(sources: list[str], segment: str | None, **more: str) -> Corpus:
    rows = [
        {"id": f"e{n}", "source": source, "reference": f"r{n}", "segment": segment, **more}
        for n, source in enumerate(sources)
    ]
    return corpus_of([Entry.model_validate(row) for row in rows])


@pytest.fixture(scope="module")
def kept_secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("secret") / "data" / "rosetta.sqlite"
    run_corpus(path, made(SOURCES, "held_out"), PLAN)
    return path


@pytest.fixture
def secret(kept_secret: Path, store_path: Path) -> Path:
    shutil.copytree(kept_secret.parent, store_path.parent)
    forget_keys()
    return store_path


def test_secret_text_is_refused_as_an_open_one(secret: Path) -> None:
    ((run,),) = query(secret, "SELECT substr(run_id, 1, 8) FROM runs")
    changed = ("the ELDERS  met, at the lake", "Ｔhe elders met at the lake!", " ᓂᐚᐸᒫᐤ\tᐊᑎᒼ ")
    for n, text in enumerate([*SOURCES, *changed]):
        given = made(["Something else.", text], ("development", "diagnostic", None)[n % 3])
        words = r"1 entry here has .*known here as secret, in .*: e1"
        said = str(refuses(UsageError, words, begun, secret, given, PLAN))
        assert text not in said
        assert json.dumps(text)[1:6] not in json.dumps(said)
        assert f"(run {run})" in said
        assert said.endswith(f"rosetta runs delete --now {run}")
    assert query(secret, "SELECT count(*) FROM runs") == [(1,)]
    for segment in ("held_out", "gold_standard"):  # as a secret one it may come back
        begun(secret, made(SOURCES, segment, notes=segment), PLAN)


def test_what_the_store_does_not_hold_is_known_too(store_path: Path) -> None:
    open_ones = made(["A", "B"], "development").reveal_here()
    hidden = made(SOURCES, "held_out").reveal_here()
    renamed = [each.model_copy(update={"id": f"h{n}"}) for n, each in enumerate(hidden)]
    run_corpus(store_path, corpus_of([*open_ones, *renamed]), PLAN, positions=[0, 1])
    refuses(UsageError, "3 entries here", begun, store_path, made(SOURCES, "development"), PLAN)


def test_digests_confirm_no_guess_without_the_key(secret: Path) -> None:
    key = secret.parent / FILE
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    kept = {row[0] for row in query(secret, "SELECT digest FROM secret_texts")}
    assert len(kept) == len(SOURCES)
    for source in SOURCES:
        for text in (source, normalised(source)):
            data = text.encode()
            assert not {sha256(data).digest()[:16], blake2b(data, digest_size=16).digest()} & kept


def test_they_go_with_the_last_run_over_their_file(secret: Path) -> None:
    with closing(open_store(secret)) as store:
        erase(store, find_run(store, "last"))
    assert query(secret, "SELECT count(*) FROM secret_texts") == [(0,)]
    begun(secret, made(SOURCES, "development"), PLAN)


def test_lost_key_or_digests_are_made_anew(secret: Path) -> None:
    before = query(secret, "SELECT digest FROM secret_texts")
    (secret.parent / FILE).unlink()
    refuses(UsageError, "3 entries here", begun, secret, made(SOURCES, "development"), PLAN)
    assert not {*before} & {*query(secret, "SELECT digest FROM secret_texts")}
    query(secret, "DELETE FROM secret_texts")  # as an older version left it
    refuses(UsageError, "3 entries here", begun, secret, made(SOURCES, "development"), PLAN)
    (secret.parent / FILE).write_bytes(b"short")
    forget_keys()
    refuses(StoreError, "damaged", begun, secret, made(["Something else."], "development"), PLAN)


def test_ordinary_corpora_make_no_key(store_path: Path) -> None:
    run_corpus(store_path, made(SOURCES, "development"), PLAN)
    assert not (store_path.parent / FILE).exists()
