"""Doctor: what is broken is found on real files, nothing is changed by looking, and no finding hides another."""

import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import distributions, requires, version
from pathlib import Path

import pytest

from corpora.files.installed import installed, stated
from corpora.languages.tags import list_cards
from harness.core import installation
from harness.doctor import data as doctor_data
from harness.doctor import examination as doctor_program
from harness.doctor.data import data, file_system, settings
from harness.doctor.examination import examine, extras, keys, languages, looked_at, program
from harness.doctor.finding import Finding, Health
from harness.endpoint.endpoints import set_key
from harness.settings import change_settings
from harness.store.sqlite.database import SCHEMA_VERSION, open_store
from scoring.words import word_lists
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


def test_missing_folder_is_no_failure_and_stays_missing(tmp_path: Path) -> None:
    found = list(examine(tmp_path / "nowhere"))
    assert [each for each in found if each.health is Health.BROKEN] == []
    assert not (tmp_path / "nowhere").exists()
    areas = ", ".join(dict.fromkeys(each.area for each in found))
    assert areas == "Program, Extras, Methods of others, Keys, Data, Settings, Languages"


def test_sound_store_is_told_and_not_touched(home: Path) -> None:
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
def test_fix_of_a_damaged_store_lets_a_new_one_begin(tmp_path: Path) -> None:
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


def test_foreign_newer_and_torn_stores_are_told(home: Path) -> None:
    path = home / "rosetta.sqlite"
    for content, words in ((b"not a database" * 100, "or no store"), (b"", "sound: version 0")):
        path.write_bytes(content)
        assert words in by_name(data(home))["store"].words
    scene(path, total=4, stored=2).close()
    with closing(sqlite3.connect(path)) as store:
        store.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        found = by_name(data(home))["store"]
        assert (found.health, "newer Rosetta" in found.words) == (Health.BROKEN, True)
        store.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        store.execute("PRAGMA foreign_keys = OFF")
        store.execute("DELETE FROM runs")
        store.commit()
    found = by_name(data(home))["store"]
    assert (found.health, "belong to nothing" in found.words) == (Health.BROKEN, True)
    home.joinpath("file").write_text("")
    assert by_name(data(home / "file"))["folder"].health is Health.BROKEN


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_fix_of_a_readable_store_closes_it(home: Path) -> None:
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


def test_little_space_and_network_drives(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, health in ((10**7, Health.BROKEN), (10**8, Health.MISSING), (10**10, Health.OK)):
        usage = type("Usage", (), {"free": free})
        monkeypatch.setattr(shutil, "disk_usage", lambda _, usage=usage: usage)
        assert by_name(data(home))["free space"].health is health
    monkeypatch.setattr(doctor_data, "file_system", lambda _: "nfs4")
    assert by_name(data(home))["drive"].health is Health.BROKEN
    if sys.platform == "linux":  # which alone lists its drives so
        assert file_system(Path("/proc/self")) == "proc"
        assert file_system(Path("/")) not in {None, "proc"}


def test_what_the_settings_name_is_looked_at(home: Path, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("source = 3")
    endpoints = {"our-lab": "https://llm.example.org/v1", "openai": "https://x.example"}
    lost = {"exports": tmp_path / "gone", "language_folders": (tmp_path / "lost",)}
    change_settings(home, {"prices": tmp_path / "prices.toml", "endpoints": endpoints, **lost})
    found = by_name(settings(home))
    assert found["file"].health is Health.OK
    assert "field 'source'" in found["prices"].words
    assert found["exports"].mend == (f'mkdir -p "{tmp_path / "gone"}"',)
    assert found["languages"].health is Health.BROKEN
    assert found["our-lab"].health is Health.OK
    assert found["openai"].health is Health.MISSING


def test_missing_default_endpoint_is_broken(home: Path) -> None:
    own = {"our-lab": "https://llm.example.org/v1"}
    for endpoint in ("ollama", "our-lab", "gone"):
        change_settings(home, {"endpoint": endpoint, "endpoints": own})
        health = Health.BROKEN if endpoint == "gone" else Health.OK
        assert by_name(settings(home))["default endpoint"].health is health
    (home / "settings.toml").write_text("theme = 3")
    assert "line 1: field 'theme'" in by_name(settings(home))["file"].words
    assert "eo Esperanto" in by_name(languages(home)), "shown all the same"


def test_languages_and_broken_cards_are_told(home: Path) -> None:
    scene(home / "rosetta.sqlite", total=2).close()
    own = home / "languages"
    (own / "crk").mkdir(parents=True)
    (own / "crk" / "crk.hfstol").write_bytes(b"no analyser")
    (own / "qaa.toml").write_text("tag = 3")
    with closing(open_store(home / "rosetta.sqlite")) as store:
        told = '{"target_language": "xal-Cyrl"}'
        store.execute("INSERT INTO corpora (sha256, partial, dataset) VALUES ('x', 0, ?)", (told,))
    found = by_name(languages(home))
    assert found["eo Esperanto"].health is Health.OK
    assert found["eo Esperanto"].words.startswith("epo.hfstol by builtin, as it ships")
    assert found["crk Plains Cree"].health is Health.BROKEN
    assert found["qaa"].health is Health.BROKEN
    assert found["xal"].mend == ("rosetta language check xal",)


def test_word_lists_are_told_without_reading_them(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wordfreq", reason="the package wordfreq is not installed")
    tags = [path.stem for path in list_cards()]
    read = {tag for tag in tags if word_lists.listed_words(tag)[1] is not None}
    assert {"ja", "zh"} <= set(tags) - read
    monkeypatch.delattr(word_lists, "_bands")  # what reads a whole list is not called
    assert {tag for tag in tags if word_lists.has_list(tag)} == read


def test_damaged_word_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wordfreq", reason="the package wordfreq is not installed")
    where = word_lists.list_file

    def damaged(language: str) -> Path | None:
        file = where(language)
        if language != "fi" or file is None:
            return file
        copy = tmp_path / file.name
        copy.write_bytes(file.read_bytes()[:-1])
        return copy

    monkeypatch.setattr(word_lists, "list_file", damaged)
    found = by_name(extras())["word lists"]
    assert found.health is Health.BROKEN
    assert "small_fi.msgpack.gz" in found.words


def test_packages_state_what_importlib_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = sorted({found.metadata["Name"] for found in distributions()})
    assert len(names) > 10
    assert [installed(name) for name in names] == [version(name) for name in names]
    assert [[*stated(name, "Requires-Dist")] for name in names] == [requires(name) or [] for name in names]
    assert installed("Not-installed") is None
    old = tmp_path / "Some.Old_package-1.2-py3.11.egg-info"
    old.mkdir()
    (old / "PKG-INFO").write_text("Name: Some.Old_package\nVersion: 1.2\n\nVersion: none\n")
    monkeypatch.setattr(sys, "path", ["nowhere", *sys.path, str(tmp_path)])
    assert installed("some-old-package") == version("some-old-package") == "1.2"


def test_no_key_is_read_out(ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch) -> None:
    set_key("openrouter", "sk-secret-one")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-two")
    found = list(keys())
    assert "secret" not in repr(found)
    words = by_name(iter(found))["services"].words
    assert "in variables: openai" in words
    assert "in the keyring: openrouter" in words


NO_SESSION = "-u DBUS_SESSION_BUS_ADDRESS -u DISPLAY -u XDG_RUNTIME_DIR -u PYTHON_KEYRING_BACKEND"
ASKED = "import sys; {}\ntry: {}\nexcept Exception as error: print(error)\nprint('keyring' in sys.modules)"
OF_A_SERVICE = ASKED.format("from harness.endpoint.endpoints import stored_names", "stored_names()")
OF_THIS_COMPUTER = ASKED.format(
    "from pathlib import Path; from harness.sealed.keys import Identity, Role",
    "Identity.load(Path.home() / 'computer', Role.COMPUTER)",
)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system always has a keyring")
@pytest.mark.parametrize("code", [OF_A_SERVICE, OF_THIS_COMPUTER])
def test_keyring_is_loaded_only_where_one_can_be(tmp_path: Path, code: str) -> None:
    """Fails where another package brings a keyring, which none of ours does."""

    def asked(*given: str) -> str:
        words = ["env", *NO_SESSION.split(), f"HOME={tmp_path}", *given, sys.executable, "-P", "-c", code]
        shutil.rmtree(tmp_path / "computer", ignore_errors=True)
        return subprocess.run(words, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]).stdout

    assert ("cannot be used here (none is running)" in asked()) is (code == OF_A_SERVICE)
    assert asked().endswith("False\n")
    assert (tmp_path / "computer" / "computer.key").exists() is (code == OF_THIS_COMPUTER)
    assert asked("PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring") == "True\n"
    assert asked("DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere").endswith("True\n")
    (tmp_path / "bus").touch()
    assert asked(f"XDG_RUNTIME_DIR={tmp_path}").endswith("True\n")
    chosen = tmp_path / ".config" / "python_keyring" / "keyringrc.cfg"
    chosen.parent.mkdir(parents=True)
    chosen.write_text("[backend]\ndefault-keyring=keyring.backends.null.Keyring\n")
    assert asked() == "True\n"


def test_silent_keyring_is_skipped(ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()

    def wait(*_: object) -> None:
        never.wait(20)

    monkeypatch.setattr(ring, "get_password", wait)
    monkeypatch.setattr(doctor_program, "KEYRING_SECONDS", 0.05)
    found = by_name(keys())["keyring"]
    never.set()
    assert (found.health, "does not answer" in found.words) == (Health.MISSING, True)

    def locked(*_: object) -> str:
        raise RuntimeError("no keyring")

    monkeypatch.setattr(ring, "get_password", locked)
    told = by_name(keys())
    assert told["services"].mend == told["keyring"].mend == ("export OPENROUTER_API_KEY=…",)


def test_missing_packages_and_old_python_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "stated", lambda *_: iter(["click>=8.2", "no-such-thing>1"]))
    monkeypatch.setattr(sys, "version_info", (3, 10, 2))
    found = by_name(program())
    assert found["Python"].health is Health.BROKEN
    assert found["packages"].health is Health.BROKEN
    assert "no-such-thing" in found["packages"].words
    assert found["packages"].mend == (f'{sys.executable} -m pip install "no-such-thing>1"',)


def test_missing_extras_have_an_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_program, "installed", lambda _: None)
    found = by_name(extras())
    assert found["words"].mend == (f'{sys.executable} -m pip install "wordfreq>=3.1.1"',)
    assert found["words"].health is Health.MISSING
    assert "word lists" not in found


def test_install_line_is_for_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that uv made has no pip."""
    pip = f"{sys.executable} -m pip install "
    uv = f"uv pip install --python {sys.executable} "
    for has_pip, has_uv, begins in ((True, True, pip), (False, True, uv), (False, False, pip)):
        spec, program = (object() if has_pip else None), ("/bin/uv" if has_uv else None)
        monkeypatch.setattr(installation, "find_spec", lambda _, spec=spec: spec)
        monkeypatch.setattr(shutil, "which", lambda _, program=program: program)
        assert installation.install_line("PySide6-Essentials").startswith(begins)


@pytest.mark.skipif(os.name == "nt", reason="the line is for another shell there")
def test_shell_reads_the_install_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    python = tmp_path / "a folder's $HOME" / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$(dirname "$0")/told"\n')
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    line = installation.install_line("wordfreq", "PySide6_Essentials")
    subprocess.run(["sh", "-c", line], check=True, cwd=tmp_path)
    told = (python.parent / "told").read_text().splitlines()
    assert (told[:3], told[3]) == (["-m", "pip", "install"], "wordfreq>=3.1.1")
    assert told[4].lower().startswith("pyside6-essentials")
    assert "<6.12" in told[4]


def test_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    stated = project["project"]["optional-dependencies"]
    assert set(doctor_program.extra_packages()) <= set(stated)
    for extra, (package, _) in doctor_program.extra_packages().items():
        assert stated[extra][0].lower().replace("-", "_").startswith(package.lower())


def test_a_check_that_fails_hides_no_other_finding() -> None:
    def failing() -> Iterator[Finding]:
        yield Finding("Area", "first", Health.OK, "fine")
        raise RuntimeError("sk-secret")

    first, second = looked_at("Area", failing)
    assert first.health is Health.OK
    assert (second.health, second.words) == (Health.BROKEN, "cannot be examined (RuntimeError)")


def test_nothing_is_sent_anywhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection is made and no name is looked up, not even of endpoints in the settings."""

    def sent(*_: object, **__: object) -> None:
        raise AssertionError("a connection was tried")

    change_settings(home, {"endpoints": {"lab": "https://llm.example.org/v1"}})
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, sent)
    monkeypatch.setattr(socket, "getaddrinfo", sent)
    assert all("cannot be examined" not in each.words for each in examine(home))
