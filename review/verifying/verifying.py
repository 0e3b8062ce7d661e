"""Verifying any file, or every file of a folder: one table of kinds, each with its own reader."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from corpora.files.json_types import JsonObject
from harness.card.checking.signed import KnownSigners
from harness.card.checking.verdict import CardCheck
from harness.card.checking.verify_card import consent_checks
from harness.card.reading import block
from harness.card.signing import own_keys
from harness.consent.checks import Verified
from harness.consent.given import SignedConsent
from harness.consent.register import Ground, lines_of
from harness.core.failures import UsageError
from harness.exchange.manifest import ExchangeRecord
from harness.project.state import ProjectState
from harness.sealed.keys import key_phrase, says_key
from harness.sealed.phrase import read_words
from harness.sealed.strict_records import FileError, FileProblem, about_file, formats
from harness.setup.scoring_options import SignedScoring, read_signed_scoring
from harness.store.attachments import attached_by_run
from harness.vault.folder import read_state
from harness.vault.opening import folders_seen
from harness.vault.shares import SignedShareTried, read_tried
from review.calibration.proposal import FORMAT as PROPOSAL
from review.calibration.proposal import stated_proposal
from review.community.folder import ABOUT, SIGNATURE, SUMS, read_export
from review.community.folder import FORMAT as EXPORT
from review.office.store.database import FILE as OFFICE
from review.office.store.store import Office
from review.verifying import cards, custody, verdicts
from review.verifying.custody import public_key_in
from review.verifying.kinds import (
    UNSIGNED,
    Signer,
    ToldOfFile,
    VerifiableKind,
    VerifiedAgainst,
    VerifiedFile,
    held,
    read_verified_file,
    signature_check,
    unsigned_check,
)

# ---- What belongs to no run, review or vault alone: shares that were tried, weights, exports of a community, corpora, marks.

_PROPOSAL: Final = f'format = "{PROPOSAL}"'.encode()


def _verify_tried(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    statement = read_tried(file.data)
    facts = (("vault", statement.vault), ("when", statement.when), ("share", f"right, {statement.check[:16]}…"))
    words = "that the share is right is what the keeper's program says"
    checks = [signature_check(), CardCheck("share", None, words)]
    return ToldOfFile(facts, [Signer("keeper", statement.by)], checks)


def _verify_scoring(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    signed_scoring = read_signed_scoring(file.data, file.path.name)
    facts = (("languages", signed_scoring.language_pair), ("rests on", f"{signed_scoring.items:,} rated entries"))
    return ToldOfFile(facts, [Signer("organisation", signed_scoring.by)], [signature_check()])


def _verify_proposal(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    stated = stated_proposal(file.data.decode("utf-8", "replace"), file.path.name)
    checks = [
        CardCheck("hash", True, "its hash is its own"),
        CardCheck("signature", None, "a proposal is not signed; the measure that scores are made with is"),
    ]
    return ToldOfFile((("made by", str(stated.get("made_by"))),), (), checks)


def _verify_export(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    """Check the whole export in whose folder the file lies."""
    export = read_export(file.path.parent)
    words = f"each of the {len(export.sums):,} files of the export is as it was signed"
    return ToldOfFile((), [Signer("organisation", export.signer)], [signature_check(words)])


def _verify_corpus(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    """Return what a corpus is, which nobody signs, and whether the consent in it is as it was signed."""
    dataset, entries = block(file.stated, "dataset"), file.stated.get("entries")
    count = len(entries) if isinstance(entries, list) else 0
    facts = (("corpus", str(dataset.get("id"))), ("entries", f"{count:,}"))
    words = "nobody signs a corpus; what it must meet, `rosetta corpus check` looks at"
    unsigned = unsigned_check(words)
    try:
        consent = SignedConsent.model_validate(dataset.get("consent"))
    except ValidationError:
        return ToldOfFile(facts, (), [unsigned])
    right = consent.is_signed_by(consent.signing_key)
    outcome = "as it was signed" if right else "changed after it was signed"
    check = CardCheck("record of consent", right, f"of {consent.date}, {outcome}")
    return ToldOfFile(facts, [Signer("consent", consent.signing_key)], [unsigned, check])


def _unsigned(words: str) -> Callable[[VerifiedFile, VerifiedAgainst], ToldOfFile]:
    """Return what says of a file that nobody signs, where it is examined."""
    return lambda *_: ToldOfFile(checks=[unsigned_check(words)])


_OWN: Final = "nobody signs it: the program keeps it for itself, and no other computer believes it"

_OTHER_KINDS: Final = (
    VerifiableKind("share-tried", "what a keeper says of their share", _verify_tried, formats(SignedShareTried)),
    VerifiableKind("scoring", "the weights and lines that an organisation signed", _verify_scoring, formats(SignedScoring)),
    VerifiableKind("scoring-proposal", "a proposal of weights and lines", _verify_proposal, fits=lambda file: _PROPOSAL in file.data[:4000]),
    VerifiableKind("community-export", "the export of a community", _verify_export, (EXPORT,), lambda file: file.path.name in {SUMS, SIGNATURE} and file.path.with_name(ABOUT).is_file()),
    VerifiableKind("exchange-folder", "the mark of an exchange folder", _unsigned("nobody signs it; `rosetta community stick` looks at the folder"), ("rosetta-exchange-folder/1",)),
    VerifiableKind("exchange-record", "what a computer remembers of exchange folders", _unsigned(_OWN), formats(ExchangeRecord)),
    VerifiableKind("corpus-project", "the state of a corpus in the making", _unsigned(_OWN), formats(ProjectState)),
)  # fmt: skip

# Looked for last: cards and reports have such fields, too
_CORPUS: Final = VerifiableKind(
    "corpus", "a corpus", _verify_corpus, fits=lambda file: file.stated.keys() >= {"dataset", "entries"}
)


# ---- Verifying one file.

# Every kind of file that is known. One that names its form is found by that, another by the first
# kind that it fits.
KINDS: Final[tuple[VerifiableKind, ...]] = (
    *custody.KINDS,
    *verdicts.KINDS,
    *_OTHER_KINDS,
    *cards.KINDS,
    _CORPUS,
)

FORMS: Final[Mapping[str, VerifiableKind]] = {form: kind for kind in KINDS for form in kind.forms}

# What keeps a file from being examined, whether or not it holds
_UNREADABLE: Final = frozenset({FileProblem.LOCKED, FileProblem.WRONG_KEY, FileProblem.NEWER, FileProblem.TOO_LARGE})


class UnknownFileError(UsageError):
    """A file of no kind that is known."""

    def __init__(self, words: str) -> None:
        super().__init__(f"{words} {known_kinds()}")
        self.words = words  # What is said of the file, without the list of kinds


def known_kinds() -> str:
    """Return the sentence that lists every kind."""
    return f"`rosetta verify` knows: {', '.join(dict.fromkeys(kind.what for kind in KINDS))}."


@dataclass(frozen=True)
class KnownKey:
    """A key that signed a file."""

    role: str
    key: str
    words: str  # Its six words
    known: str  # Whose it is, as far as this computer knows; empty where nobody here does


@dataclass(frozen=True)
class FileVerdict:
    name: str
    kind: str
    what: str
    facts: tuple[tuple[str, str], ...]
    signers: tuple[KnownKey, ...]
    checks: tuple[CardCheck, ...]

    @property
    def holds(self) -> bool:
        """True where nothing that could be checked was wrong."""
        return all(check.ok is not False for check in self.checks)

    @property
    def unsigned(self) -> str:
        """That nobody signs such a file, and who looks at it; empty for a file of another kind."""
        return next((check.words for check in self.checks if check.name == UNSIGNED), "")

    def as_json(self) -> JsonObject:
        return {
            "file": self.name,
            "kind": self.kind,
            "what": self.what,
            "holds": self.holds,
            "facts": [{"name": name, "words": words} for name, words in self.facts],
            "signers": [
                {"role": s.role, "key": s.key, "words": s.words, "known": s.known or None} for s in self.signers
            ],
            "checks": [{"name": c.name, "ok": c.ok, "words": c.words} for c in self.checks],
        }


def verify_any(path: Path, here: VerifiedAgainst) -> FileVerdict:
    """Return what a file is, who signed it, whether it holds and what was withdrawn since.

    Raises UsageError where it, or a file that was named next to it, cannot be read: it is not a file, too large, sealed for
    others, of a newer version, or nothing that this program knows.
    """
    if here.known.words:
        read_words(here.known.words)
    file, _ = read_verified_file(path), here.files
    with about_file(path):
        kind = kind_of(file)
        result = _verified(kind, file, here)
    whose = known_keys(here) if result.signers else {}
    signers = tuple(KnownKey(role, key, key_phrase(key), whose.get(key, "")) for role, key in result.signers)
    others = [_beside(kind, file, other, signers, here) for other in here.unused]
    # Which keys that signed were revoked since, unless the verifier of the kind said so.
    reported = {check.words for check in result.checks if check.name == "consent"}
    consent = consent_checks(Verified(keys=frozenset(signer.key for signer in signers)))
    withdrawn = (check for check in consent if check.words not in reported)
    checks = (*result.checks, *others, *_key_checks(signers, here), *withdrawn)
    return FileVerdict(path.name, kind.name, kind.what, tuple(result.facts), signers, checks)


def _beside(
    kind: VerifiableKind, file: VerifiedFile, other: VerifiedFile, signers: Sequence[KnownKey], here: VerifiedAgainst
) -> CardCheck:
    """Compare a file with another that was named: by who signed where that is a key, else by what one names of the other."""
    if key := public_key_in(other.data):
        mine = any(signer.key == key for signer in signers)
        words = f"the key in {other.path.name} {'signed it' if mine else 'did not sign it'}"
        return CardCheck("key", mine, words)
    try:
        its = kind_of(other)
    except UsageError:
        return _not_looked_at(other, "it is not a file that is known here")
    if (check := held((kind, file), (its, other))) is None:
        return _not_looked_at(other, f"nothing in this file can be checked against {its.what}")
    apart = VerifiedAgainst(here.connection, here.home, KnownSigners())
    whole = (c for c in _verified(its, other, apart).checks if c.name not in _LATER)
    wrong = [its_check.words for its_check in whole if its_check.ok is False]
    if check.ok and wrong:
        return CardCheck(check.name, False, f"{other.path.name} does not hold: {'; '.join(wrong)}")
    return check


# Checks that say what came after a file was signed: it is the one that was named all the same
_LATER: Final = frozenset({"standing", "newest words", "consent"})


def _not_looked_at(other: VerifiedFile, why: str) -> CardCheck:
    return CardCheck("other file", None, f"{other.path.name} was not examined: {why}")


def kind_of(file: VerifiedFile) -> VerifiableKind:
    """Return the kind of a file; UsageError where it is none that is known, or of a newer version."""
    fitting = (kind for kind in KINDS if kind.fits(file))
    if (kind := FORMS.get(file.format) or next(fitting, None)) is not None:
        return kind
    name = file.format.partition("/")[0]
    if any(form.partition("/")[0] == name for form in FORMS):
        raise FileError(
            FileProblem.NEWER,
            f"{file.path.name} is of the form {file.format[:60]}, which this version does not know. Install the newest version.",
        )
    if file.is_cut:
        raise UsageError(
            f"{file.path.name} is cut short or not whole: it begins as JSON, and is none up to its end. Get it once more."
        )
    self_named = f" It calls itself {file.format[:60]}." if file.format else ""
    raise UnknownFileError(
        f"{file.path.name} is not a file that `rosetta verify` knows, or its very beginning was changed.{self_named}"
    )


def _verified(kind: VerifiableKind, file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    """Verify a file by its kind; what its reader refuses does not hold, unless it could not be examined."""
    if file.is_cut:
        words = "it is cut short or not whole. Ask for it once more"
        return ToldOfFile(checks=[CardCheck("file", False, words)])
    try:
        return kind.verify(file, here)
    except FileError as error:
        if error.problem in _UNREADABLE:
            raise
        return ToldOfFile(checks=[CardCheck("file", False, str(error))])
    except UsageError as error:
        if kind.name in _ASK_FOR_MORE:
            raise
        return ToldOfFile(checks=[CardCheck("file", False, str(error))])


# Kinds that say themselves when they cannot be examined
_ASK_FOR_MORE: Final = frozenset({"secret-keys", "public-key", "certificate-signature", "reference-signature"})


def known_keys(here: VerifiedAgainst) -> dict[str, str]:
    """Return the keys of which this computer knows whose they are: its own, keepers, organisations, enrolled laptops, and people whose words were compared."""
    keys_known: dict[str, str] = {}
    for line in lines_of(here.home):
        if line.ground is Ground.WORDS:
            whose = f"{line.notice.by}, whose six words were compared here for a notice"
            keys_known[line.notice.signing_key] = whose
    for attached in attached_by_run(here.connection).values():
        attesting = {certificate.signer for certificate in attached}
        keys_known |= dict.fromkeys(attesting, "an organisation whose certificate was attached here")
    for folder in folders_seen(here.home):
        try:
            made = read_state(Path(folder))
        except UsageError:
            continue
        name = made.founded.name
        for key, keeper in made.keepers.items():
            keys_known[key] = f"{keeper.name}, a keeper of the vault {name}"
    if (here.home / OFFICE).exists():  # of speakers' laptops that were enrolled here
        with Office.open(here.home) as office:
            for laptop in office.laptops():
                still = "" if laptop.removed is None else ", which no longer counts"
                keys_known[laptop.signing_key] = f"{laptop.name}, a laptop that was enrolled here{still}"
    return {**keys_known, **own_keys(here.home), **here.known.keys}


def _key_checks(signers: tuple[KnownKey, ...], here: VerifiedAgainst) -> Iterator[CardCheck]:
    """Return whether somebody who signed is who one thinks."""
    if here.known.words:
        mine = any(says_key(read_words(here.known.words), signer.key) for signer in signers)
        theirs = "the six words are those of a key that signed it"
        none = "no key that signed it has these six words"
        yield CardCheck("key", mine, theirs if mine else none)
        return
    if strangers := [signer.role for signer in signers if not signer.known]:
        words = f"whose key it is, nobody here knows ({', '.join(strangers)}): ask for their six words by telephone, and give them with --words"
        yield CardCheck("key", None, words)


# ---- Verifying every file of a folder: one verdict each, within limits, and no link is followed.

MOST_FILES: Final = 2_000
MOST_DEPTH: Final = 8  # Folders below the one that was named


@dataclass(frozen=True)
class FolderLine:
    """What came out of one file of a folder."""

    path: str  # Below the folder, with `/` between folders
    verdict: FileVerdict | None
    # Why it was not examined, what does not hold, or that nobody signs it; empty where it holds
    words: str
    unknown: bool = False  # Whether it is of no kind that is known

    @property
    def holds(self) -> bool | None:
        """None where nobody could look at it, or nobody signs it."""
        if self.verdict is None or (self.verdict.holds and self.verdict.unsigned):
            return None
        return self.verdict.holds

    def as_json(self) -> JsonObject:
        kind = None if self.verdict is None else self.verdict.kind
        return {"file": self.path, "kind": kind, "holds": self.holds, "words": self.words}


def verify_folder(folder: Path, here: VerifiedAgainst) -> Iterator[FolderLine]:
    """Verify every file in a folder and those below, sorted by name; hidden files and links are left out.

    Raises UsageError, before the first file is examined, where there are more than ``MOST_FILES`` or folders go deeper
    than ``MOST_DEPTH``.
    """
    paths = sorted(_files(folder, MOST_DEPTH, folder))
    if len(paths) > MOST_FILES:
        raise UsageError(
            f"{folder} holds {len(paths):,} files, and {MOST_FILES:,} are examined in one go. Name a folder in it."
        )
    return (_line(path, folder, here) for path in paths)


def _files(folder: Path, depth: int, top: Path) -> Iterator[Path]:
    if depth < 0:
        raise UsageError(f"{top} has more than {MOST_DEPTH} folders within folders. Name one in it.")
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path), depth - 1, top)
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _line(path: Path, folder: Path, here: VerifiedAgainst) -> FolderLine:
    name = path.relative_to(folder).as_posix()
    try:
        file_verdict = verify_any(path, here)
    except UnknownFileError as error:
        return FolderLine(name, None, error.words, unknown=True)
    except UsageError as error:
        return FolderLine(name, None, str(error))
    wrong = [f"{check.name}: {check.words}" for check in file_verdict.checks if check.ok is False]
    return FolderLine(name, file_verdict, "; ".join(wrong) or file_verdict.unsigned)
