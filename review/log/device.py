"""Which installation writes: a random id, made anew where the file was copied or restored.

Two laptops that go on from one copied file under one id would write two chains with the same places.
"""

from __future__ import annotations

import hashlib
import secrets
import sys
import uuid
from pathlib import Path

_MACHINE_IDS = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_WINDOWS_KEY = r"SOFTWARE\Microsoft\Cryptography"
_MULTICAST = 1 << 40
"""Set in a hardware address that ``uuid.getnode`` made up, which is another one each time."""


def new_device() -> str:
    """Return a fresh id, 16 hexadecimal digits."""
    return secrets.token_hex(8)


def fingerprint(path: Path) -> str:
    """Return a hash that stays the same while a file stays where it is: of machine, path, inode and birth.

    Where it changes for another reason, such as a file system without lasting inodes, no more happens than
    that a new chain begins. A file whose old content was written over it looks the same here; whoever
    brings events together sees that by two events at one place (``log.chain``).
    """
    place = path.resolve()
    found = place.stat()
    facts = f"{_machine()}\n{place}\n{found.st_ino}\n{getattr(found, 'st_birthtime', '')}"
    return hashlib.sha256(facts.encode(errors="surrogateescape")).hexdigest()


def _machine() -> str:
    """Return what tells this computer from others, empty where nothing lasting does."""
    given = _given_id()
    node = 0 if given else uuid.getnode()
    return given or ("" if node & _MULTICAST else f"{node:012x}")


def _given_id() -> str:
    if sys.platform == "win32":
        import winreg

        access = winreg.KEY_READ | winreg.KEY_WOW64_64KEY
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _WINDOWS_KEY, access=access) as key:
                return str(winreg.QueryValueEx(key, "MachineGuid")[0])
        except OSError:
            return ""
    for place in _MACHINE_IDS:
        if place.is_file():
            return place.read_text(encoding="ascii", errors="replace").strip()
    return ""
