"""The advisories of what is locked: asked of an index as it documents them, kept, and looked at without a network."""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
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


@pytest.fixture(scope="module")
def advisories() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "advisories", ROOT / "packaging" / "advisories.py"
    )
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


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


def test_advisories_are_kept_and_found_without_the_index(advisories: ModuleType, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
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
    shown = capsys.readouterr()
    assert "leaky==1.0: PYSEC-2026-7, CVE-2026-12, GHSA-x: mended in 1.1 or 2.0\n" in shown.err
    assert "leaky==1.0: PYSEC-2026-6: no version mends it yet\n" in shown.err
    assert "PYSEC-2026-5" not in shown.err
    assert "for 2 of 3 locked releases" in shown.out
    assert "Never asked for: unknown==3." in shown.out


def test_old_database_is_said(
    advisories: ModuleType, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = root / "advisories.json"
    told: dict[str, list[dict[str, Any]]] = {each: [] for each in advisories.locked(root)}
    for days, old in ((90, False), (91, True)):
        advisories.write(told, database, date.fromordinal(TODAY.toordinal() - days))
        assert advisories.check(root, database, TODAY) == 0
        shown = capsys.readouterr()
        assert ("91 days old" in shown.out) is old
        assert shown.err == ""


@pytest.mark.parametrize(
    ("pages", "why"),
    [
        ({}, "has no pages of advisories"),
        ({"/pypi/leaky/1.0/json": {"info": {}}}, "has no field 'vulnerabilities'"),
        ({"/pypi/leaky/1.0/json": b"<html>"}, "is no JSON"),
        ({"/pypi/leaky/1.0/json": 403}, "answers with 403"),
    ],
)
def test_index_that_tells_nothing_changes_no_file(
    advisories: ModuleType, root: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], pages: dict[str, Any], why: str,
) -> None:  # fmt: skip
    database = root / "advisories.json"
    advisories.write({"leaky==1.0": []}, database, TODAY)
    before = database.read_bytes()
    with serving(pages) as (address, _):
        monkeypatch.setenv("PIP_INDEX_URL", f"{address}/simple")
        assert advisories.renew(root, database) == 0
    assert why in capsys.readouterr().err
    assert database.read_bytes() == before


def test_index_that_is_not_reached_is_said(advisories: ModuleType, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    for named, why in (
        ("http://127.0.0.1:9/simple", "cannot be reached"),
        ("file:///x", "no index"),
    ):
        monkeypatch.setenv("PIP_INDEX_URL", named)
        assert advisories.renew(root, root / "advisories.json") == 0
        assert why in capsys.readouterr().err


def test_the_locks_of_this_repository_have_no_known_advisory(advisories: ModuleType) -> None:
    assert len(advisories.locked()) > 100
    assert advisories.check() == 0
