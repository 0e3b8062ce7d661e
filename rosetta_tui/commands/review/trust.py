"""Whose word is taken: the key that somebody names, or that of this machine's organisation."""

from __future__ import annotations

import re
from pathlib import Path

_KEY = re.compile(r"[0-9a-f]{64}")


def as_key(typed: str) -> str | None:
    """Return a public key in its one form, 64 lower-case hexadecimal digits; None where this is none."""
    key = typed.strip().lower()
    return key if _KEY.fullmatch(key) else None


def read_key(named: str) -> str:
    """Read the key of --trust; UsageError where it is none."""
    from harness.core.failures import UsageError

    key = as_key(named)
    if key is None:
        raise UsageError("--trust: a public key has 64 hexadecimal digits. Correct it.")
    return key


def own_key(folder: Path) -> str | None:
    """Return the key of the organisation whose office is in a data folder; None where there is none."""
    from review.office.store.database import FILE
    from review.sealed.keys import Identity, Role

    if not (folder / FILE).exists():
        return None
    return Identity.load(folder, Role.ORGANISATION).public.signing_key
