"""Writing all that belongs to a community into one folder: what is chosen, what goes in, and what is named as left out.

Only what hangs on the chosen corpora goes in: their runs, the reviews of these runs, the methods that they name. So
no text of another community is in it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from corpora.files.decode import open_regular
from harness.consent.notice import SUFFIX, SignedNotice, as_bytes
from harness.consent.withdrawals_in_force import standing
from harness.core.failures import UsageError
from harness.core.version import VERSION
from harness.sealed.keys import Identity, key_phrase
from harness.sealed.strict_records import FileError
from harness.store.file.sealing import also_open_with
from harness.store.signed_records import RecordKind, signed_files
from harness.vault.folder import VaultState
from harness.vault.vault import Vault
from review.community.corpora_out import (
    OwnCorpus,
    choose,
    corpus_files,
    opened_vault,
    sealed_vault,
    table,
)
from review.community.folder import (
    ABOUT,
    FORMAT,
    Checked,
    OutFile,
    new_export,
    put_in_place,
    read_export,
    sign_part,
    write_part,
)
from review.community.page import pages
from review.community.reviews import files_of_review, reviews_of
from review.community.runs import run_files
from review.office.store.store import Office
from review.records.ownership import SUFFIX as OWNERSHIP

_CHANGING = ("made", "program")
"""Parts of ``about.json`` that say nothing of what an export holds."""


@dataclass(frozen=True)
class Wanted:
    """What a community takes with it."""

    corpora: tuple[str, ...]
    """Files, ids, or ``store:`` and the beginning of a hash."""
    methods: tuple[Path, ...] = ()
    """Files and folders of methods that were submitted to it."""
    reviews: tuple[str, ...] = ()
    """Reviews by name besides those of its runs: such as ask for translations have none."""
    vault: Vault | None = None
    keeper: Identity | None = None
    purpose: str = ""
    open_secrets: bool = False
    """Secret texts too, openly; those of a vault with a line of its log first."""


@dataclass(frozen=True)
class Done:
    """What became of an export."""

    files: int
    left_out: tuple[str, ...]
    unchanged: bool
    """True where the folder had exactly this already, and was left as it is."""


@dataclass
class _Work:
    wanted: Wanted
    store: sqlite3.Connection
    office: Office | None
    home: Path
    signer: Identity
    now: datetime
    left_out: list[str] = field(default_factory=list)
    signers: dict[str, str] = field(default_factory=dict)
    """Public key → whose it is, as far as it is known here."""


def export_community(
    target: Path,
    wanted: Wanted,
    store: sqlite3.Connection,
    office: Office | None,
    home: Path,
    signer: Identity,
) -> Done:
    """Write the export, or bring the one in this folder up to date; raises UsageError in words, and nothing is changed then.

    ``home``: the data folder; ``signer`` signs the list of all files. Withdrawn corpora and runs are left out and named.
    """
    if wanted.open_secrets and not wanted.purpose.strip():
        raise UsageError("Opening secret texts needs words for what: add --purpose WORDS.")
    if wanted.vault is not None and wanted.vault.folder.resolve() in target.resolve().parents:
        raise UsageError(f"{target} is in the vault itself. Name another folder.")
    chosen = choose(store, wanted.corpora)
    before = _before(target, chosen, signer)
    work = _Work(wanted, store, office, home, signer, datetime.now(UTC))
    with new_export(target, home / "locks") as made:
        sums = write_part(made, _files(work, chosen))
        if wanted.vault is not None:
            purpose = wanted.purpose or "the community's own export"
            names = sealed_vault(wanted.vault, made / "vault", purpose, wanted.keeper)
            sums |= {f"vault/{name}": _sha256(made / "vault" / name) for name in names}
        about = _about(work, chosen)
        sums |= write_part(made, [_about_file(about), *pages(about, sorted(sums))])
        same = before is not None and _same(before, about, sums)
        if not same:
            sign_part(made, sums, signer)
            put_in_place(made, target)
    return Done(len(sums) + 3, tuple(work.left_out), same)


def _before(target: Path, chosen: list[OwnCorpus], signer: Identity) -> Checked | None:
    """Return the export that is there; UsageError where it is something else, or would lose a corpus."""
    there = target.is_dir() and any(target.iterdir())
    beside = target.absolute().with_name(f".{target.name}.rosetta-old")
    if not there and not beside.exists():
        return None
    try:
        before = read_export(target)
    except FileError as error:
        raise UsageError(f"{target} is not written over. {error}") from None
    had = {listed["sha256"]: listed["id"] for listed in before.about["corpora"]}
    lost = [
        had[sha256] for sha256 in had if sha256 not in {own_corpus.sha256 for own_corpus in chosen}
    ]
    if lost:
        raise UsageError(
            f"{target} also holds the corpus {lost[0]!r}, which was not named now. Name it too, or another folder."
        )
    if before.signer != signer.public.signing_key:
        raise UsageError(
            f"{target} was signed with another key than this computer's. Name another folder."
        )
    return before


def _same(before: Checked, about: dict[str, Any], sums: dict[str, str]) -> bool:
    kept = {name: value for name, value in about.items() if name not in _CHANGING}
    had = {name: value for name, value in before.about.items() if name not in _CHANGING}
    own_files = {ABOUT, "README.txt", "index.html", "SIGNING-KEY.pem"}
    return kept == had and sums.items() - {
        (n, sums.get(n)) for n in own_files
    } == before.sums.items() - {(n, before.sums.get(n)) for n in own_files}


def _files(work: _Work, chosen: list[OwnCorpus]) -> Iterator[OutFile]:
    wanted, seen = work.wanted, set[str]()
    now = standing(work.home)
    for own_corpus in chosen:
        yield from corpus_files(
            work.store, own_corpus, now, open_secrets=wanted.open_secrets, left_out=work.left_out
        )
    if wanted.vault is not None and wanted.open_secrets:
        if wanted.keeper is None:
            raise UsageError(
                "Opening a vault needs the keys of a keeper. Leave --open-secrets out: its sealed copy needs none."
            )
        yield from opened_vault(wanted.vault, wanted.purpose, wanted.keeper, now, work.left_out)
        also_open_with([wanted.keeper.age])  # what the store keeps of this vault's texts
    runs = [run for corpus in chosen for run in corpus.runs]
    vault = None if wanted.vault is None else wanted.vault.read().head.vault
    for run in runs:
        for file in run_files(
            work.store, run, work.signer, work.now,
            open_secrets=wanted.open_secrets, vault=vault, left_out=work.left_out,
        ):  # fmt: skip
            if file.path not in seen:  # a method has several runs
                seen.add(file.path)
                yield file
        yield from _records(work, run)
    for method in wanted.methods:
        yield from _handed_over(method)
    yield from _reviews(work, runs)
    yield from _consent(work, chosen)
    yield _keys(work)


def _records(work: _Work, run_id: str) -> Iterator[OutFile]:
    """Yield what was signed about who owns the method of a run."""
    for record, data in signed_files(work.store, RecordKind.OWNERSHIP):
        if record.run_id == run_id:
            yield OutFile(f"runs/{run_id}/{record.id[:16]}{OWNERSHIP}", data)


def _handed_over(method: Path) -> Iterator[OutFile]:
    """Yield a method as it was submitted, byte for byte; UsageError for links, pipes and what cannot be read."""
    name = method.resolve().name
    walk = os.walk(method) if method.is_dir() else [(str(method.parent), [], [method.name])]
    for where, folders, names in walk:
        folders[:] = sorted(folder for folder in folders if folder != "__pycache__")
        for each in sorted(names):
            path = Path(where) / each
            if path.is_symlink():
                raise UsageError(f"{path} is a link. Put the file itself there.")
            try:
                with open_regular(path) as file:
                    data = file.read()
            except OSError as error:
                raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
            inside = path.relative_to(method).as_posix() if method.is_dir() else ""
            yield OutFile("/".join(filter(None, ["methods/handed-over", name, inside])), data)


def _reviews(work: _Work, runs: list[str]) -> Iterator[OutFile]:
    if work.office is None:
        if work.wanted.reviews:
            raise UsageError("This computer has no reviews.")
        return
    for review in reviews_of(work.office, runs, work.wanted.reviews):
        organisation = review.manifest.signer
        work.signers[organisation] = f"organisation of the review {review.name}"
        known = {laptop.signing_key: laptop.name for laptop in work.office.laptops()}
        for key in {*work.office.devices().values()} & {*known}:
            work.signers[key] = f"laptop {known[key]}"
        yield from files_of_review(
            work.office, review, work.store, work.signer,
            open_secrets=work.wanted.open_secrets, left_out=work.left_out,
        )  # fmt: skip


def _consent(work: _Work, chosen: list[OwnCorpus]) -> Iterator[OutFile]:
    """Yield the notices by which something of these corpora was taken back, and what lifted them."""
    for held in standing(work.home).held:
        about = held.notice.about
        if about.what not in {"corpus", "entries"}:
            continue
        if about.sha256 in {own_corpus.sha256 for own_corpus in chosen} or about.id in {
            own_corpus.id for own_corpus in chosen
        }:
            yield _notice(held.notice)
            if held.lifted is not None:
                yield _notice(held.lifted)


def _notice(notice: SignedNotice) -> OutFile:
    return OutFile(f"consent/{notice.number[:16]}{SUFFIX}", as_bytes(notice))


def _keys(work: _Work) -> OutFile:
    """Write the public halves of all keys that matter here, each with its six words."""
    signing = work.signer.public
    rows = [_key_row(f"this export ({work.signer.role})", signing.signing_key, signing.recipient)]
    if work.wanted.vault is not None:
        state: VaultState = work.wanted.vault.read()
        rows += [
            _key_row(f"keeper {k.name}", k.signing_key, k.recipient) for k in state.keepers.values()
        ]
    rows += [_key_row(whose, key, "") for key, whose in sorted(work.signers.items())]
    return OutFile("keys.tsv", table(("whose", "signing_key", "recipient", "six_words"), rows))


def _key_row(whose: str, key: str, recipient: str) -> dict[str, str]:
    return {
        "whose": whose,
        "signing_key": key,
        "recipient": recipient,
        "six_words": key_phrase(key),
    }


def _about(work: _Work, chosen: list[OwnCorpus]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "made": work.now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "program": f"Rosetta {VERSION}",
        "corpora": [{"id": own_corpus.id, "sha256": own_corpus.sha256} for own_corpus in chosen],
        "signing_key": work.signer.public.signing_key,
        "six_words": work.signer.public.phrase,
        "secret_texts": work.wanted.open_secrets,
        "left_out": list(work.left_out),
    }


def _about_file(about: dict[str, Any]) -> OutFile:
    return OutFile(ABOUT, f"{json.dumps(about, ensure_ascii=False, indent=2)}\n".encode())


def _sha256(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
