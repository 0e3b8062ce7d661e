"""Where the texts of a corpus may go: its terms, and what they lead to (DESIGN V1).

Terms stand in the field ``transmission`` of the envelope or of an entry, in a licence, and in the mark
``….champollion.json`` beside the file. A term that is not understood makes a corpus unusable until its
owner has said what is meant.

Names of fields that say where the texts of a corpus may go, however they are written (DESIGN V1).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum, StrEnum
from functools import lru_cache
from itertools import dropwhile
from pathlib import Path
from typing import Any

from corpora.text.near_names import LONGEST, NEAR, fold, folded_words


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


class Transmission(StrEnum):
    """What may be done with the texts of a corpus."""

    LOCAL_ONLY = "local-only"
    """No text leaves this machine: every entry is handled as one of a secret segment."""
    OPEN = "open"
    """Texts of entries that are not secret may be sent to the endpoint of a method."""


FIELD = "transmission"
MARK_SUFFIX = ".champollion.json"
"""Ending of the file beside a corpus that holds terms for it."""

MEND = (
    f'Write "{FIELD}": "{Transmission.LOCAL_ONLY}" in the envelope (no text leaves this machine), or '
    f'"{Transmission.OPEN}" where you may send the texts elsewhere.'
)

SECRET_ROLES = ("sealed", "test", "holdout", "held_out", "gold_standard")
OPEN_ROLES = ("dev", "development", "diagnostic", "train", "training", "public", "open")
"""What ``role`` of a mark may say: of the first nothing leaves this machine."""

KNOWN_OF_MARK = frozenset({FIELD})
"""Field of a mark that is read by its name alone."""

_FORBIDDING = (
    "nd", "noderivatives", "noderivs", "no derivatives", "no derivative works", "no derivs",
    "all rights reserved", "proprietary", "confidential", "restricted", "local only",
    "internal use", "internal only", "no distribution", "no redistribution", "no transmission",
    "no sharing", "no third party", "no third parties", "not for distribution",
    "not for redistribution", "not to be shared", "not to be distributed", "do not distribute",
    "do not redistribute", "do not share", "do not send", "do not transmit",
)  # fmt: skip
"""Words of a licence that keep texts here. ND: a translation is a derivative."""

_PLAIN = tuple(each for each in _FORBIDDING if " " in each)
"""Those of them that say so in a remark too."""

_OPEN = (
    "cc", "cc0", "cc by", "creative commons", "creativecommons org", "public domain", "pd", "pddl",
    "odbl", "odb l", "odc", "open database", "open data commons", "mit", "apache", "bsd", "0bsd",
    "gpl", "gplv2", "gplv3", "lgpl", "lgplv3", "agpl", "agplv3", "gnu", "gfdl", "mpl", "mozilla",
    "eupl", "ofl", "isc", "zlib", "unlicense", "ogl", "open government", "nlod", "etalab", "cdla",
    "artistic", "attribution",
)  # fmt: skip
"""Beginnings of licences that allow sending, as far as nothing in them forbids it."""

_BEFORE = frozenset({"http", "https", "www", "the", "licence", "license", "licensed", "under", "a"})
"""Words that may stand before the name of a licence."""

_SILENT = frozenset({
    "unknown", "unspecified", "not specified", "not stated", "none", "n a", "na", "null",
})  # fmt: skip
"""What stands in place of a licence where nobody has named one."""

_UNCLEAR = frozenset({
    "no", "not", "only", "without", "permission", "consent", "prohibited", "forbidden", "private",
    "tk", "bc", "ocap", "care", "sovereign", "sovereignty", "community", "custom",
    "agreement", "nda", "contact", "request", "embargo", "closed", "sealed", "secret", "sacred",
})  # fmt: skip
"""Words of a licence that may forbid something that is not understood here."""

_OF_NAMES = frozenset({"no", "only"})
"""Those of them that names of open licences hold: ``GPL-3.0-only``, ``MIT No Attribution``."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the terms of a corpus lead to."""

    transmission: Transmission
    because: str
    """The term and where it stands; empty where there is none."""
    unclear: tuple[tuple[str, str], ...] = ()
    """Field and words of every term that is not understood; texts stay here until it is."""

    @property
    def local_only(self) -> bool:
        """True where no text of the corpus may leave this machine."""
        return self.transmission is Transmission.LOCAL_ONLY

    @property
    def words(self) -> str:
        """Say what holds and why, in one line; empty where no term was given."""
        if not self.because:
            return ""
        led_to = "no text leaves this machine" if self.local_only else "open texts may be sent"
        return f"{led_to} ({self.because})"


@dataclass(frozen=True, slots=True)
class Term:
    """One term as it was found."""

    field: str
    said: Any
    led_to: Transmission | None
    """None: not understood."""
    explicit: bool
    """True for what speaks of transmission itself, which goes before a licence."""


def weighed(terms: Sequence[Term]) -> Terms:
    """Return what several terms lead to together: the strictest; a licence counts where nothing else speaks."""
    spoken = [term for term in terms if term.explicit] or list(terms)
    unclear = tuple(_not_understood(term) for term in spoken if term.led_to is None)
    strict = [term for term in spoken if term.led_to is not Transmission.OPEN]
    first = next(iter(strict or spoken), None)
    if first is None:
        return Terms(Transmission.OPEN, "")
    led_to = Transmission.LOCAL_ONLY if strict else Transmission.OPEN
    return Terms(led_to, f"{first.field}: {str(first.said)[:80]}", unclear)


def _not_understood(term: Term) -> tuple[str, str]:
    if speaks_of_terms(term.field.rpartition(" ")[2]) is TermMarking.ROLE:
        return term.field, (
            f"The role is not understood (permitted: {', '.join(SECRET_ROLES + OPEN_ROLES)}), so nobody "
            "knows where the texts may go."
        )
    if term.explicit:
        return term.field, "The term is not understood, so nobody knows where the texts may go."
    return term.field, "The licence may forbid sending the texts elsewhere; it is not understood."


def terms_in(
    fields: Mapping[str, Any], where: str = "", *, of_entry: bool = False
) -> Iterator[Term]:
    """Yield the terms among the fields of an envelope, an entry or a mark; ``where`` goes before their names."""
    for name, value in fields.items():
        path, speaks = f"{where}{name}", speaks_of_terms(name)
        if value is None:
            continue
        if name == FIELD:
            yield Term(path, value, _transmission(value), explicit=True)
        elif speaks is TermMarking.ROLE:
            led_to = _of_role(value)
            if led_to is Transmission.LOCAL_ONLY or not of_entry:
                yield Term(path, value, led_to, explicit=True)
        elif speaks is None and isinstance(value, dict | list | tuple):
            yield from _terms_inside(path, value, of_entry=of_entry)
        else:
            judge = _judge(speaks, of_entry=of_entry)
            judged = ((said, judge(said)) for said in _texts(value))
            yield from (
                Term(path, said, led_to, explicit=False)
                for said, led_to in judged
                if led_to is not _NOTHING
            )


_NOTHING = object()
"""Of a text that is no term."""


def _judge(speaks: TermMarking | None, *, of_entry: bool) -> Callable[[str], Any]:
    """Return what judges the texts of a field: as a licence, or only by what they forbid."""
    if speaks is TermMarking.LICENCE or (speaks is TermMarking.LOOSELY and not of_entry):
        return licence_leads_to
    if speaks is None and of_entry:
        return lambda _: _NOTHING
    phrases = _PLAIN if speaks is None else _FORBIDDING
    return lambda said: Transmission.LOCAL_ONLY if _holds(phrases, folded_words(said)) else _NOTHING


def _terms_inside(path: str, value: Any, *, of_entry: bool) -> Iterator[Term]:
    """Yield the terms at deeper levels: licences, and of the others those that keep the texts here."""
    for inner in [value] if isinstance(value, dict) else value:
        fields = inner if isinstance(inner, dict) else {"": inner}
        for term in terms_in(fields, f"{path}." if fields is inner else path, of_entry=of_entry):
            if not term.explicit or term.led_to is Transmission.LOCAL_ONLY:
                yield term


def forbids_plainly(text: str) -> bool:
    """Tell whether a remark holds a phrase that keeps texts here: ``do not share``."""
    return _holds(_PLAIN, folded_words(text))


def _holds(phrases: Iterable[str], words: Sequence[str]) -> bool:
    spaced = f" {' '.join(words)} "
    return any(f" {each} " in spaced for each in phrases)


def _transmission(value: Any) -> Transmission | None:
    folded = fold(value) if isinstance(value, str) else ""
    return next((each for each in Transmission if fold(each) == folded), None)


def _texts(value: Any) -> Iterator[str]:
    """Yield every text of a value; a number or true is a text that nobody understands."""
    if isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
    elif value is not None:
        yield str(value)


def licence_leads_to(licence: str) -> Transmission | None:
    """Judge a licence: None where it is not one of those that are known here, or may forbid something."""
    words = folded_words(licence)
    if _holds(_FORBIDDING, words):
        return Transmission.LOCAL_ONLY
    named = f" {' '.join(dropwhile(_BEFORE.__contains__, words))} "
    if any(named.startswith(f" {each} ") for each in _OPEN):
        return None if (_UNCLEAR - _OF_NAMES).intersection(words) else Transmission.OPEN
    silent = " ".join(words) in _SILENT if words else not licence.strip()
    return Transmission.OPEN if silent else None


def marks_beside(path: Path) -> list[Path]:
    """Return the marks that hold for a corpus file: its own, by either form of its name, and its folder's."""
    names = (f"{path.name}{MARK_SUFFIX}", f"{path.stem}{MARK_SUFFIX}", MARK_SUFFIX)
    return [each for name in dict.fromkeys(names) if (each := path.parent / name).exists()]


def terms_of_mark(data: bytes, name: str) -> tuple[list[Term], dict[str, Any]]:
    """Read a mark beside a corpus; gives its terms and all of its fields.

    Raises ValueError, in words, where it cannot be read.
    """
    try:
        fields = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_each_once)
    except _SaidTwiceError as twice:
        raise ValueError(
            f"It says {str(twice)!r} twice, so nobody knows which of them holds."
        ) from None
    except (ValueError, RecursionError) as error:
        raise ValueError("It is no JSON, so nobody knows where the texts may go.") from error
    if not isinstance(fields, dict):
        raise ValueError("It must be a JSON object.")  # noqa: TRY004  one kind for all
    found = list(terms_in(fields, f"{name}: "))
    if not found:
        raise ValueError(
            "It says nothing that is understood, so nobody knows where the texts may go."
        )
    return found, fields


class _SaidTwiceError(ValueError):
    """A field stands twice in one object."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise _SaidTwiceError(next(name for name in names if names.count(name) > 1)[:30])
    return fields


def _of_role(role: Any) -> Transmission | None:
    folded = fold(role) if isinstance(role, str) else ""
    if folded in map(fold, SECRET_ROLES):
        return Transmission.LOCAL_ONLY
    return Transmission.OPEN if folded in map(fold, OPEN_ROLES) else None
