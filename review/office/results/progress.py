"""How far reviews are, what came back for a corpus in the making, who wrote on which laptop, and how long people worked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.core.failures import UsageError
from harness.project.state import DraftTexts, Project, ProjectEntry
from harness.sealed.keys import Identity, Role, key_phrase, says_key
from review.files.manifests import BatchManifest
from review.log.fold import ReviewerState, State
from review.log.payloads import Judged, Scope, Translate
from review.office.store.arrivals import last_contributions
from review.office.store.store import Office, Review
from review.rating import CannotJudge
from review.verdict.gate.careless import AlikePair, alike_pairs
from review.verdict.gate.panel import review_ratings


@dataclass(frozen=True, slots=True)
class ReviewerProgress:
    reviewer: str  # Code on the card
    batch: str
    asked: int
    rated: int
    translated: int
    cannot_judge: int
    skipped: int
    consented: bool
    # Whether this person said that translations, or better wordings beside ratings, may be used;
    # the last word counts
    shares: bool
    trained: int  # Training items answered
    flagged: int  # Items that this person called harmful
    # Items that this person rated otherwise on another laptop before; the last rating counts
    changed: int
    last_import: str | None  # UTC, ISO 8601; None where nothing came yet
    withdrawn: frozenset[Scope]
    # Entries of the items that this person's laptop could not show; they count as not judged
    not_shown: tuple[int | str, ...] = ()

    @property
    def done(self) -> int:
        """Items that this person decided about."""
        return self.rated + self.translated + self.cannot_judge

    @property
    def kept_back(self) -> int:
        """Translations that are here and may not be used: their person did not say that they may."""
        return 0 if self.shares else self.translated


@dataclass(frozen=True, slots=True)
class WaitingLaptop:
    """A laptop whose ratings wait until somebody vouches for it."""

    signing_key: str
    phrase: str  # Its six words
    # Six words of each of its files, as it showed them when it wrote them; oldest first
    file_phrases: tuple[str, ...]
    since: str

    @property
    def files(self) -> int:
        return len(self.file_phrases)

    def has(self, words: str) -> bool:
        """Return whether six words are those of the laptop or of one of its files."""
        return words in self.file_phrases or says_key(words, self.signing_key)


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    name: str
    title: str
    created: str
    runs: tuple[str, ...]
    items: int  # All of them, controls too
    reviewers: Sequence[ReviewerProgress]
    imports: int  # Different files imported; one that came again counts once
    certificates: int
    recompute: int  # Runs whose newest certificate rests on something that was taken back since
    # Pairs whose ratings agree far beyond the panel, by the codes on their cards
    alike: Sequence[AlikePair] = ()
    # What is not as the batches have it that went out: no result is read from such a review
    differs: tuple[str, ...] = ()

    @property
    def not_shown(self) -> dict[int | str, int]:
        """Entry → how many people's laptops could not show an item of it; the one that most could not comes first."""
        counts = Counter(entry for reviewer in self.reviewers for entry in {*reviewer.not_shown})
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0]))))

    @property
    def asked(self) -> int:
        """Decisions that all reviewers together are asked for."""
        return sum(reviewer.asked for reviewer in self.reviewers)

    @property
    def done(self) -> int:
        """Decisions that came back."""
        return sum(reviewer.done for reviewer in self.reviewers)


def progress(office: Office, review: Review) -> ReviewProgress:
    state = office.state_of_any(review)
    arrived = last_contributions(office.connection)
    certificates = office.certificates(review)
    newest = {certificate.run_id: certificate for certificate in certificates}
    return ReviewProgress(
        name=review.name,
        title=review.manifest.title,
        created=review.created,
        runs=tuple(run.run_id for run in review.key.runs),
        items=len(review.key.items),
        differs=review.changed,
        reviewers=[
            _reviewer(review, state, reviewer, batch, len(order), arrived.get((reviewer, batch)))
            for batch, manifest in review.manifests.items()
            for read in [BatchManifest.model_validate_json(manifest)]
            for reviewer in sorted(review.key.orders, key=review.code)
            if (order := read.order(reviewer))
        ],
        imports=len({imported.sha256 for imported in office.imports(review)}),
        certificates=len(certificates),
        recompute=sum(certificate.recompute for certificate in newest.values()),
        alike=[p.named(review.code) for p in alike_pairs(review_ratings(state, review.key))],
    )


def _reviewer(
    review: Review, every: State, reviewer: str, batch: str, asked: int, last_import: str | None
) -> ReviewerProgress:
    state = every.reviewers.get((batch, reviewer), ReviewerState())
    withdrawn = (every.withdrawn.get((reviewer, place), frozenset()) for place in (batch, None))
    judgements = state.judgements.values()
    items = review.key.items
    return ReviewerProgress(
        reviewer=review.code(reviewer),
        batch=batch,
        asked=asked,
        rated=sum(judgement.rating is not None for judgement in judgements),
        translated=len(state.translations),
        cannot_judge=sum(judgement.rating is None for judgement in judgements),
        skipped=len(state.skipped),
        consented=state.consented,
        shares=state.share_corrections,
        trained=len(state.trained),
        flagged=len(state.harmful),
        changed=len(state.earlier),
        last_import=last_import,
        withdrawn=frozenset().union(*withdrawn),
        not_shown=tuple(
            items[item].entry
            for item, judged in state.judgements.items()
            if judged.why_not is CannotJudge.NOT_SHOWN and item in items
        ),
    )


def waiting(office: Office) -> list[WaitingLaptop]:
    """Return the laptops whose files were set aside, by their key."""
    files = defaultdict(list)
    for file in office.quarantine():
        files[file.signing_key].append(file)
    return [
        WaitingLaptop(key, key_phrase(key), tuple(f.phrase for f in own), since=min(f.received for f in own))
        for key, own in sorted(files.items())
    ]


# ---- The reviews that were made of a corpus in the making, as this computer's office knows them.


def known_reviews(project: Project) -> None:
    """Forget reviews that were noted and never made, because the program was stopped in between.

    UsageError where they were made in another data folder, which alone knows what came back, or this one is a copy from before.
    """
    if not project.state.reviews:
        return
    if not made_here(project):
        raise UsageError(
            f"{project.folder}: its reviews were made in another data folder than {project.home}, and what came back is there. Continue at that computer, or "
            "say where its data folder is (ROSETTA_HOME)."
        )
    with Office.open(project.home) as office:
        taken = [review for review in project.state.reviews if office.is_taken(review.review)]
        here = {out.review for out in taken if out.made}
        for out in taken:
            if out.made:
                continue
            # Another review may have got its name meanwhile: it asks what was noted, or is not this one
            made = office.review(out.review)
            kind = made.is_agreement if out.kind == "agree" else made.translating
            if kind and {item.entry for item in made.key.items.values()} == set(out.entries):
                here.add(out.review)
    for review in project.state.reviews:
        if review.made and review.review not in here:
            raise UsageError(
                f"{project.folder}: its review {review.review} is not in the data folder {project.home}, which has the same keys: it is a copy from before. "
                "Continue with the one that has it (ROSETTA_HOME), or put its files back."
            )
    kept = (review for review in project.state.reviews if review.review in here)
    project.change(reviews=tuple(review.model_copy(update={"made": True}) for review in kept))


def made_here(project: Project) -> bool:
    """Return whether the reviews of a project were made with the key of its data folder."""
    known = Identity.known(project.home, Role.ORGANISATION)
    return known and project.state.office == own_key(project.home)


def own_key(home: Path) -> str:
    """Return the signing key of a data folder's organisation."""
    return Identity.load(home, Role.ORGANISATION).public.signing_key


# ---- What speakers said about a corpus in the making, counted; and an entry of it with other
# words than before.


@dataclass
class Gathered:
    """What was taken into a project, in numbers and ids of entries; each id once."""

    translated: int = 0
    unshared: int = 0  # Translations of people who did not say that theirs may be used
    # Translations that came back although another review's translation of the sentence stands
    beside: int = 0
    withheld: int = 0  # Sentences that somebody called harmful or not to be shown around
    agreed: int = 0
    corrected: int = 0  # By the wording that a second speaker wrote
    # Entries whose translation a second speaker did not agree to, without a better one: to be
    # translated again
    refused: list[int] = field(default_factory=list)
    # Entries that a second speaker examined and could not judge: another one is to be asked
    unjudged: list[int] = field(default_factory=list)
    # Entries that somebody looked over on the laptop on which they were translated, which is no
    # agreement
    own: list[int] = field(default_factory=list)
    # Entries whose translation a second speaker called harmful, or not to be shown around: people
    # decide
    objected: list[int] = field(default_factory=list)
    # Entries that lose words, or an agreement, because their person took them back or does not let
    # them be used any more
    taken_back: list[int] = field(default_factory=list)
    # Entries of which second speakers answered about another wording than the one that is there now
    other_wording: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)  # Entries of which nothing came back yet

    def look_again(self) -> None:
        """Forget how things stand, before they are examined once more; what was changed stays."""
        for entries in (self.unjudged, self.own, self.objected, self.other_wording, self.waiting):
            entries.clear()


def note(entry: ProjectEntry, among: list[int]) -> None:
    """Name an entry, once."""
    if entry.id not in among:
        among.append(entry.id)


def without_words(project: Project, entry: ProjectEntry, found: Gathered) -> ProjectEntry:
    """Return an entry whose words were taken back, for others to translate."""
    note(entry, found.taken_back)
    return emptied(project, entry)


def emptied(project: Project, entry: ProjectEntry, came: Sequence[str] | None = None) -> ProjectEntry:
    """Return an entry that is to be translated again, by anyone who, and examined again; nothing of what was there is kept.

    ``came``: wordings that came with the source and may come back; None for those that are kept already.
    """
    # Reviews of an entry that are done with: that of its translation, and those that asked
    # second speakers about it.
    agreements = (out for out in project.state.reviews if out.kind == "agree")
    looked = [out.review for out in agreements if entry.id in out.entries]
    own = [entry.translated.review] if entry.translated else []
    done_with = tuple(dict.fromkeys((*entry.refused, *own, *looked)))
    nothing = {"translated": None, "agreed": None, "agreed_also": (), "objected": False}
    before = project.texts(entry)
    kept = before.came if came is None else tuple(came)
    texts = replace(before, reference="", variants=(), offered=(), came=kept)
    return with_words(project, entry.model_copy(update={**nothing, "refused": done_with}), texts)


def with_words(project: Project, entry: ProjectEntry, texts: DraftTexts) -> ProjectEntry:
    """Return an entry with these texts; a confirmed analysis of another translation goes."""
    if texts.reference == project.texts(entry).reference:
        return project.with_texts(entry, texts)
    without = replace(texts, analysis="")
    return project.with_texts(entry.model_copy(update={"analysed": None}), without)


# ---- On which laptop something was said: what a log knows of who sat there, since each review
# gives people other codes.


def laptop_of_event(office: Office, review: Review) -> dict[str, str]:
    """Return id of an event of a review → the laptop that wrote it, by its signing key; one that continues with another's log is that one."""
    of = _owners(office)
    return {event.id: of(event.device) for event in office.events(review, shut=True)}


def laptops_that_wrote(project: Project, office: Office) -> dict[int, frozenset[str]]:
    """Return entry → the laptops on which a translation of it was written, in any review of a project, also one that was changed later."""
    of = _owners(office)
    devices: dict[int, set[str]] = defaultdict(set)
    for out in project.state.reviews:
        if out.kind != "translate":
            continue
        review = office.review(out.review)
        for event in office.events(review, shut=True):
            payload = event.payload
            if isinstance(payload, Translate) and payload.item in review.key.items:
                entry = review.key.items[payload.item].entry
                if isinstance(entry, int):
                    devices[entry].add(of(event.device))
    return {entry: frozenset(laptops) for entry, laptops in devices.items()}


def first_of(office: Office) -> dict[str, str]:
    """Return signing key of a laptop → that of the one whose log it continues with, its own where it began one."""
    before = {laptop.signing_key: laptop.instead_of for laptop in office.laptops()}
    first = {}
    for key in before:
        seen = [key]
        while (earlier := before.get(seen[-1])) is not None and earlier not in seen:
            seen.append(earlier)
        first[key] = seen[-1]
    return first


def _owners(office: Office) -> Callable[[str], str]:
    """Return what gives the laptop of a device; a device that nobody vouched for stands for itself."""
    devices, first = office.devices(), first_of(office)

    def owner(device: str) -> str:
        key = devices.get(device, device)
        return first.get(key, key)

    return owner


# ---- How long speakers worked at a corpus in the making, as the logs have it that came back.

_MS_PER_HOUR = 3_600_000


@dataclass(frozen=True)
class WorkingTime:
    """The working time that the answers of one review took."""

    review: str
    kind: str  # `translate` or `agree`
    people: int  # Those of whom an answer came back
    # Also those that were changed later; of what was taken back nothing is known any more
    answers: int
    # While a sentence was on the screen and its person was active, by the laptop's own clock;
    # reading what is asked, practising, breaks and talking are in no log
    hours: float


def worked_until_now(project: Project) -> list[WorkingTime] | None:
    """Return what speakers worked, from the reviews of the project's data folder; None where they are in another one."""
    if not project.state.reviews:
        return []
    if not made_here(project):
        return None
    with Office.open(project.home) as office:
        return working_times(project, office)


def working_times(project: Project, office: Office) -> list[WorkingTime]:
    """Return what the answers of each review of a project took, of those of which some came back; reviews that are not here are left out."""
    times = []
    for out in project.state.reviews:
        if not office.is_taken(out.review):
            continue
        events = office.events(office.review(out.review), shut=True)
        if judged := [e.payload for e in events if isinstance(e.payload, Judged)]:
            hours = sum(payload.active_ms for payload in judged) / _MS_PER_HOUR
            people = len({payload.reviewer for payload in judged})
            times.append(WorkingTime(out.review, out.kind, people, len(judged), hours))
    return times
