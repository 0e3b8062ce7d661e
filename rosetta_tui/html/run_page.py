"""The page of one run: what it reached, against what, how sure that is, and what may be said of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora.files.json_types import JsonObject
from corpora.languages.tags import language_name
from corpora.text.messages import counted, percent
from harness.card.model import EntryResult
from harness.card.reading import block, claim_of, interval, number, objects, refuse_to_leave, stated_floors
from harness.card.rows import load_card
from harness.compare.comparing import compare_runs, require_two
from harness.leaderboard.ranking import leaderboards
from harness.store.attachments import attached_to
from harness.store.results import read_latencies
from harness.store.run_list import RunSummary, list_runs
from harness.store.runs import find_run
from rosetta_tui.html.chart import BarChart, Scatter, ScoreLine, histogram, score_chart
from rosetta_tui.html.chart import scatter as scatter_chart
from rosetta_tui.html.entries import Changes, changes, weakest
from rosetta_tui.html.page import Fact, Language, render, shortened
from rosetta_tui.leaderboard.rows import kept_here
from rosetta_tui.plots import points
from rosetta_tui.report.card import card_text
from rosetta_tui.report.paragraphs import left_out_lines
from rosetta_tui.show import card_fields, figures
from rosetta_tui.show.card_fields import kept_of
from rosetta_tui.show.figures import beside_value, by_reason, floor_words, remark, scale, value
from rosetta_tui.show.run_facts import failed_told, setup_words, tiered
from scoring.card.claim import ClaimReason, best, caveat_sentence
from scoring.core.inventory import by_category, short_title, title
from scoring.core.scorer import NOT_WANTED
from scoring.findings.finding import finding_sentence
from scoring.statistics.intervals import FREE

if TYPE_CHECKING:
    from review.verdict.certificate.certificate import ReviewStatus

COMPOSITE = "composite"
MOST_BESIDE = 10  # other runs of the same list that a score is next to
MOST_PARTS = 12  # parts of a breakdown that are drawn
MOST_LINES = 400  # lines of the whole record that a page repeats


@dataclass(frozen=True, slots=True)
class Tile:
    name: str
    number: str
    beside: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run as everything here reads it."""

    summary: RunSummary  # with the whole card
    card: JsonObject
    results: Sequence[EntryResult]  # as the card has them
    review: ReviewStatus | None
    beside: tuple[RunSummary, ...]  # other runs of its list that may leave, best first

    @property
    def scores(self) -> JsonObject:
        """The card's ``scores`` block."""
        return block(self.card, "scores")

    @property
    def headline(self) -> str:
        """The metric that runs of its task are shown by first."""
        return kept_of(self.summary).headline

    @property
    def leads(self) -> tuple[str, ...]:
        """Return the metrics that are shown first: chrF++ and composite of a translation, else the headline."""
        leads = (self.headline, COMPOSITE) if tiered(self.summary) else (self.headline,)
        return tuple(metric for metric in leads if number(self.scores.get(metric)) is not None)


def run_page(connection: sqlite3.Connection, name: str, against: str | None = None) -> str:
    """Return the page of a run; ``against`` names another run whose most changed entries are shown.

    Raises UsageError where one of them has secret entries: its numbers leave as a released card only. HarnessError
    where it has no card yet.
    """
    run = find_run(connection, name)
    other = None if against is None else find_run(connection, against)
    refuse_to_leave(connection, [run] if other is None else [run, other])
    facts = read_facts(connection, run.run_id)
    changed = None
    if other is not None:
        compared = compare_runs(connection, [other.run_id, run.run_id])
        require_two(compared)
        changed = changes(connection, compared)
    return page_of_run(facts, changed, read_latencies(connection, run.id))


def page_of_run(found: RunFacts, changed: Changes | None, seconds: Sequence[float]) -> str:
    """Return the page of a run that was read; ``seconds`` are the latencies of entries that were neither cached nor failed."""
    card, dataset = found.card, block(found.card, "dataset")
    return render(
        "run.html.j2",
        title=setup_words(found.summary),
        corpus=" · ".join(str(dataset[key]) for key in ("id", "version") if dataset.get(key) not in (None, "", "0")),
        pair=found.summary.language_pair,
        date=str(card.get("timestamp", ""))[:10],
        source_language=Language.of(dataset.get("source_language")),
        target_language=Language.of(dataset.get("target_language")),
        claim=card_fields.tier_words(card, found.review) if tiered(found.summary) else "",
        rank=claim_of(card).tier(review_passed=found.review is not None and found.review.passed).rank,
        validated=card_fields.validated_by(
            found.review, reproduced=card_fields.is_reproduced(card, found.summary.checked)
        ),
        signed=tuple(filter(None, (card_fields.shown_by(found.summary), card_fields.owner_words(found.summary)))),
        unverified=str(card.get("unverified", "")),
        tiles=tuple(_tiles(found)),
        short=tuple(_in_short(found)),
        caveats=tuple(map(caveat_sentence, claim_of(card).caveats)),
        findings=tuple(map(finding_sentence, card_fields.stated_findings(card))),
        scores=tuple(_against_floors(found, metric) for metric in found.leads),
        inputs=tuple(_inputs(found)),
        coverage=_coverage(found),
        missing=tuple(_missing(found)),
        metrics=tuple(_metrics(found)),
        difficulty=_parts(found, "difficulty"),
        parts_drawn=tuple(filter(None, (_parts(found, kind) for kind in _KINDS))),
        cost=_cost(found),
        effort_words=_effort_words(found),
        latency=histogram("How long entries took", points.latency([found.summary], {found.summary.run_id: seconds})),
        weakest=weakest(found.results, kept_of(found.summary)),
        withheld="withheld" in card,
        changed=changed,
        identity=tuple(_identity(found)),
        record=[shortened(paragraph, 400) for paragraph in _record(found)],
    )


def read_facts(connection: sqlite3.Connection, run_id: str) -> RunFacts:
    """Read a finished run with the others of its list; HarnessError where it has no card yet."""
    run = find_run(connection, run_id)
    loaded = load_card(connection, run.id)
    card = loaded.as_json()
    summary = next(r for r in list_runs(connection, brief=True) if r.run_id == run_id)
    if summary.card is not None and "unverified" in summary.card:
        card["unverified"] = summary.card["unverified"]
    boards = leaderboards(connection, summary.dataset_id)
    there = next((b for b in boards if run_id in {e.run.run_id for e in b.entrants}), None)
    others = () if there is None else there.entrants
    return RunFacts(
        summary._replace(card=card),
        card,
        loaded.results,
        card_fields.review_of(card, attached_to(connection, run.id)),
        tuple(e.run for e in others if e.run.run_id != run_id and not kept_here(e))[:MOST_BESIDE],
    )


def _tiles(found: RunFacts) -> Iterator[Tile]:
    """Yield the numbers that stand first, each with what it is to be read with."""
    scores = found.scores
    for metric in found.leads:
        ends = interval(scores, metric)
        sure = "no interval" if ends is None else f"{value(metric, ends[0])}–{value(metric, ends[1])} (95 % interval)"
        yield Tile(title(metric), value(metric, number(scores.get(metric))), sure)
    errors, total = int(number(scores.get("errors")) or 0), number(scores.get("total"))
    failed_words = failed_told(errors, found.summary.failures)
    yield Tile("entries", figures.count(None if total is None else int(total)), failed_words)
    per_entry = number(block(found.card, "cost").get("cost_per_entry_usd"))
    per_entry_words = "" if per_entry is None else f"{figures.money(per_entry)} an entry"
    yield Tile("cost", card_fields.cost(found.card), per_entry_words)
    speed = number(block(found.card, "speed").get("median_latency_seconds"))
    yield Tile("time of an entry", f"{figures.seconds(speed)} s" if speed is not None else figures.NONE, "half of them take less" if speed is not None else "not measured")  # fmt: skip


def _in_short(found: RunFacts) -> Iterator[str]:
    """Yield sentences for who knows no metrics about what was done and what came of it."""
    scores, dataset = found.scores, block(found.card, "dataset")
    many = counted(int(number(scores.get("total")) or 0), "entry", "entries")
    tags = (str(dataset.get("source_language") or ""), str(dataset.get("target_language") or ""))
    ways = f" from {language_name(tags[0])} into {language_name(tags[1])}" if all(tags) else ""
    what = f"translate {many}{ways}" if tiered(found.summary) else f"answer {many}"
    yield f"The method was asked to {what}. A program compared what it gave back with what people had written before."
    exact = scores.get("exact_matches")
    if isinstance(exact, int) and tiered(found.summary):
        yield f"{exact:,} of {many} came out exactly like the reference. Others can be right in other words: the scores below count how near they are."
    # Say whether it clears what worthless outputs reach, by chrF++ and then by the composite.
    reached = {name: floor.chrf_plus_plus for name, floor in stated_floors(found.card).items()}
    known = {name: reach for name, reach in reached.items() if reach is not None}
    if known and tiered(found.summary):
        name = max(known, key=lambda metric: known[metric])
        limits = {limit.reason for limit in claim_of(found.card).limits}
        clear = "not clearly" if ClaimReason.CHRF_FLOOR in limits else "clearly"
        yield f"For comparison: worthless outputs ({floor_words(name)}) score chrF++ {value('chrf_plus_plus', known[name])}. This run is {clear} better."
        if ClaimReason.COMPOSITE_FLOOR in limits:
            yield "Its composite does not clear what worthless outputs reach, so it shows nothing."
    if found.review is None:
        yield "No speaker has judged this run yet. A score made by a program does not speak for the people whose language it is."
    else:
        certificate = found.review.certificate
        since = "; ratings were taken back since, so it says nothing now" if found.review.suspended else ""
        yield f"Speakers have judged it: {certificate.panel.words}, for {certificate.organisation.name}, on {certificate.issued[:10]}{since}."


def _against_floors(found: RunFacts, metric: str) -> BarChart:
    """Draw a score between the other runs of its list and what worthless outputs reach."""
    runs = (found.summary, *found.beside)
    cards = {run.run_id: run.card or {} for run in runs}
    picture = points.scores(runs, metric)
    shown = [
        ScoreLine(
            point.name,
            point.across,
            point.ends,
            card_fields.with_interval(block(cards[point.run_id], "scores"), metric),
            "own" if point.run_id == found.summary.run_id else "other",
            "this run" if point.run_id == found.summary.run_id else "",
        )
        for point in picture.points
    ]
    floors = stated_floors(found.card)
    reached = {
        name: floor.composite if metric == COMPOSITE else floor.chrf_plus_plus
        for name, floor in floors.items()
        if metric in (COMPOSITE, "chrf_plus_plus")
    }
    shown += [
        ScoreLine(floor_words(name), score, None, value(metric, score), "floor", "floor")
        for name, score in reached.items()
        if score is not None
    ]
    line = best(floors, metric) if reached else None
    words = "" if line is None else f"best floor {value(metric, line)}"
    caption = f"{title(metric)} with its 95 % interval"
    return score_chart(caption, "run or floor", metric, shown, line=line, line_words=words, beside=picture.beside)


def _inputs(found: RunFacts) -> Iterator[tuple[str, str, str]]:
    """Yield what the composite weighs: name, share of it, value."""
    for part in objects(found.scores, "composite_inputs"):
        metric, weight = str(part.get("metric")), number(part.get("effective_weight")) or 0.0
        yield title(metric), percent(weight), value(metric, number(part.get("value")))


def _coverage(found: RunFacts) -> str:
    share = number(found.scores.get("composite_coverage"))
    if share is None:
        return ""
    profile = found.scores.get("composite_profile")
    return f"Profile {profile}: {percent(share)} of its weight has a value here."


def _missing(found: RunFacts) -> Iterator[Fact]:
    """Yield what has no value, or counts for nothing, with the reason."""
    reasons = {
        str(id_): str(why)
        for id_, why in block(found.scores, "reasons").items()
        if tiered(found.summary) or why != NOT_WANTED
    }
    yield from (Fact(names, why) for why, names in by_reason(reasons))
    yield from (Fact("", " ".join(line.split())) for line in left_out_lines(found.scores))
    if reason := block(found.card, "cost").get("reason"):
        yield Fact("cost", str(reason))
    if withheld := block(found.card, "withheld"):
        secret, entries = withheld.get("secret"), withheld.get("entries")
        yield Fact("single entries", f"{secret} of {entries} are secret: no row of them leaves the computer that has them")  # fmt: skip


def _metrics(found: RunFacts) -> Iterator[tuple[str, tuple[tuple[str, str, str, str], ...]]]:
    """Yield by category each metric that has a value: name, value with interval, range, remark."""
    scores = found.scores
    known = [m for m in card_fields.stated_metrics([scores]) if number(scores.get(m)) is not None]
    accepted, total = card_fields.references_accepted(found.card.get("scoring")), number(scores.get("total"))
    for category, metrics in by_category(known):
        beside = {id_: filter(None, (beside_value(id_, accepted), remark(id_, total))) for id_ in metrics}
        yield (
            category,
            tuple(
                (title(id_), card_fields.with_interval(scores, id_), scale(id_), "; ".join(words))
                for id_, words in beside.items()
            ),
        )


_KINDS = ("segment", "register", "provenance", *FREE)


def _parts(found: RunFacts, kind: str) -> BarChart | None:
    """Draw the score that is shown first by what the entries are; None where they are all alike."""
    metric, groups = found.headline, block(found.scores, f"by_{kind}")
    if len(groups) < 2:
        return None
    names = sorted(groups, key=str)
    shown = [
        ScoreLine(
            f"{kind} {name}",
            number(group.get(metric)),
            interval(group, metric),
            card_fields.with_interval(group, metric),
            "own",
            counted(int(number(group.get("n")) or 0), "entry", "entries"),
        )
        for name in names[:MOST_PARTS]
        for group in [block(groups, name)]
    ]
    more = len(names) - MOST_PARTS
    beside = f"{more:,} more parts are on the card." if more > 0 else ""
    whole = number(found.scores.get(metric))
    words = "" if whole is None else f"the whole run {value(metric, whole)}"
    return score_chart(f"{title(metric)} by {kind}", kind, metric, shown, line=whole, line_words=words, beside=beside)


def _cost(found: RunFacts) -> Scatter | None:
    """Draw what an entry took against the score, this run beside those of its list; None where it is alone or nobody knows."""
    runs = [found.summary, *found.beside]
    effort = points.efforts_of(runs)[0]
    picture = points.cost(runs, found.headline, effort)
    drawn = {point.run_id for point in picture.points}
    if found.summary.run_id not in drawn or len(drawn) < 2:
        return None
    caption = f"{short_title(found.headline)} against the {effort} of an entry"
    return scatter_chart(caption, picture, found.summary.run_id)


def _effort_words(found: RunFacts) -> str:
    """Return what entries cost, where there is nothing to draw it against."""
    per_entry = number(block(found.card, "cost").get("cost_per_entry_usd"))
    if per_entry is None:
        return "What an entry cost is not known, so it cannot stand against the score."
    alone = "no other run of its list can be drawn next to it"
    return f"An entry was free; {alone}." if per_entry == 0 else f"An entry cost {figures.money(per_entry)}; {alone}."


def _identity(found: RunFacts) -> Iterator[Fact]:
    """Yield what tells this run from every other."""
    card = found.card
    yield Fact("run", str(card.get("run_id")))
    yield Fact("made with", f"rosetta-tui {card.get('harness_version')}")
    yield Fact("corpus file, SHA-256", str(block(card, "dataset").get("sha256")))
    yield Fact("set-up", str(block(card, "fingerprint").get("setup_hash") or figures.NONE))
    yield Fact("seal of the card", str(card.get("run_card_hash") or "none"))
    if found.review is not None:
        yield Fact("certificate of the speakers", found.review.certificate.sha256)
    signature = block(found.scores, "signatures").get(found.headline)
    if signature:
        yield Fact(f"signature of {short_title(found.headline)}", shortened(str(signature), 200))


def _record(found: RunFacts) -> list[str]:
    """Return the whole record as ``rosetta runs show`` prints it."""
    lines = card_text(
        found.card, found.review, reproduced=card_fields.is_reproduced(found.card, found.summary.checked)
    ).splitlines()
    more = len(lines) - MOST_LINES
    return lines[:MOST_LINES] + ([f"… and {more:,} more lines"] if more > 0 else [])
