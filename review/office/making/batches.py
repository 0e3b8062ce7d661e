"""The batches of a review: what reviewers read and are asked, signed by the organisation."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from pydantic import ValidationError

from corpora.languages.scripts import tag_script, texts_script
from harness.core.failures import UsageError
from harness.core.problems import first_problem
from review.files.batch import Batch, make_batch
from review.files.batch_form import (
    BatchItem,
    BatchManifest,
    InLanguage,
    Organisation,
    Task,
    TrainingItem,
)
from review.files.font_file import CarriedFont
from review.files.person_tag import place_of
from review.office.making.letters import letters_of
from review.office.making.texts import ReviewTexts
from review.office.store.store import utc_now
from review.sealed.keys import Identity
from review.sealed.signature import Signed
from review.verdict.panel.key import AnswerKey


@dataclass(frozen=True)
class Said:
    """What reviewers read, and what the organiser says of the review."""

    name: str
    title: str
    organisation: str
    texts: ReviewTexts
    """With the organiser's own in their place."""
    language: str
    panel: str
    """How the reviewers were chosen."""
    recipients: tuple[str, ...]
    """age recipients for the ratings, two at least."""
    secret: bool
    labels: tuple[str, ...] = ()
    fonts: tuple[CarriedFont, ...] = ()
    """For letters that the reviewer's window does not bring."""
    shows_words: bool = False
    """Whether what people write may be shown to the others in a second look."""
    second_of: str | None = None
    """In a second look: the first batch of the review in which people differed."""
    looks: Mapping[str, int] = field(default_factory=dict)
    """Run id → how often its numbers were looked at before."""


@dataclass(frozen=True)
class Asked:
    """What is asked of whom."""

    source_language: str
    target_language: str
    """BCP 47 tags; a script is added where they name none and the texts tell."""
    items: Mapping[str, BatchItem]
    """By id, in an order that tells nothing."""
    orders: Mapping[str, tuple[str, ...]]
    """Person, by tag → ids in this person's order."""
    salt: bytes
    """Of the tags."""
    training: Sequence[TrainingItem] = ()
    task: Task = "rate"
    written: Sequence[str] = ()
    """Open texts in the target language beyond those that are shown: they tell its script and letters."""

    @property
    def in_target(self) -> list[str]:
        """Texts in the target language, none of a secret segment but what is shown anyway."""
        shown = (*self.items.values(), *self.training)
        return [*(each.candidate for each in shown), *self.written]


@dataclass(frozen=True)
class Made:
    """A review ready to be kept and handed out."""

    key: AnswerKey
    batches: Sequence[Batch]
    """One for all reviewers, or one for each in the order of the key."""
    texts: Sequence[BatchItem]
    codes: Mapping[str, str]
    """Person, as the key names them → the code on their card."""

    @property
    def manifests(self) -> dict[str, Signed]:
        """Batch → its manifest as it was signed."""
        return {each.manifest.batch: each.signed for each in self.batches}


Orders = Mapping[str, tuple[str, ...]]
"""Reviewer → ids in this person's order."""


def parts_of(orders: Orders, *, one_each: bool = False) -> dict[str, Orders]:
    """Return a new batch → who is asked in it: one for all, or one for each reviewer."""
    parts = [{code: order} for code, order in orders.items()] if one_each else [dict(orders)]
    return {secrets.token_hex(8): part for part in parts}


def sign_batches(
    asked: Asked,
    said: Said,
    policy: bytes,
    identity: Identity,
    parts: Mapping[str, Orders],
    key: AnswerKey,
) -> list[Batch]:
    """Sign each batch of ``parts_of``; UsageError for words that cannot stand in one."""
    try:
        head = _manifest(asked, said, policy, identity, key)
    except ValidationError as error:
        raise UsageError(f"This cannot stand in a batch: {first_problem(error)}") from None
    return [_batch(head, batch, part, asked, identity, said.fonts) for batch, part in parts.items()]


def _manifest(
    asked: Asked, said: Said, policy: bytes, identity: Identity, key: AnswerKey
) -> BatchManifest:
    shown = asked.items.values()
    target = scripted(asked.target_language, [each.candidate for each in shown])
    return BatchManifest(
        batch="0" * 16,
        review=said.name,
        title=said.title,
        created=utc_now(),
        source_language=scripted(asked.source_language, [each.source for each in shown]),
        target_language=target,
        organisation=Organisation(
            name=said.organisation,
            signing_key=identity.public.signing_key,
            recipients=said.recipients,
        ),
        policy_sha256=sha256(policy).hexdigest(),
        consent=_consent(said.texts.consent, said.organisation),
        guide=said.texts.guide,
        translations={
            tag: InLanguage(consent=_consent(each.consent, said.organisation), guide=each.guide)
            for tag, each in said.texts.others.items()
        },
        labels=said.labels,
        language=said.language,
        task=asked.task,
        letters=letters_of(target, asked.in_target),
        secret=said.secret,
        orders={place_of(tag): order for tag, order in asked.orders.items()},
        key_commitment=key.commitment,
        looks=key.looks,
        shows_words=said.shows_words,
        second_of=said.second_of,
        members={},
    )


def _consent(text: str, organisation: str) -> str:
    """Fill the organisation's name in; a text that begins with it begins with a capital."""
    filled = text.replace("{organisation}", organisation)
    return filled[:1].upper() + filled[1:]


def scripted(tag: str, texts: Sequence[str]) -> str:
    """Return a language's tag with the script of the texts, where it names none and they tell."""
    script = None if tag_script(tag) else texts_script(texts)
    return f"{tag}-{script}" if script and "-" not in tag else tag


def _batch(
    head: BatchManifest,
    batch: str,
    part: Orders,
    asked: Asked,
    identity: Identity,
    fonts: Sequence[CarriedFont],
) -> Batch:
    """Sign one batch, with the items that its reviewers are asked and no others."""
    wanted = {item for order in part.values() for item in order}
    orders = {place_of(tag): order for tag, order in part.items()}
    manifest = head.model_copy(update={"batch": batch, "orders": orders})
    items = [each for id_, each in asked.items.items() if id_ in wanted]
    return make_batch(manifest, items, asked.training, identity, asked.salt, fonts)
