"""From a stick to the first item: which reviews are there, whose they are, who rates, and in which language.

The same for every face. What is opened is kept on this computer, so that the stick can be pulled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from pathlib import Path

from harness.core.failures import HarnessError
from harness.sealed.carried_files import FileSearch, ReviewFile, SkippedFiles, find_files, read_one
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity, Lock, lock_of, typed_passphrase
from harness.sealed.stick import mounted_sticks
from harness.sealed.strict_records import FileError, FileProblem
from review.files.batch import Batch, open_batch
from review.files.identities import printed, read_code
from review.files.manifests import BatchManifest
from review.log.fold import fold
from review.log.laptop import Laptop
from review.log.payloads import Face
from review.session.choice import Choice, contents, copies_once, mark_of, of_file
from review.session.position import GUARD_SECONDS
from review.session.session import Session
from review.session.words.catalogue import (
    ENGLISH,
    Words,
    checked_tag,
    is_tag,
    language_name,
    languages,
    same_language,
    words_of_system,
)
from review.session.words.troubles import OtherReviewerError

# What is typed or chosen by a person whose code begins as the one that was typed here last
SAME_CARD = "1"
WORDS_FOLDER = "review-words"  # Folder of catalogues that a community added, in the data folder

_MOST_FOUND = 200  # Files that are offered
_LANGUAGE = "language"
# Setting with the language in which the person reads what organisations wrote, where the program
# has no words in it
_TEXTS = "language of texts"
# Setting with how the code begins that was typed last: it is shown to ask whether it is the same
# person
_REVIEWER = "reviewer"
_PERSON = "person"  # Setting with what events name this person by
# Characters of a code, of 8, that are kept and shown to ask whether it is the same person; each
# more would make the rest 32 times easier to guess
_KNOWN_BY = 2


class Opening:
    """What a face needs before it has a session; knows no screen."""

    def __init__(
        self,
        laptop: Laptop,
        *,
        places: Sequence[Path] | None = None,
        language: str | None = None,
        missing: Sequence[Path] = (),
        system: Sequence[str] = (),
        mounted: Callable[[], list[Path]] = mounted_sticks,
    ) -> None:
        """``places`` are files and folders that the person named; None looks at sticks and this computer.

        ``missing`` were named and are not there; ``system`` are the tags of the languages that the
        operating system speaks, the best first, where its variables do not tell.
        """
        self.laptop = laptop
        self._places, self._missing = places, tuple(missing)
        self.sticks = mounted  # Returns the sticks that are plugged in now
        self._asked = language
        self._search = FileSearch((), ())
        # Batch → where its file was chosen, and its bytes as they were read
        self._received: dict[str, tuple[Choice, bytes]] = {}
        # Files with which a session began since the program was started
        self._begun: set[Path] = set()
        # What was remembered of a person before a code was typed
        self._before: dict[str, str | None] = {}
        # Tags for which there were words when the program was started → what each language calls
        # itself
        self._spoken = languages([self._own_words])
        # Tags in which the review that was opened last is written, and that nothing of ours leads
        # to → a name
        self._written: dict[str, str] = {}
        # The reviewer's language, as far as it is known yet
        if chosen := language or laptop.setting(_LANGUAGE):
            texts = language or laptop.setting(_TEXTS) or ""
            self.words = self._load(chosen).reading("" if texts in self._spoken else texts)
        else:
            self.words = words_of_system(system, [self._own_words])

    # the language

    @property
    def languages(self) -> dict[str, str]:
        """Tags that can be chosen → their names: those that the program speaks, then those of the opened review."""
        texts = self.words.texts
        return self._spoken | ({texts: language_name(texts)} if texts else {}) | self._written

    def set_language(self, tag: str) -> Words:
        """Choose a language, now and for the next time; one that is none of ``languages`` gives English.

        Where the program has no words in it, its own stay as they are, and what organisations wrote is shown in it.
        """
        tag = checked_tag(tag)
        words, only_written = self._load(tag), tag in self.languages and tag not in self._spoken
        if only_written and not same_language(words.language, tag):
            words = self.words
        self.words = words.reading(tag if only_written else "")
        self.laptop.set_setting(_LANGUAGE, self.words.language)
        self.laptop.set_setting(_TEXTS, self.words.texts)
        return self.words

    def _only_written(self, batch: Batch) -> dict[str, str]:
        """Return the languages of a review's texts that nobody would see by choosing one of ours → their names."""
        manifest = batch.manifest
        seen = {manifest.consent_in(tag).language for tag in self._spoken}
        lessons = {tag for item in batch.training for tag in item.explanations}
        written = dict.fromkeys((*manifest.written_in, *sorted(lessons)))
        tags = [tag for tag in written if is_tag(tag) and tag not in self._spoken]
        ours = {tag for tag in tags if any(same_language(tag, own) for own in self._spoken)}
        return {tag: language_name(tag) for tag in tags if tag not in ours & seen}

    @property
    def _own_words(self) -> Path:
        return self.laptop.path.parent / WORDS_FOLDER

    def _load(self, tag: str) -> Words:
        return Words.load(tag, [self._own_words])

    # which review

    def choices(self) -> list[Choice]:
        """Return what can be opened: files that were named or lie on sticks, newest first, then those kept here."""
        kept = {choice.batch: choice for choice in self._kept()}
        here = {mark: kept[batch.id] for batch in self.laptop.batches() for mark in contents(batch)}
        if named := copies_once(of_file(path) for path in self._named):
            return [choice.kept_as(here.get(choice.content)) for choice in named]
        choices = copies_once(self._found())
        taken = [(mark := mark_of(c)) is not None and self.laptop.setting(mark) is not None for c in choices]
        new = [c for c, gone in zip(choices, taken, strict=True) if c.content not in here and not gone]
        return [*new, *kept.values()]

    def _found(self) -> Iterator[Choice]:
        """Yield the reviews in the folders; a file that only looks sealed is one where this computer's key opens it."""
        folders = [path for path in self._places or () if _is_folder(path)]
        if self._places is None or (self._begun and not folders):
            folders = self.sticks()
        self._search = find_files(folders, ReviewFile.BATCH)
        for file in self._search.files[:_MOST_FOUND]:
            choice = of_file(file.path, file.inside)
            if file.is_named or choice.lock is not Lock.KEYS or self._opens(choice):
                yield choice

    def _opens(self, choice: Choice) -> bool:
        try:
            open_batch(self._bytes(choice), [self._key()])
        except HarnessError:
            return False
        return True

    def _key(self) -> AgeIdentity:
        return Identity.load(self.laptop.path.parent, Role.LAPTOP).age

    @property
    def skipped(self) -> Sequence[SkippedFiles]:
        """The files that the last look at the folders passed over."""
        return self._search.skipped

    @property
    def _named(self) -> list[Path]:
        """Files that the person named; one that was begun with is no longer the only choice."""
        files = (path for path in self._places or () if not _is_folder(path))
        return [path for path in files if path not in self._begun]

    def is_named(self, choice: Choice) -> bool:
        """Return whether the person named this very file, and so has chosen."""
        return choice.path in self._named

    def not_here(self) -> str:
        """Return which files were named and are not there; nothing where all are."""
        if not (names := ", ".join(place.name or str(place) for place in self._missing)):
            return ""
        words = self.words
        return words("{name} is not in this folder. It was looked for on sticks and on this computer.", name=names)

    @property
    def found_nothing(self) -> bool:
        """Return whether files were named that are not there, and nothing was opened instead."""
        return bool(self._missing) and not self._received

    def _kept(self) -> list[Choice]:
        """Return the reviews that this computer keeps, the last received one first."""
        choices = []
        done = self._answered()
        for batch in reversed(self.laptop.batches()):
            manifest = BatchManifest.model_validate_json(batch.manifest)
            name = manifest.organisation.name
            choice = Choice(manifest.title, name, batch.id, lock=lock_of(batch.members))
            if order := manifest.order(self._who(manifest)):
                choice = replace(choice, done=len(done.get(batch.id, ())), total=len(order))
            choices.append(choice)
        return choices

    def _answered(self) -> dict[str, Set[str]]:
        """Return the batches → the items that the remembered person answered."""
        if not (known := self.laptop.setting(_PERSON)):
            return {}
        people = fold(self.laptop.events()).reviewers
        return {batch: frozenset(p.decided) for (batch, who), p in people.items() if who == known}

    def open(self, choice: Choice, passphrase: str | None = None) -> Batch:
        """Open and check a review; FileError with ``problem`` LOCKED asks for the passphrase.

        Raises StickError or FileError in words. A passphrase may take seconds: call it away from the screen.
        """
        data = self._bytes(choice)
        keys = [self._key()] if lock_of(data) is Lock.KEYS else []
        if passphrase is not None:
            try:
                passphrase = typed_passphrase(passphrase.encode("utf-8", "replace").decode())
            except FileError as error:  # too few words are wrong ones, not a fault of the file
                raise FileError(FileProblem.WRONG_KEY, str(error)) from None
        batch = open_batch(data, keys, passphrase)
        self._received[batch.manifest.batch] = choice, data
        self._written = self._only_written(batch)
        return batch

    def _bytes(self, choice: Choice) -> bytes:
        if choice.path is not None:
            return read_one(choice.path, ReviewFile.BATCH, choice.inside)
        return self.laptop.batch(choice.batch or "").members

    # who asks

    def is_known(self, batch: Batch) -> bool:
        return self.laptop.setting(_organisation(batch)) is not None

    def accept(self, batch: Batch) -> None:
        """Record that the person trusts the organisation, whose six words were compared."""
        self.laptop.set_setting(_organisation(batch), batch.manifest.organisation.name)

    # who rates

    def remembered(self, batch: Batch) -> str | None:
        """Return how the code begins that was used here last, where this batch is for its person; never all of it.

        Anyone who has that card knows it by this; ``reviewer`` takes nothing typed for that person.
        """
        return self.laptop.setting(_REVIEWER) if self._who(batch.manifest) else None

    def _who(self, manifest: BatchManifest) -> str:
        """Return the person who was here last as events name them; empty where a batch is not for them."""
        known = self.laptop.setting(_PERSON) or ""
        return known if manifest.order(known) else ""

    def answered(self, batch: Batch) -> int:
        """Return how many items of this batch the person who was here last has answered."""
        return len(self._answered().get(batch.manifest.batch, ()))

    def asked(self, batch: Batch) -> int:
        """Return how many items of this batch the person who was here last is asked."""
        return len(batch.manifest.order(self._who(batch.manifest)))

    def reviewer(self, batch: Batch, typed: str) -> str:
        """Read a reviewer's code and remember how it begins; gives the person as events name them, for ``session``.

        ``SAME_CARD`` stands for the person who was here last, where the batch is for them. Takes a tenth of a
        second: call it away from the screen. Raises CodeError where it is none, and OtherReviewerError where the batch is for others.
        """
        if typed.strip() == SAME_CARD and self.remembered(batch):
            return self._go_on_as(self._who(batch.manifest), self.laptop.setting(_REVIEWER) or "")
        code = read_code(typed)
        if (person := batch.person(code)) is None:
            raise OtherReviewerError(
                f"The code {printed(code)} is not for this review. Look at the card again, or ask for "
                "the file that belongs to it."
            )
        return self._go_on_as(person, code[:_KNOWN_BY])

    def _go_on_as(self, person: str, begins: str) -> str:
        self._before = {name: self.laptop.setting(name) for name in (_REVIEWER, _PERSON)}
        self.laptop.set_setting(_REVIEWER, begins)
        self.laptop.set_setting(_PERSON, person)
        return person

    def forget_reviewer(self) -> None:
        """Forget the code that was typed now: its person begins nothing, and somebody else may come."""
        for name in (_REVIEWER, _PERSON):
            self.laptop.set_setting(name, self._before.get(name) or "")

    # the sitting

    def session(self, batch: Batch, reviewer: str, face: Face, *, guard: float = GUARD_SECONDS) -> Session:
        """Store the batch on this computer and start; call it after ``accept`` and ``reviewer``."""
        manifest = batch.manifest
        if manifest.batch in self._received:
            choice, data = self._received[manifest.batch]
            self.laptop.add_batch(batch.manifest_bytes, data, manifest.secret)
            self.laptop.ready_to_seal([manifest.batch])
            if (mark := mark_of(choice)) is not None:  # it is not offered twice
                self.laptop.set_setting(mark, "taken")
            if choice.path is not None:
                self._begun.add(choice.path)
        chosen = self.laptop.setting(_LANGUAGE) is not None or self._asked is not None
        if not chosen and self.words.language == ENGLISH:  # the computer speaks no other that we do
            self.words = self._load(manifest.language)
        return Session(self.laptop, batch, reviewer, face, self.words, guard=guard)

    def hand_over_places(self, batch: Batch) -> list[Path]:
        """Return the places for the ratings: sticks, and last the folder where the batch came from, if it is on none.

        Of the stick that the batch came from, its folder is given.
        """
        received = self._received.get(batch.manifest.batch)
        places = self.sticks()
        if received and received[0].path and (origin := received[0].path.parent.absolute()).is_dir():
            places = [origin, *places]
        # Each stick once, whatever its names; of one with a folder that came before, only that
        # folder.
        kept: dict[Path, Path] = {}
        for place in places:
            real = place.resolve()
            if not any(other.is_relative_to(real) for other in kept):
                kept[real] = place
        return sorted(kept.values(), key=lambda folder: not self.on_stick(folder))

    def on_stick(self, folder: Path) -> bool:
        """Return whether a folder lies on a stick that is plugged in now."""
        real = folder.resolve()
        return any(real.is_relative_to(stick.resolve()) for stick in self.sticks())


def is_there(path: Path) -> bool:
    """Return whether something lies there; where one may not look, opening it says so."""
    try:
        return path.exists()
    except OSError:
        return True


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False  # opening it says why


def _organisation(batch: Batch) -> str:
    return f"organisation {batch.manifest.organisation.signing_key}"
