"""Windows that nobody sees, drawn with the bundled fonts alone; without Qt these tests skip and say why."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.keyring_in_memory import memory_keyring
from tests.review.closing import all_closed

__all__ = ["all_closed"]

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from tests.desktop.item_scene import Make, Scene
    from tests.desktop.visit_scene import Enter, SceneOf

NO_FONTS = Path(__file__).parent / "no_fonts.conf"

os.environ |= {
    "QT_QPA_PLATFORM": "offscreen",
    "QT_FONT_DPI": "96",
    "QT_SCALE_FACTOR": "1",
    "FONTCONFIG_FILE": str(NO_FONTS),
}

try:
    import PySide6.QtWidgets  # noqa: F401  whether it can be
except ImportError as error:
    _WHY_NOT = f"Qt cannot be used here: {error}"
else:
    from pytestqt import qtbot as _qtbot

    _WHY_NOT = ""
    _qtbot.QtBot.waitUntil.__kwdefaults__["timeout"] = 600_000
    """Milliseconds until a window hangs for certain; on a busy machine an action takes longer than the usual five seconds."""


class _Skipped(pytest.Module):
    """A file of tests that is not even read: it imports Qt."""

    def collect(self) -> list[pytest.Item]:
        pytest.skip(_WHY_NOT, allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Skip whole files where Qt cannot be imported."""
    return _Skipped.from_parent(parent, path=module_path) if _WHY_NOT else None


@pytest.fixture(scope="session")
def draws_on_x() -> None:
    """Skip where this system lacks a library with which Qt draws on an X screen; asked in a process of its own."""
    ask = "from review.desktop.program import no_window as w; print(w.what_qt_cannot_load())"
    lacking = subprocess.run(
        [sys.executable, "-c", ask], check=True, capture_output=True, text=True, timeout=600
    ).stdout.strip()
    if lacking:
        pytest.skip(f"Qt cannot draw on an X screen here: {lacking}")


@pytest.fixture(scope="session")
def qapp(qapp: QApplication) -> QApplication:
    """The application, with the bundled fonts."""
    from review.desktop import look

    look.load()
    return qapp


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make what no test here is about cheap: secret words, and code that is let go. Python collects again after it."""
    monkeypatch.setattr("harness.sealed.sealing.WORK", 8)
    monkeypatch.setattr("review.desktop.program.visit.let_go_of_code", lambda: 0)
    yield
    gc.enable()


def as_often_as_wanted(kind: Callable[..., Any], *given: object) -> Iterator[Callable[..., Any]]:
    """Yield what makes scenes, which are closed at the end."""
    made: list[Any] = []

    def make(**wishes: Any) -> Any:
        made.append(kind(*given, **wishes))
        return made[-1]

    yield make
    for scene in made:
        scene.close()


@pytest.fixture
def enter(qtbot: QtBot, tmp_path: Path) -> Iterator[Enter]:
    """Start the program on one laptop."""
    from tests.desktop.visit_scene import Entry

    yield from as_often_as_wanted(Entry, qtbot, tmp_path / "home")


@pytest.fixture
def make(qtbot: QtBot, tmp_path: Path) -> Iterator[Make]:
    """Show the page of an item on one laptop."""
    from tests.desktop.item_scene import Scene

    yield from as_often_as_wanted(Scene, qtbot, tmp_path)


@pytest.fixture
def scene(make: Make) -> Scene:
    """The page of an item at the first of four sentences."""
    return make()


@pytest.fixture
def scene_of(qtbot: QtBot, tmp_path: Path) -> Iterator[SceneOf]:
    """Begin a sitting in a window; none asks the machine's keyring."""
    from tests.desktop.visit_scene import Scene

    with memory_keyring():
        yield from as_often_as_wanted(Scene, qtbot, tmp_path)
