"""Faults that outputs show by themselves: the findings of ``scoring.findings``, with their entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpora.tasks.task import TRANSLATION
from corpora.text.comparison import normalised
from harness.card.reading import block
from harness.lint.finding import LintFinding, NotLookedAt
from harness.lint.subject import LintSubject
from harness.setup.scoring_tools import stated_setup
from scoring.core.scorer import Scorer
from scoring.findings.engine import find
from scoring.findings.messages import finding_sentence
from scoring.findings.records import OutputFinding
from scoring.metrics.chrf import ChrfPlusPlus
from scoring.words.resources import Resources


def findings_of(subject: LintSubject) -> tuple[OutputFinding, ...] | None:
    """Return the findings of a run of translations, the most frequent first; None of a run of another task."""
    if (block(subject.card, "dataset").get("task") or TRANSLATION) != TRANSLATION:
        return None
    setup = stated_setup(block(subject.card, "scoring") or None)
    chrf = ChrfPlusPlus(multi_ref=setup is not None and setup.multi_ref)
    scorer = Scorer([chrf], languages=None if setup is None else Resources(setup).languages)
    entries = [row.entry for row in subject.rows]
    return find(entries, [row.output for row in subject.rows], chrf, read=scorer.alike)


def lint_outputs(subject: LintSubject) -> Iterator[LintFinding | NotLookedAt]:
    """Yield what can be named in the outputs of translations."""
    findings = findings_of(subject)
    if findings is None:
        yield NotLookedAt(check="outputs", why="these findings are those of translations")
        return
    canaries = () if subject.dataset is None else tuple(map(normalised, subject.dataset.canary))
    yield from (_linted(finding, canaries) for finding in findings)


def _linted(finding: OutputFinding, canaries: Sequence[str]) -> LintFinding:
    """Return a finding as linting shows it, without examples that quote a canary."""
    examples = [
        example
        for example in finding.examples
        if not any(_quotes(normalised(example), canary) for canary in canaries)
    ]
    return LintFinding(
        check=finding.code,
        severity="look",
        seen=finding_sentence(finding),
        count=finding.count,
        of=finding.of,
        share=finding.share,
        cost=finding.cost,
        entries=finding.entries,
        examples=tuple(examples),
    )


def _quotes(example: str, canary: str) -> bool:
    """Return whether an example, which may be cut, has a canary or its beginning."""
    return bool(example) and (canary[:_BEGINNING] in example or example in canary)


_BEGINNING = 8
