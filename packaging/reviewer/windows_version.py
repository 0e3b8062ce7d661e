"""What Windows shows under Properties, Details: the program's name and version, as PyInstaller reads it."""

from __future__ import annotations

import re
from pathlib import Path

import recipe

_FORM = """VSVersionInfo(
  ffi=FixedFileInfo(filevers={numbers}, prodvers={numbers}, mask=0x3F, flags=0, OS=0x40004, fileType=1,
                    subtype=0, date=(0, 0)),
  kids=[
    StringFileInfo([StringTable("040904B0", [
{strings}
    ])]),
    VarFileInfo([VarStruct("Translation", [0x0409, 1200])]),
  ],
)
"""


def text() -> str:
    """Return the version resource."""
    version = recipe.version()
    numbers = _numbers(version)
    said = {
        "CompanyName": "Rosetta TUI contributors",
        "FileDescription": recipe.TITLE,
        "FileVersion": version,
        "InternalName": recipe.NAME,
        "LegalCopyright": "Apache License 2.0",
        "OriginalFilename": f"{recipe.NAME}.exe",
        "ProductName": recipe.TITLE,
        "ProductVersion": version,
    }
    strings = "\n".join(f"      StringStruct({name!r}, {value!r})," for name, value in said.items())
    return _FORM.format(numbers=numbers, strings=strings)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the four numbers of a version; what makes it a candidate or a development version is not a number."""
    release = re.match(r"[\d.]*\d", version)
    parts = release[0].split(".") if release else ()
    return (*map(int, parts), 0, 0, 0, 0)[:4]


def write(path: Path) -> Path:
    """Write the version resource to a file."""
    path.write_text(text(), encoding="utf-8")
    return path
