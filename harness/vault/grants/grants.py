"""Asking the keepers for one opening, answering, taking the answers in, and using the grant up.

On the computer that has the vault a keeper asks; the log has the request. Each keeper answers on their own computer,
with a copy of the vault, or on this one with their own keys. Answers are imported in any order, each as many times as it
comes, and the log has them, refusals too. Once enough keepers allow it (one, where each opens alone), the grant opens once: it is used up, then the
log has it, then the first text is opened. A program that is stopped in between has used it up as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from corpora.model.entry import Segment
from corpora.text.messages import to_minute
from harness.core.storage import exclusive
from harness.sealed.keys import Identity
from harness.sealed.phrase import phrase
from harness.sealed.sealing import AgeIdentity, SealError, seal, unseal
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault.data_key import DataKey
from harness.vault.folder import BUSY_SECONDS, VaultState
from harness.vault.grant_log import Grant, answer_id, proved_bytes, request_id, splitting
from harness.vault.grants.files import (
    KeptGrants,
    counted_names,
    open_share,
    read_answer,
    read_request,
    refuse_over,
    refuse_unusable,
    seal_share,
    write_answer,
    write_request,
)
from harness.vault.key_shares import KeyShare, OpeningKey
from harness.vault.log import VaultError, moment
from harness.vault.sealed_corpus import OpenedEntry, SealedCorpus, corpus_named, opened_key, sealed_texts
from harness.vault.secret_text import no_core_dumps
from harness.vault.shares import combined, dealt, own_share
from harness.vault.vault import Vault, held_out_words, words_of_log
from harness.vault.vault_records import (
    Answered,
    Counts,
    GrantAnswer,
    GrantAsked,
    GrantRequest,
    OpenedByGrant,
    RunTerms,
    SignedAnswer,
    SignedRequest,
    StoredCorpus,
    Used,
)

OPEN_DAYS: Final = 30
"""How long a request can be used: sticks may travel by mail."""
MOST_DAYS: Final = 90
"""A request that is open for longer is no request for one opening."""


@dataclass(frozen=True)
class GrantedOpening:
    state: VaultState
    """Of before."""
    sealed: SealedCorpus
    """The entries that were granted."""
    key: DataKey
    """Of the corpus."""
    together: OpeningKey | None
    """What the keepers who allowed it have together; None where each opens alone, and where a sweep continues."""
    sweep: AgeIdentity | None = None
    """Of a sweep: what the store's texts of it are sealed for as well, until its last run is complete."""


@dataclass(frozen=True)
class Grants:
    """The grants of a vault, as one computer asks for them and uses them."""

    vault: Vault
    machine: Identity
    """The keys of this computer."""

    @property
    def kept(self) -> KeptGrants:
        return KeptGrants(self.vault.memory / "grants")

    def ask(
        self,
        name: str,
        purpose: str,
        days: int,
        identity: Identity,
        segments: Sequence[Segment] = (),
        run: RunTerms | None = None,
    ) -> bytes:
        """Request that the keepers allow one opening of a corpus; return the bytes of the request, which the log has then.

        ``segments``: those to be opened; none: all but ``held_out``. ``run``: what is to be run over the texts; None: they are
        opened to see whether they are whole. Raises VaultError in words.
        """
        if not 0 < days <= MOST_DAYS:
            words = f"A request is open for 1 to {MOST_DAYS} days, not {days}."
            raise VaultError(FileProblem.INVALID, words)
        with self.vault.changing(identity) as state:
            # Destroy the keys of requests that the log says are over; nobody can use them any more.
            for grant in state.grants.values():
                at = moment(self.vault.clock()) if grant.used else ""
                if (not grant.used or grant.of_sweep) and grant.expired(at):
                    self.kept.forget_key(grant.id)
                    self.kept.forget_shares(grant.id)
            number, stored = corpus_named(state, name)
            entries = wanted_entries(stored, segments)
            if Segment.HELD_OUT in segments or not entries:
                raise VaultError(
                    FileProblem.LOCKED,
                    f"{name!r} has no entry that can be opened so. {held_out_words(self.vault.folder, name)}",
                )
            challenge, now = AgeIdentity.make(), self.vault.clock()
            lasts = now, timedelta(days=days)
            request = self.request(
                state, number, entries, identity, purpose, run, lasts, challenge
            )  # fmt: skip
            self.kept.keep_key(request_id(request), challenge)
            self.vault.write(state, GrantAsked(request=request), identity)
        return write_request(request, identity)

    def request(
        self,
        state: VaultState,
        corpus: str,
        entries: Counts,
        identity: Identity,
        purpose: str,
        run: RunTerms | None,
        lasts: tuple[datetime, timedelta],
        challenge: AgeIdentity,
    ) -> GrantRequest:
        """Return the request for the next line of the log; ``corpus``: its number, ``lasts``: from when, and how long."""
        stored, (now, time) = state.head.corpora[corpus], lasts
        return GrantRequest(
            vault=state.head.vault,
            place=len(state.lines),
            prev=state.lines[-1].id,
            by=identity.public.signing_key,
            corpus=corpus,
            name=stored.name,
            texts=stored.texts,
            split=splitting(state.split),
            entries=entries,
            run=run,
            machine=self.machine.public.signing_key,
            machine_recipient=self.machine.public.recipient,
            challenge=challenge.recipient,
            purpose=words_of_log(purpose, "The purpose"),
            asked=moment(now),
            expires=moment(now + time),
        )

    def answer(self, data: bytes, identity: Identity, *, allowed: bool, reason: str = "") -> bytes:
        """Allow or refuse a request with a keeper's keys; gives the bytes of the answer. Nothing is written into the vault."""
        request, state = read_asked(self.vault, data)
        return self.answer_asked(request, state, identity, allowed=allowed, reason=reason)

    def answer_asked(
        self, request: GrantRequest, state: VaultState, identity: Identity, *, allowed: bool, reason: str = ""
    ) -> bytes:
        """Answer as ``answer`` does, a request of the log or one that ``read_asked`` gave."""
        if identity.public.signing_key not in state.keepers:
            raise VaultError(
                FileProblem.WRONG_KEY,
                "These keys are not those of a present keeper of this vault. Name a keeper's keys with --key FILE.",
            )
        now = moment(self.vault.clock())
        grant = grant_in(state, request)
        if allowed:
            refuse_over(state, grant, max(now, state.lines[-1].record.when))
        together = allowed and state.split is not None
        words = own_share(state, identity).words if together else None
        sealed = b"" if words is None else seal_share(words, request)
        answer = GrantAnswer(
            vault=request.vault,
            request=grant.id,
            keeper=identity.public.signing_key,
            allowed=allowed,
            reason=words_of_log(reason, "The reason") if reason or not allowed else "",
            when=now,
            share=hashlib.sha256(sealed).hexdigest() if sealed else "",
        )
        return write_answer(answer, sealed, identity)

    def take(self, data: bytes, identity: Identity) -> tuple[Grant, SignedAnswer]:
        """Record an answer in the log, and store its sealed share here. Return the grant as it is then.

        An answer that was imported before changes nothing. Raises VaultError where it cannot count.
        """
        answer, sealed = read_answer(data)
        with self.vault.changing(identity) as state:
            grant = _answered_in(state, answer)
            self._check_machine(grant)
            before = grant.answers.get(answer.keeper)
            if before is not None and answer_id(before) == answer_id(answer):
                if sealed and not grant.used:  # where a process was stopped between the two
                    self.kept.keep_share(grant.id, answer.keeper, sealed)
                return grant, answer
            # Refuse an answer that cannot count any more; the log would refuse it too.
            if answer.keeper not in state.keepers:
                raise VaultError(
                    FileProblem.WRONG_KEY,
                    "This answer is from somebody who is not, or no longer, a keeper of this vault. It does not count.",
                )
            name = state.keepers[answer.keeper].name
            if grant.used:
                raise VaultError(
                    FileProblem.LOCKED,
                    f"This grant was used up at {to_minute(grant.used)} UTC: the answer of {name} comes too late, and changes nothing.",
                )
            if (answer.allowed and state.split is not None) is not bool(answer.share):
                raise VaultError(
                    FileProblem.INVALID,
                    f"The answer of {name} lacks the share that it needs, or has one that it should not have: their copy is of another "
                    "vault, or their program is at fault. Ask them to answer once more, with a copy of this vault.",
                )
            if before is not None and (answer.allowed or not before.allowed):
                did = "allowed" if before.allowed else "refused"
                raise VaultError(
                    FileProblem.INVALID,
                    f"{name} {did} this request already, at {to_minute(before.when)} UTC, and this is another answer of theirs. The first one "
                    f"stays{'' if before.allowed else '; if they allow it after all, ask again'}.",
                )
            if sealed:
                # else one keeper could hold up a request that enough others allow
                share = self._share(sealed, self.kept.key(grant.id), name)
                if share.check != dealt(state).shares[answer.keeper].check:
                    raise _no_share(name)
                self.kept.keep_share(grant.id, answer.keeper, sealed)
            after = self.vault.write(state, Answered(answer=answer), identity)
            return after.grants[grant.id], answer

    def open(self, request: str, identity: Identity, run: RunTerms | None = None) -> tuple[OpenedEntry, ...]:
        """Use a grant up, and open its texts in memory; as ``opening`` in all else."""
        opening = self.opening(request, identity, run)
        return opening.sealed.opened(opening.key)

    def opening(
        self, request: str, identity: Identity, run: RunTerms | None = None, run_id: str = "", despite_network: str = ""
    ) -> GrantedOpening:
        """Use a grant up, and give its entries, sealed, with their key; anyone who opens them does it after that.

        ``request`` is its number, ``run`` what is about to be run over the texts, ``run_id`` the number that the run will
        have, and ``despite_network`` as in the log. Raises VaultError in words; nothing is used up then. The grant of a sweep
        opens the same texts again, by what was kept here for it, until the sweep is over.
        """
        no_core_dumps()
        with self._using(), self.vault.changing(identity) as state:
            grant = grant_of(state, request)
            asked = grant.request
            self._check_machine(grant)
            refuse_unusable(state, grant, run, moment(self.vault.clock()))
            stored, together, sweep = state.head.corpora[asked.corpus], None, None
            if again := bool(grant.used):
                sweep, data_key = self._kept_sweep(grant)
            else:
                key = self.kept.key(grant.id)
                if state.split is not None:
                    together = combined(state, self._shares(state, grant, key))
                data_key = opened_key(state, stored, identity, together)
            sealed = sealed_texts(state, asked.corpus, stored).of([*asked.entries])
            act = OpenedByGrant(
                grant=grant.id,
                corpus=asked.corpus,
                entries=sealed.counts,
                purpose=asked.purpose,
                run=run_id,
                **({"despite_network": despite_network} if despite_network else {}),
            )
            act = proved(act, state, together)
            if again:
                self.vault.write(state, act, identity)
                return GrantedOpening(state, sealed, data_key, together, sweep)
            self.kept.use_up(grant.id, moment(self.vault.clock()))
            try:
                self.vault.write(state, act, identity)
            except VaultError:
                self.kept.put_back(grant.id, key)
                raise
            self.kept.forget_shares(grant.id)
            if grant.of_sweep:
                sweep = AgeIdentity.make()
                content = f"{sweep.secret} {data_key.secret.hex()}".encode()
                self.kept.keep_sweep(grant.id, seal(content, [self.machine.public.recipient]))
        return GrantedOpening(state, sealed, data_key, together, sweep)

    def _kept_sweep(self, grant: Grant) -> tuple[AgeIdentity, DataKey]:
        """Return what the store's texts of a sweep are sealed for, and the key of its corpus; VaultError where neither is here."""
        try:
            secret, _, key = unseal(self.kept.sweep(grant.id) or b"", [self.machine.age]).decode().partition(" ")
            return AgeIdentity.read(secret), DataKey(bytes.fromhex(key))
        except (FileError, ValueError):
            self.kept.forget_key(grant.id)
            words = f"This grant was used up at {to_minute(grant.used)} UTC, and what continues its sweep is not on this computer any more, or damaged."
            raise VaultError(FileProblem.LOCKED, f"{words} The same command asks again.") from None

    @contextmanager
    def _using(self) -> Iterator[None]:
        """Prevent other programs of this computer from using a grant meanwhile, whichever copy of the vault they have."""
        words = "Another program is using a grant on this computer. Try again when it is done."
        with exclusive(self.kept.lock, VaultError(FileProblem.LOCKED, words), BUSY_SECONDS):
            yield

    def _check_machine(self, grant: Grant) -> None:
        if grant.request.machine != self.machine.public.signing_key:
            raise VaultError(
                FileProblem.WRONG_KEY,
                "This request was made on another computer, or with another data folder. Take its answers in there and use it "
                "there; here it opens nothing. Or ask again from here.",
            )

    def _shares(self, state: VaultState, grant: Grant, key: AgeIdentity) -> list[KeyShare]:
        """Open the shares of those who allow it; raises VaultError that names who must be asked for a file again."""
        shares, missing = [], []
        for keeper in grant.allowed_by(state.keepers):
            sealed = self.kept.share(grant.id, keeper)
            if sealed is None or hashlib.sha256(sealed).hexdigest() != grant.answers[keeper].share:
                missing.append(keeper)
                continue
            shares.append(self._share(sealed, key, state.keepers[keeper].name))
        if len(shares) < state.threshold:
            raise VaultError(
                FileProblem.LOCKED,
                f"The answers of {counted_names(state, missing)} are in the log, but their files are not on this computer any "
                "more. Put them next to the request again, and type the same command.",
            )
        return shares

    def _share(self, sealed: bytes, key: AgeIdentity, name: str) -> KeyShare:
        """Open the share in the answer of a keeper of this name."""
        try:
            words = open_share(sealed, key, self.machine)
        except (SealError, UnicodeDecodeError):
            raise VaultError(
                FileProblem.WRONG_KEY,
                f"The share in the answer of {name} does not open here, though they signed it. Their program sealed something "
                "else: ask them. Nothing was used up.",
            ) from None
        try:
            return KeyShare.read(words.reveal())
        except FileError:
            raise _no_share(name) from None


def _no_share(name: str) -> VaultError:
    return VaultError(
        FileProblem.INVALID,
        f"What {name} sealed is not their share of this vault. Ask them to answer once more. Nothing was used up.",
    )


def wanted_entries(stored: StoredCorpus, segments: Sequence[Segment]) -> dict[Segment, int]:
    """Return how many entries of which segments are asked for; ``segments``: none: all but ``held_out``."""
    wanted = segments or [segment for segment in Segment if segment is not Segment.HELD_OUT]
    return {segment: stored.entries[segment] for segment in wanted if stored.entries.get(segment)}


def read_asked(vault: Vault, data: bytes) -> tuple[SignedRequest, VaultState]:
    """Return a request and the vault that it is for; raises VaultError where no keeper of it asked for this.

    Nothing is written, so a copy of the vault serves as well, even one from before the request.
    """
    state, request = vault.read(), read_request(data)
    if request.vault != state.head.vault:
        raise VaultError(
            FileProblem.INVALID,
            f"This request is for another vault (number {request.vault[:16]}) than the one in {vault.folder} (number "
            f"{state.head.vault[:16]}). Name the folder of that vault, or of a copy of it.",
        )
    if request.by not in state.keepers:
        raise VaultError(
            FileProblem.WRONG_KEY,
            "Anyone who made this request is not, or no longer, a keeper of this vault. Answer nothing, and tell the other "
            "keepers.",
        )
    lines = state.lines[request.place : request.place + 1]
    known = [request_id(line.record.act.request) for line in lines if isinstance(line.record.act, GrantAsked)]
    before = state.lines[request.place - 1] if 0 < request.place <= len(state.lines) else None
    if (lines and known != [request_id(request)]) or (before and before.id != request.prev):
        raise VaultError(
            FileProblem.INVALID,
            "The log of this vault does not have this request, though it goes further. It was made with another copy, "
            "or somebody wants to hide it. Answer nothing, and ask who made it.",
        )
    return request, state


def grant_in(state: VaultState, request: GrantRequest) -> Grant:
    """Return what became of a request, as far as the log of this copy has it."""
    number = request_id(request)
    return state.grants.get(number, Grant(number, request))


Proved = TypeVar("Proved", OpenedByGrant, Used)


def proved(act: Proved, state: VaultState, together: OpeningKey | None) -> Proved:
    """Return an act that is to be the next line, signed with the opening key; as it is where each keeper opens alone."""
    if together is None:
        return act
    proof = together.sign(proved_bytes(state.head.log_head, act)).hex()
    return act.model_copy(update={"proof": proof})


def _answered_in(state: VaultState, answer: SignedAnswer) -> Grant:
    """Return what an answer answers; VaultError says where the answer belongs that this log knows nothing of."""
    grant = state.grants.get(answer.request)
    if grant is not None and answer.vault == state.head.vault:
        return grant
    by = state.keepers.get(answer.keeper)
    whose = f"of {by.name}" if by else "of somebody who is no keeper of this vault"
    if answer.vault != state.head.vault:
        raise VaultError(
            FileProblem.INVALID,
            f"This answer, {whose}, is for another vault (number {answer.vault[:16]}) than the one in {state.folder} (number "
            f"{state.head.vault[:16]}). Name the folder of that vault, on the computer that asked.",
        )
    raise VaultError(
        FileProblem.INVALID,
        f"This answer, {whose}, is to the request whose words are {phrase(answer.request)!r}, and the log of the vault in "
        f"{state.folder} does not have it: it was asked for with another copy of the vault, or this is an older copy. Use the "
        "copy that has the request (rosetta vault grant show); where none has it, ask again.",
    )


def grant_of(state: VaultState, number: str) -> Grant:
    """Return a request of the log, with what became of it; VaultError where the log does not have it."""
    grant = state.grants.get(number)
    if grant is None:
        raise VaultError(
            FileProblem.INVALID,
            f"The log of the vault in {state.folder} does not have the request whose words are {phrase(number)!r}. It is for another "
            "vault, or this is an older copy: name the folder in which it was asked for (rosetta vault grant show).",
        )
    return grant
