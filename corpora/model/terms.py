"""Where the texts of a corpus may go: its terms, and what they lead to (DESIGN V1).

Terms are in the field ``transmission`` of the envelope or of an entry, in a licence, and in the mark
``….champollion.json`` beside the file. A term that is not understood makes a corpus unusable until its
owner has said what is meant. Names of such fields are known however they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from functools import lru_cache, partial, reduce
from typing import Any, Never, SupportsIndex, final

from corpora.files.json_types import JsonObject
from corpora.files.packed_list import PlaceMap, changed
from corpora.model.entry import AnyEntry, Entry, SecretEntry, secrets_among
from corpora.model.vocabularies import (
    LOCAL_ONLY,
    UNKNOWN,
    Sending,
    Transmission,
    holds_phrase,
    is_within,
    licence_class,
    licence_classes,
    sending_of,
)
from corpora.text.messages import LONGEST, NEAR, fold, folded_words


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
_BETWEEN = frozenset({"of", "for", "the", "and", "data", "dataset", "corpus", "text", "texts", "file"})
_NOTICE = frozenset({"copyright", "holder", "holders", "owner", "owners", "consent"})
_ROLES = frozenset({"role", "corpusrole", "datasetrole"})


@lru_cache(maxsize=1024)
def speaks_of_terms(name: str) -> TermMarking | None:
    """Return whether a name is, or resembles, that of a field that holds terms; None: it does not."""
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
    """Return whether one of several folded words is, or resembles, licence."""
    alike = [word for word in words if 5 <= len(word) <= 9 and word[0] == "l"]
    return not _LICENCE.isdisjoint(words) or any(
        SequenceMatcher(None, word, spelling, autojunk=False).ratio() >= NEAR
        for word in alike
        for spelling in ("license", "licence")
    )


FIELD = "transmission"
TRAINING = "training"
MEND = (
    f'Write "{FIELD}": "{Transmission.LOCAL_ONLY}" in the envelope (no text leaves this machine), or '
    f'"{Transmission.OPEN}" where you may send the texts elsewhere.'
)
SECRET_ROLES = ("sealed", "test", "holdout", "held_out", "gold_standard")
OPEN_ROLES = (
    "dev", "development", "diagnostic", "train", "training", "public", "open", "input", "resource",
)  # fmt: skip
"""What ``role`` of a mark may say: of the first nothing leaves this machine. The others say no more than that."""
_ALLOWED = {
    "yes": True, "true": True, "allowed": True, "no": False, "false": False, "not-allowed": False,
    "not allowed": False,
}  # fmt: skip
_FORBIDDEN = {"true": False, "yes": False, "false": True, "no": True}
_TRAINED: Mapping[str, Mapping[str, bool | None]] = {
    TRAINING: _ALLOWED,
    "do_not_train": _FORBIDDEN,
    "doNotTrain": _FORBIDDEN,
    "speakers_agreed": {"yes": None, "not-yet": False, "some-said-no": False},
}
"""Field → its values → whether a model may learn from the texts."""
_FORBIDDING = tuple(phrase for name in ("closed", "no-derivatives") for phrase in licence_classes()[name].words)
"""Words of a licence that keep texts here. ND: a translation is a derivative."""
_PLAIN = tuple(phrase for phrase in _FORBIDDING if " " in phrase)
"""Those of them that say so in a remark too."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the terms of a corpus lead to."""

    transmission: Transmission
    """The strictest of all segments."""
    because: str
    """The term and where it stands; empty where there is none."""
    unclear: tuple[tuple[str, str], ...] = ()
    """Field and words of every term that is not understood; texts stay here until it is."""
    endpoints: tuple[str, ...] = ()
    segments: tuple[tuple[str, Sending], ...] = ()
    """Segments of which something is said on its own; all others have no text that may leave then."""
    licence_class: str = ""
    """Of the licence that the rule follows from; empty where another term is."""
    training: bool | None = None
    """Whether a model may learn from the texts; None: nobody has said."""

    @property
    def local_only(self) -> bool:
        """True where some text of the corpus may not leave this machine, whatever its segment."""
        return self.transmission.kept_here

    @property
    def words(self) -> str:
        """Return what holds and why, in one line; empty where no term was given."""
        if not self.because:
            return ""
        parts = [f"{name}: {sending.words}" for name, sending in self.segments]
        led_to = "; ".join([*parts, "all others: no text leaves this machine"]) if parts else self.sending(None).words
        learn = "" if self.training is not False else ", and no model may learn from them"
        return f"{led_to}{learn} ({self.because})"

    def sending(self, segment: str | None) -> Sending:
        """Return where the texts of a segment may go."""
        if self.segments:
            return dict(self.segments).get(segment or "", LOCAL_ONLY)
        return Sending(self.transmission, self.endpoints)

    def by_segment(self, segments: Mapping[str, bool]) -> dict[str, Sending]:
        """Return what holds for segments; of one whose entries are all secret (True) only where the terms keep it here."""
        sendings = {segment: self.sending(segment or None) for segment in segments}
        return {name: it for name, it in sendings.items() if not segments[name] or it.transmission.kept_here}

    def keeps(self, segment: str | None) -> bool:
        """Return whether no text of a segment may leave this machine."""
        return self.sending(segment).transmission.kept_here

    @property
    def rule(self) -> str:
        """Return what class of licence or term it is, and why it leads there; a sentence without its end."""
        known = licence_classes().get(self.licence_class)
        return known.because if known is not None else "the owner of the texts said so"

    @property
    def as_written(self) -> Any:
        """Return the value of ``transmission`` that says it in a file."""

        def simple(each: Sending) -> Any:
            named = each.transmission is Transmission.NAMED
            return list(each.endpoints) if named else each.transmission.value

        return {n: simple(sending) for n, sending in self.segments} if self.segments else simple(self.sending(None))


@dataclass(frozen=True, slots=True)
class Term:
    """One term as it was found."""

    field: str
    said: Any
    led_to: Sending | None
    """None: not understood."""
    explicit: bool
    """True for what speaks of transmission itself, which goes before a licence."""
    segments: tuple[tuple[str, Sending], ...] = ()
    licence_class: str = ""
    training: bool | None = None
    """Of a term that says only who may learn from the texts."""

    @property
    def of_training(self) -> bool:
        """True where it says nothing of where the texts may go."""
        return self.training is not None

    def sending(self, segment: str) -> Sending:
        """Return where it lets the texts of a segment go; what is not understood keeps them here."""
        if self.segments:
            return dict(self.segments).get(segment, LOCAL_ONLY)
        return self.led_to or LOCAL_ONLY


def weighed(terms: Sequence[Term]) -> Terms:
    """Return what several terms lead to together: the strictest; a licence counts where nothing else speaks."""
    learning = [term.training for term in terms if term.of_training]
    training = all(learning) if learning else None
    about = [term for term in terms if not term.of_training]
    spoken = [term for term in about if term.explicit] or about
    unclear = tuple(_not_understood(term) for term in spoken if term.led_to is None)
    if not spoken:
        return Terms(Transmission.ASK, "", licence_class=UNKNOWN, training=training)
    names = dict.fromkeys(name for term in spoken for name, _ in term.segments)
    segments = tuple((name, _strictest([term.sending(name) for term in spoken])) for name in names)
    whole = _strictest([term.led_to or LOCAL_ONLY for term in spoken])
    first = min(spoken, key=lambda term: (term.led_to or LOCAL_ONLY).transmission.rank)
    words = str(first.said)[:80]
    says = f": {words}" if words.strip() else " is there and says nothing"
    reason, kind = f"{first.field}{says}", first.licence_class
    return Terms(whole.transmission, reason, unclear, whole.endpoints, segments, kind, training)


def _strictest(found: Sequence[Sending]) -> Sending:
    return reduce(Sending.strictest, found)


def _not_understood(term: Term) -> tuple[str, str]:
    if speaks_of_terms(term.field.rpartition(" ")[2]) is TermMarking.ROLE:
        return term.field, (
            f"The role is not understood (permitted: {', '.join(SECRET_ROLES + OPEN_ROLES)}), so nobody "
            "knows where the texts may go."
        )
    if term.explicit:
        return term.field, "The term is not understood, so nobody knows where the texts may go."
    return term.field, "The licence may forbid sending the texts elsewhere; it is not understood."


def terms_in(fields: JsonObject, where: str = "", *, of_entry: bool = False) -> Iterator[Term]:
    """Yield the terms among the fields of an envelope, an entry or a mark; ``where`` goes before their names."""
    for name, value in fields.items():
        path, speaks = f"{where}{name}", speaks_of_terms(name)
        if value is None:
            continue
        if name == FIELD:
            yield _explicit(path, value)
        elif name in _TRAINED and not of_entry:
            yield from _of_training(path, name, value)
        elif name == "terms" and isinstance(value, dict) and set(value) <= _TERMS_OF_SET_1:
            for inner in filter(_TRAINED.__contains__, value):
                yield from _of_training(f"{path}.{inner}", inner, value[inner])
            owners = {inner: value[inner] for inner in ("owner", "speakers") if inner in value}
            yield from _terms_inside(path, owners, of_entry=of_entry)
        elif speaks is TermMarking.ROLE:
            folded = fold(value) if isinstance(value, str) else ""
            led_to = Sending(Transmission.OPEN) if folded in map(fold, OPEN_ROLES) else None
            led_to = LOCAL_ONLY if folded in map(fold, SECRET_ROLES) else led_to
            if led_to == LOCAL_ONLY or not of_entry:
                yield Term(path, value, led_to, explicit=led_to is None or led_to == LOCAL_ONLY)
        elif speaks is None and isinstance(value, dict | list | tuple):
            yield from _terms_inside(path, value, of_entry=of_entry)
        else:
            yield from _of_licences(path, value, _judge(speaks, of_entry=of_entry))


_NOTHING = object()
"""Of a text that is no term."""


_TERMS_OF_SET_1 = {TRAINING, "speakers_agreed", "consent_record", "owner", "speakers"}
"""Fields by which the ``terms`` of a sidecar of the reference implementation differ from terms in words."""


def _of_training(path: str, name: str, value: Any) -> Iterator[Term]:
    """Yield who may learn from the texts; what is not understood is a term that nobody understands."""
    known, answer = _TRAINED[name], str(value).strip().lower()
    if known.get(answer, False) is not None:
        yield Term(path, value, None, explicit=True, training=known.get(answer))


def _of_licences(path: str, value: Any, judge: Callable[[str], Any]) -> Iterator[Term]:
    for text in _texts(value):
        licence = judge(text)
        if licence is None:
            yield Term(path, text, None, explicit=False)
        elif licence is not _NOTHING:
            led_to = Sending(Transmission(licence.leads_to))
            yield Term(path, text, led_to, explicit=False, licence_class=licence.name)


def _judge(speaks: TermMarking | None, *, of_entry: bool) -> Callable[[str], Any]:
    """Return what judges the texts of a field: as a licence, or only by what they forbid."""
    if speaks is TermMarking.LICENCE or (speaks is TermMarking.LOOSELY and not of_entry):
        return licence_class
    if speaks is None and of_entry:
        return lambda _: _NOTHING
    phrases = _PLAIN if speaks is None else _FORBIDDING
    return lambda text: licence_class(text) if holds_phrase(phrases, folded_words(text)) else _NOTHING


def _terms_inside(path: str, value: Any, *, of_entry: bool) -> Iterator[Term]:
    """Yield the terms at deeper levels: licences, and of the others those that keep the texts here."""
    for inner in [value] if isinstance(value, dict) else value:
        fields = inner if isinstance(inner, dict) else {"": inner}
        for term in terms_in(fields, f"{path}." if fields is inner else path, of_entry=of_entry):
            if not term.explicit or (term.led_to or LOCAL_ONLY).transmission.kept_here:
                yield term


def forbids_plainly(text: str) -> bool:
    """Return whether a remark holds a phrase that keeps texts here: ``do not share``."""
    return holds_phrase(_PLAIN, folded_words(text))


def _explicit(path: str, value: Any) -> Term:
    """Read a value of ``transmission``: a word, addresses, or one of both for each open segment."""
    if isinstance(value, dict) and value:
        parts = {name: sending_of(stated) for name, stated in value.items()}
        known = tuple((name, part) for name, part in parts.items() if part is not None)
        if len(known) == len(parts) and {*parts} <= {*_OPEN_SEGMENTS}:
            return Term(path, value, LOCAL_ONLY, explicit=True, segments=known)
        return Term(path, value, None, explicit=True)
    return Term(path, value, sending_of(value), explicit=True)


_OPEN_SEGMENTS = ("development", "diagnostic")
"""Segments of which a term can say something on its own; no term opens a secret one."""


def _texts(value: Any) -> Iterator[str]:
    """Yield every text of a value; a number or true is a text that nobody understands."""
    if isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
    elif value is not None:
        yield str(value)


# ---- Where texts may go and which of them nobody is shown, decided once while a run is prepared (DESIGN V1) ----


@final
@dataclass(frozen=True, slots=True)
class Clearance:
    """What may be done with the texts of some entries; all code that sends them, or keeps what is answered, needs one.

    ``harness.privacy`` alone makes it, once this process refuses connections where it has to. It holds for this process.
    """

    secret: frozenset[int] = frozenset()
    """Places in the corpus of the entries that no log, cache, message or card may quote."""
    sending: Sending = LOCAL_ONLY
    """The strictest of what holds for the entries."""
    marks: frozenset[int] = frozenset()
    """Of the sealed entries that it reveals."""

    @property
    def kept_here(self) -> bool:
        """True where no text may leave this machine."""
        return self.sending.transmission.kept_here

    def allows(self, url: str, *, local: bool) -> bool:
        """Return whether texts may be sent to an address; ``local``: it is one of this machine."""
        if self.sending.transmission is Transmission.NOWHERE:
            return False
        if local or self.sending.transmission is not Transmission.NAMED:
            return local or not self.kept_here
        return is_within(url, self.sending.endpoints)

    def covers(self, entries: Mapping[int, AnyEntry]) -> bool:
        """Return whether it was made for these entries, by place: it knows each that is secret."""
        looked_at = entries.in_order if isinstance(entries, PlaceMap) else entries.values()
        none = not any(secrets_among(looked_at))
        return none or all(place in self.secret for place, entry in entries.items() if entry.secret)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Never:
        raise TypeError("A clearance holds for the process that made it: make another.")


def reveal_all(entries: Sequence[AnyEntry], clearance: Clearance) -> Sequence[Entry]:
    """Return entries as ``reveal`` does; a packed list without a secret one is the list itself."""
    return changed(entries, partial(reveal, clearance=clearance), only_unpacked=True)


def reveal(entry: AnyEntry, clearance: Clearance) -> Entry:
    """Return an entry with its texts; raises ValueError where it is sealed and the clearance was not made for it."""
    if not isinstance(entry, SecretEntry):
        return entry
    if entry.mark in clearance.marks:
        return entry._entry  # noqa: SLF001  the only door to it
    raise ValueError("the clearance is that of another run")
