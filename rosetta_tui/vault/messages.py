"""What a vault's log, its keepers and its requests say in plain words, without Textual: for screens and commands alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from corpora.model.entry import Segment
from corpora.text.messages import counted, to_minute
from harness.card.withholding import Range, expected_half
from harness.release.ledger_records import LEAST_CONFIRMED
from harness.vault import grant_log, keepers, log, shares, vault_records
from harness.vault import request as work
from harness.vault.folder import VaultState
from harness.vault.grants.files import counts, standing

CHRF_ENDS: Final[Range] = (0.0, 100.0)


def telling(stored: vault_records.StoredCorpus) -> Iterator[str]:
    """Yield for each secret segment which difference of two methods its entries tell; a sentence without its end."""
    for segment, points in sorted(stored.smallest_differences.items()):
        count = counted(stored.entries[segment], "entry", "entries")
        yield f"{segment}: two methods that differ by less than {points:g} points of chrF++ cannot be told apart by its {count}"


def told_outside(stored: vault_records.StoredCorpus) -> Iterator[str]:
    """Yield for each secret segment that is run over how finely a released card shows it; a sentence without its end."""
    for segment, entries in sorted(stored.entries.items()):
        if segment is Segment.HELD_OUT and entries:
            yield f"{segment}: a run that confirms a claim needs {LEAST_CONFIRMED} entries that were never told of; move them into use with rosetta vault check-up"
        if not segment.secret or segment is Segment.HELD_OUT or not entries:
            continue
        half, count = expected_half(entries, CHRF_ENDS, 0), counted(entries, "entry", "entries")
        yield f"{segment}: a submitter's later run over its {count} gets new scores if it beats their best by {half:.1f} points of chrF++"


def losing(count: int, threshold: int) -> str:
    """Return how many shares may be lost."""
    lost = shares.lost_for_good(count, threshold)
    if lost == 1:
        return f"If a single one of the {count} shares is lost, nobody can ever open the texts again."
    return f"If {lost} of the {count} shares are lost, nobody can ever open the texts again; {lost - 1} may be lost, so make new shares as soon as one is lost."


# The log


@dataclass(frozen=True, slots=True)
class LoggedAct:
    """One line of the log as people read it."""

    when: str
    """UTC, as it is in the log."""
    by: str
    what: str
    """The kind of act, as files name it."""
    words: str
    purpose: str | None
    clock_set_back: bool
    id: str
    """SHA-256 of the line."""


def logged_acts(state: VaultState) -> Sequence[LoggedAct]:
    """Return all lines of a vault's log, the oldest first."""
    names = {keeper.signing_key: keeper.name for keeper in state.founded.keepers}
    names |= {key_split.signing_key: keepers.TOGETHER_NAME for key_split in log.splits_of(state.lines)}
    corpora = {number: corpus.name for number, corpus in state.head.corpora.items()}
    logged_acts, used = [], set[str]()
    for line in state.lines:
        act, by = line.record.act, names[line.record.by]
        if isinstance(act, vault_records.Enrolled):  # a name counts from its line on
            names[act.keeper.signing_key] = act.keeper.name
        if isinstance(act, vault_records.Dealt):
            names |= {keeper.signing_key: keeper.name for keeper in act.keepers}
        words = _words(act, corpora, names)
        if isinstance(act, vault_records.OpenedByGrant):
            words = words.replace("used up", "continued by") if act.grant in used else words
            used.add(act.grant)
        logged_acts.append(
            LoggedAct(
                when=line.record.when,
                by=by,
                what=act.what,
                words=words,
                purpose=getattr(getattr(act, "request", act), "purpose", None),
                clock_set_back=line.record.clock_set_back,
                id=line.id,
            )
        )
    return logged_acts


_WORKS = {
    "run": "the run",
    "score": "the scoring",
    "sweep": "a sweep",
    "estimate": "an estimate of a run",
    "resume": "going on with the run",
    "retry": "asking again for failed entries of the run",
    "rescore": "scoring again the run",
    "calibrate": "comparing with people's ratings the run",
    "seal": "signing the card of the run",
    "compare": "telling how others differ from the run",
    "look": "reading on the screen the run",
    "review": "sealing for speakers' laptops sentences of the run",
    "adjudicate": "deciding on what speakers flagged in the run",
    "check": "checks and counts",
    "script": "a script or notebook",
    "export": "the community's own export, in open files",
}


def _words(act: vault_records.Act, corpora: Mapping[str, str], names: Mapping[str, str]) -> str:
    match act:
        case vault_records.Added():
            words = f"put in {act.name!r}: {counts(act.entries)}"
        case vault_records.Opened() | vault_records.Used() | vault_records.OpenedByGrant():
            words = _opened_words(act, corpora[act.corpus])
        case vault_records.Rotated():
            moved = f"{counted(len(act.entries), 'entry', 'entries')} of {corpora[act.corpus]!r}"
            words = f"moved {moved} from {act.source} to {act.target}"
        case vault_records.CopyMade():
            words = "made a sealed copy"
        case vault_records.CardSealed():
            words = f"signed the card {act.card[:16]} of a run"
        case vault_records.ModelAsked():
            words = _model_words(act)
        case vault_records.LedgerStood():
            words = f"told scores; the ledger of answers had {counted(act.lines, 'line')}, the last {act.head[:16]}"
        case vault_records.ConsentChanged():
            words = f"{'withdrew' if act.withdrawn else 'gave again'} consent for {corpora[act.corpus]!r}, as {act.said_by} decided"
        case vault_records.GrantAsked() | vault_records.Answered():
            words = _grant_words(act, names)
        case _:
            words = _of_keepers(act, names)
    return words


def _model_words(act: vault_records.ModelAsked) -> str:
    who = f"the method of the run {act.run[:8]}"
    where = f"{act.model} at {act.endpoint}"
    if act.calls is None:
        return f"let {who} ask {where}; how often, a later line says where the run was not cut"
    return f"counted {counted(act.calls, 'question')} of {who} to {where}"


def _of_keepers(
    act: vault_records.Founded | vault_records.Enrolled | vault_records.Revoked | vault_records.Dealt,
    names: Mapping[str, str],
) -> str:
    match act:
        case vault_records.Founded():
            who = ", ".join(keeper.name for keeper in act.keepers)
            together = f"{act.split.threshold} together of " if act.split else ""
            words = f"made the vault {act.name!r}; it opens for {together}{who}"
        case vault_records.Enrolled():
            words = f"took {act.keeper.name} in as a keeper"
        case vault_records.Revoked():
            words = f"took {names[act.keeper]} out and sealed every text again"
        case vault_records.Dealt():
            who = ", ".join(keeper.name for keeper in act.keepers)
            words = f"gave the keepers new shares; it opens for {act.split.threshold} together of {who}"
            words += ", and sealed every text again" if act.sealed_anew else ""
    return words


def _opened_words(act: vault_records.Opened | vault_records.Used | vault_records.OpenedByGrant, corpus: str) -> str:
    """Return how something was opened, and what for where the program knows."""
    run = "" if isinstance(act, vault_records.Opened) or not act.run else f" {act.run[:8]}"
    what = f"opened {corpus!r}"
    if isinstance(act, vault_records.Used):
        what = f"{what} for {_WORKS[act.work]}{run}"
        if act.grant is not None and (terms := act.grant.run) is not None:
            method = "" if terms.run or terms.method == work.VaultWork.SCRIPT else f"{terms.method}, "
            method = f"{len(terms.setups)} set-ups, " if terms.setups else method
            what = f"{what} ({method}allowed once, as {grant_log.request_id(act.grant)[:8]})"
    if isinstance(act, vault_records.OpenedByGrant):
        what = f"used up the grant {act.grant[:8]} and {what}{f' for the run{run}' if run else ''}"
    if isinstance(act, vault_records.Used | vault_records.OpenedByGrant) and act.despite_network:
        what += f" despite a network, because: {act.despite_network}"
    return f"{what}: {counts(act.entries)}"


def _grant_words(act: vault_records.GrantAsked | vault_records.Answered, names: Mapping[str, str]) -> str:
    if isinstance(act, vault_records.Answered):
        answer_words = "allows it" if act.answer.allowed else "refuses it"
        answer_words += f": {act.answer.reason}" if act.answer.reason else ""
        return f"took in what {names[act.answer.keeper]} says to {act.answer.request[:8]}: {answer_words}"
    request, what = act.request, ""
    if (run := request.run) is not None and run.setups:
        what = f" for a sweep of {len(run.setups)} set-ups"
    elif run is not None:
        method = _WORKS.get(run.method, run.method)
        what = f" for {method} {run.run[:8]}" if run.run else f" for a run of {run.method}"
    return f"asked to open {request.name!r} once{what}: {counts(request.entries)}; it is {grant_log.request_id(request)[:8]}"


# Requests


def standing_lines(grant: grant_log.Grant, state: VaultState) -> Iterator[str]:
    """Return what became of a request."""
    if grant.used and not grant.answers:
        who = "who asked" if state.split is None else "the keepers who were there"
        yield f"Allowed by {who}, and used up at once, at {to_minute(grant.used)} UTC."
    elif grant.used:
        yield f"Used up at {to_minute(grant.used)} UTC."
    else:
        yield standing(state, grant)
