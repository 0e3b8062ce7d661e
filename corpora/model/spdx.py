"""Licences by their ids of the SPDX list (``spdx.txt``), alone or joined in an expression (SPDX specification, annex D)."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from corpora.text.near_names import near_names

_OWN = re.compile(r"(DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]+")
"""A licence of somebody's own, which no list has."""
_PART = re.compile(r"\(|\)|[^\s()]+")


@cache
def _ids() -> tuple[dict[str, str], frozenset[str]]:
    """Return the licences, in small letters → as they are written, and the exceptions in small letters."""
    text = resources.files("corpora.model").joinpath("spdx.txt").read_text("utf-8")
    *licences, exceptions = re.split(r"^#.*$", text, flags=re.MULTILINE)[-3:]
    known = {spdx_id.lower(): spdx_id for ids in licences for spdx_id in ids.split()}
    return known, frozenset(exceptions.lower().split())


def is_spdx(licence: str) -> bool:
    """Return whether a text is an id of the list, of one's own (``LicenseRef-…``), or an expression of them."""
    known, exceptions = _ids()
    depth, wants_id, after_with, may_with = 0, True, False, False
    for part in _PART.findall(licence):
        small = part.lower()
        if after_with:
            if small not in exceptions:
                return False
            after_with = may_with = False
        elif wants_id and part == "(":
            depth += 1
        elif wants_id:
            if small.removesuffix("+") not in known and not _OWN.fullmatch(part):
                return False
            wants_id, may_with = False, True
        elif part == ")" and depth:
            depth, may_with = depth - 1, False
        elif small in {"and", "or"}:
            wants_id, may_with = True, False
        elif small == "with" and may_with:
            after_with = True
        else:
            return False
    return not (wants_id or after_with or depth)


def nearest_spdx(licence: str) -> str | None:
    """Return the id of the list that is most like a text; None where none is near."""
    known, _ = _ids()
    asked = re.sub(r"[\s_]+", "-", licence.strip())
    beginning = sorted(
        spdx_id for spdx_id in known.values() if spdx_id.lower().startswith(f"{asked.lower()}-")
    )
    numbered = [
        spdx_id for spdx_id in beginning if re.fullmatch(r"[\d.]+", spdx_id[len(asked) + 1 :])
    ]
    if numbered:
        return numbered[-1]
    return next(iter(near_names(asked, known.values())), None)
