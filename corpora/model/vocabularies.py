"""Segments of a corpus (benchmark-specification §2.3), labels of Local Contexts, licences, and where texts may go."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import dropwhile
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from corpora.text.messages import fold, folded_words, near_names


class Segment(StrEnum):
    """The partition of the corpus that an entry belongs to (§2.3)."""

    DEVELOPMENT = "development"
    DIAGNOSTIC = "diagnostic"
    GOLD_STANDARD = "gold_standard"
    HELD_OUT = "held_out"

    def __init__(self, name: str) -> None:
        self.secret = name in {"gold_standard", "held_out"}
        """True where neither source nor reference may leave the governance organisation."""


SECRET_SEGMENTS = frozenset(segment for segment in Segment if segment.secret)


SEGMENT_NAMES = {"dev": Segment.DEVELOPMENT, "sealed": Segment.GOLD_STANDARD, "holdout": Segment.HELD_OUT}
"""What the reference implementation calls segments in the sets of its contests."""


# ---- Labels of Local Contexts by their identifiers (``labels.toml``): what a community says of
# who may use its knowledge.
#
# A label may be given as its identifier (``TK NC``, ``tk-nc``), its name (``TK Non-Commercial``)
# or its address.

ADDRESS = "https://localcontexts.org/label/"
"""Below it every label has its page."""
_LOOKS_LIKE_ONE = re.compile(r"\s*((tk|bc)\b|https?://(www\.)?localcontexts\.org)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://(?:www\.)?localcontexts\.org/label/([a-z-]+)/?", re.IGNORECASE)


class ContextLabel(NamedTuple):
    """One label."""

    identifier: str
    """Such as ``TK NC``."""
    name: str
    page: str
    """The last part of its address."""

    @property
    def words(self) -> str:
        """Identifier and name, for people."""
        return f"{self.name} ({self.identifier})"


@cache
def context_labels() -> dict[str, ContextLabel]:
    """Return the labels by identifier, those of traditional knowledge first."""
    table = Path(__file__).with_name("labels.toml").read_text("utf-8")
    return {name: ContextLabel(name, *named) for name, named in tomllib.loads(table).items()}


def find_label(text: str) -> ContextLabel | None:
    """Return the label that a text names by identifier, name or address, in any case; None where it is none."""
    address = _ADDRESS.fullmatch(text.strip())
    asked = fold(address[1] if address else text)
    return _known().get(asked)


def label_words(labels: object) -> tuple[str, ...]:
    """Return the labels of an envelope in words for people: those of Local Contexts with name and identifier, others as they are."""
    given = labels if isinstance(labels, list | tuple) else [labels]
    known = [(text, find_label(text)) for text in given if isinstance(text, str)]
    return tuple(text if label is None else label.words for text, label in known)


def looks_like_label(text: str) -> bool:
    """Return whether a text is meant as one of these labels: it begins with TK or BC, or with the address."""
    return _LOOKS_LIKE_ONE.match(text) is not None


@cache
def _known() -> dict[str, ContextLabel]:
    return {fold(name): label for label in context_labels().values() for name in (*label[:2], label.page, label.words)}


# ---- Classes of licences, and by which words one is known (``licences.toml``) ----
#
# A licence that is in no class, or in an open one with words that may forbid something, is not
# judged: its owner is asked.

UNKNOWN = "unknown"
"""The class of texts of which nobody has said anything."""
_BEFORE = frozenset({"http", "https", "www", "the", "licence", "license", "licensed", "under", "a"})
"""Words that may stand before the name of a licence."""

_UNCLEAR = frozenset({
    "not", "without", "permission", "consent", "prohibited", "forbidden", "private",
    "tk", "bc", "ocap", "care", "sovereign", "sovereignty", "community", "custom",
    "agreement", "nda", "contact", "request", "embargo", "closed", "sealed", "secret", "sacred",
})  # fmt: skip
"""Words of a licence that may forbid something that is not understood here."""


class LicenceClass(NamedTuple):
    """One class; the fields are explained at the head of the file."""

    name: str
    leads_to: str
    because: str
    spdx: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    exactly: tuple[str, ...] = ()
    within: str = ""
    """The class whose beginning a licence must have, too."""


@cache
def licence_classes() -> dict[str, LicenceClass]:
    """Return the classes by name, in the order in which they are examined."""
    table = Path(__file__).with_name("licences.toml").read_text("utf-8")
    classes = {}
    for name, row in tomllib.loads(table).items():
        given: dict[str, Any] = {
            field: tuple(value) if isinstance(value, list) else value for field, value in row.items()
        }
        classes[name] = LicenceClass(name, **given)
    return classes


def licence_class(licence: str) -> LicenceClass | None:
    """Return the class of a licence; None where it is in none, or may forbid something that is not understood."""
    words = folded_words(licence)
    named = list(dropwhile(_BEFORE.__contains__, words))
    classes = licence_classes()
    for licence_class in classes.values():
        within = classes[licence_class.within].begins if licence_class.within else ()
        if holds_phrase(licence_class.words, words) and (not within or _begins(within, named)):
            own = {word for phrase in licence_class.words for word in phrase.split()}
            return None if within and _UNCLEAR.intersection(words) - own else licence_class
        folded = licence.strip().casefold()
        ids = "|".join(re.escape(id_.casefold()) for id_ in licence_class.spdx)
        if ids and re.fullmatch(rf"({ids})(-\d+(\.\d+)*)?(-[a-z]{{2,4}})?", folded):
            return licence_class
        if _begins(licence_class.begins, named):
            known = licence_class.leads_to != "open" or not _UNCLEAR.intersection(words)
            return licence_class if known else None
        nothing = not words and not licence.strip() and licence_class.exactly
        if nothing or (words and " ".join(words) in licence_class.exactly):
            return licence_class
    return None


def holds_phrase(phrases: Iterable[str], words: Sequence[str]) -> bool:
    """Return whether one of several phrases stands among folded words."""
    spaced = f" {' '.join(words)} "
    return any(f" {phrase} " in spaced for phrase in phrases)


def _begins(phrases: Iterable[str], words: Sequence[str]) -> bool:
    spaced = f"{' '.join(words)} "
    return any(spaced.startswith(f"{phrase} ") for phrase in phrases)


# ---- Licences by their ids of the SPDX list (``spdx.txt``), alone or joined in an expression
# (SPDX specification, annex D).

_OWN = re.compile(r"(DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]+")
"""A licence of somebody's own, which no list has."""
_PART = re.compile(r"\(|\)|[^\s()]+")


@cache
def _ids() -> tuple[dict[str, str], frozenset[str]]:
    """Return the licences, in small letters → as they are written, and the exceptions in small letters."""
    text = Path(__file__).with_name("spdx.txt").read_text("utf-8")
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
    begins = sorted(id_ for id_ in known.values() if id_.lower().startswith(f"{asked.lower()}-"))
    numbered = [id_ for id_ in begins if re.fullmatch(r"[\d.]+", id_[len(asked) + 1 :])]
    if numbered:
        return numbered[-1]
    return next(iter(near_names(asked, known.values())), None)


# ---- Where texts may go: the words that say it, from the strictest to the freest, and addresses
# in one form.


class Transmission(StrEnum):
    """What may be done with the texts of a corpus, the strictest first."""

    NOWHERE = "nowhere"
    """As local-only, and no server on this machine is given them either."""
    LOCAL_ONLY = "local-only"
    """No text leaves this machine: every entry is handled as one of a secret segment."""
    NAMED = "named"
    """Texts of entries that are not secret may be sent to the endpoints that the term names."""
    ASK = "ask"
    """A person says of each run whether they may be sent."""
    OPEN = "open"
    """Texts of entries that are not secret may be sent to the endpoint of a method."""

    @property
    def rank(self) -> int:
        """Its place, the strictest 0."""
        return list(Transmission).index(self)

    @property
    def kept_here(self) -> bool:
        """True where no text may leave this machine."""
        return self.rank <= Transmission.LOCAL_ONLY.rank


@dataclass(frozen=True, slots=True)
class Sending:
    """Where the texts of some entries may go."""

    transmission: Transmission
    endpoints: tuple[str, ...] = ()
    """Addresses, where the term names some."""

    @property
    def words(self) -> str:
        """Return it in one line."""
        if self.transmission is Transmission.NAMED:
            return f"open texts may be sent to {', '.join(self.endpoints)} only"
        return _WORDS[self.transmission]

    def strictest(self, other: Sending) -> Sending:
        """Return what holds where both do; two lists of endpoints leave what is in both."""
        if self.transmission is other.transmission is Transmission.NAMED:
            both = tuple(endpoint for endpoint in self.endpoints if endpoint in other.endpoints)
            return Sending(Transmission.NAMED, both) if both else LOCAL_ONLY
        return min(self, other, key=lambda sending: sending.transmission.rank)


LOCAL_ONLY = Sending(Transmission.LOCAL_ONLY)
_WORDS = {
    Transmission.NOWHERE: "no text leaves this machine, nor goes to a server on it",
    Transmission.LOCAL_ONLY: "no text leaves this machine",
    Transmission.ASK: "a person says of each run whether open texts may be sent",
    Transmission.OPEN: "open texts may be sent",
}


def sending_of(value: Any) -> Sending | None:
    """Read a word of ``Transmission``, or one or more addresses; None: not understood."""
    if isinstance(value, str):
        folded = fold(value)
        for transmission in Transmission:
            if fold(transmission) == folded and transmission is not Transmission.NAMED:
                return Sending(transmission)
        value = value.replace(",", " ").split()
    if not isinstance(value, list | tuple) or not value:
        return None
    addresses = [address_of(text) if isinstance(text, str) else None for text in value]
    named = tuple(address for address in addresses if address is not None)
    return Sending(Transmission.NAMED, named) if len(named) == len(value) else None


def address_of(url: str) -> str | None:
    """Return an address in the one form in which two are compared; None where it is none, or could be read as another.

    Scheme, host in lower case, port where it is not the scheme's own, and path. What carries a name or password before
    the host, a query, a step back in its path or other letters than ASCII in its host has no such form.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return None
    host, path = (parts.hostname or "").removesuffix("."), parts.path.rstrip("/")
    odd = parts.username is not None or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme not in _PORTS or odd or not _HOST.fullmatch(host) or _STEPS.search(path):
        return None
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}{'' if port in (None, _PORTS[parts.scheme]) else f':{port}'}{path}"


_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[0-9a-z]([0-9a-z.-]*[0-9a-z])?|[0-9a-f:]+")
_STEPS = re.compile(r"%|\\|//|/\.{1,2}(/|$)")
"""What may lead elsewhere in a path."""


def is_within(url: str, named: Iterable[str]) -> bool:
    """Return whether an address is one of those that are named, or lies below one."""
    address = address_of(url)
    return address is not None and any(f"{address}/".startswith(f"{one}/") for one in named)
