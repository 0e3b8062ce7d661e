"""A sweep as lines of text: its cells in a table, what each came to, and how far the whole is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from corpora.text.messages import counted, shortened
from rosetta_tui.report.cost import between, cost_words, time_words
from rosetta_tui.show import figures, released_words
from rosetta_tui.show.figures import value
from rosetta_tui.show.text import plain, stacked
from scoring.core.inventory import short_title

if TYPE_CHECKING:
    from harness.sweep.comparing import ComparedSetup, SweepComparison
    from harness.sweep.expansion import SweepEstimate
    from harness.sweep.record import CellRecord, MissedEntries, MissedEntry, SweepRecord, SweepSummary


HEADINGS = "#", "run", "state", "entries", "composite", "95 %", "chrF++", "may be called", "cost", "s/entry", "id"


def sweep_lines(found: SweepRecord, width: int | None) -> Iterator[str]:
    yield f"Sweep {found.name} ({found.id}): {found.plan}"
    yield from progress_lines(found)
    if found.inside:
        yield inside_words(found)
    yield ""
    headline = next((cell.headline for cell in found.cells if cell.headline), "")
    rows: list[tuple[str, ...]] = [HEADINGS, *map(_row, found.cells)]
    if headline:
        head = (*HEADINGS[:4], short_title(headline), "95 %", *HEADINGS[8:])
        rows = [head]
        for cell in found.cells:  # which have neither composite nor tier
            row, ends = _row(cell), cell.headline_interval
            interval = "–" if ends is None else "–".join(value(headline, end) for end in ends)
            rows.append((*row[:4], value(headline, cell.headline_value), interval, *row[8:]))
    yield from stacked(rows, width, rows[0])
    if (other := other_inputs(found)) is not None:
        yield other
    for swept_cell in found.cells:
        if words := trouble_words(swept_cell):
            yield f"! {swept_cell.name}: {words}"
    if found.missed is not None:
        yield ""
        yield from missed_lines(found.missed)


def inside_words(found: SweepSummary) -> str:
    """Return that no score of a sweep over a vault is shown, and how its answer leaves."""
    return f"Over a vault: its scores stay inside. `rosetta sweep compare {found.id}` shows what was released, and releases its one answer (--submitter)."


def missed_lines(found: MissedEntries) -> Iterator[str]:
    """Yield which entries all complete runs miss, by difficulty and one by one."""
    yield missed_line(found)
    if found.missed:
        tiers = (
            f"{'none' if tier.difficulty is None else tier.difficulty}: {tier.missed:,} of {tier.entries:,}"
            f"{' (all)' if tier.missed == tier.entries else ''}"
            for tier in found.by_difficulty
        )
        yield f"  by difficulty   {' · '.join(tiers)}"
    yield from (f"  {missed_entry_words(entry)}" for entry in found.listed)
    if more := found.missed - len(found.listed):
        yield f"  and {more:,} more"


def missed_line(found: MissedEntries) -> str:
    """Return in one line how many entries all complete runs miss, and what a miss is."""
    what = "not right" if found.below is None else f"composite < {found.below:.2f}"
    parts = [f"{found.missed:,} of {counted(found.entries, 'entry', 'entries')}"] if found.entries else []
    if found.secret is None:
        parts.append("fewer than five secret entries")
    elif found.secret:
        parts.append(f"{found.secret:,} secret entries")
    return f"Missed by all {found.runs} complete runs (failed or {what}): {', and '.join(parts)}"


def missed_entry_words(each: MissedEntry) -> str:
    """Return one such entry in a line; its source is hostile text until it is shown."""
    tier = "" if each.difficulty is None else f" · difficulty {each.difficulty}"
    best = f" · best {figures.number(each.best_composite, 2)}" if each.best_composite is not None else ""
    return plain(f"{each.entry_id}{tier}{best} · {shortened(each.source)}")


def progress_lines(found: SweepSummary) -> Iterator[str]:
    """Yield how far a sweep is, with money and time left."""
    yield progress_line(found)
    if words := race_words(found):
        yield words
    if found.budget_usd is not None:
        left = max(0.0, found.budget_usd - found.committed_usd)
        need = f"; the rest may cost {figures.money(found.expected_usd)}" if found.expected_usd else ""
        spent = figures.money(found.committed_usd) if found.committed_usd else "nothing"
        yield f"Money: {spent} of {figures.money(found.budget_usd)} spent or set aside, {figures.money(left)} left{need}."


def race_words(found: SweepSummary) -> str:
    """Return what a race spared; empty where the sweep is none."""
    if found.race_seed is None:
        return ""
    out = found.cells_by_state["raced-out"]
    return (
        f"Race (seed {found.race_seed}): {counted(out, 'run')} raced out, {figures.count(found.entries_spared)} entries not "
        "asked for. A run that was raced out has no card and no place in a ranking."
    )


def progress_line(found: SweepSummary) -> str:
    states = ", ".join(f"{n} {state}" for state, n in found.cells_by_state.items() if n)
    time = "" if found.eta_seconds is None else f"; about {figures.clock(found.eta_seconds)} left"
    entries = f"{figures.count(found.entries_done)} of {figures.count(found.entries_total)} entries"
    return (
        f"{found.state.capitalize()}: {counted(sum(found.cells_by_state.values()), 'run')} ({states}), {entries}{time}."
    )


def headline_words(each: CellRecord) -> str:
    """Return what ranks a run of another task than translation, by its name; empty of translations."""
    return f"{short_title(each.headline)} {value(each.headline, each.headline_value)}" if each.headline else ""


def claimed(each: CellRecord) -> str:
    """Return the tier that a run may claim, with the share of the composite's weight that it rests on; empty before it is sealed."""
    return f"{each.claimable_tier}{figures.coverage(each.composite_coverage)}" if each.claimable_tier else ""


def cell_line(each: CellRecord) -> str:
    """Return what a run of a sweep has come to."""
    if each.state == "complete":
        known = " (the store had it)" if each.reused else ""
        composite = "" if each.composite is None else f", composite {figures.number(each.composite, 2)}"
        chrf = "" if each.chrf_plus_plus is None else f", chrF++ {figures.number(each.chrf_plus_plus, 1)}"
        headline = f", {headline_words(each)}" if each.headline else ""
        return f"{each.name}: complete{known}{headline}{composite}{chrf}"
    words = trouble_words(each)
    return f"{each.name}: {each.state}, {each.done} of {each.total}{f': {words}' if words else ''}"


def trouble_words(each: CellRecord) -> str:
    """Return why a run was raced out or stopped on its own, and how its entries failed; empty where there is nothing to say."""
    failed = ", ".join(f"{n} {kind}" for kind, n in each.failures.items())
    out = "" if each.raced_out is None else each.raced_out.words(each.total)
    return "; ".join(filter(None, [out, each.trouble or "", f"failed: {failed}" if failed else ""]))


def other_inputs(found: SweepRecord) -> str | None:
    """Return that composites of some runs weigh other metrics; None where all weigh the same."""
    known = {cell.composite_inputs for cell in found.cells if cell.composite is not None}
    if len({inputs for inputs in known if inputs}) <= 1:
        return None
    return "Composites of these runs weigh different metrics, so they do not compare; chrF++ does."


def _row(each: CellRecord) -> tuple[str, ...]:
    ends = each.composite_interval
    return (
        str(each.place + 1),
        each.name,
        f"{each.state}*" if each.reused else each.state,
        f"{each.done}/{each.total}",
        figures.number(each.composite, 2),
        "–" if ends is None else f"{ends[0]:.2f}–{ends[1]:.2f}",
        figures.number(each.chrf_plus_plus, 1),
        claimed(each) or "–",
        figures.money(each.cost_usd),
        figures.seconds(each.avg_latency_seconds),
        (each.run_id or "–")[:8],
    )


def estimate_lines(found: SweepEstimate, width: int | None) -> Iterator[str]:
    """Yield what `rosetta sweep begin --estimate` prints: each run, then all together."""
    rows = [("run", "calls", "tokens", "cost", "time")]
    for run in found.runs:
        if (one := run.estimate) is None:
            rows.append((run.name, "in the store", "", "", ""))
            continue
        read, written = one.prompt_tokens, one.completion_tokens
        tokens = "unknown" if read is None or written is None else between(read + written, _count)
        rows.append((run.name, between(one.calls, _count), tokens, cost_words(one), time_words(one)))
    yield from stacked(rows, width, ("calls", "tokens", "cost", "time"))
    yield ""
    yield from (f"{label:<9}{words}" for label, words in together_rows(found))


def together_rows(found: SweepEstimate) -> Iterator[tuple[str, str]]:
    """Yield label and words of what all runs take together."""
    known = "" if found.to_make == len(found.runs) else "; the store has the others"
    yield "Runs", f"{found.to_make} of {len(found.runs)}{known}"
    yield "Cost", "unknown" if found.cost_usd is None else between(found.cost_usd, figures.money)
    yield "Time", "unknown" if found.seconds is None else between(found.seconds, figures.clock)
    yield "Calls", between(found.calls, _count)
    yield "Tokens", "unknown" if found.tokens is None else between(found.tokens, _count)
    if found.budget:
        yield "Budget", f"! {found.budget}"
    if found.scoring:
        yield "Scoring", f"! {found.scoring}"


def _count(amount: float) -> str:
    return figures.count(round(amount))


# ---- The methods of a sweep against its baselines, as lines of text ----

_HEADINGS = "method", "value", "best baseline", "difference", "95 % to the best", "p", "p of maximum", "p (Holm)", ""
_PARTS = ("set-up", "value", "runs", "sd of entries", "sd of repetitions", "sd of the rest")
_EFFECTS = ("axis", "value", "adds", "95 % interval", "to", "pairs")
_DIGITS = 4


def comparison_lines(found: SweepComparison, width: int | None) -> Iterator[str]:
    """Yield what `rosetta sweep compare` prints."""
    many = counted(len(found.baselines), "baseline")
    against = f": {counted(len(found.methods), 'method')} against the best of {many}" if found.methods else ""
    yield f"Sweep {found.name} ({found.id}){f' by {short_title(found.metric)}' if found.metric else ', over a vault'}{against}"
    if found.effects:
        yield ""
        effects = (
            (
                effect.axis,
                effect.value,
                figures.signed(effect.difference, _DIGITS),
                f"{figures.signed(effect.lower, _DIGITS)} … {figures.signed(effect.upper, _DIGITS)}",
                effect.reference,
                str(effect.pairs),
            )
            for effect in found.effects
        )
        yield from stacked([_EFFECTS, *effects], width, ())
        yield "adds: mean difference to the first value of the axis, over pairs of set-ups that differ in nothing else."
    if found.methods:
        yield ""
        yield from _methods(found, width)
    if found.unanswered:
        yield found.unanswered
    for card in found.answers:
        scores = ", ".join(
            f"{short_title(metric)} {released_words.score(score)}" for metric, score in card.scores.items()
        )
        yield f"Told to {card.submitter} on {card.issued}: {released_words.sweep_words(card)} {scores}."
    for name, why in found.left_out.items():
        yield f"left out, {name}: {why}"


def _methods(found: SweepComparison, width: int | None) -> Iterator[str]:
    rows = [
        (
            method.method.name,
            value(found.metric, method.method.value),
            method.best,
            figures.signed(method.difference, _DIGITS),
            f"{figures.signed(method.lower, _DIGITS)} … {figures.signed(method.upper, _DIGITS)}",
            *map(figures.p_value, (method.p_picked, method.p_maximum, method.p_holm)),
            "beats the best" if method.beats else "not shown",
        )
        for method in found.methods
    ]
    yield from stacked([_HEADINGS, *rows], width, ())
    for method in found.methods:
        if method.nearest != method.best:
            yield f"{method.method.name}: its lead is least sure over {method.nearest}."
    yield ""
    setups = [*(method.method for method in found.methods), *found.baselines]
    yield from stacked([_PARTS, *(_parts(found, setup) for setup in setups)], width, _PARTS[1:])
    yield "p: against that baseline alone, as if it had been named before. p of maximum: against the best of all."
    yield f"p (Holm): that of the maximum, corrected for {counted(len(found.methods), 'method')}; a method beats them where it is below 0.05."
    for setup in setups:
        if setup.unparted:
            yield f"{setup.name}: {setup.unparted}."


def _parts(found: SweepComparison, each: ComparedSetup) -> tuple[str, ...]:
    parts = (each.between_entries, each.between_repetitions, each.remainder)
    deviations = (None if part is None else part**0.5 for part in parts)
    return (
        each.name,
        value(found.metric, each.value),
        str(len(each.runs)),
        *(figures.number(part, _DIGITS) for part in deviations),
    )
