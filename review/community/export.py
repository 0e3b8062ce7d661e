"""Writing all that belongs to a community into one folder, with a page that says what each file is.

Only what hangs on the chosen corpora goes in: their runs, reviews and methods, and no text of another community.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import Final

from corpora.files.decode import open_regular
from corpora.text.visible import plain
from harness.card.model import card_schema
from harness.consent.notice import SUFFIX, as_bytes
from harness.consent.withdrawals_in_force import standing
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.html_pages import filled
from harness.core.version import VERSION
from harness.sealed.keys import Identity, key_phrase
from harness.sealed.strict_records import FileError
from harness.store.attachments import RecordKind, signed_files
from harness.store.sqlite.sealing import also_open_with
from harness.vault.vault import Vault
from review.community.contents import (
    OwnCorpus,
    choose_contents,
    corpus_files,
    files_of_review,
    opened_vault,
    reviews_of,
    run_files,
    sealed_vault,
    table,
)
from review.community.folder import (
    ABOUT,
    Checked,
    ExportedCorpus,
    ExportFacts,
    OutFile,
    new_export,
    put_in_place,
    read_export,
    sign_part,
    write_part,
)
from review.office.store.store import Office
from review.records.ownership import SUFFIX as OWNERSHIP

# ---- The page of an export: what each file is, for somebody who has nothing but a text editor
# and a browser.

_PAGE: Final = tomllib.loads((Path(__file__).parent / "templates" / "page.toml").read_text("utf-8"))
_KINDS: Final[dict[str, str]] = _PAGE["kinds"]
_SUMS: Final[dict[str, str]] = _PAGE["sums"]
_CHECK: Final[str] = _PAGE["check"]


def kind_of(path: str) -> str:
    """Return what a file of an export is; empty for one of which the page says nothing."""
    return next((words for pattern, words in _KINDS.items() if fnmatchcase(path, pattern)), "")


def pages(about: ExportFacts, paths: Sequence[str]) -> Iterator[OutFile]:
    """Yield the page, as text and as plain HTML, and the schema of cards; ``paths`` are all other files."""
    listed = sorted({*paths, "about.json", "run-card.schema.json"})
    yield OutFile("run-card.schema.json", canonical_bytes(card_schema()) + b"\n")
    yield OutFile("README.txt", _text(about, listed).encode())
    page = filled(
        "review.community", "export.html.j2",
        introduction=_PAGE["introduction"].split("\n"), facts=_facts(about), ends=_PAGE["ends"].split("\n"), left_out=_left_out(about),
        files=[*((path, kind_of(path)) for path in listed), *_SUMS.items()],
        check=_CHECK.format(words=about.six_words).split("\n"),
    )  # fmt: skip
    yield OutFile("index.html", page.encode())


def _facts(about: ExportFacts) -> list[str]:
    made = f"Made {about.made} by {about.program}."
    return [made, *(f"Corpus: {plain(c.id)} (SHA-256 of its file {c.sha256})" for c in about.corpora)]


def _left_out(about: ExportFacts) -> list[str]:
    return [plain(reason) for reason in about.left_out] or ["nothing that this computer had"]


def _text(about: ExportFacts, paths: Sequence[str]) -> str:
    # the kinds of files that there are, and those that every export has
    there = [(p, words) for p, words in _KINDS.items() if any(kind_of(path) == words for path in paths)]
    kinds = "\n".join(f"{pattern}\n    {words}" for pattern, words in (*there, *_SUMS.items()))
    left = "\n".join(f"- {reason}" for reason in _left_out(about))
    facts = "\n".join(_facts(about))
    check = _CHECK.format(words=about.six_words)
    return (
        f"{_PAGE['introduction']}\n\n{facts}\n\nWHAT THE FILES ARE\n\n{kinds}\n\n{_PAGE['ends']}\n\nWHAT WAS LEFT OUT\n\n{left}\n\n"
        f"IS IT WHOLE?\n\n{check}\n\nThe same, with a list of all files to click on, is index.html.\n"
    )


@dataclass(frozen=True)
class Wanted:
    corpora: tuple[str, ...]  # Files, ids, or `store:` and the beginning of a hash
    methods: tuple[Path, ...] = ()  # Files and folders of methods that were submitted to it
    # Reviews by name besides those of its runs: such as ask for translations have none
    reviews: tuple[str, ...] = ()
    vault: Vault | None = None
    keeper: Identity | None = None
    purpose: str = ""
    # Secret texts too, openly; those of a vault with a line of its log first
    open_secrets: bool = False


@dataclass(frozen=True)
class Done:
    """What became of an export."""

    files: int
    left_out: tuple[str, ...]
    unchanged: bool  # True where the folder had exactly this already, and was left as it is


@dataclass
class _Work:
    wanted: Wanted
    store: sqlite3.Connection
    office: Office | None
    home: Path
    signer: Identity
    now: datetime
    left_out: list[str] = field(default_factory=list)
    # Public key → whose it is, as far as it is known here
    signers: dict[str, str] = field(default_factory=dict)


def export_community(
    target: Path, wanted: Wanted, store: sqlite3.Connection, office: Office | None, home: Path, signer: Identity
) -> Done:
    """Write the export, or bring the one in this folder up to date; raises UsageError in words, and nothing is changed then.

    ``home``: the data folder; ``signer`` signs the list of all files. Withdrawn corpora and runs are left out and named.
    """
    if wanted.open_secrets and not wanted.purpose.strip():
        raise UsageError("Opening secret texts needs words for what: add --purpose WORDS.")
    if wanted.vault is not None and wanted.vault.folder.resolve() in target.resolve().parents:
        raise UsageError(f"{target} is in the vault itself. Name another folder.")
    chosen = choose_contents(store, wanted.corpora)
    before = _before(target, chosen, signer)
    work = _Work(wanted, store, office, home, signer, datetime.now(UTC))
    with new_export(target, home / "locks") as made:
        sums = write_part(made, _files(work, chosen))
        if wanted.vault is not None:
            purpose = wanted.purpose or "the community's own export"
            names = sealed_vault(wanted.vault, made / "vault", purpose, wanted.keeper)
            sums |= {f"vault/{name}": sha256((made / "vault" / name).read_bytes()).hexdigest() for name in names}
        about = ExportFacts(
            made=work.now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            program=f"Rosetta {VERSION}",
            corpora=[ExportedCorpus(id=corpus.id, sha256=corpus.sha256) for corpus in chosen],
            signing_key=signer.public.signing_key,
            six_words=signer.public.phrase,
            secret_texts=wanted.open_secrets,
            left_out=list(work.left_out),
        )
        about_file = OutFile(ABOUT, f"{json.dumps(about.model_dump(), ensure_ascii=False, indent=2)}\n".encode())
        sums |= write_part(made, [about_file, *pages(about, sorted(sums))])
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
    named = {corpus.sha256 for corpus in chosen}
    if lost := [corpus.id for corpus in before.about.corpora if corpus.sha256 not in named]:
        raise UsageError(
            f"{target} also holds the corpus {lost[0]!r}, which was not named now. Name it too, or another folder."
        )
    if before.signer != signer.public.signing_key:
        raise UsageError(f"{target} was signed with another key than this computer's. Name another folder.")
    return before


def _same(before: Checked, about: ExportFacts, sums: dict[str, str]) -> bool:
    """Return whether an export holds the same; when it was made, and by which program, is left out."""
    own = {ABOUT, "README.txt", "index.html", "SIGNING-KEY.pem"}
    made = {"made": before.about.made, "program": before.about.program}
    changed = {path for path, _ in sums.items() ^ before.sums.items()}
    return changed <= own and about.model_copy(update=made) == before.about


def _files(work: _Work, chosen: list[OwnCorpus]) -> Iterator[OutFile]:
    wanted, seen = work.wanted, set[str]()
    now = standing(work.home)
    for own_corpus in chosen:
        yield from corpus_files(work.store, own_corpus, now, open_secrets=wanted.open_secrets, left_out=work.left_out)
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
        for record, data in signed_files(work.store, RecordKind.OWNERSHIP):
            if record.run_id == run:  # what was signed about who owns its method
                yield OutFile(f"runs/{run}/{record.id[:16]}{OWNERSHIP}", data)
    for method in wanted.methods:
        yield from _handed_over(method)
    yield from _reviews(work, runs)
    yield from _consent(work, chosen)
    yield _keys(work)


def _keys(work: _Work) -> OutFile:
    """Write the public halves of all keys that matter here, each with its six words."""
    own = work.signer.public
    keys = [(f"this export ({work.signer.role})", own.signing_key, own.recipient)]
    if work.wanted.vault is not None:
        keepers = work.wanted.vault.read().keepers.values()
        keys += [(f"keeper {k.name}", k.signing_key, k.recipient) for k in keepers]
    keys += [(whose, key, "") for key, whose in sorted(work.signers.items())]
    rows = [(whose, key, recipient, key_phrase(key)) for whose, key, recipient in keys]
    return OutFile("keys.tsv", table(("whose", "signing_key", "recipient", "six_words"), rows))


def _handed_over(method: Path) -> Iterator[OutFile]:
    """Yield a method as it was submitted, byte for byte; UsageError for links, pipes and what cannot be read."""
    name = method.resolve().name
    walk = os.walk(method) if method.is_dir() else [(str(method.parent), [], [method.name])]
    for where, folders, names in walk:
        folders[:] = sorted(folder for folder in folders if folder != "__pycache__")
        for listed_name in sorted(names):
            path = Path(where) / listed_name
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
    hashes, ids = {corpus.sha256 for corpus in chosen}, {corpus.id for corpus in chosen}
    for held in standing(work.home).held:
        about = held.notice.about
        if about.what in {"corpus", "entries"} and (about.sha256 in hashes or about.id in ids):
            for notice in filter(None, (held.notice, held.lifted)):
                yield OutFile(f"consent/{notice.number[:16]}{SUFFIX}", as_bytes(notice))
