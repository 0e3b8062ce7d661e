"""Handing a review out: batch files, a card for each reviewer, and the recovery key, which people keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.core.failures import UsageError
from harness.core.storage import private_folder
from harness.sealed.phrase import draw_words
from harness.sealed.sealing import AgeIdentity
from harness.sealed.stick import BATCH_SUFFIX, PAGE_SUFFIX, PRIVATE, READABLE, write_file
from review.files.batch import Batch, write_batch
from review.files.identities import LaptopCard, printed
from review.office.making.batches import PreparedReview
from review.office.making.texts import CardTexts, ReviewTexts
from review.office.store.store import Office, Review, utc_now


@dataclass(frozen=True)
class RecoveryKey:
    """Who else can open ratings, where nobody is named."""

    recipient: str  # age recipient
    made: str  # UTC, ISO 8601
    place: Path  # Where a new one is written to
    # The key itself where it was made just now; it is in no store of ours
    new: AgeIdentity | None = None

    @property
    def text(self) -> str:
        return "" if self.new is None else _HEAD + self.new.text()


_HEAD = (
    "# Recovery key of an organisation that makes reviews with Rosetta. Lock it away.\n"
    "# It opens all ratings: rosetta review import FILES --identity THIS-FILE, or age --decrypt.\n"
)


def recovery_key(office: Office, place: Path) -> RecoveryKey:
    """Return the organisation's recovery key, or a new one that is kept nowhere yet."""
    if (row := _known(office)) is not None:
        return RecoveryKey(row[0], row[1], place)
    key = AgeIdentity.make()
    return RecoveryKey(key.recipient, utc_now(), place, key)


def keep_recipient(office: Office, key: RecoveryKey) -> None:
    """Store the public half of a new key; UsageError where another program was faster."""
    if key.new is None:
        return
    with office.transaction():
        if _known(office) is not None:
            raise UsageError("Another window has just made a recovery key. Do this once more.")
        office.connection.execute("INSERT INTO recovery (recipient, made) VALUES (?, ?)", (key.recipient, key.made))


def _known(office: Office) -> tuple[str, str] | None:
    row = office.connection.execute("SELECT recipient, made FROM recovery").fetchone()
    return None if row is None else (row[0], row[1])


@dataclass(frozen=True, slots=True)
class Protection:
    """How the batch is kept from others on its way; at most one of the two."""

    laptops: tuple[str, ...] = ()  # age recipients of the laptops that can open it
    # One file for each reviewer, opened by the words on this person's card
    passphrases: bool = False

    @property
    def sealed(self) -> bool:
        """Return whether it is encrypted at all."""
        return bool(self.laptops) or self.passphrases


@dataclass(frozen=True)
class Published:
    review: Review
    files: Sequence[Path]
    cards: Path


@dataclass(frozen=True, slots=True)
class ReviewerCard:
    """What is on one person's card, and on nobody else's."""

    code: str  # In two groups of four
    file: str  # Name of the batch file, and of its page where there is one
    words: str | None  # Words that open the file, where it was sealed with a passphrase
    page: bool = False  # Whether there is a page of the file, which telephones open


@dataclass(frozen=True, slots=True)
class CardSheet:
    """The cards of a review, to be printed and cut."""

    title: str
    organisation: str
    phrase: str  # Six words of the organisation's key
    texts: Sequence[CardTexts]  # One for each language on a card
    cards: Sequence[ReviewerCard]


def publish(
    office: Office,
    made: PreparedReview,
    policy: bytes,
    texts: ReviewTexts,
    protection: Protection,
    folder: Path,
    cards: Path,
    page: Callable[[CardSheet], str],
    *,
    browser_page: Callable[[bytes, Batch], bytes] | None = None,
    laptops: Sequence[LaptopCard] = (),
    recovery: RecoveryKey | None = None,
) -> Published:
    """Store a review and write its files, and the ``page`` of cards to where it stays; where one cannot be written, nothing is kept and nothing stays.

    Every user of a computer may read the batch files, as what travels on sticks; cards and keys only their owner.
    ``laptops`` are enrolled with it, and a new ``recovery`` key is kept. Raises UsageError where a file is
    there already, and StickError for a place that cannot be written. ``browser_page`` makes the page of a batch file.
    """
    files, sheet = _handout(made, texts, protection, folder, browser_page)
    private = {cards: page(sheet).encode()}
    if recovery is not None and recovery.new is not None:
        private[recovery.place] = recovery.text.encode()
    contents = {**files, **private}
    _check_free(files, _travelling_folder)
    _check_free(private, private_folder)
    with ExitStack() as undoing:
        with office.transaction():
            for laptop in laptops:
                office.enrol(laptop.public.signing_key, laptop.name, laptop.public.recipient)
            if recovery is not None:
                keep_recipient(office, recovery)
            review = office.create_review(made.key, policy, made.manifests, made.texts, made.codes, made.vault_runs)
            for path, content in contents.items():
                undoing.callback(_remove, path)
                write_file(path, content, PRIVATE if path in private else READABLE)
        undoing.pop_all()
    return Published(review, list(files), cards)


def require_free(name: str, folder: Path, cards: Path) -> None:
    """Raise UsageError where the batch of a review with this name, or its cards, could not be written there."""
    _check_free([folder / f"{name}{BATCH_SUFFIX}"], _travelling_folder)
    _check_free([cards], private_folder)


def _travelling_folder(folder: Path) -> None:
    """Make a folder whose files go to other computers, where their reader has another number."""
    folder.mkdir(parents=True, exist_ok=True)


def _check_free(paths: Iterable[Path], make_folder: Callable[[Path], object]) -> None:
    """Make the folders, and raise UsageError where a file is there already."""
    for path in paths:
        try:
            make_folder(path.parent)
        except OSError as error:
            raise UsageError(
                f"{path.parent} cannot be made ({error.strerror}). Choose another folder with -o, or for the cards with --cards."
            ) from None
        if path.exists():
            raise UsageError(f"{path} is there already. Move it away, or choose another folder, --name or --cards.")


def _remove(path: Path) -> None:
    with suppress(OSError):  # the stick is gone, and the file with it
        path.unlink(missing_ok=True)


def page_names(name: str, people: int, *, passphrases: bool) -> list[str]:
    """Return the names of the pages of a review: one for all, or one for each person."""
    return [f"{name}-{number}{PAGE_SUFFIX}" for number in range(1, people + 1)] if passphrases else [name + PAGE_SUFFIX]


def _handout(
    made: PreparedReview,
    texts: ReviewTexts,
    protection: Protection,
    folder: Path,
    browser_page: Callable[[bytes, Batch], bytes] | None,
) -> tuple[dict[Path, bytes], CardSheet]:
    """Return the batch files by path, each with its page where one is made, and the cards."""
    files: dict[Path, bytes] = {}
    cards: list[ReviewerCard] = []
    name = made.key.review
    for number, batch in enumerate(made.batches, 1):
        codes = [code for who, code in made.codes.items() if batch.manifest.order(who)]
        words = draw_words() if protection.passphrases else None
        part = f"{name}-{number}" if protection.passphrases else name
        path = folder / f"{part}{BATCH_SUFFIX}"
        files[path] = write_batch(batch, recipients=protection.laptops, passphrase=words)
        named = path.name
        if browser_page is not None:
            files[path.with_suffix(PAGE_SUFFIX)] = browser_page(files[path], batch)
            named += f" · {path.with_suffix(PAGE_SUFFIX).name}"
        cards.extend(ReviewerCard(printed(code), named, words, browser_page is not None) for code in codes)
    first = made.batches[0]
    title, organisation = first.manifest.title, first.manifest.organisation.name
    return files, CardSheet(title, organisation, first.organisation_phrase, texts.cards, cards)
