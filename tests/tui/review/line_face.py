"""Sits at the line face within this process: what is typed, what was printed, what the laptop keeps."""

import io
from pathlib import Path

import pytest

from review.log.fold import ReviewerState, fold
from review.log.laptop import Laptop
from rosetta_tui.review.rating.lines.face import run_lines
from rosetta_tui.review.rating.lines.pages import Console
from rosetta_tui.review.rating.sitting import TerminalOpening
from tests.keyring_in_memory import no_keyring
from tests.review.session.scenes import (
    CODE,
    batch_of,
    write_file,
)

__all__ = ["no_keyring"]

BATCH = "ba" * 8
FIRST = ["1", CODE, "1", "1", "3"]
"""Trust the organisation, type the code, agree, let wordings be used, say that one did not take part."""


def sit(home: Path, file: Path, *lines: str, **options: object) -> tuple[int, str]:
    """Type lines into the face within this process; gives exit code and all that was printed."""
    printed = io.StringIO()
    with Laptop.open(home) as laptop:
        opening = TerminalOpening(laptop, places=[file], **options)  # type: ignore[arg-type]
        typed = io.StringIO("".join(f"{line}\n" for line in lines))
        code = run_lines(opening, Console(typed, printed))
    return code, printed.getvalue()


def state_of(home: Path, code: str = CODE) -> ReviewerState:
    with Laptop.open(home) as laptop:
        return fold(laptop.events()).reviewers.get((BATCH, code), ReviewerState())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_file(batch_of(), tmp_path / "stick")
