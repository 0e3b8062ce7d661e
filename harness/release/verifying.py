"""Whether a released card, difference or refusal is as it was signed; its numbers can be computed again by nobody outside."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from pydantic import ValidationError

from harness.card.checking.signed import KnownSigners
from harness.card.checking.verdict import CardCheck, CardVerdict
from harness.card.checking.verify import consent_checks
from harness.consent.verifying import Verified
from harness.consent.withdrawals_in_force import CorpusFacts
from harness.core.canonical import canonical_bytes
from harness.release.budget import History
from harness.release.records import (
    ScoresTold,
    SignedReleasedCard,
    SignedReleasedDifference,
    SignedReleasedRefusal,
)
from harness.sealed.keys import key_phrase, says_key
from harness.sealed.phrase import read_words
from harness.store.withdrawn import entry_ids_of_run, known_run

_Form = type[SignedReleasedCard | SignedReleasedDifference | SignedReleasedRefusal]
_FORMS: Final[dict[str, _Form]] = {
    "rosetta-released-card": SignedReleasedCard,
    "rosetta-released-difference": SignedReleasedDifference,
    "rosetta-released-refusal": SignedReleasedRefusal,
}


def check_consent(verdict: CardVerdict, data: bytes, connection: sqlite3.Connection) -> None:
    """Record what notices that are believed here say of a released file as it was signed."""
    verdict.checks += _consent(json.loads(data), connection)


def withdrawn_of(found: History, connection: sqlite3.Connection) -> frozenset[str]:
    """Return the runs whose scores were told and may not be claimed now, by notices that are in force here."""
    scores_tolds = [act for _, act in found.answers if isinstance(act, ScoresTold)]
    return frozenset(
        act.run
        for act in scores_tolds
        if any(
            card_check.ok is False
            for card_check in _consent(act.card.model_dump(mode="json"), connection)
        )
    )


def _consent(stated: Mapping[str, Any], connection: sqlite3.Connection) -> list[CardCheck]:
    """Return what notices that are believed here say of a released file.

    It names neither entries nor all of a method: these are told by the store, where that has the runs.
    """
    corpus, names = stated["corpus"], [stated.get(each) for each in ("run", "first", "second")]
    facts = CorpusFacts("", corpus["id"], language_pair=corpus["language_pair"])
    told: dict[CardCheck, None] = {}
    for name in filter(None, names):
        about = Verified(facts, names_all=False, keys=frozenset({stated["by"]}))
        if (stored := known_run(connection, name)) is not None:
            ids = entry_ids_of_run(connection, name)
            known = frozenset(map(str, ids or ()))
            about = about._replace(
                facts=stored[0], setup=stored[1], ids=known, names_all=ids is not None
            )
        told |= dict.fromkeys(consent_checks(about))
    return list(told)


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
