"""The log of a vault: who opened what for which purpose, in lines that name each other and are signed.

Each line names the hash of the one before it and is signed by a keeper of that moment. The first line names the
keepers and, by its hash, the vault; each later one has the files of the corpora that it changes. So who may write and
what the vault holds follow from the log alone. Times never run backwards, unless
a keeper said in a line that an earlier clock was wrong.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final, NamedTuple

from harness.core.canonical import canonical_bytes
from harness.sealed.archive import signed_record
from harness.sealed.chain import chained_lines
from harness.sealed.keys import Identity, verify
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault.grant_log import Grant, GrantLog
from harness.vault.vault_records import (
    Act,
    Added,
    Answered,
    CardSealed,
    ConsentChanged,
    CopyMade,
    Counts,
    Dealt,
    Enrolled,
    Founded,
    GrantAsked,
    Keeper,
    KeySplit,
    LedgerStood,
    LogRecord,
    ModelAsked,
    Opened,
    OpenedByGrant,
    Revoked,
    Rotated,
    SignedLogRecord,
    StoredCorpus,
    Used,
)

FIRST: Final = ""
"""What the first line names as the one before it."""
MOST_LINE: Final = 2**20
"""Bytes; a rotation names each entry that it moves."""

STEP: Final = timedelta(minutes=5)
"""A clock that is set back by less was set right; its line takes the time of the one before."""

_FORM = "%Y-%m-%dT%H:%M:%SZ"


class VaultError(FileError):
    """The vault cannot be used as asked, or is not what was signed; the message says why and what to do."""


@dataclass(frozen=True)
class LogLine:
    record: LogRecord
    content: bytes = field(repr=False)
    """Its bytes as they were signed and are in the log, without the line feed."""

    @cached_property
    def id(self) -> str:
        """SHA-256 over its bytes, hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def seq(self) -> int:
        """Place in the log, from 0."""
        return self.record.seq


def write_line(
    before: Sequence[LogLine],
    act: Act,
    identity: Identity,
    now: datetime,
    *,
    stored: Mapping[str, StoredCorpus] | None = None,
    clock_was_wrong: bool = False,
) -> LogLine:
    """Return the next line, signed; raises VaultError where the clock shows an earlier time than the last line.

    ``stored``: the corpora that are other from now on. ``clock_was_wrong``: a keeper says that the last line's clock was; the line notes it.
    """
    last = before[-1].record.when if before else ""
    when = moment(now)
    if when < last <= moment(now + STEP):
        when = last
    if when < last and not clock_was_wrong:
        raise VaultError(
            FileProblem.INVALID,
            f"The clock of this computer shows {when}, but the vault was last used at {last}, which is later. Set "
            "the clock right. If it was wrong then and is right now, say so with --clock-was-wrong; the log notes it.",
        )
    line = LogRecord(
        seq=len(before),
        prev=before[-1].id if before else FIRST,
        when=when,
        clock_set_back=when < last,
        by=identity.public.signing_key,
        act=act,
        stored=dict(stored or {}),
    )
    return LogLine(line, signed_record(line, identity))


def read_lines(data: bytes) -> tuple[LogLine, ...]:
    """Read and check a whole log; raises VaultError that names the line."""
    if not data.endswith(b"\n"):
        raise _wrong(data.count(b"\n"), "the log is empty, or cut short")
    lines: list[LogLine] = []
    keepers: dict[str, Keeper] = {}
    corpora: dict[str, StoredCorpus] = {}
    splits: tuple[KeySplit, ...] = ()
    ledger = GrantLog()
    withdrawn: dict[str, CorpusWithdrawal] = {}
    contents, name = data[:-1].split(b"\n"), "a line of a vault's log"
    read = chained_lines(contents, SignedLogRecord, name, _wrong, most=MOST_LINE)
    for place, (signed, content) in enumerate(read):
        _check_next(place, signed, lines)
        if place == 0:
            keepers = _keepers_after(place, signed.act, keepers)
        if signed.by not in signers(keepers, splits) or not signed.is_signed_by(signed.by):
            raise _wrong(place, "it is not signed by a keeper of that time")
        if place:
            keepers = _keepers_after(place, signed.act, keepers)
        splits = _splits_after(place, signed, splits)
        if not _changes_what_it_says(signed, corpora):
            raise _wrong(place, "it changes other things in the vault than it says")
        reason = consent_refusal(signed.act, signed.by, withdrawn, signers(keepers, splits))
        if lines and not reason:
            reason = ledger.take(signed, lines[0].id, keepers, corpora, (splits or (None,))[-1])
        if reason:
            raise _wrong(place, reason)
        _note_consent(withdrawn, signed)
        if isinstance(signed.act, ModelAsked) and (reason := asked_wrongly(signed.act, signed.by, lines)):
            raise _wrong(place, reason)
        corpora |= signed.stored
        lines.append(LogLine(signed, content))
    return tuple(lines)


class CorpusWithdrawal(NamedTuple):
    act: ConsentChanged
    by: str
    """Signing key."""
    when: str


def withdrawals_of(lines: Sequence[LogLine]) -> dict[str, CorpusWithdrawal]:
    """Return by which line each corpus is withdrawn, by its id; those that nobody withdrew, or that were given again, are left out."""
    withdrawn: dict[str, CorpusWithdrawal] = {}
    for line in lines:
        _note_consent(withdrawn, line.record)
    return withdrawn


def require_consent(lines: Sequence[LogLine], act: Act, by: str) -> None:
    """Raise VaultError where an act opens a withdrawn corpus, or changes a consent that it cannot change.

    Every opening is written before it is done, so nothing of the corpus is opened then.
    """
    if not isinstance(act, Opened | Used | OpenedByGrant | ConsentChanged):
        return
    withdrawn = withdrawals_of(lines)
    reason = consent_refusal(act, by, withdrawn, signers(keepers_of(lines), splits_of(lines)))
    if reason and not isinstance(act, ConsentChanged):
        raise VaultError(FileProblem.LOCKED, withdrawn_words(lines, withdrawn[act.corpus]))
    if reason:
        raise VaultError(FileProblem.INVALID, f"This is not written into the log: {reason}.")


def withdrawn_words(lines: Sequence[LogLine], withdrawal: CorpusWithdrawal) -> str:
    """Return why a corpus of a vault is not opened; ``withdrawal``: one of ``withdrawals_of(lines)``."""
    act = withdrawal.act
    return (
        f"Consent for {corpora_of(lines)[act.corpus].name!r} was withdrawn by {act.said_by} on {withdrawal.when[:10]} "
        f"({act.purpose}): no keeper opens it any more. The log of the vault has who signed that."
    )


def _note_consent(withdrawn: dict[str, CorpusWithdrawal], line: LogRecord) -> None:
    if isinstance(line.act, ConsentChanged):
        withdrawn.pop(line.act.corpus, None)
        if line.act.withdrawn:
            withdrawn[line.act.corpus] = CorpusWithdrawal(line.act, line.by, line.when)


def consent_refusal(act: Act, by: str, withdrawn: Mapping[str, CorpusWithdrawal], present: Collection[str]) -> str:
    """Return why an act cannot stand behind the withdrawals before it; empty where it can.

    ``present``: who may write now (``signers``). A withdrawn corpus is not opened. Consent is given again by anyone who
    withdrew it; by any keeper where that one is none any more.
    """
    if isinstance(act, Opened | Used | OpenedByGrant):
        return "it opens a corpus whose consent was withdrawn" if act.corpus in withdrawn else ""
    if not isinstance(act, ConsentChanged):
        return ""
    last = withdrawn.get(act.corpus)
    if act.withdrawn is (last is not None):
        return "the consent that it changes was so already"
    if last is not None and by != last.by and last.by in present:
        return "only the keeper who withdrew it says that consent was given again"
    return ""


def asked_wrongly(act: ModelAsked, by: str, before: Sequence[LogLine]) -> str:
    """Return why a line about questions to a model cannot stand behind others; empty where it can.

    ``by``: signing key of its keeper, who must have opened texts for the run, and begun what is counted.
    """
    acts = [(line.record.by, line.record.act) for line in before]
    opened = {who for who, one in acts if isinstance(one, Used | OpenedByGrant) and one.run == act.run}
    if by not in opened:
        return "it is about questions of a run for which its keeper opened nothing"
    notes_of_run = [(w, one) for w, one in acts if isinstance(one, ModelAsked) and one.run == act.run]
    if act.calls is None:
        return "it begins the questions of a run twice" if notes_of_run else ""
    if [(by, act.model_copy(update={"calls": None}))] != notes_of_run:
        return "it counts questions that no line of its keeper begins, or counts them twice"
    return ""


def keepers_of(lines: Sequence[LogLine]) -> Mapping[str, Keeper]:
    """Return who can open the vault after these lines, by signing key; ``lines`` were read by ``read_lines``."""
    keepers: dict[str, Keeper] = {}
    for place, line in enumerate(lines):
        keepers = _keepers_after(place, line.record.act, keepers)
    return keepers


def corpora_of(lines: Sequence[LogLine]) -> Mapping[str, StoredCorpus]:
    """Return what the vault holds after these lines, by id; ``lines`` were read by ``read_lines``."""
    corpora: dict[str, StoredCorpus] = {}
    for line in lines:
        corpora |= line.record.stored
    return corpora


def signers(keepers: Collection[str], splits: Sequence[KeySplit]) -> frozenset[str]:
    """Return the signing keys of who may write: each keeper, and that many together as open the vault."""
    return frozenset(keepers) | {split.signing_key for split in splits[-1:]}


def splits_of(lines: Sequence[LogLine]) -> tuple[KeySplit, ...]:
    """Return how the opening key was split each time, the last one as it is now; none where each keeper opens alone."""
    acts = (line.record.act for line in lines)
    key_splits = (act.split for act in acts if isinstance(act, Founded | Dealt))
    return tuple(key_split for key_split in key_splits if key_split is not None)


def former_files(lines: Sequence[LogLine]) -> list[str]:
    """Return the files that hold the opening keys of before, each sealed for the one that came after it; the oldest first."""
    acts = (line.record.act for line in lines)
    return [act.former for act in acts if isinstance(act, Dealt) and act.former]


def grants_of(lines: Sequence[LogLine]) -> Mapping[str, Grant]:
    """Return what keepers asked each other for and what became of it, by the SHA-256 of the request; ``lines`` were read."""
    ledger, corpora = GrantLog(), dict[str, StoredCorpus]()
    keepers: dict[str, Keeper] = {}
    split: KeySplit | None = None
    for place, line in enumerate(lines):
        act = line.record.act
        keepers = _keepers_after(place, act, keepers)
        split = act.split if isinstance(act, Founded | Dealt) else split
        if place:
            ledger.take(line.record, lines[0].id, keepers, corpora, split)
        corpora |= line.record.stored
    return ledger.grants


def moment(now: datetime) -> str:
    """Return a time as the log has it: UTC, to the second."""
    return now.astimezone(UTC).strftime(_FORM)


def proved_bytes(prev: str, act: Dealt) -> bytes:
    """Return what the keepers sign together: the id of the line before, and the act without its proof."""
    return canonical_bytes([prev, act.model_dump(mode="json", exclude={"proof"})])


def _splits_after(place: int, line: LogRecord, splits: tuple[KeySplit, ...]) -> tuple[KeySplit, ...]:
    """Return how the key was split so far; raises VaultError where a line changes that without M keepers together."""
    act = line.act
    if isinstance(act, Enrolled | Revoked) and splits:
        raise _wrong(place, "in this vault one keeper alone takes nobody in or out")
    if not isinstance(act, Founded | Dealt) or act.split is None:
        return splits
    if {keeper.signing_key for keeper in act.keepers} != act.split.shares.keys():
        raise _wrong(place, "its shares are not those of its keepers")
    if isinstance(act, Dealt):
        if not splits or not _is_proved(line.prev, act, splits[-1].signing_key):
            raise _wrong(place, "the keepers did not sign it together")
        other = act.split.recipient != splits[-1].recipient
        if other is not act.sealed_anew or act.split.number in {split.number for split in splits}:
            raise _wrong(place, "its shares are not dealt as it says")
        if act.former and not act.sealed_anew:
            raise _wrong(place, "it keeps an earlier key, and the key did not change")
    return (*splits, act.split)


def _is_proved(prev: str, act: Dealt, signing_key: str) -> bool:
    try:
        signature = base64.b64decode(act.proof, validate=True)
    except binascii.Error:
        return False
    return verify(signing_key, proved_bytes(prev, act), signature)


def _changes_what_it_says(line: LogRecord, corpora: Mapping[str, StoredCorpus]) -> bool:
    """Return whether the corpora that a line changes are those of its act, and are changed as the act may."""
    act, after = line.act, line.stored
    known = {number: corpus for number, corpus in corpora.items() if number in after}
    match act:
        case Added():
            changes = [(act.corpus, act.name, act.entries)]
            right = not known and [(n, e.name, e.entries) for n, e in after.items()] == changes
        case Rotated() if act.corpus in known:
            before, now = known[act.corpus], after[act.corpus]
            moved = {"entries": _moved(before.entries, act), "texts": now.texts}
            right = after == {act.corpus: before.model_copy(update=moved)}
        case Enrolled():
            sealed = {n: e.model_copy(update={"key": after[n].key}) for n, e in known.items()}
            right = after == sealed and after.keys() == corpora.keys()
        case Revoked():
            right = _sealed_anew(corpora, after)
        case Dealt():
            right = _sealed_anew(corpora, after) if act.sealed_anew else not after
        case Opened() | Used() | OpenedByGrant() | ConsentChanged():
            right = not after and act.corpus in corpora
        case Founded() | CopyMade() | CardSealed() | ModelAsked() | LedgerStood() | GrantAsked() | Answered():
            right = not after
        case Rotated():
            right = False
    return right


def _sealed_anew(corpora: Mapping[str, StoredCorpus], after: Mapping[str, StoredCorpus]) -> bool:
    """Return whether every corpus has other files, and nothing else of them is other."""
    files = {n: {"key": corpus.key, "texts": corpus.texts} for n, corpus in after.items()}
    anew = {n: corpus.model_copy(update=files.get(n, {})) for n, corpus in corpora.items()}
    old = {name for corpus in corpora.values() for name in (corpus.key, corpus.texts)}
    return dict(after) == anew and not any(old & {*file.values()} for file in files.values())


def _moved(entries: Counts, act: Rotated) -> Counts:
    """Return how many entries are in each segment after a rotation; segments without any are left out."""
    count = len(set(act.entries))
    changed = {
        **entries,
        act.source: entries.get(act.source, 0) - count,
        act.target: entries.get(act.target, 0) + count,
    }
    return {segment: number for segment, number in changed.items() if number}


def _keepers_after(place: int, act: Act, keepers: dict[str, Keeper]) -> dict[str, Keeper]:
    """Return the keepers once a line was written; raises VaultError where it cannot have been."""
    match act:
        case Founded():
            return {keeper.signing_key: keeper for keeper in act.keepers}
        case Dealt() if len({keeper.signing_key for keeper in act.keepers}) == len(act.keepers):
            return {keeper.signing_key: keeper for keeper in act.keepers}
        case Enrolled() if act.keeper.signing_key not in keepers:
            return {**keepers, act.keeper.signing_key: act.keeper}
        case Revoked() if act.keeper in keepers:
            return {key: keeper for key, keeper in keepers.items() if key != act.keeper}
        case Enrolled() | Revoked() | Dealt():
            raise _wrong(place, "it takes in a keeper, or out somebody who was none")
        case _:
            return keepers


def _check_next(place: int, line: LogRecord, before: Sequence[LogLine]) -> None:
    """Check that a line belongs behind the ones before it."""
    if (place == 0) is not isinstance(line.act, Founded):
        raise _wrong(place, "only the first line, and that always, says that the vault was made")
    backwards = bool(before) and line.when < before[-1].record.when
    if backwards is not line.clock_set_back:
        raise _wrong(place, "its time is earlier than that of the line before it, or says so falsely")


def _wrong(place: int, reason: str) -> VaultError:
    return VaultError(
        FileProblem.DAMAGED,
        f"log.jsonl: line {place + 1}: {reason}. Somebody changed the log, or the disk is failing: put back a copy of "
        "the whole vault, and ask who had it.",
    )
