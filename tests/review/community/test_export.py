"""All that belongs to a community, and nothing of others; its folder is whole or as it was, whatever stops it."""

import errno
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Never
from unittest.mock import patch

import pytest

from corpora.formats.load import load
from corpora.formats.write import write
from corpora.model.corpus import Corpus, Form
from corpora.model.entry import Entry, Segment
from harness.card.checking.verify_card import seal
from harness.consent.notice import WholeCorpusWithdrawal, entries_of
from harness.consent.register import Register
from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileError
from harness.store.sqlite.database import open_store
from review.community import folder as export_folder
from review.community.export import Done, Wanted, export_community, kind_of
from review.community.folder import (
    ABOUT,
    ExportFacts,
    OutFile,
    new_export,
    put_in_place,
    read_export,
    sign_part,
    write_part,
)
from review.office.store.store import Office
from tests.harness.card import factory
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import CANARY, MINE, filled, readable
from tests.review.office.made import RUNS, Desk, Person, desk, random_ratings, take_vouched
from tests.review.office.secret_entries import secret_desk, secret_entries
from tests.review.thorough import times

OTHERS = "fremdavorto"
"""Stands in every text of another community's corpus."""
SECRET = "kasxavorto"
"""Stands in every secret text of the community's own."""

READER = r"""
import csv, hashlib, json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
sums = dict(reversed(line.split("  ", 1)) for line in (folder / "SHA256SUMS").read_text().splitlines())
there = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
assert set(there) == set(sums) | {"SHA256SUMS", "SHA256SUMS.sig"}
assert all(hashlib.sha256(there[name].read_bytes()).hexdigest() == sha for name, sha in sums.items())
kinds, counted = {}, {}
for name, path in there.items():
    kinds[path.suffix] = kinds.get(path.suffix, 0) + 1
    if path.suffix == ".json":
        read = json.loads(path.read_text("utf-8"))
    elif path.suffix == ".jsonl":
        read = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    elif path.suffix in (".csv", ".tsv"):
        dialect = "excel" if path.suffix == ".csv" else "excel-tab"
        with path.open(encoding="utf-8", newline="") as file:
            read = list(csv.DictReader((l for l in file if not l.startswith("# ")), dialect=dialect))
    else:
        continue
    counted[name] = len(read)
page = (folder / "index.html").read_text("utf-8")
assert all(f'href="{name}"' in page for name in sums if name not in ("index.html", "README.txt", "SIGNING-KEY.pem"))
print(json.dumps({"kinds": kinds, "counted": counted}))
"""


def corpus(name: str, word: str, *, secret: bool = False) -> Corpus:
    segment = Segment.GOLD_STANDARD if secret else Segment.DEVELOPMENT
    entries = tuple(
        Entry(id=n, source=f"{word} source {n}", reference=f"{word} {n}", segment=segment) for n in range(6)
    )
    dataset = factory.DATASET.model_copy(update={"id": name})
    return Corpus(dataset, entries, name.encode().hex().ljust(64, "0"), Form.SPECIFICATION)


def add_run(connection: sqlite3.Connection, given: Corpus, run_id: str) -> None:
    outputs = [each.reference for each in given.reveal_here()]
    with patch.multiple(factory, DATASET=given.dataset, SHA256=given.sha256):
        seal(connection, factory.add_run(connection, given.reveal_here(), outputs, run_id=run_id))


@pytest.fixture(autouse=True)
def own_home(home: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody look into the data folder of who runs the tests."""
    monkeypatch.setenv("ROSETTA_HOME", str(home.folder))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """An organisation with a rated review, the corpus of another community, and a secret one of its own."""
    folder = tmp_path_factory.mktemp("home")
    office = desk(folder, reviewers=3, items=20)
    for number, code in enumerate(office.codes[:2]):
        person = Person(folder / f"laptop{number}", office.batch, code)
        person.rate(random_ratings(len(person.order), number))
        take_vouched(office.office, office.identity, person.handed_over())
        person.laptop.close()
    with closing(open_store(folder / "rosetta.sqlite")) as connection:
        add_run(connection, corpus("fremda-korpo", OTHERS), "8" * 8 + RUNS[0][8:])
        add_run(connection, corpus("hidden", SECRET, secret=True), "9" * 8 + RUNS[0][8:])
    with office.office:
        yield office


def export_to(target: Path, home: Desk, *corpora: str, **wanted: Any) -> Done:
    with closing(open_store(home.folder / "rosetta.sqlite")) as connection:
        return export_community(target, Wanted(corpora, **wanted), connection, home.office, home.folder, home.identity)


@pytest.fixture(scope="module")
def own(home: Desk) -> str:
    with closing(open_store(home.folder / "rosetta.sqlite")) as connection:
        (row,) = connection.execute("SELECT dataset_id FROM runs WHERE run_id = ?", (RUNS[0],))
    return str(row[0])


@pytest.fixture(scope="module")
def whole(home: Desk, own: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What belongs to the community, with a method that somebody handed in."""
    folder = tmp_path_factory.mktemp("whole")
    method = folder / "their-method"
    (method / "__pycache__").mkdir(parents=True)
    (method / "method.py").write_text("answer = 42\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ROSETTA_HOME", str(home.folder))
        assert not export_to(folder / "out", home, own, methods=(method,)).unchanged
    return folder / "out"


def read_back(target: Path) -> dict[str, Any]:
    """Read every file with a Python that has nothing but its standard library, in a process of its own."""
    command = [sys.executable, "-I", "-S", "-c", READER, str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["counted"]
    return found


def holding(target: Path, word: str) -> list[str]:
    files = [each for each in target.rglob("*") if each.is_file() and word.encode() in each.read_bytes()]
    return sorted(each.relative_to(target).as_posix() for each in files)


def test_export_is_read_back_without_this_program(home: Desk, whole: Path) -> None:
    found = read_back(whole)
    rows = len(json.loads((whole / f"runs/{RUNS[0]}/card.json").read_bytes())["results"])
    assert found[f"runs/{RUNS[0]}/rows.jsonl"] == found[f"runs/{RUNS[0]}/rows.csv"] == rows
    (tsv,) = (name for name in found if name.startswith("corpora/") and name.endswith(".tsv"))
    assert found[tsv] == rows
    review = f"reviews/{home.review.name}-{home.review.key.batches[0][:8]}"
    assert found[f"{review}/ratings.csv"] > 0
    assert found[f"{review}/consent.jsonl"] == 2
    assert found[f"{review}/items.jsonl"] > 0
    assert found["keys.tsv"] >= 3
    assert (whole / "methods/handed-over/their-method/method.py").read_text() == "answer = 42\n"
    assert not list(whole.rglob("__pycache__"))
    assert len(list((whole / "methods").glob("*.json"))) == 1
    assert home.identity.public.phrase in (whole / "README.txt").read_text("utf-8")
    named = {*read_export(whole).sums} - {"README.txt", "index.html", "SIGNING-KEY.pem"}
    assert [path for path in named if not kind_of(path)] == []
    if all(map(shutil.which, ("sha256sum", "openssl"))):
        for command in (
            "sha256sum --check --strict --quiet SHA256SUMS",
            "openssl pkeyutl -verify -rawin -pubin -inkey SIGNING-KEY.pem -in SHA256SUMS -sigfile SHA256SUMS.sig",
        ):
            done = subprocess.run(command.split(), cwd=whole, capture_output=True, check=False)
            assert done.returncode == 0, done.stderr


def test_nothing_of_other_communities_is_in_it(home: Desk, whole: Path, tmp_path: Path) -> None:
    for word in (OTHERS, SECRET, "fremda-korpo", *home.review.codes.values()):
        assert holding(whole, word) == []  # whoever has a code can speak as that person
    for secret in (home.identity.seed.hex(), home.identity.age.text().split()[-1]):
        assert holding(whole, secret) == []
    theirs = tmp_path / "fremda-korpo"
    export_to(theirs, home, "fremda-korpo")
    assert holding(theirs, OTHERS) != []
    assert not (theirs / "reviews").exists()


def test_secret_texts_go_out_on_explicit_wish_alone(home: Desk, tmp_path: Path) -> None:
    target = tmp_path / "out"
    done = export_to(target, home, "hidden")
    assert holding(target, SECRET) == []
    assert "corpus hidden: 6 secret entries (--open-secrets)" in done.left_out
    assert any("its card, rows and outputs" in each for each in done.left_out)
    assert all(each in (target / "README.txt").read_text("utf-8") for each in done.left_out)
    refuses(UsageError, "--purpose", export_to, tmp_path / "none", home, "hidden", open_secrets=True)
    opened = tmp_path / "opened"
    left = export_to(opened, home, "hidden", open_secrets=True, purpose="we leave").left_out
    assert left == ()
    run = "9" * 8 + RUNS[0][8:]
    assert f"runs/{run}/secret-rows.jsonl" in holding(opened, SECRET)
    assert read_back(opened)[f"runs/{run}/secret-rows.jsonl"] == 6
    assert {path.stat().st_mode & 0o077 for path in opened.rglob("*")} == {0}


def test_vault_goes_along_sealed_or_opened_with_its_log(home: Desk, tmp_path: Path) -> None:
    vault, target = filled(tmp_path), tmp_path / "out"
    export_to(target, home, "hidden", vault=vault, keeper=MINE)
    assert (readable(target), vault.read().lines[-1].record.act.what) == ([], "exported")
    without = tmp_path / "without"
    export_to(without, home, "hidden", vault=vault)  # no key is needed for a sealed copy
    assert readable(without) == []
    wish = {"open_secrets": True, "purpose": "we leave"}
    with pytest.raises(UsageError, match="keys of a keeper"):
        export_to(tmp_path / "none", home, "hidden", vault=vault, **wish)
    opened = tmp_path / "opened"
    done = export_to(opened, home, "hidden", vault=vault, keeper=MINE, **wish)
    assert [line.record.act.what for line in vault.read().lines[-2:]] == ["used", "exported"]
    (path,) = (opened / "corpora").glob("vault-*.json")
    told = json.loads(path.read_bytes())
    assert len(told["entries"]) == 6  # of 8, two are of held_out
    assert told["entries"][0]["reference"] == f"{CANARY} reference 0"
    assert told["entries"][0]["notes"] == f"{CANARY} note"
    assert any("2 entries of held_out" in each for each in done.left_out)
    read_back(opened)


def test_second_export_updates_the_first(home: Desk, tmp_path: Path) -> None:
    target = tmp_path / "out"
    export_to(target, home, "hidden")
    before = {p: p.stat().st_mtime_ns for p in target.rglob("*")}
    assert export_to(target, home, "hidden").unchanged
    assert {p: p.stat().st_mtime_ns for p in target.rglob("*")} == before
    assert not export_to(target, home, "hidden", "fremda-korpo").unchanged
    assert holding(target, OTHERS) != []
    refuses(UsageError, "also holds the corpus 'fremda-korpo'", export_to, target, home, "hidden")
    (target / "mine.txt").write_text("a note")
    refuses(UsageError, r"is not written over. mine\.txt", export_to, target, home, "hidden", "fremda-korpo")
    assert (target / "mine.txt").exists()


def about(given: Corpus, sha256: str) -> WholeCorpusWithdrawal:
    languages = {"source_language": "en", "target_language": "eo", "language_pair": "EN→EO"}
    return WholeCorpusWithdrawal(id=given.dataset.id, sha256=sha256, **languages)


def test_what_was_taken_back_stays_out(home: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "home"
    monkeypatch.setenv("ROSETTA_HOME", str(folder))
    shutil.copytree(home.folder, folder)
    file, words = tmp_path / "words.json", corpus("vortoj", "vorto")
    write(words, file, Form.SPECIFICATION)
    theirs = corpus("fremda-korpo", OTHERS)
    with closing(open_store(folder / "rosetta.sqlite")) as connection, Office.open(folder) as office:

        def export_of(name: str, place: str) -> tuple[Path, tuple[str, ...]]:
            target, wanted = tmp_path / place, Wanted((name,))
            done = export_community(target, wanted, connection, office, folder, home.identity)
            return target, done.left_out

        def take_back(whose: WholeCorpusWithdrawal, *entries: int) -> None:
            notice = entries_of(whose, entries) if entries else whose
            Register(folder, home.identity).say(notice, "asked for", "the council")

        take_back(about(theirs, theirs.sha256), 77)
        target, left_out = export_of("fremda-korpo", "a")  # it used nothing of what was taken back
        assert (left_out, (target / "runs").exists()) == ((), True)
        take_back(about(theirs, theirs.sha256), 3)
        target, left_out = export_of("fremda-korpo", "b")
        assert [each.replace(":", " ").split()[0] for each in left_out] == ["corpus", "run"]
        assert not (target / "runs").exists()
        read = "".join(each.read_text() for each in (target / "corpora").iterdir())
        assert (f"{OTHERS} source 3" in read, f"{OTHERS} source 2" in read) == (False, True)
        take_back(about(words, load(file).sha256), 2, 3)
        target, left_out = export_of(str(file), "c")
        assert holding(target, "vorto source 1") != []
        assert holding(target, "vorto source 2") == []
        assert len(list((target / "consent").iterdir())) == 1
        assert left_out == ("corpus vortoj: 2 entries for which consent was withdrawn",)
        read_back(target)
        take_back(about(theirs, "f" * 64))
        target, left_out = export_of("fremda-korpo", "d")
        assert "corpus fremda-korpo: Corpus fremda-korpo: consent was withdrawn" in left_out[0]
        assert holding(target, OTHERS) == []


def test_a_review_of_secret_entries_goes_out_sealed(tmp_path: Path) -> None:
    office = secret_desk(tmp_path / "home", reviewers=2, items=12)
    run = office.review.key.runs[0].run_id
    with office.office, closing(open_store(office.folder / "rosetta.sqlite")) as connection:
        (dataset,) = connection.execute("SELECT dataset_id FROM runs WHERE run_id = ?", (run,)).fetchone()
        secret = [each for each in secret_entries() if each.secret]
        asked = {each.source for each in secret}
        texts = [each.candidate for each in office.review.texts.values() if each.source in asked]
        target = tmp_path / "out"
        done = export_community(target, Wanted((dataset,)), connection, office.office, office.folder, office.identity)
    (sealed,) = target.rglob("*.rosetta-export")
    assert sealed.read_bytes().startswith(b"age-encryption.org/v1")
    assert [each.name for each in sealed.parent.iterdir()] == [sealed.name]
    assert any("its entries are secret" in each for each in done.left_out)
    assert texts
    assert not any(holding(target, each) for each in texts)


def test_what_is_no_place_for_it(home: Desk, own: str, tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "letter.txt").write_text("dear")
    refuses(UsageError, "is not written over", export_to, tmp_path / "letters", home, own)
    refuses(UsageError, "There is no corpus 'nosuch'", export_to, tmp_path / "out", home, "nosuch")
    link = tmp_path / "method"
    link.mkdir()
    (link / "passwd").symlink_to("/etc/passwd")
    refuses(UsageError, "is a link", export_to, tmp_path / "out", home, own, methods=(link,))
    assert not (tmp_path / "out").exists()
    stranger = Desk(home.folder, home.office, Identity.make(Role.COMPUTER), home.review, home.batch)
    export_to(tmp_path / "out", home, "fremda-korpo")
    refuses(UsageError, "signed with another key", export_to, tmp_path / "out", stranger, "fremda-korpo")


SIGNER, OTHER = Identity.make(Role.COMPUTER), Identity.make(Role.COMPUTER)


def files(words: str) -> list[OutFile]:
    key = SIGNER.public.signing_key
    about = ExportFacts(
        made="", program="", corpora=[], signing_key=key, six_words="", secret_texts=False, left_out=[words]
    )
    return [
        OutFile(ABOUT, about.model_dump_json().encode()),
        OutFile("runs/a/card.json", words.encode()),
        OutFile("runs/b/card.json", words.encode() * 2),
    ]


def export(target: Path, locks: Path, words: str) -> None:
    with new_export(target, locks) as made:
        sign_part(made, write_part(made, files(words)), SIGNER)
        put_in_place(made, target)


def words_in(target: Path) -> str:
    checked = read_export(target)
    assert len(checked.sums) == 4
    [words] = checked.about.left_out
    return words


class Killed(BaseException):
    """Power fails: nothing happens on the disk any more."""


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], list[int]]]:
    """Yield a function that lets the power fail at the n-th step on the disk; its list counts the steps."""
    with monkeypatch.context() as patched:

        def at(step: int) -> list[int]:
            patched.undo()
            counted: list[int] = []

            def dies(act: Callable[..., Any]) -> Callable[..., Any]:
                def done(*given: Any, **named: Any) -> Any:
                    counted.append(1)
                    if len(counted) >= step:
                        raise Killed
                    return act(*given, **named)

                return done

            for place, name in (
                (export_folder, "write_file"),
                (export_folder, "private_folder"),
                (Path, "rename"),
                (shutil, "rmtree"),
            ):
                patched.setattr(place, name, dies(getattr(place, name)))
            return counted

        yield at
        patched.undo()


def test_stopped_export_is_old_or_new(tmp_path: Path, dying: Callable[[int], list[int]]) -> None:
    target, locks = tmp_path / "out", tmp_path / "locks"
    found = set()
    for step in range(1, 30):
        shutil.rmtree(target, ignore_errors=True)
        export(target, locks, "old")
        counted = dying(step)
        try:
            export(target, locks, "new")
        except Killed:
            pass
        else:
            assert len(counted) < step
            break
        finally:
            dying(10**6)
        found.add(words_in(target))
        export(target, locks, "newer")
        assert words_in(target) == "newer"
        assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
    else:
        pytest.fail("it never came to its end")
    assert found == {"old", "new"}


@pytest.mark.parametrize("old", [True, False])
def test_full_disk_alters_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool) -> None:
    target, locks = tmp_path / "out", tmp_path / "locks"
    if old:
        export(target, locks, "old")

    def full(*_: Any, **__: Any) -> Never:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("tempfile.mkstemp", full)
        refuses(UsageError, "No space left", export, target, locks, "new")
    assert {each.name for each in tmp_path.iterdir()} == ({"out", "locks"} if old else {"locks"})
    assert not old or words_in(target) == "old"
    export(target, locks, "new")
    assert words_in(target) == "new"


def test_every_changed_byte_is_found(tmp_path: Path) -> None:
    target = tmp_path / "out"
    export(target, tmp_path / "locks", "words")
    for path in sorted(each for each in target.rglob("*") if each.is_file()):
        original = path.read_bytes()
        for place in range(0, len(original), times(3, 1)):
            changed = original[:place] + bytes([original[place] ^ 1]) + original[place + 1 :]
            path.write_bytes(changed)
            refuses(FileError, "", read_export, target)
        path.unlink()
        refuses(FileError, "missing", read_export, target)
        path.write_bytes(original)
    assert words_in(target) == "words"


def test_what_others_put_there_is_found(tmp_path: Path) -> None:
    target = tmp_path / "out"
    export(target, tmp_path / "locks", "words")
    (target / "notes.txt").write_text("mine")
    refuses(FileError, r"notes\.txt: no export wrote it", read_export, target)
    (target / "notes.txt").unlink()
    (target / "elsewhere").symlink_to(tmp_path)
    refuses(FileError, "elsewhere: no export wrote it", read_export, target)
    (target / "elsewhere").unlink()
    card = target / "runs/a/card.json"
    card.rename(tmp_path / "card.json")
    card.symlink_to(tmp_path / "card.json")
    refuses(FileError, "a link is in its place", read_export, target)
    card.unlink()
    (tmp_path / "card.json").rename(card)
    assert words_in(target) == "words"
    signed = OTHER.sign((target / "SHA256SUMS").read_bytes())
    (target / "SHA256SUMS.sig").write_bytes(signed)  # by somebody else
    refuses(FileError, r"SHA256SUMS\.sig", read_export, target)


def test_no_path_leads_out_and_no_link_takes_its_place(tmp_path: Path) -> None:
    for path in ("../out", "a/../../b", "", "a//b", "a\nb", "a\\b", "/etc/x", "a\x7f"):
        refuses(UsageError, "no name", write_part, tmp_path, [OutFile(path, b"")])
        assert list(tmp_path.iterdir()) == [], path
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_text("x")
    for name in ("link", "file"):
        refuses(UsageError, "is no folder", export, tmp_path / name, tmp_path / "locks", "x")
    assert list((tmp_path / "real").iterdir()) == []
