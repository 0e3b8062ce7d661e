"""Doctor: what is broken is found on real files, nothing is changed by looking, and no finding hides another."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import pytest

from corpora.languages.cards import list_cards
from harness.core import installation
from harness.doctor import data as doctor_data
from harness.doctor import program as doctor_program
from harness.doctor.data import data, file_system, settings
from harness.doctor.examination import examine, languages, looked_at
from harness.doctor.finding import Finding, Health
from harness.doctor.program import extras, keys, program
from harness.settings import change_settings
from harness.store.file.database import SCHEMA_VERSION, open_store
from scoring.words import source_words
from tests.keyring_in_memory import MemoryKeyring, memory_keyring
from tests.tui.scenes import scene


@pytest.fixture(autouse=True)
def ring() -> Iterator[MemoryKeyring]:
    with memory_keyring() as ring:
        yield ring


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


def by_name(found: Iterator[Finding]) -> dict[str, Finding]:
    return {each.name: each for each in found}


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(each.relative_to(folder)): (each.read_bytes(), each.stat().st_mtime_ns)
        for each in folder.rglob("*")
        if each.is_file() and not each.name.endswith(("-shm", "-wal"))
    }


def test_nothing_at_all_is_no_failure_and_looking_makes_nothing(tmp_path: Path) -> None:
    found = list(examine(tmp_path / "nowhere"))
    assert [each for each in found if each.health is Health.BROKEN] == []
    assert not (tmp_path / "nowhere").exists()
    areas = list(dict.fromkeys(each.area for each in found))
    assert areas == [
        "Program",
        "Extras",
        "Methods of others",
        "Keys",
        "Data",
        "Settings",
        "Languages",
    ]


def test_a_sound_store_is_told_and_not_touched(home: Path) -> None:
    scene(home / "rosetta.sqlite", total=10, stored=5).close()
    change_settings(home, {"theme": "rosetta-light"})
    before = snapshot(home)
    found = list(examine(home))
    assert by_name(iter(found))["store"].words.startswith("sound: 1 run on 1 corpus, ")
    assert snapshot(home) == before


def test_a_damaged_page_of_the_store_is_found(home: Path) -> None:
    path = home / "rosetta.sqlite"
    with closing(open_store(path)) as store:
        store.execute("CREATE TABLE pages (body TEXT)")
        store.executemany("INSERT INTO pages VALUES (?)", [("x" * 2000,)] * 200)
        store.execute("CREATE INDEX bodies ON pages (body)")
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 8192] = b"\xa5" * 8192
    path.write_bytes(bytes(content))
    found = by_name(data(home))["store"]
    assert found.health is Health.BROKEN
    assert "copy of yours" in found.words
    assert "rosetta runs export last -o last-run.json" in found.mend


@pytest.mark.skipif(os.name == "nt", reason="the lines are for another shell there")
def test_the_lines_for_a_damaged_store_take_all_of_it_away_and_let_a_new_one_begin(
    tmp_path: Path,
) -> None:
    home = tmp_path / "a folder's $HOME"
    home.mkdir()
    for content in (b"first store" * 100, b"second store" * 100):
        for end in ("", "-wal", "-shm"):
            (home / f"rosetta.sqlite{end}").write_bytes(content)
        found = by_name(data(home))["store"]
        for line in found.mend[:-1]:
            subprocess.run(["sh", "-c", line], check=True)
    for number, begins in (("1", b"first"), ("2", b"second")):
        folder = home / f"damaged-{number}"
        away = sorted(each.name for each in folder.iterdir())
        assert away == ["rosetta.sqlite", "rosetta.sqlite-shm", "rosetta.sqlite-wal"]
        assert (folder / "rosetta.sqlite").read_bytes().startswith(begins)
    open_store(home / "rosetta.sqlite").close()
    assert by_name(data(home))["store"].health is Health.OK


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"not a database" * 100, "damaged, or no store"), (b"", "sound: version 0")],
    ids=["other file", "empty"],
)
def test_what_is_no_store_is_told(home: Path, content: bytes, words: str) -> None:
    (home / "rosetta.sqlite").write_bytes(content)
    assert words in by_name(data(home))["store"].words


def test_a_store_of_a_newer_version_is_told(home: Path) -> None:
    with closing(open_store(home / "rosetta.sqlite")) as store:
        store.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    found = by_name(data(home))["store"]
    assert found.health is Health.BROKEN
    assert "newer Rosetta" in found.words


def test_rows_that_belong_to_nothing_are_told(home: Path) -> None:
    made = scene(home / "rosetta.sqlite", total=4, stored=2)
    made.close()
    with closing(sqlite3.connect(home / "rosetta.sqlite")) as store:
        store.execute("PRAGMA foreign_keys = OFF")
        store.execute("DELETE FROM runs")
        store.commit()
    found = by_name(data(home))["store"]
    assert found.health is Health.BROKEN
    assert "belong to nothing" in found.words


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_a_store_that_others_may_read_is_broken_and_its_mend_mends_it(home: Path) -> None:
    import subprocess

    open_store(home / "rosetta.sqlite").close()
    home.chmod(0o755)
    assert by_name(data(home))["privacy"].health is Health.MISSING  # nobody else can read the store
    (home / "rosetta.sqlite").chmod(0o644)
    found = by_name(data(home))["privacy"]
    assert found.health is Health.BROKEN
    for line in found.mend:
        subprocess.run(line, shell=True, check=True)  # as a person would
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert by_name(data(home))["privacy"].health is Health.OK


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "home"
    path.write_text("")
    assert by_name(data(path))["folder"].health is Health.BROKEN


@pytest.mark.parametrize(
    ("free", "health"),
    [(10**7, Health.BROKEN), (10**8, Health.MISSING), (10**10, Health.OK)],
)
def test_little_space(
    home: Path, free: int, health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert by_name(data(home))["free space"].health is health


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists its drives so")
def test_the_drive_of_a_folder() -> None:
    assert file_system(Path("/proc/self")) == "proc"
    assert file_system(Path("/")) not in {None, "proc"}


def test_a_network_drive_is_broken(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_data, "file_system", lambda _: "nfs4")
    assert by_name(data(home))["drive"].health is Health.BROKEN


# Settings


def test_what_the_settings_name_is_looked_at(home: Path, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("source = 3")
    change_settings(
        home,
        {
            "prices": tmp_path / "prices.toml",
            "exports": tmp_path / "gone",
            "language_folders": (tmp_path / "lost",),
            "endpoints": {"our-lab": "https://llm.example.org/v1", "openai": "https://x.example"},
        },
    )
    found = by_name(settings(home))
    assert found["file"].health is Health.OK
    assert "field 'source'" in found["prices"].words
    assert found["exports"].mend == (f'mkdir -p "{tmp_path / "gone"}"',)
    assert found["languages"].health is Health.BROKEN
    assert found["our-lab"].health is Health.OK
    assert found["openai"].health is Health.MISSING


@pytest.mark.parametrize(
    ("endpoint", "health"), [("ollama", Health.OK), ("our-lab", Health.OK), ("gone", Health.BROKEN)]
)
def test_a_default_endpoint_that_is_gone_is_broken(
    home: Path, endpoint: str, health: Health
) -> None:
    own = {"our-lab": "https://llm.example.org/v1"}
    change_settings(home, {"endpoint": endpoint, "endpoints": own})
    assert by_name(settings(home))["default endpoint"].health is health


def test_settings_that_cannot_be_read_are_broken_and_languages_are_told_all_the_same(
    home: Path,
) -> None:
    (home / "settings.toml").write_text("theme = 3")
    assert "line 1: field 'theme'" in by_name(settings(home))["file"].words
    assert "eo Esperanto" in by_name(languages(home))


# Languages


def test_languages_of_the_store_and_broken_cards_and_analysers_are_told(home: Path) -> None:
    scene(home / "rosetta.sqlite", total=2).close()
    own = home / "languages"
    (own / "crk").mkdir(parents=True)
    (own / "crk" / "crk.hfstol").write_bytes(b"no analyser")
    (own / "qaa.toml").write_text("tag = 3")
    with closing(open_store(home / "rosetta.sqlite")) as store:
        store.execute(
            "INSERT INTO corpora (sha256, partial, dataset) VALUES ('x', 0, ?)",
            ('{"target_language": "xal-Cyrl"}',),
        )
    found = by_name(languages(home))
    assert found["eo Esperanto"].health is Health.OK
    assert "metrics work" in found["eo Esperanto"].words
    assert found["crk Plains Cree"].health is Health.BROKEN
    assert found["qaa"].health is Health.BROKEN
    assert found["xal"].mend == ("rosetta language check xal",)


# Word lists


def test_of_sound_word_lists_the_same_is_said_without_reading_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("wordfreq", reason="the package wordfreq is not installed")
    tags = [path.stem for path in list_cards()]
    read = {tag for tag in tags if source_words.listed_words(tag)[1] is not None}
    assert {"ja", "zh"} <= set(tags) - read
    monkeypatch.delattr(source_words, "_bands")  # what reads a whole list is not called
    assert {tag for tag in tags if source_words.has_list(tag)} == read


@pytest.mark.parametrize("cut", [1, 5000])
def test_a_word_list_that_was_damaged_after_its_installation_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    pytest.importorskip("wordfreq", reason="the package wordfreq is not installed")
    where = source_words.list_file

    def damaged(language: str) -> Path | None:
        file = where(language)
        if language != "fi" or file is None:
            return file
        copy = tmp_path / file.name
        copy.write_bytes(file.read_bytes()[:-cut])
        return copy

    monkeypatch.setattr(source_words, "list_file", damaged)
    found = by_name(extras())["word lists"]
    assert found.health is Health.BROKEN
    assert "small_fi.msgpack.gz" in found.words


def test_the_version_of_a_package_is_what_it_states() -> None:
    names = [name for name in installation.always_needed() if installation.installed(name)]
    assert len(names) > 10
    assert {name: installation.installed(name) for name in names} == {
        name: version(name) for name in names
    }


# Keys


def test_no_key_is_read_out(ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.endpoint.keys import set_key

    set_key("openrouter", "sk-secret-one")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-two")
    found = list(keys())
    assert "secret" not in repr(found)
    words = by_name(iter(found))["services"].words
    assert "in variables: openai" in words
    assert "in the keyring: openrouter" in words


def test_a_keyring_that_does_not_answer_is_not_waited_for(
    ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = threading.Event()

    def wait(*_: object) -> None:
        never.wait(20)

    monkeypatch.setattr(ring, "get_password", wait)
    monkeypatch.setattr(doctor_program, "KEYRING_SECONDS", 0.05)
    found = by_name(keys())["keyring"]
    never.set()
    assert found.health is Health.MISSING
    assert "does not answer" in found.words


def test_nobody_is_sent_to_a_keyring_that_is_not_there(
    ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> str:
        raise RuntimeError("no keyring")

    monkeypatch.setattr(ring, "get_password", locked)
    found = by_name(keys())
    assert found["services"].mend == found["keyring"].mend == ("export OPENROUTER_API_KEY=…",)


# The program


def test_a_package_that_is_gone_and_a_python_that_is_too_old_are_broken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(installation, "requires", lambda _: ["click>=8.2", "no-such-thing>1"])
    monkeypatch.setattr(sys, "version_info", (3, 10, 2))
    found = by_name(program())
    assert found["Python"].health is Health.BROKEN
    assert found["packages"].health is Health.BROKEN
    assert "no-such-thing" in found["packages"].words
    assert found["packages"].mend == (f'{sys.executable} -m pip install "no-such-thing>1"',)


def test_extras_that_are_gone_are_missing_with_a_command_that_needs_no_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor_program, "installed", lambda _: None)
    found = by_name(extras())
    assert found["words"].mend == (f'{sys.executable} -m pip install "wordfreq>=3.1.1"',)
    assert found["words"].health is Health.MISSING
    assert "word lists" not in found


@pytest.mark.parametrize(
    ("has_pip", "has_uv", "begins"),
    [
        (True, True, "{python} -m pip install "),
        (False, True, "uv pip install --python {python} "),
        (False, False, "{python} -m pip install "),
    ],
)
def test_the_line_is_for_the_environment_that_the_program_runs_in(
    monkeypatch: pytest.MonkeyPatch, has_pip: bool, has_uv: bool, begins: str
) -> None:
    """An environment that uv made has no pip."""
    monkeypatch.setattr(installation, "find_spec", lambda _: object() if has_pip else None)
    monkeypatch.setattr(shutil, "which", lambda _: "/bin/uv" if has_uv else None)
    assert installation.install_line("PySide6-Essentials").startswith(
        begins.format(python=sys.executable)
    )


@pytest.mark.skipif(os.name == "nt", reason="the line is for another shell there")
def test_a_shell_reads_the_line_as_it_is_meant(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python = tmp_path / "a folder's $HOME" / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$(dirname "$0")/told"\n')
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    line = installation.install_line("wordfreq", "PySide6_Essentials")
    subprocess.run(["sh", "-c", line], check=True, cwd=tmp_path)
    told = (python.parent / "told").read_text().splitlines()
    assert told[:3] == ["-m", "pip", "install"]
    assert told[3] == "wordfreq>=3.1.1"
    assert told[4].lower().startswith("pyside6-essentials")
    assert "<6.12" in told[4]


def test_extras_are_those_of_the_project() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    stated = project["project"]["optional-dependencies"]
    assert set(doctor_program.extra_packages()) <= set(stated)
    for extra, (package, _) in doctor_program.extra_packages().items():
        assert stated[extra][0].lower().replace("-", "_").startswith(package.lower())


# All of it


def test_a_check_that_fails_hides_no_other_finding() -> None:
    def failing() -> Iterator[Finding]:
        yield Finding("Area", "first", Health.OK, "fine")
        raise RuntimeError("sk-secret")

    first, second = looked_at("Area", failing)
    assert first.health is Health.OK
    assert (second.health, second.words) == (Health.BROKEN, "cannot be looked at (RuntimeError)")


def test_nothing_is_sent_anywhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection is made and no name is looked up, not even of endpoints in the settings."""

    def sent(*_: object, **__: object) -> None:
        raise AssertionError("a connection was tried")

    change_settings(home, {"endpoints": {"lab": "https://llm.example.org/v1"}})
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, sent)
    monkeypatch.setattr(socket, "getaddrinfo", sent)
    assert all("cannot be looked at" not in each.words for each in examine(home))
