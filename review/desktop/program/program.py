"""``rosetta-review``: what was asked for when the program was started, and what to say where it cannot start."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.core.failures import HarnessError
from harness.core.installation import install_line
from harness.core.version import VERSION
from harness.vault.secret_text import no_core_dumps
from review.session.words.catalogue import checked_tag

_FAILED, _WRONG_USAGE = 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Start the reviewer's window; gives the exit code."""
    no_core_dumps()  # sentences that stay secret may be opened
    asked = _parser().parse_args(argv)
    try:
        language = checked_tag(asked.language) if asked.language else None
    except HarnessError as error:
        return _say(str(error), _WRONG_USAGE)
    if why := _no_qt():
        return _say(why, _FAILED)
    from review.desktop.program.running import check, run

    try:
        return (check if asked.check else run)(asked.places, language)
    except HarnessError as error:
        return _say(str(error), _FAILED)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rosetta-review", description="Judge translated sentences in a window. Nothing is sent over a network."
    )
    parser.add_argument(
        "places",
        nargs="*",
        type=Path,
        metavar="FILE|FOLDER",
        help="a review, or where to look for one; without it, sticks and this computer are searched",
    )
    parser.add_argument("--language", metavar="TAG", help="language of the program, such as en, fr or crk")
    parser.add_argument("--version", action="version", version=f"rosetta-review {VERSION}")
    parser.add_argument(
        "--check",
        action="store_true",
        help="open FILE, draw its first page where nobody sees it, say so in one line, and end",
    )
    return parser


def _no_qt() -> str:
    """Return why Qt, with the part that draws windows, cannot be imported; nothing where it can."""
    try:
        import PySide6.QtWidgets  # noqa: F401  only whether it is there
    except ModuleNotFoundError:
        return (
            "The reviewer's window needs Qt, which is not installed. Install it beside the program: "
            f"{install_line('PySide6-Essentials')}"
        )
    except ImportError as error:
        from review.desktop.program.no_window import no_window

        return no_window(failed=str(error))
    return ""


def _say(words: str, code: int) -> int:
    print(words, file=sys.stderr)
    return code
