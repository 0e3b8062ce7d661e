"""All checks of one run, in the order in which they are shown."""

from __future__ import annotations

from harness.lint.canary import lint_canaries
from harness.lint.copies import lint_copies
from harness.lint.finding import LintFinding, LintReport, NotLookedAt
from harness.lint.outputs import lint_outputs
from harness.lint.rates import lint_generalization, lint_variants
from harness.lint.stated import lint_declaration, lint_prompt
from harness.lint.subject import LintSubject

CHECKS = (
    lint_outputs,
    lint_canaries,
    lint_prompt,
    lint_declaration,
    lint_copies,
    lint_variants,
    lint_generalization,
)


def lint(subject: LintSubject) -> LintReport:
    """Return what was found in a run: first in its outputs, then by the rules of legitimacy, the notes last."""
    if not subject.rows:
        why = "no outputs are known: the card has no rows"
        skipped = (NotLookedAt(check="all", why=why),)
        return LintReport(run=subject.name, findings=(), not_looked_at=skipped, checks=len(CHECKS))
    results = [result for check in CHECKS for result in check(subject)]
    findings = [result for result in results if isinstance(result, LintFinding)]
    return LintReport(
        run=subject.name,
        findings=tuple(sorted(findings, key=lambda finding: finding.severity)),
        not_looked_at=tuple(result for result in results if isinstance(result, NotLookedAt)),
        checks=len(CHECKS),
    )
