"""Whether a released card or difference is as it was signed; its numbers can be computed again by nobody outside."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Final

from pydantic import ValidationError

from harness.card.checking.signed import KnownSigners
from harness.card.checking.verify import CardCheck, CardVerdict
from harness.core.canonical import canonical_bytes
from harness.release.records import SignedReleasedCard, SignedReleasedDifference
from harness.sealed.keys import key_phrase, says_key
from harness.sealed.phrase import read_words

_FORMS: Final[dict[str, type[SignedReleasedCard | SignedReleasedDifference]]] = {
    "rosetta-released-card": SignedReleasedCard,
    "rosetta-released-difference": SignedReleasedDifference,
}


def verify_released(data: bytes, known: KnownSigners) -> CardVerdict | None:
    """Check a released file against its signature and, where six words are known, its key; None for another file."""
    stated = ""
    with suppress(ValueError, AttributeError, RecursionError):
        stated = str(json.loads(data).get("format", ""))
    form = _FORMS.get(stated.rpartition("/")[0])
    if form is None:
        return None
    verdict = CardVerdict()
    try:
        found = form.model_validate_json(data, strict=True)
        whole = canonical_bytes(found.model_dump(mode="json")) == data.rstrip(b"\n")
    except ValidationError:
        words = "it is not of the form that it states, or of a newer version of Rosetta"
        verdict.checks.append(CardCheck("form", ok=False, words=words))
        return verdict
    signed = whole and found.is_signed_by(found.by)
    phrase = key_phrase(found.by)
    words = (
        f"Ed25519, by the key whose six words are: {phrase}"
        if signed
        else "it was changed after it was signed"
    )
    verdict.checks.append(CardCheck("signature", ok=signed, words=words))
    if known.words:
        mine = says_key(read_words(known.words), found.by)
        said = (
            "the six words are those of this key"
            if mine
            else "the six words are those of another key"
        )
        verdict.checks.append(CardCheck("key", ok=mine, words=said))
    elif found.by in known.keys:
        verdict.checks.append(CardCheck("key", ok=True, words=known.keys[found.by]))
    else:
        verdict.skip("key", "whose it is, their six words by telephone show (--words)")
    verdict.skip("numbers", "they are over secret entries: only who signed can compute them again")
    return verdict
