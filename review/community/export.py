"""Writing all that belongs to a community into one folder, with a page that says what each file is.

Only what hangs on the chosen corpora goes in: their runs, reviews and methods, and no text of another community.
"""

from __future__ import annotations

import json
import os
import sqlite3
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
from harness.store.file.sealing import also_open_with
from harness.vault.vault import Vault
from review.community.contents import (
    OwnCorpus,
    choose,
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

_INTRODUCTION: Final = """\
This folder is everything that the program Rosetta kept of the corpora named below, and of the work with them. It is yours.
Nothing in it needs Rosetta: all files are text in UTF-8, in forms that spreadsheets, text editors and every programming
language read (JSON, JSON Lines, tables with tabs or commas), or archives in ZIP."""

_ENDS: Final = """\
JSON is text with names and values. JSON Lines (.jsonl) has one JSON object on each line. A table (.tsv, .csv) opens in a
spreadsheet: import it as UTF-8, and its columns as text, so that a cell that begins with = is no formula."""

_CHECK: Final = """\
To see that nothing was changed or lost, on Linux or macOS, in this folder:

    sha256sum --check SHA256SUMS          (macOS: shasum -a 256 --check SHA256SUMS)
    openssl pkeyutl -verify -rawin -pubin -inkey SIGNING-KEY.pem -in SHA256SUMS -sigfile SHA256SUMS.sig

The first compares every file with the list, the second the list with its signature. Anyone who changes files can sign again with
another key: ask anyone who made this export for the six words of theirs. They must be: {words}"""

# Pattern of a path → what such a file is; the first that fits counts
_KINDS: Final = (
    ("corpora/*.json", "a corpus: in `dataset` what is told of all of it (name, languages, licence, terms), in `entries` the sentences: id, source, reference, other accepted wordings (variants), segment, tags, notes"),
    ("corpora/*.tsv", "the same as a table, one sentence a line; the lines before it, which begin with #, tell of all of it"),
    ("corpora/*/*", "the very file that the corpus was read from, and the terms that lay next to it"),
    ("runs/*/card.json", "the record of one evaluation: method, model, settings, data, every score with its interval, cost, and in `results` one row for each sentence: source, reference, what the method wrote (predicted), scores. Names and types of all fields are in run-card.schema.json"),
    ("runs/*/card.seal.json", "the signature on that card: `card` is the hash that the card states as run_card_hash, `by` the public key, `signature` the Ed25519 signature over the other fields as canonical JSON (RFC 8785)"),
    ("runs/*/certificate-*.json", "what speakers decided about this run: outcome, numbers, who signed"),
    ("runs/*/certificate-*.sig", "the organisation's Ed25519 signature over the bytes of that file"),
    ("runs/*/rows.jsonl", "the rows of the card, one a line"),
    ("runs/*/rows.csv", "the same as a table"),
    ("runs/*/secret-rows.jsonl", "rows of a run with secret sentences, with their texts: keep it as you keep these sentences"),
    ("runs/*/*.rosetta-ownership", "who owns the method of this run: the terms, and what organisation and developer signed to them"),
    ("methods/handed-over/*", "a method as it was submitted to the community, byte for byte"),
    ("methods/*.json", "everything that a method was told: model, prompt, settings. The file's name is the `setup_hash` of the cards of its runs"),
    ("reviews/*/ratings.csv", "what speakers said, as a table, people as letters: rating, comment, suggested wording"),
    ("reviews/*/events.jsonl", "everything that speakers and organisation did, one event a line, each naming the hash of the one before it"),
    ("reviews/*/items.jsonl", "what speakers saw: source and translation, by the item's number"),
    ("reviews/*/consent.jsonl", "who agreed to what, by the tags of the log"),
    ("reviews/*/answer-key.json", "which item came from which run, and which were tests"),
    ("reviews/*/policy.toml", "the rule by which the verdict was found"),
    ("reviews/*/batch-*.json", "what went out to the speakers, as the organisation signed it: consent text, guide, questions"),
    ("reviews/*/batch-*.sig", "its Ed25519 signature"),
    ("reviews/*/run-*-card.json", "the card of a reviewed run"),
    ("reviews/*/*.rosetta-evidence", "a certificate with all that its verdict rests on and a program that checks it: a ZIP archive with a README of its own"),
    ("reviews/*/*.rosetta-export", "everything of a review of secret sentences in one file, encrypted with age for the review's recipients: age --decrypt --identity KEYFILE opens it to a ZIP archive"),
    ("reviews/*/*-page.html", "the result in plain words"),
    ("reviews/*/translations.jsonl", "translations that speakers gave and agreed to share, as a corpus"),
    ("vault/log.jsonl", "who opened what of the vault when and what for, one signed line each"),
    ("vault/*", "the vault, sealed as it is: only its keepers open it; README.txt and vault.json in it tell more"),
    ("consent/*", "notices by which something was taken back, or given again, signed"),
    ("keys.tsv", "the public halves of keys: whose, signing key (Ed25519, hexadecimal), recipient (age), six words to compare"),
    ("about.json", "when and by which key this export was made, which corpora it holds, and what was left out"),
    ("run-card.schema.json", "the JSON Schema of run cards: names, types and meaning of their fields"),
)  # fmt: skip

_SUMS: Final = {
    "SHA256SUMS": "the hash (SHA-256) of every file",
    "SHA256SUMS.sig": "its Ed25519 signature",
    "SIGNING-KEY.pem": "the public key to check it with",
}


def kind_of(path: str) -> str:
    """Return what a file of an export is; empty for one of which the page says nothing."""
    return next((words for pattern, words in _KINDS if fnmatchcase(path, pattern)), "")


def pages(about: ExportFacts, paths: Sequence[str]) -> Iterator[OutFile]:
    """Yield the page, as text and as plain HTML, and the schema of cards; ``paths`` are all other files."""
    listed = sorted({*paths, "about.json", "run-card.schema.json"})
    yield OutFile("run-card.schema.json", canonical_bytes(card_schema()) + b"\n")
    yield OutFile("README.txt", _text(about, listed).encode())
    page = filled(
        "review.community", "export.html.j2",
        introduction=_INTRODUCTION.split("\n"), facts=_facts(about), ends=_ENDS.split("\n"), left_out=_left_out(about),
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
    there = [(p, words) for p, words in _KINDS if any(kind_of(path) == words for path in paths)]
    kinds = "\n".join(f"{pattern}\n    {words}" for pattern, words in (*there, *_SUMS.items()))
    left = "\n".join(f"- {reason}" for reason in _left_out(about))
    facts = "\n".join(_facts(about))
    check = _CHECK.format(words=about.six_words)
    return (
        f"{_INTRODUCTION}\n\n{facts}\n\nWHAT THE FILES ARE\n\n{kinds}\n\n{_ENDS}\n\nWHAT WAS LEFT OUT\n\n{left}\n\n"
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
    chosen = choose(store, wanted.corpora)
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
