"""What speakers wrote, for a corpus: their translations, and better wordings as variants of what is there.

Only of people who allowed it, and nothing that somebody objects to. A variant is another translation that counts as
right (scoring-specification §2.1): nothing is added on its own, but with a person's yes.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace
from hashlib import sha256

from corpora.files.json_types import Json, JsonObject
from corpora.languages.tags import pair_label
from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry, EntryId
from corpora.text.comparison import comparison_form
from review.log.fold import State
from review.office.making.batches import scripted
from review.office.results.results import people
from review.office.store.store import Review
from review.rating import CannotJudge
from review.verdict.gate.key import AnswerKey, counted


@dataclass(frozen=True, slots=True)
class Correction:
    entry_id: EntryId
    wording: str
    people: int  # Reviewers who suggested it, who all agreed that it may be offered


def corrections(key: AnswerKey, state: State, corpus: Corpus) -> list[Correction]:
    """Return the wordings that may be offered, those of most people first within an entry.

    Left out: wordings of people who do not count (``counted``) or did not agree to share them, and those that the corpus already has.
    """
    counts: dict[tuple[EntryId, str], set[str]] = {}
    wordings: dict[tuple[EntryId, str], str] = {}
    for reviewer, _, reviewer_state in counted(state, key):
        if not reviewer_state.share_corrections:
            continue
        for item, wording in reviewer_state.suggestions.items():
            if item in key.items and wording.strip():
                place = (key.items[item].entry, comparison_form(wording))
                counts.setdefault(place, set()).add(reviewer)
                wordings.setdefault(place, wording.strip())
    known = {e.id: set(map(comparison_form, (e.reference, *e.variants))) for e in corpus.reveal_here()}
    offered = [
        Correction(entry_id, wordings[entry_id, form], len(who))
        for (entry_id, form), who in counts.items()
        if entry_id in known and form not in known[entry_id]
    ]
    places = {entry.id: place for place, entry in enumerate(corpus.entries)}
    return sorted(offered, key=lambda c: (places[c.entry_id], -c.people, c.wording))


def with_variants(corpus: Corpus, accepted: Collection[Correction]) -> Corpus:
    """Return the corpus with the accepted wordings as variants and the next version.

    A corpus with other accepted answers is another version (benchmark-specification §2.1): scores of runs
    on the earlier one cannot be compared with new ones.
    """
    added: dict[EntryId, list[str]] = {}
    for correction in accepted:
        added.setdefault(correction.entry_id, []).append(correction.wording)
    entries = tuple(
        entry.model_copy(update={"variants": (*entry.variants, *added.get(entry.id, ()))})
        for entry in corpus.reveal_here()
    )
    dataset = corpus.dataset.model_copy(update={"version": next_version(corpus.dataset.version)})
    return replace(corpus, dataset=dataset, entries=entries)


def next_version(version: str) -> str:
    """Return the version after this one: its second number grows, as for a change that others must notice."""
    match = re.fullmatch(r"(\d{1,9})(?:\.(\d{1,9}))?(?:\.\d+)?", version)
    return f"{version}+variants" if match is None else f"{match[1]}.{int(match[2] or 0) + 1}.0"


ELICITED = "elicited"  # Provenance of what was asked of speakers (benchmark-specification §2.5)


@dataclass(frozen=True)
class Collected:
    """A corpus of what may be used, and how much may not."""

    corpus: Corpus
    unshared: int  # Translations of people who did not say that theirs may be used
    # Those that somebody called harmful or not to be shown around, and no decision cleared
    withheld_entries: frozenset[EntryId]
    unanswered: int  # Sentences without a translation that may be used

    @property
    def withheld(self) -> int:
        """Return how many are withheld."""
        return len(self.withheld_entries)

    def without(self, gone: Collection[EntryId]) -> Corpus:
        """Return the corpus without some entries, such as those of which consent was withdrawn."""
        kept = tuple(entry for entry in self.corpus.entries if entry.id not in gone)
        return replace(self.corpus, entries=kept)


@dataclass(frozen=True, slots=True)
class _Given:
    person: str  # A letter
    text: str


def collect(review: Review, state: State) -> Collected:
    """Gather translations by sentence: what most people wrote is the reference, other wordings are variants.

    Wordings that differ only in what no comparison counts are one. People are letters, as in every table.
    """
    letters = people(review.key)
    given: dict[str, list[_Given]] = defaultdict(list)
    unshared = 0
    for reviewer, _, reviewer_state in counted(state, review.key):
        if not reviewer_state.share_corrections:
            unshared += len(reviewer_state.translations)
            continue
        for item, text in reviewer_state.translations.items():
            if item in review.key.items and comparison_form(text):
                given[item].append(_Given(letters[reviewer], text))
    # Sentences that somebody objects to; a decision that clears one releases it
    objected: set[str] = set()
    for _, _, part in counted(state, review.key):
        objected |= part.harmful
        objected |= {item for item, j in part.judgements.items() if j.why_not is CannotJudge.NOT_TO_SHARE}
    withheld = (objected & review.key.items.keys()) - cleared_items(state)
    entries = [_entry(review, item, given[item]) for item in given if item not in withheld]
    # numbers by their size before names
    entries.sort(key=lambda e: (isinstance(e.id, str), 0 if isinstance(e.id, str) else e.id, str(e.id)))
    return Collected(
        Corpus(_dataset(review, state, entries), tuple(entries), "", Form.JSONL),
        unshared=unshared,
        withheld_entries=frozenset(review.key.items[item_id].entry for item_id in withheld),
        unanswered=len(review.key.items) - len(entries) - len(withheld),
    )


def cleared_items(state: State) -> set[str]:
    """Return the items of which people decided that nothing is harmful in them (``review adjudicate``)."""
    return {item for item, last in state.adjudications.items() if last.harmful is False}


def _entry(review: Review, item: str, given: list[_Given]) -> Entry:
    truth = review.key.items[item]
    # Each wording with the letters of who wrote it, those of most people first.
    alike: dict[str, list[_Given]] = defaultdict(list)
    for one in sorted(given, key=lambda one: (len(one.person), one.person)):
        alike[comparison_form(one.text)].append(one)
    groups = sorted(
        alike.values(), key=lambda group: (-len(group), len(group[0].person), group[0].person, group[0].text)
    )
    wordings = [Counter(one.text for one in group).most_common(1)[0][0] for group in groups]
    fields = {
        "id": truth.entry,
        "source": review.texts[item].source,
        "reference": wordings[0],
        "variants": tuple(wordings[1:]),
        "provenance": ELICITED,
        "translators": [[one.person for one in group] for group in groups],
    }
    return Entry.model_validate(fields | ({"difficulty": truth.stratum} if truth.stratum else {}))


def _consent(review: Review, state: State, entries: list[Entry]) -> JsonObject:
    """Document what the people agreed to whose words are in the corpus: each said yes to this use of them.

    Where the text was there in several languages, each is listed with how many agreed to it.
    """
    letters = people(review.key)
    used = {who for entry in entries for p in (entry.model_extra or {})["translators"] for who in p}
    agreed = Counter(
        text
        for person, _, reviewer_state in counted(state, review.key)
        if letters[person] in used
        for text in reviewer_state.agreed_to
    )
    manifest = review.manifest
    facts: dict[str, Json] = {"use_allowed_by": len(used)}
    facts |= {"text": manifest.consent, "text_sha256": _sha(manifest.consent)}
    if given := {tag: t.consent for tag, t in manifest.translations.items() if t.consent}:
        texts = [(manifest.language, manifest.consent), *given.items()]
        facts["texts"] = [
            {"language": tag, "text": t, "text_sha256": _sha(t), "agreed_by": agreed[_sha(t)]} for tag, t in texts
        ]
    return facts


def _sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _dataset(review: Review, state: State, entries: list[Entry]) -> Dataset:
    manifest = review.manifest
    target = scripted(manifest.target_language, [entry.reference for entry in entries])
    facts = {
        "id": review.name,
        "version": "1.0.0",
        "language_pair": pair_label(manifest.source_language, target),
        "source_language": manifest.source_language,
        "target_language": target,
        "created": manifest.created[:10],
        "provenance": (ELICITED,),
        "review": review.name,
        "organisation": manifest.organisation.name,
        "consent": _consent(review, state, entries),
    }
    labels = {"labels": list(manifest.labels)} if manifest.labels else {}
    return Dataset.model_validate(facts | labels)
