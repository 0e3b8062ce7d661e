"""Names of fields that say where the texts of a corpus may go, however they are written (DESIGN V1)."""

from __future__ import annotations

from difflib import SequenceMatcher
from enum import Enum
from functools import lru_cache

from corpora.text.folding import LONGEST, NEAR, folded_words


class TermMarking(Enum):
    """How the name of a field says that its value is a term."""

    LICENCE = "licence"
    """It holds a licence, in an envelope and in an entry."""
    LOOSELY = "loosely"
    """It holds terms in an envelope; in an entry it may be about words: ``usage: informal``."""
    NOTICE = "notice"
    """It names an owner or a consent, and may add what is forbidden."""
    ROLE = "role"


_LICENCE = frozenset({
    "license", "licence", "licenses", "licences", "licensed", "licenced", "licensing", "rights",
})  # fmt: skip
_LOOSE = frozenset({
    "terms", "usage", "use", "uses", "reuse", "conditions", "condition", "restriction", "restrictions",
    "restricted", "permission", "permissions", "permitted", "access", "sharing", "share", "shareable",
    "redistribution", "policy", "embargo", "confidentiality", "visibility", "gated", "public",
})  # fmt: skip
_BETWEEN = frozenset(
    {"of", "for", "the", "and", "data", "dataset", "corpus", "text", "texts", "file"}
)
_NOTICE = frozenset({"copyright", "holder", "holders", "owner", "owners", "consent"})
_ROLES = frozenset({"role", "corpusrole", "datasetrole"})


@lru_cache(maxsize=4096)
def speaks_of_terms(name: str) -> TermMarking | None:
    """Tell whether a name is, or resembles, that of a field that holds terms; None: it does not."""
    if len(name) > LONGEST:
        return None
    words = folded_words(name)
    joined = "".join(words)
    if joined in _ROLES:
        return TermMarking.ROLE
    if not _NOTICE.isdisjoint(words):
        return TermMarking.NOTICE
    if has_licence_word(words) or joined in _LICENCE or joined == "termsofuse":
        return TermMarking.LICENCE
    loose = [word for word in words if word in _LOOSE]
    if len(loose) > 1:
        return TermMarking.LICENCE
    return TermMarking.LOOSELY if loose and _BETWEEN.issuperset(set(words) - _LOOSE) else None


def has_licence_word(words: list[str]) -> bool:
    """Tell whether one of several folded words is, or resembles, licence."""
    return any(
        word in _LICENCE
        or (
            5 <= len(word) <= 9
            and word[0] == "l"
            and any(
                SequenceMatcher(None, word, each, autojunk=False).ratio() >= NEAR
                for each in ("license", "licence")
            )
        )
        for word in words
    )
