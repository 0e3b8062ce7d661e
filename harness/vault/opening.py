"""From a vault to a corpus that a run takes, as one out of a file is taken, and nothing of it in a file.

Each opened entry keeps its id, place, segment and all else. Every one of them is kept on this machine as one of a
secret segment is, those of open segments too: anyone who sealed a text did not mean it to be sent. In the places of
entries that stayed closed stand entries without id or text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from corpora.checks.entries import check_entries
from corpora.model.corpus import Corpus, Dataset, Form, OutOfVault, with_tags_of
from corpora.model.entry import Entry, Segment
from corpora.model.vocabularies import Transmission
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.storage import private_folder
from harness.endpoint import offline
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity
from harness.sealed.strict_records import FileProblem
from harness.vault.data_key import DataKey
from harness.vault.folder import VaultState
from harness.vault.grants.grants import Grants
from harness.vault.grants.using import AwaitedGrant, GrantAtOnce
from harness.vault.keepers import VaultsSeen, own_identity
from harness.vault.key_shares import KeyShare, OpeningKey
from harness.vault.log import VaultError, asked_wrongly
from harness.vault.request import GRANTED, ShareTyping, VaultRequest, VaultWork
from harness.vault.sealed_corpus import OpenedEntry, SealedCorpus, UnsealedCorpus, recipients_of
from harness.vault.shares import combined, dealt, former_keys, own_share, whose
from harness.vault.vault import Vault, words_of_log
from harness.vault.vault_records import Counts, Dealt, ModelAsked, OpenedByGrant, Rotated, RunTerms, Used

MEMORY: Final = "vaults"
"""Folder, in the data folder, of what this computer saw of each vault."""
BECAUSE: Final = "it was opened from a vault"
"""The term that keeps such a corpus on this machine."""
CLOSED: Final = "closed in the vault "
"""Beginning of the id of what is in a closed entry's place."""


def vault_at(folder: Path, home: Path, *, clock_was_wrong: bool = False) -> Vault:
    """Return the vault of a folder, as the computer whose data folder is ``home`` sees it."""
    return Vault(folder, home / MEMORY, lambda: datetime.now(UTC), clock_was_wrong)


def folders_seen(home: Path) -> list[str]:
    """Return the folders in which this computer saw vaults."""
    return [folder for _, (_, _, folder) in VaultsSeen(home / MEMORY).all()]


def folder_of(home: Path, vault: str) -> str:
    """Return the folder in which this computer saw the vault with this number; empty where it saw none."""
    seen = VaultsSeen(home / MEMORY).all()
    return next((folder for path, (_, _, folder) in seen if path.stem == vault[:16]), "")


@dataclass(frozen=True)
class VaultOpening:
    """Who opens a vault, and what for.

    The log of the vault has each opening, with purpose, work and the run where that is known, before a text is opened.
    All raises VaultError in words; where the log could not be written, nothing was opened.
    """

    vault: Vault
    identity: Identity
    """Signs the line of the log; where each keeper opens alone, opens too."""
    purpose: str
    """In a person's words."""
    work: VaultWork
    run_id: str = ""
    """Of the run that it is opened for; empty where none is known."""
    together: OpeningKey | None = None
    """What keepers who open together have (``dealing.combined``)."""
    grant: AwaitedGrant | None = None
    """The grant of keepers who are elsewhere, which is used up for it."""
    at_once: GrantAtOnce | None = None
    """The grant that the keepers who are here give for it; None for work that needs none."""
    despite_network: str = ""
    """Why it continues though the computer has a way to other machines; the log has it."""

    @property
    def ages(self) -> list[AgeIdentity]:
        """Return what opens the texts that the store keeps of this vault's corpora: as the vault's keys are sealed, now or before."""
        together = self.together if self.grant is None else self.grant.together
        kept = [] if self.grant is None or self.grant.sweep is None else [self.grant.sweep[1]]
        if together is None:
            return kept or [self.identity.age]
        return [*kept, *(key.age for key in (together, *former_keys(self.vault.read(), together)))]

    @property
    def recipients(self) -> list[str]:
        """For whom the store seals them, of age."""
        return recipients_of(self.vault.read())

    def corpus(self, name: str, segments: Sequence[Segment] = ()) -> Corpus:
        """Open a corpus by its name or number: all segments but ``held_out``, or those that are named."""
        return corpus_of(self.unsealed(name, segments), self.run_id, self.despite_network)

    def unsealed(self, name: str, segments: Sequence[Segment] = ()) -> UnsealedCorpus:
        opened = unsealed(*self._written(name, segments))
        if self.grant is None or self.grant.sweep is None:
            return opened
        return replace(opened, recipients=(*opened.recipients, self.grant.sweep[1].recipient))

    def again(self, came: str, segments: Sequence[Segment]) -> None:
        """Write that the texts of a run are opened, which the store keeps sealed; nothing is opened here.

        ``came``: as ``Dataset.opened_from`` of its corpus. Refused for another vault, and where entries went to
        ``held_out`` since the run began: these are used no more.
        """
        number, corpus, rotations = came.split("/")
        state = self.vault.read()
        if state.head.vault != number:
            raise VaultError(
                FileProblem.INVALID,
                f"The run is out of another vault than that in {self.vault.folder}: its number is {number[:16]}, and this "
                f"one's is {state.head.vault[:16]}. Name the other one's folder.",
            )
        since = _rotations(state, corpus)[int(rotations) :]
        if any(act.target is Segment.HELD_OUT for act in since):
            raise VaultError(
                FileProblem.LOCKED,
                "Entries of this corpus went to held_out since the run began, and those are not used before their time. Begin "
                "a new run; this one stays as it is.",
            )
        _refuse_sealed_anew(state, self.run_id)
        self._written(corpus, segments)

    def note_model(self, run: str, endpoint: str, model: str, calls: int | None = None) -> None:
        """Write that the method of a run may ask a model, before its first question, or with ``calls`` how often it did."""
        act = ModelAsked(run=run, endpoint=endpoint, model=model, calls=calls)
        by = self.identity.public.signing_key
        with self.vault.changing(self.identity) as state:
            if reason := asked_wrongly(act, by, state.lines):
                raise VaultError(FileProblem.INVALID, f"This is not written into the log: {reason}. The vault is as it was.")  # fmt: skip
            self.vault.write(state, act, self.identity)

    def note_withdrawal(self, corpus: str, said_by: str, reason: str) -> None:
        """Write that consent for a corpus was withdrawn, by its number: from then on no keeper opens it."""
        self.vault.change_consent(corpus, said_by, reason, self.identity, withdrawn=True)

    def end_sweep(self) -> None:
        """Destroy what continues a sweep by its grant; a no-op where keepers who are here began it."""
        if self.grant is not None and self.grant.sweep is not None:
            self.grant.grants.kept.forget_key(self.grant.sweep[0])

    def _written(self, name: str, segments: Sequence[Segment]) -> tuple[VaultState, SealedCorpus, DataKey]:
        if self.grant is not None:
            work = self.run_id, self.despite_network
            return self.grant.opening(name, self.identity, segments, self.purpose, *work)
        purpose = words_of_log(self.purpose, "The purpose")
        more = {"despite_network": self.despite_network} if self.despite_network else {}

        def act(state: VaultState, number: str, counts: Counts) -> Used:
            used = Used(
                corpus=number, entries=counts, purpose=purpose, work=self.work, run=self.run_id, **more
            )  # fmt: skip
            if self.at_once is None:
                return used
            return self.at_once.granted(used, state, self.identity, self.together)

        return self.vault.opening(name, self.identity, segments, self.together, act)


def unsealed(state: VaultState, sealed: SealedCorpus, key: DataKey) -> UnsealedCorpus:
    """Open a corpus in memory whose opening the log has; ``state`` is that of before. FileError where a text is damaged."""
    number = sealed.head.corpus
    return UnsealedCorpus(
        vault=state.head.vault,
        number=number,
        rotations=len(_rotations(state, number)),
        counts=state.head.corpora[number].entries,
        recipients=tuple(recipients_of(state)),
        envelope=sealed.envelope(key),
        entries=sealed.opened(key),
    )


def _refuse_sealed_anew(state: VaultState, run_id: str) -> None:
    """Refuse a run whose stored texts are sealed for an opening key that the vault has kept for nobody."""
    acts = [line.record.act for line in state.lines]
    begun = (
        n for n, act in enumerate(acts) if isinstance(act, Used | OpenedByGrant) and act.run == run_id
    )  # fmt: skip
    since = acts[next(begun, len(acts)) :]
    if any(isinstance(act, Dealt) and act.sealed_anew and not act.former for act in since):
        raise VaultError(
            FileProblem.LOCKED,
            "An earlier version of Rosetta sealed all texts of this vault again under another key since the run began (rosetta "
            "vault log), and kept none of before. What the run stored is sealed under that one, and nobody opens it any more. Its "
            "scores can be examined; for its texts begin a new run. Nothing was opened, and no grant used up.",
        )


def _rotations(state: VaultState, corpus: str) -> list[Rotated]:
    acts = (line.record.act for line in state.lines)
    return [act for act in acts if isinstance(act, Rotated) and act.corpus == corpus]


_WITHOUT_METHOD: Final = (
    VaultWork.ESTIMATE, VaultWork.CHECK, VaultWork.SEAL, VaultWork.COMPARE, VaultWork.CALIBRATE,
    VaultWork.REVIEW, VaultWork.ADJUDICATE,
)  # fmt: skip
"""Work in which no code of others runs beside the texts."""


def opening_by(home: Path, asked: VaultRequest, terms: RunTerms | None = None) -> VaultOpening:
    """Choose who opens a vault: this computer's keeper, or whose keys are in a file, alone or together with others.

    ``home``: the data folder. ``terms``: what is about to be done with the texts; work that needs a grant is refused without.
    Raises VaultError where nobody is available, and UsageError where code of others would have the texts, this computer has a
    way to other machines, and nobody answers for it in ``asked.despite_network``.
    """
    work = VaultWork(asked.work)
    what = "reading them on the screen" if work is VaultWork.LOOK else "a run"
    why = "" if work in _WITHOUT_METHOD else offline.require_none(asked.despite_network, what)
    vault = vault_at(asked.folder, home, clock_was_wrong=asked.clock_was_wrong)
    together, awaited, own = None, None, None
    if asked.wait is not None and asked.request is not None and _others_are_elsewhere(vault, home, asked):
        identity = keeper_here(home, *asked.others)
        awaited = AwaitedGrant(grants_of(vault, home), terms, asked.request, asked.tell, asked.wait)
    elif _several(vault, asked):
        identity, together = keepers_here(vault, home, None, asked.others, asked.typed)
    else:
        identity = keeper_here(home, *asked.others)
    if awaited is None and work in GRANTED:
        if terms is None:
            raise UsageError(f"A vault opens for {asked.work} by a grant only: say what is to be run.")
        own = GrantAtOnce(grants_of(vault, home), terms, asked.tell)
    return VaultOpening(
        vault, identity, asked.purpose, work, asked.run_id, together, awaited, own,
        words_of_log(why, "The reason") if why else "",
    )  # fmt: skip


def _others_are_elsewhere(vault: Vault, home: Path, asked: VaultRequest) -> bool:
    """Return whether several keepers open a vault together, and one of them alone is here."""
    state = vault.read()
    if state.split is None or asked.typed is not None:
        return False
    known = Identity.known(home, Role.KEEPER)
    own = known and Identity.load(home, Role.KEEPER).public.signing_key in state.keepers
    return int(own) + len(asked.others) == 1


def _several(vault: Vault, asked: VaultRequest) -> bool:
    """Return whether keepers who are here bring their shares together."""
    if len(asked.others) == 1 and asked.typed is None:
        return vault.read().split is not None
    return bool(asked.others) or asked.typed is not None


def grants_of(vault: Vault, home: Path) -> Grants:
    """Return the grants of a vault, as this computer has them; its own keys are made the first time."""
    return Grants(vault, Identity.load(private_folder(home), Role.COMPUTER))


def keepers_here(
    vault: Vault, home: Path, key: Path | None, others: Sequence[Path], typed: ShareTyping | None = None
) -> tuple[Identity, OpeningKey]:
    """Return who writes into the log, and what the keepers who are here open together.

    ``key``: file of one keeper's keys, None: those of this computer's keeper where it has one. ``others``: files of the
    keys of others. ``typed``: where printed shares are typed until enough are here. On a computer without a keeper's keys those whose shares
    are here write together. HarnessError says who is missing, and which share is not right.
    """
    state = vault.read()
    dealt(state)
    here = [own_identity(home, path) for path in others]
    if key is not None or Identity.known(home, Role.KEEPER):
        own = own_identity(home, key)
        if key is not None or own.public.signing_key in state.keepers:
            here.insert(0, own)
    shares = [own_share(state, identity) for identity in here]
    if typed is not None:
        # Prompt for shares until there are as many as are needed; one that does not count is
        # reported, and asked for again.
        needed = dealt(state).threshold
        while len({share.check for share in shares}) < needed:
            try:
                share = KeyShare.read(typed.words())
                keeper = whose(state, share)
            except UsageError as error:
                typed.say(f"Not taken: {error}")
                continue
            shares.append(share)
            count = len({share.check for share in shares})
            typed.say(f"{keeper.name}: right. {count} of {needed} are here.")
    joined = combined(state, shares)
    return (here[0] if here else joined.identity), joined


def keeper_here(home: Path, file: Path | None = None) -> Identity:
    """Return who opens a vault for a run, and signs its log: this computer's keeper, or whose keys are in a file.

    Raises VaultError where there are none.
    """
    if file is None and not Identity.known(home, Role.KEEPER):
        raise VaultError(
            FileProblem.WRONG_KEY,
            "This computer has no keeper's keys, so it opens no vault. Use the computer of a keeper, or name the "
            "recovery key with --with FILE.",
        )
    return own_identity(home, file)


def who_signs(vault: Vault, home: Path, others: Sequence[Path]) -> Identity:
    """Return whose key signs where ``others`` are here: this computer's keeper where several open together, else theirs."""
    own = Identity.load(home, Role.KEEPER) if Identity.known(home, Role.KEEPER) else None
    state = vault.read()
    if own and state.split is not None and own.public.signing_key in state.keepers:
        return own
    return keeper_here(home, *others[:1])


def corpus_of(opened: UnsealedCorpus, run_id: str = "", despite_network: str = "") -> Corpus:
    """Assemble the opened entries into a corpus, each in its place; ``run_id``: of the run that they were opened for."""
    entries = _closed(opened)
    try:
        metadata = _told(opened)
        dataset = _dataset(metadata["dataset"], opened)
        placed = dict(_entry(entry, dataset) for entry in opened.entries)
    except (ValueError, TypeError, KeyError):  # its words may quote a text
        placed = {}
    if len(placed) != len(opened.entries) or not placed.keys() <= entries.keys():
        raise VaultError(
            FileProblem.DAMAGED,
            "What a keeper sealed in this corpus is no entry that this version knows, or replaces another one. "
            "The log says who changed it: ask them, and put back a copy of the whole folder.",
        )
    entries |= placed
    placed_all = tuple(entries[place] for place in sorted(entries))
    consent, warnings = metadata["dataset"].get("consent"), check_entries(placed_all, dataset.id)
    origin = OutOfVault(opened.recipients, run_id, despite_network, consent)
    form = Form.SPECIFICATION
    return Corpus(dataset, placed_all, metadata["sha256"], form, warnings, vault=origin)


def _told(opened: UnsealedCorpus) -> Mapping[str, Any]:
    """Return fields of the dataset and the hash of its file; of a vault that kept none, one of the corpus's numbers."""
    metadata: dict[str, Any] = json.loads(opened.envelope.reveal())
    if metadata.keys() == {"dataset", "sha256"}:
        return metadata
    numbers = canonical_bytes(["rosetta-vault/1", opened.vault, opened.number])
    return {"dataset": metadata, "sha256": hashlib.sha256(numbers).hexdigest()}


def _dataset(fields: Mapping[str, Any], opened: UnsealedCorpus) -> Dataset:
    """Return the envelope with its terms; the fields that only its owner knows stay sealed, for a run stores the rest."""
    dataset = Dataset.model_validate(fields)
    came = f"{opened.vault}/{opened.number}/{opened.rotations}"
    terms_fields: dict[str, Any] = {"opened_from": came}
    led = [dataset.terms.sending(segment).transmission for segment in (None, *Segment)]
    if not all(transmission.kept_here for transmission in led):
        stricter = min([*led, Transmission.LOCAL_ONLY], key=lambda transmission: transmission.rank)
        terms_fields |= {"transmission": stricter.value, "transmission_because": BECAUSE}
        terms_fields |= {"transmission_class": None}
    public = Dataset.model_fields.keys() - {"canary"}  # who read it in a store could take it out
    known = {name: fields[name] for name in public & fields.keys()}
    return Dataset.model_validate(known | terms_fields)


def _closed(opened: UnsealedCorpus) -> dict[int, Entry]:
    """Return what is in each place of the corpus while it is closed.

    Which entry is in which segment is visible only where all others are open: their places are sealed too.
    """
    shut = {segment for segment, count in opened.counts.items() if count}
    shut -= {entry.segment for entry in opened.entries}
    segment = next(iter(shut)) if len(shut) == 1 else None
    return {
        place: Entry.model_construct(
            id=f"{CLOSED}{place + 1}", source="", reference="", segment=segment, local_only=True, not_stored=True
        )
        for place in range(sum(opened.counts.values()))
    }  # fmt: skip


def _entry(opened: OpenedEntry, dataset: Dataset) -> tuple[int, Entry]:
    """Return the place of an entry in its corpus, from 0, and the entry."""
    fields: dict[str, Any] = json.loads(opened.rest.reveal())
    place = fields.pop("place")
    if isinstance(place, list):
        place, fields["place"] = place
    texts = {"source": opened.source.reveal(), "reference": opened.reference.reveal()}
    entry = Entry.model_validate({**fields, **texts, "segment": opened.segment})
    return place, with_tags_of(dataset, entry).model_copy(update={"local_only": True})
