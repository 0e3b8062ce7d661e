"""What a box runs: a folder of code, an entry point, wheels, and what the method is given."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from harness.core.failures import UsageError

_ENTRY: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class BoxedCode:
    """Code of others, arranged in plain folders that we made.

    ``entry`` names a class or function of a module in ``folder``, as ``module:name``. A function is called with a list of
    texts and gives a list of as many translations, each a text or None. A class is made once, with the options as one
    dictionary, and its ``translate`` is such a function; a plain function takes the options as its second argument where it
    takes two.
    """

    folder: Path
    """Holds the code, without links; made readable for everybody, so it belongs into a folder that is private."""
    entry: str
    requirements: Path | None = None
    """A requirements file in which each line has its hashes; None: the method needs the standard library alone."""
    wheels: Path | None = None
    """Folder of the wheels that the requirements name."""
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    """What the method is told."""

    def check(self) -> None:
        """Raise UsageError where something is missing, a link, or no entry point; open the folders for reading.

        The box has its own user, who must be able to read what it runs.
        """
        if not _ENTRY.fullmatch(self.entry):
            raise UsageError(
                f"The entry point {self.entry!r} is none. Write MODULE:NAME, such as translator:translate."
            )
        if (self.requirements is None) != (self.wheels is None):
            raise UsageError(
                "Wheels and their requirements with hashes go together: give both, or none."
            )
        for place in filter(None, (self.folder, self.wheels, self.requirements)):
            for path in _everything(place):
                try:
                    mode = path.lstat().st_mode
                except OSError as error:
                    raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
                if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                    raise UsageError(
                        f"{path} is a link or a device. A box runs plain files only: take it out."
                    )
                wanted = 0o755 if stat.S_ISDIR(mode) else 0o644
                if stat.S_IMODE(mode) & wanted != wanted:
                    path.chmod(stat.S_IMODE(mode) | wanted)


def _everything(place: Path) -> Iterator[Path]:
    yield place
    if not place.is_symlink() and place.is_dir():
        for path in place.iterdir():
            yield from _everything(path)
