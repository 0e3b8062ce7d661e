"""What the program around the window does with Qt itself; each in a process of its own, as there is one application."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from review.desktop.program.application import without_mnemonic

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
        timeout=60,
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
