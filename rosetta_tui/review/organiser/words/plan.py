"""A review's plan in words for the organiser, before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from review.office.items.items import stratum
from review.office.items.training import USUAL, WANTED
from review.session.parts import SECONDS_TO_JUDGE, SECONDS_TO_WRITE
from review.verdict.gate.planner import RatingPlan, chances
from review.verdict.gate.policy import GatePolicy
from rosetta_tui.review.organiser.words.letters import Letters, letter_lines
from scoring.calibration.threshold import tier_line
from scoring.core.messages import percent

if TYPE_CHECKING:
    from review.office.making.batches import Drawn
    from review.office.making.creating import ReviewDraft

_LONG = 150
"""Sentences after which one sitting is too long."""

_LONG_TO_WRITE = 100
"""The same where sentences are written, or looked over word by word."""

_TRUE = 0.85
"""Share for which the chance of a verdict is told."""

_KINDS = {
    "fst": "a word in another form by the analyser",
    "other reference": "another sentence's translation",
    "phrase swap": "a phrase swapped",
    "truncated": "half of it left out",
}


def draft_lines(
    draft: ReviewDraft, policy: GatePolicy, letters: Letters, *, own_training: bool
) -> Iterator[str]:
    """Yield who is asked about what, what it is worth, and what could not be had."""
    yield plan_line("sentences", _sentences(draft))
    yield plan_line("difficulty", _strata(draft))
    yield plan_line("controls", _controls(draft))
    if why := _why_no_forms(draft):
        yield plan_line("", f"no wrong word forms: {why}")
    if draft.controls.from_outputs:
        yield plan_line(
            "",
            f"{draft.controls.from_outputs} of the wrong ones are made from the systems' own outputs",
        )
    for line in draft.controls.short:
        yield plan_line("", line)
    yield plan_line("each person", _share(draft))
    yield plan_line("training", _training(draft, own_training=own_training))
    if not own_training and (why := _why_little_training(draft)):
        yield plan_line("", why)
    if draft.placed:
        yield plan_line("context", _context(draft))
    yield from letters_plan(letters)
    yield plan_line("seed", str(draft.seed))
    yield plan_line("chance", chance(draft, policy))
    yield from (plan_line("", line) for line in _warnings(draft, policy))


def plan_line(name: str, text: str) -> str:
    """Return one line of a plan: label (empty where it continues) and text."""
    return f"{name:<13}{text}"


def letters_plan(letters: Letters) -> Iterator[str]:
    """Yield as lines of a plan which letters the reviewer's window lacks."""
    for number, line in enumerate(letter_lines(letters)):
        yield plan_line("" if number else "letters", line)


def _sentences(draft: ReviewDraft) -> str:
    runs = draft.runs.runs
    missing = max(run.missing for run in runs)
    several = f", {len(runs)} systems each, blind" if len(runs) > 1 else ""
    have = "has" if missing == 1 else "have"
    without = (
        f" ({missing} {have} no output and {'is' if missing == 1 else 'are'} not asked)"
        if missing
        else ""
    )
    return f"{len(draft.entries)} of {len(runs[0].entries)}{several}{without}"


def _strata(draft: ReviewDraft) -> str:
    counts = Counter(map(stratum, draft.entries))
    if set(counts) == {0}:
        return "not given by the corpus: one stratum"
    named = (f"{name or 'not given'}: {count}" for name, count in sorted(counts.items()))
    return ", ".join(named)


def _context(draft: ReviewDraft) -> str:
    secret = "; secret sentences are among them" if draft.around.secret else ""
    return (
        f"shown beside {draft.placed} of {len(draft.entries)} sentences: where the corpus has them from, and those next "
        f"to them in their document{secret}"
    )


def _controls(draft: ReviewDraft) -> str:
    counts = Counter(str(item.truth.control) for item in draft.controls.items)
    kinds = ", ".join(f"{count} {_KINDS[kind]}" for kind, count in draft.controls.kinds().items())
    made = f" ({kinds})" if kinds else ""
    return (
        f"{counts['bad']} wrong on purpose{made}, {counts['repeat']} asked twice, "
        f"{counts['anchor']} references"
    )


def _why_no_forms(draft: ReviewDraft) -> str:
    kinds = draft.controls.kinds()
    if not kinds or "fst" in kinds:
        return ""
    return draft.why_no_forms or "the analyser knows too few words of these texts in two forms"


def _share(draft: ReviewDraft) -> str:
    low, high = (round(draft.longest * seconds / 60) for seconds in SECONDS_TO_JUDGE)
    core = (
        "" if len(draft.core) == len(draft.real) else f", {len(draft.core)} of them common to all"
    )
    return f"{draft.longest} items{core}; about {low}–{high} minutes"


def _training(draft: ReviewDraft, *, own_training: bool) -> str:
    count = len(draft.training)
    if own_training:
        return f"{count} items of yours"
    if not count:
        return "none: there are no development entries to make it from; give yours with --training"
    return (
        f"{count} items, all to be rejected, made from development entries; what is good or acceptable "
        "only a speaker can show (--training)"
    )


def _why_little_training(draft: ReviewDraft) -> str:
    """Return why training has fewer items than usual, or shows sentences that are asked about."""
    spare, count = len(draft.spare), len(draft.training)
    if not spare and count:
        return (
            "training shows sentences that are asked about too, because no development entry is left. "
            "Lower --items"
        )
    if count >= USUAL or not count:
        return ""
    if spare < WANTED:
        return f"fewer than {USUAL}; development entries not asked about: {spare}. Lower --items for more"
    return f"fewer than {USUAL}: the development entries that are left are too short to make more"


def chance(draft: ReviewDraft, policy: GatePolicy) -> str:
    """Return how probable a verdict is, on the common core, for each system."""
    strata = dict(sorted(Counter(map(stratum, draft.core_entries)).items()))
    reviewers = len(draft.orders)
    if reviewers < 2 or min(strata.values()) < 2:
        return "cannot be told: at least two people and two sentences of each difficulty are needed"
    sizes = Counter(map(stratum, draft.runs.runs[0].entries.values()))
    total = sum(sizes[name] for name in strata)
    weights = {name: sizes[name] / total for name in strata}
    chances_found = chances(RatingPlan(reviewers, strata, weights), _TRUE, policy, trials=2000)
    return (
        f"{reviewers} people × {len(draft.core_entries)} sentences: {percent(chances_found.go)} for a go where "
        f"{percent(_TRUE)} of the translations truly are acceptable or better. This counts the difficulties of this corpus "
        "and how often each occurs; `rosetta review plan` takes five that are alike"
    )


def no_verdict(draft: ReviewDraft, policy: GatePolicy) -> Iterator[str]:
    """Return what the gate would find too little of, however people rate (rule 1 of the gate)."""
    enough, counts = policy.enough, Counter(map(stratum, draft.entries))
    yield from too_little(len(draft.entries), len(draft.orders), policy)
    few = [str(name) for name, count in sorted(counts.items()) if count < enough.per_stratum]
    if few:
        yield (
            f"the policy wants {enough.per_stratum} sentences of each difficulty, and there are fewer of "
            f"difficulty {', '.join(few)}"
        )


def too_little(sentences: int, reviewers: int, policy: GatePolicy) -> Iterator[str]:
    """Return which of these numbers are too small for any verdict."""
    enough = policy.enough
    if sentences < enough.items:
        yield f"the policy wants {enough.items} sentences rated, and these are {sentences}"
    if reviewers < enough.reviewers:
        yield f"the policy wants {enough.reviewers} reviewers, and these are {reviewers}"


def _warnings(draft: ReviewDraft, policy: GatePolicy) -> Iterator[str]:
    enough, reviewers = policy.enough, len(draft.orders)
    for reason in no_verdict(draft, policy):
        yield f"NO VERDICT: {reason}."
    if enough.reviewers <= reviewers < enough.community_reviewers:
        yield (
            f"NOTE: with {reviewers} reviewers the certificate says “panel of {reviewers}”; "
            f"community validated starts at {enough.community_reviewers}."
        )
    if below := draft.below_deployable:
        named = ", ".join(f"run {run[:8]} ({score:.3f})" for run, score in below.items())
        yield (
            f"NOTE: below the Deployable threshold: {named}; the specification's review begins at a composite of "
            f"{tier_line():.2f} (§7.3)."
        )
    if draft.longest > _LONG:
        yield f"NOTE: {draft.longest} items are long for one person. Lower --items, or use --core."


def people_lines(drawn: Drawn, letters: Letters) -> Iterator[str]:
    """Yield how much each person is asked of sentences to be written, and how often each sentence is asked."""
    low, high = (round(drawn.longest * seconds / 60) for seconds in SECONDS_TO_WRITE)
    core = len(drawn.core)
    common = "" if core in {0, len(drawn.items)} else f", {core} of them common to all"
    yield plan_line("each person", f"{drawn.longest} sentences{common}; about {low}–{high} minutes")
    times = sum(map(len, drawn.orders.values())) / len(drawn.items)
    yield plan_line("people", f"{len(drawn.orders)}; a sentence is asked of {times:.3g} on average")
    yield from letters_plan(letters)
    yield plan_line("seed", str(drawn.seed))
    if drawn.longest > _LONG_TO_WRITE:
        yield plan_line(
            "", "that is long for one sitting; people can stop and continue another day"
        )
