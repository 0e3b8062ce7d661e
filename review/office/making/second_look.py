"""A second look: the sentences on which people differed are asked once more, in its own review.

What comes back is advice for who decides. It counts in no verdict, because answers that were given after reading
those of others are not independent; the gate continues counting the first round alone.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from corpora.model.corpus import Dataset
from harness.core.failures import UsageError
from review.files.manifests import MOST_OTHERS, BatchItem, OthersWords
from review.log.fold import ReviewerState, State
from review.office.making.batches import Drawn
from review.office.making.items import Item, drawing, order
from review.office.store.review import Review
from review.office.store.store import Office
from review.rating import RANKS, Rating
from review.verdict.gate.adjudication import Case, ItemComment, SecondLook, queue, voices
from review.verdict.gate.key import KeyItem, counted


@dataclass(frozen=True, kw_only=True)
class SecondDraft(Drawn):
    """A second look that is worked out and not yet written anywhere."""

    first: Review

    @property
    def vault_runs(self) -> tuple[str, ...]:
        """Those of the first look."""
        return self.first.vault_runs

    words: int  # People's words that go along: of each item those of each person who wrote any


def draft_second_look(office: Office, review: Review, seed: int) -> SecondDraft:
    """Draw the items that split the panel and the people who answered; UsageError where there is nothing to ask.

    What people wrote goes along only where the batch said so when they agreed; who took their words back, or did
    not agree, is not quoted. Everything but ids and the order of what others wrote follows from the seed.
    """
    state, cases = cases_to_ask(office, review)
    heard = [(who, reviewer_state) for who, _, reviewer_state in counted(state, review.key)]
    items = [_item(review, case, heard) for case in cases]
    manifest = review.manifest
    dataset = Dataset(
        id=f"{review.name}-second",
        language_pair="",
        source_language=manifest.source_language,
        target_language=manifest.target_language,
    )
    return SecondDraft(
        dataset=dataset,
        first=review,
        words=sum(len(item.shown.others) for item in items),
        entries=(),
        items=sorted(items, key=lambda item: item.id),
        core=(),
        orders=_orders(review, items, [who for who, _ in heard], seed),
        seed=seed,
    )


def cases_to_ask(office: Office, review: Review) -> tuple[State, list[Case]]:
    """Return the state of a review and what split its panel; no text is read. UsageError where there is nothing to ask."""
    if review.is_agreement:
        raise UsageError(
            f"Review {review.name!r} asks second speakers about a corpus in the making. What they said goes into it: rosetta corpus gather FOLDER"
        )
    if review.translating:
        raise UsageError(f"Review {review.name!r} collects translations: there are no ratings that could differ.")
    if review.is_second_look:
        raise UsageError(
            f"Review {review.name!r} is a second look itself. There is no third: nobody is asked until they agree."
        )
    if (before := second_look_of(office, review)) is not None:
        raise UsageError(
            f"Review {review.name!r} had its second look: {before.name!r}. There is one, so that nobody is asked until "
            "they agree."
        )
    state = office.state(review)
    cases = [case for case in queue(state, review.key) if case.is_split]  # ratings two steps apart or more
    if not cases:
        raise UsageError(f"Nothing in review {review.name!r} split the panel: there is nothing to ask once more.")
    return state, cases


def require_first(review: Review) -> None:
    """Refuse to decide in a second look: what is decided is in the log of the first one, by which the gate goes."""
    if review.is_second_look:
        raise UsageError(
            f"Review {review.name!r} is a second look. Decide in the first one, where what was said here is shown: "
            "`rosetta review adjudicate` and its name."
        )


def second_look_of(office: Office, review: Review) -> Review | None:
    """Return the second look of a review, None where there was none."""
    every = office.reviews()
    return next((o for o in every if o.manifest.second_of in review.manifests), None)


def _item(review: Review, case: Case, heard: Iterable[tuple[str, ReviewerState]]) -> Item:
    """Return an item with what people wrote of it, in random order and without their answers, where the batch said so."""
    written: list[OthersWords] = []
    if review.manifest.shows_words:
        comments = voices(heard, case.item, review.key)
        written = [OthersWords(reasons=c.reasons, comment=c.comment, suggestion=c.suggestion) for c in comments]
        secrets.SystemRandom().shuffle(written)
    text, about = review.texts[case.item], review.key.items[case.item]
    shown = BatchItem(id=secrets.token_hex(8), source=text.source, candidate=text.candidate)
    added = {"around": text.around, "others": tuple(written[:MOST_OTHERS])}
    extras = {name: value for name, value in added.items() if value}
    truth = KeyItem(run_id=None, entry=about.entry, stratum=about.stratum, partner=case.item)
    return Item(shown.model_copy(update=extras), truth)


def _orders(review: Review, items: Sequence[Item], people: Iterable[str], seed: int) -> dict[str, tuple[str, ...]]:
    """Assign to each person who answered those of the items that they were asked before, by their card."""
    ids = {item.truth.partner: item.id for item in items}
    originals = {item.id: item.truth.entry for item in items}
    drawn = {}
    for place, who in enumerate(dict.fromkeys(people)):
        asked = [ids[item] for item in review.key.orders[who] if item in ids]
        if own := order(asked, originals, {}, drawing(seed, f"order {place}")):
            drawn[review.code(who)] = own
    return drawn


def cases_of(office: Office, review: Review, state: State) -> list[Case]:
    return queue(state, review.key, second_looks(office, review, state))


def second_looks(office: Office, review: Review, state: State) -> dict[str, SecondLook]:
    """Return item of a first round → what was said of it in the second look, as far as it came back.

    ``state`` is that of the first round. People are the same by their cards.
    """
    if (again := second_look_of(office, review)) is None:
        return {}
    heard = [(who, state) for who, _, state in counted(office.state_of_any(again), again.key)]
    before = {
        review.code(who): {item: j.rating for item, j in reviewer.judgements.items() if j.rating is not None}
        for who, _, reviewer in counted(state, review.key)
    }
    mine = [(comment, before.get(again.code(who), {})) for who, comment in heard]
    looks = {}
    for item, about in again.key.items.items():
        first = about.partner or ""
        looks[first] = _looked(item, first, mine, voices(heard, item, again.key))
    return {item: look for item, look in looks.items() if look.anything}


def _looked(
    item: str, first: str, people: Sequence[tuple[ReviewerState, Mapping[str, Rating]]], written: Sequence[ItemComment]
) -> SecondLook:
    """Add up one item: ``people`` are what each said, and how they rated in the first round."""
    counts, unjudged, both, changed = [0] * RANKS, 0, 0, 0
    for reviewer_state, before in people:
        if (judged := reviewer_state.judgements.get(item)) is None:
            continue
        unjudged += judged.rating is None
        if judged.rating is not None:
            counts[judged.rating.rank] += 1
            both += first in before
            changed += before.get(first, judged.rating) is not judged.rating
    four = (counts[0], counts[1], counts[2], counts[3])
    flags = sum(item in reviewer_state.harmful for reviewer_state, _ in people)
    return SecondLook(four, unjudged, both, changed, flags, tuple(written))


def undecided_words(office: Office, review: Review) -> str:
    """Return that somebody called a sentence harmful in the second look and nobody decided yet; empty where none waits.

    Such a flag is in no evidence, so the gate does not see it: anyone who issues a certificate has to.
    """
    cases = cases_of(office, review, office.state(review))
    if not (waiting := [case for case in cases if case.is_open and not case.flags]):
        return ""
    return (
        f"{len(waiting)} of the sentences were called harmful in the second look, and nobody has decided on them. Decide "
        f"first: rosetta review adjudicate {review.name}"
    )


def require_flags_decided(office: Office, review: Review) -> None:
    """Raise UsageError where ``undecided_words`` has something to say."""
    if words := undecided_words(office, review):
        raise UsageError(f"{words}. No certificate is issued before that.")
