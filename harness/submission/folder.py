"""A submission as its maker writes it: a folder with submission.toml, card.json, README.md, and code/ or data/ and wheels/."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from corpora.files.toml_text import parse_toml
from corpora.text.messages import counted
from harness.card.checking.verify_card import check_hash
from harness.card.foreign_cards import adopt, unwrapped
from harness.card.model import RunCard
from harness.card.reading import parse_object
from harness.card.rows import row_entry
from harness.core.failures import UsageError
from harness.core.storage import read_bytes, read_text, usage_errors
from harness.core.version import VERSION
from harness.method.option_table import METHODS, OPTIONS, OptionKind
from harness.sealed.keys import Identity
from harness.sealed.strict_records import Short, StrictRecord
from harness.submission.bundle import (
    AcceptedTerms,
    CodeLane,
    CostReport,
    DataLane,
    DevelopmentUse,
    Lane,
    Name,
    RefusedBundle,
    Submission,
    SubmissionManifest,
    is_tokenizer,
    pack_submission,
)
from harness.submission.members import (
    CARD,
    CODE,
    DATA,
    MOST_BYTES,
    README,
    SHEET,
    WHEELS,
    MemberKind,
    in_folder,
    member_problems,
)
from scoring.statistics.repetitions import TOLERANCE

# ---- The run card that a bundle carries: the claim that is held against what comes out here.


def carried_card(data: bytes) -> RunCard:
    """Read a card whose hash is its own and whose entries are open; raises UsageError in words."""
    raw = unwrapped(parse_object(data, CARD))
    checked = check_hash(raw)
    if not checked.ok:
        raise UsageError(f"{CARD}: {checked.words}. Export it again: rosetta runs export RUN.")
    card = adopt(raw, CARD)
    if not card.results:
        raise UsageError(f"{CARD}: it names no entries (results[]). Put in the card of a run over open entries.")
    if card.withheld is not None or any(result.withheld or row_entry(result).secret for result in card.results):
        raise UsageError(f"{CARD}: it is over secret entries. Put in the card of a run over open ones.")
    return card


_MOST_TERMS: Final = 2**20
_MOMENT: Final = "%Y-%m-%dT%H:%M:%SZ"


class SubmissionSheet(StrictRecord):
    """What ``submission.toml`` says."""

    name: Name
    release: Short = "1"
    submitter: Name
    licence: Name
    method: Lane
    costs: CostReport
    development: Annotated[tuple[DevelopmentUse, ...], Field(min_length=1, max_length=50)]


def read_sheet(folder: Path) -> SubmissionSheet:
    """Read ``submission.toml``; raises UsageError that names file, field and fix."""
    path = folder / SHEET
    if not folder.is_dir():
        raise UsageError(f"{folder}: no folder. Name that of the method, with {SHEET} in it; `rosetta submission demo` writes one.")  # fmt: skip
    text, _ = read_text(path, "what a submission says of itself", 2**20)
    with usage_errors(str(path), text, fix="docs/submissions.md shows one."):
        fields = {n: tuple(v) if isinstance(v, list) else v for n, v in parse_toml(text).items()}
        return SubmissionSheet.model_validate(fields)


def read_members(folder: Path) -> dict[str, bytes]:
    """Read what of a folder goes into the bundle; raises RefusedBundle that names what may not."""
    try:
        folder_members = [
            member
            for member in in_folder(folder)
            if member.path != SHEET and "__pycache__" not in member.path.split("/")
        ]
    except OSError as error:
        raise UsageError(f"{folder} cannot be read ({error.strerror}). Name a folder.") from None
    if problems := member_problems(folder_members):
        raise RefusedBundle(problems, "This cannot be packed")
    files = (member.path for member in folder_members if member.kind is MemberKind.FILE)
    return {path: read_bytes(folder / path, "a part of a submission", MOST_BYTES) for path in files}


def accepted(terms: Path, by: str, now: datetime) -> AcceptedTerms:
    """Return that somebody agreed to the terms in a file, which are known by their bytes."""
    return AcceptedTerms(sha256=terms_sha256(terms), by=by, when=now.strftime(_MOMENT))


def terms_sha256(terms: Path) -> str:
    """Return the SHA-256 of a file of terms; raises UsageError where it cannot be read."""
    return hashlib.sha256(read_bytes(terms, "the terms", _MOST_TERMS)).hexdigest()


def pack_folder(folder: Path, identity: Identity, card: bytes | None = None, terms: Path | None = None) -> bytes:
    """Return the signed bundle of a folder; ``card``: a run card in place of the folder's own.

    ``terms``: the organisation's, which the submitter accepts with it. Raises UsageError and RefusedBundle in words.
    """
    sheet, members = read_sheet(folder), read_members(folder)
    if card is not None:
        members[CARD] = card
    if lacking := [name for name in (CARD, README) if name not in members]:
        raise RefusedBundle([f"{name}: missing." for name in lacking], "This cannot be packed")
    stated = carried_card(members[CARD])
    now = datetime.now(UTC)
    manifest = SubmissionManifest(
        **dict(sheet),
        source_language=stated.dataset.source_language or "und",
        target_language=stated.dataset.target_language or "und",
        terms=None if terms is None else accepted(terms, sheet.submitter, now),
        rosetta=VERSION,
        packed=now.strftime(_MOMENT),
        by=identity.public.signing_key,
        members={},
    )
    return pack_submission(manifest, members, identity)


# ---- What a submission lacks of the parts of benchmark-specification §9.1, and of what else is
# asked before it is run: development data (§9.2) and terms.


class SubmissionPart(StrEnum):
    CARD = "run card"
    METHOD = "method"
    DEPENDENCIES = "dependencies"
    COSTS = "cost report"
    README = "README"
    DEVELOPMENT = "development data"
    TERMS = "terms"


@dataclass(frozen=True, slots=True)
class PartCheck:
    part: SubmissionPart
    ok: bool
    words: str
    """What is there; of a part that is not right, what is wrong and the fix."""


_LIMITS: Final = re.compile(r"(?im)^#{1,6}[ \t].*limit.*$")
_LEAST_WORDS: Final = 5
"""Words that must follow the heading."""


def check_submission(submission: Submission, terms_sha256: str | None = None) -> list[PartCheck]:
    """Return what there is of each part; ``terms_sha256``: hash of the terms that must have been accepted."""
    return [*_checks(submission, terms_sha256)]


def require_parts(checks: Sequence[PartCheck], *, for_secrets: bool) -> None:
    """Raise UsageError where a part is not right without which nothing is run: any of them, over secret texts."""
    needed = {SubmissionPart.CARD, SubmissionPart.METHOD}
    lacking = [check for check in checks if not check.ok and (for_secrets or check.part in needed)]
    if lacking:
        raise UsageError(f"It is not run: {lacking[0].part}: {lacking[0].words}")


def _checks(submission: Submission, terms_sha256: str | None) -> Iterator[PartCheck]:
    manifest = submission.manifest
    try:
        card: RunCard | None = carried_card(submission.members[CARD])
    except UsageError as wrong:
        card = None
        yield PartCheck(SubmissionPart.CARD, ok=False, words=str(wrong))
    if card is not None:
        yield PartCheck(SubmissionPart.CARD, *_card(card, manifest))
    yield PartCheck(SubmissionPart.METHOD, *_method(submission))
    wheels = sorted(submission.below(WHEELS))
    bound = [wheel for wheel in wheels if not wheel.endswith("-none-any.whl")]
    words = f"{counted(len(wheels), 'wheel')}, each pinned by its SHA-256" if wheels else "none"
    if bound:
        words += f"; for one Python and system only: {', '.join(bound)}"
    yield PartCheck(SubmissionPart.DEPENDENCIES, ok=True, words=words)
    yield PartCheck(SubmissionPart.COSTS, *_costs(manifest, card))
    yield PartCheck(SubmissionPart.README, *_readme(submission.members[README]))
    uses = ", ".join(f"{use.corpus}: {use.use}" for use in manifest.development)
    yield PartCheck(SubmissionPart.DEVELOPMENT, ok=True, words=uses)
    yield PartCheck(SubmissionPart.TERMS, *_terms(manifest, terms_sha256))


def _card(card: RunCard, manifest: SubmissionManifest) -> tuple[bool, str]:
    languages = (card.dataset.source_language, card.dataset.target_language)
    if languages != (manifest.source_language, manifest.target_language):
        return (
            False,
            f"{CARD}: it is for {card.dataset.language_pair}, and the submission for another pair. Make the run again.",
        )
    chrf, composite = card.scores.chrf_plus_plus, card.scores.composite
    if chrf is None or composite is None:
        return (False, f"{CARD}: it has no chrF++ or no composite, by which a rehearsal is judged. Make the run again.")
    entries = f"{len(card.results):,} entries of {card.dataset.id}"
    return True, f"{entries}, chrF++ {chrf:.1f}, composite {composite:.2f}"


def _method(submission: Submission) -> tuple[bool, str]:
    match submission.manifest.method:
        case CodeLane(entry=entry):
            files = counted(len(submission.below(CODE)), "file")
            return True, f"code, {files}, entry point {entry}; it runs in a box"
        case DataLane() as lane:
            wrong = next(_lacking(lane, submission), None)
            files = counted(len(submission.below(DATA)), "file")
            return wrong is None, wrong or f"data, {files}, for the method {lane.method}; no code"


_CHOSEN_HERE: Final = frozenset({"endpoint", "model", "prices", "body"})
"""Options that are the organisation's: which model is asked, where, and at what price."""
_FILES: Final = frozenset(
    option.name
    for option in OPTIONS.values()
    if option.kind in (OptionKind.FILE, OptionKind.FILE_OR_NAME) and (option.needed_by or option.taken_by)
) - {*_CHOSEN_HERE, "outputs"}
"""Options that name a file of the bundle."""

MOST_AT_ONCE: Final = 32
"""Texts in one call of a submission."""


def lane_options(lane: DataLane, folder: Path | None = None) -> dict[str, Any]:
    """Return the options of a lane of data by name, its files as paths below ``folder``.

    Raises UsageError for an option that the method does not take or that is not the maker's to choose, and for one that is
    missing.
    """
    allowed = {*METHODS[lane.method].needs, *METHODS[lane.method].takes} - _CHOSEN_HERE
    for name in lane.options:
        if name not in allowed - _FILES:
            words = f"The option {name!r} is not one that a submission gives {lane.method}."
            raise UsageError(words)
    for name in lane.files:
        if name not in allowed & _FILES:
            raise UsageError(f"The method {lane.method} reads no file {name!r}.")
    asked_at_once = lane.options.get("batch_size", 1)
    if isinstance(asked_at_once, int | float) and asked_at_once > MOST_AT_ONCE:
        raise UsageError(
            f"The option 'batch_size' is {asked_at_once:g}, and a submission asks {MOST_AT_ONCE} texts at once at most: one call has "
            "its time for each of them, and as long nobody here can tell whether it still works. Lower it, and make the run of the card again."
        )
    given = {*lane.options, *lane.files}
    for name in METHODS[lane.method].needs:
        if name not in given | _CHOSEN_HERE:
            words = f"The method {lane.method} needs {name!r}. Name it in submission.toml."
            raise UsageError(words)
    place = folder or Path(DATA)
    files: dict[str, Any] = {name: place.joinpath(*path.rstrip("/").split("/")) for name, path in lane.files.items()}
    if "prompt" in files:
        files["prompt"] = str(files["prompt"])  # a version or a file, as text
    return {**lane.options, **files}


def _lacking(lane: DataLane, submission: Submission) -> Iterator[str]:
    """Yield what a method of data needs and is not told."""
    try:
        lane_options(lane)
    except UsageError as wrong:
        yield str(wrong)
    if lane.method == "ctranslate2" and (folder := lane.files.get("model_folder")):
        place = folder.rstrip("/")
        for name in ("model.bin", "tokenizer.json"):
            if f"{place}/{name}" not in submission.members:
                yield f"{place}/{name}: missing. A model is handed in with its weights and its tokenizer."
            elif name == "tokenizer.json" and not is_tokenizer(submission.members[f"{place}/{name}"]):
                yield f"{place}/{name}: no tokenizer of the library tokenizers. Save it with Tokenizer.save."


def _costs(manifest: SubmissionManifest, card: RunCard | None) -> tuple[bool, str]:
    report = manifest.costs
    entry = f"{report.usd_per_entry:g} USD an entry"
    stated = None if card is None else card.cost.cost_per_entry_usd
    if stated is not None and report.usd_per_entry < stated * (1 - TOLERANCE):
        return (False, f"{entry}, and the card has {stated:g}. Report what it costs (costs.usd_per_entry).")
    return True, f"{entry}, on {report.hardware}"


@dataclass(frozen=True, slots=True)
class StatedLimits:
    """The part of a README about what a method does badly."""

    heading: str
    """Its line, with the signs before it."""
    words: str
    """What stands below it, up to the next heading."""


def limits(readme: str) -> StatedLimits | None:
    """Return what a README says of the limits of a method; None where no heading of it is about them."""
    match = _LIMITS.search(readme)
    if match is None:
        return None
    return StatedLimits(match[0].strip(), readme[match.end() :].partition("\n#")[0].strip())


def _readme(content: bytes) -> tuple[bool, str]:
    stated = limits(content.decode("utf-8", "replace"))
    if stated is None:
        return (
            False,
            f"{README}: no heading about its limits. Add one, such as “## Limitations”, and say what it does badly.",
        )
    if len(stated.words.split()) < _LEAST_WORDS:
        return (False, f"{README}: nothing stands below its heading about limits. Say what it does badly.")
    return True, "with its limitations"


def _terms(manifest: SubmissionManifest, wanted: str | None) -> tuple[bool, str]:
    terms = manifest.terms
    if terms is None:
        return (False, "not accepted. Read the organisation's terms, and pack with --accept-terms FILE.")
    theirs = f"(SHA-256 {terms.sha256[:16]}…)"
    if wanted is not None and terms.sha256 != wanted:
        return (False, f"others were accepted {theirs} than these ({wanted[:16]}…). Pack again with --accept-terms.")
    return True, f"accepted by {terms.by}, {terms.when[:10]} {theirs}"
