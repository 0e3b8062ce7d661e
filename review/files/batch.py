"""The batch file: a review on its way to the laptops, signed by the organisation.

What is secret is sealed for laptops or with a passphrase; opening checks it as a whole and gives texts in memory only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from corpora.files.toml_text import first_problem
from corpora.text.visible import plain
from harness.core.canonical import canonical_bytes
from harness.sealed.archive import pack_signed, unpack_signed
from harness.sealed.keys import Identity, Signed, key_phrase
from harness.sealed.sealing import (
    AgeIdentity,
    Lock,
    SealError,
    checked_recipient,
    lock_of,
    seal,
    seal_with_passphrase,
    typed_passphrase,
    unseal,
    unseal_with_passphrase,
)
from harness.sealed.strict_records import FileError, FileProblem
from review.files.font_file import MOST_BYTES, MOST_FONTS, MOST_LICENCE, CarriedFont
from review.files.identities import CodeError, read_code, read_salt, salt_member, tag_of
from review.files.manifests import MOST_ITEMS, BatchItem, BatchManifest, TrainingItem, batch_readme

_PLACE_DIGITS = 64  # Of a person's place (`files.reviewer_codes`); codes and tags have fewer


def check_content(manifest: BatchManifest, items: Sequence[BatchItem], training: Sequence[TrainingItem]) -> None:
    """Raise FileError, which names what is wrong and quotes no text of an item."""
    if not items:
        raise _invalid("it holds nothing to do")
    if manifest.task == "translate":
        _check_for_translators(items, training)
    if any(plain(letter) != letter for letter in manifest.letters):
        raise _invalid("one of its letters would act instead of showing")
    _check_version(manifest, [*items, *training])
    known = {item.id for item in items}
    if len(known | {item.id for item in training}) < len(items) + len(training):
        raise _invalid("two items have the same id")
    _check_orders(manifest, known)
    recipients = manifest.organisation.recipients
    try:
        different = {checked_recipient(recipient) for recipient in recipients}
    except SealError as error:
        raise _invalid(f"ratings could not be sealed: {error}") from None
    if len(different) < 2:
        raise _invalid("ratings would be sealed for one key only; if it is lost, so are they")


def _check_version(manifest: BatchManifest, shown: Sequence[BatchItem]) -> None:
    """Refuse what the stated version does not have: a program that reads that version would not show it."""
    later = {"around", "others", "explanations"}
    if (manifest.version or 0) < 3 and any(item.model_fields_set & later for item in shown):
        raise _invalid("its sentences say more than its version has")
    if manifest.language in manifest.translations:
        raise _invalid("it has its words in one language twice")
    if manifest.second_of is None and any(item.others for item in shown):
        raise _invalid("it shows what others wrote, and is no second look")


def _check_for_translators(items: Sequence[BatchItem], training: Sequence[TrainingItem]) -> None:
    if training:
        raise _invalid("it asks for translations and has training for ratings")
    if any(item.candidate for item in items):
        raise _invalid("it asks for translations and gives some")
    if not all(item.source.strip() for item in items):
        raise _invalid("a sentence to translate is empty")


def _check_orders(manifest: BatchManifest, known: set[str]) -> None:
    """Refuse people who are named openly, or by no code, and orders with nothing, an item twice, or one that is not there."""
    for place, order in manifest.orders.items():
        if not manifest.names_codes and len(place) < _PLACE_DIGITS:
            raise _invalid("it names a reviewer openly, so that anyone who has it could answer as this person")
        try:
            if manifest.names_codes:
                read_code(place)
        except CodeError:
            raise _invalid("it names somebody by what is no reviewer's code") from None
        if not order:
            raise _invalid("a reviewer has nothing to do")
        if len(set(order)) < len(order):
            raise _invalid("a reviewer would be asked the same item twice")
        if not known.issuperset(order):
            raise _invalid("a reviewer would be asked an item that is not there")


def _invalid(reason: str) -> FileError:
    return FileError(FileProblem.INVALID, f"This batch cannot be used: {reason}. Ask the organisation to fix it.")


ITEMS: Final = "items.jsonl"
TRAINING: Final = "training.jsonl"
SALT: Final = "salt.txt"
README: Final = "README.txt"

FONT: Final = "font-{number}.ttf"
LICENCE: Final = "font-{number}-licence.txt"
# Names of the fonts that a batch may bring along, from version 3 on, each with its licence
_FONTS = [(FONT.format(number=n), LICENCE.format(number=n)) for n in range(1, MOST_FONTS + 1)]
# Members beside the manifest, and the most bytes of each; batches of version 1 have no salt
_MEMBERS = {ITEMS: 48 * 2**20, TRAINING: 2**22, README: 2**16, SALT: 2**7} | {
    name: most for pair in _FONTS for name, most in zip(pair, (MOST_BYTES, MOST_LICENCE), strict=True)
}
_OPTIONAL = {SALT, *(name for pair in _FONTS for name in pair)}

_MOST_TRAINING = 100

_Item = TypeVar("_Item", BatchItem, TrainingItem)


@dataclass(frozen=True)
class Batch:
    """A batch whose signature and content were checked."""

    manifest: BatchManifest
    manifest_bytes: bytes = field(repr=False)  # As they were signed
    items: tuple[BatchItem, ...] = field(repr=False)
    training: tuple[TrainingItem, ...] = field(repr=False)
    # The signed zip; of a secret batch it must not be written anywhere
    archive: bytes = field(repr=False)
    # Of the manifest; empty where only the manifest was kept
    signature: bytes = field(default=b"", repr=False)
    # With which a code becomes its tag; none in a batch of version 1, or where only the manifest
    # was kept
    salt: bytes = field(default=b"", repr=False)
    # Fonts for letters that the program does not bring, unread: what is wrong with one costs that
    # one alone
    fonts: tuple[CarriedFont, ...] = field(default=(), repr=False)

    @property
    def signed(self) -> Signed:
        return Signed(self.manifest_bytes, self.signature)

    def person(self, code: str) -> str | None:
        """Return whom a code stands for, as events name this person; None where the batch is not for them.

        Takes a tenth of a second.
        """
        person = code if self.manifest.names_codes else tag_of(code, self.salt)
        return person if self.manifest.order(person) else None

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the manifest, which covers all the rest; answer keys and certificates name it."""
        return hashlib.sha256(self.manifest_bytes).hexdigest()

    @property
    def organisation_phrase(self) -> str:
        """The six words of the organisation's signing key."""
        manifest = self.manifest
        return key_phrase(manifest.organisation.signing_key, earlier=manifest.earlier_words)


def make_batch(
    manifest: BatchManifest,
    items: Sequence[BatchItem],
    training: Sequence[TrainingItem],
    identity: Identity,
    salt: bytes = b"",
    fonts: Sequence[CarriedFont] = (),
) -> Batch:
    """Sign a batch; ``manifest.members`` is filled in here, whatever it holds.

    ``salt`` is that of the tags whose places the manifest lists; a batch of version 1 lists codes and has none.

    Raises FileError where content and manifest contradict each other, or there is too much of it. The
    same input gives the same bytes.
    """
    if manifest.organisation.signing_key != identity.public.signing_key:
        raise FileError(
            FileProblem.INVALID, "The batch names another organisation's signing key than the one that is to sign it."
        )
    members = {ITEMS: _lines(items), TRAINING: _lines(training), README: batch_readme(manifest)}
    if not manifest.names_codes:
        members[SALT] = salt_member(salt)
    for names, font in zip(_FONTS, fonts, strict=False):
        members |= dict(zip(names, font, strict=True))
    return _read(pack_signed(manifest, members, identity))


def write_batch(batch: Batch, *, recipients: Sequence[str] = (), passphrase: str | None = None) -> bytes:
    """Return the bytes of a ``.rosetta-batch`` file: sealed for recipients, or with a passphrase, or plain.

    Raises FileError where a secret batch would be left open. A file for each reviewer is made by calling
    this once for each passphrase.
    """
    if recipients and passphrase is not None:
        raise FileError(
            FileProblem.INVALID, "A batch is sealed either for laptops or with a passphrase. Write two files."
        )
    if recipients:
        return seal(batch.archive, recipients)
    if passphrase is not None:
        return seal_with_passphrase(batch.archive, typed_passphrase(passphrase))
    if batch.manifest.secret:
        raise FileError(
            FileProblem.LOCKED, "This batch holds secret sentences. Name the laptops it is for, or a passphrase."
        )
    return batch.archive


def open_batch(data: bytes, identities: Iterable[AgeIdentity] = (), passphrase: str | None = None) -> Batch:
    """Open a batch file and check all of it; raises FileError in words.

    A passphrase takes a fraction of a second for our files, and some seconds for one that another program
    sealed: call it away from the screen. ``problem`` LOCKED asks for a passphrase, WRONG_KEY for another.
    """
    if (lock := lock_of(data)) is None:
        plain = data
    elif lock is Lock.KEYS:
        plain = unseal(data, identities)
    elif passphrase is None:
        raise FileError(FileProblem.LOCKED, "This file opens with the passphrase on the reviewer's card.")
    else:
        try:
            typed = typed_passphrase(passphrase)
        except FileError as error:
            raise FileError(FileProblem.WRONG_KEY, str(error)) from None
        plain = unseal_with_passphrase(data, typed)
    batch = _read(plain)
    if batch.manifest.secret and plain is data:
        raise FileError(
            FileProblem.INVALID,
            "This batch holds secret sentences but is not sealed. Tell the organisation, and delete it.",
        )
    return batch


def _read(archive: bytes) -> Batch:
    opened = unpack_signed(archive, BatchManifest, _MEMBERS, _OPTIONAL)
    carried_fonts = [
        CarriedFont(opened.members[font], opened.members.get(licence, b""))
        for font, licence in _FONTS
        if font in opened.members
    ]
    if carried_fonts and (opened.manifest.version or 0) < 3:
        raise FileError(FileProblem.INVALID, "A batch brings fonts from version 3 on, and none before.")
    salt = opened.members.get(SALT)
    if opened.manifest.names_codes is not (salt is None):
        raise FileError(FileProblem.INVALID, f"{SALT}: a batch has one from version 2 on, and none before.")
    try:
        salt = b"" if salt is None else read_salt(salt)
    except ValueError as error:
        raise FileError(FileProblem.INVALID, f"{SALT}: {error}.") from None
    batch = Batch(
        opened.manifest,
        opened.signed.content,
        _items(opened.members[ITEMS], BatchItem, ITEMS, MOST_ITEMS),
        _items(opened.members[TRAINING], TrainingItem, TRAINING, _MOST_TRAINING),
        archive,
        opened.signed.signature,
        salt=salt,
        fonts=tuple(carried_fonts),
    )
    check_content(batch.manifest, batch.items, batch.training)
    return batch


def _items(content: bytes, form: type[_Item], member: str, most: int) -> tuple[_Item, ...]:
    if content and not content.endswith(b"\n"):
        raise FileError(FileProblem.INVALID, f"{member}: the last line has no end.")
    lines = content.split(b"\n", most + 1)[:-1]
    if len(lines) > most:
        raise FileError(FileProblem.TOO_LARGE, f"{member}: more than {most:,} lines.")
    items = []
    for number, line in enumerate(lines, 1):
        try:
            items.append(form.model_validate_json(line, strict=True))
        except ValidationError as error:
            raise FileError(FileProblem.INVALID, f"{member}: line {number}: {first_problem(error)}") from None
    return tuple(items)


def _lines(items: Iterable[BaseModel]) -> bytes:
    return b"".join(canonical_bytes(item.model_dump(mode="json")) + b"\n" for item in items)
