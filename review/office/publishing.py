"""Handing a review out: the batch files, a card for each reviewer, and the answer key, which stays here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.failures import UsageError
from review.files.batch import Batch, write_batch
from review.files.keys import write_private
from review.files.phrase import draw_words
from review.files.reviewer_codes import printed
from review.files.sealing import AgeIdentity
from review.files.stick import write_file
from review.office.creating import Made
from review.office.store import Office, Review, utc_now
from review.office.texts import ReviewTexts

SUFFIX = ".rosetta-batch"


@dataclass(frozen=True, slots=True)
class Protection:
    """How the batch is kept from others on its way; at most one of the two."""

    laptops: tuple[str, ...] = ()
    """age recipients of the laptops that can open it."""
    passphrases: bool = False
    """One file for each reviewer, opened by the words on this person's card."""

    @property
    def sealed(self) -> bool:
        """Whether it is encrypted at all."""
        return bool(self.laptops) or self.passphrases


@dataclass(frozen=True)
class Published:
    """What was written."""

    review: Review
    files: Sequence[Path]
    cards: Path


@dataclass(frozen=True)
class _Handout:
    """Files by path, and what stands on the cards."""

    files: dict[Path, bytes] = field(default_factory=dict)
    cards: list[str] = field(default_factory=list)


def publish(
    office: Office,
    made: Made,
    policy: bytes,
    texts: ReviewTexts,
    protection: Protection,
    folder: Path,
) -> Published:
    """Keep a review and write its files; where one cannot be written, nothing is kept and nothing stays.

    Raises UsageError where a file is there already, and StickError for a place that cannot be written.
    """
    cards = folder / f"{made.key.review}-cards.txt"
    handout = _handout(made, texts, protection, folder)
    contents = {**handout.files, cards: _RULE.join(handout.cards).encode()}
    for path in contents:
        if path.exists():
            raise UsageError(
                f"{path} is there already. Choose another folder with -o, or another --name."
            )
    review = office.create_review(
        made.key, policy, made.manifests, made.texts, before_commit=lambda: _write_all(contents)
    )
    return Published(review, list(handout.files), cards)


_RULE = "\n" + "-" * 72 + "\n"


def _write_all(contents: Mapping[Path, bytes]) -> None:
    written: list[Path] = []
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, content)
            written.append(path)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise


def _handout(made: Made, texts: ReviewTexts, protection: Protection, folder: Path) -> _Handout:
    handout = _Handout()
    name = made.key.review
    for batch in made.batches:
        codes = tuple(batch.manifest.orders)
        words = draw_words() if protection.passphrases else None
        part = f"{name}-{codes[0]}" if protection.passphrases else name
        path = folder / f"{part}{SUFFIX}"
        handout.files[path] = write_batch(batch, recipients=protection.laptops, passphrase=words)
        handout.cards.extend(_card(texts, batch, code, path.name, words) for code in codes)
    return handout


def _card(texts: ReviewTexts, batch: Batch, code: str, file: str, words: str | None) -> str:
    facts = {
        "{title}": batch.manifest.title,
        "{organisation}": batch.manifest.organisation.name,
        "{code}": printed(code),
        "{file}": file,
        "{phrase}": batch.organisation_phrase,
    }
    secret = "" if words is None else texts.passphrase.replace("{words}", words) + "\n"
    card = texts.card.replace("{passphrase}\n", secret)
    for place, fact in facts.items():
        card = card.replace(place, fact)
    return card


def recovery_recipient(office: Office, place: Path, say: Callable[[str], None]) -> str:
    """Give the age recipient of the recovery key, making the key the first time.

    Its secret half is written to ``place`` and kept nowhere else: whoever has it can open all ratings.
    """
    row = office.connection.execute("SELECT recipient, made FROM recovery").fetchone()
    if row is not None:
        say(f"Ratings can also be opened with the recovery key that was made on {row[1][:10]}.")
        return str(row[0])
    identity = AgeIdentity.make()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_private(place, _RECOVERY + identity.text())
    except FileExistsError:
        raise UsageError(
            f"{place} is there already. Move it away, or name a --recipient."
        ) from None
    with office.transaction():
        office.connection.execute(
            "INSERT INTO recovery VALUES (?, ?)", (identity.recipient, utc_now())
        )
    say(
        f"Made a recovery key: {place}\nMove this file off this computer and lock it away, on paper or a "
        "stick in a safe. With it ratings can be opened if this computer is lost: "
        "rosetta review import FILES --identity FILE"
    )
    return identity.recipient


_RECOVERY = (
    "# Recovery key of an organisation that makes reviews with Rosetta. Lock it away.\n"
    "# It opens all ratings: rosetta review import FILES --identity THIS-FILE, or age --decrypt.\n"
)
