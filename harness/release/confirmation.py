"""Whether a run confirms a claim: nothing was told before, to anybody, about any of its entries.

Who was told scores over some sentences may have chosen the method by them. So a claim above functional, an ownership
record and a certificate that lifts a card rest on a run over sentences that were not in use before: a custodian
activates held_out entries or rotates the corpus (benchmark specification §9.3.2). Such a run counts once for each
submitter and state of the corpus, so that nobody tries parts of one activation one after the other.

Everything follows from the ledger before the line that tells the run; who has the ledger computes it again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from harness.release.budget import History, ScoreQuestion, history
from harness.release.records import (
    LEAST_CONFIRMED,
    CertificateTold,
    Confirmation,
    ScoresTold,
    Shortfall,
    SignedLedgerRecord,
)

REASONS: Final[Mapping[Shortfall, str]] = {
    "": "nothing was told before about its entries",
    "few entries": f"it has fewer than {LEAST_CONFIRMED} secret entries",
    "told before": "something was told before about entries of it",
    "second run": "its submitter had a confirmed run since entries were last moved",
}
ACTIVATE: Final = (
    f"Activate {LEAST_CONFIRMED} held_out entries with `rosetta vault rotate VAULT CORPUS --from held_out --to gold_standard --count {LEAST_CONFIRMED} "
    "--purpose WORDS`, and run the method over them: `rosetta submission run SUBMISSION CORPUS --confirm`."
)
"""What to do where a run is not confirmed."""


def shortfall(before: History, asked: ScoreQuestion) -> Shortfall:
    """Return why a run that is told now is not confirmed, by all that was told before; empty where it is."""
    facts = asked.facts
    state = (facts.corpus.id, facts.corpus.version, asked.rotations)
    return _shortfall(before, asked.entries, facts.submitter, state)


def _shortfall(
    before: History,
    entries: Collection[str],
    submitter: str,
    state: tuple[str, str | None, int | None],
) -> Shortfall:
    if len(set(entries)) < LEAST_CONFIRMED:
        return "few entries"
    if not before.partition.atoms.keys().isdisjoint(entries):
        return "told before"
    names = before.names_of(submitter)
    earlier = (
        act
        for _, act in before.answers
        if isinstance(act, ScoresTold) and act.card.confirmation == "confirmed"
    )
    second = any(
        (act.corpus, act.card.corpus.version, act.rotations) == state
        and before.names_of(act.submitter) == names
        for act in earlier
    )
    return "second run" if second else ""


def confirmation_of(found: History, run: str) -> Confirmation | None:
    """Return what was told of a run, to whomever; None where its scores were told to nobody."""
    told = [
        act.card.confirmation
        for _, act in found.answers
        if isinstance(act, ScoresTold) and act.run == run
    ]
    if not told:
        return None
    return "confirmed" if "confirmed" in told else "not_confirmed"


def why_unconfirmed(found: History, run: str) -> str:
    """Return why no claim may rest on a run, in words behind "because"; empty where it is confirmed."""
    if confirmation_of(found, run) == "confirmed":
        return ""
    cards = [act.card for _, act in found.answers if isinstance(act, ScoresTold) and act.run == run]
    return REASONS[cards[0].shortfall] if cards else "its scores were told to nobody"


def untold(found: History, digests: Mapping[str, str]) -> tuple[str, ...]:
    """Return the entries about which nothing was told; ``digests``: id of an entry → its digest."""
    known = found.partition.atoms
    return tuple(entry for entry, digest in digests.items() if digest not in known)


def fits_line(lines: Sequence[SignedLedgerRecord], stated: Mapping[str, Any]) -> str:
    """Return why a released file is not what the line of the ledger that it names says; empty where it is.

    ``lines``: a whole ledger, read by ``ledger.checked_lines``. ``stated``: the card, difference, refusal or coarse
    certificate as JSON. What it says of its confirmation is computed again from the lines before.
    """
    place = stated["place"]["line"]
    if not 0 < place < len(lines):
        return "the ledger has no such line"
    act, before = lines[place].act, history((line.when, line.act) for line in lines[:place])
    if isinstance(act, CertificateTold):
        told = json.loads(act.certificate)
    else:
        told = act.card.model_dump(mode="json") if hasattr(act, "card") else None
    if told != {name: value for name, value in stated.items() if name != "signature"}:
        return "the ledger has something else in that line"
    if isinstance(act, CertificateTold) and told["confirmation"] != confirmation_of(before, act.run):  # fmt: skip
        return _OTHERWISE
    if not isinstance(act, ScoresTold):
        return ""
    entries = before.sets.get(act.entries, frozenset()) if act.atoms is None else act.atoms
    state = (act.corpus, act.card.corpus.version, act.rotations)
    why = _shortfall(before, entries, act.submitter, state)
    right = (act.card.confirmation, act.card.shortfall) == stated_as(why)
    return "" if right else _OTHERWISE


_OTHERWISE: Final = "by the lines before it, the ledger says otherwise whether it is confirmed"


def stated_as(why: Shortfall) -> tuple[Confirmation, Shortfall]:
    """Return what a card states of a shortfall."""
    return ("not_confirmed" if why else "confirmed"), why
