"""The sections of a submission's screen: its way, its parts, its claim, its README, and the report to its maker."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from corpora.text.messages import counted
from harness.release.ledger_records import ReleasedCard, ReleasedRefusal
from harness.submission.folder import SubmissionPart, limits
from review.office.results.whole_way import WayStep
from rosetta_tui.show import figures, released_words
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.show.figures import CAVEATS, value
from rosetta_tui.submission.facts import INCOMPLETE, MEANS, SubmissionFacts, bundle_lines
from rosetta_tui.toolkit.content import Line, SectionPage
from scoring.core.inventory import short_title
from scoring.statistics.repetitions import DECIDING

_WAY = Column("sign", "", 1), Column("step", "step", 24), Column("how", "how it stands", 20, share=1)
_PARTS = Column("sign", "", 1), Column("part", "part", 16), Column("words", "what is there", 20, share=1)
_CLAIM = (
    Column("metric", "metric", 14, share=1),
    Column("claimed", "claimed", 10, right=True),
    Column("here", "here", 10, right=True),
    Column("apart", "apart", 9, right=True),
    Column("within", "within 2 %", 10),
)
_README = (Column("line", "", 20, share=1),)
_TOLD = (Column("what", "what", 40), Column("told", "told", 20, share=1))
README_LETTERS = 100_000  # of a README that are shown; a bundle holds as much as it likes
README_WIDTH = 76  # characters of a line; the narrowest terminal has 80 cells


@dataclass(frozen=True)
class SubmissionPage(SectionPage):
    typed: Sequence[str] = ()  # for each row the command that does it, or empty
    runs: Sequence[str] = ()  # for each row the id of its run here, or empty


def way(facts: SubmissionFacts) -> SubmissionPage:
    """Return the steps from the bundle to the certificate: what is done, what is next, and what follows."""
    manifest = facts.kept.manifest
    first, *more = bundle_lines(manifest, facts.kept.number, facts.phrase)
    lead = [(first, "plain"), *((line.strip(), "quiet") for line in more)]
    rows = [_step_row(step, facts) for step in facts.steps]
    about = [list(_about_step(step, facts)) for step in facts.steps]
    rehearsal = facts.rehearsal.run if facts.rehearsal else ""
    runs = [{"rehearsed": rehearsal, "run over secret texts": facts.judged_run}.get(step.name, "") for step in facts.steps]  # fmt: skip
    at = len(rows) - 1 if facts.end.step is None else list(facts.steps).index(facts.end.step)
    # The command of the next step, or at the end of the way what follows from it.
    typed = [facts.end.command if place == at else "" for place in range(len(rows))]
    return _page(lead, _WAY, rows, about, typed, runs, first=at)


def _step_row(step: WayStep, facts: SubmissionFacts) -> tuple[Cell, ...]:
    if step.done:
        return (Cell("✓", "good"), Cell(step.name), Cell(step.words))
    if step is facts.end.step:
        return (Cell("▸", "mark"), Cell(step.name, "mark"), Cell(f"next · {step.words}", "mark"))
    return (Cell("·", "quiet"), Cell(step.name, "quiet"), Cell(step.words, "quiet"))


def _about_step(step: WayStep, facts: SubmissionFacts) -> Iterator[Line]:
    following = step is facts.end.step
    yield (f"{'Next: ' if following else ''}{step.name} · {step.words}", "mark" if following else "plain")
    if meaning := MEANS.get(step.name):
        yield meaning, "quiet"
    if step.name == "rehearsed" and following:
        yield "b begins it here, live on the screen; in a shell:", "plain"
    if facts.end.step is None and step is facts.steps[-1]:
        yield facts.end.words, "good"


def parts(facts: SubmissionFacts) -> SubmissionPage:
    """Return what there is of each part, and the fix of what is not right."""
    lacking = [check for check in facts.checks if not check.ok]
    if lacking:
        lead = [
            (f"✗ {counted(len(lacking), 'part')} of {len(facts.checks)} not right. {INCOMPLETE}", "bad")
        ]  # fmt: skip
    else:
        lead = [(f"✓ All {len(facts.checks)} parts are there, and every member is the one that was signed.", "good")]
    rows = [
        (
            Cell("✓", "good") if check.ok else Cell("✗", "bad"),
            Cell(str(check.part)),
            Cell(check.words, "plain" if check.ok else "bad"),
        )
        for check in facts.checks
    ]
    typed = ["" if check.part is not SubmissionPart.TERMS else f"rosetta submission check {facts.kept.number} --terms FILE" for check in facts.checks]  # fmt: skip
    about: list[list[Line]] = []
    for check in facts.checks:
        about.append([(f"{check.part}: {check.words}", "plain" if check.ok else "bad")])
        if check.part is SubmissionPart.TERMS:
            about[-1].append(("Whether they are your terms, the command says: FILE are yours.", "quiet"))
    first = next((place for place, check in enumerate(facts.checks) if not check.ok), 0)
    return _page(lead, _PARTS, rows, about, typed, waiting=len(lacking), first=first)


def claim(facts: SubmissionFacts) -> SubmissionPage:
    """Return the scores that its card claims, beside those of the rehearsal."""
    card, rehearsal = facts.claim, facts.rehearsal
    if card is None:
        return _page([], _CLAIM, [], [], empty="Its card makes no claim that can be held against anything: see Parts.")
    entries = counted(len(card.results), "open entry", "open entries")
    if facts.kept.rehearsed:
        gone = "" if rehearsal else " Its run is not in the list."
        verdict, tone = f"✓ Rehearsed here: its claim holds within 2 %.{gone}", "good"
    elif rehearsal is None:
        verdict, tone = "Not rehearsed here yet: b begins it.", "quiet"
    else:
        again = f"rosetta submission run {facts.kept.number} --rehearse-again"
        verdict = f"✗ Rehearsed here: its claim does NOT hold, so no keeper is asked. What its code wrote: {again}"
        tone = "bad"
    decide = f"Claimed over {entries} of {card.dataset.id}. Composite and chrF++ decide."
    lead: list[Line] = [(decide, "plain"), (verdict, tone)]
    there = [metric for metric, number in facts.claimed.items() if number is not None]
    rows = [_claim_row(metric, facts) for metric in DECIDING if metric in there]
    rows += [_claim_row(metric, facts) for metric in there if metric not in DECIDING]
    about: list[Line] = []
    if rehearsal is not None:
        about = [(f"Rehearsed as run {rehearsal.run[:8]}: enter opens it.", "quiet")]
    return _page(lead, _CLAIM, rows, [about] * len(rows), runs=[rehearsal.run if rehearsal else ""] * len(rows))


def _claim_row(metric: str, facts: SubmissionFacts) -> tuple[Cell, ...]:
    name, claimed = Cell(short_title(metric)), Cell(value(metric, facts.claimed[metric]))
    if facts.rehearsal is None:
        return (name, claimed, Cell("–", "quiet"), Cell(""), Cell(""))
    deviation = facts.rehearsal.found.deviations.get(metric)
    if deviation is None:
        return (name, claimed, Cell("no value", "bad"), Cell(""), Cell("no", "bad"))
    apart = "" if deviation.share is None else figures.signed(deviation.share, 1, share=True)
    within = Cell("yes", "good") if deviation.within else Cell("no", "bad")
    return (name, claimed, Cell(value(metric, deviation.repeated)), Cell(apart), within)


def readme(facts: SubmissionFacts) -> SubmissionPage:
    """Return what its maker says of it, above all what it does badly."""
    limit = limits(facts.readme)
    lead: list[Line] = [("What its maker says, in their own words; nobody checked it.", "plain")]
    if limit is None:
        lead.append(("✗ It has no heading about its limits.", "bad"))
    rows, inside = [], False
    lines = facts.readme[:README_LETTERS].splitlines()
    for line in (part for text in lines for part in textwrap.wrap(text, README_WIDTH) or [""]):
        if line.startswith("#"):
            inside = limit is not None and line.strip() == limit.heading
            rows.append((Cell(line, "warn" if inside else "mark"),))
        else:
            rows.append((Cell(line, "plain" if inside or limit is None else "quiet"),))
    if len(facts.readme) > README_LETTERS:
        lead.append((f"The first {README_LETTERS:,} characters; the rest is in the bundle, which is a zip.", "warn"))
    return _page(lead, _README, rows, [[]] * len(rows), empty="Its README is empty.")


def told(facts: SubmissionFacts) -> SubmissionPage:
    """Return the report to its maker about its last run over secret texts: nothing but what left."""
    if facts.told.trouble:
        return _page([(facts.told.trouble, "bad")], _TOLD, [], [], empty="The report cannot be read.")
    match facts.told.card:
        case None:
            nothing = "There is no report yet: it had no run over secret texts that finished, or the budget holds its answer back."  # fmt: skip
            if facts.kept.answers:
                nothing = f"{counted(facts.kept.answers, 'answer')} so far, none of them about its last run."
            return _page([], _TOLD, [], [], empty=nothing)
        case ReleasedRefusal() as refusal:
            stopped: list[tuple[Cell, ...]] = [(Cell("where it stopped"), Cell(refusal.stage)), (Cell("of the entries, an output have"), Cell(refusal.came))]  # fmt: skip
            return _page(list(_answer_lines(refusal)), _TOLD, stopped, [[]] * len(stopped))
        case card:
            decide = sorted(card.scores, key=lambda metric: (metric != card.headline, metric not in DECIDING, metric))
            scores = [(short_title(metric), card.scores[metric]) for metric in decide]
            rows = [(Cell(title), Cell(f"{released_words.score(score)}, in steps of {score.step:g}")) for title, score in scores]  # fmt: skip
            for kind, words in CAVEATS.items():
                held = None if card.caveats is None else card.caveats.get(kind)  # type: ignore[call-overload]
                answer = {True: Cell("yes", "warn"), False: Cell("no", "good"), None: Cell("nobody looked", "quiet")}
                rows.append((Cell(words), answer[held]))
            lead = [*_answer_lines(card), *((fact, "plain") for fact in released_words.facts(card)), ("Last, five caveats: whether it holds of a quarter of the outputs or more.", "quiet")]  # fmt: skip
            return _page(lead, _TOLD, rows, [[]] * len(rows))


def _answer_lines(card: ReleasedCard | ReleasedRefusal) -> Iterator[Line]:
    entries = counted(card.corpus.entries, "entry", "entries")
    yield (
        f"Answer {card.answer} of {card.of} to {card.submitter}, {card.issued[:10]}: all that left of a run over {entries} of {card.corpus.id}.",
        "plain",
    )


def _page(
    said: Sequence[Line],
    columns: Sequence[Column],
    rows: Sequence[tuple[Cell, ...]],
    about: Sequence[Sequence[Line]],
    typed: Sequence[str] = (),
    runs: Sequence[str] = (),
    *,
    empty: str = "",
    waiting: int = 0,
    first: int = 0,
) -> SubmissionPage:
    """Return a page whose rows have no menu of commands: the one that there is stands below its row."""
    below = list(about)
    for place, command in enumerate(typed):
        if command:
            below[place] = [*about[place], (command, "mark")]
    none: list[Mapping[str, Sequence[str]]] = [{}] * max(1, len(rows))
    return SubmissionPage(said, columns, rows, below, none, empty, waiting, first=first, typed=typed, runs=runs)
