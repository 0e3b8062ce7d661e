"""Proposing who owns a method, signing that, and keeping what both sides said beside the run.

A record is proposed only of a run that §8.3 and §9.5 mean: over gold_standard alone, composite of 0.70 or more, and a gate
that speakers said go to. It is kept here only where the organisation in it is this computer's own, or its developer is, or a
person named the organisation's key: anybody can write the name of an organisation into a file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Final

from corpora.files.json_types import JsonObject
from corpora.model.entry import Segment
from harness.card.checking.signed import signers_of
from harness.card.checking.verdict import CardCheck
from harness.card.checking.verify_card import check_hash, consent_checks
from harness.card.model import HASH_FIELD
from harness.card.reproduction import fits_card, read_reproduction
from harness.card.rows import kept_card, load_card
from harness.card.signing import kept_seals, own_keys
from harness.consent.checks import Verified
from harness.core.failures import KeyStoreError, UsageError
from harness.sealed.keys import Identity, Role, key_phrase
from harness.sealed.strict_records import FileError
from harness.store.attachments import (
    KeptRecord,
    RecordKind,
    attached_to,
    keep_signed,
    recounts,
    reproduction_files,
    signed_file,
    signed_files,
)
from harness.store.corpora.entries import read_dataset
from harness.store.runs import Run, find_by_id, find_run, read_card
from harness.store.sqlite.trouble import transaction
from harness.submission.desk import KeptSubmission
from harness.vault.folder import read_state
from harness.vault.grant_log import request_id
from harness.vault.log import LogLine
from harness.vault.opening import folder_of
from harness.vault.request import VaultWork
from harness.vault.vault_records import GrantAsked, OpenedByGrant, Used
from review.office.results.disclosure import released_certificate, require_confirmed
from review.office.results.whole_way import STEPS, WayEnd, WayStep, what_follows
from review.office.store.database import FILE as OFFICE
from review.office.store.store import Office
from review.records.ownership import (
    OwnershipAction,
    OwnershipRecord,
    OwnershipTerms,
    Party,
    listed_fields,
    merged,
    new_terms,
    propose,
    read_ownership,
    say,
)
from review.verdict.certificate.certificate import ReviewStatus, standing
from review.verdict.certificate.coarse import over_secret, read_coarse
from scoring.core.specification import COMPOSITE, Tier, specification

# Whose keys sign a record, by which of them the terms name
SIGNERS: Final = (Role.ORGANISATION, Role.COMPUTER)


def least_composite() -> float:
    """Return the composite from which on a method is subject to ownership (§8.3): the line of deployable."""
    return next(least for least, name in specification().tiers if name == Tier.DEPLOYABLE)


def conditions(connection: sqlite3.Connection, run: Run) -> list[CardCheck]:
    """Return what §8.3 and §9.5 ask of a run, each with whether it is so: its seal, its entries, its composite, its gate."""
    card, review = load_card(connection, run.id), gate_of(connection, run)
    segments = [str(row.segment) for row in card.results]
    if card.withheld is not None:
        segments = [name for name, count in card.withheld.segments.items() if count]
    gate = CardCheck("gate", False, "no certificate of a review that holds is next to the run")
    if review is not None:
        why, certificate = review.why_not_community, review.certificate
        words = f"go, certificate {certificate.sha256[:16]}… of {certificate.organisation.name}"
        gate = CardCheck("gate", not why, why or words)
    return [
        check_hash(kept_card(connection, run)),
        _scored(connection, run),
        of_gold(segments),
        reaches_line(card.scores.composite),
        gate,
    ]


def gate_of(connection: sqlite3.Connection, run: Run) -> ReviewStatus | None:
    """Return what people said of a run by the certificates next to it; None where none holds."""
    return standing(attached_to(connection, run.id), run.run_id, str(kept_card(connection, run).get(HASH_FIELD)))


def _scored(connection: sqlite3.Connection, run: Run) -> CardCheck:
    recount = recounts(connection, run.id).get(run.id)
    if "unverified" in (read_card(connection, run.id) or {}):
        return CardCheck("scores", False, "its card came without a seal that holds")
    if run.imported and (recount is None or not recount.counts):
        words = "its scores are only stated; `rosetta runs import CARD --corpus FILE` scores its outputs again"
        return CardCheck("scores", False, words)
    return CardCheck("scores", True, "scored on this computer")


def of_gold(segments: Iterable[str]) -> CardCheck:
    """Return whether the entries of a card, by their segments, are all of gold_standard (§9.5)."""
    named, gold = set(segments), Segment.GOLD_STANDARD.value
    words = f"its entries are of {', '.join(sorted(named)) or 'no segment'}"
    only = named == {gold}
    return CardCheck("entries", only, words if only else f"{words}, not of {gold} alone")


def reaches_line(composite: float | None) -> CardCheck:
    """Return whether the composite of a card is at least the line of §8.3."""
    if composite is None:
        return CardCheck(COMPOSITE, False, "it has no composite")
    least = least_composite()
    reached = composite >= least
    return CardCheck(COMPOSITE, reached, f"it {'is' if reached else 'is not'} {least:.2f} or more")


def propose_for(
    connection: sqlite3.Connection, name: str, developer: Party, home: Path, **changed: object
) -> OwnershipRecord:
    """Propose a record for a run and keep it; raises UsageError where a condition is not met, in the words of all that are not.

    ``changed``: fields of the terms that are to be other than usual, such as ``organisation_share`` and ``more``.
    """
    run = find_run(connection, name)
    if wrong := [condition for condition in conditions(connection, run) if not condition.ok]:
        unmet = "; ".join(f"{card_check.name}: {card_check.words}" for card_check in wrong)
        raise UsageError(
            f"Run {run.run_id[:8]} is not one whose ownership is agreed on (benchmark-specification §8.3, §9.5): {unmet}."
        )
    identity = organisation_keys(home)
    card = load_card(connection, run.id)
    review = gate_of(connection, run)
    assert review is not None  # noqa: S101  a condition
    if review.certificate.organisation.signing_key != identity.public.signing_key:
        raise UsageError("Another organisation certified this run: the one that certified it proposes.")
    named = card.method.method_name or card.method.method or card.model_slug or "method"
    terms = new_terms(
        run_id=run.run_id,
        card=card.run_card_hash,
        certificate=shown_certificate(review, home),
        composite_at_least=f"{least_composite():.2f}",
        method=" ".join(named.split())[:200],
        language_pair=run.language_pair,
        organisation=Party(name=review.certificate.organisation.name, signing_key=identity.public.signing_key),
        developer=developer,
        **changed,
    )
    made = propose(terms, identity)
    keep(connection, made)
    return made


def end_of_way(connection: sqlite3.Connection, kept: KeptSubmission, steps: Sequence[WayStep]) -> WayEnd:
    """Return what follows for a submission (``what_follows``), and behind a certificate the command of its record.

    That is who owns the method, where §8.3 and §9.5 ask for it and nothing was proposed yet.
    """
    end = what_follows(kept, steps)
    if end.step or steps[-1].name != STEPS[-1]:
        return end
    if (run := find_by_id(connection, kept.judged.run)) is None:
        return end
    proposed = {record.run_id for record, _ in signed_files(connection, RecordKind.OWNERSHIP)}
    if run.run_id not in proposed and all(c.ok for c in conditions(connection, run)):
        who = f"--developer {quote(kept.manifest.submitter)} --key {kept.manifest.by}"
        command = f"rosetta community propose {run.run_id[:8]} {who} -o NAME.rosetta-ownership"
        return replace(end, command=command)
    return end


def shown_certificate(review: ReviewStatus, home: Path) -> str:
    """Return the SHA-256 of the certificate that both sides can see; UsageError where it was not told yet."""
    if not over_secret(review.certificate):
        return review.certificate.sha256
    if (home / OFFICE).exists():
        with Office.open(home) as office:
            signed = released_certificate(office, review.certificate.run.run_id)
        coarse = None if signed is None else read_coarse(signed.content, "it")
        if coarse is not None and coarse.exact == review.certificate.sha256:
            require_confirmed(coarse.run.run_id, home)
            return coarse.sha256
    raise UsageError(
        "The entries of this run are secret, and its newest verdict was not told outside yet, so the developer has nothing to "
        "compare the record with. First: rosetta review gate --issue"
    )


def organisation_keys(home: Path) -> Identity:
    """Return the keys of this computer's organisation; KeyStoreError where it is none's."""
    if not Identity.known(home, Role.ORGANISATION):
        raise KeyStoreError(
            "This computer is no organisation's: it never made a review. Do this on the organisation's computer."
        )
    return Identity.load(home, Role.ORGANISATION)


def own_side(terms: OwnershipTerms, home: Path) -> Identity:
    """Return the keys of this computer that are a side of the terms; UsageError where none are."""
    for role in SIGNERS:
        if Identity.known(home, role):
            identity = Identity.load(home, role)
            if terms.side_of(identity.public.signing_key) is not None:
                return identity
    raise UsageError(
        f"No key of this computer is a side of this record. Its sides are {terms.organisation.name} "
        f"({key_phrase(terms.organisation.signing_key)}) and {terms.developer.name} ({key_phrase(terms.developer.signing_key)})."
    )


def answer(
    connection: sqlite3.Connection, data: bytes, what: OwnershipAction, home: Path, reason: str = ""
) -> OwnershipRecord:
    """Add a word of this computer's side to a record, with all that is known of it here, and keep it.

    A word that is kept here and not in ``data``, as where its file could not be written, is not said again.
    """
    stated = read_ownership(data)
    with transaction(connection):
        record = with_kept(connection, stated)
        identity = own_side(record.terms, home)
        key = identity.public.signing_key
        if _has_said(record, what, key) and not _has_said(stated, what, key):
            return record
        if what is OwnershipAction.SIGNED:
            terms = record.terms
            keys = frozenset({terms.organisation.signing_key, terms.developer.signing_key})
            for check in _refused_consent(keys):
                raise UsageError(f"{check.words}. It is not signed.")
            if key == record.terms.organisation.signing_key:
                require_confirmed(record.terms.run_id, home)
        ownership_record = say(record, what, identity, reason)
        keep(connection, ownership_record)
    return ownership_record


def _has_said(record: OwnershipRecord, what: OwnershipAction, key: str) -> bool:
    return any(act.what is what and act.by == key for act in record.acts)


def take(connection: sqlite3.Connection, data: bytes, home: Path, trusted: str | None) -> OwnershipRecord:
    """Store a record that came from the other side, with all that is known of it here.

    ``trusted``: the organisation's key, where a person named it. Raises UsageError where this computer is no side of it and
    nobody named the key: who signs as an organisation can be anybody.
    """
    stated = read_ownership(data)
    if trusted != stated.terms.organisation.signing_key:
        if trusted is not None:
            raise UsageError("Another key than the one that you named signed as the organisation. It was not imported.")
        own_side(stated.terms, home)
    with transaction(connection):
        record = with_kept(connection, stated)
        keep(connection, record)
    return record


def with_kept(connection: sqlite3.Connection, record: OwnershipRecord) -> OwnershipRecord:
    """Return a record with all that is said in the copy that is kept here."""
    kept = signed_file(connection, record.terms.id)
    return record if kept is None else merged(record, read_ownership(kept))


def keep(connection: sqlite3.Connection, record: OwnershipRecord) -> None:
    terms = record.terms
    row = KeptRecord(terms.id, RecordKind.OWNERSHIP, terms.run_id, terms.card, listed_fields(record))
    keep_signed(connection, row, record.data())


# ---- How far a result was verified (benchmark-specification §9.4, §9.5), and what on this
# computer shows it.
#
# Three paths, each with its evidence examined again when it is shown: who made the card, who ran
# it once more, and what speakers said of it on entries that nobody had seen. What cannot be shown
# here is named with who answers for it.

SELF, AGAIN, GATE, TEXTS = "card", "run again", "gate", "entries"  # Names of what shows a path


def evidence_of(connection: sqlite3.Connection, run: Run, home: Path) -> list[CardCheck]:
    """Return what shows here how far a finished run was verified: its card, records of reproductions, its gate and its vault.

    ``home``: the data folder, whose keys are known. True shows it, False speaks against it, None cannot be told here.
    """
    raw = kept_card(connection, run)
    whole = check_hash(raw)
    own, signers = own_keys(home), sorted(signers_of(kept_seals(connection, run.id, raw), raw))
    names = [own.get(s) or f"a key with the six words: {key_phrase(s)}" for s in signers]
    signed = f"signed with {'; '.join(names)}" if names else "nobody signed it"
    words = f"{'imported' if run.imported else 'made here'}, its hash is its own, {signed}"
    made = CardCheck(SELF, False, whole.words) if whole.ok is False else CardCheck(SELF, True, words)
    card_checks = [made, *_again(connection, run, raw)]
    if (review := gate_of(connection, run)) is not None:
        certificate, key = review.certificate, review.certificate.organisation.signing_key
        words = (
            f"go by {certificate.panel.words}, certificate {certificate.sha256[:16]}… of {certificate.organisation.name}, "
            f"{certificate.issued[:10]}, signed with the six words: {key_phrase(key)}"
        )
        gate = CardCheck(GATE, True, words)
        if why := review.why_not_community:
            gate = CardCheck(GATE, False if review.suspended else None, why)
        consent = consent_checks(Verified(keys=frozenset({key})))
        card_checks += [gate, *consent, _texts(connection, run, home)]
    return card_checks


def _again(connection: sqlite3.Connection, run: Run, raw: JsonObject) -> Iterator[CardCheck]:
    """Read the records of reproductions that were attached once more."""
    signers = signers_of(kept_seals(connection, run.id, raw), raw)
    for trusted, data in reproduction_files(connection, run.id):
        try:
            reproduction = read_reproduction(data)
        except FileError as error:
            yield CardCheck(AGAIN, False, str(error))
            continue
        wrong = fits_card(reproduction, raw, signers)
        if not wrong and reproduction.by != trusted:
            wrong = "another key signed it than was trusted"
        for check in _refused_consent(frozenset({reproduction.by})):
            wrong = wrong or check.words
        if wrong or not reproduction.reproduced:
            yield CardCheck(AGAIN, False, wrong or "it was not reproduced")
            continue
        words = f"reached its scores within 2 % on {reproduction.when[:10]}, signed with the six words: {key_phrase(reproduction.by)}"
        yield CardCheck(AGAIN, True, words)


def _refused_consent(keys: frozenset[str]) -> list[CardCheck]:
    return [check for check in consent_checks(Verified(keys=keys)) if check.ok is False]


def _texts(connection: sqlite3.Connection, run: Run, home: Path) -> CardCheck:
    """Return how the reviewed run came to its entries: by which line of which vault's log."""
    if not (vault := (read_dataset(connection, run.corpus).opened_from or "").partition("/")[0]):
        words = "read from a file, not from a vault: that nobody had seen them is the organisation's word"
        return CardCheck(TEXTS, None, words)
    if not (folder := folder_of(home, vault)):
        words = f"out of the vault {vault[:16]}…, which this computer never saw: ask a keeper for its log"
        return CardCheck(TEXTS, None, words)
    try:
        lines = read_state(Path(folder)).lines
    except UsageError as error:
        return CardCheck(TEXTS, None, f"the log of the vault {vault[:16]}… cannot be read: {error}")
    return opened_by(lines, run.run_id)


# Work that brings texts into a run; what else opens them for it comes after
BRINGING: Final = frozenset({VaultWork.RUN, VaultWork.SCORE, VaultWork.RESUME, VaultWork.RETRY, VaultWork.SCRIPT})


def opened_by(lines: Sequence[LogLine], run_id: str) -> CardCheck:
    """Return which line of a vault's log first brought its texts into a run, and by which grant."""
    requests = [line.record.act for line in lines if isinstance(line.record.act, GrantAsked)]
    asked = {request_id(request.request): request.request for request in requests}
    for line in lines:
        act = line.record.act
        if not isinstance(act, Used | OpenedByGrant) or act.run != run_id:
            continue
        if isinstance(act, Used):
            brings = act.work in BRINGING
        else:  # of a grant its request says for what
            terms = asked[act.grant].run
            brings = terms is not None and (not terms.run or terms.method in BRINGING)
        if not brings:
            continue
        place = f"line {line.seq + 1} of its log ({line.record.when})"
        opened_words = f"{sum(act.entries.values()):,} out of the vault {lines[0].id[:16]}…"
        granted = isinstance(act, OpenedByGrant) or act.grant is not None
        how = "by" if granted else "without"
        return CardCheck(TEXTS, granted, f"{opened_words} {how} a grant, {place}")
    vault = f"the vault {lines[0].id[:16]}…"
    words = f"the log of {vault} has no grant by which it was opened for this run"
    return CardCheck(TEXTS, False, words)
