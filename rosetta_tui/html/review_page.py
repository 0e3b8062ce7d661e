"""The page of a review: what the speakers decided, how sure that is, how far they agree, and what it rests on.

It says what the newest certificates say and nothing else: no rating of today, so reading it is no look at the gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from corpora.text.messages import counted, minus
from harness.core.failures import UsageError
from review.office.results.certifying import newest_certificate
from review.office.results.results import runs_of
from review.office.store.review import Review
from review.office.store.store import Office
from review.verdict.certificate.certificate import (
    Certificate,
    CertifiedInterval,
    CertifiedMeasure,
    CertifiedNumbers,
    read_certificate,
    why_not_community,
)
from review.verdict.certificate.certificate_text import HOW_TO_CHECK, facts, findings, measure, seals, share_words
from review.verdict.gate.agreement import MEASURES, SHARES
from review.verdict.gate.panel import Harm
from review.verdict.gate.verdict import OUTCOMES
from rosetta_tui.html.chart import BarChart, ScoreLine, bar_chart, place
from rosetta_tui.html.page import Fact, render
from rosetta_tui.plots.points import Axis

_SHARES = Axis(0.0, 1.0)


def _per_cent(share: float) -> str:
    return f"{100 * share:.0f}"


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    run: str
    outcome: str  # `go`, `no_go` or `discuss`
    answer: str
    short: tuple[str, ...]
    share: BarChart
    strata: BarChart | None
    agreement: BarChart
    no_agreement: tuple[Fact, ...]  # measures without a value, each with why
    findings: tuple[tuple[str, tuple[str, ...]], ...]
    facts: tuple[Fact, ...]
    seals: tuple[Fact, ...]


def review_page(office: Office, review: Review, run_id: str | None = None) -> str:
    """Return the page of certified runs of a review; UsageError where none is, ratings were taken back or entries are secret."""
    if review.secret:
        raise UsageError(
            f"Entries of review {review.name!r} are secret: its numbers leave in steps only, as the coarse certificate and its page, "
            f"which this writes: rosetta review gate {review.name} --issue -o FOLDER"
        )
    shown, without = [], []
    for run in runs_of(review, run_id):
        issued = newest_certificate(office, review, run)
        if issued is None:
            without.append(run[:8])
            continue
        if issued.recompute:
            raise UsageError(
                f"Somebody took ratings back since the certificate of run {run[:8]} was issued, and the page would "
                f"still show them. Issue it again: rosetta review gate {review.name} --issue"
            )
        shown.append(verdict(read_certificate(issued.certificate, "the certificate")))
    if not shown:
        raise UsageError(
            f"Review {review.name!r} has no certificate yet, and the page says only what one says. Issue it: "
            f"rosetta review gate {review.name} --issue"
        )
    return page_of_verdicts(review.name, shown, without)


def page_of_verdicts(name: str, shown: list[ShownVerdict], without: list[str]) -> str:
    """Return the page of some verdicts; ``without`` are the runs that have no certificate."""
    return render("review.html.j2", name=name, verdicts=shown, without=", ".join(without), check=HOW_TO_CHECK)


def verdict(certificate: Certificate) -> ShownVerdict:
    """Return what a certificate says, drawn."""
    about, known = certificate.run, certificate.agreement.measures()
    # Draw the share by difficulty; None where there is one at most.
    measured = [
        ScoreLine(
            f"difficulty {level}",
            _number(stratum.share),
            None,
            share_words(stratum.share),
            "own",
            counted(stratum.items, "item"),
        )
        for level, stratum in sorted(certificate.verdict.numbers.strata.items())
    ]
    caption = "Acceptable or better by difficulty, per cent"
    chart = bar_chart(caption, "difficulty", _SHARES, measured, _per_cent)
    strata = replace(chart, told="share") if len(measured) > 1 else None
    return ShownVerdict(
        f"{about.run_id[:8]} · {about.dataset_id} · {about.language_pair}",
        str(certificate.outcome),
        OUTCOMES[certificate.outcome],
        tuple(_in_short(certificate)),
        _share(certificate),
        strata,
        _agreement({name: measured for name, measured in known.items() if measured.value is not None}),
        tuple(Fact(MEASURES[name], str(measured.why)) for name, measured in known.items() if measured.value is None),
        tuple((words, tuple(listed)) for words, listed in findings(certificate)),
        tuple(Fact(*fact) for fact in facts(certificate)),
        tuple(Fact(*seal) for seal in seals(certificate)),
    )


def _in_short(certificate: Certificate) -> Iterator[str]:
    numbers, panel = certificate.verdict.numbers, certificate.panel
    rated = counted(numbers.items, "translation")
    yield f"{panel.words[:1].upper()}{panel.words[1:]} rated {rated}, for {certificate.organisation.name}. {counted(panel.invited, 'person was', 'people were')} asked."
    if numbers.share is not None:
        yield (
            f"They find {share_words(numbers.share)} of the translations acceptable or better. With other speakers and "
            f"other sentences it could be {share_words(numbers.lower)} to {share_words(numbers.upper)}. The rule asks "
            f"that even the lower end reaches {share_words(certificate.verdict.level)}."
        )
    upheld = certificate.verdict.harm[Harm.UPHELD]
    if upheld:
        yield f"{counted(upheld, 'translation was', 'translations were')} found harmful or culturally wrong."
    reason = why_not_community(certificate)
    yield (
        f"It does not make the run community-validated: {reason}."
        if reason
        else "The run is community-validated by it."
    )


def _share(certificate: Certificate) -> BarChart:
    """Draw the panel's share with its bounds, each reviewer's own, and the level that is needed."""
    verdict = certificate.verdict
    numbers = verdict.numbers
    measured = [
        ScoreLine("all together", _number(numbers.share), _ends(numbers), _told(numbers), "own"),
        *(
            ScoreLine(f"reviewer {place_}", _number(own), None, share_words(own))
            for place_, own in enumerate(numbers.reviewers, 1)
        ),
    ]
    chart = bar_chart("Acceptable or better, per cent", "who", _SHARES, measured, _per_cent)
    level = float(verdict.level)
    return replace(
        chart,
        line=place(_SHARES, level),
        line_words=f"needed: a lower bound of {share_words(verdict.level)}",
        beside="Reviewers in the order of their shares, without names.",
        told=f"share (bounds, each {share_words(verdict.confidence)} sure)",
    )


def _agreement(known: Mapping[str, CertifiedMeasure]) -> BarChart:
    lines = [
        ScoreLine(
            MEASURES[name],
            _number(measured.value),
            _ends(measured.interval),
            measure(measured, share=name in SHARES),
            "own",
        )
        for name, measured in known.items()
    ]
    numbers = [end for line in lines for end in (line.score or 0.0, *(line.ends or ()))]
    axis = Axis(-1.0 if min(numbers, default=0.0) < 0 else 0.0, 1.0)
    chart = bar_chart("How far the speakers agree", "measure", axis, lines, lambda at: minus(f"{at:g}"))
    return replace(chart, told="value (interval)")


def _number(told: str | None) -> float | None:
    return None if told is None else float(told)


def _ends(told: CertifiedNumbers | CertifiedInterval | None) -> tuple[float, float] | None:
    if told is None or told.lower is None or told.upper is None:
        return None
    return float(told.lower), float(told.upper)


def _told(numbers: CertifiedNumbers) -> str:
    share = share_words(numbers.share)
    if numbers.share is None or numbers.lower is None:
        return share
    return f"{share} ({share_words(numbers.lower)}–{share_words(numbers.upper)})"
