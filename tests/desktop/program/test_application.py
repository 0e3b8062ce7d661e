"""What the program does with Qt and with the memory its code lies in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
if sys.argv[2] == "changed":
    change()
before = code()[2]
count = let_go_of_code()
after = code()[2]
assert verify(public_key(seed), b"sentences", signature)
assert not verify(public_key(seed), b"sentence", signature)
print(before, count, after, code()[2])
"""


def figures(state: str) -> list[int]:
    """Check a signature and let go; gives kB of that code before, mappings let go, kB after, kB after another check."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", CHECKED, str(ROOT), state],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [int(each) for each in done.stdout.split()]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux is asked")
def test_code_that_checked_a_signature_leaves_memory_and_checks_the_next() -> None:
    before, count, after, again = figures("as in the file")
    assert before > 1_000
    assert count > 5
    assert after == 0
    assert again > 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux is asked")
def test_code_that_was_changed_in_memory_stays() -> None:
    before, count, after, _ = figures("changed")
    assert count > 5
    assert after == before


def test_elsewhere_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert let_go_of_code() == 0
