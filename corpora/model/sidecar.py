"""The sidecar beside a corpus, ``FILE.champollion.json``: terms for files that have no place for them.

Its form is that of the reference implementation (set/1), with the values of ``transmission`` and ``training`` that
an envelope may have.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from corpora.files.json_types import Json, JsonObject
from corpora.model.terms import FIELD, OPEN_ROLES, SECRET_ROLES, TRAINING, Term, terms_in
from corpora.model.vocabularies import LOCAL_ONLY, Transmission, sending_of

MARK_SUFFIX = ".champollion.json"
"""Ending of the file beside a corpus that holds terms for it."""
KNOWN_OF_MARK = frozenset({FIELD, TRAINING, "terms", "segment", "tier"})
"""Fields of a mark that are read by their names alone."""
SET_1 = "https://champollion.dev/schemas/set/1.json"
_OF_SET_1 = frozenset({
    "$schema", FIELD, "role", "kind", "pair", "fields", "terms", "id", "name", "license", "tier", "segment", "sha256",
    "rows", "card", "registeredAt", "derived_from", "holders_agreed", "written_by",
})  # fmt: skip
"""Fields of the reference implementation's sidecar; in one that names its schema, others but ``x-…`` are refused."""
_KEPT_TIERS = ("local-only", "sealed", "private")
_TIERS = (*_KEPT_TIERS, "public")


def marks_beside(path: Path) -> list[Path]:
    """Return the marks that hold for a corpus file: its own, by either form of its name, and its folder's."""
    names = (f"{path.name}{MARK_SUFFIX}", f"{path.stem}{MARK_SUFFIX}", MARK_SUFFIX)
    marks = [path.parent / name for name in dict.fromkeys(names)]
    return [mark for mark in marks if mark.exists()]


def terms_of_mark(data: bytes, name: str) -> tuple[list[Term], dict[str, Json]]:
    """Read a mark beside a corpus; gives its terms and all of its fields.

    Raises ValueError, in words, where it cannot be read.
    """
    try:
        fields = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_each_once)
    except _SaidTwiceError as twice:
        what = f"It says {str(twice)!r} twice, so nobody knows which of them holds."
        raise ValueError(what) from None
    except (ValueError, RecursionError) as error:
        raise ValueError("It is no JSON, so nobody knows where the texts may go.") from error
    if not isinstance(fields, dict):
        raise ValueError("It must be a JSON object.")  # noqa: TRY004  one kind for all
    if fields.get("$schema") is not None:
        _refuse_strange(fields)
    plain = {key: value for key, value in fields.items() if key not in _MEANING}
    if fields.get(OWN_FIELD) is not None:
        plain[FIELD] = plain.pop(OWN_FIELD)
    terms = list(terms_in(plain, f"{name}: "))
    # A segment or tier that is not known keeps the texts here.
    for mark, kept, known in (("segment", SECRET_ROLES, (*SECRET_ROLES, *OPEN_ROLES)), ("tier", _KEPT_TIERS, _TIERS)):
        value = fields.get(mark)
        if value is not None and (value in kept or value not in known):
            led_to = LOCAL_ONLY if value in kept else None
            terms.append(Term(f"{name}: {mark}", value, led_to, explicit=True))
    if not terms and fields.get("$schema") != SET_1:
        raise ValueError("It says nothing that is understood, so nobody knows where the texts may go.")
    return terms, {key: value for key, value in fields.items() if key not in {*_MEANING, OWN_FIELD}}


def mark_bytes(sha256: str, said: JsonObject) -> bytes:
    """Return a sidecar of the form set/1 for a corpus file with this hash.

    ``said``: transmission, training (yes or no), role, owner, speakers, speakers_agreed, consent_record, license. Where
    texts may go elsewhere or nowhere at all, the reference implementation, which knows one word only, reads local-only.
    Raises ValueError for a transmission that is not understood.
    """
    given = {name: value for name, value in said.items() if value is not None}
    terms = {name: given.pop(name) for name in _OF_TERMS if name in given}
    if TRAINING in terms:
        terms[TRAINING] = "allowed" if terms[TRAINING] == "yes" else "not-allowed"
    asked = given.pop(FIELD, None)
    sending = None if asked is None else sending_of(asked)
    if asked is not None and sending is None:
        what = f"transmission {str(asked)[:80]!r}"
        raise ValueError(f"{what} is not a word that is known, and no address.")
    fields: dict[str, Json] = {"$schema": SET_1}
    if sending is not None:
        if sending.transmission is not Transmission.OPEN:
            fields[FIELD] = Transmission.LOCAL_ONLY.value
        if sending != LOCAL_ONLY:
            named = sending.transmission is Transmission.NAMED
            fields[OWN_FIELD] = list(sending.endpoints) if named else sending.transmission.value
    fields |= given | ({"terms": terms} if terms else {})
    fields |= {"sha256": sha256, "written_by": "rosetta corpus terms"}
    return (json.dumps(fields, ensure_ascii=False, indent=2) + "\n").encode()


OWN_FIELD = "x-rosetta-transmission"
"""Where a sidecar says more than the reference implementation knows; it goes before ``transmission`` there."""
_OF_TERMS = (TRAINING, "owner", "speakers", "speakers_agreed", "consent_record")
_MEANING = frozenset({"segment", "tier"})
"""Fields of a sidecar whose names mean something else in a corpus."""


def _refuse_strange(fields: JsonObject) -> None:
    """Refuse another schema than that of the sidecar, and fields that it does not have."""
    if fields["$schema"] != SET_1:
        raise ValueError(f"Its $schema is not {SET_1}, so nobody knows what its fields mean.")
    terms = fields.get("terms")
    inner = set(terms) - {*_OF_TERMS} if isinstance(terms, dict) else set()
    strange = [n for n in fields if n not in _OF_SET_1 and not n.startswith("x-")] + sorted(inner)
    if strange or not (terms is None or isinstance(terms, dict)):
        raise ValueError(
            f"It has a field {(strange or ['terms'])[0][:30]!r} that its schema does not have so; fields of your own begin "
            "with x-."
        )


class _SaidTwiceError(ValueError):
    """A field stands twice in one object."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Json]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise _SaidTwiceError(next(name for name in names if names.count(name) > 1)[:30])
    return fields
