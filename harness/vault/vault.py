"""A vault and what keepers do with it: put a corpus in, open it, rotate entries, take a keeper out, copy it.

Each opening is in the log before the first text is opened. Entries of ``held_out`` are never opened: they are kept for
later, until a keeper rotates them into another segment by name.
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from harness.core.failures import UsageError
from harness.sealed.keys import Identity
from harness.sealed.strict_records import FileProblem
from harness.vault.data_key import DataKey
from harness.vault.folder import HEAD, VaultState, change, copy_to, locked, make_folder, read_state
from harness.vault.keepers import VaultsSeen, check_keepers, keeper_named
from harness.vault.key_shares import OpeningKey
from harness.vault.log import VaultError, require_consent, signers, splits_of
from harness.vault.sealed_corpus import (
    OpenedEntry,
    SealedCorpus,
    corpus_named,
    counted_segments,
    opened_key,
    recipients,
    recipients_of,
    refuse_known,
    sealed_texts,
    sha256_of,
    stored_corpus,
    under_new_keys,
)
from harness.vault.secret_text import no_core_dumps
from harness.vault.shares import check_opener, deal, dealt, proved, seal_former
from harness.vault.vault_records import (
    MOST_WORDS,
    Act,
    Added,
    ConsentChanged,
    CopyMade,
    Counts,
    Dealt,
    Enrolled,
    Founded,
    Keeper,
    Opened,
    Revoked,
    Rotated,
    SmallestTold,
    StoredCorpus,
)

_PURPOSE = "The purpose"


def held_out_words(folder: Path, corpus: str) -> str:
    """Return how entries that are kept for later come into use."""
    named = shlex.join([str(folder), corpus])
    return (
        "Those of held_out are kept for later; to use some of them from now on, rotate them: "
        f"rosetta vault check-up {named} --do rotate --count N --purpose WORDS"
    )


@dataclass(frozen=True)
class Vault:
    """A vault in its folder, as one keeper's computer sees it."""

    folder: Path
    memory: Path
    """Folder of this computer where it keeps how far it saw the log of each vault."""
    clock: Callable[[], datetime]
    clock_was_wrong: bool = False
    """True where the keeper says that the clock of the last line was."""

    @property
    def seen(self) -> VaultsSeen:
        """Return what this computer saw of vaults."""
        return VaultsSeen(self.memory)

    def found(self, name: str, keepers: Sequence[Keeper], identity: Identity, threshold: int = 1) -> VaultState:
        """Make the vault; ``keepers`` are all who can open it, the recovery key among them.

        ``threshold``: how many of them open together; with 1 each opens alone.
        """
        check_keepers(keepers)
        named = words_of_log(name, "The name of the vault")
        salt, files = secrets.token_hex(32), dict[str, bytes]()
        act = Founded(name=named, keepers=tuple(keepers), salt=salt)
        if threshold != 1:
            no_core_dumps()
            split, files = deal(OpeningKey.make(), threshold, keepers)
            act = Founded(name=named, keepers=tuple(keepers), salt=salt, split=split)
        state = make_folder(self.folder, act, identity, self.clock(), files)
        self.seen.forget(self.folder)
        self.seen.remember(state)
        return state

    def read(self) -> VaultState:
        """Return the vault, every byte of it checked; raises VaultError where it is damaged or an older copy."""
        while True:
            state = read_state(self.folder)
            try:
                self.seen.compare(state)
            except VaultError:
                if read_state(self.folder).head == state.head:
                    raise
                continue  # another program changed it, and kept that it saw that, in between
            self.seen.remember(state)
            return state

    def add(
        self,
        corpus: Corpus,
        name: str,
        identity: Identity,
        opener: OpeningKey | None = None,
        tells: Mapping[Segment, SmallestTold] | None = None,
    ) -> StoredCorpus:
        """Seal a corpus and put it in; gives its record. Raises VaultError where a text of it is in the vault already.

        ``opener``: as for ``open``, but the first corpus of a vault needs none: there is nothing to compare it with. ``tells``:
        what its secret segments tell; it is kept openly.
        """
        counts, name = counted_segments(corpus), words_of_log(name, "The name of the corpus")
        with self.changing(identity) as state:
            if name in {corpus.name for corpus in state.head.corpora.values()}:
                raise VaultError(FileProblem.INVALID, f"The vault holds a corpus {name!r} already. Choose --name.")
            refuse_known(state, corpus, identity, opener)
            number, key = secrets.token_hex(8), DataKey.make()
            sealed = SealedCorpus.seal(number, corpus, key)
            stored, files = stored_corpus(name, sealed, key, recipients_of(state), tells)
            act = Added(corpus=number, name=name, entries=counts)
            corpora = {**state.head.corpora, number: stored}
            self.write(state, act, identity, corpora, files)
            return stored

    def open(
        self,
        name: str,
        purpose: str,
        identity: Identity,
        segments: Sequence[Segment] = (),
        opener: OpeningKey | None = None,
    ) -> tuple[OpenedEntry, ...]:
        """Open the texts of a corpus in memory, all segments but ``held_out`` or those that are named.

        ``identity`` signs the line of the log. ``opener`` is what keepers who open together have (``dealing.combined``);
        None where each opens alone. The log has the opening and its purpose before a text is opened. Raises VaultError
        in words.
        """
        _, sealed, key = self.trial(name, purpose, identity, segments, opener)
        return sealed.opened(key)

    def trial(
        self,
        name: str,
        purpose: str,
        identity: Identity,
        segments: Sequence[Segment] = (),
        opener: OpeningKey | None = None,
    ) -> tuple[VaultState, SealedCorpus, DataKey]:
        """Write that a corpus is opened as ``open`` does, and give it sealed, with its key."""
        purpose_line = words_of_log(purpose, _PURPOSE)

        def act(_: VaultState, number: str, counts: Counts) -> Opened:
            return Opened(corpus=number, entries=counts, purpose=purpose_line)

        return self.opening(name, identity, segments, opener, act)

    def opening(
        self,
        name: str,
        identity: Identity,
        segments: Sequence[Segment],
        opener: OpeningKey | None,
        act: Callable[[VaultState, str, Counts], Act],
    ) -> tuple[VaultState, SealedCorpus, DataKey]:
        """Write into the log what is opened, as ``act`` says it of the vault, a corpus's number and the entries, and give them sealed, with their key.

        Anyone who opens them does it after that. As ``open`` in all else; the state is that of before.
        """
        if Segment.HELD_OUT in segments:
            raise VaultError(
                FileProblem.LOCKED, f"Entries of held_out are not opened. {held_out_words(self.folder, name)}"
            )
        with self.changing(identity) as state:
            number, stored = corpus_named(state, name)
            key = opened_key(state, stored, identity, opener)
            wanted = segments or [segment for segment in Segment if segment is not Segment.HELD_OUT]
            sealed = sealed_texts(state, number, stored).of(wanted)
            if not sealed.entries:
                raise VaultError(
                    FileProblem.INVALID,
                    f"{name!r} has no entry in {', '.join(wanted)}. {held_out_words(self.folder, name)}",
                )
            self.write(state, act(state, number, sealed.counts), identity)
        return state, sealed, key

    def rotate(
        self, name: str, source: Segment, target: Segment, count: int, purpose: str, identity: Identity
    ) -> VaultState:
        """Move that many entries, drawn at random, from one segment to another; nothing is opened for it."""
        if source is target or (target.secret and not source.secret):
            raise VaultError(
                FileProblem.INVALID,
                f"Entries of {source} cannot go to {target}: what was open once is no secret any more.",
            )
        with self.changing(identity) as state:
            number, stored = corpus_named(state, name)
            sealed = sealed_texts(state, number, stored)
            there = [entry.entry for entry in sealed.entries if entry.segment is source]
            if not 0 < count <= len(there):
                raise VaultError(
                    FileProblem.INVALID,
                    f"{name!r} has {len(there):,} entries in {source}, and {count:,} were asked for.",
                )
            drawn = sorted(secrets.SystemRandom().sample(there, count))
            moved = sealed.moved(set(drawn), target)
            after = stored.model_copy(update={"entries": moved.counts, "texts": moved.sha256})
            act = Rotated(
                corpus=number, source=source, target=target,
                entries=tuple(drawn), purpose=words_of_log(purpose, _PURPOSE),
            )  # fmt: skip
            corpora = {**state.head.corpora, number: after}
            return self.write(state, act, identity, corpora, {after.texts: moved.data})

    def enrol(
        self,
        keeper: Keeper,
        purpose: str,
        identity: Identity,
        opener: OpeningKey | None = None,
        threshold: int | None = None,
    ) -> VaultState:
        """Add one more person who opens the vault: the keys of all corpora are sealed for them too, no text is opened.

        Where keepers open together, all of them get shares of a new key and every text is sealed again, so ``opener`` is
        needed; ``threshold`` is how many open together from then on, None for as many as before.
        """
        with self.changing(identity) as state:
            everybody = [*state.keepers.values(), keeper]
            check_keepers(everybody)
            if state.split is not None:
                return self._deal(state, everybody, purpose, identity, opener, threshold)
            files: dict[str, bytes] = {}
            corpora: dict[str, StoredCorpus] = {}
            for number, stored in state.head.corpora.items():
                sealed = opened_key(state, stored, identity).sealed_for(recipients(everybody))
                corpora[number] = stored.model_copy(update={"key": sha256_of(sealed)})
                files[sha256_of(sealed)] = sealed
            act = Enrolled(keeper=keeper, purpose=words_of_log(purpose, _PURPOSE))
            return self.write(state, act, identity, corpora, files)

    def revoke(
        self,
        keeper: str,
        purpose: str,
        identity: Identity,
        opener: OpeningKey | None = None,
        threshold: int | None = None,
    ) -> VaultState:
        """Remove a keeper and seal every text again under new keys; a copy that they have still opens for them.

        Where keepers open together, those who stay get shares of a new key. ``opener`` and ``threshold`` as for ``enrol``.
        """
        with self.changing(identity) as state:
            gone = keeper_named(state, keeper)
            left = [keeper for keeper in state.keepers.values() if keeper != gone]
            if gone.signing_key == identity.public.signing_key:
                raise VaultError(FileProblem.INVALID, "Nobody removes themselves. Ask another keeper to do it.")
            check_keepers(left)
            if state.split is not None:
                return self._deal(state, left, purpose, identity, opener, threshold)
            corpora, files = under_new_keys(state, identity, None, recipients(left))
            act = Revoked(keeper=gone.signing_key, purpose=words_of_log(purpose, _PURPOSE))
            return self.write(state, act, identity, corpora, files)

    def refresh(
        self, purpose: str, identity: Identity, opener: OpeningKey | None, threshold: int | None = None
    ) -> VaultState:
        """Deal shares of a new key to the same keepers and seal every text again, so that no earlier share opens it."""
        with self.changing(identity) as state:
            everybody = [*state.keepers.values()]
            return self._deal(state, everybody, purpose, identity, opener, threshold)

    def _deal(
        self,
        state: VaultState,
        keepers: Sequence[Keeper],
        purpose: str,
        identity: Identity,
        opener: OpeningKey | None,
        threshold: int | None,
    ) -> VaultState:
        """Deal shares of a new key to these keepers and seal every text again, in one change that the keepers of before sign together."""
        before, known, key = dealt(state), check_opener(state, opener), OpeningKey.make()
        splits = splits_of(state.lines)
        split, files = deal(key, threshold or before.threshold, keepers, splits)
        corpora, sealed = under_new_keys(state, identity, known, [key.recipient])
        former = seal_former(known, key)
        act = Dealt(
            keepers=tuple(keepers),
            split=split,
            sealed_anew=True,
            former=sha256_of(former),
            purpose=words_of_log(purpose, _PURPOSE),
        )
        act = proved(act, state.head.log_head, known)
        files |= {**sealed, act.former: former}
        return self.write(state, act, identity, corpora, files)

    def change_consent(self, corpus: str, said_by: str, reason: str, identity: Identity, *, withdrawn: bool) -> None:
        """Write that consent for a corpus, by its number, was withdrawn or given again; raises VaultError where it cannot."""
        act = ConsentChanged(
            corpus=corpus,
            withdrawn=withdrawn,
            said_by=words_of_log(said_by, "The name"),
            purpose=words_of_log(reason, "The reason"),
        )
        with self.changing(identity) as state:
            self.write(state, act, identity)

    def export(self, target: Path, purpose: str, identity: Identity) -> VaultState:
        """Make a sealed copy in another folder; the log has it first, so the copy shows that it is one."""
        copy, own = target.resolve(), self.folder.resolve()
        if own in (copy, *copy.parents):
            raise VaultError(FileProblem.INVALID, f"{target} is in the vault itself. Name another folder.")
        with self.changing(identity) as state:
            after = self.write(state, CopyMade(purpose=words_of_log(purpose, _PURPOSE)), identity)
            copy_to(after, target)
            return after

    @contextmanager
    def changing(self, identity: Identity) -> Iterator[VaultState]:
        """Lock the vault for others, and refuse strangers; yield what it holds.

        Texts and keys may be in memory from here on, so no core is dumped any more.
        """
        no_core_dumps()
        if not (self.folder / HEAD).is_file():
            self.read()  # says that it is no vault, before a lock is made there
        with locked(self.folder):
            state = self.read()
            may_write = signers(state.keepers, splits_of(state.lines))
            if identity.public.signing_key not in may_write:
                raise VaultError(
                    FileProblem.WRONG_KEY,
                    "These keys are not those of a present keeper of this vault; those of somebody who was removed no longer "
                    "count. Use a keeper's computer, or the recovery key (--key FILE).",
                )
            yield state

    def write(
        self,
        state: VaultState,
        act: Act,
        identity: Identity,
        corpora: Mapping[str, StoredCorpus] | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> VaultState:
        """Write a line into the log and change what it says, as ``folder.change`` does; call it inside ``changing``.

        Raises VaultError where the line opens a withdrawn corpus: every opening is written before it is done.
        """
        require_consent(state.lines, act, identity.public.signing_key)
        after = change(
            state, act, identity, self.clock(),
            corpora=corpora, files=files, clock_was_wrong=self.clock_was_wrong,
        )  # fmt: skip
        # the change is done: whoever reads it next keeps that it was seen
        with suppress(UsageError):
            self.seen.remember(after)
        return after


def words_of_log(words: str, what: str) -> str:
    """Return words that go into the log, on one line; raises VaultError where there are none, or too many."""
    line = " ".join(words.split())
    if not 0 < len(line) <= MOST_WORDS:
        raise VaultError(
            FileProblem.INVALID,
            f"{what} has {len(line):,} characters. Say it in 1 to {MOST_WORDS}: the log keeps it for ever.",
        )
    return line
