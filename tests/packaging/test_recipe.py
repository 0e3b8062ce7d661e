"""What goes into the bundle and what stays out, without building one, and the advisories of what is locked."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from harness.sealed.phrase import phrase
from tests.harness.sealed.refusals import refuses
from tests.packaging.parts import REVIEWER, ROOT, part

recipe = part("recipe")
archives = part("archives")
icu = part("icu")
BundledFile = recipe.BundledFile


def entry(name: str) -> Any:
    kind = "EXTENSION" if name.endswith(".abi3.so") or "lib-dynload" in name else "BINARY"
    return BundledFile(name, f"/x/{name}", kind)


PLUGINS = "PySide6/Qt/plugins"
WANTED = [
    *map(entry, ("PySide6/QtCore.abi3.so", f"{PLUGINS}/platforms/libqxcb.so")),
    entry(f"{PLUGINS}/platforminputcontexts/libibusplatforminputcontextplugin.so"),
    entry(f"{PLUGINS}/platforminputcontexts/libcomposeplatforminputcontextplugin.so"),
    entry("python3.11/lib-dynload/_sqlite3.cpython-311-x86_64-linux-gnu.so"),
    entry("libpython3.11.so.1.0"),
]
_LEFT_OUT = (
    *("tls/libqopensslbackend", "platforms/libqeglfs", "imageformats/libqjpeg"),
    *("platformthemes/libqgtk3", "networkinformation/libqglib"),
)
UNWANTED = [
    *map(entry, ("PySide6/QtNetwork.abi3.so", "PySide6/QtSvg.abi3.so")),
    *(entry(f"{PLUGINS}/{each}.so") for each in _LEFT_OUT),
    entry("lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so"),
]


def test_what_is_named_stays_with_its_libraries_and_links_alone() -> None:
    link = BundledFile("libqxcb.so", "PySide6/Qt/plugins/platforms/libqxcb.so", "SYMLINK")
    lost = BundledFile("libqjpeg.so", "PySide6/Qt/plugins/imageformats/libqjpeg.so", "SYMLINK")
    names = ("libQt6Core.so.6", "libicu.so", "libssl.so.3", "libgtk-3.so.0")
    libraries = [entry(name) for name in names]
    links = {
        "/x/PySide6/QtCore.abi3.so": ["/x/libQt6Core.so.6"],
        "/x/libQt6Core.so.6": ["/x/libicu.so", "/lib/libc.so.6"],
        "/x/PySide6/Qt/plugins/tls/libqopensslbackend.so": ["/x/libssl.so.3"],
        "/x/PySide6/Qt/plugins/platformthemes/libqgtk3.so": ["/x/libgtk-3.so.0"],
    }
    files = [*WANTED, *UNWANTED, *libraries, link, lost]
    kept = recipe.trimmed(files, "linux", lambda path: links.get(path, []))
    wanted = {each.name for each in (*WANTED, *libraries[:2], link)}
    assert {each.name for each in kept} == wanted


MODULES = ["ssl", "_ssl", "http.client", "asyncio", "httpx", "numpy.core", "textual"]
WARNINGS = """
missing module named winreg - imported by platform (delayed), review.log.own_file (delayed, conditional)
missing module named pydantic.BaseModel - imported by pydantic (conditional), harness.sealed.strict_records (top-level)
missing module named 'java.lang' - imported by platform (delayed, optional)
missing module named regex - imported by review.desktop.look (top-level)
excluded module named numpy - imported by more_itertools (delayed), harness.card.rows (delayed)
"""


def test_denied_and_absent_modules_stop_the_build() -> None:
    for module in (*MODULES, "PySide6.QtNetwork"):
        refuses(SystemExit, module, recipe.refuse_denied, [module, "review.session"], [])
    refuses(SystemExit, r"libssl\.so\.3", recipe.refuse_denied, ["json"], ["lib/libssl.so.3", "libz.so.1"])
    recipe.refuse_denied(["json", "httpversion"], ["libz.so.1"])
    stopped = refuses(SystemExit, "", recipe.refuse_absent, WARNINGS, ["pydantic", "harness.sealed.strict_records"])
    assert "regex" in str(stopped)
    assert "numpy" in str(stopped)
    assert "winreg," not in str(stopped)
    assert "java" not in str(stopped)
    recipe.refuse_absent(WARNINGS, ["pydantic", "regex", "numpy"])


def test_the_window_and_its_engine_import_nothing_that_is_denied() -> None:
    """Asked of a fresh interpreter, because imports inside functions count as well once they are done."""
    code = (
        "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2]);"
        "import recipe, keyring, review.session.opening, review.session.waiting, harness.sealed.keys,"
        " harness.sealed.sealing, harness.sealed.keys, cryptography.hazmat.primitives.ciphers.aead;"
        "print(*(each for each in sys.modules if recipe.is_denied(each) and each != 'urllib.request'))"
    )
    hook = str(REVIEWER / "without_network.py")
    said = _fresh("-c", code, str(REVIEWER), hook, PYTHONPATH=str(ROOT))
    assert set(said.split()) - {"_hashlib", "unittest", "_cffi_backend"} == set()


def test_fonts_and_words_go_along_and_no_corpus_or_policy() -> None:
    names = {f"{folder}/{Path(source).name}" for source, folder in recipe.datas()}
    for name in ("review/session/locale/fr/LC_MESSAGES/rosetta-review.mo", "corpora/languages/languages.txt"):
        assert name in names
    assert any(name.endswith("CanadianAboriginal-Regular.ttf") for name in names)
    assert any(name.startswith("review/desktop/fonts/") and "OFL" in name for name in names)
    assert not [name for name in names if "sample" in name or "policy" in name or name.endswith(".po")]


# ICU


def test_items_of_icu_are_read_again_and_what_is_none_is_refused() -> None:
    header = (b"\x90\x00\xda\x27\x14\x00\x00\x00\x00\x00\x02\x00CmnD" + bytes(0x90))[:0x90]
    items = {f"icudt73l/coll/{n:02}.res": bytes([n]) * (7 * n + 1) for n in range(9)}
    data = icu.packed(header, items | {"icudt73l/zz": b"last"})
    again_header, again = icu.read_items(b"ELF and so on" + data)
    assert again_header == header
    assert {name: item.rstrip(b"\0") or item for name, item in again.items()}.keys() == items.keys()
    assert all(again[name].startswith(item) for name, item in items.items())
    places = [data.find(item) for item in list(items.values())[1:]]
    assert all(place % 16 == 0 for place in places)
    refuses(icu.IcuError, "", icu.read_items, b"\x7fELF nothing in it")
    refuses(icu.IcuError, "", icu.small_library, Path("libssl.so.3"), Path())


# archives


def test_archives_depend_on_nothing_but_the_content(tmp_path: Path) -> None:
    made = []
    for turn, names in enumerate((["a/b", "c", "empty"], ["empty", "c", "a/b"])):
        folder = tmp_path / str(turn) / "program"
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(name.encode() * (name != "empty"))
            os.utime(folder / name, (turn * 1000, turn * 1000))
        made.append(_packed(folder, tmp_path / str(turn)))
    assert made[0] == made[1]


def _packed(folder: Path, scratch: Path) -> tuple[bytes, bytes]:
    tar = archives.write_tar(folder, scratch / "x.tar.xz", 1_700_000_000)
    packed = archives.write_zip(folder, scratch / "x.zip", 1_700_000_000)
    return tar.read_bytes(), packed.read_bytes()


def test_archives_keep_links_and_what_may_be_run(tmp_path: Path) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "start").write_bytes(b"#!/bin/sh\n")
    (folder / "start").chmod(0o755)
    (folder / "data").write_bytes(b"1")
    (folder / "link").symlink_to("data")
    tar, packed = _packed(folder, tmp_path)
    out = tmp_path / "out"
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # none before 3.11.4
        archive.extractall(out)
        assert {each.uname for each in archive} == {""}
    assert (out / "program" / "link").readlink() == Path("data")
    assert os.access(out / "program" / "start", os.X_OK)
    assert not os.access(out / "program" / "data", os.X_OK)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        modes = {each.filename: each.external_attr >> 16 for each in archive.infolist()}
        assert archive.read("program/link") == b"data"
    assert oct(modes["program/link"]) == "0o120777"
    assert oct(modes["program/start"]) == "0o100755"


def _asked_for(start: str) -> set[str]:
    """Return the packages that are not ours and that a module, or one that it reaches, imports, in functions too."""
    waiting, seen, others = [start], {start}, set()
    while waiting:
        path = ROOT.joinpath(*waiting.pop().split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        found = _IMPORTS.findall(file.read_text("utf-8")) if file.is_file() else ()
        for module, imported in found:
            names = re.findall(r"(\w[\w.]*)(?: as \w+)?", re.sub("#.*", "", imported))
            names = [module, *(f"{module}.{each}" for each in names)] if module else names
            ours = {each for each in names if each.startswith(recipe.PACKAGES)}
            waiting += ours - seen
            seen |= ours
            others |= {each.partition(".")[0] for each in names if each not in ours}
    return others


_IMPORTS = re.compile(r"^ *(?:from ([\w.]+) )?import (\([^)]*\)|[^(\n]+)", re.MULTILINE)
"""Looked for in the text, which takes a tenth of the time of parsing it."""


def _brought(locked: Iterable[str]) -> set[str]:
    """Return the modules of what is locked, as far as it is installed here."""
    found: set[str] = set()
    for each in locked:
        with suppress(PackageNotFoundError):
            files = distribution(each).files or ()
            found |= {file.parts[0].partition(".")[0] for file in files}
    return found


def test_what_the_window_imports_is_in_the_environment_of_the_bundle() -> None:
    lock = (ROOT / "packaging" / "requirements-bundle.lock").read_text("utf-8")
    locked = {line.partition("==")[0].lower() for line in lock.splitlines() if "==" in line}
    asked = _asked_for("review.desktop.program.program") - recipe.MAY_BE_ABSENT
    needed = asked - sys.stdlib_module_names - {*recipe.PACKAGES}
    assert needed >= {"pydantic", "PySide6", "keyring"}
    others = filter(str.isidentifier, needed - _brought(locked))
    lacking = [*map(PathFinder.find_spec, others)]
    assert [each.name for each in lacking if each and "site-packages" in str(each.origin)] == []


WITHOUT_OPENSSL = """
import sys
sys.modules["_hashlib"] = None  # as in the bundle
import hashlib
assert not hasattr(hashlib, "scrypt")
from harness.sealed.sealing import seal_with_passphrase
from review.files.identities import tag_of
from harness.sealed.phrase import phrase
print(tag_of("YBKCTGFM", bytes(32)), phrase("00" * 32))
seal_with_passphrase(b"sentences", "kizun gorot sapos")
"""


def test_codes_and_passphrases_need_no_library_that_is_left_out() -> None:
    assert "_hashlib" in recipe.DENIED
    said = _fresh("-c", WITHOUT_OPENSSL, PYTHONPATH=str(ROOT))
    tag = hashlib.scrypt(b"YBKCTGFM", salt=bytes(32), n=2**14, r=8, p=1, maxmem=2**26, dklen=16)
    assert said.split() == [tag.hex(), *phrase("00" * 32).split()]


def _fresh(*asked: str, **around: str) -> str:
    command, environment = [sys.executable, "-P", *asked], os.environ | around
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


# the advisories of what is locked: asked of an index as it documents them, kept, and looked at without a network

TODAY = date(2026, 11, 23)
PAGE = {
    "info": {"name": "leaky", "version": "1.0"},
    "vulnerabilities": [
        {"id": "PYSEC-2026-7", "aliases": ["CVE-2026-12", "GHSA-x"], "fixed_in": ["1.1", "2.0"],
         "details": "…", "link": "https://elsewhere.example/7", "withdrawn": None},
        {"id": "PYSEC-2026-6", "aliases": [], "fixed_in": [], "withdrawn": None},
        {"id": "PYSEC-2026-5", "fixed_in": ["9"], "withdrawn": "2026-01-02T03:04:05Z"},
    ],
}  # fmt: skip
"""As the documented form of an index has a release."""


_SPEC: Any = spec_from_file_location("advisories", ROOT / "packaging" / "advisories.py")
advisories = module_from_spec(_SPEC)
_SPEC.loader.exec_module(advisories)

Patch: TypeAlias = pytest.MonkeyPatch
Shown: TypeAlias = pytest.CaptureFixture[str]


@contextmanager
def serving(pages: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """An index with some pages; gives its address and what it was asked for."""
    asked: list[str] = []

    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            found = pages.get(self.path, 404)
            data = json.dumps(found).encode() if not isinstance(found, bytes | int) else found
            self.send_response(data if isinstance(data, int) else 200)
            self.end_headers()
            if isinstance(data, bytes):
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with three locks, of three releases in all."""
    (tmp_path / "packaging").mkdir()
    for lock, names in (
        ("requirements.lock", ["leaky==1.0 ; sys_platform == 'win32' \\", "Whole==2.0 \\"]),
        ("requirements-dev.lock", ["leaky==1.0 \\", "unknown==3 \\"]),
        ("packaging/requirements-bundle.lock", ["whole==2.0 \\"]),
    ):
        lines = [f"{each}\n    --hash=sha256:{'0' * 64}" for each in names]
        (tmp_path / lock).write_text("\n".join(lines) + "\n")
    return tmp_path


def test_advisories_are_kept(root: Path, monkeypatch: Patch, capsys: Shown) -> None:
    database = root / "advisories.json"
    pages = {"/pypi/leaky/1.0/json": PAGE, "/pypi/whole/2.0/json": {"vulnerabilities": []}}
    with serving(pages) as (address, asked):
        monkeypatch.setenv("PIP_INDEX_URL", f"{address}/simple/")
        assert advisories.renew(root, database) == 1
    assert asked == ["/pypi/leaky/1.0/json", "/pypi/unknown/3/json", "/pypi/whole/2.0/json"]
    assert "127.0.0.1" not in database.read_text()
    assert "elsewhere.example" not in database.read_text()
    capsys.readouterr()
    when, _ = advisories.read(database)
    assert advisories.check(root, database, when) == 1
    said = capsys.readouterr()
    assert "leaky==1.0: PYSEC-2026-7, CVE-2026-12, GHSA-x: mended in 1.1 or 2.0\n" in said.err
    assert "leaky==1.0: PYSEC-2026-6: no version fixes it yet\n" in said.err
    assert "PYSEC-2026-5" not in said.err
    assert "for 2 of 3 locked releases" in said.out
    assert "Never asked for: unknown==3." in said.out


def test_old_database_is_said(root: Path, capsys: Shown) -> None:
    database = root / "advisories.json"
    told: dict[str, list[dict[str, Any]]] = {each: [] for each in advisories.locked(root)}
    for days, old in ((90, False), (91, True)):
        advisories.write(told, database, date.fromordinal(TODAY.toordinal() - days))
        assert advisories.check(root, database, TODAY) == 0
        said = capsys.readouterr()
        assert ("91 days old" in said.out) is old
        assert said.err == ""


LEAKY = "/pypi/leaky/1.0/json"
TELL_NOTHING: list[tuple[dict[str, Any] | str, str]] = [
    ({}, "has no pages of advisories"), ({LEAKY: {"info": {}}}, "has no field 'vulnerabilities'"),
    ({LEAKY: b"<html>"}, "is no JSON"), ({LEAKY: 403}, "answers with 403"),
    ("http://127.0.0.1:9/simple", "cannot be reached"), ("file:///x", "no index"),
]  # fmt: skip


def test_silent_index_changes_no_file(root: Path, monkeypatch: Patch, capsys: Shown) -> None:
    database = root / "advisories.json"
    advisories.write({"leaky==1.0": []}, database, TODAY)
    before = database.read_bytes()
    for index, why in TELL_NOTHING:
        with serving({} if isinstance(index, str) else index) as (address, _):
            named = index if isinstance(index, str) else f"{address}/simple"
            monkeypatch.setenv("PIP_INDEX_URL", named)
            assert advisories.renew(root, database) == 0
        assert why in capsys.readouterr().err
        assert database.read_bytes() == before


def test_the_locks_of_this_repository_have_no_known_advisory() -> None:
    assert len(advisories.locked()) > 100
    assert advisories.check() == 0
