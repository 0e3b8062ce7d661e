"""The register of a data folder: every notice that is believed here, on what ground, in signed lines that name each other.

It is one file, written again as a whole with each act, so that a process that is killed leaves the one before. Nothing is
ever taken out of it. What is lost at its end, such as in an older copy, is known by another file that says how far it went.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from harness.consent.notice import (
    MOST_BYTES,
    KeyWithdrawal,
    Moment,
    Reinstatement,
    SignedNotice,
    Subject,
    read_notice,
    write_notice,
)
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.storage import exclusive, private_folder, read_bytes, write_file
from harness.sealed.archive import signed_record
from harness.sealed.chain import ChainedRecord, chained_lines
from harness.sealed.keys import Identity, key_phrase, says_key
from harness.sealed.phrase import read_words
from harness.sealed.strict_records import Count, Hex64, StrictRecord

FILE: Final = "consent.jsonl"
SEEN: Final = "consent-seen.json"
LOCK: Final = "consent.lock"

_FORMAT: Final = "rosetta-consent/1"
_BUSY_SECONDS: Final = 20


class Ground(StrEnum):
    """Why a notice is believed here."""

    OWN = "own"
    """It was signed here."""
    WORDS = "words"
    """Somebody compared the six words of its signer's key."""
    KNOWN = "known"
    """The same key spoke of the same matter before, and its words were compared then."""
    ITSELF = "itself"
    """A key says it of itself."""


GROUND_WORDS: Final = {
    Ground.OWN: "signed on this computer",
    Ground.WORDS: "the six words of its key were compared here",
    Ground.KNOWN: "of a key whose six words were compared here for the same matter before",
    Ground.ITSELF: "the key says it of itself",
}


class RegisterLine(StrictRecord):
    format: Literal["rosetta-consent/1"] = _FORMAT
    seq: Count
    """Place in the register, from 0."""
    prev: Hex64 | Literal[""]
    """SHA-256 of the line before it; empty for the first."""
    when: Moment
    by: Hex64
    """Signing key of this data folder's organisation."""
    ground: Ground
    notice: SignedNotice


class SignedLine(RegisterLine, ChainedRecord):
    """The line with its signature."""


@dataclass(frozen=True)
class Held:
    """A notice as it is in the register."""

    notice: SignedNotice
    ground: Ground
    since: str
    """When it was imported here."""
    lifted: SignedNotice | None = None
    """The notice that lifted it."""


class ConsentError(UsageError):
    """The register cannot be read, or a notice not be taken; the message says why and what to do."""


class NobodyKnowsSigner(ConsentError):  # noqa: N818  said of the signer
    """A notice of a key of which nobody here knows whose it is; it was not taken."""

    def __init__(self, notice: SignedNotice) -> None:
        self.notice = notice
        super().__init__(
            f"This notice says: {notice.said}. It is signed by a key that nobody here has compared for this matter, so "
            "it was NOT imported and changes nothing. Anybody can write such a file in any name. Ask anyone who may say this, by "
            "telephone, for the six words of their key; where they are those of this notice, take it with --words."
        )


def lines_of(folder: Path) -> tuple[SignedLine, ...]:
    """Read and check the register of a data folder; empty where nothing was ever withdrawn.

    Raises ConsentError that names the line: without it nobody knows what may be used.
    """
    path = folder / FILE
    data = read_bytes(path, "the register of withdrawals") if path.exists() else b""
    lines, heads = checked_lines(path, data)
    _refuse_shortened(folder, heads)
    return lines


def checked_lines(path: Path, data: bytes) -> tuple[tuple[SignedLine, ...], list[str]]:
    """Return the lines of a register by its bytes, and the SHA-256 of each; ConsentError names the line that is wrong.

    Whether the newest of them are missing, only the computer knows that wrote them.
    """
    lines, heads = list[SignedLine](), list[str]()
    contents = data.removesuffix(b"\n").split(b"\n") if data else ()
    for line, content in chained_lines(
        contents, SignedLine, "a line of the register", partial(_damaged, path), most=2 * MOST_BYTES
    ):
        owner = lines[0].by if lines else line.by
        signer = line.notice.signing_key
        if line.by != owner or not (line.is_signed_by(owner) and line.notice.is_signed_by(signer)):
            raise _damaged(path, len(lines), "it was changed after it was written")
        heads.append(sha256(content).hexdigest())
        lines.append(line)
    return tuple(lines), heads


def held(lines: Sequence[SignedLine]) -> tuple[Held, ...]:
    """Return every notice but those that lift, in order, with what lifted it."""
    notices = [line.notice for line in lines]
    lifts = {one.about.notice: one for one in notices if isinstance(one.about, Reinstatement)}
    return tuple(
        Held(line.notice, line.ground, line.when, lifts.get(line.notice.number))
        for line in lines
        if not isinstance(line.notice.about, Reinstatement)
    )


@dataclass(frozen=True)
class Register:
    """The register of a data folder, in which this computer's organisation writes."""

    folder: Path
    identity: Identity

    @property
    def own(self) -> str:
        return self.identity.public.signing_key

    def say(self, about: Subject, reason: str, by: str) -> SignedNotice:
        """Sign a notice here and put it in: from now on it holds."""
        with self._changing() as lines:
            return self._say(lines, about, reason, by)

    def _say(self, lines: Sequence[SignedLine], about: Subject, reason: str, by: str) -> SignedNotice:
        notice = read_notice(write_notice(about, reason, by, self.identity, datetime.now(UTC)))
        self._append(lines, notice, Ground.OWN)
        return notice

    def lift(self, number: str, reason: str, by: str) -> SignedNotice:
        """Revoke a notice; the register keeps both. ``number``: its beginning is enough."""
        with self._changing() as lines:
            held = find_held(lines, number)
            if held.lifted is not None:
                raise ConsentError(f"This notice was lifted already: {held.lifted.said}.")
            return self._say(lines, Reinstatement(notice=held.notice.number), reason, by)

    def take(self, data: bytes, words: str | None = None) -> tuple[SignedNotice, bool]:
        """Import a notice from elsewhere; return it, and whether it is new here.

        ``words``: six words, as its signer read them out. Raises FileError where it is none or was changed, NobodyKnowsSigner
        where nobody knows whose key it is, and ConsentError where it may not be said by this key.
        """
        notice = read_notice(data)
        with self._changing() as lines:
            if any(line.notice.number == notice.number for line in lines):
                return notice, False
            ground = self._ground(lines, notice, words)
            self._append(lines, notice, ground)
        return notice, True

    def _ground(self, lines: Sequence[SignedLine], notice: SignedNotice, words: str | None) -> Ground:
        """Return why a notice is believed; raises NobodyKnowsSigner where there is no reason to."""
        signer, about = notice.signing_key, notice.about
        revoked = _revoked(lines, signer)
        if revoked is not None and not (isinstance(about, KeyWithdrawal) and about.signing_key == signer):
            raise ConsentError(f"This notice is signed by a key that was revoked: {revoked.said}. It was not imported.")
        if isinstance(about, Reinstatement):
            return self._ground_of_lift(lines, notice, about)
        if words is not None:
            if not says_key(read_words(words), signer):
                raise ConsentError(
                    "These are not the six words of the key that signed this notice. Somebody may have put another in its "
                    "place: it was not imported, and nothing was changed."
                )
            return Ground.WORDS
        if signer == self.own:
            return Ground.OWN
        if isinstance(about, KeyWithdrawal) and about.signing_key == signer:
            return Ground.ITSELF
        if any(
            line.notice.signing_key == signer
            and line.notice.about.matter == about.matter
            and line.ground in {Ground.WORDS, Ground.KNOWN}
            for line in lines
        ):
            return Ground.KNOWN
        raise NobodyKnowsSigner(notice)

    def _ground_of_lift(self, lines: Sequence[SignedLine], notice: SignedNotice, about: Reinstatement) -> Ground:
        """Accept a notice that lifts another only from its author."""
        first = next((line for line in lines if line.notice.number == about.notice), None)
        if first is None:
            raise ConsentError(
                f"This notice lifts another, {about.notice[:12]}, which is not here. Take that one in first."
            )
        if first.notice.signing_key != notice.signing_key:
            raise ConsentError(
                "This notice lifts one that another key signed, and only who took something back can give it again. It was "
                f"not imported. To set that notice aside on this computer: rosetta community lift {about.notice[:12]}"
            )
        return Ground.OWN if notice.signing_key == self.own else Ground.KNOWN

    @contextmanager
    def _changing(self) -> Iterator[tuple[SignedLine, ...]]:
        """Lock the register for other programs; yield its lines."""
        words = f"Another program is writing into {self.folder / FILE}. Try again when it is done."
        try:
            private_folder(self.folder)
            with exclusive(self.folder / LOCK, ConsentError(words), _BUSY_SECONDS):
                yield lines_of(self.folder)
        except OSError as error:
            raise ConsentError(
                f"{self.folder / FILE} cannot be written ({error.strerror}). Nothing was changed. Make room, or make the folder "
                "writable, and try again."
            ) from None

    def _append(self, lines: Sequence[SignedLine], notice: SignedNotice, ground: Ground) -> None:
        """Write the register again with one line more; then how far it goes."""
        if lines and lines[0].by != self.own:
            raise ConsentError(
                f"{self.folder / FILE} was written with other keys than this computer's organisation has now. Put back the "
                "keys, which the first certificate or notice of this computer was signed with."
            )
        before = [canonical_bytes(line.model_dump(mode="json")) for line in lines]
        line = RegisterLine(
            seq=len(lines),
            prev=sha256(before[-1]).hexdigest() if before else "",
            when=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            by=self.own,
            ground=ground,
            notice=notice,
        )
        content = signed_record(line, self.identity)
        write_file(self.folder / FILE, b"\n".join([*before, content, b""]), overwrite=True)
        seen = canonical_bytes([len(before) + 1, sha256(content).hexdigest()])
        write_file(self.folder / SEEN, seen, overwrite=True)


def find_held(lines: Sequence[SignedLine], number: str) -> Held:
    """Return the notice whose number begins so; ConsentError where none does, or two."""
    helds = [held for held in held(lines) if number and held.notice.number.startswith(number)]
    if len(helds) == 1:
        return helds[0]
    many = "Two notices or more have numbers" if helds else "No notice has a number"
    raise ConsentError(
        f"{many} that begin{'' if helds else 's'} with {number!r}. `rosetta community notices` shows them."
    )


def signer_words(notice: SignedNotice, ground: Ground | None) -> str:
    why = "NOT believed here" if ground is None else GROUND_WORDS[ground]
    return f"signed as {notice.by}, key {key_phrase(notice.signing_key)}; {why}"


def _revoked(lines: Sequence[SignedLine], key: str) -> SignedNotice | None:
    for one in held(lines):
        about = one.notice.about
        if isinstance(about, KeyWithdrawal) and about.signing_key == key and one.lifted is None:
            return one.notice
    return None


def _refuse_shortened(folder: Path, heads: Sequence[str]) -> None:
    """Refuse a register that ends before the place that was seen, or is another."""
    path = folder / SEEN
    if not path.exists():
        return
    try:
        count, head = json.loads(read_bytes(path, "what was seen of the register", 4096))
    except (ValueError, TypeError):
        raise ConsentError(
            f"{path} is damaged. Compare {FILE} with a copy; where nothing is missing at its end, delete {SEEN}."
        ) from None
    if not isinstance(count, int) or heads[count - 1 : count] != [head]:
        raise ConsentError(
            f"{folder / FILE} is missing, or an older or another one: it had {count} lines of withdrawals when it was last "
            f"written, and has {len(heads)}. Nobody knows what may be used. Put back the newest copy. If it is lost for good, "
            f"delete {path} and take all notices in again (rosetta community take)."
        )


def _damaged(path: Path, place: int, reason: str) -> ConsentError:
    return ConsentError(
        f"{path}: line {place + 1}: {reason}. Without it nobody knows what was withdrawn, so nothing is opened: put back a "
        "copy of the file."
    )
