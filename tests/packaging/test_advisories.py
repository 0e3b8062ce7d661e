"""The advisories of what is locked: asked of an index as it documents them, kept, and looked at without a network."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.parts import ROOT

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


_SPEC = spec_from_file_location("advisories", ROOT / "packaging" / "advisories.py")
assert _SPEC is not None
assert _SPEC.loader is not None
advisories = module_from_spec(_SPEC)
_SPEC.loader.exec_module(advisories)


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


Patch = pytest.MonkeyPatch
Shown = Callable[[], Any]


@pytest.fixture
def patch(monkeypatch: Patch) -> Patch:
    return monkeypatch


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Shown:
    return capsys.readouterr


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


def test_advisories_are_kept_without_the_index(root: Path, patch: Patch, shown: Shown) -> None:
    database = root / "advisories.json"
    pages = {"/pypi/leaky/1.0/json": PAGE, "/pypi/whole/2.0/json": {"vulnerabilities": []}}
    with serving(pages) as (address, asked):
        patch.setenv("PIP_INDEX_URL", f"{address}/simple/")
        assert advisories.renew(root, database) == 1
    assert asked == ["/pypi/leaky/1.0/json", "/pypi/unknown/3/json", "/pypi/whole/2.0/json"]
    assert "127.0.0.1" not in database.read_text()
    assert "elsewhere.example" not in database.read_text()
    shown()
    when, _ = advisories.read(database)
    assert advisories.check(root, database, when) == 1
    said = shown()
    assert "leaky==1.0: PYSEC-2026-7, CVE-2026-12, GHSA-x: mended in 1.1 or 2.0\n" in said.err
    assert "leaky==1.0: PYSEC-2026-6: no version mends it yet\n" in said.err
    assert "PYSEC-2026-5" not in said.err
    assert "for 2 of 3 locked releases" in said.out
    assert "Never asked for: unknown==3." in said.out


def test_old_database_is_said(root: Path, shown: Shown) -> None:
    database = root / "advisories.json"
    told: dict[str, list[dict[str, Any]]] = {each: [] for each in advisories.locked(root)}
    for days, old in ((90, False), (91, True)):
        advisories.write(told, database, date.fromordinal(TODAY.toordinal() - days))
        assert advisories.check(root, database, TODAY) == 0
        said = shown()
        assert ("91 days old" in said.out) is old
        assert said.err == ""


LEAKY = "/pypi/leaky/1.0/json"
TELL_NOTHING: list[tuple[dict[str, Any] | str, str]] = [
    ({}, "has no pages of advisories"),
    ({LEAKY: {"info": {}}}, "has no field 'vulnerabilities'"),
    ({LEAKY: b"<html>"}, "is no JSON"),
    ({LEAKY: 403}, "answers with 403"),
    ("http://127.0.0.1:9/simple", "cannot be reached"),
    ("file:///x", "no index"),
]


def test_index_that_tells_nothing_changes_no_file(root: Path, patch: Patch, shown: Shown) -> None:
    database = root / "advisories.json"
    advisories.write({"leaky==1.0": []}, database, TODAY)
    before = database.read_bytes()
    for index, why in TELL_NOTHING:
        with serving({} if isinstance(index, str) else index) as (address, _):
            named = index if isinstance(index, str) else f"{address}/simple"
            patch.setenv("PIP_INDEX_URL", named)
            assert advisories.renew(root, database) == 0
        assert why in shown().err
        assert database.read_bytes() == before


def test_the_locks_of_this_repository_have_no_known_advisory() -> None:
    assert len(advisories.locked()) > 100
    assert advisories.check() == 0
