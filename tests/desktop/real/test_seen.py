"""The one fault of a release of Qt's binding that ends the program, and the pin that keeps it out."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from review.rating import Rating
from tests.desktop.real.display import Display
from tests.desktop.real.node import GoneError, Node
from tests.desktop.real.reader import Reader
from tests.desktop.real.stage import stage
from tests.desktop.real.waiting import until
from tests.desktop.real.window import Start, Window, window
from tests.review.session.scenes import batch_of, item_id, items_of
from tests.review.thorough import times

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None cannot be lost from Python 3.12 on")
def test_calls_of_fonts_lose_no_reference_of_none() -> None:
    qtgui = pytest.importorskip("PySide6.QtGui")
    font = qtgui.QFont()
    before = sys.getrefcount(None)
    for size in range(1, 501):
        font.setPixelSize(size)
        font.setBold(bool(size % 2))
    assert sys.getrefcount(None) > before - 50


def test_the_release_that_loses_them_is_not_installed() -> None:
    wishes = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]["desktop"]
    packaging = pytest.importorskip("packaging.requirements")
    [wish] = [packaging.Requirement(each) for each in wishes if each.startswith("PySide6")]
    assert "6.12.0" not in wish.specifier
    assert {"6.8.3", "6.9.3", "6.11.3"} <= set(wish.specifier.filter(["6.8.3", "6.9.3", "6.11.3"]))


QtGui = pytest.importorskip("PySide6.QtGui")

THEMES = ("light", "dark", "contrast")
LARGE = 30
SIZES = ("16", "20", "25", "30", "40", "48")
TEXT, RING = 7.0, 3.0
"""The least contrast of letters, and of the ring against what lies beside it."""
RING_PIXELS = 3
Colour = tuple[int, int, int]


def luminance(colour: Colour) -> float:
    """Return the relative luminance of WCAG 2.2."""
    parts = [each / 255 for each in colour]
    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class Picture:
    """A picture of the whole screen."""

    def __init__(self, path: Path) -> None:
        self._image = QtGui.QImage(str(path))
        assert not self._image.isNull()

    def at(self, x: int, y: int) -> Colour:
        pixel = self._image.pixelColor(x, y)
        return pixel.red(), pixel.green(), pixel.blue()

    def within(self, place: tuple[int, int, int, int]) -> Counter[Colour]:
        left, top, width, height = place
        right = min(left + width, self._image.width())
        bottom = min(top + height, self._image.height())
        return Counter(
            self.at(x, y) for y in range(max(0, top), bottom) for x in range(max(0, left), right)
        )


def lettered(nodes: Iterable[Node]) -> list[Node]:
    """Return what shows letters: labels, buttons and texts with something in them."""
    found = []
    for node in nodes:
        with contextlib.suppress(GoneError):
            role = node.role
            written = node.text if role == "text" else node.name
            if role in {"label", "push button", "text"} and written.strip():
                found.append(node)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("theme", THEMES)
def test_letters_stand_out_and_the_ring_is_seen(
    theme: str, reader: Reader, display: Display, start: Start, tmp_path: Path
) -> None:
    scene = stage(tmp_path).know().set(window_colours=theme)
    shown = start(scene, scene.file, guard=0.0)
    shown.press("Return")
    shown.sees(item_id(1))
    shown.press("3")
    shown.sees(item_id(2))
    picture = Picture(display.shoot(tmp_path / "item.png"))
    measured = {node.name: _contrast_of(node, picture) for node in lettered(reader.shown())}
    assert len(measured) >= 12
    assert {name: round(ratio, 1) for name, ratio in measured.items() if ratio < TEXT} == {}
    _measure_ring(reader, display, shown, picture, tmp_path)


def _contrast_of(node: Node, picture: Picture) -> float:
    """Return the contrast of the letters with what lies under them: the strongest colour that is no speck."""
    colours = picture.within(node.place)
    ground = colours.most_common(1)[0][0]
    return max(contrast(ground, colour) for colour, count in colours.items() if count >= 3)


def _measure_ring(
    reader: Reader, display: Display, shown: Window, without: Picture, folder: Path
) -> None:
    button = reader.find("Gist…", "push button")
    button.focus()
    reader.until(lambda: "focused" in button.states)
    left, top, width, height = button.place
    picture = Picture(display.shoot(folder / "ring.png"))
    middle = top + height // 2
    strip = [(x, middle) for x in range(left - 8, left + width // 4)]
    changed = [place for place in strip if picture.at(*place) != without.at(*place)]
    colour, pixels = Counter(picture.at(*place) for place in changed).most_common(1)[0]
    assert pixels >= RING_PIXELS
    beside = {without.at(*place) for place in changed} | {picture.at(left + width // 4, middle)}
    assert min(contrast(colour, each) for each in beside) >= RING, (colour, beside)


@pytest.mark.thorough
@pytest.mark.parametrize("display", ["1024x600"], indirect=True)
@pytest.mark.parametrize("size", SIZES if times(0, 1) else ("20", "48"))
def test_nothing_lies_outside_a_small_screen(
    size: str, reader: Reader, display: Display, start: Start, tmp_path: Path
) -> None:
    scene = stage(tmp_path).know().set(window_text_size=size)
    shown = start(scene, scene.file, guard=0.0)
    shown.press("Return")
    shown.sees(item_id(1))
    _assert_inside(reader, shown, large=int(size) >= LARGE)
    for key in ("c", "Escape", "0", "Escape", "exclam", "Escape", "question"):
        shown.press(key)
        _assert_inside(reader, shown, large=int(size) >= LARGE)
    shown.shoot(tmp_path / f"{size}.png")


def _assert_inside(reader: Reader, shown: Window, *, large: bool) -> None:
    """See that nothing reaches beyond the sides, and that answers are seen whole, or are to be scrolled to."""
    left, top, width, height = reader.window.place
    assert (width, height) == shown.display.size(shown.id)
    for node in reader.shown():
        with contextlib.suppress(GoneError):
            x, y, wide, high = node.place
            name, role = node.name, node.role
            where = f"{role} {name!r} at {(x, y, wide, high)}"
            assert left <= x, where
            assert x + wide <= left + width, where
            if role == "push button":
                assert min(wide, high) >= 44, where
                if name.startswith(("Reject", "Gist", "Acceptable", "Excellent")):
                    assert top <= y, where
                    assert y + high <= top + height or large, where


def test_a_key_that_was_pressed_in_its_sleep_means_the_sentence_that_was_seen(
    display: Display, tmp_path: Path
) -> None:
    scene = stage(tmp_path, batch_of(items_of(4))).know()
    with window(display, scene.home, scene.file, guard=0.0) as shown:
        shown.press("Return")
        shown.sees(item_id(1))
        os.killpg(shown.process.pid, signal.SIGSTOP)
        until(lambda: _state(shown.process.pid) == "T", shown.said)
        shown.press("3")
        assert scene.state().judgements == {}
        os.killpg(shown.process.pid, signal.SIGCONT)
        shown.sees(item_id(2))
        judged = scene.state().judgements
        assert {item: each.rating for item, each in judged.items()} == {
            item_id(1): Rating.ACCEPTABLE
        }
        shown.press("4")
        shown.sees(item_id(3))
        shown.close()
    assert len(scene.state().judgements) == 2


def _state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
