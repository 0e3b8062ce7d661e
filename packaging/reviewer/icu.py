"""A smaller ICU for Linux: the library stays, of its data only what Qt asks for.

Qt for Linux is linked to ICU, whose data are a quarter of the bundle: names of languages, currencies, places
and time zones, dictionaries of scripts, converters of old encodings. Qt brings its own tables for writing,
direction, line breaks and numbers, and asks ICU for collation and time zones. The form of the data is that
of ICU's ``udata.h`` and ``ucmndata.h``: a header, a table of contents sorted by name, and the items.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

LIBRARY = re.compile(r"libicudata\.so\.(\d+)")

KEPT = re.compile(
    r"coll/.*|cnvalias\.icu|ulayout\.icu|icustd\.res|icuver\.res|pool\.res|res_index\.res|root\.res"
    r"|keyTypeData\.res|likelySubtags\.res|metaZones\.res|numberingSystems\.res|supplementalData\.res"
    r"|timezoneTypes\.res|windowsZones\.res|zoneinfo64\.res|nfkc\.nrm|nfkc_cf\.nrm|uts46\.nrm"
)
"""Items that stay, by the name after the package's: collation, time zones, and what everything is built on."""

_MAGIC = b"\xda\x27"
_FORM = b"CmnD"
_ALIGNMENT = 16


class IcuError(Exception):
    """The data are not arranged as expected."""


def small_library(library: Path, folder: Path) -> Path:
    """Write a library of the same name and symbol with the kept items only; needs ``as`` and ``ld``."""
    version = LIBRARY.fullmatch(library.name)
    if version is None:
        raise IcuError(f"{library} is not ICU's data")
    data = folder / "icudata.dat"
    data.write_bytes(packed(*kept_items(library.read_bytes())))
    symbol = f"icudt{version[1]}_dat"
    code = folder / "icudata.s"
    code.write_text(
        f'.section .note.GNU-stack,"",%progbits\n.section .rodata\n.balign {_ALIGNMENT}\n'
        f'.globl {symbol}\n.type {symbol}, %object\n{symbol}:\n.incbin "{data}"\n.size {symbol}, .-{symbol}\n'
    )
    small = folder / library.name
    subprocess.run(["as", "-o", folder / "icudata.o", code], check=True)
    link = ["ld", "-shared", "-z", "noexecstack", "-soname", library.name]
    subprocess.run([*link, "-o", small, folder / "icudata.o"], check=True)
    return small


def kept_items(library: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Read the data out of the library; gives their header, and name → bytes of the kept items."""
    header, items = read_items(library)
    kept = {name: item for name, item in items.items() if KEPT.fullmatch(_own(name))}
    if not kept:
        raise IcuError("no item of ICU's data has a name that is kept")
    return header, kept


def read_items(library: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Return the header and all items but the last, whose end is written nowhere."""
    start = library.find(_FORM) - 12
    if start < 0 or library[start + 2 : start + 4] != _MAGIC:
        raise IcuError("the library holds no table of contents of ICU")
    length = struct.unpack_from("<H", library, start)[0]
    table = start + length
    count = struct.unpack_from("<I", library, table)[0]
    places = list(struct.iter_unpack("<II", library[table + 4 : table + 4 + 8 * count]))
    names = [_name(library, table + place) for place, _ in places]
    starts = [table + place for _, place in places]
    if KEPT.fullmatch(_own(names[-1])):
        raise IcuError(f"{names[-1]} is the last item, and its end is written nowhere")
    items = {name: library[begin:end] for name, begin, end in zip(names, starts, starts[1:], strict=False)}
    return library[start:table], items


def packed(header: bytes, items: Mapping[str, bytes]) -> bytes:
    """Lay out items again: the table, the names, and each item on its boundary."""
    names = b"".join(name.encode() + b"\0" for name in items)
    name_place = 4 + 8 * len(items)
    place = name_place + len(names)
    table = struct.pack("<I", len(items))
    pieces = []
    for name, item in items.items():
        gap = -(len(header) + place) % _ALIGNMENT
        table += struct.pack("<II", name_place, place + gap)
        pieces.append(bytes(gap) + item)
        name_place += len(name.encode()) + 1
        place += gap + len(item)
    return header + table + names + b"".join(pieces)


def _name(library: bytes, place: int) -> str:
    return library[place : library.index(b"\0", place)].decode("ascii")


def _own(name: str) -> str:
    """Return a name without the package's."""
    return name.partition("/")[2]
