"""How far a review is: who has rated how much, and what waits for the organiser. No ratings are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.sealed.keys import key_phrase, says_key
from review.files.manifests import BatchManifest
from review.log.fold import ReviewerState
from review.log.payloads import Scope
from review.office.store.arrivals import last_contributions
from review.office.store.store import Office, Review
from review.rating import CannotJudge
from review.verdict.gate.alike import AlikePair, alike_pairs
from review.verdict.panel.key import AnswerKey
from review.verdict.panel.panel import review_ratings


@dataclass(frozen=True, slots=True)
class ReviewerProgress:
    """One person."""

    reviewer: str
    """Code on the card."""
    batch: str
    asked: int
    rated: int
    translated: int
    cannot_judge: int
    skipped: int
    consented: bool
    shares: bool
    """Whether this person said that translations, or better wordings beside ratings, may be used; the last word counts."""
    trained: int
    """Training items answered."""
    flagged: int
    """Items that this person called harmful."""
    changed: int
    """Items that this person rated otherwise on another laptop before; the last rating counts."""
    last_import: str | None
    """UTC, ISO 8601; None where nothing came yet."""
    withdrawn: frozenset[Scope]
    not_shown: tuple[int | str, ...] = ()
    """Entries of the items that this person's laptop could not show; they count as not judged."""

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
    phrase: str
    """Its six words."""
    file_phrases: tuple[str, ...]
    """Six words of each of its files, as it showed them when it wrote them; oldest first."""
    since: str

    @property
    def files(self) -> int:
        """How many of its files wait."""
        return len(self.file_phrases)

    def has(self, words: str) -> bool:
        """Return whether six words are those of the laptop or of one of its files."""
        return words in self.file_phrases or says_key(words, self.signing_key)


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """One review."""

    name: str
    title: str
    created: str
    runs: tuple[str, ...]
    items: int
    """All of them, controls too."""
    reviewers: Sequence[ReviewerProgress]
    imports: int
    """Different files imported; one that came again counts once."""
    certificates: int
    recompute: int
    """Runs whose newest certificate rests on something that was taken back since."""
    alike: Sequence[AlikePair] = ()
    """Pairs whose ratings agree far beyond the panel, by the codes on their cards."""
    differs: tuple[str, ...] = ()
    """What is not as the batches have it that went out: no result is read from such a review."""

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
    """Return how far a review is."""
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
            _reviewer(
                review.code(reviewer),
                batch,
                len(order),
                state.reviewers.get((batch, reviewer), ReviewerState()),
                arrived.get((reviewer, batch)),
                state.withdrawn.get((reviewer, batch), frozenset())
                | state.withdrawn.get((reviewer, None), frozenset()),
                review.key,
            )
            for batch, manifest in map(_read, review.manifests.items())
            for reviewer in sorted(review.key.orders, key=review.code)
            if (order := manifest.order(reviewer))
        ],
        imports=len({imported.sha256 for imported in office.imports(review)}),
        certificates=len(certificates),
        recompute=sum(issued_certificate.recompute for issued_certificate in newest.values()),
        alike=[p.named(review.code) for p in alike_pairs(review_ratings(state, review.key))],
    )


def _read(batch: tuple[str, bytes]) -> tuple[str, BatchManifest]:
    return batch[0], BatchManifest.model_validate_json(batch[1])


def _reviewer(
    reviewer: str,
    batch: str,
    asked: int,
    state: ReviewerState,
    last_import: str | None,
    withdrawn: frozenset[Scope],
    key: AnswerKey,
) -> ReviewerProgress:
    judgements = state.judgements.values()
    return ReviewerProgress(
        reviewer=reviewer,
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
        withdrawn=withdrawn,
        not_shown=tuple(
            key.items[item].entry
            for item, judged in state.judgements.items()
            if judged.why_not is CannotJudge.NOT_SHOWN and item in key.items
        ),
    )


def waiting(office: Office) -> list[WaitingLaptop]:
    """Return the laptops whose files were set aside, by their key."""
    files = office.quarantine()
    return [
        WaitingLaptop(
            key,
            key_phrase(key),
            tuple(file.phrase for file in files if file.signing_key == key),
            since=min(file.received for file in files if file.signing_key == key),
        )
        for key in sorted({file.signing_key for file in files})
    ]
