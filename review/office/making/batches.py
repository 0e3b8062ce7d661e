"""From what was drawn to signed batches and the answer key, with the letters that a keyboard may lack."""

from __future__ import annotations

import secrets
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from corpora.languages.cards import find_card, resolve_script
from corpora.languages.tags import CODES, tag_script, texts_script
from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from corpora.text.comparison import script_of, scripts
from corpora.text.tokens import JOINERS
from corpora.text.visible import plain
from harness.core.failures import UsageError
from harness.core.storage import usage_errors
from harness.sealed.keys import Identity, Signed
from harness.setup.preparing import language_folders
from review.files.batch import Batch, make_batch
from review.files.font_file import CarriedFont
from review.files.identities import new_salt, place_of, tag_of
from review.files.manifests import (
    LONGEST_LETTER,
    MOST_LETTERS,
    BatchItem,
    BatchManifest,
    InLanguage,
    Organisation,
    Task,
    TrainingItem,
)
from review.office.making.items import Item
from review.office.making.texts import ReviewTexts
from review.office.store.store import utc_now
from review.verdict.gate.key import AnswerKey, KeyCorpus, KeyRun

_DASHES_AND_QUOTES = frozenset({"Pd", "Pi", "Pf", "Ps", "Pe", "Cf"})
# Scripts (ISO 15924) of more signs than anybody would look through; anyone who writes them has an
# input method
_COMPOSED_WHILE_TYPED = frozenset({"Hani", "Hans", "Hant", "Jpan", "Hira", "Kana", "Kore", "Hang", "Bopo", "Yiii"})

# Scripts in which a letter with a mark is one letter; elsewhere marks are typed by themselves
_MARKS_BELONG = frozenset({"Latn", "Cyrl", "Grek"})


def letters_of(tag: str, texts: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the letters and marks of a language that are not on every keyboard, at most ``MOST_LETTERS``.

    They are those of its card, in the order of the alphabet; of more than fit, those that ``texts`` use most,
    and none where ``texts`` use none of them, because a part of an alphabet would be worse than nothing.
    Where no card knows the script, they are what ``texts`` use beyond ASCII. CardError where the card of
    the language is damaged.
    """
    found_card = find_card(tag, language_folders())
    card = None if found_card is None else found_card.card
    script = resolve_script(tag, card, scripts(texts))
    if script is None or script in _COMPOSED_WHILE_TYPED:
        return ()
    if (writing := None if card is None else card.writings.get(script)) is None:
        used = Counter(_used(texts, script))
        # ``á`` stands beside ``a``, whatever its code point
        by_base = sorted(used, key=lambda c: (unicodedata.normalize("NFD", c), c))
        return _most_frequent(by_base, used)
    # What a keyboard with the letters a–z lacks, in the order of the alphabet
    joiners = "" if writing.joiners == JOINERS else writing.joiners
    every = [*writing.graphemes, *writing.word_letters, *joiners]
    foreign = dict.fromkeys(letter for letter in every if plain(letter) == letter and not letter.isascii())
    lacking = tuple(letter for letter in foreign if _kinds(letter).isdisjoint(_DASHES_AND_QUOTES))
    text = unicodedata.normalize("NFC", "\n".join(texts)).lower()
    used = Counter({letter: text.count(letter) for letter in lacking})
    if len(lacking) > MOST_LETTERS and not used.total():
        return ()
    return _most_frequent(lacking, used)


def _most_frequent(letters: Sequence[str], used: Counter[str]) -> tuple[str, ...]:
    """Return as many as fit, the most used ones, in the order in which they come."""
    kept = set(sorted(letters, key=lambda letter: -used[letter])[:MOST_LETTERS])
    return tuple(letter for letter in letters if letter in kept)


def _used(texts: Iterable[str], script: str) -> Iterator[str]:
    """Yield every letter and mark of a script that is in texts, beyond ASCII and in lower case."""
    for text in texts:
        composed = unicodedata.normalize("NFC", text).lower()
        for letter in _letters(composed) if script in _MARKS_BELONG else composed:
            if not letter.isascii() and len(letter) <= LONGEST_LETTER and _is_of(letter, script):
                yield letter


def _letters(text: str) -> Iterator[str]:
    """Split a text so that marks stay with their letters (``g̃``)."""
    letter = ""
    for character in text:
        if letter and unicodedata.combining(character):
            letter += character
        else:
            yield letter
            letter = character
    yield letter


def _is_of(letter: str, script: str) -> bool:
    """Return whether it is a letter of the script, or a mark or sign that many scripts share."""
    if any(kind[0] not in "LM" for kind in _kinds(letter)):
        return False
    own = CODES.get(script_of(letter[0]))
    shared = unicodedata.combining(letter[0]) or unicodedata.category(letter[0]) == "Lm"
    return own == script or (own is None and bool(shared))


def _kinds(letter: str) -> set[str]:
    return {unicodedata.category(character) for character in letter}


@dataclass(frozen=True)
class ReviewDescription:
    """Texts for reviewers, and the facts that the organiser states of the review."""

    name: str
    title: str
    organisation: str
    texts: ReviewTexts  # With the organiser's own in their place
    language: str
    panel: str  # How the reviewers were chosen
    recipients: tuple[str, ...]  # age recipients for the ratings, two at least
    secret: bool
    labels: tuple[str, ...] = ()
    fonts: tuple[CarriedFont, ...] = ()  # For letters that the reviewer's window does not bring
    # Whether what people write may be shown to the others in a second look
    shows_words: bool = False
    # In a second look: the first batch of the review in which people differed
    second_of: str | None = None
    # Run id → how often its numbers were examined before
    looks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """Who is asked about which items."""

    source_language: str
    target_language: str  # BCP 47 tags; a script is added where they name none and the texts tell
    items: Mapping[str, BatchItem]  # By id, in an order that tells nothing
    orders: Mapping[str, tuple[str, ...]]  # Person, by tag → ids in this person's order
    salt: bytes  # Of the tags
    training: Sequence[TrainingItem] = ()
    task: Task = "rate"
    # Open texts in the target language beyond those that are shown: they tell its script and
    # letters
    written: Sequence[str] = ()

    @property
    def in_target(self) -> list[str]:
        """Texts in the target language, none of a secret segment but what is shown anyway."""
        shown = (*self.items.values(), *self.training)
        return [*(item.candidate for item in shown), *self.written]


@dataclass(frozen=True)
class PreparedReview:
    key: AnswerKey
    batches: Sequence[Batch]  # One for all reviewers, or one for each in the order of the key
    texts: Sequence[BatchItem]
    codes: Mapping[str, str]  # Person, as the key names them → the code on their card
    vault_runs: tuple[str, ...] = ()  # As of `Drawn`

    @property
    def manifests(self) -> dict[str, Signed]:
        """Batch → its manifest as it was signed."""
        return {batch.manifest.batch: batch.signed for batch in self.batches}


Orders = Mapping[str, tuple[str, ...]]  # Reviewer → ids in this person's order


def parts_of(orders: Orders, *, one_each: bool = False) -> dict[str, Orders]:
    """Return a new batch → who is asked in it: one for all, or one for each reviewer."""
    parts = [{code: order} for code, order in orders.items()] if one_each else [dict(orders)]
    return {secrets.token_hex(8): part for part in parts}


def sign_batches(
    asked: Asked,
    said: ReviewDescription,
    policy: bytes,
    identity: Identity,
    parts: Mapping[str, Orders],
    key: AnswerKey,
) -> list[Batch]:
    """Sign each batch of ``parts_of``; UsageError for words that cannot be in one."""
    with usage_errors("This cannot be in a batch"):
        head = _manifest(asked, said, policy, identity, key)
    batches = []
    for batch, part in parts.items():  # each with the items that its reviewers are asked, and no others
        wanted = {item for order in part.values() for item in order}
        orders = {place_of(tag): order for tag, order in part.items()}
        manifest = head.model_copy(update={"batch": batch, "orders": orders})
        items = [item for id_, item in asked.items.items() if id_ in wanted]
        made = make_batch(manifest, items, asked.training, identity, asked.salt, said.fonts)
        batches.append(made)
    return batches


def _manifest(
    asked: Asked, said: ReviewDescription, policy: bytes, identity: Identity, key: AnswerKey
) -> BatchManifest:
    shown = asked.items.values()
    target = scripted(asked.target_language, [item.candidate for item in shown])
    return BatchManifest(
        batch="0" * 16,
        review=said.name,
        title=said.title,
        created=utc_now(),
        source_language=scripted(asked.source_language, [item.source for item in shown]),
        target_language=target,
        organisation=Organisation(
            name=said.organisation, signing_key=identity.public.signing_key, recipients=said.recipients
        ),
        policy_sha256=sha256(policy).hexdigest(),
        consent=_consent(said.texts.consent, said.organisation),
        guide=said.texts.guide,
        translations={
            tag: InLanguage(consent=_consent(i.consent, said.organisation), guide=i.guide)
            for tag, i in said.texts.others.items()
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
    script = None if tag_script(tag) else texts_script(scripts(texts))
    return f"{tag}-{script}" if script and "-" not in tag else tag


MOST_REVIEWERS = 200
NO_POLICY = b""  # Where nothing is judged, there is no rule for a verdict


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Who is asked about which items in a review that is worked out and not yet written anywhere."""

    dataset: Dataset
    entries: Sequence[Entry]  # Those that were drawn
    items: Sequence[Item]  # In the order of their random ids, which tells nothing
    core: tuple[str, ...]  # Items of the drawn entries that everybody is asked
    orders: Mapping[str, tuple[str, ...]]  # Code → ids in this person's order
    training: Sequence[TrainingItem] = ()
    task: Task = "rate"
    # Open texts in the target language that are shown to nobody; they tell its script and letters
    written: Sequence[str] = ()
    seed: int

    @property
    def key_runs(self) -> tuple[KeyRun, ...]:
        """Return what the answer key says of the runs that are reviewed."""
        return ()

    @property
    def key_corpus(self) -> KeyCorpus | None:
        """By what the corpus is known whose sentences are asked about; None where runs name theirs."""
        return None

    @property
    def vault_runs(self) -> tuple[str, ...]:
        """Ids of the runs from a vault whose sentences are asked about; none where they are out of a file."""
        return ()

    @property
    def longest(self) -> int:
        """Items of the person who has most."""
        return max(map(len, self.orders.values()))


def known_corpus(dataset: Dataset) -> KeyCorpus:
    """Return by what a corpus is known in an answer key."""
    fields = {name: str(getattr(dataset, name) or "")[:200] for name in KeyCorpus.model_fields}
    return KeyCorpus(**fields)


def check_reviewers(wanted: int) -> None:
    """Refuse nobody, and more people than codes are made for."""
    if not 1 <= wanted <= MOST_REVIEWERS:
        raise UsageError(f"--reviewers {wanted}: between 1 and {MOST_REVIEWERS} are possible.")


def make(
    drawn: Drawn, said: ReviewDescription, identity: Identity, policy: bytes = NO_POLICY, *, one_each: bool = False
) -> PreparedReview:
    """Sign the batch, or one for each reviewer, and write the key; nothing is stored yet."""
    salt = new_salt()
    tags = {code: tag_of(code, salt) for code in drawn.orders}
    orders = {tags[code]: order for code, order in drawn.orders.items()}
    asked = Asked(
        source_language=drawn.dataset.source_language,
        target_language=drawn.dataset.target_language,
        items={item.id: item.shown for item in drawn.items},
        orders=orders,
        salt=salt,
        training=drawn.training,
        task=drawn.task,
        written=drawn.written,
    )
    runs = tuple(run.model_copy(update={"looks": said.looks.get(run.run_id, 0)}) for run in drawn.key_runs)
    parts = parts_of(asked.orders, one_each=one_each)
    # the batches commit to the key; their hashes are filled in once they are signed
    key = AnswerKey(
        review=said.name,
        batches=tuple(parts),
        batch_sha256={},
        runs=runs,
        items={item.id: item.truth for item in drawn.items},
        core=tuple(sorted(drawn.core)),
        orders=orders,
        seed=drawn.seed,
        panel=said.panel,
        salt=secrets.token_hex(32),
        corpus=drawn.key_corpus,
    )
    batches = sign_batches(asked, said, policy, identity, parts, key)
    sealed = {batch.manifest.batch: batch.sha256 for batch in batches}
    return PreparedReview(
        key.model_copy(update={"batch_sha256": sealed}),
        batches,
        list(asked.items.values()),
        {tag: code for code, tag in tags.items()},
        drawn.vault_runs,
    )
