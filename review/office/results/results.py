"""What is handed on of a review: cards, certificates and pages of its runs, and all of it in one signed, sealed file."""

from __future__ import annotations

import csv
import io
import random
import sqlite3
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Final

from corpora.model.entry import EntryId
from corpora.text.visible import guarded
from harness.card.exporting import ExportedRun, ExportForm, MtmeSet, encoded_files, export_run
from harness.consent.notice import SignedNotice
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawn
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.archive import pack_signed
from harness.sealed.keys import Identity, public_pem
from harness.sealed.sealing import seal
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from harness.store.withdrawn import entry_ids_of_run, known_run, now_standing
from review.files.manifests import EXPORT_SUFFIX, ExportManifest
from review.log.fold import Judgement, ReviewerState, State
from review.office.results.certifying import newest_certificate, review_evidence
from review.office.results.community_page import coarse_page, community_page
from review.office.results.disclosure import told_instead
from review.office.store.store import Office, Review
from review.session.words.catalogue import Words
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.coarse import read_coarse
from review.verdict.certificate.evidence import events_bytes, pack_evidence
from review.verdict.gate.key import AnswerKey, KeyCorpus, KeyItem, counted


@dataclass(frozen=True, slots=True)
class RatedItem:
    """One person's rating of one run's output of one entry; controls are none."""

    run_id: str
    entry_id: EntryId  # As on the run's card
    reviewer: str  # Pseudonym
    rating: int  # Rank, 0 reject … 3 excellent


def rated_items(office: Office, review: Review) -> list[RatedItem]:
    """Return the ratings of the people who count; repeats and other controls are left out."""
    items = review.key.items
    return [
        RatedItem(truth.run_id, truth.entry, reviewer, judgement.rating.rank)
        for reviewer, _, person in counted(office.state(review), review.key)
        for item, judgement in sorted(person.judgements.items())
        if (truth := items.get(item)) is not None
        and truth.control is None
        and truth.run_id is not None
        and judgement.rating is not None
    ]


@dataclass(frozen=True, slots=True)
class RatingRow:
    """What one person decided about one item."""

    person: str  # A letter that stands for the person in this review alone
    item: str
    run_id: str  # Empty for controls that are no system's output
    entry_id: EntryId
    difficulty: int  # 0 where the corpus does not say
    control: str  # `bad`, `repeat`, `anchor`, or empty for a real item
    # `reject`, `gist`, `acceptable`, `excellent`, or empty where the person could not judge
    rating: str
    rank: int | None  # 0–3, higher is better
    cannot_judge: str  # Why not; empty where there is a rating
    reasons: str  # Separated by blanks
    harmful: bool
    # The person's own word: `made` (took part in making the method), `knows` (who made it),
    # `neither`; empty where it was not asked
    relation: str
    active_seconds: float  # Time spent with the item, idle time cut
    position: int  # 0-based place in this person's order
    face: str
    drawn_anyway: bool  # The face may have drawn the text wrongly, and the person continued
    comment: str
    suggestion: str


def rating_rows(key: AnswerKey, state: State, *, free_text: bool) -> list[RatingRow]:
    """Return the rows of the people who count by person and position; ``free_text`` adds comments and suggested wordings.

    What people wrote may quote the texts and reveal who wrote it, so it is left out unless asked for.
    """
    letters = people(key)
    rows = [
        _row(letters[reviewer], item, key.items[item], judgement, reviewer_state, free_text)
        for reviewer, _, reviewer_state in counted(state, key)
        for item, judgement in reviewer_state.judgements.items()
        if item in key.items
    ]
    return sorted(rows, key=lambda row: (len(row.person), row.person, row.position, row.item))


def people(key: AnswerKey) -> dict[str, str]:
    """Return the letter of each reviewer, drawn with the review's seed so that it says nothing of the order."""
    drawn = sorted(key.orders)
    random.Random(f"{key.seed} letters").shuffle(drawn)  # noqa: S311  names, not secrets
    return {reviewer: _letter(place) for place, reviewer in enumerate(drawn)}


def _letter(place: int) -> str:
    """Return A … Z, AA, AB …"""
    more, last = divmod(place, 26)
    return (_letter(more - 1) if more else "") + chr(ord("A") + last)


def _row(
    person: str, item: str, known: KeyItem, judgement: Judgement, said: ReviewerState, free_text: bool
) -> RatingRow:
    rating, why_not = judgement.rating, judgement.why_not
    return RatingRow(
        person=person,
        item=item,
        run_id=known.run_id or "",
        entry_id=known.entry,
        difficulty=known.stratum,
        control=known.control or "",
        rating=rating or "",
        rank=None if rating is None else rating.rank,
        cannot_judge=why_not or "",
        reasons=" ".join(said.reasons.get(item, ())),
        harmful=item in said.harmful,
        relation=said.relation or "",
        active_seconds=judgement.active_ms / 1000,
        position=judgement.position,
        face=judgement.face,
        drawn_anyway=judgement.override,
        comment=said.comments.get(item, "") if free_text else "",
        suggestion=said.suggestions.get(item, "") if free_text else "",
    )


def ratings_csv(rows: list[RatingRow]) -> bytes:
    """Write rows as CSV in UTF-8 with a heading.

    A cell that a spreadsheet would run as a formula gets an apostrophe before it. Control characters, which a
    terminal would obey and many readers of CSV choke on, become U+FFFD.
    """
    file = io.StringIO(newline="")
    table = csv.DictWriter(file, [field.name for field in fields(RatingRow)], lineterminator="\r\n")
    table.writeheader()
    table.writerows({name: _cell(value) for name, value in asdict(row).items()} for row in rows)
    return file.getvalue().encode()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n")
    controls = {letter for letter in set(text) - {"\n", "\t"} if unicodedata.category(letter) == "Cc"}
    return guarded("".join("\N{REPLACEMENT CHARACTER}" if letter in controls else letter for letter in text))


def mean_ranks(rows: list[RatingRow]) -> dict[tuple[str, EntryId], float]:
    """Return the mean rank of each rated output (run, entry) over the people who rated it; controls are left out."""
    ranks: dict[tuple[str, EntryId], list[int]] = {}
    for row in real_ratings(rows):
        ranks.setdefault((row.run_id, row.entry_id), []).append(row.rank or 0)
    return {output: sum(given) / len(given) for output, given in ranks.items()}


def real_ratings(rows: list[RatingRow]) -> Iterator[RatingRow]:
    """Return the rows that rate a system's output."""
    return (row for row in rows if not row.control and row.rank is not None)


# Name of the mean rank over people among the human scores; one person's is `rosetta-A` and so on
HUMAN = "rosetta"


def mtme_files(review: Review, rows: list[RatingRow], runs: Sequence[ExportedRun]) -> dict[str, bytes]:
    """Return path → bytes of every file, paths relative to the top folder of the test set, human scores among them.

    The mean over people, and each person's own: ranks 0–3, higher is better, ``None`` where nobody rated. Raises
    UsageError where the review is secret, for the layout holds its texts.
    """
    if review.secret:
        raise UsageError(
            "This layout holds sources, references and outputs, and entries of this review are secret. "
            "Export the table of ratings instead (--csv): it holds no text."
        )
    # The entries that were asked of every run
    asked = {item.entry for item in review.key.items.values() if item.control is None}
    mtme = MtmeSet(runs, asked)
    files = mtme.files()
    panels = {HUMAN: rows}
    for person in sorted({row.person for row in real_ratings(rows)}):
        panels[f"{HUMAN}-{person}"] = [row for row in rows if row.person == person]
    for panel, panel_rows in panels.items():
        ranks, stem = mean_ranks(panel_rows), f"human-scores/{mtme.pair}.{panel}"
        scores = {run_id: [ranks.get((run_id, entry)) for entry in mtme.entries] for run_id in mtme.names}
        known = {run_id: [score for score in given if score is not None] for run_id, given in scores.items()}
        means = {run_id: [sum(given) / len(given) if given else None] for run_id, given in known.items()}
        files |= {f"{stem}.seg.score": mtme.score_lines(scores), f"{stem}.sys.score": mtme.score_lines(means)}
    return encoded_files(files)


_TEMPLATES = Path(__file__).parent / "templates"
_README: Final = (_TEMPLATES / "export.txt").read_text("utf-8")


@dataclass(frozen=True)
class RunFiles:
    """What there is about one run."""

    # Its run card as exported; None of a run with secret entries, of which only a released card
    # leaves
    card: bytes | None = field(default=None, repr=False)
    # The evidence file of its newest certificate
    evidence: bytes | None = field(default=None, repr=False)
    page: str | None = field(default=None, repr=False)  # The page for the speakers


def bundle_name(review: Review) -> str:
    return f"{review.name}{EXPORT_SUFFIX}"


def governance_bundle(
    office: Office, review: Review, of_runs: Mapping[str, RunFiles], identity: Identity, created: str
) -> bytes:
    """Return the sealed file; the review's own recipients can open it, each alone."""
    manifest = ExportManifest(
        review=review.name,
        created=created,
        runs=tuple(run.run_id for run in review.key.runs),
        signing_key=identity.public.signing_key,
        recipients=review.manifest.organisation.recipients,
        members={},
    )
    pem = public_pem(identity.public.signing_key)
    readme = _README.format(review=review.name, pem=pem).encode()
    members = {"README.txt": readme, **review_files(office, review, of_runs)}
    return seal(pack_signed(manifest, members, identity), manifest.recipients)


def review_files(office: Office, review: Review, of_runs: Mapping[str, RunFiles]) -> dict[str, bytes]:
    """Return by its name everything of a review that is handed on; people's words are among it."""
    rows = rating_rows(review.key, office.state(review), free_text=True)
    members = {
        "answer-key.json": canonical_bytes(review.key.model_dump(mode="json")),
        "policy.toml": review.policy,
        "events.jsonl": events_bytes(office.events(review)),
        "ratings.csv": ratings_csv(rows),
    }
    for number, run in enumerate(review.key.runs, start=1):
        of_run = of_runs.get(run.run_id, RunFiles())
        page = None if of_run.page is None else of_run.page.encode()
        ends = ("-card.json", ".rosetta-evidence", "-page.html")
        for end, data in zip(ends, (of_run.card, of_run.evidence, page), strict=True):
            if data is not None:
                members[f"run-{number}{end}"] = data
    return members


def require_runs(review: Review) -> None:
    """Refuse a review of which there can be no verdict; UsageError says what there is instead."""
    if review.is_second_look:
        raise UsageError(
            f"Review {review.name!r} is a second look: what people said in it is advice for who decides about the first "
            "one and counts in no verdict. `rosetta review adjudicate` of the first one shows it."
        )
    if review.is_agreement:
        raise UsageError(
            f"Review {review.name!r} asks second speakers about translations of a corpus in the making, so it has no gate, no "
            "certificate and no page. What they said goes into the corpus: rosetta corpus gather FOLDER"
        )
    if review.translating:
        raise UsageError(
            f"Review {review.name!r} collects translations: nothing is judged in it, so it has no gate, no certificate "
            f"and no page. Its corpus: rosetta review export {review.name} --corpus FILE.jsonl"
        )


def refuse_withdrawn(review: Review) -> None:
    """Raise Withdrawn where ``withdrawn_notice`` finds something."""
    if (notice := withdrawn_notice(review)) is not None:
        raise Withdrawn(f"Review {review.name}", notice)


def withdrawn_notice(review: Review) -> SignedNotice | None:
    """Return the notice by which something that a review is about was taken back: a corpus, and of runs an entry or a method.

    None where nothing was. A run that is not in the store any more is known by its corpus and the entries that people were
    asked about. Where speakers are asked about a corpus, entries of it are left out one by one (``withdrawn_entries``).
    """
    if not (now := now_standing()):
        return None
    if review.key.corpus is not None:
        return now.of_corpus(_facts(review.key.corpus))
    asked = {item.entry for item in review.key.items.values()}
    with opened() as connection:
        for run in review.key.runs:
            corpus_facts = CorpusFacts("", run.dataset_id, language_pair=run.language_pair)
            facts, setup = known_run(connection, run.run_id) or (corpus_facts, {})
            ids = asked.union(entry_ids_of_run(connection, run.run_id) or ())
            if (notice := now.of_run(facts, setup, ids)) is not None:
                return notice
    return None


def withdrawn_entries(review: Review) -> frozenset[EntryId]:
    """Return the entries of the corpus of which speakers are asked, and of which consent was taken back."""
    now, corpus = now_standing(), review.key.corpus
    if not now or corpus is None:
        return frozenset()
    gone = [about for _, about in now.of_entries(_facts(corpus))]
    asked = {item.entry for item in review.key.items.values()}
    return frozenset(entry_id for entry_id in asked if any(about.has(entry_id) for about in gone))


def _facts(corpus: KeyCorpus) -> CorpusFacts:
    return CorpusFacts("", corpus.id, corpus.source_language, corpus.target_language, corpus.language_pair)


def withdrawn_words(review: Review) -> str:
    """Return what was taken back, and that nothing of the review is used; empty where nothing was."""
    if (notice := withdrawn_notice(review)) is None:
        return ""
    return f"WITHDRAWN: consent was withdrawn for {notice.said}, so no verdict is read, and nothing of it leaves."


def one_run(review: Review, name: str | None) -> str:
    """Return the run of a review whose id begins so; without a name the only one. UsageError lists them."""
    require_runs(review)
    every = [run.run_id for run in review.key.runs]
    matches = [run_id for run_id in every if run_id.startswith((name or "").lower())]
    if len(matches) != 1:
        raise UsageError(f"Name one of the runs of review {review.name!r} with --run: {', '.join(every)}.")
    return matches[0]


def runs_of(review: Review, name: str | None) -> list[str]:
    """Return the run of a review whose id begins so; without a name all of them."""
    require_runs(review)
    return [run.run_id for run in review.key.runs] if name is None else [one_run(review, name)]


def page_of(office: Office, review: Review, run_id: str, words: Words) -> str | None:
    """Write the page for the speakers from a run's newest certificate, None where none was issued.

    Of a review of secret entries it shows what the coarse certificate shows; None where none was released. UsageError where
    ratings that it rests on were taken back: the page would continue telling of them.
    """
    if (issued := newest_certificate(office, review, run_id)) is None:
        return None
    if issued.recompute:
        raise UsageError(
            f"Somebody took ratings back since the certificate of run {run_id[:8]} was issued, and the page would "
            f"still show them. Issue it again: rosetta review gate {review.name} --issue"
        )
    if review.secret:
        signed = told_instead(office, issued)
        return None if signed is None else coarse_page(read_coarse(signed.content, "it"), words)
    certificate = read_certificate(issued.certificate, "the certificate")
    return community_page(certificate, review.key, office.state(review), review.texts, words)


def of_runs(
    office: Office, review: Review, connection: sqlite3.Connection, own_key: str, words: Words
) -> dict[str, RunFiles]:
    """Gather what goes into the bundle for the governance organisation; what is not there is left out.

    So is the page of a certificate that rests on what was taken back.
    """
    evidence = review_evidence(office, review, own_key)
    gathered = {}
    for run in review.key.runs:
        card = packed = page = None
        with suppress(UsageError):  # it was deleted, or has secret entries: its card is elsewhere
            card = export_run(connection, find_run(connection, run.run_id).id, ExportForm.CARD)
        if (issued := newest_certificate(office, review, run.run_id)) is not None:
            packed = pack_evidence(issued.certificate, issued.signature, evidence)
            page = None if issued.recompute else page_of(office, review, run.run_id, words)
        gathered[run.run_id] = RunFiles(card, packed, page)
    return gathered
