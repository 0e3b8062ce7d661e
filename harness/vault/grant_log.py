"""What the log of a vault says of grants: who asked, who answered what, and what was used up.

A grant is one opening that that many keepers allow as open the vault: one where each opens alone. The requester may have it
in four lines that others answer between, or, where enough keepers are available, in the one of the opening. The rules stand here, and anyone who reads a log holds each line
against them: a keeper's own program can write no line after which a grant counts twice, or with too few answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from corpora.model.entry import Segment
from harness.core.canonical import canonical_bytes
from harness.sealed.keys import verify
from harness.sealed.strict_records import StrictRecord
from harness.vault.request import GRANTED
from harness.vault.vault_records import (
    Answered,
    GrantAnswer,
    GrantAsked,
    GrantRequest,
    Keeper,
    KeySplit,
    LogRecord,
    OpenedByGrant,
    SignedAnswer,
    StoredCorpus,
    Used,
)


def request_id(request: GrantRequest) -> str:
    """Return the SHA-256 of a request without its signature: by this it is known."""
    return _digest(request, GrantRequest)


def answer_id(answer: GrantAnswer) -> str:
    """Return the SHA-256 of an answer without its signature."""
    return _digest(answer, GrantAnswer)


def _digest(record: StrictRecord, form: type[StrictRecord]) -> str:
    fields = record.model_dump(mode="json", include={*form.model_fields})
    return hashlib.sha256(canonical_bytes(fields)).hexdigest()


@dataclass(frozen=True)
class Grant:
    """A request, and what became of it up to a line of the log."""

    id: str
    request: GrantRequest
    answers: Mapping[str, SignedAnswer] = field(default_factory=dict)
    """Signing key of a keeper → what they said; where they refused after they had allowed, the refusal."""
    used: str = ""
    """When it was used up; empty where it was not."""
    latest: str = ""
    """The latest time in the log since it was asked for; a clock that was set back does not make it earlier."""

    @property
    def of_sweep(self) -> bool:
        """Return whether a sweep is run by it, which continues by it where it was cut."""
        return self.request.run is not None and bool(self.request.run.setups)

    def allowed_by(self, keepers: Mapping[str, Keeper]) -> list[str]:
        """Return the signing keys of those who allow it and are keepers still, in the order of their answers."""
        return [key for key, answer in self.answers.items() if answer.allowed and key in keepers]

    def refused_by(self, keepers: Mapping[str, Keeper]) -> list[str]:
        """Return the signing keys of those who refused it and are keepers still."""
        answers = self.answers.items()
        return [key for key, answer in answers if not answer.allowed and key in keepers]

    def expired(self, now: str) -> bool:
        """Return whether it is too late to use it, by this clock or by any time in the log since it was asked for."""
        return max(now, self.latest) > self.request.expires


@dataclass
class GrantLog:
    """The grants of a log, line by line."""

    grants: dict[str, Grant] = field(default_factory=dict)
    """By the SHA-256 of the request, in the order of the lines."""
    demanded: bool = False
    """True from the first line on that has a grant and its use in one; logs of earlier versions have none."""

    def take(
        self,
        line: LogRecord,
        vault: str,
        keepers: Mapping[str, Keeper],
        corpora: Mapping[str, StoredCorpus],
        split: KeySplit | None,
    ) -> str:
        """Continue by a line behind the first; gives why it cannot be in a log, or nothing.

        ``vault`` is its number; ``keepers``, ``corpora`` and ``split`` are those of that moment.
        """
        for number, grant in self.grants.items():
            if (not grant.used or grant.of_sweep) and grant.latest < line.when:
                self.grants[number] = replace(grant, latest=line.when)
        match line.act:
            case GrantAsked():
                return self._asked(line, line.act.request, vault, corpora, split)
            case Answered():
                return self._answered(line.act.answer, vault, keepers)
            case OpenedByGrant():
                return self._used(line, line.act, keepers, corpora, split)
            case Used():
                return self._at_once(line, line.act, vault, corpora, split)
            case _:
                return ""

    def _asked(
        self,
        line: LogRecord,
        request: GrantRequest,
        vault: str,
        corpora: Mapping[str, StoredCorpus],
        split: KeySplit | None,
    ) -> str:
        if reason := _asked_wrongly(line, request, vault, corpora, split):
            return reason
        number = request_id(request)
        self.grants[number] = Grant(number, request, latest=line.when)
        return ""

    def _at_once(
        self, line: LogRecord, act: Used, vault: str, corpora: Mapping[str, StoredCorpus], split: KeySplit | None
    ) -> str:
        request = act.grant
        if request is None:
            missing = self.demanded and act.work in GRANTED
            return "it opens texts for a run without a grant" if missing else ""
        if reason := _asked_wrongly(line, request, vault, corpora, split):
            return reason
        asked = (request.corpus, request.entries, request.purpose)
        if request.run is None or (act.corpus, act.entries, act.purpose) != asked:
            return "it opens other things than were granted"
        if request.run.run not in ("", act.run):
            return "it opens another run than was granted"
        if not _is_proved(line.prev, act, split):
            return "the shares of those who allowed it were not brought together"
        self.demanded, number = True, request_id(request)
        self.grants[number] = Grant(number, request, used=line.when, latest=line.when)
        return ""

    def _answered(self, answer: SignedAnswer, vault: str, keepers: Mapping[str, Keeper]) -> str:
        grant = self.grants.get(answer.request)
        if grant is None or answer.vault != vault:
            return "it answers what nobody asked"
        if answer.keeper not in keepers or not answer.is_signed_by(answer.keeper):
            return "the answer is not signed by a keeper of that time"
        with_share = answer.allowed and grant.request.split is not None
        if with_share is not bool(answer.share):
            return "the answer says two things"
        before = grant.answers.get(answer.keeper)
        if grant.used or (before is not None and (answer.allowed or not before.allowed)):
            return "this keeper answered already, or the grant is used up"
        answers = {**grant.answers, answer.keeper: answer}
        self.grants[grant.id] = replace(grant, answers=answers)
        return ""

    def _used(
        self,
        line: LogRecord,
        act: OpenedByGrant,
        keepers: Mapping[str, Keeper],
        corpora: Mapping[str, StoredCorpus],
        split: KeySplit | None,
    ) -> str:
        grant = self.grants.get(act.grant)
        if grant is None or (grant.used and not (grant.of_sweep and line.by == grant.request.by)):
            return "it uses a grant that nobody gave, or that is used up"
        again = bool(grant.used)  # a sweep continues: nothing new is opened, and no shares are brought together
        request, stored = grant.request, corpora.get(act.corpus)
        if splitting(split) != request.split:
            return "the shares were dealt again since it was granted"
        threshold = split.threshold if split else 1
        asked = (request.corpus, request.entries, request.purpose)
        proved = not act.proof if again else _is_proved(line.prev, act, split)
        for wrong, words in (
            ((act.corpus, act.entries, act.purpose) != asked, "it opens other things than were granted"),
            (stored is None or stored.texts != request.texts, "it opens another version of the texts than was granted"),
            (grant.expired(line.when), "it uses a grant that was over"),
            (len(grant.allowed_by(keepers)) < threshold, f"fewer than {threshold} keepers allowed it"),
            (not proved, "the shares of those who allowed it were not brought together"),
        ):  # fmt: skip
            if wrong:
                return words
        self.grants[grant.id] = replace(grant, used=grant.used or line.when)
        return ""


def splitting(split: KeySplit | None) -> int | None:
    """Return the number of the splitting that a request names; None where each keeper opens alone."""
    return None if split is None else split.number


def _asked_wrongly(
    line: LogRecord, request: GrantRequest, vault: str, corpora: Mapping[str, StoredCorpus], split: KeySplit | None
) -> str:
    """Return why a request cannot be in a line; empty where it can."""
    stored = corpora.get(request.corpus)
    request_place = (request.vault, request.place, request.prev, request.by)
    if request_place != (vault, line.seq, line.prev, line.by):
        return "it asks in another's name, or for another place of the log"
    if splitting(split) != request.split:
        return "it asks for shares that nobody has"
    if stored is None or (stored.name, stored.texts) != (request.name, request.texts):
        return "it asks for texts that are not there"
    # Whether whole segments are asked for, and none that is kept for later.
    whole = all(stored.entries.get(segment) == count for segment, count in request.entries.items())
    if not request.entries or not whole or Segment.HELD_OUT in request.entries:
        return "it asks for entries that are not there, or not to be opened"
    if line.when > request.expires:
        return "it asks for what is over already"
    return ""


def proved_bytes(prev: str, act: OpenedByGrant | Used) -> bytes:
    """Return what is signed with the opening key where a grant is used: the line before, and the act without its proof."""
    return canonical_bytes([prev, act.model_dump(mode="json", exclude={"proof"})])


def _is_proved(prev: str, act: OpenedByGrant | Used, split: KeySplit | None) -> bool:
    if split is None:
        return not act.proof
    return verify(split.signing_key, proved_bytes(prev, act), bytes.fromhex(act.proof))
