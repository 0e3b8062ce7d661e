"""What the program does with Qt and with the memory its code lies in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from PySide6.QtGui import QFont

from review.desktop.program.application import let_go_of_code, without_mnemonic

SCRIPT = """
import json, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QEvent, QSettings, QUrl, Qt
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication, QLineEdit
from review.desktop.program.application import Application
from review.session.words.catalogue import Words

said = {}
words = [Words("xx", "rtl", "Right")]
app = Application(lambda: words[0])
said["rtl"] = app.layoutDirection() is Qt.LayoutDirection.RightToLeft
said["copy"] = QCoreApplication.translate("QLineEdit", "&Copy")
asked = []
app.file_asked.connect(asked.append)
app.postEvent(app, QFileOpenEvent(QUrl.fromLocalFile("/media/x/a.rosetta-batch")))
app.sendPostedEvents()
said["asked"] = [str(each) for each in asked]
words[0] = Words("en", "ltr", "English")
app.speak()
said["ltr"] = app.layoutDirection() is Qt.LayoutDirection.LeftToRight
settings = QSettings("QtProject")
settings.setValue("FileDialog/lastVisited", "/media/secret")
settings.sync()
print(json.dumps(said))
"""


def _said(home: Path) -> dict[str, object]:
    home.mkdir()
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")},
        check=True,
    )
    assert "Traceback" not in ran.stderr
    said: dict[str, object] = json.loads(ran.stdout)
    return said


def test_program_follows_its_words_and_leaves_nothing_of_qt_s(tmp_path: Path) -> None:
    home = tmp_path / "person"
    assert _said(home) == {
        "rtl": True,
        "ltr": True,
        "copy": "Copy",
        "asked": ["/media/x/a.rosetta-batch"],
    }
    assert list(home.rglob("*")) == []


def test_letter_for_alt_is_taken_out_of_words_and_a_sign_stays() -> None:
    assert without_mnemonic("&Copy") == "Copy"
    assert without_mnemonic("Fish && &Chips") == "Fish && Chips"


ROOT = Path(__file__).parents[3]

CHECKED = """
import ctypes, re, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from review.desktop.program.application import let_go_of_code
from harness.sealed.signature import public_key, sign, verify

def code():
    text = Path("/proc/self/smaps").read_text()
    found = re.search(r"(.*)-(.*) r-xp .*/_rust\\..*so\\n(?:.*\\n)*?Rss: +(\\d+) kB", text)
    return int(found[1], 16), int(found[2], 16), int(found[3])

def change():
    begin, end, _ = code()
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    assert protect(begin, end - begin, 7) == 0
    byte = ctypes.c_ubyte.from_address(begin)
    byte.value = byte.value
    assert protect(begin, end - begin, 5) == 0

seed = bytes(range(32))
signature = sign(seed, b"sentences")

def let_go():
    before, count, after = code()[2], let_go_of_code(), code()[2]
    assert verify(public_key(seed), b"sentences", signature)
    assert not verify(public_key(seed), b"sentence", signature)
    print(before, count, after, code()[2])

let_go()
change()
let_go()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux is asked")
def test_code_leaves_memory_unless_it_was_changed_there() -> None:
    """Checks a signature and lets go, twice: kB before, mappings let go, kB after, kB after another check."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", CHECKED, str(ROOT)], capture_output=True, text=True, check=True
    )
    (before, count, after, again), (changed, more, kept, _) = (
        map(int, line.split()) for line in done.stdout.splitlines()
    )
    assert before > 1_000
    assert count > 5
    assert after == 0
    assert again > 0
    assert more > 5
    assert kept == changed


def test_elsewhere_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert let_go_of_code() == 0


# the one fault of a release of Qt's binding that ends the program, and the pin that keeps it out


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None cannot be lost from Python 3.12 on")
def test_calls_of_fonts_lose_no_reference_of_none() -> None:
    font = QFont()
    before = sys.getrefcount(None)
    for size in range(1, 501):
        font.setPixelSize(size)
        font.setBold(bool(size % 2))
    assert sys.getrefcount(None) > before - 50


def test_the_release_that_loses_them_is_not_installed() -> None:
    wishes = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]["desktop"]
    [wish] = [Requirement(each) for each in wishes if each.startswith("PySide6")]
    assert "6.12.0" not in wish.specifier
    assert {"6.8.3", "6.9.3", "6.11.3"} <= set(wish.specifier.filter(["6.8.3", "6.9.3", "6.11.3"]))
