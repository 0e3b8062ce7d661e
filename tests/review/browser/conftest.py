"""Browsers with a page, for every test of the room."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.review.browser.drivers import Browser, Chromium, browser
from tests.review.browser.sitting import BROWSERS, written
from tests.review.files import made
from tests.review.office.made import Desk, desk


@pytest.fixture(params=BROWSERS)
async def window(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Browser]:
    async with browser(request.param, tmp_path / "profile", tmp_path / "downloads") as started:
        yield started


@pytest.fixture
def reviewed(tmp_path: Path) -> Desk:
    return desk(tmp_path / "office", reviewers=2, items=12)


@pytest.fixture
async def chromium(tmp_path: Path) -> AsyncIterator[Chromium]:
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    async with browser("chromium", tmp_path / "profile", tmp_path / "downloads") as started:
        yield started


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return written(made.batch(), tmp_path)
