"""Why no window can be shown at all, in words for a terminal: what to do, and where the answers are.

Nothing here needs Qt: it may be what is missing.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from harness.core.failures import HarnessError
from harness.store.sqlite.database import home
from review.session.words.catalogue import Words, words_of_system

# The part of Qt that draws windows on Linux; it needs libraries of the system
_DRAWS = "platforms/libqxcb.so"
# All of them, by the names that Debian and Ubuntu give them
_INSTALL = (
    "sudo apt install libegl1 libgl1 libdbus-1-3 libfontconfig1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 "
    "libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxcb-xkb1"
)
_LIBRARY = re.compile(r"([\w.+-]+\.so[\w.]*): ")


def no_window(said_by_qt: str = "", failed: str = "", *, answers: bool = True) -> str:
    """Return why there is no window; ``failed`` is what the system said of a library that it could not load.

    ``answers`` tells whether a person's answers may lie in the data folder, which is then named.
    """
    words = words_of_system()
    failed = failed or what_qt_cannot_load()
    if library := _LIBRARY.search(failed):
        lines = [
            words("The window cannot be shown: a part of this system is missing or damaged: {name}.", name=library[1]),
            words("Ask for help: it can be installed, on Debian and Ubuntu with all that belongs to it, by this line:"),
            _INSTALL,
        ]  # fmt: skip
    else:
        lines = [
            words(
                "The window cannot be shown: this computer offers no screen to draw on. "
                "Start the program where you see windows."
            )
        ]
    where = where_answers_are(words) if answers else ()
    return "\n".join(filter(None, [*lines, *where, failed or said_by_qt]))


def where_answers_are(words: Words) -> Sequence[str]:
    """Return that nothing is lost, and in which folder to look; nothing where the system knows none."""
    try:
        return [words("Your answers are kept in this folder: {folder}", folder=str(home()))]
    except HarnessError:
        return []


def what_qt_cannot_load() -> str:
    """Try the part of Qt that draws; return what the system says where it cannot be loaded, nothing where it can."""
    if not sys.platform.startswith("linux"):
        return ""
    own = os.environ.get("QT_QPA_PLATFORM_PLUGIN_PATH")
    places = [Path(own).parent] if own else []
    with suppress(ImportError):
        import PySide6

        places += [Path(place) / "Qt" / "plugins" for place in PySide6.__path__]
    for place in places:
        if (place / _DRAWS).is_file():
            try:
                ctypes.CDLL(str(place / _DRAWS))
            except OSError as error:
                return str(error)
            return ""
    return ""
