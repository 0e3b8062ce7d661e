"""The profile of an organisation that keeps a benchmark: what is required of it, and the evidence (§8.4, §8.5).

Some of it this program sees itself: a vault, keepers, grants, certificates. Of the rest a person says how it is; their words
are signed with the organisation's key, with name and time, and are next to what was seen. Nothing here is a mark or a sum.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from corpora.text.messages import counted
from harness.consent.notice import Words, one_line
from harness.consent.withdrawals_in_force import standing
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.release.ledger import told_so_far
from harness.sealed.archive import SignedRecord, read_record, read_signed_record, signed_record
from harness.sealed.strict_records import FileError, FileProblem, Hex64, StrictRecord
from harness.store.attachments import KeptRecord, RecordKind, keep_signed, signed_files
from harness.vault.folder import read_state
from harness.vault.log import moment
from harness.vault.opening import folders_seen
from harness.vault.vault_records import Moment, Opened, OpenedByGrant, Used
from review.office.store.database import FILE as OFFICE
from review.office.store.store import Office
from review.records.agreeing import organisation_keys

SUFFIX: Final = ".rosetta-profile"
MOST_BYTES: Final = 256 * 1024
MOST_STATED: Final = 1_000  # Characters of what a person states


class ProfileRequirement(NamedTuple):
    """One thing that is asked of the organisation."""

    section: str  # Of the benchmark specification
    title: str
    words: str


# By the name under which something is stated of it, in the words of the specification
REQUIREMENTS: Final[Mapping[str, ProfileRequirement]] = {
    "community": ProfileRequirement("8.4", "represents the language community", "Demonstrable relationship with speakers and cultural authorities."),
    "keys": ProfileRequirement("8.4", "has the capacity for key management", "Technical ability to manage cryptographic keys."),
    "availability": ProfileRequirement("8.4", "commits to evaluation availability", "The benchmark must remain evaluable."),
    "terms": ProfileRequirement("8.4", "publishes terms of participation", "Clear documentation of what developers agree to."),
    "principles": ProfileRequirement("8.4", "operates under recognized sovereignty principles", "OCAP®, CARE, or equivalent."),
    "ownership": ProfileRequirement("8.5", "Ownership (OCAP)", "Linguistic data belongs to the community. The organisation controls the evaluation infrastructure."),
    "control": ProfileRequirement("8.5", "Control (OCAP)", "The organisation controls evaluation via sandboxed execution. It decides who submits and on what terms."),
    "access": ProfileRequirement("8.5", "Access (OCAP)", "The community has unrestricted access to its own data, results, and methods developed against it."),
    "possession": ProfileRequirement("8.5", "Possession (OCAP)", "The test set never leaves the organisation's infrastructure. Encryption at rest as backup."),
    "benefit": ProfileRequirement("8.5", "Collective Benefit (CARE)", "Ownership transfer ensures methods benefit the community. The revenue model (90/10) sustains this."),
    "authority": ProfileRequirement("8.5", "Authority to Control (CARE)", "Sandboxed execution is the technical implementation."),
    "responsibility": ProfileRequirement("8.5", "Responsibility (CARE)", "Developers accept responsibility through terms of participation."),
    "ethics": ProfileRequirement("8.5", "Ethics (CARE)", "Community rights over researcher convenience."),
}  # fmt: skip

Item = Annotated[str, Field(pattern=f"^({'|'.join(REQUIREMENTS)})$")]


class ProfileStatement(StrictRecord):
    """What a person states of one requirement, in the organisation's name."""

    format: Literal["rosetta-statement/1"] = "rosetta-statement/1"
    item: Item
    # Empty where an earlier statement is taken back
    words: Annotated[str, Field(max_length=MOST_STATED)]
    person: Words
    when: Moment
    by: Hex64  # Signing key of the organisation


class SignedProfileStatement(ProfileStatement, SignedRecord):
    """It with its signature."""

    def data(self) -> bytes:
        return canonical_bytes(self.model_dump(mode="json")) + b"\n"


class SeenHere(StrictRecord):
    """What the program saw of one requirement on the organisation's computer."""

    item: Item
    words: Words


class Profile(StrictRecord):
    """The profile as it is given out."""

    format: Literal["rosetta-profile/1"] = "rosetta-profile/1"
    name: Words
    when: Moment
    # By the organisation's own computer: others can check its signature, and nothing more
    seen: tuple[SeenHere, ...]
    stated: tuple[SignedProfileStatement, ...]
    by: Hex64


class SignedProfile(Profile, SignedRecord):
    """The profile with its signature."""

    def data(self) -> bytes:
        return canonical_bytes(self.model_dump(mode="json")) + b"\n"


def state(connection: sqlite3.Connection, item: str, words: str, person: str, home: Path) -> SignedProfileStatement:
    """Sign and keep what a person states of a requirement, instead of what was stated of it before.

    Empty ``words`` take that back. Raises UsageError for a requirement that is none, and for too many words.
    """
    if item not in REQUIREMENTS:
        raise UsageError(f"There is no requirement {item!r}. There are: {', '.join(REQUIREMENTS)}.")
    line = " ".join(words.split())
    if len(line) > MOST_STATED:
        raise UsageError(
            f"The statement has {len(line):,} characters. Say it in {MOST_STATED:,}, and name a page for more."
        )
    identity = organisation_keys(home)
    plain = ProfileStatement(
        item=item,
        words=line,
        person=one_line(person, "The name"),
        when=moment(datetime.now(UTC)),
        by=identity.public.signing_key,
    )
    made = SignedProfileStatement.model_validate_json(signed_record(plain, identity))
    number = sha256(f"statement\0{item}\0{made.by}".encode()).hexdigest()
    row = KeptRecord(number, RecordKind.STATEMENT, "", "", {"item": item, "keys": [made.by]})
    keep_signed(connection, row, made.data())
    return made


def stated(connection: sqlite3.Connection, home: Path) -> dict[str, SignedProfileStatement]:
    """Return what is stated now by this computer's organisation, by requirement; what was changed in the store counts as absent."""
    own = organisation_keys(home).public.signing_key
    by_item = {}
    for _, data in signed_files(connection, RecordKind.STATEMENT):
        record = read_record(data, SignedProfileStatement, "a statement", most=MOST_BYTES)
        if record.by == own and record.is_signed_by(own) and record.words:
            by_item[record.item] = record
    return {item: by_item[item] for item in REQUIREMENTS if item in by_item}


def make_profile(connection: sqlite3.Connection, name: str, home: Path) -> SignedProfile:
    """Return the signed profile of now: what the program sees on this computer, and what is stated."""
    identity = organisation_keys(home)
    there = seen(connection, home)
    plain = Profile(
        name=one_line(name, "The name"),
        when=moment(datetime.now(UTC)),
        seen=tuple(SeenHere(item=i, words=w) for i in REQUIREMENTS for w in there.get(i, ())),
        stated=tuple(stated(connection, home).values()),
        by=identity.public.signing_key,
    )
    return SignedProfile.model_validate_json(signed_record(plain, identity))


def read_profile(data: bytes) -> SignedProfile:
    """Read a profile and check its signature and those of its statements; raises FileError in words."""
    name = "the profile of an organisation"
    profile = read_signed_record(data, SignedProfile, name, most=MOST_BYTES, end=b"\n")
    if not all(s.by == profile.by and s.is_signed_by(profile.by) for s in profile.stated):
        raise FileError(
            FileProblem.DAMAGED,
            "A statement in the profile is not the organisation's, or was changed. Ask for it once more.",
        )
    return profile


def seen(connection: sqlite3.Connection, home: Path) -> dict[str, list[str]]:
    """Return what this program sees on this computer, by requirement, in words; no name of a vault, corpus or person."""
    seen_words: dict[str, list[str]] = defaultdict(list)
    for item, words in _vaults(home):
        seen_words[item].append(words)
    if (home / OFFICE).exists():
        with Office.open(home) as office:
            issued = {c.run_id for review in office.reviews() for c in office.certificates(review)}
        seen_words["availability"].append(f"{counted(len(issued), 'run')} certified by speakers' reviews")
    if (history := told_so_far(home)).acts:
        answers = counted(len(history.answers), "answer")
        seen_words["availability"].append(f"{answers} about secret entries told to submitters")
    if held := standing(home).held:
        count = counted(len(held), "notice")
        seen_words["ethics"].append(f"a register of what was taken back is kept, with {count}")
    kept = signed_files(connection, RecordKind.OWNERSHIP)
    if states := Counter(str(record.told.get("state")) for record, _ in kept):
        words = ", ".join(f"{count} {name}" for name, count in sorted(states.items()))
        seen_words["benefit"].append(f"records of ownership: {words}")
    return dict(seen_words)


def _vaults(home: Path) -> Iterator[tuple[str, str]]:
    folders = folders_seen(home)
    for number, folder in enumerate(folders, 1):
        which = f"vault {number} of {len(folders)}: " if len(folders) > 1 else ""
        try:
            made = read_state(Path(folder))
        except UsageError:
            yield "possession", f"{which}a vault that this computer knew cannot be read now"
            continue
        keepers = made.keepers.values()
        people = sum(not keeper.recovery for keeper in keepers)
        together = f"{made.threshold} of them open it together" if made.split else "each of them opens it alone"
        entries = sum(sum(corpus.entries.values()) for corpus in made.head.corpora.values())
        yield "keys", f"{which}{counted(people, 'keeper')} enrolled in a vault; {together}"
        yield "keys", f"{which}a recovery key was made" if people < len(keepers) else f"{which}no recovery key"
        sealed = counted(entries, "entry", "entries")
        yield "possession", f"{which}a vault with {sealed}, sealed at rest, with a log of every opening"
        acts = [line.record.act for line in made.lines]
        opened = [act for act in acts if isinstance(act, Opened | OpenedByGrant | Used)]
        granted = sum(isinstance(act, OpenedByGrant) or getattr(act, "grant", None) is not None for act in opened)
        with_grant = f"{counted(granted, 'opening')} by a grant of its keepers"
        yield "authority", f"{which}{with_grant}, {len(opened) - granted:,} without one"
        refused = counted(sum(bool(g.refused_by(made.keepers)) for g in made.grants.values()), "request")
        yield "control", f"{which}{refused} refused by a keeper of {len(made.grants):,} asked"


class ProfileItem(NamedTuple):
    """One requirement on an organisation: what was seen of it here, and what a person states."""

    item: str
    section: str
    title: str
    asked: str
    seen: list[str]
    stated: str | None
    person: str | None
    when: str | None


def profile_items(there: Mapping[str, list[str]], said: Mapping[str, ProfileStatement]) -> list[ProfileItem]:
    """Return all requirements in their order; the last three fields are None where nobody states anything."""
    return [
        ProfileItem(
            item,
            requirement.section,
            requirement.title,
            requirement.words,
            there.get(item, []),
            *((said[item].words, said[item].person, said[item].when) if item in said else (None, None, None)),
        )
        for item, requirement in REQUIREMENTS.items()
    ]
