"""The program in one language after the other; run as ``python -m tests.desktop.speaking TAG…``.

For each it prints, in one line of JSON, which language it speaks and how its first page lies.
"""

from __future__ import annotations

import json
import sys

from PySide6.QtCore import QCoreApplication, QPoint, Qt, QTimer

from review.desktop.pages.choose_page import ChoosePage
from review.desktop.parts.buttons import Button
from review.desktop.program.running import Running


def main(tags: list[str]) -> None:
    """Begin in the first language, and go on to the others as the settings do."""
    running = Running([], tags[0])
    left = [*tags[1:], ""]

    def look() -> None:
        window = running.window
        page = window.page if window is not None else None
        if not isinstance(page, ChoosePage) or not page.isVisible() or running.work.busy:
            QTimer.singleShot(10, look)
            return
        QTimer.singleShot(50, lambda: tell(page))

    def tell(page: ChoosePage) -> None:
        foot = page._foot  # its order is the same whatever a language calls the buttons
        first, second = foot.itemAt(0).widget(), foot.itemAt(1).widget()
        assert isinstance(first, Button)
        line = {
            "tag": running.words.language,
            "mirrored": running.app.layoutDirection() is Qt.LayoutDirection.RightToLeft,
            "first button is left": _x(first) < _x(second),
            "copy": QCoreApplication.translate("QWidgetTextControl", "&Copy"),
        }
        print(json.dumps(line), flush=True)
        tag = left.pop(0)
        if not tag:
            running.end()
        else:
            page.language.emit(tag)
            QTimer.singleShot(10, look)

    running.begin()
    QTimer.singleShot(0, look)
    running.app.exec()
    running.close()


def _x(widget: object) -> int:
    return widget.mapToGlobal(QPoint(0, 0)).x()  # type: ignore[attr-defined,no-any-return]


if __name__ == "__main__":
    main(sys.argv[1:])
